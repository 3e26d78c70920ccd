"""Linear algebra, simulation, finance, pictures and learning."""
import math

import numpy as np

from corpus import case, f32, f64, i32, u64

F = np.float32


@case("nbody")
def nbody(c):
    n, block = 75, 32
    p = c.floats((n, 4), 0.1, 2.0)
    c.launch("nbody", 3, block, c.input("position", p), c.zeros("acceleration", 4 * n), i32(n), f32(0.01), shared=16 * block)
    all_p = np.concatenate([p, np.zeros((96 - n, 4), F)])
    total = np.zeros((n, 4), F)
    for k in range(96):
        d = all_p[k, :3] - p[:, :3]
        d2 = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] + F(0.01)
        inverse = F(1) / np.sqrt(d2)
        s = all_p[k, 3] * (inverse * inverse * inverse)
        total[:, :3] += d * s[:, None]
    c.expect("acceleration", total)


@case("mandelbrot")
def mandelbrot(c):
    w, h, limit = 43, 41, 60
    args = [c.zeros("single", w * h, np.uint16), c.zeros("double", w * h, np.uint16), i32(w), i32(h), i32(limit)]
    c.launch("mandelbrot", (3, 6), (16, 8), *args)
    for name, t in (("single", F), ("double", np.float64)):
        counts = np.zeros((h, w), np.uint16)
        for py in range(h):
            for px in range(w):
                cx, cy = t(-2.0) + t(0.0625) * t(px), t(-1.25) + t(0.0625) * t(py)
                x = y = t(0)
                k = 0
                while k < limit and x * x + y * y <= t(4):
                    x, y = x * x - y * y + cx, t(2) * x * y + cy
                    k += 1
                counts[py, px] = k
        c.expect(name, counts)


@case("monte_carlo")
def monte_carlo(c):
    seed, trials, threads = 0x123456789abcdef, 20, 256
    mask = (1 << 64) - 1
    hits, states = 0, []
    for i in range(threads):
        s = (seed + 0x9e3779b97f4a7c15 * (i + 1)) & mask
        s = ((s ^ (s >> 30)) * 0xbf58476d1ce4e5b9) & mask
        s = ((s ^ (s >> 27)) * 0x94d049bb133111eb) & mask
        s ^= s >> 31
        for _ in range(trials):
            s ^= (s << 13) & mask
            s ^= s >> 7
            s ^= (s << 17) & mask
            x, y = F(s >> 40) * F(2.0 ** -24), F(s & 0xffffff) * F(2.0 ** -24)
            hits += x * x + y * y < F(1)
        states.append(s)
    c.launch("monte_carlo", 4, 64, u64(seed), i32(trials), c.zeros("hits", 1), c.zeros("states", threads, np.uint64))
    c.expect("hits", np.array([hits], np.uint32))
    c.expect("states", np.array(states, np.uint64))


@case("philox")
def philox(c):
    n, seed, offset = 130, 0x0123456789abcdef, 0xfffffffe00000007
    out = np.zeros((n, 4), np.uint32)
    for i in range(n):
        x = [offset & 0xffffffff, offset >> 32, i, 0]
        k = [seed & 0xffffffff, seed >> 32]
        for _ in range(10):
            p, q = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [(q >> 32) ^ x[1] ^ k[0], q & 0xffffffff, (p >> 32) ^ x[3] ^ k[1], p & 0xffffffff]
            k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
        out[i] = x
    c.launch("philox", 3, 64, u64(seed), u64(offset), c.zeros("out", 4 * n), c.zeros("unit", 4 * n), i32(n))
    c.expect("out", out)
    c.expect("unit", (out >> 8).astype(F) * F(2.0 ** -24))


@case("fft")
def fft(c):
    n, batch = 128, 3
    x = c.floats((batch, n, 2))
    angle = -2 * np.pi * np.arange(n // 2) / n
    table = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(F)

    def transform(data, inverse):
        s = np.empty_like(data)
        s[:, [int(f"{i:07b}"[::-1], 2) for i in range(n)]] = data
        half = 1
        while half < n:
            t = np.arange(n // 2)
            k = t & (half - 1)
            a = 2 * t - k
            w = table[k * (n // 2 // half)].copy()
            if inverse:
                w[:, 1] = -w[:, 1]
            u, v = s[:, a], s[:, a + half]
            p = np.stack([v[..., 0] * w[:, 0] - v[..., 1] * w[:, 1], v[..., 0] * w[:, 1] + v[..., 1] * w[:, 0]], axis=-1)
            s[:, a], s[:, a + half] = u + p, u - p
            half *= 2
        return s * F(1.0 / n) if inverse else s
    forward = transform(x, False)
    assert np.allclose(forward[..., 0] + 1j * forward[..., 1], np.fft.fft(x[..., 0] + 1j * x[..., 1]), atol=1e-4)
    c.launch("fft", batch, n // 2, c.input("in", x), c.zeros("out", x.size), c.input("twiddle", table), i32(0))
    c.launch("fft", batch, n // 2, c.buffer("out"), c.zeros("back", x.size), c.buffer("twiddle"), i32(1))
    c.expect("out", forward)
    c.expect("back", transform(forward, True))


@case("convolution")
def convolution(c):
    w, h = 45, 18
    x = c.bits((h, w, 4), np.uint8)
    taps = [1, 4, 6, 4, 1]
    wide = np.pad(x.astype(np.int64), ((0, 0), (2, 2), (0, 0)), mode="edge")
    rows = sum(t * wide[:, k:k + w] for k, t in enumerate(taps))
    tall = np.pad(rows, ((2, 2), (0, 0), (0, 0)), mode="edge")
    out = (sum(t * tall[k:k + h] for k, t in enumerate(taps)) + 128) >> 8
    c.launch("convolve_rows", (2, 5), (32, 4), c.input("in", x), c.zeros("middle", x.size, np.uint16), i32(w), i32(h))
    c.launch("convolve_columns", (3, 3), (16, 8), c.buffer("middle"), c.zeros("out", x.size, np.uint8), i32(w), i32(h))
    c.expect("middle", rows.astype(np.uint16))
    c.expect("out", out.astype(np.uint8))


@case("bilinear")
def bilinear(c):
    w, h = 51, 34
    cos, sin = F(math.cos(0.5)), F(math.sin(0.5))
    img = c.bits((h, w), np.uint8)
    x, y = np.meshgrid(np.arange(w), np.arange(h))
    u, v = x.astype(F) - F(w) * F(0.5), y.astype(F) - F(h) * F(0.5)
    fx, fy = cos * u - sin * v + F(w) * F(0.5), sin * u + cos * v + F(h) * F(0.5)
    bx, by = np.floor(fx), np.floor(fy)
    tx, ty = fx - bx, fy - by
    xs = [np.clip(bx.astype(int) + k, 0, w - 1) for k in (0, 1)]
    ys = [np.clip(by.astype(int) + k, 0, h - 1) for k in (0, 1)]
    pick = img.astype(F)
    top = pick[ys[0], xs[0]] * (F(1) - tx) + pick[ys[0], xs[1]] * tx
    bottom = pick[ys[1], xs[0]] * (F(1) - tx) + pick[ys[1], xs[1]] * tx
    value = top * (F(1) - ty) + bottom * ty
    c.launch("bilinear", (4, 5), (16, 8), c.input("in", img), c.zeros("out", w * h, np.uint8), i32(w), i32(h), f32(cos), f32(sin))
    c.expect("out", np.clip(value + F(0.5), 0, 255).astype(np.uint8))


@case("gaussian")
def gaussian(c):
    n = 20
    a = c.floats((n, n))
    a += np.eye(n, dtype=F) * F(8)
    b = c.floats(n)
    c.input("a", a)
    c.input("b", b)
    m = np.zeros((n, n), F)
    c.zeros("m", n * n)
    a, b = a.copy(), b.copy()
    for t in range(n - 1):
        c.launch("fan1", 2, 16, c.buffer("m"), c.buffer("a"), i32(n), i32(t))
        c.launch("fan2", (3, 3), (8, 8), c.buffer("m"), c.buffer("a"), c.buffer("b"), i32(n), i32(t))
        m[t + 1:, t] = a[t + 1:, t] / a[t, t]
        b[t + 1:] -= m[t + 1:, t] * b[t]
        a[t + 1:, t:] -= m[t + 1:, t:t + 1] * a[t:t + 1, t:]
    c.launch("back_substitute", 1, 1, c.buffer("a"), c.buffer("b"), c.zeros("x", n), i32(n))
    x = np.zeros(n, F)
    for i in range(n - 1, -1, -1):
        v = b[i]
        for j in range(i + 1, n):
            v = v - a[i, j] * x[j]
        x[i] = v / a[i, i]
    c.expect("a", a)
    c.expect("x", x)


@case("lu")
def lu(c):
    n, batch = 16, 3
    x = c.floats((batch, n, n), dtype=np.float64)
    out, pivots, dets = x.copy(), np.zeros((batch, n), np.int32), np.zeros(batch)
    for b in range(batch):
        a, sign = out[b], 1.0
        for k in range(n):
            p = k
            for i in range(k + 1, n):
                if abs(a[i, k]) > abs(a[p, k]):
                    p = i
            pivots[b, k] = p
            if p != k:
                sign = -sign
                a[[k, p]] = a[[p, k]]
            a[k + 1:, k] = a[k + 1:, k] / a[k, k]
            a[k + 1:, k + 1:] -= a[k + 1:, k:k + 1] * a[k:k + 1, k + 1:]
        dets[b] = sign
        for k in range(n):
            dets[b] *= a[k, k]
    assert np.allclose(dets, np.linalg.det(x))
    c.launch("lu", batch, (n, n), c.input("matrices", x), c.zeros("pivots", batch * n), c.zeros("determinants", batch, np.float64))
    c.expect("matrices", out)
    c.expect("pivots", pivots)
    c.expect("determinants", dets)


@case("cholesky")
def cholesky(c):
    n = 27
    g = c.floats((n, n))
    a = (g @ g.T + n * np.eye(n)).astype(F)
    a = ((a + a.T) / 2).astype(F)
    l = a.copy()
    for k in range(n):
        l[k, k] = np.sqrt(l[k, k])
        l[k + 1:, k] = l[k + 1:, k] / l[k, k]
        for t in range(k + 1, n):
            l[t, k + 1:t + 1] -= l[t, k] * l[k + 1:t + 1, k]
    l = np.tril(l)
    assert np.allclose(l @ l.T, a, atol=1e-3)
    c.launch("cholesky", 1, 32, c.input("a", a), i32(n))
    c.expect("a", l)


@case("conjugate_gradient")
def conjugate_gradient(c):
    n, steps = 100, 12
    rhs = c.floats(n, dtype=np.float64)

    def dot(a, b):
        tree = np.concatenate([a * b, np.zeros(28)])
        half = 64
        while half:
            tree = np.concatenate([tree[:half] + tree[half:2 * half], tree[half:]])
            half //= 2
        return tree[0]
    x, r, p, residuals = np.zeros(n), rhs.copy(), rhs.copy(), []
    rho = dot(r, r)
    for _ in range(steps):
        q = 2.5 * p
        q[1:] -= p[:-1]
        q[:-1] -= p[1:]
        alpha = rho / dot(p, q)
        x = x + alpha * p
        r = r - alpha * q
        following = dot(r, r)
        p = r + following / rho * p
        rho = following
        residuals.append(rho)
    c.launch("conjugate_gradient", 1, 128, c.input("rhs", rhs), c.zeros("solution", n, np.float64),
             c.zeros("residuals", steps, np.float64), i32(steps))
    c.expect("solution", x)
    c.expect("residuals", np.array(residuals))


@case("kmeans")
def kmeans(c):
    n, k, d = 500, 5, 3
    points = (c.rng.normal(0, 60, (n, d)) + c.rng.integers(-4, 5, (n, 1)) * 100).astype(np.int16)
    centres = points[:k].astype(F)
    c.input("points", points)
    c.input("centres", centres)
    c.zeros("label", n), c.zeros("sums", k * d), c.zeros("counts", k)
    for _ in range(4):
        c.launch("assign", 4, 128, c.buffer("points"), c.buffer("centres"), c.buffer("label"), c.buffer("sums"), c.buffer("counts"), i32(n))
        c.launch("move_centres", 1, k * d, c.buffer("centres"), c.buffer("sums"), c.buffer("counts"))
        d2 = np.zeros((n, k), F)
        for axis in range(d):
            diff = points[:, axis:axis + 1].astype(F) - centres[None, :, axis]
            d2 += diff * diff
        label = d2.argmin(axis=1)
        centres = centres.copy()
        for j in range(k):
            mine = points[label == j].astype(np.int64)
            if len(mine):
                centres[j] = mine.sum(axis=0).astype(np.int32).astype(F) / F(len(mine))
    c.expect("label", label.astype(np.int32))
    c.expect("centres", centres)


@case("knn")
def knn(c):
    n, m = 150, 70
    points, queries = c.ints((n, 2)), c.ints((m, 2))
    d2 = ((points[None].astype(np.int64) - queries[:, None]) ** 2).sum(axis=2)
    order = np.argsort(d2, axis=1, kind="stable")[:, :4]
    c.launch("knn", 3, 32, c.input("points", points), i32(n), c.input("queries", queries), i32(m), c.zeros("nearest", 4 * m),
             c.zeros("distances", 4 * m))
    c.expect("nearest", order.astype(np.int32))
    c.expect("distances", np.take_along_axis(d2, order, axis=1).astype(np.uint32))


@case("black_scholes")
def black_scholes(c):
    n, rate, vol = 300, 0.02, 0.3
    s, x, t = c.floats(n, 5, 30), c.floats(n, 5, 30), c.floats(n, 0.25, 5)
    args = [c.input("price", s), c.input("strike", x), c.input("years", t), f32(rate), f32(vol)]
    c.launch("black_scholes", 2, 96, *args, c.zeros("call", n), c.zeros("put", n), i32(n))

    def cnd(d):
        k = 1 / (1 + 0.2316419 * np.abs(d))
        v = 0.39894228 * np.exp(-0.5 * d * d) * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
        return np.where(d > 0, 1 - v, v)
    s, x, t = (v.astype(np.float64) for v in (s, x, t))
    rate, vol = float(F(rate)), float(F(vol))
    d1 = (np.log(s / x) + (rate + 0.5 * vol * vol) * t) / (vol * np.sqrt(t))
    d2 = d1 - vol * np.sqrt(t)
    discount = x * np.exp(-rate * t)
    why = "single precision against double: prices up to 30, some 20 roundings of 2^-24 each"
    c.expect("call", (s * cnd(d1) - discount * cnd(d2)).astype(F), "tolerance", why, absolute=5e-5, relative=1e-5)
    c.expect("put", (discount * (1 - cnd(d2)) - s * (1 - cnd(d1))).astype(F), "tolerance", why, absolute=5e-5, relative=1e-5)


@case("binomial")
def binomial(c):
    steps, count = 63, 5
    price, strike = c.floats(count, 80, 120, np.float64), c.floats(count, 80, 120, np.float64)
    dt = 1.0 / steps
    up = math.exp(0.25 * math.sqrt(dt))
    growth = math.exp(0.04 * dt)
    probability, discount = (growth - 1 / up) / (up - 1 / up), 1 / growth
    values = []
    for s, x in zip(price, strike):
        t = np.arange(steps + 1)
        mine = np.full(steps + 1, s)
        for k in range(steps):
            mine = np.where(k < t, mine * up, mine / up)
        v = np.maximum(x - mine, 0.0)
        for level in range(steps - 1, -1, -1):
            mine = mine[:level + 1] * up
            v = np.maximum(discount * (probability * v[1:level + 2] + (1.0 - probability) * v[:level + 1]), x - mine)
        values.append(v[0])
    c.launch("binomial", count, 64, c.input("price", price), c.input("strike", strike), f64(up), f64(probability), f64(discount),
             c.zeros("value", count, np.float64))
    c.expect("value", np.array(values))


@case("floyd_warshall")
def floyd_warshall(c):
    n = 30
    d = np.where(c.rng.random((n, n)) < 0.15, c.ints((n, n), 1, 100), 10**8).astype(np.int32)
    np.fill_diagonal(d, 0)
    c.input("distance", d)
    c.input("via", np.full((n, n), -1, np.int16))
    d, via = d.copy(), np.full((n, n), -1, np.int16)
    for k in range(n):
        c.launch("floyd_warshall", (1, n), 32, c.buffer("distance"), c.buffer("via"), i32(n), i32(k))
        through = d[:, k:k + 1] + d[k:k + 1]
        via[through < d] = k
        d = np.minimum(d, through)
    c.expect("distance", d)
    c.expect("via", via)


@case("life")
def life(c):
    def step(cells):
        n = sum(np.roll(cells, (dy, dx), (0, 1)).astype(int) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)
        return ((n == 3) | ((n == 2) & (cells == 1))).astype(np.uint8)
    w, h = 37, 23
    cells = (c.rng.random((h, w)) < 0.4).astype(np.uint8)
    c.input("a", cells), c.zeros("b", w * h, np.uint8)
    for k in range(4):
        source, target = ("a", "b") if k % 2 == 0 else ("b", "a")
        c.launch("life_bytes", (3, 3), (16, 8), c.buffer(source), c.buffer(target), i32(w), i32(h))
        cells = step(cells)
    c.expect("a", cells)
    rows = c.bits(50, np.uint64)
    bits = ((rows[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).astype(np.uint8)
    after = (step(bits).astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    c.launch("life_bits", 2, 32, c.input("rows", rows), c.zeros("after", 50, np.uint64), i32(50))
    c.expect("after", after)


@case("hotspot")
def hotspot(c):
    w, h = 35, 29
    cap, rx, ry, rz = (F(v) for v in (0.05, 0.4, 0.35, 0.01))
    power, t = c.floats((h, w), 0, 1), c.floats((h, w), 70, 90)
    args = [f32(v) for v in (cap, rx, ry, rz)]
    c.input("a", t), c.zeros("b", w * h)
    for k in range(2):
        source, target = ("a", "b") if k % 2 == 0 else ("b", "a")
        c.launch("hotspot", (3, 3), (16, 16), c.input("power", power), c.buffer(source), c.buffer(target), i32(w), i32(h), *args)
        for _ in range(2):
            p = np.pad(t, 1, mode="edge")
            up, down, left, right = p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]
            t = t + cap * (power + (down + up - F(2) * t) * ry + (right + left - F(2) * t) * rx + (F(80) - t) * rz)
    c.expect("a", t)


@case("backprop")
def backprop(c):
    hidden, inputs = 16, 32
    layer = c.floats(inputs + 1)
    weights, old = c.floats((inputs + 1, hidden + 1)), c.floats((inputs + 1, hidden + 1))
    delta = c.floats(hidden + 1)
    c.launch("layer_forward", (1, 2), (16, 16), c.input("layer", layer), c.input("weights", weights), c.zeros("partial", 2 * hidden), i32(hidden))
    c.launch("adjust_weights", (1, 2), (16, 16), c.input("delta", delta), i32(hidden), c.buffer("layer"), c.buffer("weights"), c.input("old", old))
    partial = np.zeros((2, hidden), F)
    for b in range(2):
        w = weights[16 * b + 1:16 * b + 17, 1:] * layer[16 * b + 1:16 * b + 17, None]
        for i in range(1, 5):
            w[::1 << i] = w[::1 << i] + w[(1 << i) // 2::1 << i]
        partial[b] = w[0]
    weights, old = weights.copy(), old.copy()
    change = F(0.3) * delta[None, 1:] * layer[1:, None] + F(0.3) * old[1:, 1:]
    bias = F(0.3) * delta[1:] + F(0.3) * old[0, 1:]
    weights[1:, 1:] += change
    old[1:, 1:] = change
    weights[0, 1:] += bias
    old[0, 1:] = bias
    c.expect("partial", partial)
    c.expect("weights", weights)
    c.expect("old", old)


@case("pathfinder")
def pathfinder(c):
    cols, rows, each = 150, 12, 4
    wall = c.ints((rows, cols), 0, 10)
    first = c.ints(cols, 0, 10)
    now = first.astype(np.int64)
    c.input("a", first), c.zeros("b", cols)
    for k in range(rows // each):
        source, target = ("a", "b") if k % 2 == 0 else ("b", "a")
        c.launch("pathfinder", 3, 64, i32(each), c.input("wall", wall), c.buffer(source), c.buffer(target), i32(cols), i32(k * each))
    for row in wall:
        p = np.pad(now, 1, constant_values=10**6)
        now = np.minimum(np.minimum(p[:-2], p[2:]), now) + row
    c.expect("b", now.astype(np.int32))


@case("srad")
def srad(c):
    rows, cols, q0, lam = 21, 17, F(0.05), F(0.5)
    img = np.exp(c.floats((cols, rows), 0, 1)).astype(F)
    n_i, s_i = np.maximum(np.arange(rows) - 1, 0), np.minimum(np.arange(rows) + 1, rows - 1)
    w_i, e_i = np.maximum(np.arange(cols) - 1, 0), np.minimum(np.arange(cols) + 1, cols - 1)
    names = ["dn", "ds", "dw", "de", "coefficient"]
    c.input("image", img)
    c.launch("srad_coefficient", 6, 64, c.buffer("image"), *(c.input(k, v.astype(np.int32)) for k, v in
             (("north", n_i), ("south", s_i), ("west", w_i), ("east", e_i))), *(c.zeros(k, rows * cols) for k in names),
             i32(rows), i32(cols), f32(q0))
    c.launch("srad_update", 6, 64, c.buffer("image"), c.buffer("south"), c.buffer("east"), *(c.buffer(k) for k in names),
             i32(rows), i32(cols), f32(lam))
    n, s, w, e = img[:, n_i] - img, img[:, s_i] - img, img[w_i] - img, img[e_i] - img
    g2 = (n * n + s * s + w * w + e * e) / (img * img)
    l = (n + s + w + e) / img
    num, den = F(0.5) * g2 - F(0.0625) * (l * l), F(1) + F(0.25) * l
    q = num / (den * den)
    k = F(1) / (F(1) + (q - q0) / (q0 * (F(1) + q0)))
    k = np.clip(k, F(0), F(1))
    divergence = k * n + k[:, s_i] * s + k * w + k[e_i] * e
    c.expect("coefficient", k)
    c.expect("image", img + F(0.25) * lam * divergence)
