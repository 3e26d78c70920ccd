//! Quotients and remainders of numbers of 64 bits by constants, as products and shifts (Granlund, Montgomery,
//! "Division by invariant integers using multiplication", PLDI 1994, figures 4.1 and 5.2): the core divides
//! them bit by bit.

use nbcc_ir::{BinaryOp, Builder, ConvertOp, Function, Inst, Op, Type, Value};

use super::divisions::{Way, quotient, shift, turned};

/// A divisor of 2 at least, or of -2 at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongDivisor {
    /// Its magnitude.
    size: u64,
    /// Whether numbers have signs.
    is_signed: bool,
    /// Whether the quotient changes its sign.
    turns: bool,
}

/// What a division of numbers of 64 bits divides by, if that is such a constant.
pub(super) fn divisor(func: &Function, inst: Inst) -> Option<LongDivisor> {
    let Op::Binary(op, number, by) = func.insts[inst].op else { return None };
    let is_signed = match op {
        BinaryOp::Sdiv | BinaryOp::Srem => true,
        BinaryOp::Udiv | BinaryOp::Urem => false,
        _ => return None,
    };
    let bits = func.splat_constant(by).filter(|_| func.ty(number) == Type::I64)?;
    let turns = is_signed && (bits as i64) < 0;
    let size = if turns { bits.wrapping_neg() } else { bits };
    (size >= 2).then_some(LongDivisor { size, is_signed, turns })
}

/// The quotient or the remainder of a number.
pub(super) fn divide(b: &mut Builder<'_>, number: Value, by: LongDivisor, is_rest: bool) -> Value {
    let quotient = match by.size.is_power_of_two() {
        true => {
            let (amount, is_signed) = (by.size.trailing_zeros(), by.is_signed);
            quotient(b, number, Way::Shift { amount, is_signed })
        }
        false => {
            let signs = by.is_signed.then(|| shift(b, BinaryOp::Ashr, number, 63));
            let size = turned(b, number, signs);
            let quotient = unsigned(b, size, by.size);
            turned(b, quotient, signs)
        }
    };
    if is_rest {
        let size = b.constant(Type::I64, by.size);
        let whole = b.imul(quotient, size);
        return b.binary(BinaryOp::Isub, number, whole);
    }
    if by.turns { b.unary(nbcc_ir::UnaryOp::Ineg, quotient) } else { quotient }
}

/// The quotient of a number without a sign by one of 2^(l-1) < d < 2^l: the factor is 2^(64+l) / d, rounded up,
/// less 2^64, which does not fit 64 bits.
fn unsigned(b: &mut Builder<'_>, number: Value, by: u64) -> Value {
    let length = 64 - by.leading_zeros();
    let above = (1_u128 << length) - u128::from(by);
    let factor = ((above << 64) / u128::from(by) + 1) as u64;
    let part = high(b, number, factor);
    let rest = b.binary(BinaryOp::Isub, number, part);
    let half = shift(b, BinaryOp::Lshr, rest, 1);
    let sum = b.iadd(part, half);
    shift(b, BinaryOp::Lshr, sum, length - 1)
}

/// The high 64 bits of a product, made of products of words.
fn high(b: &mut Builder<'_>, number: Value, factor: u64) -> Value {
    let top = shift(b, BinaryOp::Lshr, number, 32);
    let [low, top] = [number, top].map(|half| extended(b, half));
    let [small, large] =
        [factor as u32, (factor >> 32) as u32].map(|word| b.constant(Type::I64, u64::from(word)));
    let [least, one, other, most] =
        [(low, small), (low, large), (top, small), (top, large)].map(|(x, y)| b.imul(x, y));
    let carried = shift(b, BinaryOp::Lshr, least, 32);
    let [of_one, of_other] = [one, other].map(|product| extended(b, product));
    let middle = b.iadd(carried, of_one);
    let middle = b.iadd(middle, of_other);
    let parts = [middle, one, other].map(|part| shift(b, BinaryOp::Lshr, part, 32));
    parts.into_iter().fold(most, |sum, part| b.iadd(sum, part))
}

/// The low word of a number, without a sign.
fn extended(b: &mut Builder<'_>, number: Value) -> Value {
    let word = b.convert(ConvertOp::Truncate, number, Type::I32);
    b.convert(ConvertOp::ZeroExtend, word, Type::I64)
}
