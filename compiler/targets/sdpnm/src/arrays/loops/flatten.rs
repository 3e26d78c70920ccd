//! Loops with loops inside become loops without: short inner loops are unrolled where what comes out
//! fits an array, and small local arrays, whose subscripts are constants then, become values.

use std::collections::BTreeSet;

use nbcc_analysis::{AffineForms, LoopForest, ValueRanges, sign_extend};
use nbcc_ir::{
    BinaryOp, Block, Cfg, Dominators, Effect, Func, Function, Inst, IntCond, Module, Op,
    Terminator, Type, Value,
};
use nbcc_opt::unroll::{self, Candidate};
use nbcc_opt::{cse, dce, fold, promote, simplify_cfg, unroll_left};

use super::borders;
use super::interchange;
use super::keep;
use super::stages;
use super::thresholds;
use crate::arrays::facts::evolution::Evolutions;
use crate::arrays::facts::shape::{MAX_BLOCKS, Shape, Trips};
use crate::arrays::facts::sources::Sources;

/// Operations of an unrolled loop at most.
pub(super) const MAX_OPERATIONS: u64 = 260;

/// Operations of a product of 64 bits, about.
const WIDE_PRODUCT: u64 = 12;

/// A loop that was unrolled, by the header of the one around it and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unrolled {
    /// The loop around.
    pub outer: Block,
    /// The loop.
    pub inner: Block,
    /// How often it ran.
    pub trips: u64,
}

/// Unrolls and makes values of arrays until nothing changes: what is a value takes no operations of
/// its own, so that more fits an array. A program is called once a run, so that its statics may
/// become values too. Loops whose headers are among `kept` stay, and those for which that is asked. Gives whether anything changed, and what
/// was unrolled.
pub fn run(
    module: &mut Module,
    func: Func,
    kept: &BTreeSet<Block>,
    sources: &Sources,
) -> (bool, Vec<Unrolled>) {
    let mut all = Vec::new();
    let contents = promote::own_objects(module, func);
    let func = &mut module.functions[func];
    count(func);
    let mut changed = interchange::run(func);
    changed |= keep::run(func);
    count(func);
    changed |= stages::run(func, sources);
    changed |= borders::run(func);
    changed |= thresholds::run(func);
    loop {
        count(func);
        let unrolled = unroll::run_where(func, |func, candidate| {
            let (inner, trips) = (candidate.blocks[0], candidate.trips);
            match around(func, inner).filter(|_| !kept.contains(&inner)) {
                Some(_) if sources.stays(func, candidate.blocks, trips) => 1,
                Some(outer) if fits(func, candidate) => {
                    all.push(Unrolled { outer, inner, trips });
                    trips
                }
                _ => 1,
            }
        });
        let left = unroll_left::run_where(func, |func, candidate| {
            let (inner, trips) = (candidate.blocks[0], candidate.trips);
            let outer = around(func, inner).filter(|_| !kept.contains(&inner));
            let outer = outer.filter(|_| !sources.stays(func, candidate.blocks, trips));
            let outer = outer.filter(|_| fits(func, candidate));
            all.extend(outer.map(|outer| Unrolled { outer, inner, trips }));
            outer.is_some()
        });
        let unrolled = unrolled | left;
        if unrolled {
            fold::run(func);
            cse::run(func);
            simplify_cfg::run(func);
            dce::run(func);
        }
        let promoted = promote::run_with(func, &contents);
        changed |= unrolled | promoted;
        if !promoted {
            return (changed, all);
        }
    }
}

/// Notes how often loops run where that is constant by now: a frontend did not know it of a function
/// that was inlined.
pub(crate) fn count(func: &mut Function) {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let forms = AffineForms::new(func, &cfg);
    let mut found = Vec::new();
    for l in forest.loops.keys() {
        let Ok(shape) = Shape::new(func, &cfg, &forest, l) else { continue };
        if let (Trips::While { .. }, Some(trips)) = (shape.trips, trips(func, &shape, &forms)) {
            found.push((shape.header, trips));
        }
    }
    for (header, trips) in found {
        if let Some(info) = &mut func.blocks[header].loop_info {
            info.trips = Some(trips);
        }
    }
}

/// How often a loop runs, where that is constant.
pub(crate) fn trips(func: &Function, shape: &Shape, forms: &AffineForms) -> Option<u64> {
    let (cond, value, step, limit) = match shape.trips {
        Trips::Known(trips) => return Some(trips.into()),
        Trips::While { cond, value, step, limit } => (cond, value, step, limit),
    };
    let step = i64::from(step);
    // Both as constants on top of what the loop does not change, which is within `base`.
    let (first, limit, base) = match func.ty(value) {
        Type::I32 => {
            let first = Evolutions::new(func, shape, forms).of(value)?.start;
            let limit = forms.get(limit);
            (limit.terms == first.terms).then_some(())?;
            let base = base(func, &first.terms)?;
            (i64::from(first.constant), i64::from(limit.constant), base)
        }
        _ => {
            let limit = sign_extend(func.ty(limit).scalar, func.splat_constant(limit)?);
            (shape.first(func)?, limit, (0, 0))
        }
    };
    let is_number =
        |number: i64| [base.0, base.1].iter().all(|base| i32::try_from(base + number).is_ok());
    if !is_number(limit) || !is_number(first) {
        return None;
    }
    // Without signs it is the same where there are none.
    let has_no_signs = base.0 + first >= 0 && base.0 + limit >= 0;
    let cond = match cond {
        IntCond::Ult if has_no_signs => IntCond::Slt,
        IntCond::Ule if has_no_signs => IntCond::Sle,
        cond => cond,
    };
    // Iterations behind the first.
    let more = match cond {
        IntCond::Slt if first < limit => (limit - first + step - 1) / step,
        IntCond::Sle if first <= limit => (limit - first) / step + 1,
        IntCond::Sgt if first > limit => (first - limit - step - 1) / -step,
        IntCond::Sge if first >= limit => (first - limit) / -step + 1,
        IntCond::Slt | IntCond::Sle | IntCond::Sgt | IntCond::Sge => 0,
        _ => return None,
    };
    // The counter must not wrap.
    is_number(first + more * step).then_some(more as u64 + 1)
}

/// The range of a sum, where it does not wrap.
fn base(func: &Function, terms: &[(Value, i32)]) -> Option<(i64, i64)> {
    if terms.is_empty() {
        return Some((0, 0));
    }
    let ranges = ValueRanges::new(func);
    let mut sum = (0i64, 0i64);
    for &(value, factor) in terms {
        let range = ranges.of(value);
        let ends = [range.0, range.1].map(|end| end.saturating_mul(factor.into()));
        sum.0 = sum.0.saturating_add(ends[0].min(ends[1]));
        sum.1 = sum.1.saturating_add(ends[0].max(ends[1]));
    }
    [sum.0, sum.1].iter().all(|&end| i32::try_from(end).is_ok()).then_some(sum)
}

/// The header of the loop around the one of that header.
fn around(func: &Function, header: Block) -> Option<Block> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let outer = forest.loops[forest.headed_by(header)?].parent?;
    Some(forest.loops[outer].header)
}

/// Whether a loop with one around it is unrolled, wholly: where it stays short.
fn fits(func: &Function, candidate: Candidate<'_>) -> bool {
    let header = candidate.blocks[0];
    let ways = (candidate.blocks.len() as u64 - 1).saturating_mul(candidate.trips);
    let size = operations(func, candidate.blocks).saturating_mul(candidate.trips);
    if func.blocks[header].cold || size > MAX_OPERATIONS || ways >= MAX_BLOCKS as u64 {
        return false;
    }
    // Where arrays cannot run the loop around, they run this one.
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let parent = forest.headed_by(header).and_then(|l| forest.loops[l].parent);
    candidate.trips <= MOST_FOR_CORE
        || parent.is_none_or(|parent| is_possible(func, &forest.loops[parent].own))
}

/// Iterations up to which a loop is unrolled for the core alone.
pub const MOST_FOR_CORE: u64 = 8;

/// Whether arrays have operations for all that blocks do.
pub(crate) fn is_possible(func: &Function, blocks: &[Block]) -> bool {
    let mut insts = blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    insts.all(|&inst| match &func.insts[inst].op {
        Op::Load(..) | Op::Store(..) => true,
        op => op.effect() == Effect::Pure,
    })
}

/// About how many operations of PEs an iteration takes: accesses, and what leads to stored or carried
/// values; subscripts are mostly made by accesses themselves.
pub(crate) fn operations(func: &Function, blocks: &[Block]) -> u64 {
    let mut values: Vec<Value> = Vec::new();
    let mut count = 0;
    for &block in blocks {
        for &inst in &func.blocks[block].insts {
            if let Op::Store(_, _, value) = func.insts[inst].op {
                values.push(value);
                count += words(func, value);
            }
        }
        match func.terminator(block) {
            // What counts iterations is gone afterwards.
            Terminator::Branch(_, then, other)
                if [then, other].iter().any(|to| to.block == blocks[0]) =>
            {
                values.extend(then.args.iter().chain(&other.args));
            }
            terminator => terminator.for_each_arg(|value| values.push(value)),
        }
    }
    let inside: BTreeSet<Inst> =
        blocks.iter().flat_map(|&block| &func.blocks[block].insts).copied().collect();
    let mut seen = BTreeSet::new();
    while let Some(value) = values.pop() {
        let Some(inst) = func.def_inst(value).filter(|inst| inside.contains(inst)) else {
            continue;
        };
        if !seen.insert(inst) {
            continue;
        }
        match &func.insts[inst].op {
            Op::Const(..) => {}
            Op::Load(..) => count += words(func, value),
            Op::Convert(_, from, _) => values.push(*from),
            op => {
                count += match op {
                    Op::Binary(BinaryOp::Imul, ..) if words(func, value) > 1 => WIDE_PRODUCT,
                    _ => words(func, value),
                };
                op.for_each_arg(|arg| values.push(arg));
            }
        }
    }
    count
}

/// Words of a value.
fn words(func: &Function, value: Value) -> u64 {
    func.ty(value).scalar.bits().div_ceil(32).into()
}
