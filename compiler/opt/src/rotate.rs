//! Loop inversion: a loop whose header tests whether it goes on is tested at its end, behind a test
//! in front of it (Muchnick, "Advanced Compiler Design and Implementation", section 18.5). What the
//! header does stands twice then, each time where it was in the order of what is done.
//!
//! Only loops with one way back, which is not itself a test, and short headers without writes.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Loop, LoopForest};
use nbcc_ir::{
    Block, BlockCall, Cfg, Counter, Dominators, Effect, Function, Terminator, Value, ValueDef,
};

use crate::clone_blocks::ClonedBlocks;
use crate::simplify_cfg;

/// Instructions of a header at most.
const MAX_HEADER: usize = 24;

/// A loop that can be turned.
struct Top {
    header: Block,
    latch: Block,
    /// Whether the first way of the header's branch goes on.
    goes_on: bool,
}

/// Turns all such loops.
pub fn run(func: &mut Function) -> bool {
    let mut done: BTreeSet<Block> = BTreeSet::new();
    let mut changed = false;
    loop {
        let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
        let forest = LoopForest::new(&cfg, &dominators);
        let mut fresh = forest.loops.keys().filter(|&l| !done.contains(&forest.loops[l].header));
        let Some(top) = fresh.find_map(|l| top(func, &forest, l)) else { break };
        done.insert(top.header);
        changed |= turn(func, &cfg, &top);
    }
    if changed {
        simplify_cfg::run(func);
    }
    changed
}

/// A loop that is left from its header and not from its latch.
fn top(func: &Function, forest: &LoopForest, l: Loop) -> Option<Top> {
    let data = &forest.loops[l];
    let &[latch] = &data.latches[..] else { return None };
    let header = data.header;
    let Terminator::Branch(_, then, other) = func.terminator(header) else { return None };
    let goes_on = match [then, other].map(|to| forest.contains(l, to.block)) {
        [true, false] => true,
        [false, true] => false,
        _ => return None,
    };
    let insts = &func.blocks[header].insts;
    let writes = insts.iter().any(|&inst| func.insts[inst].op.effect() == Effect::Write);
    let is_jump = matches!(func.terminator(latch), Terminator::Jump(_));
    let fine = is_jump && latch != header && header != func.entry() && !writes;
    (fine && insts.len() <= MAX_HEADER).then_some(Top { header, latch, goes_on })
}

/// Where a value of the header is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Inside,
    Behind,
}

/// Turns a loop. False, and nothing is done, where values of the header are read at a place that
/// several ways out of the loop lead to.
fn turn(func: &mut Function, cfg: &Cfg, top: &Top) -> bool {
    let &Top { header, latch, goes_on } = top;
    let sides = [Side::Inside, Side::Behind];
    let original = func.terminator(header).clone();
    let Terminator::Branch(cond, then, other) = original.clone() else { return false };
    let ways = if goes_on { [then, other] } else { [other, then] };
    // Both ways get a block of their own, which dominates what only it leads to.
    let edges = ways.map(|to| {
        let edge = func.add_block();
        func.blocks[edge].terminator = Some(Terminator::Jump(to));
        func.blocks[edge].span = func.blocks[header].span;
        edge
    });
    let [inside, behind] = edges;
    let branch = |[inside, behind]: [BlockCall; 2]| match goes_on {
        true => Terminator::Branch(cond, inside, behind),
        false => Terminator::Branch(cond, behind, inside),
    };
    let call = |block| BlockCall { block, args: vec![] };
    func.blocks[header].terminator = Some(branch(edges.map(call)));
    let Some(used) = read_outside(func, header, edges) else {
        func.blocks[header].terminator = Some(original);
        func.layout.truncate(func.layout.len() - 2);
        return false;
    };

    let mut args = [vec![], vec![]];
    let mut renamed: BTreeMap<(Side, Value), Value> = BTreeMap::new();
    for (number, &side) in sides.iter().enumerate() {
        for &(_, value) in used.iter().filter(|&&(of, _)| of == side) {
            let param = func.add_param(edges[number], func.ty(value));
            renamed.insert((side, value), param);
            args[number].push(value);
        }
    }
    let dominators = Dominators::new(func);
    for block in func.layout.clone() {
        let side = match (dominators.dominates(inside, block), dominators.dominates(behind, block))
        {
            (true, _) => Side::Inside,
            (_, true) => Side::Behind,
            _ => continue,
        };
        func.rename_in(block, |value| {
            if let Some(&new) = renamed.get(&(side, *value)) {
                *value = new;
            }
        });
    }
    let [to_inside, to_behind] = args;
    let to_inside = BlockCall { block: inside, args: to_inside };
    let to_behind = BlockCall { block: behind, args: to_behind };
    func.blocks[header].terminator = Some(branch([to_inside, to_behind]));

    let info = func.blocks[header].loop_info.take();
    func.blocks[inside].loop_info = info.map(|mut info| {
        info.counter = info.counter.and_then(|Counter { value, step }| {
            Some(Counter { value: *renamed.get(&(Side::Inside, value))?, step })
        });
        info
    });
    let copy = ClonedBlocks::before(func, &[header], header);
    let first = copy.blocks[&header];
    for &from in cfg.predecessors(header).iter().filter(|&&from| from != latch) {
        for to in func.blocks[from].terminator.iter_mut().flat_map(Terminator::successors_mut) {
            if to.block == header {
                to.block = first;
            }
        }
    }
    // The loop stands where it began.
    func.layout.retain(|block| !edges.contains(block));
    let at = func.layout.iter().position(|&block| block == header).unwrap_or(func.layout.len());
    func.layout.splice(at..at, edges);
    true
}

/// The values of a block that others read, by the edge that leads there. `None` where both may.
fn read_outside(
    func: &Function,
    header: Block,
    [inside, behind]: [Block; 2],
) -> Option<BTreeSet<(Side, Value)>> {
    let dominators = Dominators::new(func);
    let own: BTreeSet<_> = func.blocks[header].insts.iter().copied().collect();
    let is_own = |value: Value| match func.values[value].def {
        ValueDef::Param(block, _) => block == header,
        ValueDef::Result(inst, _) => own.contains(&inst),
    };
    let mut used = BTreeSet::new();
    for &block in func.layout.iter().filter(|&&block| block != header) {
        let mut values = Vec::new();
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(|value| values.push(value));
        }
        func.terminator(block).for_each_arg(|value| values.push(value));
        values.retain(|&value| is_own(value));
        if values.is_empty() {
            continue;
        }
        let side = match (dominators.dominates(inside, block), dominators.dominates(behind, block))
        {
            (true, _) => Side::Inside,
            (_, true) => Side::Behind,
            _ => return None,
        };
        used.extend(values.into_iter().map(|value| (side, value)));
    }
    Some(used)
}
