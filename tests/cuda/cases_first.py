"""Vectors, reductions, scans, transposes, histograms and calls."""
import numpy as np

from corpus import case, f32, fma32, i32


@case("vecadd")
def vecadd(c):
    n = 1003
    a, b = c.floats(n), c.floats(n)
    c.launch("vecadd", 8, 128, c.input("a", a), c.input("b", b), c.zeros("c", n), i32(n))
    c.expect("c", a + b)


@case("saxpy")
def saxpy(c):
    n = 1777
    a, x, y = np.float32(2.7), c.floats(n), c.floats(n)
    c.launch("saxpy", 5, 96, f32(a), c.input("x", x), c.input("y", y), i32(n))
    c.expect("y", fma32(a, x, y))


@case("reduce_shared")
def reduce_shared(c):
    n = 2501
    x = c.ints(n, -10**8, 10**8)
    c.launch("reduce_shared", 10, 128, c.input("in", x), c.zeros("total", 1), i32(n))
    c.expect("total", np.array([x.sum(dtype=np.int64)]).astype(np.int32))


@case("reduce_shuffle")
def reduce_shuffle(c):
    n, block = 1500, 256
    x = c.ints(n, -10**6, 10**6)
    c.launch("reduce_shuffle", 6, block, c.input("in", x), c.zeros("sums", 6), c.zeros("lows", 6),
             c.zeros("highs", 6), i32(n))
    parts = [x[i:i + block] for i in range(0, n, block)]
    c.expect("sums", np.array([p.sum() for p in parts], np.int32))
    c.expect("lows", np.array([p.min() for p in parts], np.int32))
    c.expect("highs", np.array([p.max() for p in parts], np.int32))


@case("scan_hillis")
def scan_hillis(c):
    n, block = 710, 128
    x = c.bits(n)
    c.launch("scan_hillis", 6, block, c.input("in", x), c.zeros("out", n), i32(n), shared=2 * block * 4)
    c.expect("out", np.concatenate([np.cumsum(x[i:i + block], dtype=np.uint32) for i in range(0, n, block)]))


@case("transpose")
def transpose(c):
    height, width = 45, 70
    x = c.floats((height, width))
    c.launch("transpose", (5, 3), (16, 4), c.input("in", x), c.zeros("out", x.size), i32(width), i32(height))
    c.expect("out", x.T)


@case("histogram")
def histogram(c):
    n = 5003
    x = np.clip(c.rng.normal(128, 40, n), 0, 255).astype(np.uint8)
    c.launch("histogram", 4, 96, c.input("data", x), c.zeros("counts", 256), i32(n))
    c.launch("histogram_global", 40, 128, c.buffer("data"), c.zeros("nibbles", 16, np.uint64), i32(n))
    c.expect("counts", np.bincount(x, minlength=256).astype(np.uint32))
    c.expect("nibbles", np.bincount(x >> 4, minlength=16).astype(np.uint64))


@case("matmul_tiled")
def matmul_tiled(c):
    m, n, k = 37, 29, 41
    a, b = c.floats((m, k)), c.floats((k, n))
    c.launch("matmul_tiled", (2, 3), (16, 16), c.input("a", a), c.input("b", b), c.zeros("c", m * n),
             i32(m), i32(n), i32(k))
    total = np.zeros((m, n), np.float32)
    for i in range(k):
        total = fma32(a[:, i:i + 1], b[i:i + 1, :], total)
    c.expect("c", total)


@case("device_calls")
def device_calls(c):
    n = 150
    a, b = c.floats((n, 3)), c.floats((n, 3))
    mixed = np.zeros(n, np.dtype({"names": ["tag", "weight", "count", "where"],
                                  "formats": ["i1", "f8", "i2", ("f4", 3)],
                                  "offsets": [0, 8, 16, 20], "itemsize": 32}))
    mixed["tag"] = c.ints(n, -128, 128)
    mixed["weight"] = c.floats(n, dtype=np.float64)
    mixed["count"] = c.ints(n, -30000, 30000)
    num, den = c.ints(n, -10**9, 10**9), c.ints(n, 1, 100)
    den[::3] *= -1
    i = np.arange(n)
    c.launch("device_calls", 3, 64, c.input("a", a), c.input("b", b), c.zeros("c", 3 * n),
             c.input("m", mixed.view(np.uint8).reshape(n, 32)), c.zeros("w", n, np.float64),
             c.input("num", num), c.input("den", den), c.zeros("quo", n), c.zeros("rem", n),
             c.zeros("mixed", n, np.uint64), i32(n))
    cross = np.empty((n, 3), np.float32)
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        cross[:, axis] = a[:, u] * b[:, v] - a[:, v] * b[:, u]
    c.expect("c", cross)
    scaled = mixed["tag"].astype(np.int32) * (i * 7 % 256)
    c.expect("w", mixed["weight"] * mixed["count"] + scaled)
    quo = (np.abs(num) // np.abs(den) * np.sign(num) * np.sign(den)).astype(np.int32)
    c.expect("quo", quo)
    c.expect("rem", num - quo * den)
    mask = (1 << 64) - 1
    values = [(int(p) * (int(q) & 0xffffffff) + k) & mask for p, q, k in zip(num, den, map(int, i))]
    c.expect("mixed", np.array([~v & mask if k & 1 else v for v, k in zip(values, map(int, i))], np.uint64))


@case("collatz")
def collatz(c):
    n = 300
    start = np.arange(n, dtype=np.uint32)
    start[250:] = c.bits(50) & 0xfffff
    start[299] = 0xfffffffd
    steps, peaks = [], []
    for v in map(int, start):
        count, peak = 0, v
        while v > 1:
            if v & 1:
                if v > 0x55555554:
                    count |= 0x80000000
                    break
                v = 3 * v + 1
            else:
                v //= 2
            peak, count = max(peak, v), count + 1
        steps.append(count)
        peaks.append(peak)
    c.launch("collatz", 3, 128, c.input("start", start), c.zeros("steps", n), c.zeros("peaks", n), i32(n))
    c.expect("steps", np.array(steps, np.uint32))
    c.expect("peaks", np.array(peaks, np.uint32))
