"""Hashes, tables, calls, warp operations, atomics and what the language brings."""
import base64 as base64_of_python
import hashlib
import math
import zlib

import numpy as np

from corpus import case, f32, i32, i64

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def messages(c, lengths):
    """Random messages end to end, and where each begins."""
    parts = [c.rng.bytes(int(k)) for k in lengths]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return parts, c.input("data", np.frombuffer(b"".join(parts), np.uint8)), c.input("starts", starts)


@case("crc32")
def crc32(c):
    parts, data, starts = messages(c, c.rng.integers(0, 40, 70))
    c.launch("crc_table", 1, 256)
    c.launch("crc32", 2, 64, data, starts, c.zeros("bitwise", 70), c.zeros("tabled", 70), i32(70))
    want = np.array([zlib.crc32(p) for p in parts], np.uint32)
    c.expect("bitwise", want)
    c.expect("tabled", want)


@case("sha256")
def sha256(c):
    lengths = np.array([0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 200])
    parts, data, starts = messages(c, lengths)
    c.launch("sha256", 1, 16, data, starts, c.zeros("digests", 32 * 12, np.uint8), i32(12))
    c.expect("digests", np.frombuffer(b"".join(hashlib.sha256(p).digest() for p in parts), np.uint8))


@case("md5")
def md5(c):
    n = 40
    texts = [c.rng.bytes(int(k)) for k in c.rng.integers(0, 56, n)]
    blocks = b"".join((t + b"\x80").ljust(56, b"\0") + (8 * len(t)).to_bytes(8, "little") for t in texts)
    c.symbol("sines", np.array([int(abs(math.sin(k + 1)) * 2**32) for k in range(64)], np.uint32))
    c.launch("md5", 2, 32, c.input("blocks", np.frombuffer(blocks, np.uint32)), c.zeros("digests", 4 * n), i32(n))
    c.expect("digests", np.frombuffer(b"".join(hashlib.md5(t).digest() for t in texts), np.uint32))


def field_product(a, b):
    """The product in AES's field of 256 elements."""
    r = 0
    while b:
        r ^= a * (b & 1)
        a = (a << 1) ^ (0x11b if a & 0x80 else 0)
        b >>= 1
    return r


def aes_box():
    """AES's substitution: the inverse, then the affine map."""
    box = []
    for v in range(256):
        inverse = next((w for w in range(256) if field_product(v, w) == 1), 0)
        s = 0x63
        for k in range(5):
            s ^= (inverse << k | inverse >> (8 - k)) & 255
        box.append(s)
    return box


def aes_encrypt(box, key, block):
    """AES-128 of one block, as the standard defines it, on a state of bytes."""
    words = [list(key[4 * k:4 * k + 4]) for k in range(4)]
    constant = 1
    for k in range(4, 44):
        w = list(words[k - 1])
        if k % 4 == 0:
            w = [box[b] for b in w[1:] + w[:1]]
            w[0] ^= constant
            constant = field_product(constant, 2)
        words.append([p ^ q for p, q in zip(words[k - 4], w)])
    keys = [sum(words[4 * r:4 * r + 4], []) for r in range(11)]
    state = [p ^ q for p, q in zip(block, keys[0])]
    for r in range(1, 11):
        state = [box[state[(4 * (c + b) + b) % 16]] for c in range(4) for b in range(4)]
        if r < 10:
            mixed = []
            for c in range(4):
                col = state[4 * c:4 * c + 4]
                mixed += [field_product(col[b], 2) ^ field_product(col[(b + 1) % 4], 3) ^ col[(b + 2) % 4] ^ col[(b + 3) % 4]
                          for b in range(4)]
            state = mixed
        state = [p ^ q for p, q in zip(state, keys[r])]
    return bytes(state)


@case("aes")
def aes(c):
    n = 1003
    box = aes_box()
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert aes_encrypt(box, bytes(range(16)), plain).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    key, nonce, data = c.rng.bytes(16), c.rng.bytes(12), c.rng.bytes(n)
    stream = b"".join(aes_encrypt(box, key, nonce + k.to_bytes(4, "big")) for k in range(63))
    c.launch("aes_ctr", 1, 64, c.input("key", np.frombuffer(key, np.uint8)), c.input("nonce", np.frombuffer(nonce, np.uint8)),
             c.input("in", np.frombuffer(data, np.uint8)), c.zeros("out", n, np.uint8), i32(n))
    c.expect("out", np.array([p ^ q for p, q in zip(data, stream)], np.uint8))


@case("base64")
def base64(c):
    n = 500
    data = c.rng.bytes(n)
    text = base64_of_python.b64encode(data)
    c.launch("encode", 3, 64, c.input("in", np.frombuffer(data, np.uint8)), i32(n), c.zeros("text", len(text), np.uint8))
    c.launch("decode", 3, 64, c.buffer("text"), i32(len(text) // 4), c.zeros("back", n, np.uint8))
    c.expect("text", np.frombuffer(text, np.uint8))
    c.expect("back", np.frombuffer(data, np.uint8))


@case("run_length")
def run_length(c):
    n, block = 301, 320
    x = np.repeat(c.ints(200, -3, 3, np.int8), c.rng.integers(1, 8, 200))[:n]
    heads = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    lengths = np.diff(np.concatenate([heads, [n]]))
    count = len(heads)
    c.launch("run_length", 1, block, c.input("in", x), i32(n), c.zeros("values", count, np.int8), c.zeros("lengths", count), c.zeros("runs", 1))
    c.expect("values", x[heads])
    c.expect("lengths", lengths.astype(np.int32))
    c.expect("runs", np.array([count], np.int32))


@case("compaction")
def compaction(c):
    n = 700
    x = c.ints(n)
    kept = x[x % 3 == 0]
    parts = [x[i:i + 128][x[i:i + 128] % 3 == 0] for i in range(0, n, 128)]
    out = np.zeros((6, 128), np.int32)
    for k, p in enumerate(parts):
        out[k, :len(p)] = p
    c.launch("compact_sum", 6, 128, c.input("in", x), i32(n), c.zeros("count", 1), c.zeros("sum", 2, np.uint64))
    c.launch("compact_stable", 6, 128, c.buffer("in"), i32(n), c.zeros("out", 6 * 128), c.zeros("kept", 6))
    count = len(kept)
    c.expect("count", np.array([count], np.int32))
    c.expect("sum", np.array([count * (count - 1) // 2, int(kept.sum()) & M64], np.uint64))
    c.expect("out", out)
    c.expect("kept", np.array([len(p) for p in parts], np.int32))


@case("function_pointers")
def function_pointers(c):
    n = 90
    which, a, b = c.ints(n, 0, 32), c.ints(n), c.ints(n)
    operations = [lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, max]
    out = []
    for w, p, q in zip(which, map(int, a), map(int, b)):
        v = operations[w & 3](p, q)
        for k in range(5):
            v = operations[(w >> 2) & 3](v, int(b[k]))
            v = (v + 2**31) % 2**32 - 2**31
        out.append(v)
    c.launch("function_pointers", 2, 48, c.input("which", which), c.input("a", a), c.input("b", b), c.zeros("out", n), c.zeros("scaled", n), i32(n))
    c.expect("out", np.array(out, np.int32))
    c.expect("scaled", np.where(which & 16, a * np.float32(0.5), -a.astype(np.float32)).astype(np.float32))


@case("virtual_calls")
def virtual_calls(c):
    n = 75
    sizes = c.ints(n, 0, 500)
    i = np.arange(n)
    by = i & 7
    square = sizes**2 + sizes**2 * by
    rectangle = sizes * i + sizes * i * by * by
    c.launch("virtual_calls", 2, 64, c.input("sizes", sizes), c.zeros("out", n), i32(n))
    c.expect("out", np.where(i % 3 == 0, square, rectangle).astype(np.int32))


@case("switch_table")
def switch_table(c):
    n = 120
    programs = [bytes([0, 1, 7, 3, 4, 5, 2, 100, 6, 8, 255]),
                bytes([0, 5, 3, 10, 254, 6, 9, 11, 255]),
                bytes([0, 7, 3, 1, 2, 4, 3, 7, 2, 11, 12, 8, 255]),
                bytes([0, 1, 1, 5, 5, 9, 10, 251, 6, 6, 4, 255])]
    code = b"".join(programs)
    starts = np.cumsum([0] + [len(p) for p in programs[:-1]]).astype(np.int32)
    inputs = c.ints(n, -5, 60)

    def wrap(v):
        return (v + 2**31) % 2**32 - 2**31

    def offset(pc):
        return code[pc] - 256 if code[pc] > 127 else code[pc]
    results, steps = [], []
    for i in range(n):
        stack, sp, pc, count, x, acc = [0] * 8, 0, int(starts[i % 4]), 0, int(inputs[i]), 0
        while count < 200:
            op = code[pc]
            pc += 1
            count += 1
            if op == 255:
                break
            if op == 0:
                acc = x
            elif op in (1, 2):
                acc += code[pc] if op == 1 else -code[pc]
                pc += 1
            elif op == 3:
                acc *= 3
            elif op == 4:
                acc ^= wrap(x << 3)
            elif op == 5:
                stack[sp & 7] = acc
                sp += 1
            elif op == 6:
                sp -= 1
                acc += stack[sp & 7]
            elif op == 7:
                pc += offset(pc) if acc & 1 else 1
            elif op == 8:
                acc = ~acc if acc < 0 else acc
            elif op == 9:
                acc >>= 2
            elif op == 10:
                x -= 1
                pc += offset(pc) if x > 0 else 1
            elif op == 11:
                acc = -acc
            else:
                acc = 0x7eadbeef
            acc = wrap(acc)
        results.append(acc)
        steps.append(count)
    c.launch("switch_table", 2, 64, c.input("code", np.frombuffer(code, np.uint8)), c.input("starts", starts), c.input("inputs", inputs),
             c.zeros("results", n), c.zeros("steps", n), i32(n))
    c.expect("results", np.array(results, np.int32))
    c.expect("steps", np.array(steps, np.int32))


@case("static_variables")
def static_variables(c):
    n = 50
    i = np.arange(n)
    primes, squares = [2, 3, 5, 7, 11, 13], [1, 4, 9, 16]
    entries = [(b"two\0\0", -2, 0.5, primes), (b"four\0", 4, -1.25, squares), (b"last\0", 300, 1e10, primes[2:])]
    series = [1.0, -0.5, 0.25] + [0.0] * 5
    names = [b"alpha\0", b"beta\0"]
    offsets = [-1, 5, -300, 7]
    ticket = [entries[k % 3][3][2 if k % 4 == 3 else k % 4] * (entries[k % 3][1]) + offsets[k & 3] for k in i]
    text = [names[k & 1][1] if k & 2 else entries[k % 3][0][k % 5] for k in i]
    value = [entries[k % 3][2] * series[k & 7] for k in i]
    c.launch("static_variables", 1, 64, c.zeros("ticket", n), c.zeros("value", n, np.float64), c.zeros("text", n, np.uint8), i32(n))
    c.launch("read_back", 1, 1, c.zeros("count", 1), c.zeros("bits", 1, np.uint64))
    bits = 0x123456789abcdef0
    for k in i:
        bits ^= 1 << (int(k) & 63)
    c.expect("ticket", np.array(ticket, np.int32))
    c.expect("value", np.array(value))
    c.expect("text", np.array(text, np.uint8))
    c.expect("count", np.array([1000 + i.sum() + 14], np.int32))
    c.expect("bits", np.array([bits], np.uint64))


@case("dynamic_shared")
def dynamic_shared(c):
    per, blocks = 45, 4
    x = c.ints((blocks, per), -3000, 3000, np.int16)
    parity = np.zeros(blocks, np.uint8)
    for k in range(per):
        parity ^= ((x[:, k] & 1) << (k & 7)).astype(np.uint8)
    c.launch("dynamic_shared", blocks, 32, c.input("in", x), c.zeros("mean", blocks, np.float64), c.zeros("middle", blocks, np.int16),
             c.zeros("parity", blocks, np.uint8), i32(per), shared=per * 11)
    c.expect("mean", x.sum(axis=1) / per)
    c.expect("middle", np.sort(x, axis=1)[:, per // 2])
    c.expect("parity", parity)


@case("local_arrays")
def local_arrays(c):
    import heapq
    n = 40
    seeds = c.bits(n)
    permutations, least, spiral = [], [], []
    for s in map(int, seeds):
        p = list(range(20))
        for k in range(19, 0, -1):
            s = (s * 1664525 + 1013904223) & M32
            j = (s >> 16) % (k + 1)
            p[k], p[j] = p[j], p[k]
        permutations.append(p)
        heap, total = [], 0
        for _ in range(30):
            s = (s * 1664525 + 1013904223) & M32
            if len(heap) < 12 and (s & 0x10000 or not heap):
                heapq.heappush(heap, s)
            else:
                total = (total * 31 + heapq.heappop(heap)) & M32
        least.append(total)

        def cell(x, y):
            v = s >> (x + y)
            v = v - 2**32 if v >> 31 else v
            return math.fmod(v, 100)
        m = {(x, y): int(cell(x, y)) for x in range(5) for y in range(5)}
        x, y, dx, dy, total = 0, 0, 1, 0, 0
        for k in range(1, 26):
            total += k * m.pop((x, y))
            if (x + dx, y + dy) not in m:
                dx, dy = -dy, dx
            x, y = x + dx, y + dy
        spiral.append(total)
    c.launch("local_arrays", 2, 32, c.input("seeds", seeds), c.zeros("permutation", 20 * n, np.uint8), c.zeros("least", n), c.zeros("spiral", n), i32(n))
    c.expect("permutation", np.array(permutations, np.uint8))
    c.expect("least", np.array(least, np.uint32))
    c.expect("spiral", np.array(spiral, np.int32))


def signed(v, bits=32):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


def c_divide(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


@case("integer_intrinsics")
def integer_intrinsics(c):
    edges = [0, 1, 2, 31, 32, 33, 0x7f, 0x80, 0xff, 0x8000, 0xffff, 0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, M32]
    n = 150
    columns = [np.concatenate([c.rng.permutation(np.tile(np.array(edges, np.uint32), 5))[:75], c.bits(75)]) for _ in range(3)]
    columns[2][:40] = c.ints(40, 0, 70, np.uint32)
    rows, wides = [], []
    for x, y, z in zip(*(map(int, k) for k in columns)):
        sx, sy, sz = signed(x), signed(y), signed(z)
        both = y << 32 | x
        s = z & 31
        bytes_x, bytes_y = x.to_bytes(4, "little"), y.to_bytes(4, "little")
        s8 = lambda v: [signed(b, 8) for b in v]
        row = [
            int(f"{x:032b}"[::-1], 2), 32 - x.bit_length(), (x & -x).bit_length(), x.bit_count(),
            int.from_bytes(bytes((both >> 8 * (z >> 4 * k & 7)) & 255 for k in range(4)), "little"),
            both << s >> 32, both >> s, (both << min(z, 32)) >> 32, both >> min(z, 32),
            x * y >> 32, sx * sy >> 32, signed(x, 24) * signed(y, 24), (x & 0xffffff) * (y & 0xffffff),
            z + abs(sx - sy), z + abs(x - y),
            sz + sum(p * q for p, q in zip(s8(bytes_x), s8(bytes_y))), z + sum(p * q for p, q in zip(bytes_x, bytes_y)),
            int.from_bytes(bytes(abs(p - q) for p, q in zip(bytes_x, bytes_y)), "little"),
            int.from_bytes(bytes(min(255, p + q) for p, q in zip(bytes_x, bytes_y)), "little"),
            (sx + sy) >> 1, (x + y) >> 1, (x + y + 1) >> 1,
            x // y if y else 77, x % y if y else 77, c_divide(sx, sy) if y else 77, abs(sx), min(sx, sy), max(x, y)]
        rows.append([v & M32 for v in row])
        p, q = x << 32 | y, z << 32 | x
        sp, sq = signed(p, 64), signed(q, 64)
        wides.append([v & M64 for v in (
            int(f"{p:064b}"[::-1], 2), 64 - p.bit_length(), (p & -p).bit_length(), p.bit_count(), p * q >> 64, sp * sq >> 64,
            p // q if q else 5, sp - c_divide(sp, sq) * sq if ((q + 1) & M64) > 1 else 5)])
    c.launch("integer_intrinsics", 3, 64, *(c.input(k, v) for k, v in zip("abc", columns)), c.zeros("out", 28 * n), c.zeros("wide", 8 * n, np.uint64), i32(n))
    c.expect("out", np.array(rows, np.uint32))
    c.expect("wide", np.array(wides, np.uint64))


@case("big_integers")
def big_integers(c):
    n = 40
    a, b = c.bits((n, 8)), c.bits((n, 8))
    a[0], b[0] = M32, 0
    b[0, 0] = 1
    a[1], b[1] = 0, 0
    b[1, 0] = 1
    a[2] = b[2] = M32
    a[3, 4:] = b[3, 4:]
    number = lambda row: sum(int(v) << 32 * k for k, v in enumerate(row))
    words = lambda v, count: [(v >> 32 * k) & M32 for k in range(count)]
    rows = [(number(p), number(q)) for p, q in zip(a, b)]
    c.launch("big_integers", 2, 32, c.input("a", a), c.input("b", b), c.zeros("sum", 8 * n), c.zeros("difference", 8 * n),
             c.zeros("product", 16 * n), c.zeros("flags", n), i32(n))
    c.expect("sum", np.array([words(p + q, 8) for p, q in rows], np.uint32))
    c.expect("difference", np.array([words(p - q, 8) for p, q in rows], np.uint32))
    c.expect("product", np.array([words(p * q, 16) for p, q in rows], np.uint32))
    c.expect("flags", np.array([((p >> 192) + (q >> 192) >> 64) << 1 | (p < q) for p, q in rows], np.uint32))


@case("warp_votes")
def warp_votes(c):
    n = 128
    x = c.ints(n, -4, 12)
    x[32:64] = 8
    x[64:96] = np.minimum(x[64:96], 9)
    ballots, anys, matches, alls = np.zeros((n, 2), np.uint32), [], [], []
    for i in range(n):
        warp, lane = x[i // 32 * 32:i // 32 * 32 + 32], i % 32
        mask = lambda test, lanes=range(32): sum(1 << k for k in lanes if test(int(warp[k])))
        ballots[i, 0] = mask(lambda v: v > 0)
        ballots[i, 1] = mask(lambda v: v > 5, range(1, 32, 2)) if lane & 1 else mask(lambda v: v < 3, range(0, 32, 2)) << 1
        anys.append(bool((warp == 7).any()) << 1 | bool((warp < 10).all()))
        matches.append(mask(lambda v: v & 3 == int(x[i]) & 3))
        same = len(set(int(v) >> 4 for v in warp)) == 1
        value = (M32 if same else 0) ^ (0x10 if same else 0)
        if lane < 16:
            value ^= mask(lambda v: (v << 40) & M64 == (int(x[i]) << 40) & M64, range(16))
        alls.append(value)
    c.launch("warp_votes", 2, 64, c.input("in", x), c.zeros("ballots", 2 * n), c.zeros("anys", n), c.zeros("matches", n), c.zeros("alls", n), i32(n))
    c.expect("ballots", ballots)
    c.expect("anys", np.array(anys, np.uint32))
    c.expect("matches", np.array(matches, np.uint32))
    c.expect("alls", np.array(alls, np.uint32))


@case("warp_redux")
def warp_redux(c):
    x = c.bits(96, np.int32)
    out = np.zeros((96, 10), np.int64)
    for w in range(0, 96, 32):
        v = x[w:w + 32].astype(np.int64)
        u = v & M32
        rows = slice(w, w + 32)
        out[rows, :5] = [v.sum(), v.min(), v.max(), u.min(), u.max()]
        out[rows, 5] = np.bitwise_and.reduce(u | 0xf0)
        out[rows, 6] = np.bitwise_or.reduce(u & 0x0ff00ff0)
        out[rows, 7] = np.bitwise_xor.reduce(u)
        out[rows, 8] = [v[:13].sum()] * 13 + [v[13:].max()] * 19
        out[rows, 9] = (u & 0xffff).sum()
    c.launch("warp_redux", 1, 96, c.input("in", x), c.zeros("out", 960))
    c.expect("out", (out & M32).astype(np.uint32).view(np.int32))


@case("shuffle_modes")
def shuffle_modes(c):
    n = 64
    x = c.ints(n)
    out = np.zeros((n, 16), np.int32)
    lane = np.arange(32)
    wide = np.zeros(n)
    for w in (0, 32):
        v = x[w:w + 32]
        columns = []
        for width in (32, 16, 8, 4):
            base, end = lane & ~(width - 1), lane | (width - 1)
            columns.append(v[base + (5 & (width - 1))])
            columns.append(np.where(lane - 3 >= base, v[(lane - 3) & 31], v))
            columns.append(np.where(lane + 2 <= end, v[(lane + 2) & 31], v))
            columns.append(np.where((lane ^ 6) <= end, v[lane ^ 6], v))
        out[w:w + 32] = np.stack(columns, axis=1)
        d = v * 1.5
        wide[w:w + 32] = d[v & 31] + d[lane ^ 17]
    c.launch("shuffle_modes", 2, 32, c.input("in", x), c.zeros("out", 16 * n), c.zeros("wide", n, np.float64))
    c.expect("out", out)
    c.expect("wide", wide)


@case("last_block")
def last_block(c):
    n = 1500
    x = c.ints(n, -10**5, 10**5)
    c.launch("last_block", 7, 64, c.input("in", x), i32(n), c.zeros("partial", 7, np.int64), c.zeros("total", 1, np.int64))
    c.expect("total", np.array([(x.astype(np.int64)**2).sum()]))


@case("volatile_flags")
def volatile_flags(c):
    blocks, warps = 3, 4
    order, v = [], 1
    for w in range(warps):
        order.append(v)
        v = v * 3 + w
    c.launch("volatile_flags", blocks, 128, c.zeros("out", blocks * 128), c.zeros("order", blocks * warps), c.zeros("lock", 1), c.zeros("guarded", 1))
    c.expect("out", np.full(blocks * 128, v, np.int32))
    c.expect("order", np.array(order * blocks, np.int32))
    c.expect("lock", np.zeros(1, np.int32))
    c.expect("guarded", np.array([blocks * 10], np.int32))


@case("printing")
def printing(c):
    c.launch("printing", 1, 64, i32(42), f32(1.5), i64(-1234567890123))
    c.prints("hello\n"
             "n=42 f=1.500000 big=-1234567890123 hex=0000beef char=z text=inner percent=%\n"
             "   42|42   |+42|00042|ff|FF|10|4000000000\n"
             "3.142|      2.50|1.234568e+04|0.0001|1e+20\n"
             "18446744073709551615 123456789abcdef -5 many\n"
             "thread 0 of 64\nthread 20 of 64\nthread 40 of 64\n")


@case("assertion")
def assertion(c):
    x = c.ints(100, 0, 50)
    x[70] = -1
    c.launch("assertion", 2, 64, c.input("in", x), c.zeros("out", 100), i32(100))
    c.faults("assert", "in[i] >= 0")


@case("trapping")
def trapping(c):
    c.launch("trapping", 3, 32, c.zeros("out", 96))
    c.faults("trap")


@case("grid_sync")
def grid_sync(c):
    c.launch("grid_sync", 3, 32, c.zeros("first", 96), c.zeros("second", 96), i32(96))
    c.faults("grid barrier", "not launched cooperatively")


@case("out_of_bounds")
def out_of_bounds(c):
    c.launch("out_of_bounds", 2, 32, c.zeros("out", 64), i64(1 << 30))
    c.faults("out of bounds")


@case("divergence")
def divergence(c):
    n, block = 250, 96
    x = c.ints(n, -30, 300)

    def run(mode):
        out = []
        padded = np.concatenate([x, np.full(288 - n, -1, np.int32)])
        for i in range(n):
            t, base = i % block, i // block * block
            v = int(x[i])
            r = int(padded[base + (t + 7) % block]) if mode > 0 else t
            if v < 0:
                out.append(r - 1)
                continue
            done = False
            for a in range(v % 7):
                if a == 3 and v & 8:
                    continue
                for b in range(a, 6):
                    if a ^ b == v & 5:
                        r += 100
                        done = bool(v & 16)
                        break
                    r = r + a * b if b & 1 else r ^ (b << a)
                if done:
                    break
                w = v
                while True:
                    r += w & 3
                    w >>= 2
                    if w in (0, 2):
                        break
            out.append(r if done else -r)
        return np.array(out, np.int32)
    c.launch("divergence", 3, block, c.input("in", x), c.zeros("first", n), i32(0), i32(n))
    c.launch("divergence", 3, block, c.buffer("in"), c.zeros("second", n), i32(1), i32(n))
    c.expect("first", run(0))
    c.expect("second", run(1))


@case("named_barriers")
def named_barriers(c):
    rounds = 5
    x = c.ints(rounds * 32)
    c.launch("named_barriers", 1, 128, c.input("in", x), c.zeros("out", rounds * 32), c.zeros("votes", 128), i32(rounds))
    c.expect("out", (x.reshape(rounds, 32)[:, ::-1] * 2 + np.arange(rounds)[:, None]).astype(np.int32))
    c.expect("votes", np.full(128, (5 + 6 + 7 + 8) << 2 | 3, np.int32))


@case("atomics")
def atomics(c):
    n = 230
    x = c.ints(n, -1000, 1000)
    ints = np.zeros(9, np.int32)
    ints[1], ints[2], ints[3] = 0x7fffffff, -2**31, -1
    uints = np.array([0, 0, M32, 0, 7], np.uint32)
    longs = np.array([0, M64, 0, 0, M64, 0], np.uint64)
    signed_longs = np.array([2**63 - 1, -2**63], np.int64)
    c.launch("atomics", 4, 64, c.input("in", x), c.input("ints", ints), c.input("uints", uints), c.input("longs", longs),
             c.input("signed_longs", signed_longs), c.zeros("floats", 2, np.float32), c.zeros("doubles", 1, np.float64), i32(n))
    xor = 0
    wide_xor = 0
    clear, fill = M64, 0
    for k in map(int, x):
        xor ^= k & M32
        wide_xor ^= (k << 20) & M64
        clear &= ~(1 << (k & 63))
        fill |= 1 << (k & 63)
    both = np.bitwise_and.reduce
    c.expect("ints", np.array([x.sum(), x.min(), x.max(), both(x | 0xff), np.bitwise_or.reduce(x & 0xf0f0), signed(xor),
                               x.sum(), -x.sum(), ((x & 7) ** 2).sum()], np.int32))
    dec = 0
    for _ in range(n):
        dec = 6 if dec == 0 or dec > 6 else dec - 1
    c.expect("uints", np.array([n % 10, dec, x.view(np.uint32).min(), x.view(np.uint32).max(), 1234], np.uint32))
    u = [int(k) & M64 for k in x]
    c.expect("longs", np.array([(int(x.sum()) * 3) & M64, min(u), max(u), wide_xor, clear, fill], np.uint64))
    c.expect("signed_longs", np.array([int(x.min()) * 1000000007, int(x.max()) * 1000000007]))
    c.expect("floats", np.array([(x & 15).sum(), n * 0.5], np.float32))
    c.expect("doubles", np.array([x.sum() * 0.25]))


@case("async_copy")
def async_copy(c):
    rows = 5
    x = c.bits(rows * 32 * 4).view(np.uint8)
    c.launch("async_copy", 1, 32, c.input("in", x), c.zeros("out", x.size, np.uint8), c.zeros("parts", 32 * 32, np.uint8),
             i32(rows))
    whole = x.reshape(rows, 32, 16)
    c.expect("out", whole[:, ::-1])
    parts = np.zeros((32, 32), np.uint8)
    for t in range(32):
        parts[t, :t % 17] = whole[0, t, :t % 17]
        parts[t, 16:24] = 0 if t < 9 else whole[0, t, :8]
    c.expect("parts", parts)
