"""The scalar and SIMD video instructions: sub-word selection, saturation, secondary operation, merging."""
from forms import Family, int_edges, int_rows, signed

M32 = 0xffffffff
SELECTORS = ("b0", "b1", "b2", "b3", "h0", "h1")


def part(v, selector, t):
    """The selected byte, half or word, extended as the type says."""
    size = {"b": 8, "h": 16}.get(selector[:1], 32)
    v = v >> (size * int(selector[1:] or 0) if selector else 0) & ((1 << size) - 1)
    return signed(v, size) if t == "s32" else v


def saturate(v, t, selector):
    size = {"b": 8, "h": 16}.get(selector[:1], 32)
    low, high = (-(1 << size - 1), (1 << size - 1) - 1) if t == "s32" else (0, (1 << size) - 1)
    return max(low, min(high, v))


def merge(v, selector, c):
    """The selected part of c replaced."""
    size = {"b": 8, "h": 16}[selector[0]]
    at = size * int(selector[1])
    mask = ((1 << size) - 1) << at
    return c & ~mask | v << at & mask


OPERATIONS = {"vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vabsdiff": lambda a, b: abs(a - b), "vmin": min, "vmax": max}
SECONDARY = {"add": lambda v, c: v + c, "min": min, "max": max}
COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def scalar():
    f = Family("video_scalar", "sm_50", "6.0")
    rng = f.rng

    def dotted(s):
        return "." + s if s else ""
    for op, g in OPERATIONS.items():
        for index in range(24):
            dt, at, bt = (rng.choice(("u32", "s32")) for _ in range(3)) if index > 7 else (("u32", "s32")[index >> k & 1] for k in range(3))
            asel, bsel = (rng.choice(SELECTORS + ("",)) for _ in range(2)) if index > 3 else ("", "")
            shape = ("plain", "sat", "secondary", "merge")[index % 4]
            sat = shape != "plain"
            form = f"{op}.{dt}.{at}.{bt}{'.sat' if sat else ''}"
            name = f"{form}.{index}".replace(".", "_")
            rows = int_rows(rng, (32,) * 3, 40)
            if shape in ("plain", "sat"):
                def model(a, b, c):
                    v = g(part(a, asel, at), part(b, bsel, bt))
                    return saturate(v, dt, "") if sat else v
                f.op(form, dt, ["u32"] * 3, rows, model, operands=f"{{r0}}, {{a0}}{dotted(asel)}, {{a1}}{dotted(bsel)}", name=name)
            elif shape == "secondary":
                second = ("add", "min", "max")[index // 4 % 3]

                def model(a, b, c):
                    v = saturate(g(part(a, asel, at), part(b, bsel, bt)), dt, "")
                    return SECONDARY[second](v, part(c, "", dt))
                f.op(f"{form}.{second}", dt, ["u32"] * 3, rows, model, operands=f"{{r0}}, {{a0}}{dotted(asel)}, {{a1}}{dotted(bsel)}, {{a2}}", name=name)
            else:
                dsel = SELECTORS[index // 4 % 6]
                f.op(form, dt, ["u32"] * 3, rows, lambda a, b, c: merge(saturate(g(part(a, asel, at), part(b, bsel, bt)), dt, dsel), dsel, c),
                     operands=f"{{r0}}.{dsel}, {{a0}}{dotted(asel)}, {{a1}}{dotted(bsel)}, {{a2}}", name=name)
    amounts = [0, 1, 7, 16, 31, 32, 33, 63, 64, 255, M32]
    for op in ("vshl", "vshr"):
        for dt in ("u32", "s32"):
            for at in ("u32", "s32"):
                for mode in ("clamp", "wrap"):
                    for asel in ("", "b1", "h1"):
                        def model(a, b):
                            n = b & 31 if mode == "wrap" else min(b, 32)
                            v = part(a, asel, at)
                            return v << n if op == "vshl" else v >> n
                        rows = [(rng.choice(int_edges(32) + [rng.getrandbits(32)] * 20), rng.choice(amounts)) for _ in range(40)]
                        f.op(f"{op}.{dt}.{at}.u32.{mode}", dt, ["u32"] * 2, rows, model, operands=f"{{r0}}, {{a0}}{dotted(asel)}, {{a1}}",
                             name=f"{op}_{dt}_{at}_{mode}_{asel or 'whole'}")
    for test, g in COMPARE.items():
        for at in ("u32", "s32"):
            for bt in ("u32", "s32"):
                rows = [(a, a, c) if k % 5 == 0 else (a, b, c) for k, (a, b, c) in enumerate(int_rows(rng, (32,) * 3, 40))]
                f.op(f"vset.{at}.{bt}.{test}", "u32", ["u32"] * 3, rows, lambda a, b, c: g(part(a, "", at), part(b, "h0", bt)), operands="{r0}, {a0}, {a1}.h0",
                     name=f"vset_{at}_{bt}_{test}")
                f.op(f"vset.{at}.{bt}.{test}.add", "u32", ["u32"] * 3, rows, lambda a, b, c: g(part(a, "b2", at), part(b, "b0", bt)) + c,
                     operands="{r0}, {a0}.b2, {a1}.b0, {a2}", name=f"vset_{at}_{bt}_{test}_add")
    for at in ("u32", "s32"):
        for bt in ("u32", "s32"):
            for scale in ("", "shr7", "shr15"):
                for sat in (False, True):
                    dt = "s32" if "s32" in (at, bt) else "u32"
                    form = f"vmad.{dt}.{at}.{bt}{'.sat' if sat else ''}{dotted(scale)}"

                    def model(a, b, c):
                        v = part(a, "h0", at) * part(b, "b1", bt) + part(c, "", dt)
                        v >>= int(scale[3:] or 0) if scale else 0
                        return saturate(v, dt, "") if sat else v
                    f.op(form, dt, ["u32"] * 3, int_rows(rng, (32,) * 3, 40), model, operands="{r0}, {a0}.h0, {a1}.b1, {a2}")


def simd():
    f = Family("video_simd", "sm_50", "6.0")
    rng = f.rng

    def average(a, b):
        return (a + b + (a + b >= 0)) >> 1
    for count, size in ((2, 16), (4, 8)):
        def lanes(v, t):
            return [signed(v >> size * k, size) if t == "s32" else v >> size * k & ((1 << size) - 1) for k in range(count)]

        def clamp(v, t):
            low, high = (-(1 << size - 1), (1 << size - 1) - 1) if t == "s32" else (0, (1 << size) - 1)
            return max(low, min(high, v))
        letter = "h" if count == 2 else "b"
        for op, g in (*OPERATIONS.items(), ("vavrg", average)):
            for at in ("u32", "s32"):
                for bt in ("u32", "s32"):
                    for dt in ("u32", "s32"):
                        for shape in ("", "sat", "add"):
                            # A sum of lanes that do not fit their type would depend on when they are cut: left out.
                            fits = at == bt and (dt == "u32" if op == "vabsdiff" else dt == at and op in ("vmin", "vmax", "vavrg"))
                            if shape == "add" and not fits:
                                continue
                            rows = int_rows(rng, (32,) * 3, 33)

                            def model(a, b, c):
                                v = [g(x, y) for x, y in zip(lanes(a, at), lanes(b, bt))]
                                if shape == "sat":
                                    v = [clamp(x, dt) for x in v]
                                if shape == "add":
                                    return c + sum(v)
                                return sum((x & ((1 << size) - 1)) << size * k for k, x in enumerate(v))
                            f.op(f"{op}{count}.{dt}.{at}.{bt}{'.' + shape if shape else ''}", dt, ["u32"] * 3, rows, model)
        f.op(f"vadd{count}.u32.u32.u32", "u32", ["u32"] * 3, int_rows(rng, (32,) * 3, 33),
             lambda a, b, c: sum(((x + y if k == 1 else z) & ((1 << size) - 1)) << size * k for k, (x, y, z) in enumerate(zip(lanes(a, "u32"), lanes(b, "u32"), lanes(c, "u32")))),
             operands=f"{{r0}}.{letter}1, {{a0}}, {{a1}}, {{a2}}", name=f"vadd{count}_masked")
        for test, g in COMPARE.items():
            for t in ("u32", "s32"):
                rows = [(a, a ^ (0xff << 8 if k % 3 else 0), c) if k % 2 else (a, b, c) for k, (a, b, c) in enumerate(int_rows(rng, (32,) * 3, 33))]
                f.op(f"vset{count}.{t}.{t}.{test}", "u32", ["u32"] * 3, rows,
                     lambda a, b, c: sum(int(g(x, y)) << size * k for k, (x, y) in enumerate(zip(lanes(a, t), lanes(b, t)))))
                f.op(f"vset{count}.{t}.{t}.{test}.add", "u32", ["u32"] * 3, rows, lambda a, b, c: c + sum(int(g(x, y)) for x, y in zip(lanes(a, t), lanes(b, t))))


def make():
    scalar()
    simd()
