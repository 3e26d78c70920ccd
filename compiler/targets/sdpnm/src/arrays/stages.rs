//! Loops whose iterations are stages, as those of a Fourier transform are: nests of which only the stage
//! says how often their loops run and how far apart their accesses are. Where all of that is constant in
//! each iteration of such a loop, its iterations stand one behind the other (complete unrolling: Bacon,
//! Graham, Sharp, "Compiler transformations for high-performance computing", ACM Computing Surveys, 1994,
//! section 6.3), and each becomes a loop for an array instead of hundreds of starts of one.

use std::collections::BTreeSet;

use nbcc_analysis::{Loop, LoopForest};
use nbcc_ir::{Block, Cfg, Dominators, Function};
use nbcc_opt::{cse, dce, fold, params, ranges, simplify_cfg, trip_counts, unroll};

use super::flatten::{count, is_possible};
use super::sources::Sources;

/// Stages at most, and instructions of all together.
const MOST: u64 = 16;
const MOST_INSTS: u64 = 3000;

/// Lets stages stand one behind the other; whether there are some.
pub fn run(func: &mut Function, sources: &Sources) -> bool {
    run_but(func, sources, &mut BTreeSet::new())
}

/// The same of loops whose headers are not among those that are `done`.
fn run_but(func: &mut Function, sources: &Sources, done: &mut BTreeSet<Block>) -> bool {
    let mut changed = false;
    while let Some(header) = find(func, sources, done) {
        let mut trial = func.clone();
        if unroll::flatten(&mut trial, header) {
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
            run_but(&mut trial, sources, &mut done.clone());
            if are_counted(&trial, func, header) {
                *func = trial;
                changed = true;
            }
        }
    }
    changed
}

/// The header of a loop, not done yet, that may be one of stages: short, with nests inside of which it is
/// not known how often all their loops run.
fn find(func: &Function, sources: &Sources, done: &mut BTreeSet<Block>) -> Option<Block> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    forest.loops.keys().find_map(|l| {
        let header = forest.loops[l].header;
        let is_new = !func.blocks[header].cold && done.insert(header);
        (is_new && has_stages(func, &forest, l, sources)).then_some(header)
    })
}

fn has_stages(func: &Function, forest: &LoopForest, l: Loop, sources: &Sources) -> bool {
    let Some(trips) = trips(func, forest.loops[l].header) else { return false };
    let blocks = forest.blocks(l);
    let insts: u64 = blocks.iter().map(|&block| func.blocks[block].insts.len() as u64).sum();
    let inside = || within(forest, l);
    trips <= MOST
        && insts.saturating_mul(trips) <= MOST_INSTS
        && inside().any(|l| !forest.loops[l].inner.is_empty())
        && inside().any(|l| self::trips(func, forest.loops[l].header).is_none())
        && !sources.stays(func, &blocks, trips)
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

/// Whether it is known of all loops that came of one how often they run, the innermost ones are for
/// arrays, and all together are not too much.
fn are_counted(new: &Function, old: &Function, header: Block) -> bool {
    let forest = |func: &Function| LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let (before, after) = (forest(old), forest(new));
    let Some(l) = before.headed_by(header) else { return false };
    let own: BTreeSet<Block> = within(&before, l).map(|l| before.loops[l].header).collect();
    let others: BTreeSet<Block> = before.loops.values().map(|data| data.header).collect();
    let mut came =
        after.loops.values().filter(|of| own.contains(&of.header) || !others.contains(&of.header));
    let mut insts = 0;
    came.all(|of| {
        insts += of.own.iter().map(|&block| new.blocks[block].insts.len() as u64).sum::<u64>();
        trips(new, of.header).is_some() && (!of.inner.is_empty() || is_possible(new, &of.own))
    }) && insts <= MOST_INSTS
}
