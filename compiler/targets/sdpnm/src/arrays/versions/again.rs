//! What the core loads before a loop, for the loop only: coefficients, mostly. Where an array runs the
//! loop, they are loaded when they are handed to it, one by one; where the core does, before it starts.
//! Loaded before that is decided, all of them would wait in registers, or in the frame.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_ir::{Block, Builder, Extent, Function, Inst, Op, Value};

use crate::arrays::facts::shape::Shape;
use crate::arrays::placing::split::is_never_stored;

/// Whether an operation loads what never changes from a place that is inside its object.
fn is_constant_load(func: &Function, op: &Op) -> bool {
    let Op::Load(_, mem, subscripts) = op else { return false };
    let is_inside = |(value, extent): (&Value, &Extent)| match (func.splat_constant(*value), extent)
    {
        (Some(at), Extent::Fixed(count)) => at < u64::from(*count),
        _ => false,
    };
    let extents = &func.mems[*mem].extents;
    subscripts.iter().zip(extents).all(is_inside) && is_never_stored(func, *mem)
}

/// The operations in front of a loop that load what only the loop reads, or extend it; `on_core` leads to
/// the core's version.
pub(super) fn of_loop(func: &Function, shape: &Shape, on_core: Block) -> BTreeSet<Inst> {
    let movable = |&inst: &Inst| {
        let op = &func.insts[inst].op;
        let may_move = matches!(op, Op::Convert(..)) || is_constant_load(func, op);
        func.result(inst).filter(|_| may_move).map(|value| (inst, value))
    };
    let movable: Vec<(Inst, Value)> =
        func.blocks[shape.preheader].insts.iter().filter_map(movable).collect();
    if movable.is_empty() {
        return BTreeSet::new();
    }
    let mut users: BTreeMap<Value, Vec<Block>> =
        movable.iter().map(|&(_, value)| (value, Vec::new())).collect();
    for &block in &func.layout {
        let mut note = |value: Value| {
            if let Some(users) = users.get_mut(&value) {
                users.push(block);
            }
        };
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(&mut note);
        }
        if let Some(terminator) = &func.blocks[block].terminator {
            terminator.for_each_arg(&mut note);
        }
    }
    let is_core = |block: &Block| *block == on_core || shape.contains(*block);
    let mut found = BTreeSet::new();
    for &(inst, value) in movable.iter().rev() {
        let readers = &users[&value];
        if readers.is_empty() || !readers.iter().all(is_core) {
            continue;
        }
        func.insts[inst].op.for_each_arg(|arg| {
            let readers = users.get_mut(&arg).into_iter().flatten();
            if let Some(reader) = readers.into_iter().find(|block| **block == shape.preheader) {
                *reader = on_core;
            }
        });
        found.insert(inst);
    }
    found
}

/// A value made once more, where it is one of these operations.
pub(super) fn again(b: &mut Builder<'_>, of_loop: &BTreeSet<Inst>, value: Value) -> Value {
    let Some(inst) = b.func.def_inst(value).filter(|inst| of_loop.contains(inst)) else {
        return value;
    };
    match b.func.insts[inst].op.clone() {
        Op::Load(ty, mem, subscripts) => b.load(ty, mem, subscripts),
        Op::Convert(op, from, ty) => {
            let from = again(b, of_loop, from);
            b.convert(op, from, ty)
        }
        _ => value,
    }
}

/// Moves what only the core's version of a loop needs to the block that leads to it.
pub(super) fn sink(func: &mut Function, shape: &Shape, on_core: Block) {
    let of_loop = of_loop(func, shape, on_core);
    let insts = std::mem::take(&mut func.blocks[shape.preheader].insts);
    let (moved, kept): (Vec<Inst>, Vec<Inst>) =
        insts.into_iter().partition(|inst| of_loop.contains(inst));
    func.blocks[shape.preheader].insts = kept;
    func.blocks[on_core].insts.splice(0..0, moved);
}
