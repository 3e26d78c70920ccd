//! Functions made of several operations: magnitudes, powers, divisions, saturation.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Intrinsic, UnaryOp};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{Node, NodeKind};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Op;
use crate::value::Value;
use crate::value::types::{c_name, represents, unsigned};

impl Elab<'_> {
    /// The magnitude: of a signed integer, in the unsigned type of its width.
    pub(crate) fn abs(&mut self, x: Node, span: Span) -> Node {
        let ty = self.hir.ty(x);
        if ty.is_unsigned() {
            return x;
        }
        let result = if ty.is_float() { ty } else { unsigned(ty.bits()) };
        self.hir.push(NodeKind::Unary(UnaryOp::Abs, x), result, span)
    }

    pub(crate) fn absd(&mut self, a: Node, b: Node, span: Span) -> Node {
        let ty = self.hir.ty(a);
        if ty.is_float() {
            let difference = self.op(BinaryOp::Sub, a, b, span);
            return self.abs(difference, span);
        }
        // The greater minus the lesser, which fits the unsigned type.
        let greater = self.op(BinaryOp::Max, a, b, span);
        let lesser = self.op(BinaryOp::Min, a, b, span);
        let to = unsigned(ty.bits());
        let greater = self.cast(to, greater, span);
        let lesser = self.cast(to, lesser, span);
        self.op(BinaryOp::Sub, greater, lesser, span)
    }

    pub(crate) fn pow(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Node> {
        self.take(name, args, 2, span)?;
        let x = self.expr_of(&args[0].0, args[0].1)?;
        let y = self.expr_of(&args[1].0, args[1].1)?;
        if self.hir.ty(y).is_signed()
            && let Some(n) = self.hir.constant(y)
        {
            return self.integer_power(x, n, span);
        }
        let (x, y) =
            self.two_floats(&[(Value::Expr(x), args[0].1), (Value::Expr(y), args[1].1)])?;
        let op = if name == "pow" { Intrinsic::Pow } else { Intrinsic::FastPow };
        Ok(self.intrinsic(op, &[x, y], span))
    }

    /// A power by repeated squaring, in the order of multiplications that Halide has.
    fn integer_power(&mut self, x: Node, n: i64, span: Span) -> Result<Node> {
        let ty = self.hir.ty(x);
        if n == 0 {
            return Ok(self.hir.int(1, ty, span));
        }
        if n < 0 {
            let power = self.integer_power(x, -n, span)?;
            let one = self.hir.int(1, ty, span);
            return self.arithmetic(Op::Div, one, power, false, span);
        }
        // Halving n: an even n squares the power of x, an odd n also multiplies by the base.
        let mut halves = Vec::new();
        let mut m = n;
        while m > 1 {
            halves.push(m & 1 == 1);
            m >>= 1;
        }
        let mut power = x;
        for odd in halves.into_iter().rev() {
            power = self.op(BinaryOp::Mul, power, power, span);
            if odd {
                power = self.op(BinaryOp::Mul, power, x, span);
            }
        }
        Ok(power)
    }

    /// Integer division and remainder that round toward zero, as in C.
    pub(crate) fn round_to_zero(
        &mut self,
        name: &str,
        args: &[Spanned],
        span: Span,
    ) -> Result<Node> {
        self.take(name, args, 2, span)?;
        let (a, b) = self.operands(&args[0], &args[1])?;
        let ty = self.hir.ty(a);
        let op = if name.starts_with("div") { Op::Div } else { Op::Mod };
        if ty.is_float() {
            return self.fail(
                Diagnostic::error(&codes::OPERAND_TYPES, format!("`{name}` needs integers"))
                    .at(args[0].1, format!("has type {}", c_name(ty)))
                    .help(match op {
                        Op::Div => "of floats, write `trunc(a / b)`",
                        _ => "of floats, write `a - b * trunc(a / b)`",
                    }),
            );
        }
        if ty.is_unsigned() {
            return self.arithmetic(op, a, b, true, span);
        }
        // On magnitudes, then with the sign put back.
        let ua = self.abs(a, span);
        let ub = self.abs(b, span);
        let u = self.arithmetic(op, ua, ub, true, span)?;
        let magnitude = self.cast(ty, u, span);
        let zero = self.hir.int(0, ty, span);
        let negated = self.op(BinaryOp::Sub, zero, magnitude, span);
        let mut negative = self.compare(CompareOp::Lt, a, zero, span);
        if op == Op::Div {
            let other = self.compare(CompareOp::Lt, b, zero, span);
            negative = self.compare(CompareOp::Ne, negative, other, span);
        }
        Ok(self.choose(negative, negated, magnitude, span))
    }

    /// Conversion that stops at the ends of the type's range instead of wrapping.
    pub(crate) fn saturating_cast(&mut self, ty: ElementType, x: Node, span: Span) -> Node {
        let from = self.hir.ty(x);
        if from == ty || ty.is_float() {
            return self.cast(ty, x, span);
        }
        let (low, high) = ty.integer_range();
        if from.is_float() && ty.bits() == 32 {
            // The upper end is not a float: from the next power of two on, take it outright.
            let least = self.hir.float(low as f32, span);
            let x = self.op(BinaryOp::Max, x, least, span);
            let limit = self.hir.float(high as f32, span);
            let above = self.compare(CompareOp::Ge, x, limit, span);
            let top = self.hir.int(high, ty, span);
            let inner = self.cast(ty, x, span);
            return self.choose(above, top, inner, span);
        }
        let mut x = x;
        if from.is_float() || represents(from, high) {
            let top = self.hir.int(high, from, span);
            x = self.op(BinaryOp::Min, x, top, span);
        }
        if from.is_float() || (from.is_signed() && represents(from, low)) {
            let bottom = self.hir.int(low, from, span);
            x = self.op(BinaryOp::Max, x, bottom, span);
        }
        self.cast(ty, x, span)
    }
}
