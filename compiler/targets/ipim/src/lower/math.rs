//! Integer arithmetic on small scalars, in the operations that every register file has.

use nbcc_ir::{BinaryOp, Builder, Type, Value};

/// `value * factor`.
pub fn times(b: &mut Builder<'_>, value: Value, factor: i64) -> Value {
    match factor {
        0 if !b.keeps_identities() => b.i32(0),
        _ => b.imul_imm(value, factor as i32),
    }
}

/// `value + constant`.
pub fn plus(b: &mut Builder<'_>, value: Value, constant: i64) -> Value {
    b.iadd_imm(value, constant as i32)
}

/// All ones where `a < b`, else zero; both within 31 bits of each other.
pub fn less_mask(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let difference = b.binary(BinaryOp::Isub, x, y);
    let amount = b.i32(31);
    b.binary(BinaryOp::Ashr, difference, amount)
}

/// The lesser of two values within 31 bits of each other.
pub fn min(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let difference = b.binary(BinaryOp::Isub, x, y);
    let amount = b.i32(31);
    let mask = b.binary(BinaryOp::Ashr, difference, amount);
    let kept = b.binary(BinaryOp::And, difference, mask);
    b.iadd(y, kept)
}

/// The greater of two values within 31 bits of each other.
pub fn max(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let difference = b.binary(BinaryOp::Isub, x, y);
    let amount = b.i32(31);
    let mask = b.binary(BinaryOp::Ashr, difference, amount);
    let kept = b.binary(BinaryOp::And, difference, mask);
    b.binary(BinaryOp::Isub, x, kept)
}

/// `value` limited to `low..=high`, the limits constants.
pub fn clamp(b: &mut Builder<'_>, value: Value, low: i64, high: i64) -> Value {
    let low = b.i32(low as i32);
    let high = b.i32(high as i32);
    let at_most = min(b, value, high);
    max(b, at_most, low)
}

/// A value that lies in `known`, limited to `low..=high`.
pub fn limit(
    b: &mut Builder<'_>,
    value: Value,
    known: (i64, i64),
    (low, high): (i64, i64),
) -> Value {
    let all = b.keeps_identities();
    let mut value = value;
    if known.1 > high || all {
        let high = b.i32(high as i32);
        value = min(b, value, high);
    }
    if known.0 < low || all {
        let low = b.i32(low as i32);
        value = max(b, value, low);
    }
    value
}

/// `chosen` where the mask is all ones, `other` where it is zero.
pub fn choose(b: &mut Builder<'_>, mask: Value, chosen: Value, other: Value) -> Value {
    let differing = b.binary(BinaryOp::Xor, chosen, other);
    let kept = b.binary(BinaryOp::And, differing, mask);
    b.binary(BinaryOp::Xor, other, kept)
}

/// Quotient and remainder of `value` by a constant, for `0 <= value <= most`.
///
/// A power of two is a shift. Else the quotient is `value * m >> s` with `m = ceil(2^s / d)`, exact
/// where `(m * d - 2^s) * most < 2^s` (Granlund and Montgomery, "Division by invariant integers
/// using multiplication", PLDI 1994, with the product in 31 bits). The latter is what every divisor
/// has in code that is to be the same for all.
pub fn div_rem(b: &mut Builder<'_>, value: Value, d: u32, most: u32) -> (Value, Value) {
    if d == 1 && !b.keeps_identities() {
        return (value, b.i32(0));
    }
    if d.is_power_of_two() && !b.keeps_identities() {
        let amount = b.i32(d.trailing_zeros() as i32);
        let mask = b.i32(d as i32 - 1);
        return (b.binary(BinaryOp::Lshr, value, amount), b.binary(BinaryOp::And, value, mask));
    }
    let (d64, most64) = (u64::from(d), u64::from(most));
    let exact = |s: &u32| {
        if d.is_power_of_two() {
            return *s == d.trailing_zeros();
        }
        let m = (1u64 << s).div_ceil(d64);
        *s > 0 && m * most64 < 1 << 31 && (m * d64 - (1 << s)) * most64 < 1 << s
    };
    let quotient = match (0..=30).find(exact) {
        Some(s) => {
            let product = b.imul_imm(value, (1u64 << s).div_ceil(d64) as i32);
            let amount = b.i32(s as i32);
            b.binary(BinaryOp::Lshr, product, amount)
        }
        // Wide ranges: take the quotient in two digits of 15 bits.
        None => long_division(b, value, d),
    };
    let whole = b.imul_imm(quotient, d as i32);
    (quotient, b.binary(BinaryOp::Isub, value, whole))
}

/// Restoring division, one bit of the quotient at a time.
fn long_division(b: &mut Builder<'_>, value: Value, d: u32) -> Value {
    let mut rest = value;
    let mut quotient = b.i32(0);
    for bit in (0..31 - d.ilog2()).rev() {
        if u64::from(d) << bit > i32::MAX as u64 {
            continue;
        }
        let part = b.i32((d << bit) as i32);
        let less = less_mask(b, rest, part);
        let ones = b.i32(-1);
        let fits = b.binary(BinaryOp::Xor, less, ones);
        let taken = b.binary(BinaryOp::And, part, fits);
        rest = b.binary(BinaryOp::Isub, rest, taken);
        let digit = b.i32(1 << bit);
        let digit = b.binary(BinaryOp::And, digit, fits);
        quotient = b.binary(BinaryOp::Or, quotient, digit);
    }
    quotient
}

/// A vector of 0, 1, 2, 3.
pub fn ramp(b: &mut Builder<'_>, lanes: u8) -> Value {
    let bits = (0..u64::from(lanes)).collect();
    let ty = Type::I32.with_lanes(lanes);
    b.value(nbcc_ir::Op::Const(ty, nbcc_ir::Constant::Lanes(bits)))
}
