//! Loops whose iterations are stages, as those of a Fourier transform are: nests of which only the stage
//! says how often their loops run and how far apart their accesses are. Where all of that is constant in
//! each iteration of such a loop, its iterations stand one behind the other (complete unrolling: Bacon,
//! Graham, Sharp, "Compiler transformations for high-performance computing", ACM Computing Surveys, 1994,
//! section 6.3), and each becomes a loop for an array instead of hundreds of starts of one.

use std::collections::BTreeSet;

use nbcc_analysis::{Loop, LoopForest};
use nbcc_ir::{Block, Cfg, Dominators, Function};
use nbcc_opt::{cse, dce, fold, params, ranges, simplify_cfg, trip_counts, unroll};

use super::flatten::{MAX_OPERATIONS, count, is_possible, operations};
use crate::arrays::facts::sources::Sources;

/// Stages at most.
const MAX_STAGES: u64 = 16;

/// Instructions at most that they make of a function more than it had.
const MOST_INSTS: u64 = 3000;

/// Loops that are tried at most.
const MOST_TRIALS: usize = 64;

/// Lets stages stand one behind the other; whether there are some.
pub fn run(func: &mut Function, sources: &Sources) -> bool {
    let mut search = Search { sources, most: insts(func, &func.layout) + MOST_INSTS, trials: 0 };
    search.run(func, &mut BTreeSet::new())
}

/// A search for stages.
struct Search<'a> {
    sources: &'a Sources,
    /// Instructions of the function at most.
    most: u64,
    trials: usize,
}

impl Search<'_> {
    /// Looks at the loops whose headers are not among those that are `done`.
    fn run(&mut self, func: &mut Function, done: &mut BTreeSet<Block>) -> bool {
        let mut changed = false;
        while self.trials < MOST_TRIALS
            && let Some(header) = self.find(func, done)
        {
            self.trials += 1;
            let mut trial = func.clone();
            if !unroll::flatten(&mut trial, header) {
                continue;
            }
            params::run(&mut trial);
            let clean = [fold::run, cse::run, simplify_cfg::run, dce::run];
            let clean = |func: &mut Function| clean.iter().for_each(|clean| _ = clean(func));
            clean(&mut trial);
            // What counts has ranges, once it is known how often.
            trip_counts::run(&mut trial);
            ranges::run(&mut trial);
            clean(&mut trial);
            params::run(&mut trial);
            trip_counts::run(&mut trial);
            count(&mut trial);
            // A stage may consist of stages.
            let others = others(func, header);
            self.run(&mut trial, &mut others.clone());
            if are_counted(&trial, &others) && is_short(func, &trial, header) {
                *func = trial;
                changed = true;
            }
        }
        changed
    }

    /// The header of a loop, not done yet, that may be one of stages.
    fn find(&self, func: &Function, done: &mut BTreeSet<Block>) -> Option<Block> {
        let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
        forest.loops.keys().find_map(|l| {
            let header = forest.loops[l].header;
            let is_new = !func.blocks[header].cold && done.insert(header);
            (is_new && self.has_stages(func, &forest, l)).then_some(header)
        })
    }

    /// Whether a loop is short, with nests inside of which it is not known how often all their loops run.
    fn has_stages(&self, func: &Function, forest: &LoopForest, l: Loop) -> bool {
        let Some(trips) = trips(func, forest.loops[l].header) else { return false };
        let blocks = forest.blocks(l);
        let inside = || within(forest, l);
        (1..=MAX_STAGES).contains(&trips)
            && insts(func, &func.layout) + insts(func, &blocks) * (trips - 1) <= self.most
            && (inside().any(|l| !forest.loops[l].inner.is_empty()) || is_inside(forest, l))
            && inside().any(|l| self::trips(func, forest.loops[l].header).is_none())
            && !self.sources.stays(func, &blocks, trips)
    }
}

/// Whether there is a loop around one.
fn is_inside(forest: &LoopForest, l: Loop) -> bool {
    forest.loops[l].parent.is_some()
}

/// Whether what stands behind one another in another loop is short enough to be unrolled there.
fn is_short(func: &Function, trial: &Function, header: Block) -> bool {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let around = forest.headed_by(header).and_then(|l| forest.loops[l].parent);
    let Some(around) = around.map(|l| forest.loops[l].header) else { return true };
    let forest = LoopForest::new(&Cfg::new(trial), &Dominators::new(trial));
    let Some(l) = forest.headed_by(around) else { return false };
    let times = |block: Block| {
        let loops = std::iter::successors(forest.innermost(block), |&l| forest.loops[l].parent);
        let inner = loops.take_while(|&other| other != l);
        inner.filter_map(|l| trips(trial, forest.loops[l].header)).product::<u64>()
    };
    let blocks = forest.blocks(l);
    let size = blocks.iter().map(|&block| operations(trial, &[block]) * times(block)).sum::<u64>();
    size <= MAX_OPERATIONS
}

/// Instructions of blocks.
fn insts(func: &Function, blocks: &[Block]) -> u64 {
    blocks.iter().map(|&block| func.blocks[block].insts.len() as u64).sum()
}

/// How often a loop runs, where that is noted.
fn trips(func: &Function, header: Block) -> Option<u64> {
    func.blocks[header].loop_info.as_ref()?.trips
}

/// The loops inside of one.
fn within(forest: &LoopForest, l: Loop) -> impl Iterator<Item = Loop> {
    forest.loops.keys().filter(move |&inner| {
        std::iter::successors(forest.loops[inner].parent, |&l| forest.loops[l].parent)
            .any(|around| around == l)
    })
}

/// The headers of all loops but those inside of one.
fn others(func: &Function, header: Block) -> BTreeSet<Block> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let inside: Vec<Loop> =
        forest.headed_by(header).into_iter().flat_map(|l| within(&forest, l)).collect();
    let others = forest.loops.keys().filter(|l| !inside.contains(l));
    others.map(|l| forest.loops[l].header).collect()
}

/// Whether it is known of all loops but some how often they run, and the innermost ones are for arrays.
fn are_counted(func: &Function, others: &BTreeSet<Block>) -> bool {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let mut came = forest.loops.values().filter(|of| !others.contains(&of.header));
    came.all(|of| {
        trips(func, of.header).is_some() && (!of.inner.is_empty() || is_possible(func, &of.own))
    })
}
