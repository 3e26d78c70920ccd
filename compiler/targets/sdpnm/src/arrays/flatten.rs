//! Loops with loops inside become loops without: short inner loops are unrolled where what comes out
//! fits an array, and small local arrays, whose subscripts are constants then, become values.

use nbcc_analysis::LoopForest;
use nbcc_ir::{Cfg, Dominators, Function, Op};
use nbcc_opt::unroll::{self, Candidate};
use nbcc_opt::{cse, dce, fold, promote, simplify_cfg};

/// Instructions of an unrolled loop at most, constants aside.
const MAX_INSTS: u64 = 200;

/// Unrolls and makes values of arrays until nothing changes.
pub fn run(func: &mut Function) -> bool {
    let mut changed = unroll::run_where(func, factor);
    if changed {
        fold::run(func);
        cse::run(func);
        simplify_cfg::run(func);
        dce::run(func);
    }
    changed |= promote::run(func);
    changed
}

/// How often a loop is unrolled: wholly, where there is one around it and it stays short.
fn factor(func: &Function, candidate: Candidate<'_>) -> u64 {
    let is_work = |inst: &&nbcc_ir::Inst| !matches!(func.insts[**inst].op, Op::Const(..));
    let insts = candidate.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let size = insts.filter(is_work).count() as u64;
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let is_inside = candidate
        .blocks
        .first()
        .and_then(|&header| forest.headed_by(header))
        .is_some_and(|l| forest.loops[l].parent.is_some());
    let fits = size.saturating_mul(candidate.trips) <= MAX_INSTS;
    if is_inside && fits { candidate.trips } else { 1 }
}
