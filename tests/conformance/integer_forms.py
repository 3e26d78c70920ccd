"""Integer arithmetic, comparisons, selection, carries and bit operations."""
from forms import Family, int_edges, int_rows, signed

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def size_of(t):
    return int(t[1:])


def reader(t):
    """Bits as the number that a type means."""
    size = size_of(t)
    return (lambda v: signed(v, size)) if t[0] == "s" else (lambda v: v & ((1 << size) - 1))


def truncated(a, b):
    """C's quotient."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def arithmetic():
    f = Family("integer_arithmetic", "sm_60", "6.0")
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        size, read = size_of(t), reader(t)
        two, three = int_rows(f.rng, (size,) * 2), int_rows(f.rng, (size,) * 3)

        def wrap(g, read=read):
            return lambda *v: g(*(read(x) for x in v))
        f.op(f"add.{t}", t, [t] * 2, two, wrap(lambda a, b: a + b))
        f.op(f"sub.{t}", t, [t] * 2, two, wrap(lambda a, b: a - b))
        f.op(f"mul.lo.{t}", t, [t] * 2, two, wrap(lambda a, b: a * b))
        f.op(f"mul.hi.{t}", t, [t] * 2, two, wrap(lambda a, b: a * b >> size))
        f.op(f"mad.lo.{t}", t, [t] * 3, three, wrap(lambda a, b, c: a * b + c))
        f.op(f"mad.hi.{t}", t, [t] * 3, three, wrap(lambda a, b, c: (a * b >> size) + c))
        if size < 64:
            wide = t[0] + str(2 * size)
            f.op(f"mul.wide.{t}", wide, [t] * 2, two, wrap(lambda a, b: a * b))
            f.op(f"mad.wide.{t}", wide, [t, t, wide], int_rows(f.rng, (size, size, 2 * size)), lambda a, b, c: read(a) * read(b) + c)
        f.op(f"sad.{t}", t, [t] * 3, three, wrap(lambda a, b, c: abs(a - b) + c))
        f.op(f"min.{t}", t, [t] * 2, two, wrap(min))
        f.op(f"max.{t}", t, [t] * 2, two, wrap(max))
        safe = [(a, b) for a, b in int_rows(f.rng, (size,) * 2, 90) if b and not (t[0] == "s" and signed(b, size) == -1 and a == 1 << size - 1)][:61]
        f.op(f"div.{t}", t, [t] * 2, safe, wrap(truncated))
        f.op(f"rem.{t}", t, [t] * 2, safe, wrap(lambda a, b: a - truncated(a, b) * b))
        if t[0] == "s":
            f.op(f"abs.{t}", t, [t], int_rows(f.rng, (size,)), wrap(abs))
            f.op(f"neg.{t}", t, [t], int_rows(f.rng, (size,)), wrap(lambda a: -a))
        zero = [(a, 0) for a in int_edges(size)]
        if size == 32:
            f.op(f"div.{t}", t, [t] * 2, zero, lambda a, b: M32, name=f"div_{t}_by_zero")
            f.op(f"rem.{t}", t, [t] * 2, zero, lambda a, b: M32, name=f"rem_{t}_by_zero")

    def clamp(v):
        return max(-1 << 31, min((1 << 31) - 1, v))
    s = reader("s32")
    f.op("add.sat.s32", "s32", ["s32"] * 2, int_rows(f.rng, (32, 32)), lambda a, b: clamp(s(a) + s(b)))
    f.op("sub.sat.s32", "s32", ["s32"] * 2, int_rows(f.rng, (32, 32)), lambda a, b: clamp(s(a) - s(b)))
    f.op("mad.hi.sat.s32", "s32", ["s32"] * 3, int_rows(f.rng, (32,) * 3), lambda a, b, c: clamp((s(a) * s(b) >> 32) + s(c)))
    for t in ("u32", "s32"):
        part = (lambda v: signed(v, 24)) if t == "s32" else (lambda v: v & 0xffffff)
        two, three = int_rows(f.rng, (32, 32)), int_rows(f.rng, (32,) * 3)
        f.op(f"mul24.lo.{t}", t, [t] * 2, two, lambda a, b: part(a) * part(b))
        f.op(f"mul24.hi.{t}", t, [t] * 2, two, lambda a, b: part(a) * part(b) >> 16)
        f.op(f"mad24.lo.{t}", t, [t] * 3, three, lambda a, b, c: part(a) * part(b) + c)
        f.op(f"mad24.hi.{t}", t, [t] * 3, three, lambda a, b, c: (part(a) * part(b) >> 16) + c)
    f.op("mad24.hi.sat.s32", "s32", ["s32"] * 3, three, lambda a, b, c: clamp((signed(a, 24) * signed(b, 24) >> 16) + s(c)))
    # Immediate operands in each place.
    f.op("sub.s32", "s32", ["s32"], int_rows(f.rng, (32,)), lambda a: 17 - a, operands="{r0}, 17, {a0}", name="sub_s32_immediate_first")
    f.op("mad.lo.s32", "s32", ["s32"], int_rows(f.rng, (32,)), lambda a: -3 * a + 0x7fffffff, operands="{r0}, {a0}, -3, 0x7fffffff", name="mad_lo_s32_immediates")
    f.op("add.s64", "s64", ["s64"], int_rows(f.rng, (64,)), lambda a: a - 4294967297, operands="{r0}, {a0}, -4294967297", name="add_s64_immediate")
    f.op("mul.wide.u16", "u32", ["u16"], int_rows(f.rng, (16,)), lambda a: a * 65535, operands="{r0}, {a0}, 65535", name="mul_wide_u16_immediate")


def packed_and_dots():
    f = Family("integer_packed", "sm_90", "8.0")
    for t in ("u16x2", "s16x2"):
        read = (lambda v: signed(v, 16)) if t[0] == "s" else (lambda v: v)

        def lanes(g, read=read):
            return lambda a, b: sum((g(read(a >> k & 0xffff), read(b >> k & 0xffff)) & 0xffff) << k for k in (0, 16))
        cases = [(a | b << 16, c | d << 16) for a, b, c, d in int_rows(f.rng, (16,) * 4)]
        for op, g in (("add", lambda a, b: a + b), ("min", min), ("max", max)):
            f.op(f"{op}.{t}", t, [t] * 2, cases, lanes(g))
        if t[0] == "s":
            f.op("min.relu.s16x2", t, [t] * 2, cases, lanes(lambda a, b: max(min(a, b), 0)))
            f.op("max.relu.s16x2", t, [t] * 2, cases, lanes(lambda a, b: max(a, b, 0)))
    f.op("min.relu.s32", "s32", ["s32"] * 2, int_rows(f.rng, (32, 32)), lambda a, b: max(min(signed(a, 32), signed(b, 32)), 0))
    f.op("max.relu.s32", "s32", ["s32"] * 2, int_rows(f.rng, (32, 32)), lambda a, b: max(signed(a, 32), signed(b, 32), 0))
    for at in ("u32", "s32"):
        for bt in ("u32", "s32"):
            def part(v, k, size, t):
                v = v >> k & ((1 << size) - 1)
                return signed(v, size) if t[0] == "s" else v
            out = "s32" if "s32" in (at, bt) else "u32"
            cases = int_rows(f.rng, (32,) * 3)
            f.op(f"dp4a.{at}.{bt}", out, [at, bt, out], cases,
                 lambda a, b, c: c + sum(part(a, k, 8, at) * part(b, k, 8, bt) for k in (0, 8, 16, 24)))
            for half, base in (("lo", 0), ("hi", 16)):
                f.op(f"dp2a.{half}.{at}.{bt}", out, [at, bt, out], cases,
                     lambda a, b, c, base=base: c + part(a, 0, 16, at) * part(b, base, 8, bt) + part(a, 16, 16, at) * part(b, base + 8, 8, bt))


INT_TESTS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
             "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
UNSIGNED_TESTS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
BOOLEAN = {"and": lambda p, q: p and q, "or": lambda p, q: p or q, "xor": lambda p, q: p != q}


def comparisons():
    f = Family("integer_compare", "sm_60", "6.0")

    def cases(size, count=61):
        made = int_rows(f.rng, (size, size), count)
        return [(a, a) if k % 5 == 0 else (a, b) for k, (a, b) in enumerate(made)]
    for t in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
        size, read = size_of(t), reader(t)
        names = ["eq", "ne"] + ([] if t[0] == "b" else ["lt", "le", "gt", "ge"]) + (["lo", "ls", "hi", "hs"] if t[0] == "u" else [])
        for test in names:
            g = INT_TESTS[UNSIGNED_TESTS.get(test, test)]
            f.op(f"setp.{test}.{t}", "pred", [t] * 2, cases(size), lambda a, b, g=g: g(read(a), read(b)))
            for to, yes in (("u32", M32), ("s32", M32), ("f32", 0x3f800000)):
                f.op(f"set.{test}.{to}.{t}", to, [t] * 2, cases(size), lambda a, b, g=g, y=yes: y if g(read(a), read(b)) else 0)
    for t in ("s16", "u32", "s32", "u64", "s64"):
        size, read = size_of(t), reader(t)
        for word, combine in BOOLEAN.items():
            for bang in ("", "!"):
                rows = [(a, b, f.rng.getrandbits(1)) for a, b in cases(size)]
                results = []
                for a, b, c in rows:
                    c, test = bool(c) != bool(bang), read(a) < read(b)
                    results.append((combine(test, c), combine(not test, c)))
                f.kernel(f"setp.lt.{word}.{t}{' negated' if bang else ''}", [t, t, "pred"], ["pred", "pred"],
                         f"setp.lt.{word}.{t} {{r0}}|{{r1}}, {{a0}}, {{a1}}, {bang}{{a2}};", rows, results)
                f.kernel(f"set.ge.{word}.u32.{t}{' negated' if bang else ''}", [t, t, "pred"], ["u32"],
                         f"set.ge.{word}.u32.{t} {{r0}}, {{a0}}, {{a1}}, {bang}{{a2}};", rows,
                         [(M32 if combine(read(a) >= read(b), bool(c) != bool(bang)) else 0,) for a, b, c in rows])
    for t in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"):
        size = size_of(t)
        rows = [(a, b, f.rng.getrandbits(1)) for a, b in cases(size)]
        f.op(f"selp.{t}", t, [t, t, "pred"], rows, lambda a, b, c: a if c else b)
        f.op(f"slct.{t}.s32", t, [t, t, "s32"], int_rows(f.rng, (size, size, 32)), lambda a, b, c: a if signed(c, 32) >= 0 else b)
        floats = [0, 0x80000000, 1, 0x80000001, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 0xffc00000, 0x807fffff]
        rows = [(a, b, f.rng.choice(floats)) for a, b in cases(size)]

        def choose(a, b, c, ftz=False):
            if c & 0x7fffffff > 0x7f800000:
                return b
            if ftz and c & 0x7f800000 == 0:
                c = 0
            return a if c >> 31 == 0 or c == 0x80000000 else b
        f.op(f"slct.{t}.f32", t, [t, t, "f32"], rows, choose)
        f.op(f"slct.ftz.{t}.f32", t, [t, t, "f32"], rows, lambda a, b, c: choose(a, b, c, True))
    rows = [(f.rng.getrandbits(32), f.rng.getrandbits(32), k & 1) for k in range(61)]
    f.kernel("selp.b32 of a comparison", ["b32", "b32", "pred"], ["b32"],
             "not.pred %t, {a2};\nselp.b32 {r0}, {a0}, {a1}, %t;", rows, [(b if c else a,) for a, b, c in rows], registers=".reg .pred %t")
    for op, g in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
        f.op(f"{op}.pred", "pred", ["pred"] * 2, [(k & 1, k >> 1 & 1) for k in range(8)], g)
        for size in (16, 32, 64):
            f.op(f"{op}.b{size}", f"b{size}", [f"b{size}"] * 2, int_rows(f.rng, (size, size)), g)
    f.op("not.pred", "pred", ["pred"], [(0,), (1,), (5,)], lambda a: a == 0)
    f.op("mov.pred", "pred", ["pred"], [(0,), (1,), (5,)], lambda a: a != 0)
    for size in (16, 32, 64):
        f.op(f"not.b{size}", f"b{size}", [f"b{size}"], int_rows(f.rng, (size,)), lambda a: ~a)
        f.op(f"cnot.b{size}", f"b{size}", [f"b{size}"], int_rows(f.rng, (size,)), lambda a: a == 0)


def carries():
    f = Family("integer_carry", "sm_60", "6.0")
    for size in (32, 64):
        mask = (1 << size) - 1
        for t in (f"u{size}", f"s{size}", f"b{size}"):
            if t[0] == "b":
                continue
            for first, second, sign in (("add", "addc", 1), ("sub", "subc", -1)):
                rows = int_rows(f.rng, (size,) * 4)
                for k in range(0, 61, 4):
                    rows[k] = (rows[k][0], mask ^ rows[k][0] if sign > 0 else rows[k][0], rows[k][2], rows[k][3] | 1)
                results = []
                for a0, a1, b0, b1 in [(r[0], r[2], r[1], r[3]) for r in rows]:
                    wide = ((a1 << size | a0) + sign * (b1 << size | b0))
                    carry = (wide >> 2 * size) & 1
                    results.append((wide & mask, wide >> size & mask, carry if sign > 0 else (-carry) & mask))
                f.kernel(f"{first}.cc.{t} {second}.cc {second}", [t] * 4, [t] * 3,
                         f"{first}.cc.{t} {{r0}}, {{a0}}, {{a1}};\n{second}.cc.{t} {{r1}}, {{a2}}, {{a3}};\n{second}.{t} {{r2}}, 0, 0;", rows, results)
            read = reader(t)
            for half in ("lo", "hi"):
                rows = int_rows(f.rng, (size,) * 3, 75)
                results = []
                for a, b, c in rows:
                    product = read(a) * read(b)
                    part = (product if half == "lo" else product >> size) & mask
                    total = part + c
                    results.append((total & mask, total >> size))
                f.kernel(f"mad.{half}.cc.{t}", [t] * 3, [t] * 2, f"mad.{half}.cc.{t} {{r0}}, {{a0}}, {{a1}}, {{a2}};\naddc.{t} {{r1}}, 0, 0;", rows, results)
                rows = [r + (f.rng.choice((0, mask)),) for r in int_rows(f.rng, (size,) * 3, 75)]
                results = []
                for a, b, c, d in rows:
                    product = read(a) * read(b)
                    part = (product if half == "lo" else product >> size) & mask
                    total = part + c + (d != 0)
                    results.append((total & mask, total >> size))
                f.kernel(f"madc.{half}.cc.{t}", [t] * 4, [t] * 2,
                         f"add.cc.{t} %t, {{a3}}, 1;\nmadc.{half}.cc.{t} {{r0}}, {{a0}}, {{a1}}, {{a2}};\naddc.{t} {{r1}}, 0, 0;", rows, results,
                         registers=f".reg .{t} %t")
                f.kernel(f"madc.{half}.{t}", [t] * 4, [t], f"add.cc.{t} %t, {{a3}}, 1;\nmadc.{half}.{t} {{r0}}, {{a0}}, {{a1}}, {{a2}};", rows,
                         [r[:1] for r in results], registers=f".reg .{t} %t")
        # A carry that lives across unrelated instructions, and one that is made twice.
        t = f"u{size}"
        rows = int_rows(f.rng, (size,) * 2)
        results = [((a + b) & mask, (a + b >> size) + (a * b & mask) & mask) for a, b in rows]
        f.kernel(f"add.cc.{t} kept", [t] * 2, [t] * 2,
                 f"add.cc.{t} {{r0}}, {{a0}}, {{a1}};\nmul.lo.{t} %t, {{a0}}, {{a1}};\nxor.b{size} %u, %t, 5;\nadd.{t} %u, %u, %t;\naddc.{t} {{r1}}, %t, 0;",
                 rows, results, registers=f".reg .{t} %t, %u")
        results = [(b + b + (a + a >> size) & mask, (b + b + (a + a >> size)) >> size) for a, b in rows]
        f.kernel(f"addc.cc.{t} twice", [t] * 2, [t] * 2,
                 f"add.cc.{t} %t, {{a0}}, {{a0}};\naddc.cc.{t} {{r0}}, {{a1}}, {{a1}};\naddc.{t} {{r1}}, 0, 0;", rows, results, registers=f".reg .{t} %t")
    # Every way to make the flag, every way to take it and make it again, and both ways to take that.
    makers = (("add.cc", 0), ("sub.cc", 0), ("mad.lo.cc", 0), ("mad.hi.cc", 1))
    takers = (("addc.cc", 0), ("subc.cc", 0), ("madc.lo.cc", 0), ("madc.hi.cc", 1))
    for t in ("u32", "s32", "u64", "s64"):
        size = int(t[1:])
        for first, first_half in makers:
            for second, second_half in takers:
                rows = int_rows(f.rng, (size,) * 4, 75)
                results = []
                for a, b, c, d in rows:
                    x, flag = step(first, first_half, (a, b, c), t, None)
                    y, flag = step(second, second_half, (c, d, b), t, flag)
                    results.append((x, y, flag, flag - 1 & (1 << size) - 1))
                third = {word: f", {{{arg}}}" if word[:3] == "mad" else "" for word, arg in ((first, "a2"), (second, "a1"))}
                f.kernel(f"{first}.{t} {second}", [t] * 4, [t] * 4,
                         f"{first}.{t} {{r0}}, {{a0}}, {{a1}}{third[first]};\n{second}.{t} {{r1}}, {{a2}}, {{a3}}{third[second]};\n"
                         f"addc.{t} {{r2}}, 0, 0;\nsubc.{t} {{r3}}, 0, 0;", rows, results)


def step(op, half, operands, t, flag):
    """One step of a chain: its result, and the flag, which a borrow clears. `flag` is None where none is taken."""
    size, read = int(t[1:]), reader(t)
    mask = (1 << size) - 1
    if op[:3] == "sub":
        a, b = operands[:2]
        total = a + (b ^ mask) + (1 if flag is None else flag)
    elif op[:3] == "mad":
        a, b, c = operands
        total = (read(a) * read(b) >> half * size & mask) + c + (flag or 0)
    else:
        total = sum(operands[:2]) + (flag or 0)
    return total & mask, total >> size


def byte_of(v, k):
    return v >> 8 * k & 255


def prmt(a, b, c, mode):
    """Byte permutation in its default and special modes."""
    pool, s = b << 32 | a, c & 3
    orders = {"f4e": [s, s + 1, s + 2, s + 3], "b4e": [s, s - 1, s - 2, s - 3], "rc8": [s] * 4,
              "ecl": [max(k, s) for k in range(4)], "ecr": [min(k, s) for k in range(4)], "rc16": [(s & 1) * 2, (s & 1) * 2 + 1] * 2}
    if mode:
        return sum(byte_of(pool, k % 8) << 8 * n for n, k in enumerate(orders[mode]))
    result = 0
    for n in range(4):
        nibble = c >> 4 * n & 15
        byte = byte_of(pool, nibble & 7)
        if nibble & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << 8 * n
    return result


def bfind(v, size, is_signed, amount):
    if is_signed and v >> size - 1:
        v = ~v & ((1 << size) - 1)
    if v == 0:
        return M32
    at = v.bit_length() - 1
    return size - 1 - at if amount else at


def bfe(a, b, c, size, is_signed):
    position, length = b & 255, c & 255
    a = signed(a, size) if is_signed else a
    sign = 0
    if is_signed and length:
        sign = a >> min(position + length - 1, size - 1) & 1
    kept = min(length, max(0, size - position))
    field = (a & ((1 << size) - 1)) >> position & ((1 << kept) - 1) if kept else 0
    if length == 0:
        return 0
    if sign:
        field |= ((1 << size) - 1) & ~((1 << kept) - 1)
    return field


def bfi(a, b, c, d, size):
    position, length = c & 255, d & 255
    for k in range(min(length, size)):
        if position + k < size:
            b = b & ~(1 << position + k) | (a >> k & 1) << position + k
    return b


def fns(mask, base, offset):
    """The nth set bit from a base, upward or downward; all ones when there is none."""
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else M32
    step, left = (1, offset) if offset > 0 else (-1, -offset)
    at = base
    while 0 <= at < 32:
        if mask >> at & 1:
            left -= 1
            if left == 0:
                return at
        at += step
    return M32


def bits():
    f = Family("integer_bits", "sm_70", "7.6")
    rng = f.rng
    for size in (32, 64):
        b = f"b{size}"
        one = [(v,) for v in int_edges(size)] + int_rows(rng, (size,), 40)
        f.op(f"popc.{b}", "u32", [b], one, lambda a: a.bit_count())
        f.op(f"clz.{b}", "u32", [b], one, lambda a: size - a.bit_length())
        f.op(f"brev.{b}", b, [b], one, lambda a: int(f"{a:0{size}b}"[::-1], 2))
        for t in (f"u{size}", f"s{size}"):
            for amount in (False, True):
                f.op(f"bfind{'.shiftamt' if amount else ''}.{t}", "u32", [t], one, lambda a: bfind(a, size, t[0] == "s", amount))
            places = [0, 1, 5, 8, size // 2, size - 1, size, size + 1, 100, 255, 256, 257, M32]
            rows = [(rng.choice(int_edges(size) + [rng.getrandbits(size)]), rng.choice(places), rng.choice(places)) for _ in range(120)]
            f.op(f"bfe.{t}", t, [t, "u32", "u32"], rows, lambda a, p, n: bfe(a, p, n, size, t[0] == "s"))
        rows = [(rng.getrandbits(size), rng.getrandbits(size), rng.choice(places), rng.choice(places)) for _ in range(120)]
        f.op(f"bfi.{b}", b, [b, b, "u32", "u32"], rows, lambda a, c, p, n: bfi(a, c, p, n, size))
    for size in (16, 32, 64):
        amounts = [0, 1, 3, size // 2, size - 1, size, size + 1, 2 * size, 255, 256, 0x10000, 0x80000000, M32]
        rows = [(rng.choice(int_edges(size) + [rng.getrandbits(size)]), rng.choice(amounts)) for _ in range(90)]
        f.op(f"shl.b{size}", f"b{size}", [f"b{size}", "u32"], rows, lambda a, s: a << min(s, size))
        f.op(f"shr.b{size}", f"b{size}", [f"b{size}", "u32"], rows, lambda a, s: a >> min(s, size))
        f.op(f"shr.u{size}", f"u{size}", [f"u{size}", "u32"], rows, lambda a, s: a >> min(s, size))
        f.op(f"shr.s{size}", f"s{size}", [f"s{size}", "u32"], rows, lambda a, s: signed(a, size) >> min(s, size))
        f.op(f"shr.s{size}", f"s{size}", [f"s{size}"], [r[:1] for r in rows], lambda a: signed(a, size) >> size - 1,
             operands="{r0}, {a0}, " + str(size + 30), name=f"shr_s{size}_immediate")
    rows = [(rng.getrandbits(32), rng.getrandbits(32), rng.choice([0, 1, 8, 31, 32, 33, 63, 64, 255, M32])) for _ in range(90)]
    for side in ("l", "r"):
        for mode in ("wrap", "clamp"):
            def funnel(a, b, c):
                n = c & 31 if mode == "wrap" else min(c, 32)
                both = b << 32 | a
                return both << n >> 32 if side == "l" else both >> n
            f.op(f"shf.{side}.{mode}.b32", "b32", ["b32", "b32", "u32"], rows, funnel)
    three = int_rows(rng, (32,) * 3, 40)
    for table in (0x00, 0x01, 0x17, 0x1e, 0x2a, 0x3c, 0x69, 0x80, 0x96, 0xb8, 0xca, 0xe8, 0xf8, 0xfe, 0xff):
        def lut(a, b, c):
            return sum((table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k for k in range(32))
        f.op("lop3.b32", "b32", ["b32"] * 3, three, lut, operands=f"{{r0}}, {{a0}}, {{a1}}, {{a2}}, {table:#x}", name=f"lop3_b32_{table:02x}")
    for mode in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        rows = [(rng.getrandbits(32), rng.getrandbits(32), rng.getrandbits(32) if k % 3 else rng.getrandbits(16)) for k in range(80)]
        f.op("prmt.b32" + ("." + mode if mode else ""), "b32", ["b32"] * 3, rows, lambda a, b, c: prmt(a, b, c, mode))
    places = [0, 1, 4, 16, 31, 32, 33, 40, 64, 255, 256, M32]
    rows = [(rng.choice(places), rng.choice(places)) for _ in range(90)]
    for mode in ("clamp", "wrap"):
        def mask(a, b):
            if mode == "wrap":
                a, b = a & 31, b & 31
            if a >= 32:
                return 0
            return ((1 << min(b, 32)) - 1) << a & M32
        f.op(f"bmsk.{mode}.b32", "b32", ["b32"] * 2, rows, mask)
    for mode in ("clamp", "wrap"):
        for t in ("u32", "s32"):
            def extend(a, b):
                n = b & 31 if mode == "wrap" else min(b, 32)
                if n == 0:
                    return 0
                part = a & ((1 << n) - 1)
                return signed(part, n) if t == "s32" else part
            rows = [(rng.choice(int_edges(32) + [rng.getrandbits(32)]), rng.choice([0, 1, 5, 8, 16, 31, 32, 33, 63, 64, M32])) for _ in range(90)]
            f.op(f"szext.{mode}.{t}", t, [t, "u32"], rows, extend)
    rows = [(rng.getrandbits(32) & rng.getrandbits(32), rng.randint(0, 31), rng.randint(-8, 8) & M32) for _ in range(90)]
    rows += [(0, 5, 1), (M32, 31, 2), (M32, 0, M32), (1, 0, 0), (2, 0, 0), (M32, 31, 32), (M32, 0, 32), (M32, 31, (-32) & M32)]
    f.op("fns.b32", "b32", ["b32", "b32", "s32"], rows, lambda m, b, o: fns(m, b, signed(o, 32)))


def logic_with_predicate():
    """lop3 that also combines a predicate with whether its result is not zero."""
    f = Family("integer_lop3_predicate", "sm_70", "8.2")
    rows = [(a & f.rng.choice((0, M32)), b, c, k & 1) for k, (a, b, c) in enumerate(int_rows(f.rng, (32,) * 3, 61))]
    for word, combine in (("or", lambda p, q: p or q), ("and", lambda p, q: p and q)):
        for table in (0x80, 0x96, 0xe8):
            results = []
            for a, b, c, p in rows:
                r = sum((table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k for k in range(32))
                results.append((r, int(combine(r != 0, bool(p)))))
            f.kernel(f"lop3.{word}.b32 {table:02x}", ["b32"] * 3 + ["pred"], ["b32", "pred"], f"lop3.{word}.b32 {{r0}}|{{r1}}, {{a0}}, {{a1}}, {{a2}}, {table:#x}, {{a3}};", rows, results)


def make():
    logic_with_predicate()
    arithmetic()
    packed_and_dots()
    comparisons()
    carries()
    bits()
