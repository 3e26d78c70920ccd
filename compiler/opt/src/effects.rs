//! What an instruction does beside its result, with its operands looked at.

use nbcc_analysis::sign_extend;
use nbcc_ir::{BinaryOp, Effect, ExecutionModel, Extent, Function, Op, Value};

/// As [`Op::effect`], but a division whose divisor is a constant that cannot trap is pure.
pub(crate) fn effect(func: &Function, op: &Op) -> Effect {
    let &Op::Binary(division, _, divisor) = op else { return op.effect() };
    let Some(bits) = func.splat_constant(divisor) else { return op.effect() };
    let divisor = sign_extend(func.ty(divisor).scalar, bits);
    let safe = match division {
        BinaryOp::Udiv | BinaryOp::Urem => divisor != 0,
        BinaryOp::Sdiv | BinaryOp::Srem => divisor != 0 && divisor != -1,
        _ => return op.effect(),
    };
    if safe { Effect::Pure } else { Effect::Write }
}

/// Whether an operation stays where nothing uses its results: it writes, or it may end the run. What a
/// kernel reads outside of its objects is undefined, so that only sequential functions keep such a load.
pub(crate) fn has_to_stay(func: &Function, op: &Op) -> bool {
    let ends_the_run = func.model == ExecutionModel::Sequential && may_be_outside(func, op);
    ends_the_run || effect(func, op) == Effect::Write
}

/// Whether a load may be outside of its object.
fn may_be_outside(func: &Function, op: &Op) -> bool {
    let Op::Load(_, mem, subscripts) = op else { return false };
    let inside =
        |(&subscript, extent): (&Value, &Extent)| match (func.splat_constant(subscript), extent) {
            (Some(at), &Extent::Fixed(count)) => at < u64::from(count),
            _ => false,
        };
    !subscripts.iter().zip(&func.mems[*mem].extents).all(inside)
}
