//! Calls of the functions of the file.

use std::collections::HashMap;
use std::rc::Rc;

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::ElementType;

use crate::codes;
use crate::elab::Slot;
use crate::elab::stmt::{Flow, count, outside_loop};
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{
    DeclKind, ExprId, ExprKind, Function, Ident, Lambda, Parameter, Symbol, TypeWord,
};
use crate::value::{Closure, Value};

impl Elab<'_> {
    /// Calls a function of the file. `around` has the names that one without a name captured.
    pub(crate) fn call_function(
        &mut self,
        function: &Function,
        around: Option<&HashMap<Symbol, usize>>,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        self.step(1, span)?;
        let parameters = &function.parameters;
        let name = self.names.text(function.name.name).to_owned();
        let (types, mut args) = self.template_arguments(function, args);
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
            if let Some(around) = around {
                e.step(around.len() as u64, span)?;
                e.scopes.extend([around.clone(), HashMap::new()]);
            }
            for (name, value) in types {
                let slot = Slot {
                    value,
                    word: TypeWord::Auto,
                    c_type: None,
                    is_const: true,
                    span: name.span,
                };
                e.declare(name, slot)?;
            }
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
            let result = e.result(function, &name, flow)?;
            e.running.pop();
            e.leave_frame(saved);
            Ok(result)
        })
    }

    /// What a call gives whose body ends like this.
    fn result(&mut self, function: &Function, name: &str, flow: Flow) -> Result<Value> {
        let value = match flow {
            Flow::Break(at) | Flow::Continue(at) => return self.fail(outside_loop(at)),
            Flow::Return(value) => Some(value),
            Flow::Next => None,
        };
        let at = value.as_ref().map_or(function.name.span, |(_, at)| *at);
        let value = value.filter(|(value, _)| !matches!(value, Value::Void));
        let result = match function.result {
            DeclKind::Plain(ty) => ty,
            DeclKind::Vector(_) => {
                return match value {
                    Some((value @ Value::Array(_), _)) => Ok(value),
                    _ => self.fail(no_result(name, at)),
                };
            }
            _ => {
                return self.fail(
                    Diagnostic::error(&codes::FUNCTION_TYPE, "a function cannot return this type")
                        .at(function.name.span, "not of a type of the compile-time language")
                        .help("return a Func or an Expr"),
                );
            }
        };
        let is_lambda = result.span == function.name.span;
        match value {
            None if result.word == TypeWord::Void || is_lambda => Ok(Value::Void),
            None => self.fail(no_result(name, at)),
            Some(_) if result.word == TypeWord::Void => self.fail(
                Diagnostic::error(&codes::RETURN, "a void function returns no value")
                    .at(at, "returned here")
                    .and(result.span, "is void")
                    .help("write the type of the value instead of `void`, or `return;`"),
            ),
            Some(value) => {
                let c_type = self.c_type_of(result)?;
                self.convert(result.word, c_type, &value)
            }
        }
    }

    /// What the parameters of a function's template stand for, given in `<>` or told by the
    /// arguments, and the arguments themselves.
    fn template_arguments(
        &mut self,
        function: &Function,
        args: &[Spanned],
    ) -> (Vec<(Ident, Value)>, Vec<Spanned>) {
        let types = &function.types;
        let given = match args.len() == types.len() + function.parameters.len() {
            true => types.len(),
            false => {
                let is_type = |(value, _): &&Spanned| matches!(value, Value::Type(_));
                args.iter().take(types.len()).take_while(is_type).count()
            }
        };
        let (given, args) = args.split_at(given);
        let mut bound: Vec<(Ident, Value)> =
            types.iter().copied().zip(given.iter().map(|(value, _)| value.clone())).collect();
        for &name in &types[given.len()..] {
            let text = self.names.text(name.name);
            let is_of = |p: &Parameter| self.text(p.ty.span) == text;
            let told = function.parameters.iter().zip(args).find(|(p, _)| is_of(p));
            let ty = match told.map(|(_, (value, _))| value) {
                Some(Value::Int(_)) => ElementType::I32,
                Some(Value::Bool(_)) => ElementType::Bool,
                Some(Value::Float(_)) => ElementType::F32,
                Some(Value::Expr(node)) => self.hir.ty(*node),
                _ => continue,
            };
            bound.push((name, Value::Type(ty)));
        }
        (bound, args.to_vec())
    }

    /// `[](...) { ... }` as a value.
    pub(crate) fn lambda_value(
        &mut self,
        id: ExprId,
        lambda: &Lambda,
        span: Span,
    ) -> Result<Value> {
        let mut scope: HashMap<Symbol, usize> = HashMap::new();
        for inner in self.local_scopes() {
            scope.extend(inner);
        }
        self.step(scope.len() as u64, span)?;
        if lambda.by_value {
            for (_, slot) in scope.iter_mut().filter(|(n, _)| !lambda.references.contains(n)) {
                self.slots.push(self.slots[*slot].clone());
                *slot = self.slots.len() - 1;
            }
        }
        Ok(Value::Lambda(Rc::new(Closure { id, scope })))
    }

    /// Calls what [`Elab::lambda_value`] gave.
    pub(crate) fn call_lambda(
        &mut self,
        closure: &Closure,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let ExprKind::Lambda(lambda) = &self.ast.exprs[closure.id].kind else {
            unreachable!("closures are made of lambdas")
        };
        self.call_function(&lambda.function, Some(&closure.scope), args, span)
    }

    fn parameter_value(&mut self, parameter: &Parameter, arg: &Spanned) -> Result<Value> {
        let text = self.names.text(parameter.name.name).to_owned();
        let is_handle = match parameter.ty.word {
            TypeWord::Parameter => stands_for(&arg.0),
            word => is_handle(word),
        };
        if parameter.by_reference && !parameter.is_const && !is_handle && !parameter.is_array {
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

/// Whether a value stands for something that it does not hold itself.
fn stands_for(value: &Value) -> bool {
    matches!(
        value,
        Value::Func(_)
            | Value::Input(_)
            | Value::InputDim(..)
            | Value::FuncDim(..)
            | Value::Stage(..)
            | Value::RDom(_)
            | Value::Poison
    )
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
