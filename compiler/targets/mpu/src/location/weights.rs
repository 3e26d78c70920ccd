//! How often the blocks of a function execute: as a run measured it, or as the loops around them let
//! expect.

use cranelift_entity::SecondaryMap;
use nbcc_base::SourceMap;
use nbcc_mach::Block;
use nbcc_mach::emit::source_place;
use nbcc_pipeline::LineCounts;
use nbcc_simt::backend::select::MachFunction;

/// How much more often than what is around it the body of a loop is expected to execute.
const LOOP: u64 = 10;
/// Loops within each other that count.
const MAX_LOOP_DEPTH: u32 = 8;

/// Executions that count: sums of them over a function are numbers still.
const MAX_EXECUTIONS: u64 = 1 << 40;

/// Executions by block.
pub type Weights = SecondaryMap<Block, u64>;

/// By the loops around each block.
pub fn expected(func: &MachFunction) -> Weights {
    let mut weights = Weights::new();
    for (block, data) in &func.blocks {
        weights[block] = LOOP.pow(data.loop_depth.min(MAX_LOOP_DEPTH));
    }
    weights
}

/// By a run in which lines were executed so often; `None` where no line of the function was.
pub fn measured(func: &MachFunction, counts: &LineCounts, sources: &SourceMap) -> Option<Weights> {
    let mut weights = Weights::new();
    let (mut ran, mut unknown) = (false, Vec::new());
    for (block, data) in &func.blocks {
        let places = data.insts.iter().filter_map(|inst| source_place(sources, inst.span?));
        // A line may have instructions in several blocks: of the lines of this one, that with the
        // fewest executions has fewest of them elsewhere. A line that is not listed was not executed.
        let executed = places.map(|place| counts.get(&place.file, place.line).unwrap_or(0));
        match executed.min() {
            Some(executed) => {
                weights[block] = executed.min(MAX_EXECUTIONS);
                ran |= executed > 0;
            }
            None => unknown.push(block),
        }
    }
    let mut before: SecondaryMap<Block, Option<u64>> = SecondaryMap::new();
    for (from, data) in &func.blocks {
        data.successors.iter().for_each(|&to| before[to] = before[to].max(Some(weights[from])));
    }
    // What has no line of its own runs no more often than what is around it.
    for block in unknown {
        let behind = func.blocks[block].successors.iter().map(|&to| weights[to]).max();
        weights[block] = before[block].into_iter().chain(behind).min().unwrap_or(0);
    }
    ran.then_some(weights)
}
