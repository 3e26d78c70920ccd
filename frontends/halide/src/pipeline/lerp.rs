//! `lerp`, expanded as Halide's `lower_lerp` does it: floats by two multiplications, integers
//! exactly in twice their width and rounded to nearest.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Literal};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::Node;
use crate::pipeline::ops::Spanned;
use crate::value::types::{c_name, unsigned};

impl Elab<'_> {
    /// `lerp(a, b, w)`: between `a` (weight 0) and `b` (weight 1, or the greatest value of an
    /// unsigned weight), rounded to nearest for integers.
    pub(crate) fn lerp(&mut self, args: &[Spanned], span: Span) -> Result<Node> {
        self.take("lerp", args, 3, span)?;
        let (zero, one) = self.same_type(&args[0], &args[1], "lerp")?;
        let weight = self.expr_of(&args[2].0, args[2].1)?;
        let (ty, wt) = (self.hir.ty(zero), self.hir.ty(weight));
        if wt.is_signed() {
            return self.fail(
                Diagnostic::error(
                    &codes::OPERAND_TYPES,
                    "the weight of `lerp` must be a float or an unsigned integer",
                )
                .at(args[2].1, format!("has type {}", c_name(wt)))
                .help("write a float from 0 to 1: `cast<float>(w) / 255.0f`"),
            );
        }
        if let Some(Literal::Float(bits)) = self.hir.literal(weight)
            && !ty.is_float()
            && !(0.0..=1.0).contains(&f32::from_bits(bits))
        {
            return self.fail(
                Diagnostic::error(
                    &codes::LITERAL_RANGE,
                    "the weight of `lerp` between integers is from 0 to 1",
                )
                .at(args[2].1, "outside that range")
                .help("write a weight from `0.0f` to `1.0f`"),
            );
        }
        self.lower_lerp(zero, one, weight, args[2].1, span)
    }

    fn lower_lerp(
        &mut self,
        zero: Node,
        one: Node,
        weight: Node,
        at: Span,
        span: Span,
    ) -> Result<Node> {
        let (ty, wt) = (self.hir.ty(zero), self.hir.ty(weight));
        let f32_max = |bits: u32| ((1u64 << bits) - 1) as f32;
        if ty == ElementType::Bool {
            let half = if wt.is_float() {
                self.hir.float(0.5, span)
            } else {
                self.hir.int(wt.integer_range().1 / 2, wt, span)
            };
            let c = self.compare(CompareOp::Gt, weight, half, span);
            return Ok(self.choose(c, one, zero, span));
        }
        if ty.is_float() {
            let w = if wt.is_float() {
                weight
            } else {
                let scaled = self.cast(ElementType::F32, weight, at);
                let max = self.hir.float(f32_max(wt.bits()), span);
                self.op(BinaryOp::Div, scaled, max, span)
            };
            let unit = self.hir.float(1.0, span);
            let inverse = self.op(BinaryOp::Sub, unit, w, span);
            let a = self.op(BinaryOp::Mul, zero, inverse, span);
            let b = self.op(BinaryOp::Mul, one, w, span);
            return Ok(self.op(BinaryOp::Add, a, b, span));
        }
        let bits = ty.bits();
        if bits == 32 {
            return self.fail(
                Diagnostic::error(
                    &codes::UNSUPPORTED,
                    "`lerp` between 32-bit integers is not supported",
                )
                .at(span, "needs 64-bit arithmetic")
                .help("convert the values to float first"),
            );
        }
        // Signed values are moved to the unsigned range and back.
        let own = unsigned(bits);
        let bias = if ty.is_signed() { 1i64 << (bits - 1) } else { 0 };
        let shifted = |e: &mut Self, n: Node| {
            let n = e.cast(own, n, span);
            if bias == 0 {
                return n;
            }
            let bias = e.hir.int(bias, own, span);
            e.op(BinaryOp::Add, n, bias, span)
        };
        let (zero, one) = (shifted(self, zero), shifted(self, one));
        let max = own.integer_range().1;
        let w = if wt.is_float() {
            let top = self.hir.float(max as f32, span);
            let scaled = self.op(BinaryOp::Mul, top, weight, span);
            self.cast(own, scaled, span)
        } else if wt == ElementType::Bool {
            let top = self.hir.int(max, own, span);
            let none = self.hir.int(0, own, span);
            self.choose(weight, top, none, span)
        } else if wt.bits() < bits {
            // 255 * 257 = 65535: the greatest weight becomes the greatest weight.
            let wide = self.cast(own, weight, at);
            let factor = self.hir.int(257, own, span);
            self.op(BinaryOp::Mul, wide, factor, span)
        } else {
            let mut factor = 1i64;
            let mut have = bits;
            while have < wt.bits() {
                factor *= 1 + (1i64 << have);
                have *= 2;
            }
            let factor = self.hir.int(factor, wt, span);
            let narrow = if wt.bits() == bits {
                weight
            } else {
                self.op(BinaryOp::Div, weight, factor, span)
            };
            self.cast(own, narrow, span)
        };
        let top = self.hir.int(max, own, span);
        let inverse = self.op(BinaryOp::Sub, top, w, span);
        let wide = unsigned(2 * bits);
        let mut terms = Vec::new();
        for (value, weight) in [(zero, inverse), (one, w)] {
            let value = self.cast(wide, value, span);
            let weight = self.cast(wide, weight, span);
            terms.push(self.op(BinaryOp::Mul, value, weight, span));
        }
        let sum = self.op(BinaryOp::Add, terms[0], terms[1], span);
        let half = self.hir.int(1 << (bits - 1), wide, span);
        let rounded = self.op(BinaryOp::Add, sum, half, span);
        // Division by 2^n - 1 as two shifts.
        let shift = self.hir.int(i64::from(bits), wide, span);
        let high = self.op(BinaryOp::Shr, rounded, shift, span);
        let corrected = self.op(BinaryOp::Add, high, rounded, span);
        let result = self.op(BinaryOp::Shr, corrected, shift, span);
        let result = self.cast(own, result, span);
        if bias == 0 {
            return Ok(result);
        }
        let bias = self.hir.int(bias, own, span);
        let moved = self.op(BinaryOp::Sub, result, bias, span);
        Ok(self.cast(ty, moved, span))
    }
}
