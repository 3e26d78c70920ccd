//! How contributions to an element of a reduction combine.

use nbcc_ir::{BinaryOp, Builder, Type, Value};
use nbcc_isa_ipim::layout::Element;
use nbcc_stages::BinaryOp as StageOp;

use super::cx::vector;

/// How contributions combine: the operation on words, and the word that changes nothing.
pub(crate) struct Combine {
    op: BinaryOp,
    identity: u32,
    element: Element,
    /// Four words.
    pub ty: Type,
}

impl Combine {
    pub fn new(op: StageOp, element: Element) -> Combine {
        let float = element == Element::F32;
        let bits = match element {
            Element::I8 | Element::U8 => 8,
            Element::I16 | Element::U16 => 16,
            _ => 32,
        };
        let signed = matches!(element, Element::I8 | Element::I16 | Element::I32);
        let greatest =
            if signed { i32::MAX as u32 >> (32 - bits) } else { u32::MAX >> (32 - bits) };
        let least = if signed { (i32::MIN >> (32 - bits)) as u32 } else { 0 };
        let whole = element == Element::U32;
        let (op, identity) = match op {
            StageOp::Add => (BinaryOp::Iadd, 0),
            StageOp::Min if float => (BinaryOp::Fmin, f32::INFINITY.to_bits()),
            StageOp::Max if float => (BinaryOp::Fmax, f32::NEG_INFINITY.to_bits()),
            StageOp::Min if element == Element::Bool => (BinaryOp::And, 1),
            StageOp::Max if element == Element::Bool => (BinaryOp::Or, 0),
            StageOp::Min if whole => (BinaryOp::Umin, greatest),
            StageOp::Max if whole => (BinaryOp::Umax, 0),
            StageOp::Min => (BinaryOp::Smin, greatest),
            StageOp::Max => (BinaryOp::Smax, least),
            StageOp::And => (BinaryOp::And, u32::MAX),
            StageOp::Or => (BinaryOp::Or, 0),
            StageOp::Xor => (BinaryOp::Xor, 0),
            other => panic!("{other:?} does not reduce in parts"),
        };
        Combine { op, identity, element, ty: vector(element) }
    }

    /// The word that changes nothing, in every lane.
    pub fn identity(&self, b: &mut Builder<'_>) -> Value {
        b.constant(self.ty, self.identity.into())
    }

    /// Two words of each lane combined.
    pub fn apply(&self, b: &mut Builder<'_>, x: Value, y: Value) -> Value {
        b.binary(self.op, x, y)
    }

    /// Brings sums back into the range of a narrow type.
    pub fn wrap(&self, b: &mut Builder<'_>, value: Value) -> Value {
        let (bits, signed) = match self.element {
            Element::U8 => (8, false),
            Element::U16 => (16, false),
            Element::I8 => (8, true),
            Element::I16 => (16, true),
            _ => return value,
        };
        if self.op != BinaryOp::Iadd {
            return value;
        }
        if signed {
            let amount = b.constant(self.ty, 32 - bits);
            let high = b.binary(BinaryOp::Shl, value, amount);
            b.binary(BinaryOp::Ashr, high, amount)
        } else {
            let mask = b.constant(self.ty, (1 << bits) - 1);
            b.binary(BinaryOp::And, value, mask)
        }
    }
}
