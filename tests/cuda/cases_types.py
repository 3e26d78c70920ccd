"""Number formats and their functions, kernels' parameters, and further applications."""
import math
import struct

import mpmath
import numpy as np

from corpus import case, f32, f64, fma32, i32

F = np.float32
mpmath.mp.prec = 160


def exactly(function, values, dtype):
    """A function of exact numbers, rounded once."""
    return np.array([float(function(mpmath.mpf(float(v)))) if dtype == np.float64 else
                     F(float(function(mpmath.mpf(float(v))))) for v in values], dtype)


@case("float_math")
def float_math(c):
    n = 96
    x = np.concatenate([c.floats(32, -3, 3), c.floats(32, -100, 100), c.floats(24, -4000, 4000),
                        np.array([1e-6, -1e-4, 123456.789, 1e7, -3.3e9, 2.5, -0.5, 1e-3], F)]).astype(F)
    a, s = np.abs(x), x * F(0.001)
    u = x / (F(1) + a)
    m = mpmath
    tight = [(m.sin, x), (m.cos, x), (m.exp, s), (m.log, a), (m.sqrt, a), (lambda v: m.sign(v) * m.cbrt(abs(v)), x),
             (lambda v: m.power(2, v), s), (lambda v: m.log(v, 2), a), (lambda v: m.log(1 + v), a), (m.expm1, s), (m.atan, x),
             (m.asin, u), (m.acos, u), (m.tanh, s), (m.erf, s)]
    with np.errstate(over="ignore"):
        columns = [exactly(f, v, F) for f, v in tight]
    columns += [np.floor(x), np.rint(x), np.trunc(x), np.ceil(x), np.copysign(np.floor(a.astype(np.float64) + 0.5), x).astype(F)]
    loose = [(m.tan, x), (lambda v: m.power(v, m.mpf(float(F(0.37)))), a), None, (m.sinh, s), (m.cosh, s), (lambda v: m.hypot(v, 2.5), x),
             None, (m.log10, a), (m.erfc, u), None, None, (m.sinpi, u)]
    with np.errstate(over="ignore"):
        rows = [exactly(*p, F) if p else None for p in loose]
        bottom = F(3) - s
        rows[2] = np.array([F(float(m.atan2(m.mpf(float(p)), m.mpf(float(q))))) for p, q in zip(x, bottom)])
        rows[6] = np.fmod(x, F(0.7))
        rows[9] = np.array([F(min(float(m.gamma(min(m.mpf(float(F(2) + v * F(0.001))), 40))), 3.5e38)) for v in a])
        big = F(2) + a * F(0.001) > 36
        rows[9][big] = np.inf
        rows[10] = u * F(128)
    c.launch("float_math", 2, 64, c.input("in", x), c.zeros("tight", 20 * n), c.zeros("loose", 12 * n), i32(n))
    c.expect("tight", np.stack(columns, axis=1), "ulp", "within two units in the last place of the exact result, CUDA's stated bound", max=2)
    c.expect("loose", np.stack(rows, axis=1), "ulp", "CUDA states up to six units in the last place here", max=6)


@case("double_math")
def double_math(c):
    x = np.concatenate([c.floats(32, -3, 3, np.float64), c.floats(30, -1000, 1000, np.float64),
                        np.array([1e-9, -1e-5, 123456.789, 1e7, -3.3e9, 1e15, 0.5, -2.5])])
    a, s = np.abs(x), x * 0.001
    u = x / (1.0 + a)
    m = mpmath
    s = np.clip(s, -1e300, 700)
    pairs = [(m.sin, x), (m.cos, x), (m.tan, x), (m.exp, s), (m.log, a), (m.sqrt, a), (lambda v: m.sign(v) * m.cbrt(abs(v)), x),
             (lambda v: m.power(v, m.mpf(0.37)), a), (lambda v: m.power(2, v), s), (lambda v: m.log(v, 2), a), (lambda v: m.log(1 + v), a),
             (m.expm1, s), (m.atan, x), (m.asin, u), (m.tanh, s), (m.erf, s)]
    x_ok = np.abs(x) < 6e5
    columns = [exactly(f, v, np.float64) for f, v in pairs]
    columns.append(np.array([float(m.atan2(m.mpf(p), m.mpf(q))) for p, q in zip(x, 3.0 - s)]))
    columns.append(exactly(m.sinh, s, np.float64))
    columns.append(exactly(lambda v: m.hypot(v, 2.5), x, np.float64))
    columns.append(np.rint(x) + np.floor(s) + np.fmod(x, 0.75))
    table = np.stack(columns, axis=1)[x_ok]
    c.launch("double_math", 2, 64, c.input("in", x[x_ok]), c.zeros("out", table.size, np.float64), i32(int(x_ok.sum())))
    c.expect("out", table, "ulp", "CUDA states one or two units in the last place for these", max=2)


@case("fast_math")
def fast_math(c):
    n = 80
    x = c.floats(n, -3, 3)
    w, a = x.astype(np.float64), np.abs(x.astype(np.float64)) + 0.125
    columns = [np.sin(w), np.cos(w), np.exp(w), np.log(a), a**float(F(1.7)), w / a, np.sqrt(a), 1 / np.sqrt(a), 1 / a, np.log2(a)]
    c.launch("fast_math", 2, 64, c.input("in", x), c.zeros("out", 10 * n), i32(n))
    c.expect("out", np.stack(columns, axis=1).astype(F), "tolerance",
             "sin and cos are off by 2^-21 absolutely, lg2 by 2^-22, exp and pow by few units in the last place", absolute=1e-6, relative=3e-6)


@case("half_arithmetic")
def half_arithmetic(c):
    n = 101
    special = np.array([0.0, -0.0, 1.0, -1.0, 65504.0, -65504.0, 6e-8, -6e-8, 6.1e-5, 0.333, np.inf, -np.inf], np.float16)
    a, b, z = (c.floats(n, -4, 4).astype(np.float16) for _ in range(3))
    a[:12], b[:12] = special, special[::-1]
    a[12:24] = special
    keep = ~(np.isinf(a) & np.isinf(b))
    a[~keep], z[:24] = np.float16(2), np.float16(0.25)
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64) + z.astype(np.float64)
        whole = np.where(np.isinf(a), 0, np.trunc(np.where(np.isinf(a), 0, a.astype(np.float64)))).astype(np.int64)
        whole = np.where(np.isposinf(a), 2**31 - 1, np.where(np.isneginf(a), -2**31, whole))
        tripled = ((whole * 3 + 2**31) % 2**32 - 2**31).astype(np.float64)
        out = np.stack([a + b, a - b, a * b, product.astype(np.float16), -a, np.abs(b), (a.astype(F) * F(1.5)).astype(np.float16),
                        tripled.astype(np.float16)], axis=1)
        bad = np.isnan(out).any(axis=1)
        out[bad] = 0
    good = ~bad
    a, b, z, out = a[good], b[good], z[good], out[good]
    n = len(a)
    flags = sum(t.astype(np.int32) << k for k, t in enumerate([a < b, a <= b, a == b, a > b, a >= b, a != b]))
    c.launch("half_scalars", 2, 64, c.input("a", a), c.input("b", b), c.input("c", z), c.zeros("out", 8 * n, np.float16), c.zeros("flags", n), i32(n))
    m = 50
    p, q, r = (c.floats((m, 2), -4, 4).astype(np.float16) for _ in range(3))
    fused = (p.astype(np.float64) * q.astype(np.float64) + r.astype(np.float64)).astype(np.float16)
    mixed = np.stack([(p[:, 0].astype(F) + F(1)).astype(np.float16), q[:, 1]], axis=1)
    c.launch("half_pairs", 1, 64, c.input("p", p), c.input("q", q), c.input("r", r), c.zeros("pairs", 12 * m, np.float16), i32(m))
    c.expect("out", out)
    c.expect("flags", flags.astype(np.int32))
    c.expect("pairs", np.stack([p + q, p * q, fused, -p, p[:, ::-1], mixed], axis=1))


@case("half_matmul")
def half_matmul(c):
    n = 24
    a, b = (c.floats((n, n), -1, 1).astype(np.float16) for _ in range(2))
    total, wide = np.zeros((n, n), np.float16), np.zeros((n, n), F)
    for k in range(n):
        p, q = a[:, k:k + 1].astype(np.float64), b[k:k + 1].astype(np.float64)
        total = (p * q + total.astype(np.float64)).astype(np.float16)
        wide = fma32(p, q, wide)
    c.launch("half_matmul", (3, 3), (8, 8), c.input("a", a), c.input("b", b), c.zeros("c", n * n, np.float16), c.zeros("wide", n * n), i32(n))
    c.expect("c", total)
    c.expect("wide", wide)


def bf16(values, toward_zero=False):
    """The bfloat16 bits of doubles, rounded once to nearest even or toward zero (no specials)."""
    out = []
    for v in np.asarray(values, np.float64).ravel():
        if v == 0:
            out.append(0x8000 if np.signbit(v) else 0)
            continue
        mantissa, exponent = math.frexp(abs(v))
        scaled = mantissa * 256
        whole = math.floor(scaled) if toward_zero else round(scaled)
        bits = struct.unpack("<I", struct.pack("<f", math.ldexp(whole, exponent - 8)))[0] >> 16
        out.append(bits | (0x8000 if v < 0 else 0))
    return np.array(out, np.uint16)


def wide_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(F)


@case("bfloat16")
def bfloat16(c):
    n = 90
    a, b, z = c.floats(n, -8, 8), c.floats(n, -8, 8), c.floats(n, -8, 8)
    x, y, w = bf16(a), bf16(b), bf16(z, True)
    p, q, r = (wide_bf16(v).astype(np.float64) for v in (x, y, w))
    out = np.stack([x, w, bf16(p * q + r), bf16(p * q)], axis=1)
    back = wide_bf16(bf16(p + q)) + np.where(p < q, F(64), F(0))
    c.launch("bfloat16", 2, 64, c.input("a", a), c.input("b", b), c.input("c", z), c.zeros("out", 4 * n, np.uint16), c.zeros("back", n), i32(n))
    c.expect("out", out)
    c.expect("back", back.astype(F))


@case("cooperative")
def cooperative(c):
    n, block = 230, 128
    x = c.ints(n, -50, 50)
    x[100] = 999
    padded = np.concatenate([x, np.zeros(256 - n, np.int32)])
    tiles = padded.reshape(-1, 8).sum(axis=1).astype(np.int32)
    ranks = np.zeros(n, np.int32)
    for i in range(n):
        warp = [k for k in range(i // 32 * 32, min(n, i // 32 * 32 + 32)) if x[k] > 0]
        if x[i] > 0:
            ranks[i] = warp.index(i) * 100 + len(warp)
        if (padded[i // 32 * 32:i // 32 * 32 + 32] == 999).any():
            ranks[i] = -1
    c.launch("cooperative", 2, block, c.input("in", x), c.zeros("tiles", 32), c.zeros("ranks", n), i32(n))
    c.expect("tiles", tiles)
    c.expect("ranks", ranks)


@case("templates")
def templates(c):
    n = 61
    for kernel, dtype, size, name in (("_Z6windowIfLi3EEvPKT_PS0_i", F, 3, "f"), ("_Z6windowIdLi5EEvPKT_PS0_i", np.float64, 5, "d"),
                                      ("_Z6windowIsLi4EEvPKT_PS0_i", np.int16, 4, "s")):
        x = c.ints(n, -30000, 30000, dtype) if dtype == np.int16 else c.floats(n, dtype=dtype)
        out = np.zeros(n, dtype)
        with np.errstate(over="ignore"):
            for base in range(0, n, 8):
                ring = np.ones(size, dtype)
                for k in range(base, min(base + 8, n)):
                    ring[(k - base) % size] = x[k]
                    total = dtype(0)
                    for v in ring:
                        total = dtype(total + v)
                    out[k] = total
        c.launch(kernel, 1, 8, c.input(f"in_{name}", x), c.zeros(f"out_{name}", n, dtype), i32(n))
        c.expect(f"out_{name}", out)


@case("struct_params")
def struct_params(c):
    n = 140
    steps, weights, scale = [3, -7, 100, 0, -250, 31, 8], [0.5, -1.25, 3.0, 0.125], 1.5
    ranges = [(-100, 300), (0, 50), (-1000, -10)]
    x = c.ints(n)
    plan = struct.pack("<Bx7h4d6if4x", 9, *steps, *weights, *sum(ranges, ()), scale)
    out = []
    for i, v in enumerate(map(int, x)):
        v += sum(steps[(i + k) % 7] for k in range(4))
        v = max(ranges[i % 3][0], min(ranges[i % 3][1], v))
        out.append(int(v * weights[i & 3] * scale) * -1 - 1234 + 9)
    c.launch("struct_params", 3, 64, c.bytes(plan), c.input("source", x), c.zeros("target", n), ("i8", -1), ("i16", -1234), ("u8", 4), i32(n))
    c.expect("target", np.array(out, np.int32))


@case("vector_loads")
def vector_loads(c):
    n = 45
    a, b, x = c.bits((n, 4), np.uint8), c.bits((n, 4), np.int16), c.bits((n, 2), np.int32)
    d, e, f, raw = c.floats((n, 4)), c.floats((n, 2), dtype=np.float64), c.bits((n, 2), np.int8), c.bits((n, 16), np.uint8)
    inputs = [c.input(k, v) for k, v in zip("abcdef", (a, b, x, d, e, f))]
    outputs = [c.zeros(f"o{k}", v.size, v.dtype) for k, v in zip("abcdef", (a, b, x, d, e, f))]
    c.launch("vector_loads", 2, 32, *inputs, *outputs, c.input("bytes", raw), c.zeros("reversed", 16 * n, np.uint8), i32(n))
    c.expect("oa", np.stack([a[:, 3], a[:, 2], a[:, 1] + np.uint8(1), a[:, 0] * np.uint8(2)], axis=1))
    c.expect("ob", np.stack([b[:, 0] + b[:, 1], b[:, 2] - b[:, 3], b[:, 0] * b[:, 2], b[:, 3] >> 3], axis=1))
    c.expect("oc", np.stack([x[:, 1], x[:, 0] ^ x[:, 1]], axis=1))
    c.expect("od", np.stack([d[:, 3], d[:, 0] + d[:, 1], d[:, 1] * d[:, 2], -d[:, 0]], axis=1))
    c.expect("oe", np.stack([e[:, 1], e[:, 0] - e[:, 1]], axis=1))
    c.expect("of", np.stack([f[:, 1], -f[:, 0]], axis=1))
    c.expect("reversed", raw[:, ::-1])


@case("small_integers")
def small_integers(c):
    n = 130
    a, b, s, d = c.bits(n, np.int8), c.bits(n, np.uint8), c.bits(n, np.int16), c.bits(n, np.uint16)
    a[:4], b[:4], s[:4], d[:4] = [-128, 127, 0, -1], [0, 255, 1, 128], [-32768, 32767, 0, -1], [0, 65535, 32768, 1]

    def quotient(p, q):
        return int(math.copysign(1, p) * math.copysign(1, q)) * (abs(p) // abs(q))
    rows = [[], [], [], []]
    for x, y, z, w in zip(*(map(int, v) for v in (a, b, s, d))):
        rows[0].append([x + y, x * 3 - z, quotient(x, y) if y else x >> 2, x - quotient(x, z) * z if z else -x])
        rows[1].append([y - 200, y * y >> 4, y << (x & 7), y // x if x > 0 else y])
        rows[2].append([z * w, z >> (y & 15), quotient(z, w) if w else 0, min(z, w)])
        rows[3].append([w << (y & 15), w >> 3 | z << 13, w % y if y else w, max(w, z)])
    c.launch("small_integers", 3, 64, c.input("a", a), c.input("b", b), c.input("c", s), c.input("d", d), c.zeros("o8", 4 * n, np.int8),
             c.zeros("u8", 4 * n, np.uint8), c.zeros("o16", 4 * n, np.int16), c.zeros("u16", 4 * n, np.uint16), i32(n))
    for name, values, dtype in zip(("o8", "u8", "o16", "u16"), rows, (np.int8, np.uint8, np.int16, np.uint16)):
        unsigned = np.array(values, np.int64).astype(np.uint64)
        c.expect(name, unsigned.astype(np.dtype(dtype).str.replace("i", "u")).view(dtype))


def to_int(v, bits, signed, mode):
    """A float to an integer as the device does it: NaN to zero for 32 bits, saturation at the ends."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if math.isinf(v):
        return high if v > 0 else low
    whole = {"z": math.trunc, "n": round, "u": math.ceil, "d": math.floor}[mode](v)
    return max(low, min(high, whole))


def to_float(v, mode, precision, dtype):
    """An integer or a double to a float of a precision, rounded in the mode (normal results)."""
    v = mpmath.mpf(v)
    if v == 0:
        return dtype(0)
    with mpmath.workprec(precision):
        return dtype(float(mpmath.mpf(v, prec=precision, rounding={"n": "n", "z": "d", "u": "c", "d": "f"}[mode])))


@case("conversions")
def conversions(c):
    edges = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 2147483648.0, -2147483648.0, 4294967296.0, -1.0, 1e10, -1e10, 1e20, -1e20,
             math.inf, -math.inf, 255.5, 32767.9, 1e-40, 9.2e18, 1.8e19]
    n = 72
    f = np.concatenate([np.array(edges), c.floats(48, -1e5, 1e5, np.float64)]).astype(F)
    d = np.concatenate([np.array(edges), c.floats(24, -3e9, 3e9, np.float64), c.floats(24, -2e19, 2e19, np.float64)])
    l = c.bits(n, np.int64)
    l[:20] >>= 30
    l[20:24] = [0, -1, 2**63 - 1, -2**63]
    l[24:30] = [16777217, 16777219, -16777217, 2**53 + 1, 2**62 + 1, -2**53 - 1]
    x, y, v = [float(k) for k in f], [float(k) for k in d], [int(k) for k in l]
    low = [(k + 2**31) % 2**32 - 2**31 for k in v]
    un = [k & (2**64 - 1) for k in v]
    ints = [[to_int(p, 32, True, m) for m in "znud"] + [to_int(q, 32, True, m) for m in "zn"] for p, q in zip(x, y)]
    uints = [[to_int(p, 32, False, "z"), to_int(q, 32, False, "d")] for p, q in zip(x, y)]
    longs = [[to_int(p, 64, True, "z"), to_int(q, 64, True, "z"), to_int(q, 64, True, "u")] for p, q in zip(x, y)]
    ulongs = [[to_int(p, 64, False, "z"), to_int(q, 64, False, "n")] for p, q in zip(x, y)]
    d[np.abs(d) < 1e-37] = np.array(0.0)
    y = [float(k) for k in d]
    ints = [[*row[:4], to_int(q, 32, True, "z"), to_int(q, 32, True, "n")] for row, q in zip(ints, y)]
    ulongs = [[row[0], to_int(q, 64, False, "n")] for row, q in zip(ulongs, y)]
    longs = [[row[0], to_int(q, 64, True, "z"), to_int(q, 64, True, "u")] for row, q in zip(longs, y)]

    def narrow(q, mode):
        if math.isinf(q) or q == 0:
            return F(q)
        return to_float(q, mode, 24, F)
    floats = [[to_float(k, "n", 24, F), to_float(k, "z", 24, F), to_float(k2, "u", 24, F), to_float(k3, "d", 24, F), narrow(q, "n"), narrow(q, "z")]
              for k, k2, k3, q in zip(v, un, low, y)]
    doubles = [[to_float(k, "n", 53, np.float64), to_float(k2, "z", 53, np.float64), p] for k, k2, p in zip(v, un, x)]
    c.launch("conversions", 2, 64, c.input("f", f), c.input("d", d), c.input("l", l), c.zeros("ints", 6 * n), c.zeros("uints", 2 * n),
             c.zeros("longs", 3 * n, np.int64), c.zeros("ulongs", 2 * n, np.uint64), c.zeros("floats", 6 * n), c.zeros("doubles", 3 * n, np.float64),
             c.zeros("shorts", n, np.int16), i32(n))
    c.expect("ints", np.array(ints, np.int32))
    c.expect("uints", np.array(uints, np.uint32))
    c.expect("longs", np.array(longs, np.int64))
    c.expect("ulongs", np.array(ulongs, np.uint64))
    c.expect("floats", np.array(floats, F))
    c.expect("doubles", np.array(doubles, np.float64))
    c.expect("shorts", l.astype(np.int16))


@case("launch_extents")
def launch_extents(c):
    grid, block = (3, 2, 2), (5, 3, 4)
    out = [x | y << 4 | z << 8 | bx << 12 | by << 16 | bz << 20 for bz in range(grid[2]) for by in range(grid[1]) for bx in range(grid[0])
           for z in range(block[2]) for y in range(block[1]) for x in range(block[0])]
    c.launch("launch_extents", grid, block, c.zeros("out", len(out)), c.zeros("extents", 6))
    c.expect("out", np.array(out, np.int32))
    c.expect("extents", np.array(grid + block, np.int32))


@case("inline_ptx")
def inline_ptx(c):
    n = 128
    x = c.ints(n, -3000, 3000)
    x[:3] = [0, 1, -1]
    rows = []
    for i, v in enumerate(map(int, x)):
        lane, warp = i % 32, i % 64 // 32
        u = v & 0xffffffff
        length = min(7, 32 - lane)
        field = (u >> lane) & ((1 << length) - 1)
        sign = (u >> min(lane + 6, 31)) & 1
        if sign:
            field |= 0xffffffff << length & 0xffffffff
        position, size = lane // 2, lane
        mask = ((1 << size) - 1) << position & 0xffffffff
        inserted = (u << position & mask) | (0x55555555 & ~mask)
        p = v > 0
        q = not v > 0
        picked = (lane if p else 7) + (0 if q else 1)
        a, b, d = u, 0x0f0f0f0f, 0x33333333
        logic = (a & b) | (a & d) | (b & d)
        shifted = ((v << 20) + 2**31) % 2**32 - 2**31
        sat = max(-2**31, min(2**31 - 1, shifted + 0x7fff0000)) & 0xffffffff
        below = (1 << lane) - 1
        rows.append([lane + 100 * warp, below, below | 1 << lane, ~(below | 1 << lane) & 0xffffffff, 1 << lane, field, inserted, picked, logic, sat])
    c.launch("inline_ptx", 2, 64, c.input("in", x), c.zeros("out", 10 * n), i32(n))
    c.expect("out", np.array(rows, np.uint32))


@case("big_switch")
def big_switch(c):
    n = 150
    x = c.ints(n, -5, 45)
    out = []
    for r, v in enumerate(map(int, x)):
        if 0 <= v < 40:
            out.append((r << v % 7) + bin(r ^ (v * 2654435761 & 0xffffffff)).count("1") * (v + 3))
        else:
            out.append(-v)
    c.launch("big_switch", 2, 96, c.input("in", x), c.zeros("out", n), i32(n))
    c.expect("out", np.array(out, np.int32))


@case("matmul_double")
def matmul_double(c):
    n, k4 = 19, 6
    a, b = c.ints((n, n), -2**26, 2**26).astype(np.float64), c.ints((n, n), -2**26, 2**26).astype(np.float64)
    total = np.array([[0] * n for _ in range(n)], object)
    for i in range(n):
        for j in range(n):
            s = 0
            for k in range(n):
                s = int(float(int(a[i, k]) * int(b[k, j]) + s))
            total[i, j] = float(s)
    c.launch("matmul_double", (2, 2), (8, 8), c.input("a", a), c.input("b", b), c.zeros("c", n * n, np.float64), i32(n))
    c.expect("c", total.astype(np.float64))
    p, q = c.bits((n, 4 * k4), np.int8), c.bits((n, 4 * k4), np.int8)
    c.launch("matmul_bytes", (2, 3), (16, 8), c.input("p", p), c.input("q", q), c.zeros("r", n * n), i32(n), i32(k4))
    c.expect("r", p.astype(np.int32) @ q.T.astype(np.int32))


@case("nqueens")
def nqueens(c):
    n = 7
    c.launch("nqueens", 1, 64, i32(n), c.zeros("solutions", 1))
    c.expect("solutions", np.array([40], np.int32))


@case("ray_spheres")
def ray_spheres(c):
    w, h = 40, 31
    balls = [(0.0, 0.0, 0.0, 0.36, 1), (0.7, 0.3, -0.5, 0.09, 0), (-0.8, -0.2, 0.4, 0.25, 0), (0.1, 0.9, 0.2, 0.16, 1)]
    c.symbol("spheres", np.frombuffer(b"".join(struct.pack("<ffffi", *b) for b in balls), np.uint8))
    balls = [tuple(F(v) for v in b[:4]) + (b[4],) for b in balls]

    def dot(a, b):
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    out = np.zeros((h, w), np.uint8)
    for py in range(h):
        for px in range(w):
            d = [(F(px) + F(0.5)) / F(w) - F(0.5), (F(py) + F(0.5)) / F(h) - F(0.5), F(1)]
            inverse = F(1) / np.sqrt(dot(d, d))
            d = [v * inverse for v in d]
            o, shade, share = [F(0), F(0), F(-3)], F(0.1), F(1)
            for _ in range(3):
                hit, best = None, F(1e30)
                for ball in balls:
                    e = [ball[k] - o[k] for k in range(3)]
                    b = dot(e, d)
                    disc = b * b - dot(e, e) + ball[3]
                    if disc < 0:
                        continue
                    t = b - np.sqrt(disc)
                    if t > F(0.01) and t < best:
                        hit, best = ball, t
                if hit is None:
                    shade += share * F(0.25) * (d[1] + F(1))
                    break
                o = [o[k] + best * d[k] for k in range(3)]
                r = np.sqrt(hit[3])
                nrm = [(o[k] - hit[k]) / r for k in range(3)]
                light = max(F(0), -(nrm[0] * F(0.5) + nrm[1] * F(0.6) + nrm[2] * F(0.625)))
                shade += share * light * F(0.6)
                if not hit[4]:
                    break
                share *= F(0.5)
                along = F(2) * dot(d, nrm)
                d = [d[k] - along * nrm[k] for k in range(3)]
            out[py, px] = int(min(shade, F(1)) * F(255))
    c.launch("ray_spheres", (3, 4), (16, 8), c.zeros("out", w * h, np.uint8), i32(w), i32(h))
    c.expect("out", out)


@case("btree_search")
def btree_search(c):
    keys = np.unique(c.ints(300, 0, 5000))
    nodes = []

    def build(part):
        index = len(nodes)
        nodes.append(None)
        if len(part) <= 8:
            chosen, children = list(part), [-1] * (len(part) + 1)
        else:
            cuts = np.linspace(0, len(part), 10).astype(int)[1:-1]
            cuts = sorted(set(int(v) for v in cuts))
            chosen = [part[v] for v in cuts]
            edges = [-1] + cuts + [len(part)]
            children = [build(part[edges[k] + 1:edges[k + 1]]) if edges[k + 1] > edges[k] + 1 else -1 for k in range(len(edges) - 1)]
        nodes[index] = ([len(chosen)] + (chosen + [0] * 8)[:8] + (children + [-1] * 9)[:9] + ([int(v) * 7 + 1 for v in chosen] + [0] * 8)[:8])
        return index
    root = build([int(k) for k in keys])
    queries = np.concatenate([c.rng.choice(keys, 20), c.ints(15, -5, 5100)]).astype(np.int32)
    present = set(int(k) for k in keys)
    c.launch("btree_search", 35, 32, c.input("nodes", np.array(nodes, np.int32)), i32(root), c.input("queries", queries), c.zeros("answers", 35))
    c.expect("answers", np.array([q * 7 + 1 if q in present else -1 for q in map(int, queries)], np.int32))


@case("huffman")
def huffman(c):
    lengths = np.array([1, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15], np.uint8)
    codes = c.bits(16) & ((1 << lengths.astype(np.uint32)) - 1).astype(np.uint32)
    n = 230
    s = np.minimum(c.rng.geometric(0.3, n) - 1, 15).astype(np.uint8)
    text = "".join(f"{int(codes[v]):0{int(lengths[v])}b}" for v in s)
    padded = text.ljust((len(text) + 31) // 32 * 32, "0")
    c.symbol("codes", codes)
    c.symbol("lengths", lengths)
    words = np.array([int(padded[k:k + 32], 2) for k in range(0, len(padded), 32)], np.uint32)
    c.launch("huffman", 1, 256, c.input("symbols", s), i32(n), c.zeros("stream", len(words) + 1), c.zeros("bits", 1))
    c.expect("stream", np.append(words, np.uint32(0)))
    c.expect("bits", np.array([len(text)], np.int32))


@case("walsh")
def walsh(c):
    n = 128
    x = c.ints((2, n))
    h = np.array([[1]])
    while len(h) < n:
        h = np.block([[h, h], [h, -h]])
    f = c.floats((2, n))
    out = np.zeros((2, n), F)
    for row in range(2):
        s = f[row]
        while len(s) > 1:
            out[row, len(s) // 2:len(s)] = (s[::2] - s[1::2]) * F(0.5)
            s = (s[::2] + s[1::2]) * F(0.5)
        out[row, 0] = s[0]
    c.launch("walsh", 2, 48, c.input("in", x), c.zeros("out", 2 * n), i32(n), shared=4 * n)
    c.launch("haar", 2, 64, c.input("wave", f), c.zeros("haar", 2 * n), i32(n))
    c.expect("out", (x @ h).astype(np.int32))
    c.expect("haar", out)


@case("components")
def components(c):
    nodes, edges = 200, 150
    a, b = c.ints(edges, 0, nodes), c.ints(edges, 0, nodes)
    label = list(range(nodes))
    for _ in range(nodes):
        for p, q in zip(a, b):
            label[p] = label[q] = min(label[p], label[q])
    c.launch("hook", 3, 64, c.input("from", a), c.input("to", b), i32(edges), c.input("parent", np.arange(nodes, dtype=np.int32)))
    c.launch("flatten", 4, 64, c.buffer("parent"), i32(nodes))
    c.expect("parent", np.array(label, np.int32))
    m = np.triu(c.rng.random((40, 40)) < 0.3, 1)
    m = m | m.T
    starts = np.concatenate([[0], np.cumsum(m.sum(axis=1))]).astype(np.int32)
    lists = np.concatenate([np.flatnonzero(row) for row in m]).astype(np.int32)
    c.launch("triangles", 40, 32, c.input("starts", starts), c.input("edges", lists), i32(40), c.zeros("count", 1, np.uint64))
    c.expect("count", np.array([np.trace(np.linalg.matrix_power(m.astype(np.int64), 3))], np.uint64))


@case("lava_md")
def lava_md(c):
    boxes, p = 6, 12
    x = c.floats((boxes, p, 4), 0, 2, np.float64)
    near = np.full((boxes, 5), -1, np.int32)
    for b in range(boxes):
        mine = [b] + [k for k in range(boxes) if abs(k - b) in (1, 3)]
        near[b, :len(mine[:5])] = mine[:5]
    forces = np.zeros((boxes, p, 4))
    alpha = 0.5
    for b in range(boxes):
        for k in near[b][near[b] >= 0]:
            for j in range(p):
                d = x[b, :, :3] - x[k, j, :3]
                r2 = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2]
                u = 1.0 / (1.0 + alpha * r2)
                w = x[k, j, 3]
                s = w * u * u
                forces[b, :, :3] += s[:, None] * d
                forces[b, :, 3] += w * u
    c.launch("lava_md", boxes, 32, c.input("neighbours", near), c.input("particles", x), c.zeros("forces", forces.size, np.float64), f64(alpha))
    c.expect("forces", forces)


@case("tensor_matmul")
def tensor_matmul(c):
    n = 64
    half = lambda *shape: c.floats(shape, -2, 2).astype(np.float16)

    def sums(a, b, total):
        for k in range(a.shape[1]):
            total = fma32(a[:, k:k + 1].astype(np.float64), b[k:k + 1].astype(np.float64), total)
        return total
    a, b, before = half(n, n), half(n, n), c.floats((n, n))
    alpha, beta = F(0.75), F(-1.5)
    c.launch("halves", (2, 2), (128,), c.input("a", a), c.input("b", b), c.input("before", before), c.zeros("out", n * n), i32(n), f32(alpha), f32(beta))
    c.expect("out", alpha * sums(a, b.T, np.zeros((n, n), F)) + beta * before)
    a, b = half(16, 16), half(16, 16)
    c.launch("chained", 1, 32, c.input("first", a), c.input("second", b), c.zeros("twice", 256, np.float16))
    for _ in range(2):
        a = sums(a, b, np.zeros((16, 16), F)).astype(np.float16)
    c.expect("twice", np.ascontiguousarray(a.T))
    a, b = c.ints((32, 48), -128, 128, np.int8), c.ints((48, 8), -128, 128, np.int8)
    c.launch("bytes", 1, 32, c.input("left", a), c.input("right", b), c.zeros("whole", 256, np.int32), i32(48))
    c.expect("whole", a.astype(np.int32) @ b.astype(np.int32) + 7)
    a, b = half(16, 48), half(48, 8)
    c.launch("fragments", 1, 32, c.input("upper", a), c.input("lower", b), c.zeros("tile", 128), i32(48))
    c.expect("tile", sums(a, b, np.zeros((16, 8), F)))
