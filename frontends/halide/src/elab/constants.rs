//! Values that must be known while the file is elaborated.

use nbcc_base::{Diagnostic, Failed, Span};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::NodeKind;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::ExprId;
use crate::value::{Value, constant};

impl Elab<'_> {
    /// A condition of the compile-time language.
    pub(crate) fn constant_condition(&mut self, id: ExprId) -> Result<bool> {
        let (value, span) = self.spanned(id)?;
        if value.is_number() {
            return Ok(constant::truth(&value));
        }
        self.not_constant(&value, span, "a condition")
    }

    pub(crate) fn not_constant<T>(&mut self, value: &Value, span: Span, what: &str) -> Result<T> {
        if matches!(value, Value::Poison) {
            return Err(Failed);
        }
        let help = match value {
            Value::Expr(node) if !self.depends_on_pixels(*node, span)? => {
                "extents of inputs and parameters are known only when the program runs"
            }
            Value::Expr(_) | Value::Var(_) | Value::RVar(..) => {
                "a value that differs between pixels is chosen with `select`"
            }
            _ => "write a number or a const",
        };
        self.fail(
            Diagnostic::error(
                &codes::NOT_CONSTANT,
                format!("{what} must be known at compile time"),
            )
            .at(span, format!("this is {}", value.what()))
            .help(help),
        )
    }

    fn depends_on_pixels(&mut self, node: crate::pipeline::hir::Node, at: Span) -> Result<bool> {
        let mut depends = false;
        self.walk(&[node], at, |e, n| {
            depends |= matches!(
                e.hir.nodes[n].kind,
                NodeKind::Var(_) | NodeKind::RVar(..) | NodeKind::Load(..) | NodeKind::Call(..)
            );
            Ok(())
        })?;
        Ok(depends)
    }

    /// An `int` that is known at compile time.
    pub(crate) fn constant_int(&mut self, value: &Spanned, what: &str) -> Result<i32> {
        match value.0 {
            Value::Bool(b) => Ok(i32::from(b)),
            Value::Int(n) => match i32::try_from(n) {
                Ok(n) => Ok(n),
                Err(_) => self.fail(
                    Diagnostic::error(&codes::NUMBER, format!("{n} is too large for an int"))
                        .at(value.1, "an int holds -2147483648 to 2147483647")
                        .help(crate::helps::SMALLER_INT),
                ),
            },
            Value::Float(_) | Value::Double(_) => self.fail(
                Diagnostic::error(&codes::NOT_CONSTANT, format!("{what} must be an int"))
                    .at(value.1, format!("this is {}", value.0.what()))
                    .help("convert it: `(int)(...)`"),
            ),
            _ => self.not_constant(&value.0, value.1, what),
        }
    }
}
