//! 64-bit division: the core divides words. Where both operands fit one, it does; else a restoring
//! division makes a bit of the quotient at a time (Knuth, "The Art of Computer Programming", volume 2,
//! section 4.3.1, in base 2). Signed operands are divided by their magnitudes.

use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, Builder, ConvertOp, Function, IntCond, LoopInfo, Op, Terminator, Type,
    UnaryOp, Value, ValueDef,
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
    let [trap, divide, short, long, step, done] = [(); 6].map(|()| func.add_block());
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

    let counter = func.add_param(step, Type::I32);
    let bits = func.add_param(step, Type::I64);
    let rest = func.add_param(step, Type::I64);
    func.blocks[step].loop_info = Some(LoopInfo {
        name: "division".into(),
        trips: Some(64),
        counter: Some(nbcc_ir::Counter { value: counter, step: 1 }),
    });
    let mut b3 = builder(func, long, span);
    let (first, empty) = (b3.i32(0), b3.constant(Type::I64, 0));
    b3.jump(step, vec![first, n, empty]);
    let mut b4 = builder(func, step, span);
    let one = b4.constant(Type::I64, 1);
    let zero = b4.constant(Type::I64, 0);
    // A bit of the dividend moves into the rest, one of the quotient in where it was. What moves out
    // of the rest makes it greater than any divisor.
    let out = b4.value(Op::Icmp(IntCond::Slt, rest, zero));
    let next_bit = b4.value(Op::Icmp(IntCond::Slt, bits, zero));
    let next_bit = b4.convert(ConvertOp::ZeroExtend, next_bit, Type::I64);
    let shifted = b4.binary(BinaryOp::Shl, rest, one);
    let rest2 = b4.binary(BinaryOp::Or, shifted, next_bit);
    let enough = b4.value(Op::Icmp(IntCond::Uge, rest2, d));
    let enough = b4.binary(BinaryOp::Or, out, enough);
    let less = b4.binary(BinaryOp::Isub, rest2, d);
    let rest3 = b4.value(Op::Select(enough, less, rest2));
    let quotient = b4.convert(ConvertOp::ZeroExtend, enough, Type::I64);
    let shifted = b4.binary(BinaryOp::Shl, bits, one);
    let bits2 = b4.binary(BinaryOp::Or, shifted, quotient);
    let next = b4.iadd_imm(counter, 1);
    let all = b4.i32(64);
    let again = b4.value(Op::Icmp(IntCond::Ne, next, all));
    let result = if remainder { rest3 } else { bits2 };
    b4.terminate(Terminator::Branch(
        again,
        nbcc_ir::BlockCall { block: step, args: vec![next, bits2, rest3] },
        nbcc_ir::BlockCall { block: done, args: vec![result] },
    ));

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
