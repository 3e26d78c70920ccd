//! Conversions that the source asks for, and types called like functions.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::ElementType;

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::NodeKind;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{CastKind, TypeName, TypeWord};
use crate::value::types::{CType, c_name};
use crate::value::{Value, constant};

impl Elab<'_> {
    pub(crate) fn c_cast(&mut self, at: Span, value: &Spanned) -> Result<Value> {
        let ty = TypeName { word: TypeWord::C, span: at };
        if value.0.is_number() {
            let c_type = self.c_type_of(ty)?;
            // A conversion that is asked for keeps the lowest bits.
            if let (Some(CType::Element(ElementType::I32)), Value::Int(n)) = (c_type, &value.0) {
                return Ok(Value::Int(ElementType::I32.wrap(*n)));
            }
            return self.convert(TypeWord::C, c_type, value);
        }
        let text = self.text(at);
        self.fail(
            Diagnostic::error(&codes::CONVERSION, "an Expr cannot be converted in this way")
                .at(at, "a C conversion")
                .help(format!("write `cast<{text}>(...)`")),
        )
    }

    pub(crate) fn cast_call(
        &mut self,
        kind: CastKind,
        ty: Option<TypeName>,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let (ty, args) = match (ty, args) {
            (Some(ty), [value]) if kind == CastKind::Static && ty.word == TypeWord::C => {
                return self.c_cast(ty.span, value);
            }
            (Some(ty), args) if kind == CastKind::Static => {
                return self.construct(ty, args, span);
            }
            (Some(ty), args) => match self.c_type_of(ty)? {
                Some(CType::Element(element)) => (element, args),
                Some(_) => {
                    let name = self.text(ty.span);
                    return self.fail(crate::elab::stmt::refused(name, "64-bit types", ty.span));
                }
                None => {
                    return self.fail(
                        Diagnostic::error(&codes::CONVERSION, "not a type of elements")
                            .at(ty.span, "an Expr cannot be converted to this")
                            .help("write `cast<float>(...)`, `cast<uint8_t>(...)` or the like"),
                    );
                }
            },
            (None, [(Value::Type(ty), _), rest @ ..]) if kind != CastKind::Static => (*ty, rest),
            (None, _) => {
                return self.fail(
                    Diagnostic::error(&codes::CONVERSION, "the type to convert to is missing")
                        .at(span, "convert to what?")
                        .help("write `cast<float>(...)` or `cast(Float(32), ...)`"),
                );
            }
        };
        let [value] = args else {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("a conversion takes 1 argument, not {}", args.len()),
                )
                .at(span, format!("{} given", count(args.len(), "argument")))
                .help(crate::helps::conversion(c_name(ty))),
            );
        };
        let node = match value.0 {
            // A double literal is exact enough to be converted at compile time.
            Value::Double(d) if ty.is_float() => self.hir.float(d as f32, value.1),
            Value::Double(d) => self.hir.int(d as i64, ty, value.1),
            // An `unsigned int`, as hexadecimal literals beyond an int are.
            Value::Int(n) if !constant::is_int(n) && u32::try_from(n).is_ok() => {
                self.hir.int(n, ElementType::U32, value.1)
            }
            _ => self.expr_of(&value.0, value.1)?,
        };
        self.work(1, span)?;
        Ok(Value::Expr(match kind {
            CastKind::Cast | CastKind::Static => self.cast(ty, node, span),
            CastKind::Saturating => self.saturating_cast(ty, node, span),
            CastKind::Reinterpret => {
                let from = self.hir.ty(node);
                if from.bits() != ty.bits() {
                    return self.fail(
                        Diagnostic::error(
                            &codes::CONVERSION,
                            format!("{} and {} differ in width", c_name(from), c_name(ty)),
                        )
                        .at(span, format!("{} bits as {} bits", from.bits(), ty.bits()))
                        .help(format!(
                            "write a type of {} bits, or convert the value: `cast<{}>(...)`",
                            from.bits(),
                            c_name(ty)
                        )),
                    );
                }
                if from == ty { node } else { self.hir.push(NodeKind::Reinterpret(node), ty, span) }
            }
        }))
    }

    /// A type called like a function.
    pub(crate) fn construct(
        &mut self,
        ty: TypeName,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        match ty.word {
            TypeWord::C | TypeWord::Parameter => {
                let [value] = args else {
                    return self.fail(
                        Diagnostic::error(
                            &codes::ARGUMENT_COUNT,
                            format!("a conversion takes 1 argument, not {}", args.len()),
                        )
                        .at(span, format!("{} given", count(args.len(), "argument")))
                        .help(crate::helps::conversion(self.text(ty.span))),
                    );
                };
                if value.0.is_number() {
                    let c_type = self.c_type_of(ty)?;
                    return self.convert(TypeWord::C, c_type, value);
                }
                self.cast_call(CastKind::Cast, Some(ty), args, span)
            }
            TypeWord::Tuple => match args {
                [value @ (Value::Tuple(_), _)] => Ok(value.0.clone()),
                _ => self.convert(TypeWord::Tuple, None, &(Value::List(args.into()), span)),
            },
            TypeWord::Expr => match args {
                [] => Ok(Value::NoExpr),
                [value] => self.convert(TypeWord::Expr, None, value),
                _ => self.construct_count(ty, span),
            },
            TypeWord::Func => match args {
                [] => Ok(Value::Func(self.new_func("f", span))),
                [(Value::Text(text), _)] => {
                    let text = text.clone();
                    Ok(Value::Func(self.new_func(&text, span)))
                }
                [value] => self.convert(TypeWord::Func, None, value),
                _ => self.construct_count(ty, span),
            },
            TypeWord::Var => match args {
                [(Value::Text(text), _)] => Ok(Value::Var(self.names.intern(text))),
                [value] => self.convert(TypeWord::Var, None, value),
                _ => self.construct_count(ty, span),
            },
            TypeWord::Type | TypeWord::Text | TypeWord::Target if args.len() == 1 => {
                self.convert(ty.word, None, &args[0])
            }
            TypeWord::RDom => {
                self.step(1, span)?;
                let mut args = args.to_vec();
                let name = match args.iter().position(|a| matches!(a.0, Value::Text(_))) {
                    Some(at) => match args.remove(at).0 {
                        Value::Text(text) => text.to_string(),
                        _ => unreachable!("found as a text"),
                    },
                    None => "r".to_owned(),
                };
                self.rdom(name, &args, span, span)
            }
            TypeWord::RVar
            | TypeWord::ImageParam
            | TypeWord::Type
            | TypeWord::Target
            | TypeWord::Text
            | TypeWord::Unfollowed
            | TypeWord::Void
            | TypeWord::Auto => {
                let text = self.text(ty.span);
                self.fail(
                    Diagnostic::error(
                        &codes::UNSUPPORTED,
                        format!("a `{text}` cannot be made inside an expression"),
                    )
                    .at(span, "give it a name first")
                    .help(format!("give it a statement of its own, as in `{text} name(...);`")),
                )
            }
        }
    }

    fn construct_count<T>(&mut self, ty: TypeName, span: Span) -> Result<T> {
        let text = self.text(ty.span);
        self.fail(
            Diagnostic::error(
                &codes::ARGUMENT_COUNT,
                format!("wrong number of arguments for `{text}`"),
            )
            .at(span, "takes 1 argument")
            .help(match ty.word {
                TypeWord::Var => "write `Var(\"x\")`".to_owned(),
                _ => format!("write `{text}(a)`"),
            }),
        )
    }
}
