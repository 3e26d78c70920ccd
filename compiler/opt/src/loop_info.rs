//! Loop information where there is no loop any more.

use nbcc_ir::{Block, Cfg, Dominators, Function};

/// Removes the information from blocks that head no loop, after edges were removed.
pub(crate) fn drop_stale(func: &mut Function) {
    if func.layout.iter().all(|&block| func.blocks[block].loop_info.is_none()) {
        return;
    }
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    for i in 0..func.layout.len() {
        let block = func.layout[i];
        let back = |&from: &Block| dominators.dominates(block, from);
        if func.blocks[block].loop_info.is_some() && !cfg.predecessors(block).iter().any(back) {
            func.blocks[block].loop_info = None;
        }
    }
}
