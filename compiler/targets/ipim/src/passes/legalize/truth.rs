//! Truth values become masks.

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_ir::{Constant, Function, IntCond, Op, Scalar, Terminator, Type, Value};

/// Gives every `i1` value the type of a mask, all ones or zero in a lane, but for scalar integer
/// comparisons that only branches use. Constants, conversions and operations on truth values are
/// left to the expansion. Every branch is on an integer comparison afterwards.
pub fn to_masks(func: &mut Function) {
    let kept = comparisons_for_branches(func);
    for block in func.layout.clone() {
        branch_on_comparison(func, block, &kept);
    }
    for (value, data) in func.values.iter_mut() {
        if data.ty.scalar == Scalar::I1 && !kept.contains(value) {
            data.ty = mask_type(data.ty);
        }
    }
    // The comparisons made for branches are younger than `kept`, and stay truth values.
    for block in func.layout.clone() {
        if let Terminator::Branch(cond, ..) = *func.terminator(block) {
            func.values[cond].ty = Type::I1;
        }
    }
    for ty in &mut func.results {
        *ty = mask_type(*ty);
    }
}

/// The type of masks for an `i1` type; any other type as it is.
pub fn mask_type(ty: Type) -> Type {
    if ty.scalar == Scalar::I1 { ty.with_scalar(Scalar::I32) } else { ty }
}

/// A constant of masks for one of truth values.
pub fn mask_constant(constant: &Constant) -> Constant {
    let mask = |bits: u64| if bits & 1 == 0 { 0 } else { u64::from(u32::MAX) };
    match constant {
        Constant::Splat(bits) => Constant::Splat(mask(*bits)),
        Constant::Lanes(lanes) => Constant::Lanes(lanes.iter().map(|&bits| mask(bits)).collect()),
    }
}

/// Scalar integer comparisons of other than truth values that only branches use.
fn comparisons_for_branches(func: &Function) -> EntitySet<Value> {
    let mut data_uses: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(|v| data_uses[v] = true);
        }
        match func.terminator(block) {
            Terminator::Return(values) => values.iter().for_each(|&v| data_uses[v] = true),
            terminator => {
                for to in terminator.successors() {
                    to.args.iter().for_each(|&v| data_uses[v] = true);
                }
            }
        }
    }
    let mut kept = EntitySet::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let Op::Icmp(_, a, _) = func.insts[inst].op else { continue };
            if func.ty(a) == Type::I32
                && let Some(result) = func.result(inst)
                && !data_uses[result]
            {
                kept.insert(result);
            }
        }
    }
    kept
}

fn branch_on_comparison(func: &mut Function, block: nbcc_ir::Block, kept: &EntitySet<Value>) {
    let Terminator::Branch(cond, ..) = *func.terminator(block) else { return };
    if kept.contains(cond) {
        return;
    }
    let comparison = match func.def_op(cond) {
        Some(op @ Op::Icmp(_, a, _)) if func.ty(*a) == Type::I32 => op.clone(),
        _ => {
            let zero = Op::Const(Type::I32, Constant::Splat(0));
            let zero = append(func, block, zero, Type::I32);
            Op::Icmp(IntCond::Ne, cond, zero)
        }
    };
    let comparison = append(func, block, comparison, Type::I1);
    if let Some(Terminator::Branch(cond, ..)) = &mut func.blocks[block].terminator {
        *cond = comparison;
    }
}

fn append(func: &mut Function, block: nbcc_ir::Block, op: Op, ty: Type) -> Value {
    let span = func.blocks[block].span;
    let inst = func.make_inst(op, &[ty], span);
    func.blocks[block].insts.push(inst);
    func.insts[inst].results[0]
}
