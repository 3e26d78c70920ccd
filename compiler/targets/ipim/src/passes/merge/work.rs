//! Which kernels are better not merged: those that run most of a program's instructions, which have
//! all their constants for themselves.

use std::collections::BTreeSet;

use nbcc_ir::{Block, Function, Op};

use crate::kernel::Kernel;
use crate::passes::frequency::block_runs;

/// The candidates that run most instructions, of no more than `room` instructions in all.
pub fn busiest(kernels: &[Kernel], candidates: &[usize], room: usize) -> BTreeSet<usize> {
    let mut order: Vec<(u64, usize)> =
        candidates.iter().map(|&number| (work(&kernels[number].func), number)).collect();
    order.sort_by_key(|&(work, number)| (std::cmp::Reverse(work), number));
    let mut room = room;
    let mut taken = BTreeSet::new();
    for (_, number) in order {
        let func = &kernels[number].func;
        let size: usize = func.layout.iter().map(|&block| insts(func, block)).sum();
        if size <= room {
            room -= size;
            taken.insert(number);
        }
    }
    taken
}

/// Instructions of a block, constants not counted.
fn insts(func: &Function, block: Block) -> usize {
    let insts = func.blocks[block].insts.iter();
    insts.filter(|&&inst| !matches!(func.insts[inst].op, Op::Const(..))).count()
}

/// How many instructions a function runs.
pub fn work(func: &Function) -> u64 {
    let runs = block_runs(func);
    let work = |&block: &Block| runs[block].saturating_mul(insts(func, block) as u64);
    func.layout.iter().map(work).fold(0, u64::saturating_add)
}
