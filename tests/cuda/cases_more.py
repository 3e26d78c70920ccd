"""Runs that end in a fault, and some further applications."""
import numpy as np

from corpus import case, f64, i32


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
