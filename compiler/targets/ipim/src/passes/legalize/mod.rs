//! Expresses what Table I has not by what it has.
//!
//! Table I computes 32-bit integer sums, differences, products, shifts and bitwise operations, and
//! binary32 sums, differences and products. Everything else that the IR has is expanded here,
//! without branches, lane by lane. Truth values become masks: all ones or zero in a lane.
//!
//! Expansions rely on these facts about the machine. A shift by 32 or more leaves zero (or the
//! sign). Denormal numbers are kept. A NaN that an operation makes has a clear sign bit, so that
//! the sign of a difference tells which operand is less, also where both are infinite. All ones, a
//! mask, are no number when they are read as a float.
//!
//! What is exact: comparisons, selection, minimum and maximum, conversions, rounding, integer
//! division. Within 2 ulp of the correctly rounded result: division and square root. Within 4 ulp:
//! the transcendental functions. Infinities, zeros with their signs and what is no number are
//! operands as others: where they are looked after depends on what `facts` knows of an operand.

mod choose;
mod compare;
mod convert;
mod divide_float;
mod divide_int;
mod emitter;
mod exponential;
mod facts;
mod hyperbolic;
mod inverse;
mod logarithm;
mod polynomial;
mod power;
mod reciprocal;
mod round;

mod sqrt;
#[cfg(test)]
mod tests;
mod trigonometric;
mod truth;

use nbcc_ir::{BinaryOp, Function, Op, Type, UnaryOp, Value};

use super::rewrite::{Rewrite, rewrite};
use crate::intrinsics::{ANY, RANGE};
use emitter::{Emitter, State};

/// Named extensions of the instruction set; none is on by default.
#[derive(Clone, Debug, Default)]
pub struct Features {}

/// Makes every operation on data one that SIMB has. Values are `i32`, `f32` or `i1`, scalar or
/// vector. Afterwards `i1` is left only on scalar integer comparisons that a branch alone uses.
pub fn run(func: &mut Function, _features: &Features) {
    truth::to_masks(func);
    let mut state = State::new(func);
    rewrite(func, |b, inst, op| {
        // Comparisons that are left for branches.
        if b.func.result(inst).is_some_and(|r| b.func.ty(r) == Type::I1) {
            return Rewrite::Keep;
        }
        let mut e = Emitter::new(b, &mut state, op);
        match expand(&mut e, op) {
            Some(value) => {
                let passes_on = matches!(op, Op::Intrinsic(_));
                if !passes_on {
                    e.learn(op, value);
                }
                Rewrite::Replace(value)
            }
            None => Rewrite::Keep,
        }
    });
    remove_unused(func);
}

/// The value that an operation computes, by operations that SIMB has; `None` for what stays.
fn expand(e: &mut Emitter<'_, '_>, op: &Op) -> Option<Value> {
    use BinaryOp::*;
    Some(match op {
        Op::Unary(op, a) => unary(e, *op, *a),
        Op::Binary(op, a, b) => match op {
            And | Shl => low_bits(e, *op, *a, *b).unwrap_or_else(|| e.binary(*op, *a, *b)),
            Ashr => sign_extended(e, *a, *b).unwrap_or_else(|| e.binary(*op, *a, *b)),
            Iadd | Isub | Imul | Or | Xor | Lshr | Fadd | Fsub | Fmul => e.binary(*op, *a, *b),
            Smin => choose::minimum(e, true, *a, *b),
            Smax => choose::maximum(e, true, *a, *b),
            Umin => choose::minimum(e, false, *a, *b),
            Umax => choose::maximum(e, false, *a, *b),
            Fmin => choose::float_minimum(e, *a, *b),
            Fmax => choose::float_maximum(e, *a, *b),
            DivEuclid => divide_int::euclidean(e, *a, *b).0,
            ModEuclid => divide_int::euclidean(e, *a, *b).1,
            Sdiv => divide_int::truncating(e, *a, *b).0,
            Srem => divide_int::truncating(e, *a, *b).1,
            Udiv => divide_int::unsigned(e, *a, *b).0,
            Urem => divide_int::unsigned(e, *a, *b).1,
            Fdiv => divide_float::divide(e, *a, *b),
            Fmod => divide_float::remainder(e, *a, *b),
            Pow => power::pow(e, *a, *b),
            Atan2 => inverse::atan2(e, *a, *b),
        },
        Op::Icmp(cond, a, b) => {
            let mask = compare::integers(e, *cond, *a, *b);
            e.mask_value(mask)
        }
        Op::Fcmp(cond, a, b) => {
            let mask = compare::floats(e, *cond, *a, *b);
            e.mask_value(mask)
        }
        Op::Select(cond, a, b) => choose::select(e, *cond, *a, *b),
        Op::Convert(op, a, to) => convert::convert(e, *op, *a, *to),
        Op::Const(..)
        | Op::MulAdd(..)
        | Op::Splat(..)
        | Op::Extract(..)
        | Op::Insert(..)
        | Op::Shuffle(..) => e.op(op.clone()),
        Op::Fma(..) | Op::Call(..) | Op::Simt(..) => panic!("{op:?} is not in kernels"),
        // An integer known to lie between two constants.
        Op::Intrinsic(call) if call.name == RANGE => {
            let [lo, hi] = call.imms[..] else { panic!("{RANGE} has two constants") };
            e.value_range(call.args[0], facts::Interval { lo, hi });
            call.args[0]
        }
        Op::Intrinsic(call) if call.name == ANY => e.without_value_range(call.args[0]),
        Op::Load(..) | Op::Store(..) | Op::LoadRaw(..) | Op::StoreRaw(..) | Op::Intrinsic(_) => {
            return None;
        }
    })
}

/// The low bits alone of an integer that a float was converted to: at most 16 are kept by a mask,
/// or by a shift to the top.
fn low_bits(e: &mut Emitter<'_, '_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let from = e.converted(a)?;
    let kept = match (op, e.int_constant(b)?) {
        (BinaryOp::And, mask @ 0..=0xffff) => 32 - mask.leading_zeros(),
        (BinaryOp::Shl, amount @ 16..=31) => 32 - amount as u32,
        _ => return None,
    };
    let integer = convert::to_signed(e, from, if kept <= 8 { 8 } else { 16 });
    Some(e.binary(op, integer, b))
}

/// An integer that a shift to the top and back leaves as it is: its low bits are all that it has.
fn sign_extended(e: &Emitter<'_, '_>, shifted: Value, back: Value) -> Option<Value> {
    let Some(&Op::Binary(BinaryOp::Shl, integer, up)) = e.def(shifted) else { return None };
    let amount = e.int_constant(back).filter(|amount| (0..32).contains(amount))?;
    let most = 1i64 << (31 - amount);
    let interval = e.interval(integer);
    let fits = e.int_constant(up) == Some(amount) && interval.lo >= -most && interval.hi < most;
    fits.then_some(integer)
}

fn unary(e: &mut Emitter<'_, '_>, op: UnaryOp, a: Value) -> Value {
    match op {
        UnaryOp::Ineg => {
            let zero = e.int(0);
            e.isub(zero, a)
        }
        UnaryOp::Not => e.not(a),
        UnaryOp::Fneg => e.fneg(a),
        UnaryOp::Fabs => e.fabs(a),
        UnaryOp::Sqrt => sqrt::sqrt(e, a),
        UnaryOp::Exp => exponential::exp(e, a),
        UnaryOp::Log => logarithm::log(e, a),
        UnaryOp::Sinh => hyperbolic::sinh(e, a),
        UnaryOp::Cosh => hyperbolic::cosh(e, a),
        UnaryOp::Tanh => hyperbolic::tanh(e, a),
        UnaryOp::Floor => round::floor(e, a),
        UnaryOp::Ceil => round::ceil(e, a),
        UnaryOp::Nearest => round::nearest(e, a),
        UnaryOp::Trunc => round::trunc(e, a),
        UnaryOp::Sin => trigonometric::sin(e, a),
        UnaryOp::Cos => trigonometric::cos(e, a),
        UnaryOp::Tan => trigonometric::tan(e, a),
        UnaryOp::Asin => inverse::asin(e, a),
        UnaryOp::Acos => inverse::acos(e, a),
        UnaryOp::Atan => inverse::atan(e, a),
    }
}

/// Removes instructions without effect whose results nothing uses.
fn remove_unused(func: &mut Function) {
    use nbcc_ir::Effect;
    let mut used = cranelift_entity::EntitySet::new();
    let mut work = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            if func.insts[inst].op.effect() == Effect::Write {
                work.extend(func.insts[inst].op.args());
            }
        }
        work.extend(func.terminator(block).args());
    }
    while let Some(value) = work.pop() {
        if used.insert(value)
            && let Some(op) = func.def_op(value)
        {
            work.extend(op.args());
        }
    }
    for &block in &func.layout {
        let insts = &func.insts;
        func.blocks[block].insts.retain(|&inst| {
            let data = &insts[inst];
            data.op.effect() == Effect::Write || data.results.iter().any(|&r| used.contains(r))
        });
    }
}
