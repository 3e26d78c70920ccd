"""Conversions between all integer and float types, with rounding, saturation, flushing and packing."""
from fractions import Fraction

import softfloat as sf
from forms import Family, int_edges, signed
from float_forms import ANY_NAN, edges, finite_normal

INTS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def size_of(t):
    return int(t[1:])


def read(t, v):
    size = size_of(t)
    return signed(v, size) if t[0] == "s" else v & ((1 << size) - 1)


def clamp(t, v):
    size = size_of(t)
    low, high = (-(1 << size - 1), (1 << size - 1) - 1) if t[0] == "s" else (0, (1 << size) - 1)
    return max(low, min(high, v))


def int_cases(rng, size, count=30):
    return [(v,) for v in int_edges(size)] + [(rng.getrandbits(size),) for _ in range(count)] + \
        [(rng.getrandbits(rng.randint(1, size)),) for _ in range(count)]


def register(t):
    """The type whose register holds a type of the instruction: 8-bit ones in 32 bits."""
    return "b32" if t in ("u8", "s8") else t


def integers():
    f = Family("convert_integer", "sm_50", "6.0")
    for source in INTS:
        for target in INTS:
            cases = int_cases(f.rng, 32 if source[1:] == "8" else size_of(source))
            f.op(f"cvt.{target}.{source}", register(target), [register(source)], cases, lambda a: read(target, read(source, a)))
            if clamp(target, -1 << 70) > clamp(source, -1 << 70) or clamp(target, 1 << 70) < clamp(source, 1 << 70):
                f.op(f"cvt.sat.{target}.{source}", register(target), [register(source)], cases, lambda a: clamp(target, read(source, a)))
    # Operands in registers wider than the type: only the low bits count, and the result fills the register.
    for source, wide in (("u8", "b64"), ("s8", "b16"), ("u16", "b32"), ("s16", "b64"), ("s32", "b64")):
        cases = int_cases(f.rng, int(wide[1:]))
        f.op(f"cvt.s64.{source}", "s64", [wide], cases, lambda a: read(source, a), name=f"cvt_s64_{source}_from_{wide}")
    for target, wide in (("u8", "b64"), ("s8", "b64"), ("u16", "b32"), ("s16", "b32"), ("s16", "b64"), ("u32", "b64"), ("s32", "b64")):
        f.op(f"cvt.{target}.s64", wide, ["s64"], int_cases(f.rng, 64), lambda a: read(target, a), name=f"cvt_{target}_s64_into_{wide}")
    f.op("mov.b16", "b16", ["b16"], int_cases(f.rng, 16), lambda a: a)
    f.op("mov.b32", "b32", ["f32"], int_cases(f.rng, 32), lambda a: a, name="mov_b32_f32")
    f.op("mov.b64", "f64", ["b64"], int_cases(f.rng, 64), lambda a: a, name="mov_b64_f64")
    for t in ("u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"):
        f.op(f"mov.{t}", t, [t], int_cases(f.rng, size_of(t)), lambda a: a)
    half = [(f.rng.getrandbits(16), f.rng.getrandbits(16)) for _ in range(30)]
    f.op("mov.b32", "b32", ["b16", "b16"], half, lambda a, b: b << 16 | a, operands="{r0}, {{{a0}, {a1}}}", name="mov_b32_pack")
    four = [tuple(f.rng.getrandbits(16) for _ in range(4)) for _ in range(30)]
    f.op("mov.b64", "b64", ["b16"] * 4, four, lambda a, b, c, d: d << 48 | c << 32 | b << 16 | a, operands="{r0}, {{{a0}, {a1}, {a2}, {a3}}}", name="mov_b64_pack4")
    two = [tuple(f.rng.getrandbits(32) for _ in range(2)) for _ in range(30)]
    f.op("mov.b64", "f64", ["b32"] * 2, two, lambda a, b: b << 32 | a, operands="{r0}, {{{a0}, {a1}}}", name="mov_b64_pack2")
    wide = [(f.rng.getrandbits(64),) for _ in range(30)]
    f.kernel("mov.b64 unpack", ["b64"], ["b32", "b32"], "mov.b64 {{{r0}, {r1}}}, {a0};", wide, [(v & 0xffffffff, v >> 32) for v, in wide])
    f.kernel("mov.b64 unpack4", ["b64"], ["b16"] * 4, "mov.b64 {{{r0}, {r1}, {r2}, {r3}}}, {a0};", wide, [tuple(v >> s & 0xffff for s in (0, 16, 32, 48)) for v, in wide])
    f.kernel("mov.b32 unpack", ["f32"], ["b16"] * 2, "mov.b32 {{{r0}, {r1}}}, {a0};", [(a,) for a, _ in two], [(a & 0xffff, a >> 16) for a, _ in two])


def from_integer(f, target, source, mode, sat=False):
    form = f"cvt.{mode}{'.sat' if sat else ''}.{target}.{source}"

    def model(a):
        v = read(source, a)
        return sf.finish(target, sf.encode(target, int(v < 0), Fraction(abs(v)), mode), sat=sat)
    size = 32 if source[1:] == "8" else size_of(source)
    m = sf.FORMATS[target][1]
    cases = int_cases(f.rng, size)
    for k in range(30):
        base = (1 << m + 1 | f.rng.getrandbits(m)) << f.rng.randint(0, 5)
        value = base + f.rng.choice((0, 1, -1, 1 << f.rng.randint(0, 5)))
        cases.append((value * f.rng.choice((1, -1)) % (1 << size),))
    f.op(form, target, [register(source)], cases, model, ambiguous=sf.Ambiguous)


def float_cases(f, fmt, count=40, span=70):
    """Edges, halves, and numbers about the ends of the integer types."""
    e, m = sf.FORMATS[fmt]
    cases = [(v,) for v in edges(fmt)]
    for k in range(count):
        cases.append((finite_normal(f.rng, fmt, min(span, (1 << e - 1) - 3)),))
    for number in (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2), Fraction(7, 2), Fraction(511, 2), Fraction(255), Fraction(256), Fraction(65535),
                   Fraction(65536), Fraction(1 << 31), Fraction(1 << 32), Fraction(1 << 63), Fraction(1 << 64), Fraction(127), Fraction(257, 2), Fraction(32767)):
        for sign in (0, 1):
            bits = sf.encode(fmt, sign, number)
            cases += [(bits,)] + ([(bits - 1,), (bits + 1,)] if not sf.is_nan(fmt, bits + 1) else [])
    return cases


def to_integer(f, target, source, mode, ftz=False, sat=False):
    form = f"cvt.{mode}{'.ftz' if ftz else ''}{'.sat' if sat else ''}.{target}.{source}"
    size = size_of(target)

    def model(a):
        if sf.is_nan(source, a):
            return 0 if source != "f64" and size < 64 else 1 << size - 1
        return sf.to_integer(source, a, size, target[0] == "s", mode, ftz)
    f.op(form, target, [source], float_cases(f, source), model)


def integers_and_floats():
    f = Family("convert_to_float", "sm_90", "8.0")
    for source in INTS:
        for target in ("f16", "bf16", "f32", "f64"):
            if target == "bf16" and size_of(source) == 8:
                continue
            for mode in ("rn", "rz", "rm", "rp"):
                from_integer(f, target, source, mode)
    for source in ("s32", "u64"):
        from_integer(f, "f32", source, "rn", True)
    f = Family("convert_to_integer", "sm_90", "8.0")
    for target in INTS:
        for source in ("f16", "bf16", "f32", "f64"):
            if source == "bf16" and size_of(target) == 8:
                continue
            for mode in ("rni", "rzi", "rmi", "rpi"):
                to_integer(f, target, source, mode)
                if source == "f32":
                    to_integer(f, target, source, mode, ftz=True)
    to_integer(f, "s32", "f32", "rni", sat=True)
    to_integer(f, "u8", "f32", "rzi", sat=True)


def between_floats():
    f = Family("convert_float", "sm_90", "8.0")

    def same(fmt, mode, ftz=False, sat=False):
        form = "cvt" + (f".{mode}" if mode else "") + (".ftz" if ftz else "") + (".sat" if sat else "") + f".{fmt}.{fmt}"

        def model(a):
            if ftz:
                a = sf.flush(fmt, a)
            return sf.finish(fmt, sf.to_integral(fmt, a, mode) if mode else a, sat=sat)
        f.op(form, fmt, [fmt], float_cases(f, fmt), model, dict(ANY_NAN, format=fmt), ambiguous=sf.Ambiguous)
    for fmt in ("f16", "f32", "f64"):
        for mode in ("rni", "rzi", "rmi", "rpi"):
            for ftz in ((False, True) if fmt == "f32" else (False,)):
                for sat in (False, True):
                    same(fmt, mode, ftz, sat)
        same(fmt, "", False, True)
        same(fmt, "")
    same("f32", "", True, False)
    same("f32", "", True, True)

    def resize(target, source, mode="", ftz=False, sat=False, relu=False, canonical=False):
        form = "cvt" + (f".{mode}" if mode else "") + (".relu" if relu else "") + (".ftz" if ftz else "") + (".sat" if sat else "") + f".{target}.{source}"

        def model(a):
            if ftz and source == "f32":
                a = sf.flush(source, a)
            bits = sf.resize(target, source, a, mode or "rn")
            if ftz and target == "f32" and sf.decode(source, a)[0] == sf.NUM and sf.tiny("f32", abs(sf.value(source, a))):
                raise sf.Ambiguous
            return sf.finish(target, bits, ftz and target == "f32", sat, relu)
        cases = float_cases(f, source)
        e, m = sf.FORMATS[target]
        for k in range(40):
            bits = finite_normal(f.rng, target, 3)
            kind, sign, magnitude = sf.decode(target, bits)
            step = Fraction(2) ** (sf.floor_log2(magnitude) - m)
            near = sf.encode(source, sign, magnitude + step * f.rng.choice((Fraction(1, 2), Fraction(1, 4), Fraction(3, 4))))
            cases.append((near + f.rng.choice((-1, 0, 1)),))
            deep = Fraction(f.rng.getrandbits(m + 3) | 1) * Fraction(2) ** (1 - (1 << e - 1) - m)
            cases.append((sf.encode(source, sign, deep),))
        f.op(form, target, [source], cases, model, None if canonical else dict(ANY_NAN, format=target), ambiguous=sf.Ambiguous)
    for target, source in (("f32", "f16"), ("f64", "f16"), ("f64", "f32"), ("f32", "bf16"), ("f64", "bf16")):
        resize(target, source)
        resize(target, source, sat=True) if source != "bf16" else None
        if "f32" in (target, source) and source != "bf16":
            resize(target, source, ftz=True)
    for mode in ("rn", "rz", "rm", "rp"):
        for ftz in (False, True):
            for sat in (False, True):
                resize("f32", "f64", mode, ftz, sat)
        resize("f16", "f64", mode)
        resize("f16", "f32", mode)
        resize("bf16", "f64", mode)
        resize("f16", "f32", mode, ftz=True)
        resize("f16", "f32", mode, sat=True)
    for mode in ("rn", "rz"):
        resize("bf16", "f32", mode, canonical=True)
        resize("bf16", "f32", mode, relu=True, canonical=True)
        resize("f16", "f32", mode, relu=True, canonical=True)
        for relu in (False, True):
            for scalar in ("f16", "bf16"):
                pool = float_cases(f, "f32")
                e, m = sf.FORMATS[scalar]
                cases, results = [], []
                for k in range(90):
                    row = [f.rng.choice(pool)[0] if f.rng.random() < 0.5 else finite_normal(f.rng, "f32", 18) for _ in range(2)]
                    try:
                        high, low = (sf.finish(scalar, sf.resize(scalar, "f32", v, mode), relu=relu) for v in row)
                    except sf.Ambiguous:
                        continue
                    cases.append(tuple(row))
                    results.append((high << 16 | low,))
                form = f"cvt.{mode}{'.relu' if relu else ''}.{scalar}x2.f32"
                f.kernel(form, ["f32", "f32"], [scalar + "x2"], f"{form} {{r0}}, {{a0}}, {{a1}};", cases, results)

    def tf32(bits):
        kind, sign, magnitude = sf.decode("f32", bits)
        if kind != sf.NUM:
            return bits if kind == sf.INF else 0x7fffffff
        rounded = bits + 0x1000 & 0xffffe000
        return rounded
    finite = [c for c in float_cases(f, "f32") if sf.decode("f32", c[0])[0] == sf.NUM and not sf.is_subnormal("f32", c[0]) and abs(sf.value("f32", c[0])) < 2 ** 120]
    f.op("cvt.rna.tf32.f32", "b32", ["f32"], finite, tf32)
    for t in ("s16", "u16"):
        for source in ("s32",):
            pool = int_edges(32) + int_edges(16)
            cases = [(f.rng.choice(pool), f.rng.choice(pool)) for _ in range(61)]
            f.op(f"cvt.pack.sat.{t}.{source}", "b32", [source] * 2, cases,
                 lambda a, b: (clamp(t, signed(a, 32)) & 0xffff) << 16 | clamp(t, signed(b, 32)) & 0xffff)
    for t in ("s8", "u8"):
        pool = int_edges(32) + int_edges(8)
        cases = [(f.rng.choice(pool), f.rng.choice(pool), f.rng.getrandbits(32)) for _ in range(61)]
        f.op(f"cvt.pack.sat.{t}.s32.b32", "b32", ["s32", "s32", "b32"], cases,
             lambda a, b, c: (c << 16 & 0xffff0000) | (clamp(t, signed(a, 32)) & 0xff) << 8 | clamp(t, signed(b, 32)) & 0xff)


def make():
    integers()
    integers_and_floats()
    between_floats()
