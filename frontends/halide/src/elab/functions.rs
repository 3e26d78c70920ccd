//! Calls of the functions of the file.

use nbcc_base::{Diagnostic, Span};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;

use crate::elab::Slot;
use crate::elab::stmt::{Flow, count};
use crate::syntax::ast::{DeclKind, Function, Parameter, TypeWord};
use crate::value::Value;

impl Elab<'_> {
    /// Calls a function of the file.
    pub(crate) fn call_function(
        &mut self,
        function: &Function,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        self.step(1, span)?;
        let parameters = &function.parameters;
        let name = self.names.text(function.name.name).to_owned();
        let mut args = args.to_vec();
        for parameter in parameters.iter().skip(args.len()) {
            let Some(default) = parameter.default else { break };
            args.push(self.spanned(default)?);
        }
        if args.len() != parameters.len() {
            let (want, got) = (parameters.len(), args.len());
            let names: Vec<&str> =
                parameters.iter().map(|p| self.names.text(p.name.name)).collect();
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("`{name}` takes {}, not {got}", count(want, "argument")),
                )
                .at(span, format!("{} given", count(got, "argument")))
                .and(function.name.span, "declared here")
                .help(format!("write `{name}({})`", names.join(", "))),
            );
        }
        self.deeper(span, |e| {
            let mut values = Vec::new();
            for (parameter, arg) in parameters.iter().zip(&args) {
                values.push(e.parameter_value(parameter, arg)?);
            }
            let saved = e.enter_frame();
            for (parameter, value) in parameters.iter().zip(values) {
                let slot = Slot {
                    value,
                    word: parameter.ty.word,
                    c_type: e.c_type_of(parameter.ty)?,
                    // Only handles are passed by reference: what they stand for can change, not
                    // which it is.
                    is_const: parameter.is_const || parameter.by_reference,
                    span: parameter.name.span,
                };
                e.declare(parameter.name, slot)?;
            }
            e.running.push((span, 0));
            let flow = e.statement(function.body)?;
            e.running.pop();
            e.leave_frame(saved);
            let result = match function.result {
                DeclKind::Plain(ty) => ty,
                DeclKind::Vector(_) => {
                    return match flow {
                        Flow::Return((value @ Value::Array(_), _)) => Ok(value),
                        Flow::Return((_, at)) => e.fail(no_result(&name, at)),
                        Flow::Next => e.fail(no_result(&name, function.name.span)),
                    };
                }
                _ => {
                    return e.fail(
                        Diagnostic::error(
                            &codes::FUNCTION_TYPE,
                            "a function cannot return this type",
                        )
                        .at(function.name.span, "not of a type of the compile-time language")
                        .help("return a Func or an Expr"),
                    );
                }
            };
            match flow {
                Flow::Return((Value::Void, _)) | Flow::Next if result.word == TypeWord::Void => {
                    Ok(Value::Void)
                }
                Flow::Return((Value::Void, at)) => e.fail(no_result(&name, at)),
                Flow::Next => e.fail(no_result(&name, function.name.span)),
                Flow::Return((_, at)) if result.word == TypeWord::Void => e.fail(
                    Diagnostic::error(&codes::RETURN, "a void function returns no value")
                        .at(at, "returned here")
                        .and(result.span, "is void")
                        .help("write the type of the value instead of `void`, or `return;`"),
                ),
                Flow::Return(value) => {
                    let c_type = e.c_type_of(result)?;
                    e.convert(result.word, c_type, &value)
                }
            }
        })
    }

    fn parameter_value(&mut self, parameter: &Parameter, arg: &Spanned) -> Result<Value> {
        let text = self.names.text(parameter.name.name).to_owned();
        if parameter.by_reference
            && !parameter.is_const
            && !is_handle(parameter.ty.word)
            && !parameter.is_array
        {
            let end = parameter.name.span;
            return self.fail(
                Diagnostic::error(
                    &codes::UNSUPPORTED,
                    format!("`{text}` is passed by reference, which is not supported"),
                )
                .at(parameter.ty.span.to(end), "a reference that is not const")
                .help(format!(
                    "pass it by value and return the new one: `{} {text}`",
                    self.text(parameter.ty.span)
                )),
            );
        }
        if parameter.is_array != matches!(arg.0, Value::Array(_)) {
            let want = if parameter.is_array { "an array" } else { "a single value" };
            let what = arg.0.what();
            return self.fail(
                Diagnostic::error(&codes::ARGUMENT_TYPE, format!("`{text}` must be {want}"))
                    .at(arg.1, format!("this is {what}"))
                    .and(parameter.name.span, "declared here")
                    .help(match parameter.is_array {
                        true => "pass an array, or declare the parameter without `[]`",
                        false => "pass one of its elements: `[0]`",
                    }),
            );
        }
        if parameter.is_array {
            return Ok(arg.0.clone());
        }
        let c_type = self.c_type_of(parameter.ty)?;
        self.convert(parameter.ty.word, c_type, arg)
    }
}

/// Whether a variable of the type stands for something else that it does not hold itself.
pub(crate) fn is_handle(word: TypeWord) -> bool {
    matches!(
        word,
        TypeWord::Func
            | TypeWord::Var
            | TypeWord::RVar
            | TypeWord::RDom
            | TypeWord::ImageParam
            | TypeWord::Target
    )
}

fn no_result(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::RETURN, format!("`{name}` ends without a value"))
        .at(span, "no value is returned here")
        .help("end it with `return ...;`")
}
