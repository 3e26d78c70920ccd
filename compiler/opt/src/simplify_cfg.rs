//! Simplification of the control-flow graph: branches with one target become jumps, edges to
//! blocks that only jump on lead to where those jump, and a block is joined with the only one
//! before it. Loop headers stay: what is known of their loop stays true.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Block, BlockCall, Cfg, Function, Replacements, Terminator};

use crate::{loop_info, unreachable};

/// Simplifies the graph, and removes what is out of reach then.
pub fn run(func: &mut Function) -> bool {
    run_where(func, |_| true)
}

/// The same, where only blocks for which `joins` holds are joined with what is before them.
pub fn run_where(func: &mut Function, joins: impl Fn(Block) -> bool) -> bool {
    let mut changed = unreachable::run(func);
    let threaded = thread_jumps(func);
    changed |= join_targets(func);
    if threaded {
        changed = true;
        unreachable::run(func);
    }
    let merged = merge_blocks(func, joins);
    if changed || merged {
        loop_info::drop_stale(func);
    }
    changed || merged
}

/// Branches whose ways all lead to one block with the same arguments become jumps.
fn join_targets(func: &mut Function) -> bool {
    let mut changed = false;
    for i in 0..func.layout.len() {
        let data = &mut func.blocks[func.layout[i]];
        let Some(Terminator::Branch(..) | Terminator::Switch(..)) = &data.terminator else {
            continue;
        };
        let terminator = data.terminator.as_ref().map_or(vec![], |t| t.successors());
        if terminator.iter().all(|&to| to == terminator[0]) {
            let to = terminator[0].clone();
            data.terminator = Some(Terminator::Jump(to));
            changed = true;
        }
    }
    changed
}

/// Edges to a block without instructions that ends in a jump lead to the jump's target.
fn thread_jumps(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let uses = func.use_counts();
    let entry = func.entry();
    let passes_on = |func: &Function, block: Block| -> bool {
        let data = &func.blocks[block];
        let Some(Terminator::Jump(to)) = &data.terminator else { return false };
        // The target of an edge that goes back may head a loop.
        let heads = cfg.predecessors(block).iter().any(|&b| cfg.position(b) >= cfg.position(block));
        let only_here = data.params.iter().all(|&param| {
            uses[param] as usize == to.args.iter().filter(|&&arg| arg == param).count()
        });
        block != entry && data.insts.is_empty() && data.loop_info.is_none() && !heads && only_here
    };
    let mut changed = false;
    // In postorder: the jump of such a block is final before edges to it are looked at.
    let order: Vec<Block> = cfg.reverse_postorder().rev().collect();
    let mut through: SecondaryMap<Block, Option<BlockCall>> = SecondaryMap::new();
    for block in order {
        let mut terminator = func.terminator(block).clone();
        for to in terminator.successors_mut() {
            let Some(next) = &through[to.block] else { continue };
            let params = &func.blocks[to.block].params;
            let args = next.args.iter().map(|&arg| {
                let number = params.iter().position(|&param| param == arg);
                number.map_or(arg, |number| to.args[number])
            });
            let args = args.collect();
            *to = BlockCall { block: next.block, args };
            changed = true;
        }
        func.blocks[block].terminator = Some(terminator);
        if passes_on(func, block)
            && let Terminator::Jump(to) = func.terminator(block)
        {
            through[block] = Some(to.clone());
        }
    }
    changed
}

/// A block that is the only one after the only one before it becomes part of that.
fn merge_blocks(func: &mut Function, joins: impl Fn(Block) -> bool) -> bool {
    let cfg = Cfg::new(func);
    let entry = func.entry();
    let mut replacements = Replacements::new();
    let mut merged: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut changed = false;
    let order: Vec<Block> = cfg.reverse_postorder().collect();
    for block in order {
        if merged[block] {
            continue;
        }
        while let Terminator::Jump(to) = func.terminator(block) {
            let next = to.block;
            let only = cfg.predecessors(next).len() == 1 && next != block && next != entry;
            if !only || !joins(next) {
                break;
            }
            let args = to.args.clone();
            let params = std::mem::take(&mut func.blocks[next].params);
            for (param, arg) in params.into_iter().zip(args) {
                replacements.replace(param, arg);
            }
            let insts = std::mem::take(&mut func.blocks[next].insts);
            let terminator = func.blocks[next].terminator.take();
            let span = func.blocks[next].span;
            // It runs as often as what comes before it, cold or not.
            let data = &mut func.blocks[block];
            data.insts.extend(insts);
            (data.terminator, data.span) = (terminator, span);
            merged[next] = true;
            changed = true;
        }
    }
    if changed {
        func.layout.retain(|&block| !merged[block]);
        replacements.apply(func);
    }
    changed
}
