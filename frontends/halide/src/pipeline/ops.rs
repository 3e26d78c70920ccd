//! Operators on expressions: what Halide's `IROperator` does with types. A literal takes the type
//! of the other operand where it fits; other mixed operands are promoted; integers wrap.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Intrinsic, Literal, UnaryOp};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{Node, NodeKind};
use crate::syntax::ast::{Op, Prefix};
use crate::value::Value;
use crate::value::constant::{self, Fault};
use crate::value::types::{c_name, represents, signed};

/// A value and where it stands.
pub(crate) type Spanned = (Value, Span);

impl Elab<'_> {
    /// A value as an expression.
    pub(crate) fn expr_of(&mut self, value: &Value, span: Span) -> Result<Node> {
        let (kind, ty) = match value {
            Value::Int(n) if !constant::is_int(*n) => {
                let help = match u32::try_from(*n) {
                    Ok(_) => {
                        format!(
                            "give it a type that holds it: `cast<uint32_t>({})`",
                            self.text(span)
                        )
                    }
                    Err(_) => "64-bit types are not supported".to_owned(),
                };
                return self.fail(
                    Diagnostic::error(&codes::NUMBER, format!("{n} is too large for an int"))
                        .at(span, "an int holds -2147483648 to 2147483647")
                        .help(help),
                );
            }
            Value::Int(n) => (NodeKind::Literal(Literal::Int(*n)), ElementType::I32),
            Value::Bool(b) => (NodeKind::Literal(Literal::Int(i64::from(*b))), ElementType::Bool),
            Value::Float(f) => (NodeKind::Literal(Literal::float(*f)), ElementType::F32),
            Value::Double(_) => {
                let text = self.text(span);
                let literal = text.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
                let help = if literal {
                    format!("write `{text}f`")
                } else {
                    "write its literals with the suffix `f`, or convert it with `float(...)`"
                        .to_owned()
                };
                return self.fail(
                    Diagnostic::error(&codes::DOUBLE, "a double cannot be used in the pipeline")
                        .at(span, "this is a double: 64-bit types are not supported")
                        .help(help),
                );
            }
            Value::Expr(node) => return Ok(*node),
            Value::Var(name) => (NodeKind::Var(*name), ElementType::I32),
            Value::RVar(rdom, n) => (NodeKind::RVar(*rdom, *n), ElementType::I32),
            Value::RDom(rdom) if self.hir.rdoms[*rdom].dims.len() == 1 => {
                (NodeKind::RVar(*rdom, 0), ElementType::I32)
            }
            Value::Poison => return Err(nbcc_base::Failed),
            other => {
                let help = match other {
                    Value::RDom(_) => "name one of its variables: `.x`, `.y`, `.z` or `.w`",
                    Value::Func(_) | Value::Input(_) => "call it with coordinates",
                    Value::Tuple(_) => "take one of its values: `[0]`",
                    Value::NoExpr => "give it a value first",
                    _ => "write a number, a call or an Expr here",
                };
                let what = other.what();
                return self.fail(
                    Diagnostic::error(&codes::NOT_AN_EXPR, format!("{what} is not an expression"))
                        .at(span, format!("this is {what}"))
                        .help(help),
                );
            }
        };
        Ok(self.hir.push(kind, ty, span))
    }

    /// A literal in the type of the operand beside it.
    pub(crate) fn coerce(&mut self, value: i64, ty: ElementType, span: Span) -> Result<Node> {
        if represents(ty, value) {
            return Ok(self.hir.int(value, ty, span));
        }
        let limits = if ty.is_float() {
            "it would lose digits as a float".to_owned()
        } else {
            let (low, high) = ty.integer_range();
            format!("{} holds {low} to {high}", c_name(ty))
        };
        self.fail(
            Diagnostic::error(
                &codes::LITERAL_RANGE,
                format!("{value} does not fit the type of the operand beside it, {}", c_name(ty)),
            )
            .at(span, limits)
            .help("convert the other operand to a wider type first: `cast<int32_t>(...)`"),
        )
    }

    /// Conversion to a type. Literals are converted at once, as in Halide.
    pub(crate) fn cast(&mut self, ty: ElementType, node: Node, span: Span) -> Node {
        if self.hir.ty(node) == ty {
            return node;
        }
        match self.hir.literal(node) {
            Some(Literal::Int(value)) if ty == ElementType::Bool => {
                self.hir.int(value & 1, ty, span)
            }
            Some(Literal::Int(value)) => self.hir.int(value, ty, span),
            Some(Literal::Float(bits)) if ty == ElementType::Bool => {
                self.hir.int(f32::from_bits(bits) as i64 & 1, ty, span)
            }
            Some(Literal::Float(bits)) => self.hir.int(f32::from_bits(bits) as i64, ty, span),
            None => self.hir.push(NodeKind::Cast(node), ty, span),
        }
    }

    fn cast_here(&mut self, ty: ElementType, node: Node) -> Node {
        let span = self.hir.nodes[node].span;
        self.cast(ty, node, span)
    }

    /// Both operands in the type that Halide promotes them to.
    pub(crate) fn promote(&mut self, a: Node, b: Node) -> (Node, Node) {
        let (ta, tb) = (self.hir.ty(a), self.hir.ty(b));
        let ty = if ta == tb {
            return (a, b);
        } else if ta.is_float() || tb.is_float() {
            ElementType::F32
        } else if ta.is_unsigned() && tb.is_unsigned() {
            if ta.bits() > tb.bits() { ta } else { tb }
        } else {
            signed(ta.bits().max(tb.bits()))
        };
        (self.cast_here(ty, a), self.cast_here(ty, b))
    }

    /// Two values as operands of one type: a compile-time integer takes the other's type.
    pub(crate) fn operands(&mut self, a: &Spanned, b: &Spanned) -> Result<(Node, Node)> {
        let integer = |v: &Value| match v {
            Value::Int(n) => Some(*n),
            Value::Bool(b) => Some(i64::from(*b)),
            _ => None,
        };
        match (integer(&a.0), integer(&b.0)) {
            (Some(n), None) => {
                let y = self.expr_of(&b.0, b.1)?;
                let x = self.coerce(n, self.hir.ty(y), a.1)?;
                Ok((x, y))
            }
            (None, Some(n)) => {
                let x = self.expr_of(&a.0, a.1)?;
                let y = self.coerce(n, self.hir.ty(x), b.1)?;
                Ok((x, y))
            }
            _ => {
                let x = self.expr_of(&a.0, a.1)?;
                let y = self.expr_of(&b.0, b.1)?;
                Ok(self.promote(x, y))
            }
        }
    }

    /// `a op b`. `at` is the operator's place, `span` that of the whole.
    pub(crate) fn binary(
        &mut self,
        op: Op,
        at: Span,
        a: &Spanned,
        b: &Spanned,
        span: Span,
    ) -> Result<Value> {
        if a.0.is_number() && b.0.is_number() {
            return match constant::binary(op, &a.0, &b.0) {
                Ok(value) => Ok(value),
                Err(fault) => self.constant_fault(fault, op, at, b.1, span),
            };
        }
        if let (Op::Add, Value::Text(x), Value::Text(y)) = (op, &a.0, &b.0)
            && x.len() + y.len() < 1000
        {
            return Ok(Value::Text(format!("{x}{y}").into()));
        }
        // What an assertion says.
        if let (Op::Shl, Value::Void, Value::Text(_)) = (op, &a.0, &b.0) {
            return Ok(Value::Void);
        }
        if let (Op::Eq | Op::Ne, Value::Text(x), Value::Text(y)) = (op, &a.0, &b.0) {
            return Ok(Value::Bool((x == y) == (op == Op::Eq)));
        }
        self.work(1, span)?;
        let node = match op {
            Op::LogicalAnd | Op::LogicalOr => self.logical(op, a, b, span)?,
            Op::Shl | Op::Shr => self.shift(op, a, b, span)?,
            Op::And | Op::Or | Op::Xor => self.bitwise(op, at, a, b, span)?,
            Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => {
                let (x, y) = self.operands(a, b)?;
                let op = match op {
                    Op::Lt => CompareOp::Lt,
                    Op::Le => CompareOp::Le,
                    Op::Gt => CompareOp::Gt,
                    Op::Ge => CompareOp::Ge,
                    Op::Eq => CompareOp::Eq,
                    _ => CompareOp::Ne,
                };
                self.hir.push(NodeKind::Compare(op, x, y), ElementType::Bool, span)
            }
            Op::Mul | Op::Div | Op::Mod | Op::Add | Op::Sub => {
                let (x, y) = self.operands(a, b)?;
                self.arithmetic(op, x, y, matches!(b.0, Value::Int(_)), span)?
            }
        };
        Ok(Value::Expr(node))
    }

    fn constant_fault<T>(
        &mut self,
        fault: Fault,
        op: Op,
        at: Span,
        right: Span,
        span: Span,
    ) -> Result<T> {
        let diagnostic = match fault {
            Fault::DivisionByZero => division_by_zero(right, span),
            Fault::Overflow => {
                Diagnostic::error(&codes::OVERFLOW, "the result is outside the range of int")
                    .at(span, "an int holds -2147483648 to 2147483647")
                    .help(
                        "make one of the operands a float, as in `2.0f`, or write smaller numbers",
                    )
            }
            Fault::Shift => Diagnostic::error(
                &codes::OVERFLOW,
                "an int is shifted by less than 0 or more than 31",
            )
            .at(right, "not from 0 to 31")
            .help("write a number from 0 to 31"),
            Fault::NotOnFloats => Diagnostic::error(
                &codes::OPERAND_TYPES,
                format!("`{}` is not defined on floats", op.text()),
            )
            .at(at, "needs integers")
            .help("convert the operands: `(int)(...)`"),
        };
        self.fail(diagnostic)
    }

    /// `+ - * / %` on operands of one type.
    pub(crate) fn arithmetic(
        &mut self,
        op: Op,
        x: Node,
        y: Node,
        integer_literal: bool,
        span: Span,
    ) -> Result<Node> {
        let ty = self.hir.ty(x);
        let right = self.hir.nodes[y].span;
        if matches!(op, Op::Div | Op::Mod) {
            match self.hir.literal(y) {
                Some(Literal::Int(0)) => return self.fail(division_by_zero(right, span)),
                Some(Literal::Float(bits)) if f32::from_bits(bits) == 0.0 => {
                    if integer_literal {
                        return self.fail(division_by_zero(right, span));
                    }
                    self.report(
                        Diagnostic::warning(&codes::FLOAT_DIVISION_BY_ZERO, "division by zero")
                            .at(right, "the result is infinite or not a number"),
                    );
                }
                _ => {}
            }
        }
        let binary = match op {
            Op::Mul => BinaryOp::Mul,
            Op::Div => BinaryOp::Div,
            Op::Mod if ty.is_float() => {
                // Halide: a - b * floor(a / b).
                let quotient = self.hir.push(NodeKind::Binary(BinaryOp::Div, x, y), ty, span);
                let floor = NodeKind::Intrinsic(Intrinsic::Floor, Box::new([quotient]));
                let floor = self.hir.push(floor, ty, span);
                let whole = self.hir.push(NodeKind::Binary(BinaryOp::Mul, y, floor), ty, span);
                return Ok(self.hir.push(NodeKind::Binary(BinaryOp::Sub, x, whole), ty, span));
            }
            Op::Mod => BinaryOp::Mod,
            Op::Sub => BinaryOp::Sub,
            _ => BinaryOp::Add,
        };
        Ok(self.hir.push(NodeKind::Binary(binary, x, y), ty, span))
    }

    fn logical(&mut self, op: Op, a: &Spanned, b: &Spanned, span: Span) -> Result<Node> {
        let x = self.condition(a)?;
        let y = self.condition(b)?;
        let op = if op == Op::LogicalAnd { BinaryOp::And } else { BinaryOp::Or };
        Ok(self.hir.push(NodeKind::Binary(op, x, y), ElementType::Bool, span))
    }

    /// A value as a Bool expression.
    pub(crate) fn condition(&mut self, value: &Spanned) -> Result<Node> {
        if value.0.is_number() {
            let truth = Value::Bool(constant::truth(&value.0));
            return self.expr_of(&truth, value.1);
        }
        let node = self.expr_of(&value.0, value.1)?;
        let ty = self.hir.ty(node);
        if ty == ElementType::Bool {
            return Ok(node);
        }
        self.fail(
            Diagnostic::error(
                &codes::CONDITION,
                format!("a condition is needed, not a value of type {}", c_name(ty)),
            )
            .at(value.1, format!("has type {}", c_name(ty)))
            .help("compare it: `... != 0`"),
        )
    }

    fn shift(&mut self, op: Op, a: &Spanned, b: &Spanned, span: Span) -> Result<Node> {
        let mut x = self.expr_of(&a.0, a.1)?;
        self.integer_operand(x, op)?;
        let mut op = op;
        let mut y = match b.0 {
            Value::Int(n) => {
                if n < 0 {
                    op = if op == Op::Shl { Op::Shr } else { Op::Shl };
                }
                let ty = crate::value::types::unsigned(self.hir.ty(x).bits());
                self.coerce(n.saturating_abs(), ty, b.1)?
            }
            _ => self.expr_of(&b.0, b.1)?,
        };
        self.integer_operand(y, op)?;
        let bits = self.hir.ty(x).bits().max(self.hir.ty(y).bits());
        x = self.widen(x, bits);
        y = self.widen(y, bits);
        let ty = self.hir.ty(x);
        let op = if op == Op::Shl { BinaryOp::Shl } else { BinaryOp::Shr };
        Ok(self.hir.push(NodeKind::Binary(op, x, y), ty, span))
    }

    fn widen(&mut self, node: Node, bits: u32) -> Node {
        let ty = self.hir.ty(node);
        if ty.bits() == bits {
            return node;
        }
        let ty = if ty.is_signed() { signed(bits) } else { crate::value::types::unsigned(bits) };
        self.cast_here(ty, node)
    }

    fn integer_operand(&mut self, node: Node, op: Op) -> Result<()> {
        if !self.hir.ty(node).is_float() {
            return Ok(());
        }
        let span = self.hir.nodes[node].span;
        self.fail(
            Diagnostic::error(
                &codes::OPERAND_TYPES,
                format!("`{}` is not defined on floats", op.text()),
            )
            .at(span, "has type float")
            .help("convert it: `cast<int32_t>(...)`"),
        )
    }

    fn bitwise(&mut self, op: Op, at: Span, a: &Spanned, b: &Spanned, span: Span) -> Result<Node> {
        let literal = matches!(a.0, Value::Int(_)) || matches!(b.0, Value::Int(_));
        let (mut x, mut y) = if literal {
            self.operands(a, b)?
        } else {
            (self.expr_of(&a.0, a.1)?, self.expr_of(&b.0, b.1)?)
        };
        self.integer_operand(x, op)?;
        self.integer_operand(y, op)?;
        let (tx, ty) = (self.hir.ty(x), self.hir.ty(y));
        if tx.is_signed() != ty.is_signed() {
            return self.fail(
                Diagnostic::error(
                    &codes::OPERAND_TYPES,
                    format!("`{}` needs operands that are both signed or both unsigned", op.text()),
                )
                .at(at, format!("between {} and {}", c_name(tx), c_name(ty)))
                .help("convert one of them with `cast<...>`"),
            );
        }
        let bits = tx.bits().max(ty.bits());
        x = self.widen(x, bits);
        y = self.widen(y, bits);
        let ty = self.hir.ty(x);
        let kind = match op {
            Op::And => NodeKind::Binary(BinaryOp::And, x, y),
            Op::Or => NodeKind::Binary(BinaryOp::Or, x, y),
            _ if ty == ElementType::Bool => NodeKind::Compare(CompareOp::Ne, x, y),
            _ => NodeKind::Binary(BinaryOp::Xor, x, y),
        };
        Ok(self.hir.push(kind, ty, span))
    }

    /// `-e`, `!e`, `~e`, `+e`.
    pub(crate) fn prefix(&mut self, op: Prefix, a: &Spanned, span: Span) -> Result<Value> {
        if a.0.is_number() {
            return match (op, &a.0) {
                (Prefix::Not, v) => Ok(Value::Bool(!constant::truth(v))),
                (Prefix::Plus | Prefix::Minus, Value::Double(d)) => {
                    Ok(Value::Double(if op == Prefix::Plus { *d } else { -d }))
                }
                (Prefix::Plus | Prefix::Minus, Value::Float(f)) => {
                    Ok(Value::Float(if op == Prefix::Plus { *f } else { -f }))
                }
                (Prefix::Plus, v) => Ok(Value::Int(constant::integer(v))),
                (Prefix::Minus, v) => match constant::integer(v).checked_neg() {
                    Some(n) => Ok(Value::Int(n)),
                    None => self.constant_fault(Fault::Overflow, Op::Sub, span, span, span),
                },
                (_, Value::Float(_) | Value::Double(_)) => {
                    self.constant_fault(Fault::NotOnFloats, Op::Xor, span, span, span)
                }
                (_, v) => Ok(Value::Int(!constant::integer(v))),
            };
        }
        self.work(1, span)?;
        let node = match op {
            Prefix::Not => {
                let x = self.condition(a)?;
                self.hir.push(NodeKind::Unary(UnaryOp::Not, x), ElementType::Bool, span)
            }
            Prefix::BitNot => {
                let x = self.expr_of(&a.0, a.1)?;
                let ty = self.hir.ty(x);
                if ty.is_float() {
                    return self.fail(
                        Diagnostic::error(&codes::OPERAND_TYPES, "`~` is not defined on floats")
                            .at(a.1, "has type float")
                            .help("convert it: `cast<int32_t>(...)`"),
                    );
                }
                let op = if ty == ElementType::Bool { UnaryOp::Not } else { UnaryOp::BitNot };
                self.hir.push(NodeKind::Unary(op, x), ty, span)
            }
            Prefix::Minus => {
                // Halide: 0 - e, so that the negative of zero is zero.
                let x = self.expr_of(&a.0, a.1)?;
                let ty = self.hir.ty(x);
                let zero = self.hir.int(0, ty, span);
                self.hir.push(NodeKind::Binary(BinaryOp::Sub, zero, x), ty, span)
            }
            Prefix::Plus | Prefix::CCast => self.expr_of(&a.0, a.1)?,
        };
        Ok(Value::Expr(node))
    }

    /// An expression as a coordinate: narrower integers are converted, others refused.
    pub(crate) fn coordinate(&mut self, node: Node, what: &str) -> Result<Node> {
        let ty = self.hir.ty(node);
        if ty == ElementType::I32 {
            return Ok(node);
        }
        let span = self.hir.nodes[node].span;
        if ty.is_float() || ty == ElementType::U32 {
            return self.fail(
                Diagnostic::error(
                    &codes::COORDINATE,
                    format!("a coordinate of {what} must be an int, not {}", c_name(ty)),
                )
                .at(span, format!("has type {}", c_name(ty)))
                .help("convert it: `cast<int32_t>(...)`"),
            );
        }
        Ok(self.cast(ElementType::I32, node, span))
    }

    /// Shorthands for building: a binary operation on operands of one type.
    pub(crate) fn op(&mut self, op: BinaryOp, a: Node, b: Node, span: Span) -> Node {
        let ty = self.hir.ty(a);
        self.hir.push(NodeKind::Binary(op, a, b), ty, span)
    }

    pub(crate) fn compare(&mut self, op: CompareOp, a: Node, b: Node, span: Span) -> Node {
        self.hir.push(NodeKind::Compare(op, a, b), ElementType::Bool, span)
    }

    pub(crate) fn choose(&mut self, condition: Node, yes: Node, no: Node, span: Span) -> Node {
        let ty = self.hir.ty(yes);
        self.hir.push(NodeKind::Select(condition, yes, no), ty, span)
    }

    pub(crate) fn intrinsic(&mut self, op: Intrinsic, args: &[Node], span: Span) -> Node {
        self.hir.push(NodeKind::Intrinsic(op, args.into()), ElementType::F32, span)
    }
}

/// The divisor may stand elsewhere, as the value of a name.
fn division_by_zero(zero: Span, division: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(&codes::DIVISION_BY_ZERO, "division by the constant zero");
    let inside = zero.source == division.source
        && (division.start..=division.end).contains(&zero.start)
        && zero.end <= division.end;
    let diagnostic = match inside {
        true => diagnostic.at(zero, "this is zero"),
        false => diagnostic.at(division, "divides by zero").and(zero, "this is zero"),
    };
    diagnostic
        .help("a divisor that is zero only at run time gives zero; a constant one is a mistake")
}
