//! Selection, minimum and maximum, by masks.

use nbcc_ir::{BinaryOp, Op, Value};

use super::compare;
use super::emitter::{Emitter, Mask};

/// `a` where the mask `cond` is set, else `b`.
pub fn select(e: &mut Emitter<'_, '_>, cond: Value, a: Value, b: Value) -> Value {
    let mask = e.mask_of(cond);
    choose(e, mask, a, b)
}

/// `a` where the mask holds, else `b`: integers or floats.
pub fn choose(e: &mut Emitter<'_, '_>, mask: Mask, a: Value, b: Value) -> Value {
    if a == b {
        return a;
    }
    let float = e.type_of(a).is_float();
    let (a, b) = if mask.inverted { (b, a) } else { (a, b) };
    match e.constant(mask.value) {
        Some(0) => return b,
        Some(_) if e.int_constant(mask.value) == Some(-1) => return a,
        _ => {}
    }
    if let Some(chosen) = related(e, mask.value, a, b) {
        return chosen;
    }
    let (x, y) = (e.bits(a), e.bits(b));
    let chosen = if e.int_constant(x) == Some(0) {
        let opposite = e.not(mask.value);
        e.and(opposite, y)
    } else if e.int_constant(x) == Some(-1) {
        e.or(mask.value, y)
    } else {
        let differing = e.xor(x, y);
        let kept = e.and(differing, mask.value);
        e.xor(kept, y)
    };
    if float { e.float_of(chosen) } else { chosen }
}

/// A choice between an integer and its opposite, or between it and its sum with another: the mask
/// changes the sign, or is what is added kept by.
fn related(e: &mut Emitter<'_, '_>, mask: Value, a: Value, b: Value) -> Option<Value> {
    let operands = |e: &Emitter<'_, '_>, wanted: BinaryOp, v: Value| match e.def(v) {
        Some(Op::Binary(op, x, y)) if *op == wanted => Some((*x, *y)),
        _ => None,
    };
    let opposite = |e: &Emitter<'_, '_>, v: Value, of: Value| match operands(e, BinaryOp::Isub, v) {
        Some((x, y)) => {
            (e.int_constant(x) == Some(0) && y == of)
                || operands(e, BinaryOp::Isub, of) == Some((y, x))
        }
        None => false,
    };
    if opposite(e, a, b) {
        let flipped = e.xor(b, mask);
        return Some(e.isub(flipped, mask));
    }
    if opposite(e, b, a) {
        let flipped = e.xor(a, mask);
        return Some(e.isub(mask, flipped));
    }
    let (x, y) = operands(e, BinaryOp::Iadd, a)?;
    let added = if x == b { y } else { x };
    if x != b && y != b {
        return None;
    }
    let kept = e.and(added, mask);
    Some(e.iadd(b, kept))
}

/// The lesser of two integers.
pub fn minimum(e: &mut Emitter<'_, '_>, signed: bool, a: Value, b: Value) -> Value {
    let (a, b) = constant_last(e, a, b);
    if let Some(lesser) = known_lesser(e, signed, a, b) {
        return lesser;
    }
    // a - b where that is negative, and b.
    let less = compare::less(e, signed, a, b);
    let excess = e.isub(a, b);
    let kept = masked(e, less, excess);
    e.iadd(b, kept)
}

/// The greater of two integers.
pub fn maximum(e: &mut Emitter<'_, '_>, signed: bool, a: Value, b: Value) -> Value {
    let (a, b) = constant_last(e, a, b);
    if let Some(lesser) = known_lesser(e, signed, a, b) {
        return if lesser == a { b } else { a };
    }
    let less = compare::less(e, signed, a, b);
    if e.int_constant(b) == Some(0) && signed {
        let kept = masked(e, less.opposite(), a);
        return kept;
    }
    let excess = e.isub(a, b);
    let kept = masked(e, less, excess);
    e.isub(a, kept)
}

fn constant_last(e: &Emitter<'_, '_>, a: Value, b: Value) -> (Value, Value) {
    if e.constant(a).is_some() { (b, a) } else { (a, b) }
}

/// The lesser of two integers, where their ranges tell.
fn known_lesser(e: &Emitter<'_, '_>, signed: bool, a: Value, b: Value) -> Option<Value> {
    let (x, y) = (e.interval(a), e.interval(b));
    let natural = x.is_natural() && y.is_natural();
    if !(signed || natural) {
        return None;
    }
    if x.hi <= y.lo {
        return Some(a);
    }
    (y.hi <= x.lo).then_some(b)
}

fn masked(e: &mut Emitter<'_, '_>, mask: Mask, a: Value) -> Value {
    let mask = e.mask_value(mask);
    e.and(a, mask)
}

/// `a` where it is less than `b`, else `b`.
pub fn float_minimum(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Value {
    let less = compare::floats(e, nbcc_ir::FloatCond::Lt, a, b);
    choose(e, less, a, b)
}

/// `a` where it is greater than `b`, else `b`.
pub fn float_maximum(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Value {
    let greater = compare::floats(e, nbcc_ir::FloatCond::Gt, a, b);
    choose(e, greater, a, b)
}
