"""Runs that end in a fault, and some further applications."""
import numpy as np

from corpus import case, f32, f64, fma32, i32


@case("barrier_deadlock")
def barrier_deadlock(c):
    c.launch("barrier_deadlock", 1, 64, c.zeros("out", 64))
    c.faults("deadlock")


@case("endless_loop")
def endless_loop(c):
    c.launch("endless_loop", 1, 32, c.zeros("flag", 1), c.zeros("out", 32))
    c.faults("limit")


@case("misaligned")
def misaligned(c):
    c.launch("misaligned", 1, 8, c.input("in", c.ints(32)), c.zeros("out", 8, np.int64), i32(1))
    c.faults("misaligned")


@case("null_pointer")
def null_pointer(c):
    c.launch("null_pointer", 1, 4, c.zeros("links", 4, np.uint64), c.zeros("out", 4))
    c.faults("out of bounds")


@case("shared_overrun")
def shared_overrun(c):
    c.launch("shared_overrun", 1, 32, c.zeros("out", 32), i32(1 << 24))
    c.faults("out of bounds")


@case("pipeline_sums")
def pipeline_sums(c):
    n = 1024 * 3 + 77
    v = (np.arange(n, dtype=np.int64) * 7919 + 5) % 1009
    c.launch("fill", 4, 1024, c.zeros("v", n), i32(n), i32(5))
    left = n
    while left > 1:
        c.launch("fold", (left // 2 + 127) // 128, 128, c.buffer("v"), i32(left))
        left = (left + 1) // 2
    c.launch("finish", 1, 1, c.buffer("v"), c.zeros("total", 1, np.int64), i32(10))
    c.expect("total", np.array([v.sum() * 55]))


@case("sobel")
def sobel(c):
    w, h = 53, 27
    x = c.bits((h, w), np.uint8)
    x[5:20, 10:30] = 40
    p = x.astype(np.int64)
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    out = x.copy()
    out[1:-1, 1:-1] = np.minimum(np.floor(np.sqrt(gx * gx + gy * gy)), 255)
    c.launch("sobel", (4, 4), (16, 8), c.input("in", x), c.zeros("out", w * h, np.uint8), i32(w), i32(h))
    c.expect("out", out)


@case("median")
def median(c):
    w, h = 45, 19
    x = c.bits((h, w), np.uint8)
    p = np.pad(x, 1, mode="edge")
    around = np.stack([p[dy:dy + h, dx:dx + w] for dy in range(3) for dx in range(3)])
    c.launch("median", (2, 5), (8, 4), c.input("in", x), c.zeros("out", w * h, np.uint8), i32(w), i32(h))
    c.expect("out", np.sort(around, axis=0)[4])


@case("runge_kutta")
def runge_kutta(c):
    n, steps, h = 70, 25, 0.05
    mu, x, v = c.floats(n, 0, 3, np.float64), c.floats(n, dtype=np.float64), c.floats(n, dtype=np.float64)
    c.launch("runge_kutta", 2, 48, c.input("mu", mu), c.input("x", x), c.input("v", v), f64(h), i32(steps), i32(n))

    def f(x, v):
        return v, mu * (1.0 - x * x) * v - x
    for _ in range(steps):
        k1x, k1v = f(x, v)
        k2x, k2v = f(x + 0.5 * h * k1x, v + 0.5 * h * k1v)
        k3x, k3v = f(x + 0.5 * h * k2x, v + 0.5 * h * k2v)
        k4x, k4v = f(x + h * k3x, v + h * k3v)
        x = x + h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        v = v + h / 6.0 * (k1v + 2.0 * k2v + 2.0 * k3v + k4v)
    c.expect("x", x)
    c.expect("v", v)


@case("suffix_search")
def suffix_search(c):
    n, m = 400, 60
    text = bytes(c.ints(n, 97, 100, np.uint8))
    suffixes = sorted(range(n), key=lambda k: text[k:])
    queries = [bytes(c.ints(int(k), 97, 101, np.uint8)) for k in c.rng.integers(1, 12, m)]
    queries[3] = text[50:75]
    starts = np.concatenate([[0], np.cumsum([len(q) for q in queries])]).astype(np.int32)
    length, first = [], []
    for q in queries:
        first.append(sum(text[k:] < q for k in range(n)))
        length.append(max(k for k in range(len(q) + 1) if q[:k] in text))
    c.launch("suffix_search", 2, 32, c.input("text", np.frombuffer(text, np.uint8)), c.input("suffixes", np.array(suffixes, np.int32)), i32(n),
             c.input("queries", np.frombuffer(b"".join(queries), np.uint8)), c.input("starts", starts), c.zeros("length", m), c.zeros("first", m), i32(m))
    c.expect("length", np.array(length, np.int32))
    c.expect("first", np.array(first, np.int32))


F = np.float32


@case("register_tile")
def register_tile(c):
    n = 36
    a, b = c.floats((n, n), dtype=np.float64), c.floats((n, n), dtype=np.float64)
    i = np.arange(n) % 9
    total = (i[:, None] - i[None, :]).astype(np.float64)
    for k in range(n):
        total = total + a[:, k:k + 1] * b[k:k + 1, :]
    c.launch("register_tile", (2, 2), (2, 2), c.input("a", a), c.input("b", b), c.zeros("c", n * n, np.float64), i32(n))
    c.expect("c", total)


@case("unrolled_rounds")
def unrolled_rounds(c):
    blocks = 40
    key, nonce = c.bits(8), c.bits(3)
    counter = 0xfffffff0

    def turn(v, by):
        return (v << by | v >> (32 - by)) & 0xffffffff

    def block(number):
        s = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, *map(int, key), number & 0xffffffff, *map(int, nonce)]
        v = list(s)
        for _ in range(10):
            for p, q, r, t in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
                for x, y, z, by in ((p, q, t, 16), (r, t, q, 12), (p, q, t, 8), (r, t, q, 7)):
                    v[x] = (v[x] + v[y]) & 0xffffffff
                    v[z] = turn(v[z] ^ v[x], by)
        return [(x + y) & 0xffffffff for x, y in zip(v, s)]
    c.launch("unrolled_rounds", 2, 32, c.input("key", key), c.input("nonce", nonce), ("u32", counter), c.zeros("out", 16 * blocks), i32(blocks))
    c.expect("out", np.array([block(counter + k) for k in range(blocks)], np.uint32))


@case("lud_blocked")
def lud_blocked(c):
    n, size = 24, 8
    m = c.floats((n, n)) + np.eye(n, dtype=F) * F(6)
    c.input("m", m)
    want = m.copy()
    for at in range(0, n, size):
        d = want[at:at + size, at:at + size]
        c.launch("lud_diagonal", 1, size, c.buffer("m"), i32(n), i32(at))
        for i in range(size - 1):
            for t in range(i + 1, size):
                for j in range(i):
                    d[t, i] -= d[t, j] * d[j, i]
                d[t, i] /= d[i, i]
            for t in range(i + 1, size):
                for j in range(i + 1):
                    d[i + 1, t] -= d[i + 1, j] * d[j, t]
        rest = (n - at) // size - 1
        if not rest:
            break
        c.launch("lud_perimeter", rest, 2 * size, c.buffer("m"), i32(n), i32(at))
        c.launch("lud_internal", (rest, rest), (size, size), c.buffer("m"), i32(n), i32(at))
        row, col = want[at:at + size, at + size:], want[at + size:, at:at + size]
        for i in range(1, size):
            for j in range(i):
                row[i] -= d[i, j] * row[j]
        for i in range(size):
            for j in range(i):
                col[:, i] -= col[:, j] * d[j, i]
            col[:, i] /= d[i, i]
        total = np.zeros((n - at - size,) * 2, F)
        for k in range(size):
            total = total + col[:, k:k + 1] * row[k:k + 1]
        want[at + size:, at + size:] -= total
    lower, upper = np.tril(want, -1) + np.eye(n), np.triu(want)
    assert np.allclose(lower @ upper, m, atol=1e-3)
    c.expect("m", want)


@case("particle_filter")
def particle_filter(c):
    w, h, n = 40, 30, 90
    image = c.bits((h, w), np.uint8)
    xs, ys = c.ints(n, 2, w - 3), c.ints(n, 2, h - 3)
    offsets = np.array([dy * w + dx for dy in (-1, 0, 1) for dx in (-1, 0, 1)], np.int32)
    weights = []
    for x, y in zip(xs, ys):
        total = 0.0
        for o in offsets:
            v = float(image.reshape(-1)[y * w + x + o])
            total += ((v - 100.0) * (v - 100.0) - (v - 228.0) * (v - 228.0)) / 50.0
        total = total / 9 / 1000.0
        weights.append(1.0 + total * total)
    sums, total = [], 0.0
    for v in weights:
        total += v
        sums.append(total)
    index = [next((k for k in range(n) if sums[k] >= (0.3 + i) * sums[-1] / n), n - 1) for i in range(n)]
    c.launch("likelihood", 3, 32, c.input("image", image), i32(w), c.input("xs", xs), c.input("ys", ys), c.input("offsets", offsets), i32(9),
             c.zeros("weights", n, np.float64), i32(n))
    c.launch("prefix", 1, 1, c.buffer("weights"), c.zeros("sums", n, np.float64), i32(n))
    c.launch("resample", 3, 32, c.buffer("sums"), c.buffer("xs"), c.buffer("ys"), c.zeros("new_xs", n), c.zeros("new_ys", n), f64(0.3), i32(n))
    c.expect("weights", np.array(weights))
    c.expect("sums", np.array(sums))
    c.expect("new_xs", xs[index])
    c.expect("new_ys", ys[index])


@case("dct8x8")
def dct8x8(c):
    w, h = 32, 24
    image = c.bits((h, w), np.uint8)
    k = np.arange(8)
    basis = np.round(np.cos((2 * k[None] + 1) * k[:, None] * np.pi / 16) * np.where(k[:, None] == 0, np.sqrt(0.5), 1) * 256).astype(np.int16)
    steps = (3 + 2 * (k[:, None] + k[None])).astype(np.uint8)
    c.symbol("basis", basis)
    c.symbol("steps", steps)
    out = np.zeros((h, w), np.int16)
    wide = basis.astype(np.int64)
    for y in range(0, h, 8):
        for x in range(0, w, 8):
            s = image[y:y + 8, x:x + 8].astype(np.int64) - 128
            m = (s @ wide.T + 128) >> 8
            v = (wide @ m + 512) >> 10
            out[y:y + 8, x:x + 8] = np.sign(v) * (np.abs(v) // steps)
    c.launch("dct8x8", (w // 8, h // 8), (8, 8), c.input("in", image), c.zeros("out", w * h, np.int16), i32(w))
    c.expect("out", out)


@case("neural_layers")
def neural_layers(c):
    count = 3
    images, kernels, dense, bias = c.floats((count, 12, 12)), c.floats((3, 3, 3)), c.floats((10, 75)), c.floats(10)
    out = np.zeros((count, 10), F)
    for b in range(count):
        maps = np.zeros((3, 10, 10), F)
        for k in range(9):
            maps = fma32(images[b, k // 3:k // 3 + 10, k % 3:k % 3 + 10][None], kernels[:, k // 3, k % 3][:, None, None], maps)
        maps = np.maximum(maps, 0)
        pooled = maps.reshape(3, 5, 2, 5, 2).max(axis=(2, 4)).reshape(75)
        total = bias.copy()
        for k in range(75):
            total = fma32(pooled[k], dense[:, k], total)
        out[b] = total
    c.launch("neural_layers", count, 96, c.input("images", images), c.input("kernels", kernels), c.input("dense", dense), c.input("bias", bias),
             c.zeros("out", 10 * count))
    c.expect("out", out)


@case("bucket_sort")
def bucket_sort(c):
    n, buckets = 600, 64
    keys = (c.rng.random(n) ** 2).astype(F) * F(0.999)
    c.launch("bucket_count", 5, 128, c.input("keys", keys), i32(n), c.zeros("counts", buckets), i32(buckets))
    c.launch("bucket_scan", 1, buckets, c.buffer("counts"), c.zeros("starts", buckets + 1), c.zeros("cursors", buckets), i32(buckets), shared=4 * buckets)
    c.launch("bucket_place", 5, 128, c.buffer("keys"), i32(n), c.buffer("cursors"), c.zeros("out", n), i32(buckets))
    c.launch("bucket_finish", 2, 32, c.buffer("starts"), c.buffer("out"), i32(buckets))
    c.expect("out", np.sort(keys))


@case("reduction_templates")
def reduction_templates(c):
    n = 1900
    x = c.bits(n)
    c.launch("interleaved", 15, 128, c.input("in", x), c.zeros("a", 15), i32(n), shared=512)
    c.launch("_Z8unrolledILi64EEvPKjPji", 4, 64, c.buffer("in"), c.zeros("b", 4), i32(n), shared=256)
    c.launch("_Z8unrolledILi256EEvPKjPji", 3, 256, c.buffer("in"), c.zeros("c", 3), i32(n), shared=1024)

    def strided(grid, block):
        owner = np.arange(n) // (2 * block) % grid
        return np.array([x[owner == k].sum(dtype=np.uint32) for k in range(grid)], np.uint32)
    c.expect("a", np.array([x[k:k + 128].sum(dtype=np.uint32) for k in range(0, n, 128)], np.uint32))
    c.expect("b", strided(4, 64))
    c.expect("c", strided(3, 256))


@case("libor")
def libor(c):
    size, maturities, paths = 12, 4, 80
    vols = np.linspace(0.15, 0.25, size).astype(F)
    normals = c.rng.normal(0, 1, (maturities, paths)).astype(F)
    delta, initial = F(0.25), F(0.05)
    c.symbol("volatility", vols)
    rates = np.full((size, paths), initial)
    history = np.zeros((size, 4, paths), F)
    for m in range(maturities):
        drift = np.zeros(paths, F)
        for k in range(m + 1, size):
            vol = vols[k - m - 1]
            drift = drift + vol * (delta * rates[k] / (F(1) + delta * rates[k]))
            up = vol * (drift * delta + F(0.5) * normals[m])
            rates[k] = rates[k] * (F(1) + up + F(0.5) * up * up)
            history[k, m & 3] = up
    bond, value = np.ones(paths, F), np.zeros(paths, F)
    for k in range(maturities, size):
        bond = bond / (F(1) + delta * rates[k])
        gain = rates[k] - F(0.05)
        value = np.where(gain > 0, value + gain * bond, value)
    adjoint = np.zeros(paths, F)
    for m in range(maturities - 1, -1, -1):
        for k in range(size - 1, m, -1):
            adjoint = adjoint * F(0.5) + history[k, m & 3] * F(k - m)
    c.launch("libor", 2, 64, c.input("normals", normals), c.zeros("values", paths), c.zeros("deltas", paths), f32(delta), f32(initial), i32(maturities), i32(paths))
    c.expect("values", value * F(100))
    c.expect("deltas", adjoint)


@case("generic_pointers")
def generic_pointers(c):
    n, block = 150, 64
    words = c.ints((n, 8))
    steady, module = [9, 8, 7, 6, 5, 4, 3, 2], [1, 1, 2, 3, 5, 8, 13, 21]
    after = words.copy()
    k = np.arange(8)
    shared = {t: (k * (t % block)).astype(np.int64) for t in range(192)}
    own = {}
    for i in range(n):
        if i % 3 == 0:
            own[i] = i - k + 2 * k
        elif i % 3 == 1:
            shared[i] = shared[i] + 2 * k
            own[i] = shared[i]
        else:
            after[i] += (2 * k).astype(np.int32)
            own[i] = after[i]

    def weigh(p):
        total = 0
        for v in p:
            total = total * 3 + int(v)
        return (total + 2**31) % 2**32 - 2**31
    out = []
    for i in range(n):
        base = i // block * block
        q = steady if i % 5 == 0 else module if i % 5 == 1 else own[i]
        out.append([weigh(q), weigh(shared[base + 63 - i % block])])
    c.launch("generic_pointers", 3, block, c.input("words", words), c.zeros("out", 2 * n), i32(n))
    c.expect("words", after)
    c.expect("out", np.array(out, np.int32))
