//! Atomic operations on memory.

use nbcc_ir::{AtomOp, Atomic, FloatFormat, NumType, Value};
use nbcc_isa_simt::Op as MachOp;
use nbcc_isa_simt::operands::{self as isa, AtomType, AtomWideType, Order};

use super::Selector;
use crate::backend::space::space;

/// The type in memory of an atomic operation on up to 32 bits.
fn atom_type(ty: NumType) -> AtomType {
    match ty {
        NumType::Int(int) if int.bits() == 16 => AtomType::B16,
        NumType::Int(int) if int.is_signed() => AtomType::S32,
        NumType::Int(_) => AtomType::U32,
        NumType::Float(FloatFormat::F16) => AtomType::F16,
        NumType::Float(FloatFormat::Bf16) => AtomType::Bf16,
        NumType::Float(FloatFormat::F16x2) => AtomType::F16x2,
        NumType::Float(FloatFormat::Bf16x2) => AtomType::Bf16x2,
        NumType::Float(FloatFormat::F32 | FloatFormat::F64) => AtomType::F32,
    }
}

fn atom_wide_type(ty: NumType) -> AtomWideType {
    match ty {
        NumType::Int(int) if int.is_signed() => AtomWideType::S64,
        NumType::Int(_) => AtomWideType::U64,
        NumType::Float(_) => AtomWideType::F64,
    }
}

/// The machine's operation; `cas` has rows of its own.
fn atom_op(op: AtomOp) -> Option<isa::AtomOp> {
    Some(match op {
        AtomOp::And => isa::AtomOp::And,
        AtomOp::Or => isa::AtomOp::Or,
        AtomOp::Xor => isa::AtomOp::Xor,
        AtomOp::Exch => isa::AtomOp::Exch,
        AtomOp::Add => isa::AtomOp::Add,
        AtomOp::Inc => isa::AtomOp::Inc,
        AtomOp::Dec => isa::AtomOp::Dec,
        AtomOp::Min => isa::AtomOp::Min,
        AtomOp::Max => isa::AtomOp::Max,
        AtomOp::Cas => return None,
    })
}

impl Selector<'_> {
    pub(super) fn atomic(&mut self, atomic: Atomic, args: &[Value], result: Option<Value>) {
        let values = if atomic.op == AtomOp::Cas { 2 } else { 1 };
        let (base, offset) = self.address(args[0], atomic.offset);
        let src = self.reg(args[1]);
        let new = if values == 2 { self.reg(args[2]) } else { src };
        let guard = atomic.guarded.then(|| self.guard(args[1 + values]));
        let (space, order) = (space(atomic.space), Order::Relaxed);
        let wide = atomic.ty.ty().scalar.bits() == 64;
        let (ty, wide_ty) = (atom_type(atomic.ty), atom_wide_type(atomic.ty));
        let Some(result) = result else {
            let Some(op) = atom_op(atomic.op) else { return };
            let op = match wide {
                true => MachOp::RedWide { op, ty: wide_ty, space, order, base, offset, src },
                false => MachOp::Red { op, ty, space, order, base, offset, src },
            };
            self.push_guarded(op, guard);
            return;
        };
        let dst = self.result(result);
        if guard.is_some() {
            self.copy_lane(dst, args[2 + values], 0);
        }
        let op = match (atom_op(atomic.op), wide) {
            (Some(op), true) => {
                MachOp::AtomWide { op, ty: wide_ty, space, order, dst, base, offset, src }
            }
            (Some(op), false) => MachOp::Atom { op, ty, space, order, dst, base, offset, src },
            (None, true) => {
                let expected = src;
                MachOp::AtomCasWide { space, order, dst, base, offset, expected, new }
            }
            (None, false) => {
                let expected = src;
                MachOp::AtomCas { ty, space, order, dst, base, offset, expected, new }
            }
        };
        self.push_guarded(op, guard);
    }
}
