//! Functions with control flow: truth values on edges, branches on them, and loop counters.

use nbcc_analysis::Lanes;
use nbcc_ir::{
    BinaryOp, BlockCall, Builder, ConvertOp, ExecutionModel, Function, IntCond, Op, Scalar,
    Terminator, Type, UnaryOp, Value,
};

use super::legal;

/// A function that carries a truth value over a branch, and branches on one that is data too.
fn with_truth_values_on_edges() -> Function {
    let mut func = Function::new("edges", ExecutionModel::Engines);
    let entry = func.entry();
    let (x, y) = (func.add_param(entry, Type::I32), func.add_param(entry, Type::I32));
    let (there, end) = (func.add_block(), func.add_block());
    let truth = func.add_param(end, Type::I1);
    let to = |block, args| BlockCall { block, args };

    let mut b = Builder::at(&mut func, entry);
    let less = b.value(Op::Icmp(IntCond::Slt, x, y));
    b.terminate(Terminator::Branch(less, to(there, vec![]), to(end, vec![less])));

    b.switch_to(there);
    let equal = b.value(Op::Icmp(IntCond::Eq, x, y));
    let two = b.i32(2);
    let above = b.value(Op::Icmp(IntCond::Ugt, x, two));
    let either = b.binary(BinaryOp::Or, equal, above);
    b.terminate(Terminator::Branch(either, to(end, vec![either]), to(end, vec![equal])));

    b.switch_to(end);
    let not = b.unary(UnaryOp::Not, truth);
    let number = b.convert(ConvertOp::ZeroExtend, not, Type::I32);
    let chosen = b.value(Op::Select(truth, x, y));
    let result = b.iadd(number, chosen);
    b.terminate(Terminator::Return(vec![result]));
    func.results = vec![Type::I32];
    func
}

#[test]
fn truth_values_cross_edges() {
    let func = with_truth_values_on_edges();
    let expanded = legal(&func);
    for (x, y) in [(0, 0), (1, 2), (2, 1), (3, 4), (-1, 0), (i32::MIN, i32::MAX), (7, -7)] {
        let args = [Lanes::i32(x), Lanes::i32(y)];
        let expected = nbcc_interp::function::eval(&func, &args);
        assert_eq!(nbcc_interp::function::eval(&expanded, &args), expected, "{x} {y}");
    }
}

#[test]
fn what_is_left_is_legal() {
    let func = legal(&with_truth_values_on_edges());
    for &block in &func.layout {
        let data = &func.blocks[block];
        assert!(data.params.iter().all(|&p| func.ty(p).scalar != Scalar::I1));
        for &inst in &data.insts {
            match &func.insts[inst].op {
                Op::Icmp(_, a, _) => assert_eq!(func.ty(*a), Type::I32),
                Op::Const(ty, _) => assert_ne!(ty.scalar, Scalar::I1),
                Op::Binary(..) => {}
                op => panic!("{op:?} is left"),
            }
        }
    }
}

/// Sums what `body` makes of the counter, and counts the operations of the loop.
fn loop_of(trips: u32, body: impl FnOnce(&mut Builder<'_>, Value) -> Value) -> Function {
    let mut func = Function::new("loop", ExecutionModel::Engines);
    let entry = func.entry();
    let mut b = Builder::at(&mut func, entry);
    let zero = b.i32(0);
    let sums = b.carried_loop("n", trips, vec![zero], |b, counter, sums| {
        let value = body(b, counter);
        vec![b.iadd(sums[0], value)]
    });
    b.terminate(Terminator::Return(sums));
    func.results = vec![Type::I32];
    func
}

/// A comparison with a loop's counter takes two operations, and a division of it two.
#[test]
fn counters_of_loops_are_known_to_be_small() {
    let compared = loop_of(100, |b, counter| {
        let limit = b.i32(17);
        let less = b.value(Op::Icmp(IntCond::Slt, counter, limit));
        b.convert(ConvertOp::ZeroExtend, less, Type::I32)
    });
    let divided = loop_of(100, |b, counter| {
        let divisor = b.i32(7);
        b.binary(BinaryOp::DivEuclid, counter, divisor)
    });
    for (func, operations) in [(&compared, 3), (&divided, 2)] {
        let expanded = legal(func);
        let expected = nbcc_interp::function::eval(func, &[]).unwrap();
        assert_eq!(nbcc_interp::function::eval(&expanded, &[]).unwrap(), expected);
        // The sum, the counter, and the comparison for the branch besides.
        assert_eq!(super::counts::operations(&expanded), operations + 3);
    }
}

/// What shifts to the top and back leave as it is goes without them, and nothing else does.
#[test]
fn integers_are_sign_extended_where_they_need_it() {
    let extend = |b: &mut Builder<'_>, value: Value, bits: u64| {
        let shift = b.constant(Type::I32, 32 - bits);
        let top = b.binary(BinaryOp::Shl, value, shift);
        b.binary(BinaryOp::Ashr, top, shift)
    };
    for (op, shifts_left) in [(BinaryOp::Smin, 2), (BinaryOp::Smax, 2), (BinaryOp::Iadd, 3)] {
        let mut func = Function::new("narrow", ExecutionModel::Engines);
        let entry = func.entry();
        let (x, y) = (func.add_param(entry, Type::I32), func.add_param(entry, Type::I32));
        let mut b = Builder::at(&mut func, entry);
        let (x, y) = (extend(&mut b, x, 8), extend(&mut b, y, 8));
        let both = b.binary(op, x, y);
        let result = extend(&mut b, both, 8);
        b.terminate(Terminator::Return(vec![result]));
        func.results = vec![Type::I32];
        let expanded = legal(&func);
        let insts = &expanded.blocks[expanded.entry()].insts;
        let shl = |&&inst: &&_| matches!(expanded.insts[inst].op, Op::Binary(BinaryOp::Shl, ..));
        assert_eq!(insts.iter().filter(shl).count(), shifts_left, "{op:?}");
        for (x, y) in [(127, 127), (-128, -1), (255, 1), (1 << 20, -5), (100, 28)] {
            let args = [Lanes::i32(x), Lanes::i32(y)];
            let expected = nbcc_interp::function::eval(&func, &args);
            assert_eq!(nbcc_interp::function::eval(&expanded, &args), expected, "{op:?} {x} {y}");
        }
    }
}
