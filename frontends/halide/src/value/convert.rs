//! Values as what variables, parameters and results of a type hold.

use nbcc_base::{Diagnostic, Failed};
use nbcc_stages::ElementType;

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::TypeWord;
use crate::value::types::CType;
use crate::value::{Value, constant};

impl Elab<'_> {
    /// A value as what a variable, parameter or result of a type holds.
    pub(crate) fn convert(
        &mut self,
        word: TypeWord,
        c_type: Option<CType>,
        value: &Spanned,
    ) -> Result<Value> {
        let (v, span) = value;
        match (word, v) {
            (_, Value::Poison) => Err(Failed),
            (TypeWord::Auto, Value::Void) => self.fail(
                Diagnostic::error(&codes::CONVERSION, "a void function gives no value")
                    .at(*span, "no value")
                    .help("call it in a statement of its own, without a variable"),
            ),
            (TypeWord::Auto, _) => Ok(v.clone()),
            (TypeWord::Parameter, _) if c_type.is_some() && v.is_number() => {
                self.convert(TypeWord::C, c_type, value)
            }
            (TypeWord::Parameter, _) => Ok(v.clone()),
            (TypeWord::Func, Value::Func(_) | Value::Unfollowed) => Ok(v.clone()),
            (TypeWord::Func, Value::Input(input)) => {
                Ok(Value::Func(self.input_func(*input, *span)))
            }
            (TypeWord::Expr, Value::NoExpr) => Ok(Value::NoExpr),
            (TypeWord::Expr, _) => self.expr_of(v, *span).map(Value::Expr),
            (TypeWord::Tuple, Value::Tuple(_)) => Ok(v.clone()),
            (TypeWord::Tuple, Value::List(list)) => {
                let nodes =
                    list.iter().map(|(v, at)| self.expr_of(v, *at)).collect::<Result<Vec<_>>>()?;
                Ok(Value::Tuple(nodes.into()))
            }
            (TypeWord::Var, Value::Var(_))
            | (TypeWord::RVar, Value::RVar(..) | Value::RVarName(_))
            | (TypeWord::RDom, Value::RDom(_))
            | (TypeWord::Type, Value::Type(_))
            | (TypeWord::Target, Value::Target)
            | (TypeWord::Text, Value::Text(_))
            | (TypeWord::ImageParam, Value::Input(_)) => Ok(v.clone()),
            (TypeWord::RVar, Value::RDom(r)) if self.hir.rdoms[*r].dims.len() == 1 => {
                Ok(Value::RVar(*r, 0))
            }
            (TypeWord::C, v) if v.is_number() => Ok(match c_type {
                Some(CType::Element(ElementType::F32)) => Value::Float(constant::float(v)),
                Some(CType::Long) => Value::Int(constant::integer(v)),
                Some(CType::Double) => Value::Double(constant::double(v)),
                Some(CType::Element(ElementType::Bool)) => Value::Bool(constant::truth(v)),
                Some(CType::Element(ElementType::I32)) => {
                    let n = constant::integer(v);
                    if !constant::is_int(n) {
                        return self.fail(
                            Diagnostic::error(
                                &codes::OVERFLOW,
                                "the value is outside the range of int",
                            )
                            .at(*span, "an int holds -2147483648 to 2147483647")
                            .help("declare a `double`, or write a smaller number"),
                        );
                    }
                    Value::Int(n)
                }
                Some(CType::Element(ty)) => Value::Int(ty.wrap(constant::integer(v))),
                _ => v.clone(),
            }),
            (TypeWord::C, v) => self.not_constant(v, *span, "a number"),
            _ => {
                let (want, what) = (word_name(word), v.what());
                self.fail(
                    Diagnostic::error(&codes::CONVERSION, format!("{want} is needed, not {what}"))
                        .at(*span, format!("this is {what}"))
                        .help(crate::helps::made_of(word, v)),
                )
            }
        }
    }
}

fn word_name(word: TypeWord) -> &'static str {
    match word {
        TypeWord::Func => "a Func",
        TypeWord::Var => "a Var",
        TypeWord::RVar => "an RVar",
        TypeWord::Expr => "an Expr",
        TypeWord::RDom => "an RDom",
        TypeWord::Tuple => "a Tuple",
        TypeWord::ImageParam => "an ImageParam",
        TypeWord::Type => "a type",
        TypeWord::Target => "a target",
        TypeWord::Text => "a text",
        TypeWord::Unfollowed => "what is not followed",
        TypeWord::Void => "nothing",
        TypeWord::Auto | TypeWord::Parameter => "a value",
        TypeWord::C => "a number",
    }
}
