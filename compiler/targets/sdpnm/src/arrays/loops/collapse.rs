//! A loop with one loop inside becomes one loop (loop collapsing: Polychronopoulos, "Loop coalescing: a
//! compiler transformation for parallel machines", ICPP 1987), so that an array is started once for
//! the whole nest. What the outer loop counts becomes a quotient of the iteration, what the inner one
//! counts the rest of it; what the outer loop computes on its way to the inner one is computed in each
//! iteration. Sums of the inner loop begin anew where it does; what stands behind it runs where it ends.
//!
//! Where the inner loop has such sums, several of its iterations become one, and several iterations of
//! the outer loop are done at a time (unroll and jam: Callahan, Cocke, Kennedy, "Estimating interlock and
//! improving balance for pipelined architectures", JPDC 1988): they share what they load, and what is
//! behind the inner loop takes its operations in fewer iterations.
//!
//! Both run a known number of times.

use std::collections::BTreeSet;

use nbcc_analysis::{AffineForms, LoopForest, ValueRanges};
use nbcc_ir::{Block, Cfg, Dominators, Extent, Function, Op};
use nbcc_opt::{cse, dce, fold, licm, params, simplify_cfg};

use super::coalesce::coalesce;
use super::flatten::operations;
use super::merge::enter_by_jump;
use super::nest::Nest;
use super::sums::begin_at_zero;
use crate::arrays::facts::evolution::Evolutions;
use crate::arrays::facts::shape::Shape;
use crate::arrays::placing::jam::unrolled;

/// Iterations of the inner loop that become one at most, those of the outer loop, and how often all stand
/// there times what is counted of one as operations.
const MOST_INNER: u64 = 16;
const MOST_OUTER: u64 = 8;
const MOST_SIZE: u64 = 224;

/// Operations of a loop at most of which several iterations of a nest are one: what many sums read is hard
/// to hand to all of them.
pub const MOST_OPERATIONS: usize = 100;

/// A loop that was made of a nest.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its header.
    pub header: Block,
    /// The headers of all the loops that were around the inner one.
    pub around: Vec<Block>,
    /// Its iterations from one to the next that does not see what iterations before left; `None` where
    /// there are none.
    pub rows: Option<u32>,
    /// Whether several iterations of a loop are one.
    pub is_several: bool,
    /// About the cycles that the loops take one by one, where that is known.
    pub before: Option<u64>,
}

/// Makes one loop of nests, from the inside out, where it takes fewer cycles than the inner one does as
/// often as the outer one runs; `cycles` says about how many a loop takes, if an array can run it, given
/// its header, its rows, and whether several iterations of a nest are one. `refused` are headers of outer loops that stay. Gives the new loops.
pub fn run(
    func: &mut Function,
    refused: &BTreeSet<Block>,
    cycles: impl Fn(&Function, Block, Option<u32>, bool) -> Option<u64>,
) -> Vec<Made> {
    let mut made: Vec<Made> = Vec::new();
    let mut refused = refused.clone();
    'again: loop {
        for (outer, inner) in pairs(func) {
            if refused.contains(&outer) {
                continue;
            }
            enter_by_jump(func, outer);
            enter_by_jump(func, inner);
            refused.insert(outer);
            let Some(nest) = Nest::new(func, outer) else { continue };
            let known = made.iter().position(|other| other.header == inner);
            let rows = known.and_then(|known| made[known].rows);
            let before = cycles(func, inner, rows, false);
            let before = before.map(|one| one.saturating_mul(nest.trips[0]));
            let best = ways(func, &nest)
                .into_iter()
                .filter_map(|way| {
                    let (trial, header, nest) = made_one(func, &nest, way)?;
                    let rows = nest.rows(rows);
                    let is_several = way != (1, 1);
                    let cycles = cycles(&trial, header, rows, is_several)?;
                    Some((cycles, trial, Made { header, around: vec![], rows, is_several, before }))
                })
                .min_by_key(|(cycles, ..)| *cycles);
            let Some((after, trial, mut new)) = best else { continue };
            if before.is_none_or(|before| after < before) {
                *func = trial;
                if let Some(within) = known.map(|known| made.swap_remove(known)) {
                    new.around = within.around;
                    new.is_several |= within.is_several;
                    new.before = within.before.map(|before| before.saturating_mul(nest.trips[0]));
                }
                new.around.push(outer);
                made.push(new);
                continue 'again;
            }
        }
        return made;
    }
}

/// The headers of loops that have one loop inside, which has none, with that of the inner one.
fn pairs(func: &Function) -> Vec<(Block, Block)> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let pair = |data: &nbcc_analysis::LoopData| match data.inner[..] {
        [inner] if forest.loops[inner].inner.is_empty() && !func.blocks[data.header].cold => {
            Some((data.header, forest.loops[inner].header))
        }
        _ => None,
    };
    forest.loops.values().filter_map(pair).collect()
}

/// Iterations of the inner loop that become one, and of the outer one that are done at a time.
type Way = (u64, u64);

/// The ways to make one loop of a nest that are tried.
fn ways(func: &Function, nest: &Nest) -> Vec<Way> {
    if !nest.resets() {
        return vec![(1, 1)];
    }
    let size = operations(func, &nest.inner.blocks).max(1);
    let most_outer = if nest.is_parallel(func) { MOST_OUTER } else { 1 };
    let divisors =
        |of: u64, most: u64| (1..=most.min(of)).filter(move |times| of.is_multiple_of(*times));
    let mut ways = Vec::new();
    for outer in divisors(nest.trips[0], most_outer) {
        for inner in divisors(nest.trips[1], MOST_INNER) {
            if inner * outer == 1 || inner * outer * size <= MOST_SIZE {
                ways.push((inner, outer));
            }
        }
    }
    ways
}

/// The function in which a nest is one loop, the header of that, and the nest as it was then.
fn made_one(func: &Function, nest: &Nest, (inner, outer): Way) -> Option<(Function, Block, Nest)> {
    let mut trial = func.clone();
    let mut shorter = None;
    if inner > 1 {
        let times = u32::try_from(inner).ok()?;
        trial = unrolled(&trial, nest.inner.header, nest.trips[1], times)?.0;
        enter_by_jump(&mut trial, nest.outer.header);
        shorter = Some(Nest::new(&trial, nest.outer.header)?);
    }
    begin_at_zero(&mut trial, shorter.as_ref().unwrap_or(nest));
    let nest = Nest::new(&trial, nest.outer.header)?;
    let header = coalesce(&mut trial, &nest, outer);
    for clean in [fold::run, cse::run, licm::run, simplify_cfg::run, dce::run, params::run] {
        clean(&mut trial);
    }
    dce::run(&mut trial);
    // Iterations of the outer loop are in another order: nothing may end the run in between.
    (outer == 1 || is_inside(&trial, header)).then_some((trial, header, nest))
}

/// Whether all accesses of a loop are inside.
fn is_inside(func: &Function, header: Block) -> bool {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let shape = forest.headed_by(header).map(|l| Shape::new(func, &cfg, &forest, l));
    let Some(Ok(shape)) = shape else { return false };
    let forms = AffineForms::new(func, &cfg);
    let evolutions = Evolutions::new(func, &shape, &forms);
    let ranges = ValueRanges::new(func);
    let mut insts = shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let is_fine = insts.all(|&inst| {
        let (mem, subscripts) = match &func.insts[inst].op {
            Op::Load(_, mem, subscripts) | Op::Store(mem, subscripts, _) => (*mem, subscripts),
            _ => return true,
        };
        let (&[index], &[Extent::Fixed(count)]) = (&subscripts[..], &func.mems[mem].extents[..])
        else {
            return false;
        };
        let last = i64::from(count) - 1;
        let ends = evolutions.in_nest(index).zip(evolutions.trips()).and_then(|(of, trips)| {
            let constant = i64::from(of.start.constant);
            let (mut least, mut most) = of.reach(trips)?;
            (least, most) = (least.checked_add(constant)?, most.checked_add(constant)?);
            for &(value, factor) in &of.start.terms {
                let range = ranges.of(value);
                let ends = [range.0, range.1].map(|end| end.checked_mul(factor.into()));
                let [Some(a), Some(b)] = ends else { return None };
                (least, most) = (least.checked_add(a.min(b))?, most.checked_add(a.max(b))?);
            }
            Some((least, most))
        });
        ends.is_some_and(|(least, most)| least >= 0 && most <= last) || ranges.fits(index, 0, last)
    });
    is_fine && evolutions.limits().is_empty()
}
