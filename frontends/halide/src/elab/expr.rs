//! Expressions of the compile-time language. Left operands, callees and indexed values are walked
//! in a loop, so that long sums and chains of calls cost no stack.

use nbcc_base::{Diagnostic, Failed, Span};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{ExprId, ExprKind, Prefix, TypeWord};
use crate::value::constant;
use crate::value::types::CType;
use crate::value::{ArrayId, Value};

impl Elab<'_> {
    /// The value of an expression and where it stands.
    pub(crate) fn spanned(&mut self, id: ExprId) -> Result<Spanned> {
        let span = self.ast.exprs[id].span;
        let value = self.deeper(span, |e| e.spine(id))?;
        Ok((value, span))
    }

    /// Evaluates an expression from the bottom of its left spine up.
    fn spine(&mut self, id: ExprId) -> Result<Value> {
        let mut path = vec![id];
        let mut at = id;
        loop {
            at = match &self.ast.exprs[at].kind {
                ExprKind::Binary(_, _, left, _) | ExprKind::Index(left, _) => *left,
                ExprKind::Call(callee, _) => match self.ast.exprs[*callee].kind {
                    ExprKind::Member(object, _) => {
                        path.push(*callee);
                        object
                    }
                    ExprKind::Name(_) => break,
                    _ => *callee,
                },
                ExprKind::Member(object, _) => *object,
                _ => break,
            };
            path.push(at);
        }
        let leaf = path.pop().expect("the path has the expression itself");
        let mut value = self.leaf(leaf)?;
        let mut below = leaf;
        while let Some(id) = path.pop() {
            let span = self.ast.exprs[id].span;
            let left = (value, self.ast.exprs[below].span);
            below = id;
            value = match &self.ast.exprs[id].kind {
                ExprKind::Binary(op, at, _, right) => {
                    let right = self.spanned(*right)?;
                    self.binary(*op, *at, &left, &right, span)?
                }
                ExprKind::Index(_, index) => {
                    let index = self.spanned(*index)?;
                    self.index(&left, &index, span)?
                }
                ExprKind::Call(_, args) => {
                    let args = self.arguments(args)?;
                    self.call_value(&left, &args, span)?
                }
                ExprKind::Member(_, member) => {
                    let called = path.last().map(|&p| &self.ast.exprs[p].kind);
                    if let Some(ExprKind::Call(callee, args)) = called
                        && *callee == id
                    {
                        let call = path.pop().expect("the call is next");
                        below = call;
                        let whole = self.ast.exprs[call].span;
                        // An unknown method is the mistake, not the names in its arguments.
                        if let Some(same) = self.unfollowed(&left, *member)? {
                            value = same;
                            continue;
                        }
                        self.known_method(&left, *member)?;
                        let args = self.arguments(args)?;
                        self.method(&left, *member, &args, whole)?
                    } else {
                        self.member(&left, *member)?
                    }
                }
                _ => unreachable!("only these have a left part"),
            };
        }
        Ok(value)
    }

    fn arguments(&mut self, args: &[ExprId]) -> Result<Vec<Spanned>> {
        args.iter().map(|&a| self.spanned(a)).collect()
    }

    fn leaf(&mut self, id: ExprId) -> Result<Value> {
        let span = self.ast.exprs[id].span;
        match &self.ast.exprs[id].kind {
            ExprKind::Int => self.integer_literal(span),
            ExprKind::Float => {
                let text = self.text(span);
                let digits = text.trim_end_matches(['f', 'F']);
                let value: f32 = digits.parse().unwrap_or(f32::INFINITY);
                self.finite(value.is_finite(), span)?;
                Ok(Value::Float(value))
            }
            ExprKind::Double => {
                let value: f64 = self.text(span).parse().unwrap_or(f64::INFINITY);
                self.finite(value.is_finite(), span)?;
                Ok(Value::Double(value))
            }
            ExprKind::Text => {
                let text = self.text(span);
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
                Ok(Value::Text(inner.into()))
            }
            ExprKind::Bool(b) => Ok(Value::Bool(*b)),
            ExprKind::Name(name) => self.name_value(*name, span),
            ExprKind::TargetName => Ok(Value::Text(self.text(span).into())),
            ExprKind::Sizeof(ty) => match self.c_type_of(*ty)? {
                Some(CType::Double | CType::Long) => Ok(Value::Int(8)),
                _ => {
                    let ty = self.element_type(*ty)?;
                    Ok(Value::Int(i64::from(ty.bits().div_ceil(8))))
                }
            },
            ExprKind::Lambda(lambda) => self.lambda_value(id, lambda, span),
            ExprKind::Type(ty) => match ty.word {
                TypeWord::C | TypeWord::Parameter => self.element_type(**ty).map(Value::Type),
                _ => {
                    let text = self.text(ty.span);
                    self.fail(
                        Diagnostic::error(&codes::CONVERSION, "not a type of elements")
                            .at(ty.span, format!("`{text}` is none"))
                            .help("write `float`, `uint8_t` or the like"),
                    )
                }
            },
            ExprKind::Unary(ops, operand) => {
                let mut value = self.spanned(*operand)?;
                for (op, at) in ops.iter().rev() {
                    let whole = at.to(value.1);
                    value.0 = match op {
                        Prefix::CCast => self.c_cast(*at, &value)?,
                        op => self.prefix(*op, &value, whole)?,
                    };
                    value.1 = whole;
                }
                Ok(value.0)
            }
            ExprKind::Ternary(condition, yes, no) => {
                let (value, at) = self.spanned(*condition)?;
                if value.is_number() {
                    let chosen = if constant::truth(&value) { *yes } else { *no };
                    return Ok(self.spanned(chosen)?.0);
                }
                self.not_constant(&value, at, "the condition of `?:`")
            }
            ExprKind::Call(callee, args) => {
                let callee_span = self.ast.exprs[*callee].span;
                let ExprKind::Name(name) = self.ast.exprs[*callee].kind else {
                    unreachable!("other callees are on the spine")
                };
                let args = self.arguments(args)?;
                self.call_name(name, callee_span, &args, span)
            }
            ExprKind::Cast(kind, ty, args) => {
                let args = self.arguments(args)?;
                self.cast_call(*kind, ty.as_deref().copied(), &args, span)
            }
            ExprKind::Construct(ty, args) => {
                let args = self.arguments(args)?;
                self.construct(**ty, &args, span)
            }
            ExprKind::List(list) => Ok(Value::List(self.arguments(list)?.into())),
            ExprKind::Binary(..) | ExprKind::Index(..) | ExprKind::Member(..) => {
                unreachable!("these are on the spine")
            }
        }
    }

    fn finite(&mut self, finite: bool, span: Span) -> Result<()> {
        if finite {
            return Ok(());
        }
        self.fail(
            Diagnostic::error(&codes::NUMBER, "the number is too large")
                .at(span, "more than a float can hold")
                .help("write a number up to `3.4e38f`"),
        )
    }

    fn integer_literal(&mut self, span: Span) -> Result<Value> {
        let text = self.text(span);
        let parsed = if let Some(hex) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            i64::from_str_radix(hex, 16)
        } else if text.len() > 1 && text.starts_with('0') {
            return self.fail(
                Diagnostic::error(&codes::NUMBER, format!("`{text}` would be an octal number"))
                    .at(span, "starts with 0")
                    .help("leave out the leading zeros, or write 0x for a hexadecimal number"),
            );
        } else {
            text.parse()
        };
        match parsed {
            Ok(n) => Ok(Value::Int(n)),
            Err(_) => self.fail(
                Diagnostic::error(&codes::NUMBER, "the number is too large")
                    .at(span, "an int holds up to 2147483647")
                    .help(crate::helps::SMALLER_INT),
            ),
        }
    }

    fn index(&mut self, base: &Spanned, index: &Spanned, span: Span) -> Result<Value> {
        match &base.0 {
            Value::Array(id) => {
                let n = self.array_index(*id, index)?;
                match &self.arrays[id.0 as usize][n] {
                    Value::Poison => Err(Failed),
                    value => Ok(value.clone()),
                }
            }
            Value::Tuple(nodes) => {
                let n = self.tuple_index(nodes.len(), index)?;
                Ok(Value::Expr(nodes[n]))
            }
            Value::List(list) => {
                let n = self.constant_int(index, "the index of a list")?;
                match usize::try_from(n).ok().and_then(|n| list.get(n)) {
                    Some((value, _)) => Ok(value.clone()),
                    None => self.out_of_range(n, list.len(), "list", index.1),
                }
            }
            Value::RDom(rdom) => {
                let dims = self.hir.rdoms[*rdom].dims.len();
                let n = self.constant_int(index, "the index of an RDom")?;
                if (0..dims as i32).contains(&n) {
                    Ok(Value::RVar(*rdom, n as u32))
                } else {
                    self.out_of_range(n, dims, "RDom", index.1)
                }
            }
            other => {
                let what = other.what();
                let help = match other {
                    Value::Expr(_) => "only a Func of several values has values to choose from",
                    _ => "an array is declared as in `Func f[3];`",
                };
                self.fail(
                    Diagnostic::error(&codes::NOT_INDEXED, format!("{what} cannot be indexed"))
                        .at(span, format!("this is an element of {what}"))
                        .help(help),
                )
            }
        }
    }

    fn out_of_range<T>(&mut self, n: i32, len: usize, what: &str, at: Span) -> Result<T> {
        self.fail(
            Diagnostic::error(&codes::INDEX_RANGE, format!("index {n} is outside the {what}"))
                .at(at, format!("its indices are 0 to {}", len.saturating_sub(1)))
                .help(crate::helps::index(what, len)),
        )
    }

    /// The index of a Tuple's value, checked.
    pub(crate) fn tuple_index(&mut self, len: usize, index: &Spanned) -> Result<usize> {
        let n = self.constant_int(index, "the index of a Tuple")?;
        if (0..len as i64).contains(&i64::from(n)) {
            return Ok(n as usize);
        }
        self.out_of_range(n, len, "Tuple", index.1)
    }

    /// The index of an array element, checked.
    pub(crate) fn array_index(&mut self, array: ArrayId, index: &Spanned) -> Result<usize> {
        let len = self.arrays[array.0 as usize].len();
        let n = self.constant_int(index, "the index of an array")?;
        if (0..len as i64).contains(&i64::from(n)) {
            return Ok(n as usize);
        }
        self.out_of_range(n, len, "array", index.1)
    }
}
