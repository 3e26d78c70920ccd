"""Floating-point arithmetic on bit patterns, exact by rational numbers and rounded once.

The model of PTX's floating point: formats f16, bf16, f32 and f64; rounding rn, rz, rm, rp;
flushing of subnormal inputs and results (.ftz), saturation (.sat) and clamping at zero (.relu).
"""
from fractions import Fraction
from math import isqrt

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
NAN, INF, NUM = "nan", "inf", "num"


def width(fmt):
    """Bits of a format."""
    return 1 + sum(FORMATS[fmt])


def canonical_nan(fmt):
    """The NaN that arithmetic yields: all ones below the sign; for f64 the quiet one."""
    return 0x7ff8000000000000 if fmt == "f64" else (1 << width(fmt) - 1) - 1


def infinity(fmt, sign=0):
    e, m = FORMATS[fmt]
    return sign << (e + m) | ((1 << e) - 1) << m


def largest(fmt, sign=0):
    return infinity(fmt, sign) - 1


def one(fmt):
    e, m = FORMATS[fmt]
    return ((1 << e - 1) - 1) << m


def is_nan(fmt, bits):
    return bits & ~(1 << width(fmt) - 1) > infinity(fmt)


def is_subnormal(fmt, bits):
    e, m = FORMATS[fmt]
    return bits >> m & ((1 << e) - 1) == 0 and bits & ((1 << m) - 1) != 0


def sign_of(fmt, bits):
    return bits >> width(fmt) - 1


def flush(fmt, bits):
    """A subnormal becomes the zero of its sign."""
    return sign_of(fmt, bits) << width(fmt) - 1 if is_subnormal(fmt, bits) else bits


def decode(fmt, bits):
    """Kind, sign and exact magnitude of a bit pattern."""
    e, m = FORMATS[fmt]
    sign, exponent, fraction = bits >> e + m, bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    if exponent == (1 << e) - 1:
        return (NAN, 0, None) if fraction else (INF, sign, None)
    bias = (1 << e - 1) - 1
    if exponent:
        return NUM, sign, Fraction((1 << m) | fraction) * Fraction(2) ** (exponent - bias - m)
    return NUM, sign, Fraction(fraction) * Fraction(2) ** (1 - bias - m)


def value(fmt, bits):
    """The signed rational number of a finite pattern."""
    _, sign, magnitude = decode(fmt, bits)
    return -magnitude if sign else magnitude


def floor_log2(v):
    """The exponent of a positive rational number."""
    k = v.numerator.bit_length() - v.denominator.bit_length()
    return k if Fraction(2) ** k <= v else k - 1


def away(whole, rest, half, sign, mode):
    """Whether a magnitude rounds up to the next integer; rest is compared with half (both rationals)."""
    if rest == 0:
        return False
    if mode == "rn":
        return rest > half or (rest == half and whole & 1)
    if mode == "rna":
        return rest >= half
    return {"rz": False, "rm": bool(sign), "rp": not sign}[mode]


def encode(fmt, sign, magnitude, mode="rn"):
    """The pattern of a rational magnitude, rounded once."""
    e, m = FORMATS[fmt]
    bias = (1 << e - 1) - 1
    if magnitude == 0:
        return sign << e + m
    exponent = max(floor_log2(magnitude), 1 - bias)
    scaled = magnitude / Fraction(2) ** (exponent - m)
    whole = scaled.numerator // scaled.denominator
    if away(whole, scaled - whole, Fraction(1, 2), sign, mode):
        whole += 1
    if whole >> (m + 1):
        whole >>= 1
        exponent += 1
    if exponent > bias:
        to_infinity = mode in ("rn", "rna") or (mode == "rm" and sign) or (mode == "rp" and not sign)
        return infinity(fmt, sign) if to_infinity else largest(fmt, sign)
    if whole >> m:
        return sign << e + m | (exponent + bias) << m | whole & ((1 << m) - 1)
    return sign << e + m | whole


def tiny(fmt, magnitude):
    """Whether a non-zero magnitude lies below the least normal number by less than one unit of it.

    There .ftz could be applied before or after rounding; the vectors avoid these numbers.
    """
    e, m = FORMATS[fmt]
    least = Fraction(2) ** (2 - (1 << e - 1))
    return least - least / (1 << m) < magnitude < least


class Ambiguous(Exception):
    """The manual leaves the result of these operands open."""


def finish(fmt, bits, ftz=False, sat=False, relu=False):
    """Flushing and clamping of a result."""
    if ftz:
        bits = flush(fmt, bits)
    if sat:
        if is_nan(fmt, bits):
            return 0
        if bits == 1 << width(fmt) - 1:
            raise Ambiguous
        if sign_of(fmt, bits):
            return 0
        return min(bits, one(fmt))
    if relu:
        if is_nan(fmt, bits):
            return canonical_nan(fmt)
        if bits == 1 << width(fmt) - 1:
            raise Ambiguous
        return 0 if sign_of(fmt, bits) else bits
    return bits


def arithmetic(op, fmt, operands, mode="rn", ftz=False, sat=False, relu=False):
    """add, sub, mul, fma, div, rcp or sqrt on patterns."""
    if ftz:
        operands = [flush(fmt, b) for b in operands]
    if op == "sub":
        operands = [operands[0], operands[1] ^ 1 << width(fmt) - 1 if not is_nan(fmt, operands[1]) else operands[1]]
        op = "add"
    if op == "rcp":
        operands = [one(fmt), operands[0]]
        op = "div"
    bits = raw(op, fmt, operands, mode, ftz)
    return finish(fmt, bits, ftz, sat, relu)


def rounded(fmt, exact, mode, ftz, zero_sign):
    """A rational result with the sign of an exact zero given."""
    if exact == 0:
        return encode(fmt, zero_sign, Fraction(0))
    if ftz and tiny(fmt, abs(exact)):
        raise Ambiguous
    return encode(fmt, int(exact < 0), abs(exact), mode)


def raw(op, fmt, operands, mode, ftz):
    kinds = [decode(fmt, b) for b in operands]
    nan = canonical_nan(fmt)
    if any(k[0] == NAN for k in kinds):
        return nan
    if op == "sqrt":
        kind, sign, magnitude = kinds[0]
        if kind == NUM and magnitude == 0:
            return operands[0]
        if sign:
            return nan
        if kind == INF:
            return operands[0]
        scale = 2 * (160 - floor_log2(magnitude) // 2)
        wide = magnitude * Fraction(2) ** scale
        root = isqrt(wide.numerator // wide.denominator)
        exact = Fraction(2 * root + (Fraction(root * root) != wide), 2) / Fraction(2) ** (scale // 2)
        return rounded(fmt, exact, mode, ftz, 0)
    if op in ("add", "mul", "div"):
        (ka, sa, va), (kb, sb, vb) = kinds
    if op == "mul":
        s = sa ^ sb
        if INF in (ka, kb):
            return nan if (ka == NUM and va == 0) or (kb == NUM and vb == 0) else infinity(fmt, s)
        return rounded(fmt, (-1) ** s * va * vb, mode, ftz, s)
    if op == "div":
        s = sa ^ sb
        if ka == INF:
            return nan if kb == INF else infinity(fmt, s)
        if kb == INF:
            return s << width(fmt) - 1
        if vb == 0:
            return nan if va == 0 else infinity(fmt, s)
        return rounded(fmt, (-1) ** s * va / vb, mode, ftz, s)
    if op == "fma":
        (ka, sa, va), (kb, sb, vb), c = kinds
        s = sa ^ sb
        if INF in (ka, kb):
            if (ka == NUM and va == 0) or (kb == NUM and vb == 0):
                return nan
            ka, sa, va = INF, s, None
        else:
            ka, sa, va = NUM, s, va * vb
        kb, sb, vb = c
    if INF in (ka, kb):
        if ka == INF and kb == INF:
            return infinity(fmt, sa) if sa == sb else nan
        return infinity(fmt, sa if ka == INF else sb)
    exact = (-va if sa else va) + (-vb if sb else vb)
    zero = sa if va == 0 and vb == 0 and sa == sb else int(mode == "rm")
    return rounded(fmt, exact, mode, ftz, zero)


def key(fmt, bits):
    """An integer that orders numbers, -0 below +0."""
    magnitude = bits & ~(1 << width(fmt) - 1)
    return -magnitude - 1 if sign_of(fmt, bits) else magnitude


def minmax(op, fmt, a, b, ftz=False, nan=False, xorsign=False):
    """min or max, with -0 < +0; a NaN yields the other operand, or NaN under .NaN."""
    if ftz:
        a, b = flush(fmt, a), flush(fmt, b)
    sign = 0
    if xorsign:
        top = 1 << width(fmt) - 1
        sign = (a ^ b) & top
        if is_nan(fmt, a) or is_nan(fmt, b):
            raise Ambiguous
        a, b = a & ~top, b & ~top
    if is_nan(fmt, a) or is_nan(fmt, b):
        if nan or (is_nan(fmt, a) and is_nan(fmt, b)):
            return canonical_nan(fmt)
        return b if is_nan(fmt, a) else a
    return (min if op == "min" else max)((a, b), key=lambda v: key(fmt, v)) | sign


def compare(test, fmt, a, b, ftz=False):
    """One of the fourteen float comparisons."""
    if ftz:
        a, b = flush(fmt, a), flush(fmt, b)
    unordered = is_nan(fmt, a) or is_nan(fmt, b)
    if test == "num":
        return not unordered
    if test == "nan":
        return unordered
    if unordered:
        return len(test) == 3
    x, y = (value_or_infinite(fmt, v) for v in (a, b))
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[test[:2]]


def value_or_infinite(fmt, bits):
    kind, sign, magnitude = decode(fmt, bits)
    if kind == INF:
        return Fraction(-1 if sign else 1) * Fraction(2) ** 5000
    return -magnitude if sign else magnitude


def to_integer(fmt, bits, size, signed, mode, ftz=False):
    """A float to an integer of a size, out of range to the nearer end; NaN must not come here."""
    if ftz:
        bits = flush(fmt, bits)
    low, high = (-(1 << size - 1), (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)
    kind, sign, magnitude = decode(fmt, bits)
    if kind == INF:
        result = low if sign else high
    else:
        whole = magnitude.numerator // magnitude.denominator
        whole += away(whole, magnitude - whole, Fraction(1, 2), sign, {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}[mode])
        result = max(low, min(high, -whole if sign else whole))
    return result & ((1 << size) - 1)


def to_integral(fmt, bits, mode):
    """A float to the integral float of the rounding, the sign of zero kept."""
    kind, sign, magnitude = decode(fmt, bits)
    if kind != NUM:
        return canonical_nan(fmt) if kind == NAN else bits
    whole = magnitude.numerator // magnitude.denominator
    whole += away(whole, magnitude - whole, Fraction(1, 2), sign, {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}[mode])
    return encode(fmt, sign, Fraction(whole))


def resize(to, fmt, bits, mode="rn"):
    """A float to another format."""
    kind, sign, magnitude = decode(fmt, bits)
    if kind == NAN:
        return canonical_nan(to)
    if kind == INF:
        return infinity(to, sign)
    return encode(to, sign, magnitude, mode)
