//! Offsets, and loads and stores through pointers.

use nbcc_ir::{BinaryOp, Effect, IntCond, IntrinsicCall, Op, Type, Value};

use super::build::ir_type;
use super::pointers;
use super::state::{Lower, Offset, Pointer, Val, Which};
use crate::types::{Int, Ty};

/// Subscripts are cut off where their scalars would not be counted by 31 bits: objects have fewer.
const MAX_SUBSCRIPT: i64 = i32::MAX as i64;

impl Lower<'_> {
    /// An offset as one value.
    pub(super) fn offset_value(&mut self, at: Offset) -> Value {
        let constant = at.constant.clamp(-MAX_SUBSCRIPT, MAX_SUBSCRIPT);
        match at.value {
            None => self.i32(constant),
            Some(value) if constant == 0 => value,
            Some(value) => {
                let constant = self.i32(constant);
                self.binary(BinaryOp::Iadd, value, constant)
            }
        }
    }

    pub(super) fn object_value(&mut self, object: Which) -> Value {
        let number = match object {
            Which::Value(value) => return value,
            Which::Known(number) => number,
        };
        if let Some(&value) = self.numbers.get(&number) {
            return value;
        }
        let constant = Op::Const(Type::I32, nbcc_ir::Constant::Splat(number.into()));
        let inst = self.func.make_inst(constant, &[Type::I32], None);
        let entry = self.func.entry();
        self.func.blocks[entry].insts.insert(0, inst);
        let value = self.func.insts[inst].results[0];
        self.numbers.insert(number, value);
        value
    }

    /// The number of the object that a value says, where it is a constant.
    pub(super) fn object_of(&self, value: Value) -> Which {
        match self.func.splat_constant(value) {
            Some(bits) => Which::Known(bits as u32),
            None => Which::Value(value),
        }
    }

    pub(super) fn offset_of(&self, value: Value) -> Offset {
        match self.func.splat_constant(value) {
            Some(bits) => Offset { value: None, constant: i64::from(bits as u32 as i32) },
            None => Offset { value: Some(value), constant: 0 },
        }
    }

    /// An offset times a constant.
    pub(super) fn scaled(&mut self, at: Offset, by: u64) -> Offset {
        if by == 1 {
            return at;
        }
        let by = by.min(MAX_SUBSCRIPT as u64) as i64;
        let value = at.value.map(|value| {
            let factor = self.i32(by);
            self.binary(BinaryOp::Imul, value, factor)
        });
        Offset {
            value,
            constant: at.constant.saturating_mul(by).clamp(-MAX_SUBSCRIPT, MAX_SUBSCRIPT),
        }
    }

    pub(super) fn add(&mut self, a: Offset, b: Offset) -> Offset {
        let constant = (a.constant + b.constant).clamp(-2 * MAX_SUBSCRIPT, 2 * MAX_SUBSCRIPT);
        let value = match (a.value, b.value) {
            (Some(a), Some(b)) => Some(self.binary(BinaryOp::Iadd, a, b)),
            (a, b) => a.or(b),
        };
        Offset { value, constant }
    }

    /// A value cut off at bounds, which keeps what is outside of every object outside.
    fn limited(&mut self, value: Value, most: i64) -> Value {
        let ty = self.func.ty(value);
        let (low, high) = (self.constant(ty, -most - 1), self.constant(ty, most));
        let value = self.binary(BinaryOp::Smax, value, low);
        self.binary(BinaryOp::Smin, value, high)
    }

    /// The offset of so many values of a type.
    pub(super) fn elements(&mut self, count: Value, int: Int, ty: Ty, minus: bool) -> Offset {
        let stride = self.stride(ty);
        let sign = if minus { -1 } else { 1 };
        if let Some(bits) = self.func.splat_constant(count) {
            let count = int.wrap(bits as i64).clamp(-MAX_SUBSCRIPT, MAX_SUBSCRIPT) * sign;
            return match stride.value {
                None => {
                    let constant =
                        count.saturating_mul(stride.constant).clamp(-MAX_SUBSCRIPT, MAX_SUBSCRIPT);
                    Offset { value: None, constant }
                }
                Some(stride) => {
                    let count = self.i32(count);
                    Offset { value: Some(self.binary(BinaryOp::Imul, stride, count)), constant: 0 }
                }
            };
        }
        // In 32 bits, nothing outside of an object gets inside by wrapping.
        let mut value = match (int.bits(), int.is_signed()) {
            (64, true) => {
                let value = self.limited(count, MAX_SUBSCRIPT);
                self.widen(value, true, Type::I32)
            }
            (64, false) => {
                let most = self.constant(Type::I64, MAX_SUBSCRIPT);
                let value = self.binary(BinaryOp::Umin, count, most);
                self.widen(value, true, Type::I32)
            }
            (32, false) => {
                let most = self.i32(MAX_SUBSCRIPT);
                self.binary(BinaryOp::Umin, count, most)
            }
            (_, signed) => self.widen(count, signed, Type::I32),
        };
        match stride {
            Offset { value: None, constant: 1 } => {}
            Offset { value: None, constant } => {
                value = self.limited(value, MAX_SUBSCRIPT / constant.max(1) - 1);
                let factor = self.i32(constant);
                value = self.binary(BinaryOp::Imul, value, factor);
            }
            Offset { value: Some(stride), .. } => {
                value = self.binary(BinaryOp::Imul, value, stride)
            }
        }
        if minus {
            let zero = self.i32(0);
            value = self.binary(BinaryOp::Isub, zero, value);
        }
        Offset { value: Some(value), constant: 0 }
    }

    /// Loads a scalar.
    pub(super) fn load(&mut self, from: Pointer, ty: Type) -> Value {
        let value = self.load_any(from, ty);
        self.check_element(from);
        value
    }

    /// Loads a scalar that may be without a value.
    pub(super) fn load_any(&mut self, from: Pointer, ty: Type) -> Value {
        let value = self.loaded(from, ty);
        self.reach(from, false);
        value
    }

    fn loaded(&mut self, from: Pointer, ty: Type) -> Value {
        match from.object {
            Which::Known(number) => match self.mem_of(number) {
                Some(mem) => {
                    let at = self.offset_value(from.at);
                    self.value(Op::Load(ty, mem, vec![at]))
                }
                None => {
                    self.trap(pointers::NULL.to_string());
                    self.constant(ty, 0)
                }
            },
            Which::Value(object) => {
                let at = self.offset_value(from.at);
                self.value(Op::Intrinsic(IntrinsicCall {
                    name: pointers::LOAD,
                    effect: Effect::Write,
                    args: vec![object, at],
                    mems: vec![],
                    imms: vec![],
                    result: Some(ty),
                }))
            }
        }
    }

    /// Stores a scalar.
    pub(super) fn store(&mut self, to: Pointer, value: Value) {
        self.store_any(to, value);
        self.mark_element(to, None);
    }

    /// Stores a scalar that may be without a value.
    pub(super) fn store_any(&mut self, to: Pointer, value: Value) {
        match to.object {
            Which::Known(number) if self.is_text(number) => self.trap(pointers::TEXT.to_string()),
            Which::Known(number) => match self.mem_of(number) {
                Some(mem) => {
                    let at = self.offset_value(to.at);
                    self.op(Op::Store(mem, vec![at], value));
                }
                None => self.trap(pointers::NULL.to_string()),
            },
            Which::Value(object) => {
                let at = self.offset_value(to.at);
                self.op(Op::Intrinsic(IntrinsicCall {
                    name: pointers::STORE,
                    effect: Effect::Write,
                    args: vec![object, at, value],
                    mems: vec![],
                    imms: vec![],
                    result: None,
                }));
            }
        }
        self.reach(to, true);
    }

    /// What lies where a pointer points to.
    pub(super) fn load_value(&mut self, from: Pointer, ty: Ty) -> Val {
        if let Some(int) = self.types.as_int(ty) {
            return Val::Int(self.load(from, ir_type(int)));
        }
        if self.types.leaves(ty) > super::expr::MAX_PARTS {
            return Val::At(from);
        }
        let mut parts = Vec::new();
        for leaf in 0..self.types.leaves(ty) {
            let (at, int) = self.scalar_at(from, ty, leaf);
            parts.push(self.load_any(at, ir_type(int)));
        }
        Val::Parts(parts)
    }

    /// Puts a value where a pointer points to.
    pub(super) fn store_value(&mut self, to: Pointer, ty: Ty, value: &Val) {
        match value {
            Val::Int(value) => self.store(to, *value),
            Val::Parts(parts) => {
                for (leaf, &part) in parts.iter().enumerate() {
                    let (at, _) = self.scalar_at(to, ty, leaf as u64);
                    self.store(at, part);
                }
            }
            Val::At(from) => self.copy(to, *from, ty),
            Val::Void | Val::Pointer(_) => {}
        }
    }

    /// Whether a value is not zero.
    pub(super) fn is_set(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        if ty == Type::I1 {
            return value;
        }
        let zero = self.constant(ty, 0);
        self.compare(IntCond::Ne, value, zero)
    }
}
