"""Arithmetic of the emulator: one method an opcode, over arrays of 64-bit registers, a lane a thread.

Rounding other than to nearest goes through softfloat.py, a lane at a time.
"""
import ctypes
from fractions import Fraction

import numpy as np

import integer_forms
import softfloat as sf

SIZES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4,
         "b64": 8, "u64": 8, "s64": 8, "f64": 8, "u16x2": 4, "s16x2": 4}
LIBM = ctypes.CDLL("libm.so.6")
LIBM.fma.restype = ctypes.c_double
LIBM.fma.argtypes = [ctypes.c_double] * 3
M64 = (1 << 64) - 1


class Fault(Exception):
    """The run ends: trap, assertion, bad address or no progress."""


class Unsupported(Exception):
    """The emulator does not know this."""

def sext(v, size):
    """Signed numbers of the low bits."""
    shift = np.uint64(64 - size)
    return ((v << shift).view(np.int64) >> np.int64(64 - size)) if size < 64 else v.view(np.int64)


def zext(v, size):
    return v & np.uint64((1 << size) - 1) if size < 64 else v


FLOATS = {"f16": (np.uint16, np.float16), "f32": (np.uint32, np.float32), "f64": (np.uint64, np.float64)}


def as_float(v, fmt):
    u, f = FLOATS[fmt]
    return v.astype(u).view(f)


def from_float(v, fmt):
    """Bits, with the canonical NaN."""
    u, f = FLOATS[fmt]
    v = np.asarray(v, f)
    bits = np.ascontiguousarray(v).view(u).astype(np.uint64)
    if fmt != "f64":
        bits[np.isnan(v)] = sf.canonical_nan(fmt)
    return bits


def flushed(v, fmt):
    e, m = sf.FORMATS[fmt]
    small = (v >> np.uint64(m)) & np.uint64((1 << e) - 1) == 0
    return np.where(small, v & np.uint64(1 << e + m), v)


def each(function, *columns):
    """A model of patterns applied to each lane."""
    out = np.empty(len(columns[0]), np.uint64)
    for k, row in enumerate(zip(*(c.tolist() for c in columns))):
        out[k] = int(function(*row)) & M64
    return out

def signed_of(v, size, signed):
    return v - (1 << size) if signed and v >> size - 1 & 1 else v


def quotient(a, b):
    if b == 0:
        return -1
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def ambiguous(function, *args):
    try:
        return function(*args)
    except sf.Ambiguous:
        return 0


def fused(a, b, c):
    """The fused multiply-add of binary32 by rounding to odd in binary64."""
    a, b, c = (x.astype(np.float64) for x in (a, b, c))
    product = a * b
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    bits = total.view(np.int64).copy()
    odd = (error != 0) & np.isfinite(error) & (bits & 1 == 0)
    bits = np.where(odd, bits + np.where((error > 0) == (total > 0), 1, -1), bits)
    return bits.view(np.float64).astype(np.float32)


class Arithmetic:
    """What a block's threads compute; `get`, `set` and the registers are the block's."""

    def do_add(self, mods, o, ix):
        self.arithmetic("add", mods, o, ix)

    def do_sub(self, mods, o, ix):
        self.arithmetic("sub", mods, o, ix)

    def do_mul(self, mods, o, ix):
        self.arithmetic("mul", mods, o, ix)

    def do_div(self, mods, o, ix):
        self.arithmetic("div", mods, o, ix)

    def do_fma(self, mods, o, ix):
        self.arithmetic("fma", mods, o, ix)

    def do_rcp(self, mods, o, ix):
        self.arithmetic("rcp", mods, o, ix)

    def do_sqrt(self, mods, o, ix):
        self.arithmetic("sqrt", mods, o, ix)

    def do_mad(self, mods, o, ix):
        self.arithmetic("mad" if mods[-1][0] in "us" else "fma", mods, o, ix)

    def arithmetic(self, op, mods, o, ix):
        t = mods[-1]
        if t[0] in "fb":
            self.floating(op, mods, o, ix)
            return
        size = 8 * SIZES[t]
        if t in ("u16x2", "s16x2"):
            raise Unsupported(t)
        wide = "wide" in mods
        v = [zext(self.get(x, ix), size if not (wide and k == 2) else 64) for k, x in enumerate(o[1:])]
        signed = t[0] == "s"
        if op in ("mul", "mad"):
            if wide or "lo" in mods:
                a, b = (sext(x, size).view(np.uint64) if signed else x for x in v[:2])
                r = a * b
            else:
                r = each(lambda a, b: (signed_of(a, size, signed) * signed_of(b, size, signed)) >> size, *v[:2])
            bits = 2 * size if wide else size
            if op == "mad":
                r = self.carried(zext(r, bits), v[2], bits, mods, ix, False) if "cc" in mods else zext(r, bits) + v[2]
            self.set(o[0], ix, r, bits)
            return
        if op == "div":
            self.set(o[0], ix, each(lambda a, b: quotient(signed_of(a, size, signed), signed_of(b, size, signed)), *v), size)
            return
        if "cc" in mods:
            r = self.carried(v[0], v[1], size, mods, ix, op == "sub")
        elif "sat" in mods:
            f = (lambda a, b: a + b) if op == "add" else (lambda a, b: a - b)
            r = each(lambda a, b: max(-1 << 31, min((1 << 31) - 1, f(signed_of(a, 32, True), signed_of(b, 32, True)))), *v)
        else:
            r = v[0] + v[1] if op == "add" else v[0] - v[1]
        self.set(o[0], ix, r, size)

    def carried(self, a, b, size, mods, ix, minus, carry_in=None, write=True):
        # One flag, which a borrow clears.
        c = np.full(len(ix), 1 if minus else 0, np.uint64) if carry_in is None else carry_in
        r = np.empty(len(ix), np.uint64)
        out = np.empty(len(ix), np.uint64)
        for k, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist())):
            total = x + (y ^ (1 << size) - 1 if minus else y) + z
            r[k] = total & ((1 << size) - 1)
            out[k] = (total >> size) & 1
        if write:
            self.carry[ix] = out
        return r

    def do_addc(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        a, b = (zext(self.get(x, ix), size) for x in o[1:])
        self.set(o[0], ix, self.carried(a, b, size, mods, ix, False, self.carry[ix], "cc" in mods))

    def do_subc(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        a, b = (zext(self.get(x, ix), size) for x in o[1:])
        self.set(o[0], ix, self.carried(a, b, size, mods, ix, True, self.carry[ix], "cc" in mods))

    def do_madc(self, mods, o, ix):
        t = mods[-1]
        size = 8 * SIZES[t]
        a, b, c = (zext(self.get(x, ix), size) for x in o[1:])
        half = 0 if "lo" in mods else size
        product = each(lambda x, y: (signed_of(x, size, t[0] == "s") * signed_of(y, size, t[0] == "s") >> half) & ((1 << size) - 1), a, b)
        self.set(o[0], ix, self.carried(product, c, size, mods, ix, False, self.carry[ix], "cc" in mods))

    def floating(self, op, mods, o, ix):
        t = mods[-1]
        fmt = t.removesuffix("x2")
        v = [self.get(x, ix, fmt=t if t[0] == "f" else None) for x in o[1:]]
        ftz, sat, relu = "ftz" in mods, "sat" in mods, "relu" in mods
        mode = next((m for m in mods if m in ("rn", "rz", "rm", "rp")), "rn")
        if t.endswith("x2"):
            halves = [self.compute(op, fmt, [zext(x >> np.uint64(s), 16) for x in v], mode, ftz, sat, relu, mods) for s in (0, 16)]
            self.set(o[0], ix, halves[0] | halves[1] << np.uint64(16))
        else:
            self.set(o[0], ix, self.compute(op, fmt, [zext(x, sf.width(fmt)) for x in v], mode, ftz, sat, relu, mods))

    def compute(self, op, fmt, v, mode, ftz, sat, relu, mods):
        if "approx" in mods or "full" in mods:
            mode = "rn"
        if mode != "rn" or fmt in ("bf16",) or sat or relu or (fmt == "f16" and op in ("fma", "div", "sqrt")):
            return each(lambda *row: ambiguous(sf.arithmetic, op, fmt, list(row), mode, ftz, sat, relu), *v)
        if ftz:
            v = [flushed(x, fmt) for x in v]
        f = [as_float(x, fmt) for x in v]
        one = FLOATS[fmt][1](1)
        if op == "fma":
            if fmt == "f32":
                r = fused(*f)
            else:
                r = np.array([LIBM.fma(*row) for row in zip(*f)])
        else:
            r = {"add": lambda: f[0] + f[1], "sub": lambda: f[0] - f[1], "mul": lambda: f[0] * f[1], "div": lambda: f[0] / f[1], "rcp": lambda: one / f[0],
                 "sqrt": lambda: np.sqrt(f[0])}[op]()
        bits = from_float(r, fmt)
        return flushed(bits, fmt) if ftz else bits

    def unary(name):
        def handler(self, mods, o, ix):
            t = mods[-1]
            fmt = t.removesuffix("x2")
            v = self.get(o[1], ix, fmt=t)
            if t.endswith("x2"):
                raise Unsupported(t)
            if "ftz" in mods:
                v = flushed(v, fmt)
            x = as_float(v, fmt).astype(np.float64)
            r = {"rsqrt": lambda: 1 / np.sqrt(x), "sin": lambda: np.sin(x), "cos": lambda: np.cos(x), "lg2": lambda: np.log2(x), "ex2": lambda: np.exp2(x),
                 "tanh": lambda: np.tanh(x)}[name]()
            bits = from_float(r.astype(FLOATS[fmt][1]), fmt)
            self.set(o[0], ix, flushed(bits, fmt) if "ftz" in mods else bits)
        return handler

    do_rsqrt = unary("rsqrt")
    do_sin = unary("sin")
    do_cos = unary("cos")
    do_lg2 = unary("lg2")
    do_ex2 = unary("ex2")
    do_tanh = unary("tanh")

    def do_neg(self, mods, o, ix):
        t = mods[-1]
        v = self.get(o[1], ix, fmt=t if t[0] == "f" else None)
        if t[0] in "fb":
            fmt = t.removesuffix("x2")
            v = flushed(v, fmt) if "ftz" in mods else v
            top = 1 << sf.width(fmt) - 1
            self.set(o[0], ix, v ^ np.uint64(top | (top << 16 if t.endswith("x2") else 0)))
        else:
            self.set(o[0], ix, np.uint64(0) - v, 8 * SIZES[t])

    def do_abs(self, mods, o, ix):
        t = mods[-1]
        v = self.get(o[1], ix, fmt=t if t[0] == "f" else None)
        if t[0] in "fb":
            fmt = t.removesuffix("x2")
            if t.endswith("x2"):
                raise Unsupported(t)
            v = flushed(v, fmt) if "ftz" in mods else v
            self.set(o[0], ix, v & ~np.uint64(1 << sf.width(fmt) - 1))
        else:
            self.set(o[0], ix, np.abs(sext(v, 8 * SIZES[t])).view(np.uint64), 8 * SIZES[t])

    def extreme(self, name, mods, o, ix):
        t = mods[-1]
        if t[0] in "fb":
            fmt = t.removesuffix("x2")
            a, b = (self.get(x, ix, fmt=t) for x in o[1:])
            lanes = (0, 16) if t.endswith("x2") else (0,)
            mask = (1 << sf.width(fmt)) - 1

            def choose(x, y):
                return sum(sf.minmax(name, fmt, x >> k & mask, y >> k & mask, "ftz" in mods, "NaN" in mods, "xorsign" in mods) << k for k in lanes)
            self.set(o[0], ix, each(choose, a, b))
            return
        if "relu" in mods or t.endswith("x2"):
            raise Unsupported(".".join(mods))
        size = 8 * SIZES[t]
        a, b = (zext(self.get(x, ix), size) for x in o[1:])
        less = sext(a, size) < sext(b, size) if t[0] == "s" else a < b
        self.set(o[0], ix, np.where(less == (name == "min"), a, b))

    def do_min(self, mods, o, ix):
        self.extreme("min", mods, o, ix)

    def do_max(self, mods, o, ix):
        self.extreme("max", mods, o, ix)

    def do_rem(self, mods, o, ix):
        t = mods[-1]
        size, signed = 8 * SIZES[t], t[0] == "s"

        def rest(a, b):
            a, b = signed_of(a, size, signed), signed_of(b, size, signed)
            return a - quotient(a, b) * b if b else -1
        self.set(o[0], ix, each(rest, *(zext(self.get(x, ix), size) for x in o[1:])), size)

    def do_sad(self, mods, o, ix):
        t = mods[-1]
        size, signed = 8 * SIZES[t], t[0] == "s"
        self.set(o[0], ix, each(lambda a, b, c: abs(signed_of(a, size, signed) - signed_of(b, size, signed)) + c, *(zext(self.get(x, ix), size) for x in o[1:])), size)

    def logic(self, f, mods, o, ix):
        self.set(o[0], ix, f(*(self.get(x, ix) for x in o[1:])), 64 if mods[-1] == "pred" else 8 * SIZES[mods[-1]])

    def do_and(self, mods, o, ix):
        self.logic(lambda a, b: a & b, mods, o, ix)

    def do_or(self, mods, o, ix):
        self.logic(lambda a, b: a | b, mods, o, ix)

    def do_xor(self, mods, o, ix):
        self.logic(lambda a, b: a ^ b, mods, o, ix)

    def do_not(self, mods, o, ix):
        self.logic((lambda a: (a == 0).astype(np.uint64)) if mods[-1] == "pred" else (lambda a: ~a), mods, o, ix)

    def do_cnot(self, mods, o, ix):
        self.logic(lambda a: (a == 0).astype(np.uint64), mods, o, ix)

    def do_shl(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        a, s = self.get(o[1], ix), zext(self.get(o[2], ix), 32)
        self.set(o[0], ix, np.where(s < size, zext(a, size) << np.minimum(s, np.uint64(63)), np.uint64(0)), size)

    def do_shr(self, mods, o, ix):
        t = mods[-1]
        size = 8 * SIZES[t]
        a, s = self.get(o[1], ix), zext(self.get(o[2], ix), 32)
        if t[0] == "s":
            r = (sext(a, size) >> np.minimum(s, np.uint64(size - 1)).astype(np.int64)).view(np.uint64)
        else:
            r = np.where(s < size, zext(a, size) >> np.minimum(s, np.uint64(63)), np.uint64(0))
        self.set(o[0], ix, r, size)

    def do_setp(self, mods, o, ix):
        t = mods[-1]
        test = mods[0]
        a, b = (self.get(x, ix, fmt=t if t[0] == "f" else None) for x in o[1:3])
        r = self.compare(test, t, a, b, "ftz" in mods)
        self.combine(mods, o, ix, r, 3)

    def compare(self, test, t, a, b, ftz):
        if t[0] == "f" or t.startswith("bf"):
            return each(lambda x, y: sf.compare(test, t, x, y, ftz), zext(a, sf.width(t)), zext(b, sf.width(t))) != 0
        size = 8 * SIZES[t]
        a, b = (sext(v, size) if t[0] == "s" else zext(v, size) for v in (a, b))
        test = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(test, test)
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[test]

    def combine(self, mods, o, ix, r, at):
        word = next((m for m in mods if m in ("and", "or", "xor")), None)
        other = ~r
        if word:
            c = self.get(o[at], ix) != 0
            f = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[word]
            r, other = f(r, c), f(other, c)
        if o[0][0] == "two":
            self.set(o[0][1], ix, r.astype(np.uint64))
            self.set(o[0][2], ix, other.astype(np.uint64))
        else:
            self.set(o[0], ix, r.astype(np.uint64))

    def do_set(self, mods, o, ix):
        source, to = mods[-1], mods[-2]
        a, b = (self.get(x, ix, fmt=source if source[0] == "f" else None) for x in o[1:3])
        r = self.compare(mods[0], source, a, b, "ftz" in mods)
        word = next((m for m in mods if m in ("and", "or", "xor")), None)
        if word:
            c = self.get(o[3], ix) != 0
            r = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[word](r, c)
        yes = sf.one(to) if to in sf.FORMATS else 0xffffffff
        self.set(o[0], ix, np.where(r, np.uint64(yes), np.uint64(0)))

    def do_selp(self, mods, o, ix):
        t = mods[-1]
        a, b = (self.get(x, ix, fmt=t if t[0] == "f" else None) for x in o[1:3])
        self.set(o[0], ix, np.where(self.get(o[3], ix) != 0, a, b), 8 * SIZES[t])

    def do_cvt(self, mods, o, ix):
        if "pack" in mods or "tf32" in mods:
            raise Unsupported("cvt." + ".".join(mods))
        to, source = mods[-2], mods[-1]
        v = self.get(o[1], ix, fmt=source if source[0] == "f" else None)
        mode = next((m for m in mods if m in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")), None)
        ftz, sat, relu = "ftz" in mods, "sat" in mods, "relu" in mods
        if to.endswith("x2"):
            fmt = to[:-2]
            w = self.get(o[2], ix, fmt=source)
            hi, lo = (each(lambda x: sf.finish(fmt, sf.resize(fmt, source, x, mode), relu=relu), y) for y in (v, w))
            self.set(o[0], ix, hi << np.uint64(16) | lo)
            return
        to_float, from_fl = to in sf.FORMATS, source in sf.FORMATS
        if not to_float and not from_fl:
            size = 8 * SIZES[source]
            v = sext(v, size).view(np.uint64) if source[0] == "s" else zext(v, size)
            if sat:
                bits, s = 8 * SIZES[to], to[0] == "s"
                low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if s else (0, (1 << bits) - 1)
                v = each(lambda x: max(low, min(high, signed_of(x, 64, source[0] == "s"))), v)
            small = 8 * SIZES[to]
            self.set(o[0], ix, sext(v, small).view(np.uint64) if to[0] == "s" else zext(v, small))
            return
        if to_float and not from_fl:
            size, s = 8 * SIZES[source], source[0] == "s"
            def convert(x):
                n = signed_of(x & ((1 << size) - 1), size, s)
                return sf.finish(to, sf.encode(to, int(n < 0), Fraction(abs(n)), mode), sat=sat)
            self.set(o[0], ix, each(convert, v))
            return
        v = zext(v, sf.width(source))
        if not to_float:
            bits, s = 8 * SIZES[to], to[0] == "s"

            def convert(x):
                if sf.is_nan(source, x):
                    return 0 if source != "f64" and bits < 64 else 1 << bits - 1
                return sf.to_integer(source, x, bits, s, mode, ftz)
            r = each(convert, v)
            self.set(o[0], ix, sext(r, bits).view(np.uint64) if s else r)
            return

        def convert(x):
            if ftz and source == "f32":
                x = sf.flush(source, x)
            if mode in ("rni", "rzi", "rmi", "rpi"):
                x = sf.to_integral(source, x, mode)
            r = sf.resize(to, source, x, mode if mode in ("rn", "rz", "rm", "rp") else "rn") if to != source else x
            return sf.finish(to, r, ftz and to == "f32", sat, relu)
        self.set(o[0], ix, each(convert, v))

    def model(self, function, mods, o, ix, size=32):
        self.set(o[0], ix, each(function, *(zext(self.get(x, ix), size) for x in o[1:])), size)

    def do_popc(self, mods, o, ix):
        self.model(lambda a: a.bit_count(), mods, o, ix, 8 * SIZES[mods[-1]])

    def do_clz(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        self.model(lambda a: size - a.bit_length(), mods, o, ix, size)

    def do_brev(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        self.model(lambda a: int(f"{a:0{size}b}"[::-1], 2), mods, o, ix, size)

    def do_bfind(self, mods, o, ix):
        t = mods[-1]
        size = 8 * SIZES[t]
        self.set(o[0], ix, each(lambda a: integer_forms.bfind(a, size, t[0] == "s", "shiftamt" in mods), zext(self.get(o[1], ix), size)))

    def do_bfe(self, mods, o, ix):
        t = mods[-1]
        self.model(lambda a, b, c: integer_forms.bfe(a, b, c, 8 * SIZES[t], t[0] == "s"), mods, o, ix, 8 * SIZES[t])

    def do_bfi(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        self.model(lambda a, b, c, d: integer_forms.bfi(a, b, c, d, size), mods, o, ix, size)

    def do_prmt(self, mods, o, ix):
        self.model(lambda a, b, c: integer_forms.prmt(a, b, c, mods[1] if len(mods) > 1 else ""), mods, o, ix)

    def do_shf(self, mods, o, ix):
        def funnel(a, b, c):
            n = c & 31 if mods[1] == "wrap" else min(c, 32)
            return (b << 32 | a) << n >> 32 if mods[0] == "l" else (b << 32 | a) >> n
        self.model(funnel, mods, o, ix)

    def do_lop3(self, mods, o, ix):
        a, b, c = (self.get(x, ix) for x in o[1:4])
        r = np.zeros(len(ix), np.uint64)
        for k in range(8):
            if o[4][1] >> k & 1:
                r |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        self.set(o[0], ix, r, 32)

    def do_mul24(self, mods, o, ix):
        s = mods[-1] == "s32"
        self.model(lambda a, b: signed_of(a & 0xffffff, 24, s) * signed_of(b & 0xffffff, 24, s) >> (16 if "hi" in mods else 0), mods, o, ix)

    def do_mad24(self, mods, o, ix):
        s = mods[-1] == "s32"
        self.model(lambda a, b, c: (signed_of(a & 0xffffff, 24, s) * signed_of(b & 0xffffff, 24, s) >> (16 if "hi" in mods else 0)) + c, mods, o, ix)

    def do_dp4a(self, mods, o, ix):
        self.model(lambda a, b, c: c + sum(signed_of(a >> k & 255, 8, mods[0] == "s32") * signed_of(b >> k & 255, 8, mods[1] == "s32") for k in (0, 8, 16, 24)), mods, o, ix)

    def do_vabsdiff4(self, mods, o, ix):
        if mods != ["u32"] * 3:
            raise Unsupported("vabsdiff4." + ".".join(mods))
        self.model(lambda a, b, c: sum(abs((a >> k & 255) - (b >> k & 255)) << k for k in (0, 8, 16, 24)), mods, o, ix)

    def do_copysign(self, mods, o, ix):
        top = np.uint64(1 << 8 * SIZES[mods[-1]] - 1)
        a, b = (self.get(x, ix, fmt=mods[-1]) for x in o[1:])
        self.set(o[0], ix, a & top | b & ~top)
