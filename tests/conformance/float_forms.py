"""Floating-point arithmetic, comparisons and approximate functions."""
from fractions import Fraction

import mpmath

import softfloat as sf
from forms import Family

ANY_NAN = {"kind": "exact", "nan": "any"}
mpmath.mp.prec = 200


def edges(fmt):
    """Patterns of a format at which something changes, both signs and NaNs."""
    e, m = sf.FORMATS[fmt]
    least = 1 << m
    positive = [0, 1, 2, least - 1, least - 2, least >> 1, least, least + 1, least << 1, sf.one(fmt), sf.one(fmt) - 1, sf.one(fmt) + 1,
                sf.one(fmt) + least, sf.one(fmt) + least // 2, sf.one(fmt) - least, sf.largest(fmt), sf.largest(fmt) - 1,
                sf.infinity(fmt) - least, sf.infinity(fmt), sf.one(fmt) + (m + 1) * least, sf.one(fmt) - (m + 1) * least,
                sf.one(fmt) + 2 * least + 1]
    top = 1 << sf.width(fmt) - 1
    nans = [sf.canonical_nan(fmt), sf.infinity(fmt) + 1, sf.infinity(fmt) | least >> 1, top | sf.canonical_nan(fmt)]
    return positive + [top | p for p in positive] + nans


def finite_normal(rng, fmt, spread=6):
    """A random normal number near one, by exponent."""
    e, m = sf.FORMATS[fmt]
    bias = (1 << e - 1) - 1
    exponent = rng.randint(bias - spread, bias + spread)
    return rng.getrandbits(1) << e + m | exponent << m | rng.getrandbits(m)


def anything(rng, fmt):
    pick = rng.random()
    if pick < 0.35:
        return rng.choice(edges(fmt))
    if pick < 0.75:
        return finite_normal(rng, fmt)
    return rng.getrandbits(sf.width(fmt))


def rows(rng, fmt, arity, count=61):
    """Operand records: random mixtures, cancellations and neighbours of halfway cases."""
    made = []
    for k in range(count):
        row = [anything(rng, fmt) for _ in range(arity)]
        if arity == 2 and k % 6 == 0:
            row[1] = row[0] ^ 1 << sf.width(fmt) - 1
            if k % 12 == 0:
                row[1] ^= rng.getrandbits(2)
        if arity == 2 and k % 6 == 3:
            row = [finite_normal(rng, fmt, 2), finite_normal(rng, fmt, 2 + sf.FORMATS[fmt][1])]
        if arity == 3 and k % 3 == 0:
            row[0], row[1] = finite_normal(rng, fmt, 3), finite_normal(rng, fmt, 3)
            product = sf.arithmetic("mul", fmt, row[:2])
            row[2] = product ^ 1 << sf.width(fmt) - 1
            if k % 2:
                row[2] = (row[2] + rng.randint(-2, 2)) % (1 << sf.width(fmt))
        made.append(tuple(row))
    return made


def small_rows(rng, fmt, arity, count=61):
    """Operands whose results are subnormal or nearly so."""
    e, m = sf.FORMATS[fmt]
    made = rows(rng, fmt, arity, count)
    for k in range(0, count, 4):
        made[k] = tuple(rng.getrandbits(1) << e + m | rng.randint(0, 2) << m | rng.getrandbits(m) for _ in range(arity))
    for k in range(1, count, 8):
        half = (1 << e - 1) // 2
        made[k] = tuple(rng.getrandbits(1) << e + m | (half + rng.randint(-3, 3)) << m | rng.getrandbits(m) for _ in range(arity))
    return made


def lanes(model, width=16):
    """A model of pairs from a model of one lane."""
    def pair(*operands):
        return sum(model(*(o >> s & (1 << width) - 1 for o in operands)) << s for s in (0, width))
    return pair


def pair_rows(rng, fmt, arity, count=61, make=small_rows):
    """Records of packed pairs."""
    low, high = make(rng, fmt, arity, count), make(rng, fmt, arity, count)
    return [tuple(a | b << sf.width(fmt) for a, b in zip(p, q)) for p, q in zip(low, high)]


def scalar_of(fmt):
    return fmt[:-2] if fmt.endswith("x2") else fmt


def make_rows(f, fmt, arity, count=61):
    return pair_rows(f.rng, scalar_of(fmt), arity, count) if fmt.endswith("x2") else small_rows(f.rng, fmt, arity, count)


def lift(fmt, model):
    return lanes(model, sf.width(scalar_of(fmt))) if fmt.endswith("x2") else model


ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "mad": 3, "rcp": 1, "sqrt": 1}


def arithmetic(f, op, fmt, mode="", ftz=False, sat=False, relu=False, compare=None):
    name = ".".join([op] + [k for k, on in ((mode, mode), ("ftz", ftz), ("sat", sat), ("relu", relu)) if on] + [fmt])
    scalar, arity = scalar_of(fmt), ARITY[op]
    base = "fma" if op == "mad" else op

    def model(*operands):
        return sf.arithmetic(base, scalar, list(operands), mode or "rn", ftz, sat, relu)
    if compare is None:
        compare = ANY_NAN if fmt == "f64" or op in ("div", "rcp", "sqrt") else {"kind": "exact"}
    f.op(name, fmt, [fmt] * arity, make_rows(f, fmt, arity, 75 if ftz or sat else 61), lift(fmt, model), compare, ambiguous=sf.Ambiguous)


def single_and_double():
    f = Family("float_arithmetic", "sm_50", "6.0")
    for op in ("add", "sub", "mul"):
        for mode in ("", "rn", "rz", "rm", "rp"):
            for ftz in (False, True):
                for sat in (False, True):
                    arithmetic(f, op, "f32", mode, ftz, sat)
            arithmetic(f, op, "f64", mode)
    for mode in ("rn", "rz", "rm", "rp"):
        for ftz in (False, True):
            for sat in (False, True):
                arithmetic(f, "fma", "f32", mode, ftz, sat)
                arithmetic(f, "mad", "f32", mode, ftz, sat)
            for op in ("div", "rcp", "sqrt"):
                arithmetic(f, op, "f32", mode, ftz)
        for op in ("fma", "mad", "div", "rcp", "sqrt"):
            arithmetic(f, op, "f64", mode)


def halves():
    f = Family("half_arithmetic", "sm_90", "8.0")
    for fmt in ("f16", "f16x2"):
        for op in ("add", "sub", "mul"):
            for mode in ("", "rn"):
                for ftz in (False, True):
                    for sat in (False, True):
                        arithmetic(f, op, fmt, mode, ftz, sat)
        for ftz in (False, True):
            for sat, relu in ((False, False), (True, False), (False, True)):
                arithmetic(f, "fma", fmt, "rn", ftz, sat, relu)
    for fmt in ("bf16", "bf16x2"):
        for op in ("add", "sub", "mul"):
            for mode in ("", "rn"):
                arithmetic(f, op, fmt, mode)
        for relu in (False, True):
            arithmetic(f, "fma", fmt, "rn", relu=relu)


def pairs_and_three():
    """What sm_100 added: pairs of binary32, and extremes of three."""
    f = Family("float_pairs", "sm_100", "8.8")
    for op in ("add", "sub", "mul", "fma"):
        for mode in ("", "rn", "rz", "rm", "rp") if op != "fma" else ("rn", "rz", "rm", "rp"):
            for ftz in (False, True):
                arithmetic(f, op, "f32x2", mode, ftz)
    for op in ("min", "max"):
        for ftz in (False, True):
            for nan in (False, True):
                for absolute in (False, True):
                    form = op + (".ftz" if ftz else "") + (".NaN" if nan else "") + (".abs" if absolute else "") + ".f32"

                    def model(*operands, op=op, ftz=ftz, nan=nan, absolute=absolute):
                        a, b, c = (o & 0x7fffffff if absolute else o for o in operands)
                        return sf.minmax(op, "f32", sf.minmax(op, "f32", a, b, ftz, nan), c, ftz, nan)
                    f.op(form, "f32", ["f32"] * 3, small_rows(f.rng, "f32", 3, 75), model, ambiguous=sf.Ambiguous)
    for op in ("add", "sub", "fma"):
        for narrow in ("f16", "bf16"):
            for mode in ("", "rn", "rz", "rm", "rp") if op != "fma" else ("rn", "rz", "rm", "rp"):
                for sat in (False, True):
                    form = op + ("." + mode if mode else "") + (".sat" if sat else "") + ".f32." + narrow
                    count = ARITY[op]
                    low, high = small_rows(f.rng, narrow, count), small_rows(f.rng, "f32", count)

                    def mixed(*operands, op=op, narrow=narrow, mode=mode, sat=sat):
                        wide = [sf.resize("f32", narrow, o) for o in operands[:-1]] + [operands[-1]]
                        return sf.arithmetic(op, "f32", wide, mode or "rn", False, sat)
                    f.op(form, "f32", [narrow] * (count - 1) + ["f32"], [a[:-1] + b[-1:] for a, b in zip(low, high)], mixed, ambiguous=sf.Ambiguous)
    f.op("max.f32", "f32", ["f32"] * 2, small_rows(f.rng, "f32", 2, 75), lambda a, b: sf.minmax("max", "f32", sf.minmax("max", "f32", a, b), 0x3f800000),
         operands="{r0}, {a0}, {a1}, 1.0", name="max_f32_with_a_number")


def signs_and_extremes():
    f = Family("float_minmax", "sm_90", "8.0")

    def absolute(fmt, ftz):
        return lambda a: (sf.flush(fmt, a) if ftz else a) & ~(1 << sf.width(fmt) - 1)

    def negative(fmt, ftz):
        return lambda a: (sf.flush(fmt, a) if ftz else a) ^ 1 << sf.width(fmt) - 1
    for fmt in ("f32", "f64", "f16", "f16x2", "bf16", "bf16x2"):
        scalar = scalar_of(fmt)
        for ftz in ((False, True) if fmt in ("f32", "f16", "f16x2") else (False,)):
            tail = (".ftz" if ftz else "") + "." + fmt
            compare = dict(ANY_NAN, format=scalar)
            f.op("abs" + tail, fmt, [fmt], make_rows(f, fmt, 1), lift(fmt, absolute(scalar, ftz)), compare)
            f.op("neg" + tail, fmt, [fmt], make_rows(f, fmt, 1), lift(fmt, negative(scalar, ftz)), compare)
            for op in ("min", "max"):
                for nan in ((False, True) if fmt != "f64" else (False,)):
                    for xorsign in ((False, True) if fmt != "f64" else (False,)):
                        form = op + (".ftz" if ftz else "") + (".NaN" if nan else "") + (".xorsign.abs" if xorsign else "") + "." + fmt

                        def model(a, b, op=op, nan=nan, xorsign=xorsign):
                            return sf.minmax(op, scalar, a, b, ftz, nan, xorsign)
                        f.op(form, fmt, [fmt] * 2, make_rows(f, fmt, 2, 75), lift(fmt, model), ambiguous=sf.Ambiguous,
                             compare=ANY_NAN if fmt == "f64" else None)
    for fmt in ("f32", "f64"):
        top = 1 << sf.width(fmt) - 1
        f.op(f"copysign.{fmt}", fmt, [fmt] * 2, rows(f.rng, fmt, 2), lambda a, b: a & top | b & ~top)
        tests = {"finite": lambda k, b: k[0] == sf.NUM, "infinite": lambda k, b: k[0] == sf.INF, "number": lambda k, b: k[0] != sf.NAN,
                 "notanumber": lambda k, b: k[0] == sf.NAN, "normal": lambda k, b: k[0] == sf.NUM and not sf.is_subnormal(fmt, b),
                 "subnormal": lambda k, b: sf.is_subnormal(fmt, b)}
        for test, holds in tests.items():
            cases = [(v,) for v in edges(fmt)] + rows(f.rng, fmt, 1, 20)
            f.op(f"testp.{test}.{fmt}", "pred", [fmt], cases, lambda a, holds=holds: holds(sf.decode(fmt, a), a))


TESTS = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def comparison_rows(f, fmt, count=61):
    made = rows(f.rng, fmt, 2, count)
    for k in range(0, count, 4):
        made[k] = (made[k][0], made[k][0])
    top = 1 << sf.width(fmt) - 1
    made[1], made[2], made[3] = (0, top), (top, 0), (1, top | 1)
    made[5], made[6] = (1, 0), (sf.canonical_nan(fmt), sf.one(fmt))
    return made


BOOLEAN = {"and": lambda p, q: p and q, "or": lambda p, q: p or q, "xor": lambda p, q: p != q}


def comparisons():
    f = Family("float_compare", "sm_90", "8.0")
    for fmt in ("f16", "bf16", "f32", "f64"):
        for test in TESTS:
            for ftz in ((False, True) if fmt in ("f32", "f16") else (False,)):
                tail = (".ftz" if ftz else "") + "." + fmt
                f.op(f"setp.{test}{tail}", "pred", [fmt] * 2, comparison_rows(f, fmt), lambda a, b, t=test, z=ftz: sf.compare(t, fmt, a, b, z))
            for to, yes in (("u32", 0xffffffff), ("s32", 0xffffffff), ("f32", 0x3f800000)):
                if fmt == "bf16" and to == "f32":
                    continue
                ftzs = (False, True) if fmt == "f32" else (False,)
                if fmt in ("f16", "bf16") and to == "f32":
                    continue
                for ftz in ftzs:
                    form = f"set.{test}{'.ftz' if ftz else ''}.{to}.{fmt}"
                    f.op(form, to, [fmt] * 2, comparison_rows(f, fmt), lambda a, b, t=test, y=yes, z=ftz: y if sf.compare(t, fmt, a, b, z) else 0)
        if fmt in ("f16", "bf16"):
            for test in TESTS:
                f.op(f"set.{test}.{fmt}.{fmt}", fmt, [fmt] * 2, comparison_rows(f, fmt), lambda a, b, t=test: sf.one(fmt) if sf.compare(t, fmt, a, b) else 0)
    for fmt, top in (("f16x2", 0x3c00), ("bf16x2", 0x3f80)):
        scalar = scalar_of(fmt)
        for test in TESTS:
            pairs = [tuple(a | b << 16 for a, b in zip(p, q)) for p, q in zip(comparison_rows(f, scalar), reversed(comparison_rows(f, scalar)))]
            f.op(f"set.{test}.{fmt}.{fmt}", fmt, [fmt] * 2, pairs, lanes(lambda a, b, t=test: top if sf.compare(t, scalar, a, b) else 0))
            results = [(sf.compare(test, scalar, a & 0xffff, b & 0xffff), sf.compare(test, scalar, a >> 16, b >> 16)) for a, b in pairs]
            f.kernel(f"setp.{test}.{fmt}", [fmt] * 2, ["pred", "pred"], f"setp.{test}.{fmt} {{r0}}|{{r1}}, {{a0}}, {{a1}};", pairs, results)
    for fmt in ("f32", "f64"):
        for word, combine in BOOLEAN.items():
            for negated in (False, True):
                cases = [(a, b, f.rng.getrandbits(1)) for a, b in comparison_rows(f, fmt)]
                results = []
                for a, b, c in cases:
                    c = bool(c) != negated
                    t = sf.compare("ltu", fmt, a, b)
                    results.append((combine(t, c), combine(not t, c)))
                bang = "!" if negated else ""
                f.kernel(f"setp.ltu.{word}.{fmt}{' negated' if negated else ''}", [fmt, fmt, "pred"], ["pred", "pred"],
                         f"setp.ltu.{word}.{fmt} {{r0}}|{{r1}}, {{a0}}, {{a1}}, {bang}{{a2}};", cases, results)
                f.kernel(f"set.gt.{word}.s32.{fmt}{' negated' if negated else ''}", [fmt, fmt, "pred"], ["s32"],
                         f"set.gt.{word}.s32.{fmt} {{r0}}, {{a0}}, {{a1}}, {bang}{{a2}};", cases,
                         [(0xffffffff if combine(sf.compare("gt", fmt, a, b), bool(c) != negated) else 0,) for a, b, c in cases])


def closest(fmt, number, ftz=False):
    """A real number as the nearest pattern."""
    if number == 0:
        return 0
    mantissa, exponent = mpmath.frexp(abs(number))
    exact = Fraction(int(mpmath.floor(mantissa * mpmath.mpf(2) ** 150))) * Fraction(2) ** (int(exponent) - 150)
    bits = sf.encode(fmt, int(number < 0), exact)
    if ftz and sf.tiny(fmt, exact):
        raise sf.Ambiguous
    return sf.flush(fmt, bits) if ftz else bits


def real(fmt, bits):
    v = sf.value(fmt, bits)
    return mpmath.mpf(v.numerator) / v.denominator


def approximate(op, fmt, ftz):
    """The model of an approximate function: specials as the manual lists them, else correctly rounded."""
    top = 1 << sf.width(fmt) - 1
    nan, inf = sf.canonical_nan(fmt), sf.infinity(fmt)

    def model(a):
        if ftz:
            a = sf.flush(fmt, a)
        kind, sign, magnitude = sf.decode(fmt, a)
        if kind == sf.NAN:
            return nan
        zero = kind == sf.NUM and magnitude == 0
        if op == "rcp":
            return sign * top | inf if zero else sign * top if kind == sf.INF else closest(fmt, 1 / real(fmt, a), ftz)
        if op == "sqrt":
            return a if zero else nan if sign else a if kind == sf.INF else closest(fmt, mpmath.sqrt(real(fmt, a)), ftz)
        if op == "rsqrt":
            return sign * top | inf if zero else nan if sign else 0 if kind == sf.INF else closest(fmt, 1 / mpmath.sqrt(real(fmt, a)), ftz)
        if op == "lg2":
            return top | inf if zero else nan if sign else a if kind == sf.INF else closest(fmt, mpmath.log(real(fmt, a), 2), ftz)
        if op == "ex2":
            if kind == sf.INF:
                return 0 if sign else a
            if sf.value(fmt, a) > 1 << sf.FORMATS[fmt][0] - 1:
                return inf
            if sf.value(fmt, a) < -200:
                return 0
            return closest(fmt, mpmath.power(2, real(fmt, a)), ftz)
        if op == "tanh":
            return a if zero else sign * top | sf.one(fmt) if kind == sf.INF else closest(fmt, mpmath.tanh(real(fmt, a)), ftz)
        if kind == sf.INF:
            return nan
        if zero:
            return a if op == "sin" else sf.one(fmt)
        return closest(fmt, (mpmath.sin if op == "sin" else mpmath.cos)(real(fmt, a)), ftz)
    return model


def approximations():
    f = Family("float_approximate", "sm_90", "8.0")

    def error(kind, bits, fmt):
        return {"kind": kind, "max": 2.0 ** -bits, "format": fmt, "nan": "any"}

    def inputs(fmt, low, high, count=40):
        """Edges, and numbers between two exponents of two."""
        made = [(v,) for v in edges(fmt)]
        e, m = sf.FORMATS[fmt]
        bias = (1 << e - 1) - 1
        for _ in range(count):
            made.append((f.rng.getrandbits(1) << e + m | f.rng.randint(bias + low, bias + high) << m | f.rng.getrandbits(m),))
        return made
    plain = (("rcp", error("relative", 23, "f32"), -120, 120), ("sqrt", error("relative", 22.4, "f32"), -120, 120),
             ("rsqrt", error("relative", 22.4, "f32"), -120, 120), ("ex2", error("relative", 22, "f32"), -20, 6))
    for ftz in (False, True):
        tail = ".approx" + (".ftz" if ftz else "") + ".f32"
        for op, compare, low, high in plain:
            f.op(op + tail, "f32", ["f32"], inputs("f32", low, high), approximate(op, "f32", ftz), compare, ambiguous=sf.Ambiguous)
        for op in ("sin", "cos"):
            near = [r for r in inputs("f32", -30, 2) if sf.decode("f32", r[0])[0] != sf.NUM or abs(sf.value("f32", r[0])) <= Fraction(6283, 1000)]
            f.op(op + tail, "f32", ["f32"], near, approximate(op, "f32", ftz), error("absolute", 20.5, "f32"), ambiguous=sf.Ambiguous)
        f.op("lg2" + tail, "f32", ["f32"], inputs("f32", -126, 127), approximate("lg2", "f32", ftz),
             {"kind": "either", "relative": 2.0 ** -22, "absolute": 2.0 ** -22, "format": "f32", "nan": "any"}, ambiguous=sf.Ambiguous)

        def quotient(a, b, ftz=ftz):
            return sf.arithmetic("div", "f32", [a, b], "rn", ftz)

        def limited(a, b, quotient=quotient):
            if sf.decode("f32", b)[0] == sf.NUM and (abs(sf.value("f32", b)) > Fraction(2) ** 126 or sf.is_subnormal("f32", b)):
                raise sf.Ambiguous
            return quotient(a, b)
        two = {"kind": "ulp", "max": 2, "format": "f32", "nan": "any"}
        f.op("div" + tail, "f32", ["f32"] * 2, small_rows(f.rng, "f32", 2, 90), limited, two, ambiguous=sf.Ambiguous)
        f.op("div" + tail.replace("approx", "full"), "f32", ["f32"] * 2, small_rows(f.rng, "f32", 2, 90), quotient, two, ambiguous=sf.Ambiguous)
    f.op("tanh.approx.f32", "f32", ["f32"], inputs("f32", -20, 4), approximate("tanh", "f32", False), error("relative", 10.9, "f32"))
    for op in ("rcp", "rsqrt"):
        # Only the upper half of the operand counts, and only the upper half of the result is made.
        def coarse(a, model=approximate(op, "f64", True)):
            a &= 0xffffffff00000000
            if sf.decode("f64", a)[0] == sf.NUM and not 1000 > sf.floor_log2(max(abs(sf.value("f64", sf.flush("f64", a))), Fraction(1))) > -1:
                raise sf.Ambiguous
            return model(a)
        f.op(f"{op}.approx.ftz.f64", "f64", ["f64"], [r for r in inputs("f64", -900, 900)], coarse, error("relative", 19, "f64"), ambiguous=sf.Ambiguous)
    for fmt, ex2_bits, tanh_bits in (("f16", 9.9, 10.987), ("bf16", 7, 8)):
        for shape in (fmt, fmt + "x2"):
            cases = inputs(fmt, -10, 3)
            if shape.endswith("x2"):
                cases = [(a | b << 16,) for (a,), (b,) in zip(cases, reversed(cases))]
            ftz = ".ftz" if fmt == "bf16" else ""
            f.op(f"ex2.approx{ftz}.{shape}", shape, [shape], cases, lift(shape, approximate("ex2", fmt, fmt == "bf16")),
                 error("relative", ex2_bits, fmt), ambiguous=sf.Ambiguous)
            f.op(f"tanh.approx.{shape}", shape, [shape], cases, lift(shape, approximate("tanh", fmt, False)), error("absolute", tanh_bits, fmt))


def make():
    single_and_double()
    halves()
    pairs_and_three()
    signs_and_extremes()
    comparisons()
    approximations()
