//! Functions that choose between values: `select`, `mux`, `min`, `max`, `clamp`.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, ElementType, Literal};

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::Node;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Op;
use crate::value::Value;
use crate::value::types::{c_name, represents};

impl Elab<'_> {
    /// `min` and `max` of two or more: folded from the right, as in Halide.
    pub(crate) fn extreme(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Node> {
        if args.len() < 2 {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("`{name}` takes at least 2 arguments, not {}", args.len()),
                )
                .at(span, format!("{} given", count(args.len(), "argument")))
                .help(format!("give another one: `{name}(a, b)`")),
            );
        }
        let op = if name == "min" { BinaryOp::Min } else { BinaryOp::Max };
        let mut result = args[args.len() - 1].clone();
        for arg in args[..args.len() - 1].iter().rev() {
            if arg.0.is_number() && result.0.is_number() {
                let both = [arg.clone(), result];
                let value = self.number_function(name, &both, span)?;
                result = (value.expect("numbers have a least and a greatest"), arg.1);
                continue;
            }
            let (a, b) = self.operands(arg, &result)?;
            result = (Value::Expr(self.op(op, a, b, span)), span);
        }
        self.expr_of(&result.0, span)
    }

    pub(crate) fn clamp(&mut self, args: &[Spanned], span: Span) -> Result<Node> {
        self.take("clamp", args, 3, span)?;
        let x = self.expr_of(&args[0].0, args[0].1)?;
        let ty = self.hir.ty(x);
        let low = self.lossless(ty, &args[1], "clamp")?;
        let high = self.lossless(ty, &args[2], "clamp")?;
        let below = self.op(BinaryOp::Min, x, high, span);
        Ok(self.op(BinaryOp::Max, below, low, span))
    }

    /// A value in a type that can hold all of its values.
    fn lossless(&mut self, ty: ElementType, value: &Spanned, name: &str) -> Result<Node> {
        let node = self.expr_of(&value.0, value.1)?;
        let from = self.hir.ty(node);
        if from == ty {
            return Ok(node);
        }
        let fits = match self.hir.literal(node) {
            Some(Literal::Int(n)) => represents(ty, n),
            Some(Literal::Float(bits)) => {
                let f = f32::from_bits(bits);
                !ty.is_float() && f.fract() == 0.0 && represents(ty, f as i64)
            }
            None if from.is_float() => false,
            None if ty.is_float() => from.bits() <= 16,
            None => {
                let (low, high) = from.integer_range();
                represents(ty, low) && represents(ty, high)
            }
        };
        if fits {
            return Ok(self.cast(ty, node, value.1));
        }
        self.fail(
            Diagnostic::error(
                &codes::OPERAND_TYPES,
                format!(
                    "the bounds of `{name}` must fit the type of its first argument, {}",
                    c_name(ty)
                ),
            )
            .at(value.1, format!("has type {}", c_name(from)))
            .help(format!("convert it: `cast<{}>(...)`", c_name(ty))),
        )
    }

    pub(crate) fn select(&mut self, args: &[Spanned], span: Span) -> Result<Value> {
        if args.len() < 3 || args.len().is_multiple_of(2) {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    "`select` takes pairs of condition and value, then the value of last resort",
                )
                .at(span, format!("{} given", count(args.len(), "argument")))
                .help("write `select(c, a, b)` or `select(c, a, d, b, e)`"),
            );
        }
        let mut result = args[args.len() - 1].clone();
        for pair in args[..args.len() - 1].chunks(2).rev() {
            result = (self.select_one(&pair[0], &pair[1], &result, span)?, span);
        }
        Ok(result.0)
    }

    fn select_one(
        &mut self,
        condition: &Spanned,
        yes: &Spanned,
        no: &Spanned,
        span: Span,
    ) -> Result<Value> {
        if let (Value::Tuple(a), Value::Tuple(b)) = (&yes.0, &no.0) {
            if a.len() != b.len() {
                return self.fail(
                    Diagnostic::error(
                        &codes::VALUE_COUNT,
                        "`select` between Tuples of different sizes",
                    )
                    .at(span, format!("{} values and {}", a.len(), b.len()))
                    .help("choose between Tuples of as many values"),
                );
            }
            let mut values = Vec::new();
            for (k, (&x, &y)) in a.iter().zip(b.iter()).enumerate() {
                let condition = match &condition.0 {
                    Value::Tuple(list) if list.len() == a.len() => {
                        (Value::Expr(list[k]), condition.1)
                    }
                    _ => condition.clone(),
                };
                let c = self.condition(&condition)?;
                let yes = (Value::Expr(x), yes.1);
                let no = (Value::Expr(y), no.1);
                values.push(self.select_values(c, &yes, &no, "select", span)?);
            }
            return Ok(Value::Tuple(values.into()));
        }
        let c = self.condition(condition)?;
        self.select_values(c, yes, no, "select", span).map(Value::Expr)
    }

    /// `select` on values of one type; an integer literal takes the type of the other value.
    pub(crate) fn select_values(
        &mut self,
        condition: Node,
        yes: &Spanned,
        no: &Spanned,
        name: &str,
        span: Span,
    ) -> Result<Node> {
        let (a, b) = self.same_type(yes, no, name)?;
        Ok(self.choose(condition, a, b, span))
    }

    /// Two values that must have one type, where a literal of signed integer type adapts.
    pub(crate) fn same_type(
        &mut self,
        a: &Spanned,
        b: &Spanned,
        name: &str,
    ) -> Result<(Node, Node)> {
        let mut x = self.expr_of(&a.0, a.1)?;
        let mut y = self.expr_of(&b.0, b.1)?;
        let signed_literal =
            |e: &Self, n: Node| e.hir.ty(n).is_signed() && e.hir.constant(n).is_some();
        if signed_literal(self, x) {
            x = self.cast(self.hir.ty(y), x, a.1);
        }
        if signed_literal(self, y) {
            y = self.cast(self.hir.ty(x), y, b.1);
        }
        let (tx, ty) = (self.hir.ty(x), self.hir.ty(y));
        if tx == ty {
            return Ok((x, y));
        }
        self.fail(
            Diagnostic::error(
                &codes::VALUE_TYPES,
                format!(
                    "the values of `{name}` have different types: {} and {}",
                    c_name(tx),
                    c_name(ty)
                ),
            )
            .at(b.1, format!("has type {}", c_name(ty)))
            .and(a.1, format!("has type {}", c_name(tx)))
            .help(format!("convert one of them: `cast<{}>(...)`", c_name(tx))),
        )
    }

    /// `mux(index, {a, b, c})`: the value at an index, the last one beyond the end.
    pub(crate) fn mux(&mut self, args: &[Spanned], span: Span) -> Result<Node> {
        self.take("mux", args, 2, span)?;
        let values: Vec<Spanned> = match &args[1].0 {
            Value::List(list) => list.to_vec(),
            Value::Tuple(nodes) => nodes.iter().map(|&n| (Value::Expr(n), args[1].1)).collect(),
            other => {
                let what = other.what();
                return self.fail(
                    Diagnostic::error(&codes::ARGUMENT_TYPE, "`mux` chooses from a list")
                        .at(args[1].1, format!("this is {what}"))
                        .help("write `mux(i, {a, b, c})`"),
                );
            }
        };
        let Some((last, rest)) = values.split_last() else {
            return self.fail(
                Diagnostic::error(&codes::VALUE_COUNT, "`mux` needs a value to choose")
                    .at(args[1].1, "an empty list")
                    .help("write what to choose from: `mux(i, {a, b, c})`"),
            );
        };
        let mut result = last.clone();
        for (k, value) in rest.iter().enumerate().rev() {
            let hit =
                self.binary(Op::Eq, span, &args[0], &(Value::Int(k as i64), args[0].1), span)?;
            let c = self.condition(&(hit, span))?;
            result = (Value::Expr(self.select_values(c, value, &result, "mux", span)?), span);
        }
        self.expr_of(&result.0, span)
    }
}
