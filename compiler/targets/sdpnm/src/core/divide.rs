//! 64-bit division: the core divides words. Where both operands fit one, it does; else the divisor is
//! shifted until its highest bit is set, and digits of 16 bits of the quotient are estimated by dividing by
//! the higher half of it, at most two too large each (Knuth, "The Art of Computer Programming", volume 2,
//! section 4.3.1, algorithm D). A divisor of more than a word is divided by as its highest 32 bits, and what
//! comes out, one too large at most, is taken one less and looked at (Warren, "Hacker's Delight", section
//! 9-5). Signed operands are divided by their magnitudes.

use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, Builder, ConvertOp, Function, IntCond, Op, Terminator, Type, UnaryOp, Value,
    ValueDef,
};

use super::NO_RESULT;

/// Makes loops of every 64-bit quotient and remainder; how many there were.
pub fn run(func: &mut Function) -> u32 {
    let mut count = 0;
    let mut number = 0;
    while let Some(&block) = func.layout.get(number) {
        number += 1;
        let found = func.blocks[block].insts.iter().position(|&inst| wide(func, inst).is_some());
        let Some(at) = found else { continue };
        count += 1;
        expand(func, block, at);
    }
    count
}

/// The operation and its operands, where it is one to expand.
fn wide(func: &Function, inst: nbcc_ir::Inst) -> Option<(BinaryOp, Value, Value)> {
    use BinaryOp::{Sdiv, Srem, Udiv, Urem};
    match func.insts[inst].op {
        Op::Binary(op @ (Sdiv | Srem | Udiv | Urem), a, b) if func.ty(a) == Type::I64 => {
            Some((op, a, b))
        }
        _ => None,
    }
}

/// Splits a block at a division, whose result becomes a parameter of what follows.
fn expand(func: &mut Function, block: Block, at: usize) {
    let inst = func.blocks[block].insts[at];
    let (op, a, b) = wide(func, inst).expect("a division");
    let span = func.insts[inst].span;
    let after = func.add_block();
    // Behind the block, so that the rest of it is looked at next.
    func.layout.pop();
    let place = func.layout.iter().position(|&other| other == block).unwrap_or(0);
    func.layout.insert(place + 1, after);
    let rest = func.blocks[block].insts.split_off(at);
    func.blocks[after].insts = rest[1..].to_vec();
    func.blocks[after].terminator = func.blocks[block].terminator.take();
    func.blocks[after].span = func.blocks[block].span;
    let result = func.insts[inst].results[0];
    func.insts[inst].results.clear();
    func.blocks[after].params.push(result);
    func.values[result].def = ValueDef::Param(after, 0);
    let signed = matches!(op, BinaryOp::Sdiv | BinaryOp::Srem);
    let remainder = matches!(op, BinaryOp::Srem | BinaryOp::Urem);
    build(func, block, after, span, [a, b], signed, remainder);
}

/// A builder at the end of a block, for instructions of one place in the source.
fn builder(func: &mut Function, block: Block, span: Option<Span>) -> Builder<'_> {
    let mut builder = Builder::at(func, block);
    builder.set_span(span);
    builder
}

fn build(
    func: &mut Function,
    block: Block,
    after: Block,
    span: Option<Span>,
    [a, b]: [Value; 2],
    signed: bool,
    remainder: bool,
) {
    let [trap, divide, short, long, by_word, by_words, done] = [(); 7].map(|()| func.add_block());
    let branch = |b: &mut Builder<'_>, on, then, other| {
        let to = |block| nbcc_ir::BlockCall { block, args: vec![] };
        b.terminate(Terminator::Branch(on, to(then), to(other)));
    };
    let mut b0 = builder(func, block, span);
    let zero = b0.constant(Type::I64, 0);
    let is_zero = b0.value(Op::Icmp(IntCond::Eq, b, zero));
    branch(&mut b0, is_zero, trap, divide);
    builder(func, trap, span).terminate(Terminator::Trap(NO_RESULT.to_string()));

    let mut b1 = builder(func, divide, span);
    let mut magnitude = |value: Value| {
        let zero = b1.constant(Type::I64, 0);
        let negative = b1.value(Op::Icmp(IntCond::Slt, value, zero));
        let minus = b1.unary(UnaryOp::Ineg, value);
        (b1.value(Op::Select(negative, minus, value)), Some(negative))
    };
    let (n, a_negative) = if signed { magnitude(a) } else { (a, None) };
    let (d, b_negative) = if signed { magnitude(b) } else { (b, None) };
    let both = b1.binary(BinaryOp::Or, n, d);
    let width = b1.constant(Type::I64, 32);
    let high = b1.binary(BinaryOp::Lshr, both, width);
    let high = b1.convert(ConvertOp::Truncate, high, Type::I32);
    let zero = b1.i32(0);
    let fits = b1.value(Op::Icmp(IntCond::Eq, high, zero));
    branch(&mut b1, fits, short, long);

    // The magnitude of the result.
    let unsigned = func.add_param(done, Type::I64);
    let mut b2 = builder(func, short, span);
    let [n32, d32] = [n, d].map(|value| b2.convert(ConvertOp::Truncate, value, Type::I32));
    let op = if remainder { BinaryOp::Urem } else { BinaryOp::Udiv };
    let word = b2.binary(op, n32, d32);
    let word = b2.convert(ConvertOp::ZeroExtend, word, Type::I64);
    b2.jump(done, vec![word]);

    let mut b3 = builder(func, long, span);
    let [low, divisor] = [n, d].map(|value| b3.convert(ConvertOp::Truncate, value, Type::I32));
    let [high, divisor_high] = [n, d].map(|value| {
        let high = b3.binary(BinaryOp::Lshr, value, width);
        b3.convert(ConvertOp::Truncate, high, Type::I32)
    });
    let is_word = b3.value(Op::Icmp(IntCond::Eq, divisor_high, zero));
    branch(&mut b3, is_word, by_word, by_words);

    let mut b4 = builder(func, by_word, span);
    let result = divided_by_word(&mut b4, [high, low], divisor, remainder);
    b4.jump(done, vec![result]);

    let mut b4 = builder(func, by_words, span);
    let result = divided_by_words(&mut b4, n, d, [divisor_high, divisor], remainder);
    b4.jump(done, vec![result]);

    let mut b5 = builder(func, done, span);
    let result = match (a_negative, b_negative) {
        (Some(a_negative), Some(b_negative)) => {
            let negative = match remainder {
                true => a_negative,
                false => b5.binary(BinaryOp::Xor, a_negative, b_negative),
            };
            let minus = b5.unary(UnaryOp::Ineg, unsigned);
            b5.value(Op::Select(negative, minus, unsigned))
        }
        _ => unsigned,
    };
    b5.jump(after, vec![result]);
}

/// The quotient or the remainder of two words by one.
fn divided_by_word(
    b: &mut Builder<'_>,
    [high, low]: [Value; 2],
    divisor: Value,
    remainder: bool,
) -> Value {
    let first = b.binary(BinaryOp::Udiv, high, divisor);
    let taken = b.binary(BinaryOp::Imul, first, divisor);
    let rest = b.binary(BinaryOp::Isub, high, taken);
    let (divisor, shift) = normalised(b, divisor);
    let rest = b.binary(BinaryOp::Shl, rest, shift);
    let moved = shifted_out(b, low, shift);
    let rest = b.binary(BinaryOp::Or, rest, moved);
    let low = b.binary(BinaryOp::Shl, low, shift);
    let (second, rest) = digits(b, [rest, low], divisor);
    if remainder {
        let rest = b.binary(BinaryOp::Lshr, rest, shift);
        return b.convert(ConvertOp::ZeroExtend, rest, Type::I64);
    }
    let [first, second] =
        [first, second].map(|digit| b.convert(ConvertOp::ZeroExtend, digit, Type::I64));
    let width = b.constant(Type::I64, 32);
    let first = b.binary(BinaryOp::Shl, first, width);
    b.binary(BinaryOp::Or, first, second)
}

/// The quotient or the remainder of two words by two, of which the higher one is not 0.
fn divided_by_words(
    b: &mut Builder<'_>,
    n: Value,
    d: Value,
    [high, low]: [Value; 2],
    remainder: bool,
) -> Value {
    let (high, shift) = normalised(b, high);
    let moved = shifted_out(b, low, shift);
    let divisor = b.binary(BinaryOp::Or, high, moved);
    let (one, width) = (b.constant(Type::I64, 1), b.constant(Type::I64, 32));
    let half = b.binary(BinaryOp::Lshr, n, one);
    let half_high = b.binary(BinaryOp::Lshr, half, width);
    let halves = [half_high, half].map(|word| b.convert(ConvertOp::Truncate, word, Type::I32));
    let (about, _) = digits(b, halves, divisor);
    let (zero, all) = (b.i32(0), b.i32(31));
    let back = b.binary(BinaryOp::Xor, shift, all);
    let about = b.binary(BinaryOp::Lshr, about, back);
    let some = b.value(Op::Icmp(IntCond::Ne, about, zero));
    let some = b.convert(ConvertOp::ZeroExtend, some, Type::I32);
    let least = b.binary(BinaryOp::Isub, about, some);
    let least = b.convert(ConvertOp::ZeroExtend, least, Type::I64);
    let taken = b.binary(BinaryOp::Imul, least, d);
    let rest = b.binary(BinaryOp::Isub, n, taken);
    let one_more = b.value(Op::Icmp(IntCond::Uge, rest, d));
    if remainder {
        let less = b.binary(BinaryOp::Isub, rest, d);
        return b.value(Op::Select(one_more, less, rest));
    }
    let one_more = b.convert(ConvertOp::ZeroExtend, one_more, Type::I64);
    b.binary(BinaryOp::Iadd, least, one_more)
}

/// A word that is not 0, shifted until its highest bit is set; by how much.
fn normalised(b: &mut Builder<'_>, mut word: Value) -> (Value, Value) {
    let mut shift = None;
    for log in (0..5).rev() {
        let least = b.i32(1 << (32 - (1 << log)));
        let is_less = b.value(Op::Icmp(IntCond::Ult, word, least));
        let is_less = b.convert(ConvertOp::ZeroExtend, is_less, Type::I32);
        let log = b.i32(log);
        let by = b.binary(BinaryOp::Shl, is_less, log);
        word = b.binary(BinaryOp::Shl, word, by);
        shift = Some(shift.map_or(by, |shift| b.binary(BinaryOp::Iadd, shift, by)));
    }
    (word, shift.expect("five steps"))
}

/// What a shift to the left by up to 31 moves out of a word.
fn shifted_out(b: &mut Builder<'_>, word: Value, shift: Value) -> Value {
    let (one, all) = (b.i32(1), b.i32(31));
    let half = b.binary(BinaryOp::Lshr, word, one);
    let back = b.binary(BinaryOp::Xor, shift, all);
    b.binary(BinaryOp::Lshr, half, back)
}

/// Quotient and remainder of two words, of which the higher one is less than the divisor, whose highest
/// bit is set.
fn digits(b: &mut Builder<'_>, [high, low]: [Value; 2], divisor: Value) -> (Value, Value) {
    let (half, mask) = (b.i32(16), b.i32(0xffff));
    let divisor_high = b.binary(BinaryOp::Lshr, divisor, half);
    let divisor_low = b.binary(BinaryOp::And, divisor, mask);
    let digit = |b: &mut Builder<'_>, rest: Value, next: Value| {
        let mut quotient = b.binary(BinaryOp::Udiv, rest, divisor_high);
        let taken = b.binary(BinaryOp::Imul, quotient, divisor_high);
        let mut left = b.binary(BinaryOp::Isub, rest, taken);
        for is_second in [false, true] {
            // A product that does not fit is one of a digit that does not.
            let product = b.binary(BinaryOp::Imul, quotient, divisor_low);
            let shifted = b.binary(BinaryOp::Shl, left, half);
            let there = b.binary(BinaryOp::Or, shifted, next);
            let is_more = b.value(Op::Icmp(IntCond::Ugt, product, there));
            let is_wide = b.value(Op::Icmp(IntCond::Ugt, quotient, mask));
            let mut is_large = b.binary(BinaryOp::Or, is_more, is_wide);
            if is_second {
                let is_digit = b.value(Op::Icmp(IntCond::Ule, left, mask));
                is_large = b.binary(BinaryOp::And, is_large, is_digit);
            }
            let by = b.convert(ConvertOp::ZeroExtend, is_large, Type::I32);
            quotient = b.binary(BinaryOp::Isub, quotient, by);
            if !is_second {
                let more = b.binary(BinaryOp::Imul, by, divisor_high);
                left = b.binary(BinaryOp::Iadd, left, more);
            }
        }
        let shifted = b.binary(BinaryOp::Shl, rest, half);
        let there = b.binary(BinaryOp::Or, shifted, next);
        let taken = b.binary(BinaryOp::Imul, quotient, divisor);
        (quotient, b.binary(BinaryOp::Isub, there, taken))
    };
    let next = b.binary(BinaryOp::Lshr, low, half);
    let (first, rest) = digit(b, high, next);
    let next = b.binary(BinaryOp::And, low, mask);
    let (second, rest) = digit(b, rest, next);
    let first = b.binary(BinaryOp::Shl, first, half);
    (b.binary(BinaryOp::Or, first, second), rest)
}
