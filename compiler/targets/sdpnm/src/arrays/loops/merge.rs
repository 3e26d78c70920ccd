//! Loops that stand one behind the other become one (loop fusion: Kennedy, McKinley, "Maximizing loop
//! parallelism and improving data locality via loop fusion and distribution", LCPC 1993), so that
//! their operations overlap and what one hands to the next goes between PEs: the block merge of paper
//! 003, section 3.3. Where one runs several times as often as the other, it is unrolled first.
//!
//! Both run a known number of times, and none of their accesses can be outside: nothing ends the run
//! in between, so that only the order of accesses to memory counts.

use std::collections::BTreeSet;

use nbcc_analysis::{AffineForms, LoopForest, ValueRanges};
use nbcc_ir::{
    Block, BlockCall, Cfg, Dominators, Effect, Extent, Function, Inst, Mem, Op, Replacements,
    Terminator, Value,
};
use nbcc_opt::{cse, dce, fold, licm, params, simplify_cfg, unreachable, unroll};

use super::flatten::{operations, trips};
use crate::arrays::facts::access::{Distance, Subscript, distance_between};
use crate::arrays::facts::evolution::Evolutions;
use crate::arrays::facts::shape::Shape;
use crate::arrays::facts::sources::Sources;

/// Operations of a merged loop at most: about as many as are mapped.
const MAX_OPERATIONS: u64 = 420;

/// Blocks between two loops at most.
const MAX_BETWEEN: usize = 16;

/// Merges loops until nothing changes, but for pairs of loops of these headers and those for which other
/// things are asked; the headers of those that came out, each with those of the pair.
pub fn run(
    func: &mut Function,
    refused: &BTreeSet<[Block; 2]>,
    hyperblocks: bool,
    sources: &Sources,
) -> Vec<(Block, [Block; 2])> {
    let mut made = Vec::new();
    'again: loop {
        let headers: Vec<Block> = {
            let forest = forest(func);
            let innermost = forest.loops.values().filter(|data| data.inner.is_empty());
            innermost.map(|data| data.header).filter(|&header| !func.blocks[header].cold).collect()
        };
        for &header in &headers {
            enter_by_jump(func, header);
        }
        for &header in &headers {
            let Some(pair) = Pair::new(func, header) else { continue };
            let names = [pair.first.header, header];
            let has_branches = [&pair.first, &pair.second].map(|shape| shape.has_branches(func));
            if refused.contains(&names) || !hyperblocks && has_branches.contains(&true) {
                continue;
            }
            // What is asked for one must be asked for both.
            let [a, b] = [&pair.first, &pair.second];
            let [a, b] = [a, b].map(|shape| sources.wishes(func, &shape.blocks));
            if a != b {
                continue;
            }
            let mut trial = func.clone();
            if let Some(header) = merged(&mut trial, header, &pair) {
                *func = trial;
                made.push((header, names));
                continue 'again;
            }
        }
        return made;
    }
}

fn forest(func: &Function) -> LoopForest {
    LoopForest::new(&Cfg::new(func), &Dominators::new(func))
}

/// Gives a loop a block that enters it.
pub(super) fn enter_by_jump(func: &mut Function, header: Block) {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    if let Some(l) = forest.headed_by(header) {
        func.preheader(&cfg, header, |block| forest.contains(l, block));
        params::run(func);
    }
}

/// Two loops, and the blocks that lead from one to the other.
struct Pair {
    first: Shape,
    second: Shape,
    /// In order.
    between: Vec<Block>,
    /// How often each of them runs.
    trips: [u64; 2],
}

impl Pair {
    /// The loop of that header and the one before it.
    fn new(func: &Function, header: Block) -> Option<Pair> {
        let cfg = Cfg::new(func);
        let forest = LoopForest::new(&cfg, &Dominators::new(func));
        let second = Shape::new(func, &cfg, &forest, forest.headed_by(header)?).ok()?;
        let mut between = vec![second.preheader];
        let first = loop {
            let &[before] = cfg.predecessors(*between.last()?) else { return None };
            let is_latch = |l: &nbcc_analysis::Loop| forest.loops[*l].latches == [before];
            if let Some(l) = forest.loops.keys().find(is_latch) {
                break Shape::new(func, &cfg, &forest, l).ok()?;
            }
            if !matches!(func.terminator(before), Terminator::Jump(_))
                || between.len() == MAX_BETWEEN
            {
                return None;
            }
            between.push(before);
        };
        between.reverse();
        let forms = AffineForms::new(func, &cfg);
        let trips = [trips(func, &first, &forms)?, trips(func, &second, &forms)?];
        (!first.contains(header)).then_some(Pair { first, second, between, trips })
    }
}

/// Merges a pair, of which one loop is unrolled where it runs several times as often; the header.
fn merged(func: &mut Function, header: Block, pair: &Pair) -> Option<Block> {
    let [a, b] = pair.trips;
    if a == 0 || b == 0 {
        return None;
    }
    let [size_a, size_b] = [&pair.first, &pair.second].map(|l| operations(func, &l.blocks));
    let (times_a, times_b) = ((a / b).max(1), (b / a).max(1));
    if a * times_b != b * times_a
        || size_a.saturating_mul(times_a) + size_b.saturating_mul(times_b) > MAX_OPERATIONS
    {
        return None;
    }
    if (times_a, times_b) == (1, 1) {
        return merge(func, pair);
    }
    let headers = [pair.first.header, header];
    // The loop that comes out begins with another block, and the one behind the pair tells it.
    let behind = pair.second.exit.block;
    unroll::run_where(func, |_, candidate| match candidate.blocks[0] {
        block if block == headers[0] => times_a,
        block if block == headers[1] => times_b,
        _ => 1,
    });
    fold::run(func);
    cse::run(func);
    // What folding made in the first loop is the second one's as well.
    licm::run(func);
    simplify_cfg::run(func);
    dce::run(func);
    let forest = forest(func);
    let headers: Vec<Block> = forest.loops.values().map(|data| data.header).collect();
    for &header in &headers {
        enter_by_jump(func, header);
    }
    let found = headers.into_iter().filter_map(|header| Pair::new(func, header));
    let is_it = |other: &Pair| {
        other.trips[0] == other.trips[1]
            && (other.second.header == header || other.second.exit.block == behind)
    };
    let pair = found.into_iter().find(is_it)?;
    merge(func, &pair)
}

/// Makes one loop of two that run as often, where that changes nothing; the header.
fn merge(func: &mut Function, pair: &Pair) -> Option<Block> {
    let Pair { first, second, between, .. } = pair;
    if pair.trips[0] != pair.trips[1] || !keeps_order(func, pair) {
        return None;
    }
    // Parameters of the blocks between are what is handed to them.
    let mut names = Replacements::new();
    let mut handed = first.exit.args.clone();
    for &block in between {
        for (&param, &arg) in func.blocks[block].params.iter().zip(&handed) {
            names.replace(param, arg);
        }
        let Terminator::Jump(to) = func.terminator(block) else { return None };
        handed = to.args.clone();
    }
    // What depends on the first loop comes behind both, and the second must not need it.
    let mut late: BTreeSet<Value> = BTreeSet::new();
    let (mut early_insts, mut late_insts) = (Vec::new(), Vec::new());
    for &inst in between.iter().flat_map(|&block| &func.blocks[block].insts) {
        let data = &func.insts[inst];
        let is_load = matches!(data.op, Op::Load(..));
        let may_move = match is_load {
            true => may_be_early(func, inst, first),
            false => data.op.effect() == Effect::Pure,
        };
        if !may_move {
            return None;
        }
        let args = data.op.args().into_iter().map(|arg| names.resolve(arg));
        let is_late = args.into_iter().any(|arg| late.contains(&arg) || first.defines(func, arg));
        // The second loop may store to what a load behind it reads.
        if is_late && is_load {
            return None;
        }
        if is_late {
            late.extend(data.results.iter().copied());
            late_insts.push(inst);
        } else {
            early_insts.push(inst);
        }
    }
    let mut needs_late = false;
    let mut note = |arg: Value| {
        let arg = names.resolve(arg);
        needs_late |= late.contains(&arg) || first.defines(func, arg);
    };
    for &block in &second.blocks {
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(&mut note);
        }
        match func.terminator(block) {
            Terminator::Branch(cond, ..) if block == second.latch => note(*cond),
            terminator => terminator.for_each_arg(&mut note),
        }
    }
    second.back_args.iter().chain(&second.entry_args).copied().for_each(&mut note);
    if needs_late {
        return None;
    }

    for param in std::mem::take(&mut func.blocks[second.header].params) {
        let ty = func.ty(param);
        let own = func.add_param(first.header, ty);
        names.replace(param, own);
    }
    func.blocks[second.header].loop_info = None;
    func.blocks[first.preheader].insts.extend(early_insts);
    for to in func.blocks[first.preheader].terminator.as_mut()?.successors_mut() {
        to.args.extend(&second.entry_args);
    }
    let body = BlockCall { block: second.header, args: vec![] };
    func.blocks[first.latch].terminator = Some(Terminator::Jump(body));
    let behind = func.add_block();
    func.blocks[behind].insts = late_insts;
    func.blocks[behind].terminator = Some(Terminator::Jump(second.exit.clone()));
    func.blocks[behind].span = second.span;
    for to in func.blocks[second.latch].terminator.as_mut()?.successors_mut() {
        if to.block == second.header {
            let own = std::mem::take(&mut to.args);
            to.block = first.header;
            to.args = first.back_args.iter().copied().chain(own).collect();
        } else {
            *to = BlockCall { block: behind, args: vec![] };
        }
    }
    names.apply(func);
    unreachable::run(func);
    simplify_cfg::run(func);
    params::run(func);
    dce::run(func);
    Some(first.header)
}

/// Whether a load gives the same before a loop: it is inside, and the loop does not store to its object.
fn may_be_early(func: &Function, inst: Inst, first: &Shape) -> bool {
    let Op::Load(_, mem, subscripts) = &func.insts[inst].op else { return false };
    let (&[index], &[Extent::Fixed(count)]) = (&subscripts[..], &func.mems[*mem].extents[..])
    else {
        return false;
    };
    let stores = |inst: &Inst| matches!(&func.insts[*inst].op, Op::Store(to, ..) if to == mem);
    let is_stored = first.blocks.iter().flat_map(|&block| &func.blocks[block].insts).any(stores);
    !is_stored && ValueRanges::new(func).fits(index, 0, i64::from(count) - 1)
}

/// Whether each iteration of the second loop may run before later ones of the first: no access
/// overtakes another to its element, and none is outside.
fn keeps_order(func: &Function, pair: &Pair) -> bool {
    let forms = AffineForms::new(func, &Cfg::new(func));
    let ranges = ValueRanges::new(func);
    let trips = pair.trips[0] as i64;
    let accesses = |shape: &Shape| -> Option<Vec<(Mem, Subscript, bool)>> {
        let evolutions = Evolutions::new(func, shape, &forms);
        let mut found = Vec::new();
        for &inst in shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts) {
            let (mem, subscripts, is_store) = match &func.insts[inst].op {
                Op::Load(ty, mem, subscripts) if !ty.is_vector() => (*mem, subscripts, false),
                Op::Store(mem, subscripts, _) => (*mem, subscripts, true),
                op if op.effect() == Effect::Pure => continue,
                _ => return None,
            };
            let (&[index], &[Extent::Fixed(count)]) =
                (&subscripts[..], &func.mems[mem].extents[..])
            else {
                return None;
            };
            let last = i64::from(count) - 1;
            let evolution = evolutions.of(index);
            let ends = evolution.as_ref().and_then(|evolution| {
                let start = i64::from(evolution.start.as_constant()?);
                Some([start, start + i64::from(evolution.step.as_constant()?) * (trips - 1)])
            });
            let is_inside = ends.is_some_and(|ends| ends.iter().all(|at| (0..=last).contains(at)));
            if !is_inside && !ranges.fits(index, 0, last) {
                return None;
            }
            found.push((
                mem,
                evolution.map_or(Subscript::Inside(index), Subscript::Linear),
                is_store,
            ));
        }
        evolutions.limits().is_empty().then_some(found)
    };
    let (Some(first), Some(second)) = (accesses(&pair.first), accesses(&pair.second)) else {
        return false;
    };
    // Subscripts that are equal in 32 bits are equal.
    let is_short = |subscript: &Subscript| match subscript {
        Subscript::Linear(evolution) => {
            let step = evolution.step.as_constant();
            step.is_some_and(|step| i64::from(step).saturating_mul(trips).abs() < 1 << 31)
        }
        Subscript::Inside(_) => true,
        Subscript::Limited(..) | Subscript::Watched(_) | Subscript::Followed(_) => false,
    };
    first.iter().all(|(mem, a, stores)| {
        second.iter().filter(|(other, _, also)| other == mem && (*stores || *also)).all(
            |(_, b, _)| {
                is_short(a)
                    && is_short(b)
                    && match distance_between(a, b) {
                        Distance::Never => true,
                        Distance::After(later) => later >= 0,
                        Distance::Any | Distance::Always => false,
                    }
            },
        )
    })
}
