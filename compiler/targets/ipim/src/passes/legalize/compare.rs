//! Comparisons, as masks.
//!
//! Integers: the sign of the difference tells which is less, unless the difference leaves 32 bits;
//! then the operands' signs differ and tell it themselves (Warren, "Hacker's Delight", 2-12).
//! Floats: a difference keeps its sign down to the denormals, and is zero only of equal numbers;
//! adding +0 makes the -0 of -0 - +0 positive. The difference with what is no number has no sign,
//! so that nothing is less; what is not less is then not greater or equal either.

use nbcc_ir::{BinaryOp, FloatCond, IntCond, Value};

use super::emitter::{Emitter, Mask};
use super::facts::Interval;

/// Compares integers.
pub fn integers(e: &mut Emitter<'_, '_>, cond: IntCond, a: Value, b: Value) -> Mask {
    match cond {
        IntCond::Eq => equal(e, a, b, true),
        IntCond::Ne => equal(e, a, b, false),
        IntCond::Slt => less(e, true, a, b),
        IntCond::Sgt => less(e, true, b, a),
        IntCond::Sge => less(e, true, a, b).opposite(),
        IntCond::Sle => less(e, true, b, a).opposite(),
        IntCond::Ult => less(e, false, a, b),
        IntCond::Ugt => less(e, false, b, a),
        IntCond::Uge => less(e, false, a, b).opposite(),
        IntCond::Ule => less(e, false, b, a).opposite(),
    }
}

/// Compares floats.
pub fn floats(e: &mut Emitter<'_, '_>, cond: FloatCond, a: Value, b: Value) -> Mask {
    match cond {
        FloatCond::Eq => float_equal(e, a, b, true),
        FloatCond::Ne => float_equal(e, a, b, false),
        FloatCond::Lt => float_less(e, a, b),
        FloatCond::Gt => float_less(e, b, a),
        FloatCond::Ge => float_at_least(e, a, b),
        FloatCond::Le => float_at_least(e, b, a),
    }
}

fn always(e: &mut Emitter<'_, '_>, holds: bool) -> Mask {
    Mask::plain(e.int(if holds { -1 } else { 0 }))
}

/// Where `x` is zero, or where it is not: one shifted right by another number than zero is zero.
pub fn zero(e: &mut Emitter<'_, '_>, x: Value, wanted: bool) -> Mask {
    let range = e.interval(x);
    if !range.holds(0) {
        return always(e, !wanted);
    }
    if range == (Interval { lo: -1, hi: 0 }) {
        return Mask { value: x, inverted: wanted };
    }
    let one = e.int(1);
    // A bit that tells whether `x` is zero, or its opposite.
    let (bit, set) = match range {
        Interval { lo: 0, hi: 1 } => (x, false),
        _ => (e.binary(BinaryOp::Lshr, one, x), true),
    };
    Mask::plain(if set == wanted { e.int_isub(0, bit) } else { e.isub(bit, one) })
}

fn equal(e: &mut Emitter<'_, '_>, a: Value, b: Value, wanted: bool) -> Mask {
    let (x, y) = (e.interval(a), e.interval(b));
    if x.lo > y.hi || y.lo > x.hi {
        return always(e, !wanted);
    }
    if a == b {
        return always(e, wanted);
    }
    let difference = e.xor(a, b);
    zero(e, difference, wanted)
}

/// Where `a < b`.
pub fn less(e: &mut Emitter<'_, '_>, signed: bool, a: Value, b: Value) -> Mask {
    let (x, y) = (e.interval(a), e.interval(b));
    let natural = x.is_natural() && y.is_natural();
    if !(signed || natural) {
        return less_unsigned(e, a, b);
    }
    if x.hi < y.lo {
        return always(e, true);
    }
    if x.lo >= y.hi {
        return always(e, false);
    }
    // `c < b` is the opposite of `b < c + 1`, which is simpler against zero.
    if e.int_constant(a) == Some(-1) {
        return Mask::plain(e.sign(b)).opposite();
    }
    if x.lo - y.hi >= Interval::FULL.lo && x.hi - y.lo <= Interval::FULL.hi {
        let difference = e.isub(a, b);
        return Mask::plain(e.sign(difference));
    }
    match (e.int_constant(a), e.int_constant(b)) {
        (_, Some(c)) => {
            // A number of the other sign than `c` is told by its sign alone.
            let difference = e.isub(a, b);
            let either = if c >= 0 { e.or(a, difference) } else { e.and(a, difference) };
            Mask::plain(e.sign(either))
        }
        (Some(c), None) => {
            let next = e.int(c.wrapping_add(1));
            less(e, true, b, next).opposite()
        }
        (None, None) => Mask::plain(sign_of_difference(e, a, b, a)),
    }
}

fn less_unsigned(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Mask {
    match (e.constant(a), e.constant(b)) {
        (_, Some(0)) | (Some(u32::MAX), _) => always(e, false),
        // Not less where `c - 1 - a` borrows.
        (_, Some(c)) => {
            let rest = e.int_isub(c.wrapping_sub(1) as i32, a);
            let small = (c - 1) as i32 >= 0;
            let either = if small { e.or(a, rest) } else { e.and(a, rest) };
            Mask::plain(e.sign(either)).opposite()
        }
        (Some(c), None) => {
            let next = e.int(c.wrapping_add(1) as i32);
            less_unsigned(e, b, next).opposite()
        }
        (None, None) => Mask::plain(sign_of_difference(e, a, b, b)),
    }
}

/// The sign of `a - b`, and where the signs of the two differ that of `where_signs_differ`.
fn sign_of_difference(
    e: &mut Emitter<'_, '_>,
    a: Value,
    b: Value,
    where_signs_differ: Value,
) -> Value {
    let difference = e.isub(a, b);
    let signs = e.xor(a, b);
    let changed = e.xor(difference, where_signs_differ);
    let wrong = e.and(signs, changed);
    let right = e.xor(difference, wrong);
    e.sign(right)
}

/// The bits of infinity.
const INFINITY: i32 = 0x7f80_0000;

/// The sign of an integer: set where the float is no number.
fn sign_of_nan(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let magnitude = e.fabs(a);
    let bits = e.bits(magnitude);
    e.int_isub(INFINITY, bits)
}

fn float_less(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Mask {
    let (x, y) = (e.floats(a), e.floats(b));
    let is_zero = |x: Option<f32>| x == Some(0.0);
    if is_zero(e.float_constant(b)) {
        // A NaN from outside may have any sign, that of a sum has none.
        if !x.negative_zero && !x.nan {
            return Mask::plain(e.fsign(a));
        }
        let zero = e.float(0.0);
        let positive = e.fadd(a, zero);
        return Mask::plain(e.fsign(positive));
    }
    if is_zero(e.float_constant(a)) {
        let zero = e.float(0.0);
        let difference = e.fsub(zero, b);
        return Mask::plain(e.fsign(difference));
    }
    let difference = difference(e, a, b, x.negative_zero && y.lo <= 0.0 && y.hi >= 0.0);
    Mask::plain(e.fsign(difference))
}

/// `a - b`, and no -0. `zeros_meet` says whether it may be one: only -0 - +0 is.
fn difference(e: &mut Emitter<'_, '_>, a: Value, b: Value, zeros_meet: bool) -> Value {
    let difference = e.fsub(a, b);
    if !zeros_meet {
        return difference;
    }
    let zero = e.float(0.0);
    e.fadd(difference, zero)
}

/// Where `a >= b`.
fn float_at_least(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Mask {
    let (x, y) = (e.floats(a), e.floats(b));
    if !x.nan && !y.nan {
        return float_less(e, a, b).opposite();
    }
    let zeros_meet = x.negative_zero && y.lo <= 0.0 && y.hi >= 0.0;
    let difference = difference(e, a, b, zeros_meet);
    let bits = e.bits(difference);
    // Not a NaN either: a sum of squares is one where an operand is, and has no sign.
    let squares = match (x.nan, y.nan) {
        (true, true) => {
            let square = e.fmul(a, a);
            e.mac(b, b, square)
        }
        (true, false) => e.fmul(a, a),
        (false, _) => e.fmul(b, b),
    };
    let squares = e.bits(squares);
    let nan = e.int_isub(INFINITY, squares);
    let either = e.or(bits, nan);
    Mask::plain(e.sign(either)).opposite()
}

fn float_equal(e: &mut Emitter<'_, '_>, a: Value, b: Value, wanted: bool) -> Mask {
    if e.float_constant(b).is_none() && e.float_constant(a).is_some() {
        return float_equal(e, b, a, wanted);
    }
    let (x, y) = (e.floats(a), e.floats(b));
    if a == b {
        if !x.nan {
            return always(e, wanted);
        }
        let sign = sign_of_nan(e, a);
        let nan = Mask::plain(e.sign(sign));
        return if wanted { nan.opposite() } else { nan };
    }
    if e.float_constant(b).is_some_and(f32::is_nan) {
        return always(e, !wanted);
    }
    let difference = if e.float_constant(b) == Some(0.0) {
        let bits = e.bits(a);
        e.shl(bits, 1)
    } else if e.float_constant(b).is_some() {
        let (a, b) = (e.bits(a), e.bits(b));
        e.xor(a, b)
    } else if x.is_finite() || y.is_finite() {
        // Not a difference of equal infinities: zero exactly of equal numbers.
        let difference = e.fsub(a, b);
        let bits = e.bits(difference);
        e.shl(bits, 1)
    } else {
        let (first, second) = (e.without_negative_zero(a), e.without_negative_zero(b));
        let (first, second) = (e.bits(first), e.bits(second));
        e.xor(first, second)
    };
    let by_bits = e.float_constant(b).is_none() && !x.is_finite() && !y.is_finite();
    if by_bits && x.nan && y.nan {
        // A sign that a number has, kept where the bits are the same.
        let magnitude = e.fabs(b);
        let bits = e.bits(magnitude);
        let number = e.iadd_int(bits, -(INFINITY + 1));
        let equal = e.binary(BinaryOp::Lshr, number, difference);
        let mask = Mask::plain(e.sign(equal));
        return if wanted { mask } else { mask.opposite() };
    }
    zero(e, difference, wanted)
}
