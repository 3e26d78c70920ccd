//! A reverse postorder in which a loop's blocks come before those behind the loop: the order in
//! which code is laid out, and in which threads that have parted are best let go on, those behind
//! first.

use cranelift_entity::EntityRef;
use nbcc_ir::{Block, Cfg, Dominators, Function, cfg::successors};

use crate::loops::LoopForest;

/// The reachable blocks, each before those it dominates, and loops before what follows them (where
/// they are natural loops).
pub fn loop_order(func: &Function, cfg: &Cfg) -> Vec<Block> {
    let forest = LoopForest::new(cfg, &Dominators::new(func));
    let depth = |block: Block| forest.innermost(block).map_or(0, |l| forest.loops[l].depth);
    // What is visited first ends first and stands last: ways out of loops.
    let open = |block: Block| {
        let mut to = successors(func, block);
        to.reverse();
        to.sort_by_key(|&to| std::cmp::Reverse(depth(to)));
        (block, to)
    };
    let mut seen = vec![false; func.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![open(func.entry())];
    seen[func.entry().index()] = true;
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(to) if std::mem::replace(&mut seen[to.index()], true) => {}
            Some(to) => stack.push(open(to)),
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
