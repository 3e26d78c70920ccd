//! Quotients and remainders of words as products and shifts (Granlund, Montgomery, "Division by invariant
//! integers using multiplication", PLDI 1994): arrays have no division, and the core's takes long. Divisors
//! are constants, or known before a loop ([`super::divisors`]); numbers may have 64 bits
//! ([`super::long_divisions`]).

use nbcc_analysis::ValueRanges;
use nbcc_ir::{
    BinaryOp, Block, Builder, ConvertOp, Function, Inst, IntCond, Op, Replacements, Type, Value,
};

use super::long_divisions::{self, LongDivisor};
use crate::arrays::facts::evolution::reciprocal;

/// Numbers of 15 bits have quotients by a product of words.
const MAX_NUMERATOR: i64 = (1 << 15) - 1;

/// Magnitudes of 16 bits have quotients by products of halves.
const HALF: i64 = (1 << 16) - 1;

/// What a quotient is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Of a power of two.
    Shift {
        amount: u32,
        /// Whether the number may be negative.
        is_signed: bool,
    },
    /// A factor and a shift.
    Product {
        by: u32,
        amount: u32,
        /// Whether the number may be negative.
        is_signed: bool,
    },
    /// The high word of a product with a factor whose 32 bits are no sign, and a shift: of numbers of
    /// 31 bits and a sign.
    High {
        by: u32,
        amount: u32,
        /// Whether the number may be negative.
        is_signed: bool,
    },
    /// The same of numbers of 32 bits without a sign, of which the quotient is that, or one more.
    Wide { by: u32 },
    /// Of a number of 64 bits.
    Long(LongDivisor),
    /// The high word, or half, of a product with [`Divisor::reciprocal`]: that, or one more.
    Near {
        by: Divisor,
        /// Whether the number may be negative.
        is_signed: bool,
        /// Whether magnitudes have 16 bits.
        is_half: bool,
    },
}

/// A divisor of which nothing but that it is not 0 is known before the program runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    /// Its magnitude.
    pub size: Value,
    /// Its sign in all bits, where it may have one.
    pub sign: Option<Value>,
    /// The greatest word, or half, without a sign over the magnitude.
    pub reciprocal: Value,
}

/// A division, what it is made of, and whether the quotient changes its sign.
pub(super) type Found = (Block, Inst, Way, bool);

/// Replaces divisions by constants in all blocks; whether there were some.
pub fn run(func: &mut Function) -> bool {
    let mut found: Vec<Found> = Vec::new();
    let ranges = ValueRanges::new(func);
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            found.extend(way(func, &ranges, inst).map(|(way, turns)| (block, inst, way, turns)));
        }
    }
    drop(ranges);
    replace(func, &found);
    !found.is_empty()
}

/// The quotient or remainder of words that an instruction makes, and whether words have signs.
pub(super) fn division(func: &Function, inst: Inst) -> Option<(Value, Value, bool)> {
    let Op::Binary(op, number, by) = func.insts[inst].op else { return None };
    let signed = match op {
        BinaryOp::Sdiv | BinaryOp::Srem => true,
        BinaryOp::Udiv | BinaryOp::Urem => false,
        _ => return None,
    };
    (func.ty(number) == Type::I32).then_some((number, by, signed))
}

/// Makes divisions of what was found.
pub(super) fn replace(func: &mut Function, found: &[Found]) {
    let mut names = Replacements::new();
    for &(block, inst, way, turns) in found {
        let Op::Binary(op, number, by) = func.insts[inst].op else { continue };
        let (number, by) = (names.resolve(number), names.resolve(by));
        let Some(at) = func.blocks[block].insts.iter().position(|&other| other == inst) else {
            continue;
        };
        let behind = func.blocks[block].insts.split_off(at + 1);
        let span = func.insts[inst].span;
        let mut b = Builder::at(func, block);
        b.set_span(span);
        let is_rest = matches!(op, BinaryOp::Srem | BinaryOp::Urem);
        let new = match way {
            Way::Wide { by } => {
                let [size, reciprocal] = [by, u32::MAX / by].map(|word| b.i32(word as i32));
                let by = Divisor { size, sign: None, reciprocal };
                near(&mut b, number, by, (false, false), is_rest)
            }
            Way::Near { by, is_signed, is_half } => {
                near(&mut b, number, by, (is_signed, is_half), is_rest)
            }
            Way::Long(by) => long_divisions::divide(&mut b, number, by, is_rest),
            way => {
                let mut new = quotient(&mut b, number, way);
                if turns {
                    new = b.unary(nbcc_ir::UnaryOp::Ineg, new);
                }
                if is_rest {
                    let whole = b.imul(new, by);
                    new = b.binary(BinaryOp::Isub, number, whole);
                }
                new
            }
        };
        names.replace(func.insts[inst].results[0], new);
        func.blocks[block].insts.retain(|&other| other != inst);
        func.blocks[block].insts.extend(behind);
    }
    names.apply(func);
}

fn way(func: &Function, ranges: &ValueRanges<'_>, inst: Inst) -> Option<(Way, bool)> {
    if let Some(by) = long_divisions::divisor(func, inst) {
        return Some((Way::Long(by), false));
    }
    let (number, by, signed) = division(func, inst)?;
    let bits = func.splat_constant(by)? as u32;
    let turns = signed && (bits as i32) < 0;
    let by = if turns { bits.wrapping_neg() } else { bits };
    if by < 2 {
        return None;
    }
    let is_small = ranges.fits(number, 0, i32::MAX.into());
    if !signed && !is_small && !by.is_power_of_two() {
        return Some((Way::Wide { by }, false));
    }
    if by > i32::MAX as u32 {
        return None;
    }
    let is_signed = signed && !is_small;
    if by.is_power_of_two() {
        return Some((Way::Shift { amount: by.trailing_zeros(), is_signed }, turns));
    }
    let least = if is_signed { -MAX_NUMERATOR } else { 0 };
    if let Some((by, amount)) = reciprocal(by, MAX_NUMERATOR as u32 + 1)
        && ranges.fits(number, least, MAX_NUMERATOR)
    {
        return Some((Way::Product { by, amount, is_signed }, turns));
    }
    // Of d with 2^(l-1) < d <= 2^l the factor is 2^(31+l) / d, rounded up: less than d too large in 2^(31+l),
    // which makes less than 1/d of a quotient of 31 bits.
    let amount = 31 - (by - 1).leading_zeros();
    let factor = (1u64 << (32 + amount)) / u64::from(by) + 1;
    Some((Way::High { by: factor as u32, amount, is_signed }, turns))
}

/// A number shifted by a constant.
pub(super) fn shift(b: &mut Builder<'_>, op: BinaryOp, value: Value, amount: u32) -> Value {
    if amount == 0 {
        return value;
    }
    let amount = b.constant(b.func.ty(value), amount.into());
    b.binary(op, value, amount)
}

/// The high word of a product.
fn high(b: &mut Builder<'_>, [x, y]: [Value; 2], extend: ConvertOp) -> Value {
    let [x, y] = [x, y].map(|word| b.convert(extend, word, Type::I64));
    let product = b.imul(x, y);
    let amount = b.constant(Type::I64, 32);
    let down = b.binary(BinaryOp::Lshr, product, amount);
    b.convert(ConvertOp::Truncate, down, Type::I32)
}

/// A number, or what it is under the other sign.
pub(super) fn turned(b: &mut Builder<'_>, word: Value, signs: Option<Value>) -> Value {
    let Some(signs) = signs else { return word };
    let flipped = b.binary(BinaryOp::Xor, word, signs);
    b.binary(BinaryOp::Isub, flipped, signs)
}

/// The quotient of a number.
pub(super) fn quotient(b: &mut Builder<'_>, number: Value, way: Way) -> Value {
    match way {
        Way::Shift { amount, is_signed: false } => shift(b, BinaryOp::Lshr, number, amount),
        Way::Shift { amount, .. } => {
            // Quotients of negative numbers are rounded up.
            let bits = b.func.ty(number).scalar.bits();
            let signs = shift(b, BinaryOp::Ashr, number, bits - 1);
            let more = shift(b, BinaryOp::Lshr, signs, bits - amount);
            let sum = b.iadd(number, more);
            shift(b, BinaryOp::Ashr, sum, amount)
        }
        Way::Product { by, amount, is_signed } => {
            let signs = is_signed.then(|| shift(b, BinaryOp::Ashr, number, 31));
            let size = turned(b, number, signs);
            let scaled = b.imul_imm(size, by as i32);
            let quotient = shift(b, BinaryOp::Lshr, scaled, amount);
            turned(b, quotient, signs)
        }
        Way::High { by, amount, is_signed } => {
            // As a signed word the factor is 2^32 less.
            let factor = b.i32(by as i32);
            let product = high(b, [number, factor], ConvertOp::SignExtend);
            let whole = b.iadd(product, number);
            let op = if is_signed { BinaryOp::Ashr } else { BinaryOp::Lshr };
            let quotient = shift(b, op, whole, amount);
            if !is_signed {
                return quotient;
            }
            // Quotients of negative numbers are rounded up.
            let signs = shift(b, BinaryOp::Ashr, number, 31);
            b.binary(BinaryOp::Isub, quotient, signs)
        }
        Way::Wide { .. } | Way::Near { .. } | Way::Long(_) => {
            unreachable!("made with its remainder")
        }
    }
}

/// The quotient or remainder by a divisor whose reciprocal was rounded down: with r = (2^32 - 1) / d, or less by
/// less than 1, n r / 2^32 is less than n / d by less than 1, so that the quotient is its whole part or one more.
/// The same of halves, where a divisor of more makes a quotient of 0.
fn near(
    b: &mut Builder<'_>,
    number: Value,
    by: Divisor,
    (is_signed, is_half): (bool, bool),
    is_rest: bool,
) -> Value {
    let signs = is_signed.then(|| shift(b, BinaryOp::Ashr, number, 31));
    let mut size = turned(b, number, signs);
    let mut whole = by.size;
    let least = match is_half {
        true => {
            let half = b.i32(HALF as i32);
            if is_signed {
                size = b.binary(BinaryOp::And, size, half);
            }
            whole = b.binary(BinaryOp::And, whole, half);
            let product = b.imul(size, by.reciprocal);
            shift(b, BinaryOp::Lshr, product, 16)
        }
        false => high(b, [size, by.reciprocal], ConvertOp::ZeroExtend),
    };
    let taken = b.imul(least, whole);
    let rest = b.binary(BinaryOp::Isub, size, taken);
    let is_more = b.value(Op::Icmp(IntCond::Uge, rest, by.size));
    if is_rest {
        let less = b.binary(BinaryOp::Isub, rest, by.size);
        let rest = b.value(Op::Select(is_more, less, rest));
        return turned(b, rest, signs);
    }
    let one = b.i32(1);
    let more = b.iadd(least, one);
    let quotient = b.value(Op::Select(is_more, more, least));
    let signs = match (signs, by.sign) {
        (Some(one), Some(other)) => Some(b.binary(BinaryOp::Xor, one, other)),
        (one, other) => one.or(other),
    };
    turned(b, quotient, signs)
}

/// Whether a number may be negative, and whether its magnitude has 16 bits.
pub(super) fn magnitude(ranges: &ValueRanges<'_>, number: Value, signed: bool) -> (bool, bool) {
    let is_signed = signed && !ranges.fits(number, 0, i32::MAX.into());
    (is_signed, ranges.fits(number, if is_signed { -HALF } else { 0 }, HALF))
}

/// What numbers are divided by, made of a divisor that is not 0.
pub(super) fn divisor(b: &mut Builder<'_>, by: Value, is_signed: bool, is_half: bool) -> Divisor {
    let sign = is_signed.then(|| shift(b, BinaryOp::Ashr, by, 31));
    let size = turned(b, by, sign);
    let most = b.i32(if is_half { HALF as i32 } else { -1 });
    let reciprocal = b.binary(BinaryOp::Udiv, most, size);
    let reciprocal = match is_half {
        true => b.binary(BinaryOp::And, reciprocal, most),
        false => reciprocal,
    };
    Divisor { size, sign, reciprocal }
}
