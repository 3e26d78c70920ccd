//! How often the blocks of a kernel run.

use cranelift_entity::SecondaryMap;
use nbcc_analysis::loops::LoopForest;
use nbcc_ir::{Block, Cfg, Dominators, Function};

/// How often a loop runs of which that is not known.
const UNKNOWN_TRIPS: u64 = 8;

/// How often each block runs when its function runs once, at most: the product of the trips of the
/// loops around it.
pub fn block_runs(func: &Function) -> SecondaryMap<Block, u64> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
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
        all[block] = runs;
    }
    all
}
