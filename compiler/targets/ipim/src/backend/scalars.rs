//! Operations that take lane 0 of a register for every lane (mode `sv`), so that a scalar need not be
//! copied to all lanes of another register before.

use std::collections::BTreeSet;

use nbcc_ir::{Function, Op, Value};
use nbcc_isa_ipim::RegClass;

use crate::passes::place::Places;

/// Operands of an operation on lanes: a scalar in lane 0, and a vector.
pub fn operands(func: &Function, places: &Places, op: &Op) -> Option<[Value; 2]> {
    let (x, y, commutes) = match op {
        Op::Binary(op, x, y) => (*x, *y, op.is_commutative()),
        Op::MulAdd(x, y, _) => (*x, *y, true),
        _ => return None,
    };
    match (scalar(func, places, x), scalar(func, places, y)) {
        (Some(scalar), _) => Some([scalar, y]),
        (None, Some(scalar)) if commutes => Some([scalar, x]),
        _ => None,
    }
}

/// The scalar that a vector has in every lane, where that is lane 0 of a register.
fn scalar(func: &Function, places: &Places, vector: Value) -> Option<Value> {
    match func.def_op(vector) {
        Some(Op::Splat(scalar, _)) if places.home(*scalar) == Some(RegClass::Data) => Some(*scalar),
        _ => None,
    }
}

/// The values that something reads as they are: not only operations that take their scalars.
pub fn read(func: &Function, places: &Places) -> BTreeSet<Value> {
    let mut read = BTreeSet::new();
    let mut add = |value: Value| {
        read.insert(value);
    };
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            let Some(taken) = operands(func, places, op) else {
                op.for_each_arg(&mut add);
                continue;
            };
            taken.into_iter().for_each(&mut add);
            if let Op::MulAdd(_, _, sum) = op {
                add(*sum);
            }
        }
        func.terminator(block).for_each_arg(&mut add);
    }
    read
}
