//! Limits of subscripts that are never reached are dropped: where a subscript is counted by a loop
//! with bounds, masked, or made of narrow values, it is within them.

use nbcc_analysis::{ValueRanges, sign_extend};
use nbcc_ir::{BinaryOp, Function, Op, Replacements};

/// Removes minima and maxima with constants that change nothing.
pub(super) fn drop_limits(func: &mut Function) {
    let ranges = ValueRanges::new(func);
    let mut replacements = Replacements::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let Op::Binary(op @ (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin), a, b) =
                func.insts[inst].op
            else {
                continue;
            };
            let (Some(bits), Some(result)) = (func.splat_constant(b), func.result(inst)) else {
                continue;
            };
            let limit = sign_extend(func.ty(b).scalar, bits);
            let keeps = match op {
                BinaryOp::Smin => ranges.fits(a, i64::MIN, limit),
                BinaryOp::Smax => ranges.fits(a, limit, i64::MAX),
                _ => limit >= 0 && ranges.fits(a, 0, limit),
            };
            if keeps {
                replacements.replace(result, a);
            }
        }
    }
    replacements.apply(func);
}
