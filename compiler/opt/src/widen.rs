//! Counters that are narrower than words become words where they never wrap while their loop goes on
//! (induction variable widening, as compilers to machines with wide registers do it): C computes with
//! them as words and cuts them off again in each iteration, so that nothing says of them that they grow
//! by a constant.
//!
//! Let `lo` and `hi` be the least and the greatest number of the narrow type. A counter `p` goes on as
//! `x = p + step`, cut off. It is a word where `lo <= x <= hi` whenever the loop goes on: by the test of
//! that, which compares `x` or `p`, and by what the counter begins with. A counter that may wrap, as in
//! `for (uint8_t i = 0; i < 300; i++)`, stays as it is.

use nbcc_analysis::{Loop, LoopForest, ValueRange, ValueRanges, sign_extend};
use nbcc_ir::{
    BinaryOp, Block, Cfg, ConvertOp, Counter, Dominators, Function, IntCond, Op, Positions,
    Replacements, Terminator, Type, Value,
};

/// A counter that becomes a word.
struct Narrow {
    header: Block,
    entering: Block,
    latch: Block,
    number: usize,
    param: Value,
    /// How it is made a word.
    extend: ConvertOp,
    /// The word that it goes on as.
    next: Value,
    /// What that is cut off to.
    cut: Value,
    /// Whether that fits in the iteration that leaves, too.
    fits_always: bool,
}

/// Makes words of them.
pub fn run(func: &mut Function) -> bool {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    let positions = Positions::new(func);
    let found: Vec<Narrow> = {
        let ranges = ValueRanges::new(func);
        let loops = forest.loops.keys();
        loops.flat_map(|l| narrow(func, &cfg, (&forest, l), &positions, &ranges)).collect()
    };
    for narrow in &found {
        widen(func, narrow);
    }
    !found.is_empty()
}

/// The counters of a loop that can be words.
fn narrow(
    func: &Function,
    cfg: &Cfg,
    (forest, l): (&LoopForest, Loop),
    positions: &Positions,
    ranges: &ValueRanges<'_>,
) -> Vec<Narrow> {
    let data = &forest.loops[l];
    let (&[latch], header) = (&data.latches[..], data.header) else { return vec![] };
    let outside: Vec<Block> =
        cfg.predecessors(header).iter().copied().filter(|&block| block != latch).collect();
    let &[entering] = &outside[..] else { return vec![] };
    let entries = func.terminator(entering).successors().into_iter();
    let mut entries = entries.filter(|to| to.block == header);
    let (Some(entry), None) = (entries.next(), entries.next()) else { return vec![] };
    let Terminator::Branch(cond, then, other) = func.terminator(latch) else { return vec![] };
    let (back, again) = match [then, other].map(|to| to.block == header) {
        [true, false] => (then, true),
        [false, true] => (other, false),
        _ => return vec![],
    };
    let Some(&Op::Icmp(cond, a, b)) = func.def_op(*cond) else { return vec![] };
    let cond = if again { cond } else { cond.negated() };
    let is_fixed = |value: Value| {
        let home = positions.defining_block(func, value);
        func.splat_constant(value).is_some() || home.is_some_and(|block| !forest.contains(l, block))
    };
    let (cond, tested, bound) = match (is_fixed(a), is_fixed(b)) {
        (false, true) => (cond, a, b),
        (true, false) => (cond.swapped(), b, a),
        _ => return vec![],
    };
    let Some(&Op::Convert(extend, tested, _)) = func.def_op(tested) else { return vec![] };
    if !matches!(extend, ConvertOp::SignExtend | ConvertOp::ZeroExtend) {
        return vec![];
    }
    let candidate = |(number, &param): (usize, &Value)| {
        let ty = func.ty(param);
        let cut = *back.args.get(number)?;
        let &Op::Convert(ConvertOp::Truncate, next, _) = func.def_op(cut)? else { return None };
        let step = growth(func, next, param, extend)?;
        let narrow = matches!(ty, Type::I8 | Type::I16) && func.ty(next) == Type::I32;
        if !narrow || tested != cut && tested != param {
            return None;
        }
        let bits = ty.scalar.bits();
        let (lo, hi) = match extend {
            ConvertOp::SignExtend => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
            _ => (0, (1i64 << bits) - 1),
        };
        let first = match ranges.at(entry.args[number], entering) {
            range if range.0 >= lo => range,
            _ => (lo, hi),
        };
        let tests_next = tested == cut;
        let bound = ranges.at(bound, entering);
        let goes_on = Goes { cond, bound, step, first, tests_next, is_signed: lo < 0 };
        goes_on.without_wrapping((lo, hi)).then_some(Narrow {
            header,
            entering,
            latch,
            number,
            param,
            extend,
            next,
            cut,
            fits_always: tests_next,
        })
    };
    // The last first, so that the numbers of the others stay.
    func.blocks[header].params.iter().enumerate().rev().filter_map(candidate).collect()
}

/// What a word is more than a narrow value.
fn growth(func: &Function, word: Value, param: Value, extend: ConvertOp) -> Option<i64> {
    let &Op::Binary(op, a, b) = func.def_op(word)? else { return None };
    let is_param = |value: Value| matches!(func.def_op(value), Some(&Op::Convert(kind, of, _)) if kind == extend && of == param);
    let constant =
        |value: Value| Some(sign_extend(func.ty(value).scalar, func.splat_constant(value)?));
    match op {
        BinaryOp::Iadd if is_param(a) => constant(b),
        BinaryOp::Iadd if is_param(b) => constant(a),
        BinaryOp::Isub if is_param(a) => constant(b).map(|step| -step),
        _ => None,
    }
}

/// When a loop goes on.
struct Goes {
    cond: IntCond,
    bound: ValueRange,
    step: i64,
    /// What the counter is in the first iteration.
    first: ValueRange,
    /// Whether the test compares what the counter is in the next iteration, or what it is in this one.
    tests_next: bool,
    is_signed: bool,
}

impl Goes {
    /// Whether the counter stays within limits by as much as it grows: where the test compares the next
    /// counter, in all iterations, else in those after which the loop goes on.
    fn without_wrapping(&self, (lo, hi): ValueRange) -> bool {
        let &Goes { bound, step, first, tests_next, .. } = self;
        if step.unsigned_abs() > 1 << 20 {
            return false;
        }
        // Without signs it is the same where there are none.
        let cond = match (self.cond, self.is_signed || bound.0 < 0) {
            (IntCond::Ult, false) => IntCond::Slt,
            (IntCond::Ule, false) => IntCond::Sle,
            (IntCond::Ugt, false) => IntCond::Sgt,
            (IntCond::Uge, false) => IntCond::Sge,
            (cond, _) => cond,
        };
        // The greatest counter, or the least, from which it goes on.
        let last = match (cond, step.signum()) {
            (IntCond::Slt, 1) => bound.1.saturating_sub(1),
            (IntCond::Sle, 1) => bound.1,
            (IntCond::Sgt, -1) => bound.0.saturating_add(1),
            (IntCond::Sge, -1) => bound.0,
            // It meets the bound, which is not behind where it begins.
            (IntCond::Ne, 1) if step == 1 && first.1 + i64::from(tests_next) <= bound.0 => {
                bound.1.saturating_sub(1)
            }
            (IntCond::Ne, -1) if step == -1 && first.0 - i64::from(tests_next) >= bound.1 => {
                bound.0.saturating_add(1)
            }
            _ => return false,
        };
        let fits = |counter: i64| counter.checked_add(step).is_some_and(|x| x >= lo && x <= hi);
        let first = if step > 0 { first.1 } else { first.0 };
        fits(last) && (!tests_next || fits(first))
    }
}

/// Makes a word of a counter.
fn widen(func: &mut Function, narrow: &Narrow) {
    let &Narrow { header, entering, latch, number, param, extend, next, cut, fits_always } = narrow;
    let ty = func.ty(param);
    let span = func.blocks[header].span;
    let mut entries = func.terminator(entering).successors().into_iter();
    let Some(entry) = entries.find(|to| to.block == header) else { return };
    let first = entry.args[number];
    let inst = func.make_inst(Op::Convert(extend, first, Type::I32), &[Type::I32], span);
    func.blocks[entering].insts.push(inst);
    let first = func.insts[inst].results[0];
    let word = func.add_param_with_args(header, Type::I32, &[entering, latch], |from, _| {
        if from == latch { next } else { first }
    });
    let inst = func.make_inst(Op::Convert(ConvertOp::Truncate, word, ty), &[ty], span);
    func.blocks[header].insts.insert(0, inst);
    let narrowed = func.insts[inst].results[0];
    if let Some(info) = &mut func.blocks[header].loop_info
        && let Some(Counter { value, .. }) = &mut info.counter
        && *value == param
    {
        *value = word;
    }
    let mut replacements = Replacements::new();
    let mut sources = vec![(param, word)];
    if fits_always {
        sources.push((cut, next));
    }
    for block in func.layout.clone() {
        for inst in func.blocks[block].insts.clone() {
            let Op::Convert(kind, from, to) = func.insts[inst].op else { continue };
            let source = sources.iter().find(|&&(narrow, _)| narrow == from);
            let Some(&(_, source)) = source.filter(|_| kind == extend) else { continue };
            match to {
                Type::I32 => replacements.replace(func.insts[inst].results[0], source),
                Type::I64 => func.insts[inst].op = Op::Convert(ConvertOp::SignExtend, source, to),
                _ => {}
            }
        }
    }
    replacements.replace(param, narrowed);
    replacements.apply(func);
    func.remove_params(|value| value == param);
}
