//! Limits of subscripts that are never reached are dropped: where a subscript is counted by a loop
//! with bounds, masked, or made of narrow values, it is within them. Bounds of values are found as
//! by Harrison, "Compiler Analysis of the Value Ranges for Variables", TSE 1977, from definitions
//! and from the conditions of loops, without iteration.

use std::collections::BTreeMap;

use nbcc_ir::{
    BinaryOp, Cfg, ConvertOp, Function, IntCond, Op, Replacements, Terminator, Type, Value,
    ValueDef,
};

/// Operations followed from a value at most.
const DEPTH: u32 = 32;

/// The least and greatest value of an integer, signed.
type Range = (i128, i128);

/// Removes minima and maxima with constants that change nothing.
pub(super) fn drop_limits(func: &mut Function) {
    let feeds = Feeds::new(func);
    let mut replacements = Replacements::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let Op::Binary(op @ (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin), a, b) =
                func.insts[inst].op
            else {
                continue;
            };
            let (Some(bits), Some(result)) = (func.splat_constant(b), func.result(inst)) else {
                continue;
            };
            let unused = 64 - func.ty(b).scalar.bits();
            let limit = i128::from(((bits << unused) as i64) >> unused);
            let (low, high) = feeds.range(func, a, DEPTH);
            let keeps = match op {
                BinaryOp::Smin => high <= limit,
                BinaryOp::Smax => low >= limit,
                _ => low >= 0 && limit >= 0 && high <= limit,
            };
            if keeps {
                replacements.replace(result, a);
            }
        }
    }
    replacements.apply(func);
}

/// What leads to each parameter of a block.
struct Feeds {
    args: BTreeMap<Value, Vec<Value>>,
    /// For a value that a loop goes on with only if a comparison holds: the comparison.
    tests: BTreeMap<Value, (IntCond, Value)>,
}

impl Feeds {
    fn new(func: &Function) -> Feeds {
        let mut args: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        let mut tests = BTreeMap::new();
        for block in Cfg::new(func).reverse_postorder() {
            let terminator = func.terminator(block);
            for to in terminator.successors() {
                for (&arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                    args.entry(param).or_default().push(arg);
                }
            }
            let Terminator::Branch(condition, then, other) = terminator else { continue };
            let Some(&Op::Icmp(cond, a, b)) = func.def_op(*condition) else { continue };
            if then.block == other.block {
                continue;
            }
            for (to, cond) in [(then, cond), (other, opposite(cond))] {
                // The comparison holds for what this edge hands over.
                for (&arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                    if arg == a && func.blocks[to.block].loop_info.is_some() {
                        tests.insert(param, (cond, b));
                    }
                }
            }
        }
        Feeds { args, tests }
    }

    fn range(&self, func: &Function, value: Value, depth: u32) -> Range {
        let bits = func.ty(value).scalar.bits();
        let all = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
        if depth == 0 || func.ty(value).is_float() {
            return all;
        }
        let within = |range: Range| if range.0 >= all.0 && range.1 <= all.1 { range } else { all };
        if let Some(constant) = func.splat_constant(value) {
            let unused = 64 - bits;
            let constant = i128::from(((constant << unused) as i64) >> unused);
            return (constant, constant);
        }
        if let ValueDef::Param(block, _) = func.values[value].def {
            let info = func.blocks[block].loop_info.as_ref();
            let counter = info.and_then(|info| info.counter).filter(|c| c.value == value);
            return counter.map_or(all, |c| self.counted(func, value, c.step, depth, all));
        }
        let range = |value| self.range(func, value, depth - 1);
        match func.def_op(value) {
            Some(Op::Convert(op, a, _)) => {
                let inner = range(*a);
                match op {
                    ConvertOp::SignExtend => inner,
                    ConvertOp::ZeroExtend if inner.0 >= 0 => inner,
                    ConvertOp::ZeroExtend => (0, (1 << func.ty(*a).scalar.bits()) - 1),
                    ConvertOp::Truncate => within(inner),
                    _ => all,
                }
            }
            Some(Op::Binary(op, a, b)) => {
                let (x, y) = (range(*a), range(*b));
                match op {
                    BinaryOp::Iadd => within((x.0 + y.0, x.1 + y.1)),
                    BinaryOp::Isub => within((x.0 - y.1, x.1 - y.0)),
                    BinaryOp::Imul => {
                        let products = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
                        let least = products.iter().min().copied().unwrap_or(all.0);
                        let most = products.iter().max().copied().unwrap_or(all.1);
                        within((least, most))
                    }
                    BinaryOp::And if y.0 >= 0 => (0, y.1),
                    BinaryOp::And if x.0 >= 0 => (0, x.1),
                    BinaryOp::Smin => (x.0.min(y.0), x.1.min(y.1)),
                    BinaryOp::Smax => (x.0.max(y.0), x.1.max(y.1)),
                    BinaryOp::Umin if x.0 >= 0 && y.0 >= 0 => (x.0.min(y.0), x.1.min(y.1)),
                    BinaryOp::Lshr if y.0 > 0 && y.1 < 64 && y.0 == y.1 => {
                        (0, ((1_i128 << bits) - 1) >> y.0)
                    }
                    BinaryOp::Lshr if x.0 >= 0 => (0, x.1),
                    BinaryOp::Ashr if y.0 >= 0 && y.0 == y.1 && y.1 < 64 => {
                        (x.0 >> y.0, x.1 >> y.0)
                    }
                    BinaryOp::Urem if y.0 > 0 => (0, y.1 - 1),
                    BinaryOp::Srem if y.0 > 0 => {
                        (if x.0 >= 0 { 0 } else { 1 - y.1 }, if x.1 <= 0 { 0 } else { y.1 - 1 })
                    }
                    BinaryOp::Sdiv if x.0 >= 0 && y.0 > 0 => (0, x.1),
                    _ => all,
                }
            }
            Some(Op::Select(_, a, b)) => {
                let (x, y) = (range(*a), range(*b));
                (x.0.min(y.0), x.1.max(y.1))
            }
            _ => all,
        }
    }

    /// The range of a value that counts the rounds of a loop: from where it starts to the bound that
    /// the branch back tests.
    fn counted(&self, func: &Function, value: Value, step: i64, depth: u32, all: Range) -> Range {
        let Some(args) = self.args.get(&value) else { return all };
        let is_next = |arg: Value| match func.def_op(arg) {
            Some(Op::Binary(BinaryOp::Iadd | BinaryOp::Isub, a, b)) => *a == value || *b == value,
            _ => false,
        };
        // The test is that of the one branch back.
        if args.iter().filter(|&&arg| is_next(arg)).count() != 1 {
            return all;
        }
        let starts = args.iter().copied().filter(|&arg| arg != value && !is_next(arg));
        let mut first: Option<Range> = None;
        for start in starts {
            let range = self.range(func, start, depth - 1);
            first = Some(match first {
                Some(known) => (known.0.min(range.0), known.1.max(range.1)),
                None => range,
            });
        }
        let Some(first) = first else { return all };
        let Some(&(cond, bound)) = self.tests.get(&value) else { return all };
        if func.ty(bound) != func.ty(value) || func.ty(value) == Type::I1 {
            return all;
        }
        let bound = self.range(func, bound, depth - 1);
        let step_size = i128::from(step).abs();
        if bound.1 + step_size > all.1 + 1 || bound.0 - step_size < all.0 - 1 {
            // The counter may wrap before the test fails.
            return all;
        }
        let exact = bound.0 == bound.1 && first.0 == first.1;
        match (cond, step.signum()) {
            (IntCond::Slt, 1) => (first.0, first.1.max(bound.1 - 1)),
            (IntCond::Sle, 1) => (first.0, first.1.max(bound.1)),
            (IntCond::Ult, 1) if bound.0 >= 0 && first.0 >= 0 => {
                (first.0, first.1.max(bound.1 - 1))
            }
            (IntCond::Sgt, -1) => (first.0.min(bound.0 + 1), first.1),
            (IntCond::Sge, -1) => (first.0.min(bound.0), first.1),
            (IntCond::Ne, 1)
                if exact && bound.0 > first.0 && (bound.0 - first.0) % i128::from(step) == 0 =>
            {
                (first.0, bound.1 - i128::from(step))
            }
            _ => all,
        }
    }
}

fn opposite(cond: IntCond) -> IntCond {
    match cond {
        IntCond::Eq => IntCond::Ne,
        IntCond::Ne => IntCond::Eq,
        IntCond::Slt => IntCond::Sge,
        IntCond::Sge => IntCond::Slt,
        IntCond::Sgt => IntCond::Sle,
        IntCond::Sle => IntCond::Sgt,
        IntCond::Ult => IntCond::Uge,
        IntCond::Uge => IntCond::Ult,
        IntCond::Ugt => IntCond::Ule,
        IntCond::Ule => IntCond::Ugt,
    }
}
