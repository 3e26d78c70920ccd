//! Removal of blocks that the entry does not reach.

use nbcc_ir::{Cfg, Function};

use crate::loop_info;

/// Takes unreachable blocks out of the layout.
pub fn run(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let before = func.layout.len();
    func.layout.retain(|&block| cfg.is_reachable(block));
    let changed = func.layout.len() != before;
    if changed {
        loop_info::drop_stale(func);
    }
    changed
}
