//! If-conversion (Allen, Kennedy, Porterfield, Warren, POPL 1983): a branch around a few operations
//! without effect becomes these operations and a selection. On a SIMT machine it saves two
//! branches, and where threads would part, the way back together.

use std::collections::BTreeSet;

use nbcc_ir::{Block, BlockCall, Cfg, Effect, Function, Op, Terminator, Value};

/// The most operations that are computed for nothing on one way.
const LIMIT: usize = 6;

/// Converts what can be, innermost first; whether anything changed.
pub fn run(func: &mut Function) -> bool {
    let mut changed = false;
    loop {
        let cfg = Cfg::new(func);
        let order: Vec<Block> = cfg.reverse_postorder().collect();
        let mut gone = BTreeSet::new();
        let mut here = false;
        for &block in order.iter().rev() {
            here |= convert(func, &cfg, block, &mut gone);
        }
        if !here {
            return changed;
        }
        changed = true;
        func.layout.retain(|block| !gone.contains(block));
        nbcc_opt::simplify_cfg::run(func);
    }
}

/// An arm of a branch: a block of its own, or the edge to where both meet.
struct Arm {
    block: Option<Block>,
    to: BlockCall,
}

/// The arm that an edge from `block` leads into, where it is simple enough.
fn arm(func: &Function, cfg: &Cfg, edge: &BlockCall) -> Option<Arm> {
    let data = &func.blocks[edge.block];
    let cheap = data.insts.len() <= LIMIT
        && cfg.predecessors(edge.block).len() == 1
        && edge.block != func.entry()
        && data.insts.iter().all(|&inst| func.insts[inst].op.effect() == Effect::Pure);
    match &data.terminator {
        Some(Terminator::Jump(to)) if cheap && edge.args.is_empty() && to.block != edge.block => {
            Some(Arm { block: Some(edge.block), to: to.clone() })
        }
        _ => None,
    }
}

fn convert(func: &mut Function, cfg: &Cfg, block: Block, gone: &mut BTreeSet<Block>) -> bool {
    let Some(Terminator::Branch(cond, then, other)) = func.blocks[block].terminator.clone() else {
        return false;
    };
    let edge = |to: &BlockCall| Arm { block: None, to: to.clone() };
    let (a, b) = (arm(func, cfg, &then), arm(func, cfg, &other));
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) if a.to.block == b.to.block && a.block != b.block => (a, b),
        (Some(a), _) if a.to.block == other.block => (a, edge(&other)),
        (_, Some(b)) if b.to.block == then.block => (edge(&then), b),
        _ if then.block == other.block => (edge(&then), edge(&other)),
        _ => return false,
    };
    let meeting = a.to.block;
    if a.block == Some(meeting) || b.block == Some(meeting) || meeting == block {
        return false;
    }
    let differing = a.to.args.iter().zip(&b.to.args).filter(|(x, y)| x != y).count();
    if differing > LIMIT {
        return false;
    }
    for arm in [&a, &b] {
        if let Some(from) = arm.block {
            let insts = std::mem::take(&mut func.blocks[from].insts);
            func.blocks[block].insts.extend(insts);
            gone.insert(from);
        }
    }
    let span = func.blocks[block].span;
    let mut args: Vec<Value> = Vec::new();
    for (&x, &y) in a.to.args.iter().zip(&b.to.args) {
        if x == y {
            args.push(x);
            continue;
        }
        let ty = func.ty(x);
        if ty.is_vector() {
            let lanes = select_lanes(func, block, cond, x, y);
            args.push(lanes);
            continue;
        }
        let inst = func.make_inst(Op::Select(cond, x, y), &[ty], span);
        func.blocks[block].insts.push(inst);
        args.extend(func.result(inst));
    }
    func.blocks[block].terminator = Some(Terminator::Jump(BlockCall { block: meeting, args }));
    true
}

/// A selection of vectors by a scalar condition.
fn select_lanes(func: &mut Function, block: Block, cond: Value, x: Value, y: Value) -> Value {
    let ty = func.ty(x);
    let span = func.blocks[block].span;
    let mask = nbcc_ir::Type::I1.with_lanes(ty.lanes);
    let splat = func.make_inst(Op::Splat(cond, ty.lanes), &[mask], span);
    let conds = func.insts[splat].results[0];
    let inst = func.make_inst(Op::Select(conds, x, y), &[ty], span);
    func.blocks[block].insts.extend([splat, inst]);
    func.insts[inst].results[0]
}
