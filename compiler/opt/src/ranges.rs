//! What ranges of values decide: comparisons that come out one way in any case, minima and maxima
//! that are one of their operands, operations with one result, words that are narrowed to what they fit
//! and extended again (Patterson, "Accurate Static Branch Prediction by Value Range Propagation", PLDI
//! 1995, for comparisons).

use nbcc_analysis::{IntrinsicRanges, ValueRange, ValueRanges, sign_extend};
use nbcc_ir::{
    BinaryOp, BlockData, Constant, ConvertOp, Function, Inst, IntCond, Op, Replacements, Type,
    Value,
};

/// Replaces them.
pub fn run(func: &mut Function) -> bool {
    run_where(func, &|_| None, |_| true)
}

/// The same in some blocks, where a target knows the ranges of results of its intrinsics.
pub fn run_where(
    func: &mut Function,
    intrinsics: IntrinsicRanges<'_>,
    blocks: impl Fn(&BlockData) -> bool,
) -> bool {
    let ranges = ValueRanges::with_intrinsics(func, intrinsics);
    let mut replacements = Replacements::new();
    let mut decided: Vec<(Inst, Type, u64)> = Vec::new();
    for &block in func.layout.iter().filter(|&&block| blocks(&func.blocks[block])) {
        for &inst in &func.blocks[block].insts {
            match func.insts[inst].op {
                Op::Icmp(cond, a, b) => {
                    let ty = func.ty(a);
                    if ty.is_vector() || ty == Type::I1 {
                        continue;
                    }
                    let (of_a, of_b) = match apart(func, &ranges, a, b) {
                        Some(apart) => ((apart, apart), (0, 0)),
                        None => (ranges.of(a), ranges.of(b)),
                    };
                    if let Some(holds) = decide(cond, of_a, of_b) {
                        decided.push((inst, Type::I1, holds.into()));
                    }
                }
                Op::Binary(op, a, b) => {
                    let Some(result) = func.result(inst).filter(|&v| !func.ty(v).is_vector())
                    else {
                        continue;
                    };
                    let ty = func.ty(result);
                    let (low, high) = ranges.of(result);
                    if low == high && !ty.is_float() {
                        let bits = low as u64 & u64::MAX >> (64 - ty.scalar.bits());
                        decided.push((inst, ty, bits));
                        continue;
                    }
                    let is = |cond| decide(cond, ranges.of(a), ranges.of(b)) == Some(true);
                    let is_first = match op {
                        BinaryOp::Smin => is(IntCond::Sle),
                        BinaryOp::Smax => is(IntCond::Sge),
                        BinaryOp::Umin => is(IntCond::Ule),
                        BinaryOp::Umax => is(IntCond::Uge),
                        _ => false,
                    };
                    if is_first {
                        replacements.replace(result, a);
                    }
                }
                Op::Convert(
                    extend @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend),
                    narrow,
                    to,
                ) if !to.is_vector() => {
                    let Some(&Op::Convert(ConvertOp::Truncate, word, _)) = func.def_op(narrow)
                    else {
                        continue;
                    };
                    let bits = func.ty(narrow).scalar.bits();
                    let (least, most) = match extend {
                        ConvertOp::SignExtend => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
                        _ => (0, (1i64 << bits.min(62)) - 1),
                    };
                    let (low, high) = ranges.at(word, block);
                    let is_same = func.ty(word) == to && low >= least && high <= most;
                    if let Some(result) = func.result(inst).filter(|_| is_same) {
                        replacements.replace(result, word);
                    }
                }
                _ => {}
            }
        }
    }
    let changed = !decided.is_empty() || !replacements.is_empty();
    for (inst, ty, bits) in decided {
        func.insts[inst].op = Op::Const(ty, Constant::Splat(bits));
    }
    replacements.apply(func);
    changed
}

/// By how much the first value is greater, where both are one value and constants, neither below zero nor
/// too large.
fn apart(func: &Function, ranges: &ValueRanges<'_>, a: Value, b: Value) -> Option<i64> {
    let parts = |value: Value| match func.def_op(value) {
        Some(&Op::Binary(BinaryOp::Iadd, x, y)) => match func.splat_constant(y) {
            Some(bits) => (x, sign_extend(func.ty(y).scalar, bits)),
            None => (value, 0),
        },
        _ => (value, 0),
    };
    let ((x, more), (y, other)) = (parts(a), parts(b));
    let most = (1i64 << (func.ty(a).scalar.bits().min(62) - 1)) - 1;
    let (low, high) = if x == y { ranges.of(x) } else { return None };
    let is_number = |by: i64| {
        low.checked_add(by).is_some_and(|low| low >= 0)
            && high.checked_add(by).is_some_and(|high| high <= most)
    };
    (is_number(more) && is_number(other)).then(|| more - other)
}

/// Whether a comparison holds, where it comes out one way for all values of two ranges.
fn decide(cond: IntCond, a: ValueRange, b: ValueRange) -> Option<bool> {
    let never = |negated: IntCond| decide_one(negated, a, b).then_some(false);
    decide_one(cond, a, b).then_some(true).or_else(|| never(cond.negated()))
}

/// Whether a comparison holds for all values of two ranges.
fn decide_one(cond: IntCond, a: ValueRange, b: ValueRange) -> bool {
    // Without signs, numbers that have none compare as with them.
    let positive = a.0 >= 0 && b.0 >= 0;
    match cond {
        IntCond::Eq => a.0 == a.1 && a == b,
        IntCond::Ne => a.1 < b.0 || b.1 < a.0,
        IntCond::Slt => a.1 < b.0,
        IntCond::Sle => a.1 <= b.0,
        IntCond::Sgt => a.0 > b.1,
        IntCond::Sge => a.0 >= b.1,
        IntCond::Ult => positive && a.1 < b.0,
        IntCond::Ule => positive && a.1 <= b.0,
        IntCond::Ugt => positive && a.0 > b.1,
        IntCond::Uge => positive && a.0 >= b.1,
    }
}
