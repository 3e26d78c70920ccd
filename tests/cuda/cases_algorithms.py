"""Scans, sorting, stencils, graphs and strings."""
import numpy as np

from corpus import case, f64, fma32, i32


@case("scan_blelloch")
def scan_blelloch(c):
    n = 1111
    x = c.ints(n, -10**6, 10**6)
    c.launch("scan_blocks", 5, 128, c.input("in", x), c.zeros("out", n), c.zeros("sums", 5), i32(n))
    c.launch("scan_offsets", 1, 1, c.buffer("sums"), i32(5))
    c.launch("scan_add", 5, 256, c.buffer("out"), c.buffer("sums"), i32(n))
    c.expect("out", np.concatenate([[0], np.cumsum(x)[:-1]]).astype(np.int32))
    c.expect("sums", np.array([x[:256 * i].sum() for i in range(5)], np.int32))


@case("scan_warp")
def scan_warp(c):
    n = 300
    x = c.bits(n)
    c.launch("scan_warp", 3, 128, c.input("in", x), c.zeros("whole", n), c.zeros("eighths", n),
             c.zeros("wide", n, np.int64), i32(n))

    def scans(values, length):
        return np.concatenate([np.cumsum(values[i:i + length], dtype=values.dtype) for i in range(0, n, length)])
    c.expect("whole", scans(x, 32))
    c.expect("eighths", scans(x, 8))
    c.expect("wide", scans(x.view(np.int32).astype(np.int64) * 3000000000, 32))


@case("bitonic_sort")
def bitonic_sort(c):
    n = 700
    x = c.bits(n, np.int32)
    c.launch("bitonic_sort", 3, 128, c.input("keys", x), i32(n))
    c.expect("keys", np.concatenate([np.sort(x[i:i + 256]) for i in range(0, n, 256)]))


@case("odd_even_sort")
def odd_even_sort(c):
    n = 101
    x = c.floats(n)
    x[:60] = np.sort(x[:60])
    s, rounds = x.copy(), 0
    while True:
        swapped = False
        for phase in (0, 1):
            for i in range(phase, n - 1, 2):
                if s[i] > s[i + 1]:
                    s[i], s[i + 1] = s[i + 1], s[i]
                    swapped = True
        if not swapped:
            break
        rounds += 1
    c.launch("odd_even_sort", 1, 64, c.input("in", x), c.zeros("out", n), c.zeros("rounds", 1), i32(n), shared=4 * n)
    c.expect("out", np.sort(x))
    c.expect("rounds", np.array([rounds], np.int32))


@case("radix_sort")
def radix_sort(c):
    n = 256
    keys = c.bits(n)
    keys[::5] &= 0xff
    values = c.bits(n, np.uint16)
    c.launch("radix_sort", 2, 128, c.input("keys", keys), c.input("values", values), c.zeros("sorted", n),
             c.zeros("carried", n, np.uint16))
    order = np.concatenate([np.argsort(keys[i:i + 128], kind="stable") + i for i in (0, 128)])
    c.expect("sorted", keys[order])
    c.expect("carried", values[order])


@case("merge_path")
def merge_path(c):
    na, nb = 333, 410
    a, b = np.sort(c.bits(na, np.int64)), np.sort(c.bits(nb, np.int64))
    c.launch("merge_path", 2, 64, c.input("a", a), i32(na), c.input("b", b), i32(nb), c.zeros("out", na + nb, np.int64))
    c.expect("out", np.sort(np.concatenate([a, b])))


@case("stencil1d")
def stencil1d(c):
    n = 500
    weights = np.array([0.1, -0.25, 0.5, 1.0, 0.375, -0.2, 0.05], np.float32)
    x = c.floats(n)
    c.symbol("weights", weights)
    c.launch("stencil1d", 8, 64, c.input("in", x), c.zeros("out", n), i32(n))
    padded = np.concatenate([np.zeros(3, np.float32), x, np.zeros(3, np.float32)])
    total = np.zeros(n, np.float32)
    for k in range(7):
        total = fma32(weights[k], padded[k:k + n], total)
    c.expect("out", total)


@case("stencil2d")
def stencil2d(c):
    w, h = 37, 22
    x = c.floats((h, w), dtype=np.float64)
    a, b = c.input("a", x), c.zeros("b", w * h, np.float64)
    for step in range(4):
        source, target = (a, b) if step % 2 == 0 else (b, a)
        c.launch("stencil2d", (3, 3), (16, 8), source, target, i32(w), i32(h))
        p = np.pad(x, 1, mode="edge")
        around = (p[1:-1, :-2] + p[1:-1, 2:]) + (p[:-2, 1:-1] + p[2:, 1:-1])
        previous, x = x, x + 0.125 * (around - 4.0 * x)
    c.expect("a", x)
    c.expect("b", previous)


@case("stencil3d")
def stencil3d(c):
    nx, ny, nz = 19, 13, 9
    v = c.floats((nz, ny, nx))
    c.launch("stencil3d", (2, 4), (16, 4), c.input("in", v), c.zeros("out", v.size), i32(nx), i32(ny), i32(nz))
    m = (slice(1, -1),) * 3
    total = v[1:-1, 1:-1, :-2] + v[1:-1, 1:-1, 2:] + v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1] + v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1]
    out = np.zeros_like(v)
    out[m] = np.float32(0.4) * v[m] + np.float32(0.1) * total
    c.expect("out", out)


def graph(c, nodes, degree):
    """A random CSR graph: starts and edges."""
    counts = c.rng.integers(0, 2 * degree, nodes)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return starts, c.ints(starts[-1], 0, nodes)


@case("bfs")
def bfs(c):
    nodes = 400
    starts, edges = graph(c, nodes, 3)
    cost = np.full(nodes, -1, np.int32)
    cost[7] = 0
    frontier, level = [7], 0
    while frontier:
        level += 1
        reached = []
        for v in frontier:
            for to in edges[starts[v]:starts[v + 1]]:
                if cost[to] < 0:
                    cost[to] = level
                    reached.append(to)
        frontier = reached
    flags = np.zeros(nodes, np.uint8)
    flags[7] = 1
    first = np.full(nodes, -1, np.int32)
    first[7] = 0
    fixed = [c.input("frontier", flags), c.zeros("next", nodes, np.uint8), c.input("visited", flags)]
    c.input("cost", first)
    for k in range(1, level + 1):
        c.launch("bfs_expand", 7, 64, c.input("starts", starts), c.input("edges", edges), *fixed, c.buffer("cost"), i32(nodes))
        c.launch("bfs_update", 7, 64, *fixed, c.zeros("levels", 1), i32(k), i32(nodes))
    c.expect("cost", cost)
    c.expect("levels", np.array([level - 1], np.int32))


@case("pagerank")
def pagerank(c):
    nodes = 250
    starts, edges = graph(c, nodes, 4)
    degree = np.maximum(np.bincount(edges, minlength=nodes), 1).astype(np.int32)
    rank = np.full(nodes, 1.0 / nodes)
    a, b = c.input("a", rank), c.zeros("b", nodes, np.float64)
    for step in range(5):
        source, target = (a, b) if step % 2 == 0 else (b, a)
        c.launch("pagerank", 4, 64, c.input("starts", starts), c.input("from", edges), c.input("degree", degree),
                 source, target, f64(0.85), i32(nodes))
        following = np.empty(nodes)
        for v in range(nodes):
            total = 0.0
            for u in edges[starts[v]:starts[v + 1]]:
                total += rank[u] / float(degree[u])
            following[v] = (1.0 - 0.85) / nodes + 0.85 * total
        rank = following
    c.expect("b", rank)


@case("sssp")
def sssp(c):
    nodes = 220
    starts, edges = graph(c, nodes, 3)
    weights = c.ints(len(edges), 1, 100)
    far = 0x7fffffff
    distance = np.full(nodes, far, np.int64)
    distance[0] = 0
    while True:
        before = distance.copy()
        for v in range(nodes):
            if distance[v] < far:
                for e in range(starts[v], starts[v + 1]):
                    distance[edges[e]] = min(distance[edges[e]], distance[v] + weights[e])
        if (before == distance).all():
            break
    first = np.full(nodes, far, np.int32)
    first[0] = 0
    c.input("distance", first)
    for k in range(24):
        c.launch("sssp", 4, 64, c.input("starts", starts), c.input("edges", edges), c.input("weights", weights),
                 c.buffer("distance"), c.zeros("changed", 1), i32(nodes))
    c.expect("distance", distance.astype(np.int32))
    c.expect("changed", np.array([1], np.int32))


@case("spmv")
def spmv(c):
    rows = 90
    counts = c.rng.integers(0, 9, rows)
    counts[5] = 77
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    cols, vals, x = c.ints(starts[-1], 0, rows), c.floats(starts[-1]), c.floats(rows)
    width = int(counts.max())
    ell_cols = np.full((width, rows), -1, np.int32)
    ell_vals = np.zeros((width, rows), np.float32)
    scalar, vector = np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    for r in range(rows):
        lanes = np.zeros(32, np.float32)
        for k, e in enumerate(range(starts[r], starts[r + 1])):
            ell_cols[k, r], ell_vals[k, r] = cols[e], vals[e]
            scalar[r] = fma32(vals[e], x[cols[e]], scalar[r])
            lanes[k % 32] = fma32(vals[e], x[cols[e]], lanes[k % 32])
        for d in (16, 8, 4, 2, 1):
            lanes = lanes + lanes[np.arange(32) ^ d]
        vector[r] = lanes[0]
    csr = [c.input("starts", starts), c.input("cols", cols), c.input("vals", vals), c.input("x", x)]
    c.launch("spmv_scalar", 2, 64, *csr, c.zeros("scalar", rows), i32(rows))
    c.launch("spmv_vector", 23, 128, *csr, c.zeros("vector", rows), i32(rows))
    c.launch("spmv_ell", 2, 64, c.input("ell_cols", ell_cols), c.input("ell_vals", ell_vals), i32(width),
             c.buffer("x"), c.zeros("ell", rows), i32(rows))
    c.expect("scalar", scalar)
    c.expect("vector", vector)
    c.expect("ell", scalar)


@case("string_search")
def string_search(c):
    n, pattern = 3000, b"abaab"
    m = len(pattern)
    text = np.frombuffer(b"ab", np.uint8)[c.ints(n, 0, 2)].copy()
    text[200:260] = np.frombuffer("\u00e9\u00fc".encode() * 15, np.uint8)
    failure = [0] * m
    k = 0
    for i in range(1, m):
        while k and pattern[k] != pattern[i]:
            k = failure[k - 1]
        k += pattern[k] == pattern[i]
        failure[i] = k
    c.symbol("pattern", np.frombuffer(pattern.ljust(16, b"\0"), np.uint8))
    c.symbol("failure", np.array(failure + [0] * (16 - m), np.int32))
    hits = np.array([bytes(text[i:i + m]) == pattern for i in range(n)])
    c.launch("naive", 24, 128, c.input("text", text), i32(n), i32(m), c.zeros("found", n, np.uint8))
    c.launch("kmp", 2, 64, c.buffer("text"), i32(n), i32(m), i32(31), c.zeros("count", 1))
    c.launch("rabin_karp", 2, 64, c.buffer("text"), i32(n), i32(m), i32(29), c.zeros("positions", 1, np.uint64))
    c.expect("found", hits.astype(np.uint8))
    c.expect("count", np.array([hits.sum()], np.int32))
    c.expect("positions", np.array([np.flatnonzero(hits).sum()], np.uint64))


@case("levenshtein")
def levenshtein(c):
    words = [bytes(c.ints(int(k), 97, 101, np.uint8)) for k in c.rng.integers(0, 31, 16)]
    words[4], words[5] = b"kitten", b"sitting"
    starts = np.concatenate([[0], np.cumsum([len(w) for w in words])]).astype(np.int32)

    def edits(a, b):
        row = list(range(len(b) + 1))
        for i, p in enumerate(a, 1):
            above, row = row, [i]
            for j, q in enumerate(b, 1):
                row.append(min(above[j - 1] + (p != q), above[j] + 1, row[-1] + 1))
        return row[-1]
    c.launch("levenshtein", 8, 32, c.input("words", np.frombuffer(b"".join(words), np.uint8)), c.input("starts", starts),
             c.zeros("distance", 8))
    c.expect("distance", np.array([edits(words[2 * i], words[2 * i + 1]) for i in range(8)], np.int32))


@case("needleman")
def needleman(c):
    tiles, penalty = 3, 10
    cols = tiles * 16 + 1
    similarity = c.ints((cols, cols), -4, 12)
    score = np.zeros((cols, cols), np.int32)
    score[0, :] = score[:, 0] = -penalty * np.arange(cols)
    c.input("similarity", similarity)
    c.input("score", score)
    for d in range(2 * tiles - 1):
        first, last = max(0, d - tiles + 1), min(d, tiles - 1)
        c.launch("needleman", last - first + 1, 16, c.buffer("similarity"), c.buffer("score"), i32(cols), i32(penalty),
                 i32(d), i32(first))
    want = score.copy()
    for y in range(1, cols):
        for x in range(1, cols):
            want[y, x] = max(want[y - 1, x - 1] + similarity[y, x], want[y, x - 1] - penalty, want[y - 1, x] - penalty)
    c.expect("score", want)
