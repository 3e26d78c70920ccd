//! What an instruction does beside its result, with its operands looked at.

use nbcc_analysis::sign_extend;
use nbcc_ir::{BinaryOp, Effect, Function, Op};

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
