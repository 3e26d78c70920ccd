//! Switches in loops become a binary search of branches (Sale, "The implementation of case
//! statements in Pascal", Software: Practice and Experience 11, 1981), so that what speculates and
//! predicates branches sees them, too. Neighbouring numbers that lead to the same place are one
//! step of the search.

use std::ops::Range;

use nbcc_analysis::LoopForest;
use nbcc_ir::{Block, BlockCall, Builder, Cfg, Dominators, Function, IntCond, Op};
use nbcc_ir::{Terminator, Value};

/// Stretches of numbers at most. With more a table is better where the switch stays what it is: a
/// search of 32 asks five times.
const MAX_STRETCHES: usize = 32;

/// Numbers from this one on, up to the next stretch, lead to one place.
struct Stretch {
    first: u64,
    to: BlockCall,
}

/// Lowers all switches in loops.
pub fn run(func: &mut Function) -> bool {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    let mut changed = false;
    for block in func.layout.clone() {
        let Terminator::Switch(value, cases, default) = func.terminator(block) else { continue };
        let (value, mut stretches) = (*value, stretches(cases, default));
        let most = u64::MAX >> (64 - func.ty(value).scalar.bits());
        stretches.retain(|stretch| stretch.first <= most);
        if forest.innermost(block).is_some() && stretches.len() <= MAX_STRETCHES {
            search(func, block, value, &stretches);
            changed = true;
        }
    }
    changed
}

/// The stretches, which cover all numbers.
fn stretches(cases: &[BlockCall], default: &BlockCall) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for (first, to) in (0..).zip(cases.iter().chain([default])) {
        if found.last().is_none_or(|last| last.to != *to) {
            found.push(Stretch { first, to: to.clone() });
        }
    }
    found
}

/// Ends a block with the search.
fn search(func: &mut Function, block: Block, value: Value, stretches: &[Stretch]) {
    let ty = func.ty(value);
    let span = func.blocks[block].span;
    let mut steps: Vec<(Block, Range<usize>)> = vec![(block, 0..stretches.len())];
    let fresh = func.layout.len();
    while let Some((block, range)) = steps.pop() {
        let middle = range.start + range.len() / 2;
        if middle == range.start {
            func.blocks[block].terminator = Some(Terminator::Jump(stretches[middle].to.clone()));
            continue;
        }
        let mut side = |half: Range<usize>| match half.len() {
            1 => stretches[half.start].to.clone(),
            _ => {
                let block = func.add_block();
                steps.push((block, half));
                BlockCall { block, args: vec![] }
            }
        };
        let (below, above) = (side(range.start..middle), side(middle..range.end));
        let mut b = Builder::at(func, block);
        b.set_span(span);
        let first = b.constant(ty, stretches[middle].first);
        let is_below = b.value(Op::Icmp(IntCond::Ult, value, first));
        b.terminate(Terminator::Branch(is_below, below, above));
    }
    let steps = func.layout.split_off(fresh);
    let behind = func.layout.iter().position(|&other| other == block).map_or(fresh, |at| at + 1);
    func.layout.splice(behind..behind, steps);
}
