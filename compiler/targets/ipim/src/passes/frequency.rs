//! How often the blocks of a kernel run.

use cranelift_entity::SecondaryMap;
use nbcc_analysis::loops::LoopForest;
use nbcc_ir::{Block, Cfg, Dominators, Function};

/// How often a loop runs of which that is not known.
pub const UNKNOWN_TRIPS: u64 = 8;

/// A cold block runs once in so many times.
const COLD: u64 = 8;

/// How often each block runs when its function runs once: the product of the trips of the loops
/// around it, at most, and a part of that where a cold block dominates it.
pub fn block_runs(func: &Function) -> SecondaryMap<Block, u64> {
    let cfg = Cfg::new(func);
    let dominators = Dominators::new(func);
    let forest = LoopForest::new(&cfg, &dominators);
    let is_cold = cold(func, &dominators);
    let mut all = SecondaryMap::new();
    for &block in &func.layout {
        let mut at = forest.innermost(block);
        let mut runs = 1u64;
        while let Some(l) = at {
            let info = &func.blocks[forest.loops[l].header].loop_info;
            let trips = info.as_ref().and_then(|info| info.trips).unwrap_or(UNKNOWN_TRIPS);
            runs = runs.saturating_mul(trips);
            at = forest.loops[l].parent;
        }
        all[block] = if is_cold(block) { (runs / COLD).max(1) } else { runs };
    }
    all
}

/// Tells which blocks run rarely: those that a cold block dominates. One to which control can only go
/// on, as where its condition turned out to hold, runs as often as what is before it.
pub fn cold<'a>(func: &Function, dominators: &'a Dominators) -> impl Fn(Block) -> bool + use<'a> {
    let cfg = Cfg::new(func);
    let may_go_elsewhere = |&block: &Block| func.terminator(block).successors().len() > 1;
    let marked = func.layout.iter().copied().filter(|&block| {
        func.blocks[block].cold && cfg.predecessors(block).iter().any(may_go_elsewhere)
    });
    let marked: Vec<Block> = marked.collect();
    move |block| marked.iter().any(|&cold| dominators.dominates(cold, block))
}
