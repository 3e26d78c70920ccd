//! Calls of names, Funcs and inputs.

use nbcc_base::nearest;
use nbcc_base::{Diagnostic, Failed, Span};

use crate::codes;
use crate::elab::names::{declare_input, is_coordinate};
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{FuncId, Node, NodeKind};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Symbol;
use crate::value::Value;

impl Elab<'_> {
    /// A name that is called.
    pub(crate) fn call_name(
        &mut self,
        name: Symbol,
        at: Span,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        if let Some(slot) = self.lookup(name) {
            let value = match &self.slots[slot].value {
                Value::Poison => return Err(Failed),
                value => value.clone(),
            };
            return self.call_value(&(value, at), args, span);
        }
        if let Some(&item) = self.functions.get(&name) {
            let crate::syntax::ast::StmtKind::Function(function) = &self.ast.stmts[item].kind
            else {
                unreachable!("functions hold functions")
            };
            return self.call_function(function, None, args, span);
        }
        let text = self.names.text(name).to_owned();
        if let Some(value) = self.builtin(&text, at, args, span)? {
            return Ok(value);
        }
        if let Some(input) = self.implicit_input(name, args, at)? {
            return self.call_value(&(Value::Input(input), at), args, span);
        }
        if self.may_be_lost(name) {
            return Err(Failed);
        }
        if self.facts.defined.contains(&name) && !self.facts.declared.contains(&name) {
            return self.fail(crate::elab::stmt::undeclared(&text, at));
        }
        let mut diagnostic = if self.facts.declared.contains(&name) {
            Diagnostic::error(&codes::UNKNOWN_FUNCTION, format!("`{text}` is not declared here"))
                .at(at, "declared elsewhere, or only later")
        } else {
            Diagnostic::error(
                &codes::UNKNOWN_FUNCTION,
                format!("the function `{text}` is not defined"),
            )
            .at(at, "neither a Func, an input nor a function")
        };
        const SHORTEST: usize = 3;
        let mut known: Vec<&str> = self.known_names();
        if text.len() >= SHORTEST {
            known.extend(crate::pipeline::builtins::names::NAMES);
        }
        let near = nearest(&text, known).map(str::to_owned);
        let dims = self.facts.calls.get(&name).map_or(0, |&(dims, _)| dims);
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.facts.declared.contains(&name) => {
                "move its declaration before this".to_owned()
            }
            None if (1..=crate::elab::decl::MAX_DIMENSIONS as usize).contains(&dims)
                && args.iter().all(is_coordinate) =>
            {
                format!("if it is an input image, {}", declare_input(&text, dims))
            }
            None => "correct the name, or define it before this".to_owned(),
        };
        diagnostic = diagnostic.help(help);
        self.fail(diagnostic)
    }

    /// Calls a value: an element of a Func or an input.
    pub(crate) fn call_value(
        &mut self,
        callee: &Spanned,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        match callee.0 {
            Value::Func(func) => self.call_func(func, callee.1, args, span),
            Value::Input(input) => self.load(input, args, span),
            Value::Lambda(ref closure) => {
                let closure = closure.clone();
                self.call_lambda(&closure, args, span)
            }
            Value::Poison => Err(Failed),
            ref other => {
                let what = other.what();
                self.fail(
                    Diagnostic::error(&codes::NOT_CALLED, format!("{what} cannot be called"))
                        .at(callee.1, format!("this is {what}"))
                        .help("Funcs, inputs and functions can be called"),
                )
            }
        }
    }

    /// Coordinates, with `_` replaced by the implicit Vars that fill up `dims` dimensions.
    pub(crate) fn coordinates(
        &mut self,
        name: &str,
        dims: usize,
        args: &[Spanned],
        span: Span,
    ) -> Result<Vec<Node>> {
        let placeholder = args.iter().position(|a| self.is_placeholder(&a.0));
        let fits = match placeholder {
            Some(_) => args.len() - 1 <= dims,
            None => args.len() == dims,
        };
        if !fits {
            let given = args.len() - usize::from(placeholder.is_some());
            return self.fail(
                Diagnostic::error(
                    &codes::COORDINATE_COUNT,
                    format!(
                        "`{name}` has {}, but is called with {given}",
                        count(dims, "dimension")
                    ),
                )
                .at(span, format!("{} given", count(given, "coordinate")))
                .help(match given < dims {
                    true => format!(
                        "write `{name}({})`; `_` stands for all that are left",
                        crate::helps::coordinates(dims)
                    ),
                    false => format!("write `{name}({})`", crate::helps::coordinates(dims)),
                }),
            );
        }
        let mut nodes = Vec::with_capacity(dims);
        for (i, (value, at)) in args.iter().enumerate() {
            if Some(i) == placeholder {
                for k in 0..dims + 1 - args.len() {
                    let var = self.implicit_var(k);
                    nodes.push(self.expr_of(&Value::Var(var), *at)?);
                }
                continue;
            }
            let node = self.expr_of(value, *at)?;
            nodes.push(self.coordinate(node, &format!("`{name}`"))?);
        }
        Ok(nodes)
    }

    /// Whether a value is `_`.
    pub(crate) fn is_placeholder(&self, value: &Value) -> bool {
        matches!(value, Value::Var(v) if self.names.text(*v) == "_")
    }

    /// The Var `_k`.
    pub(crate) fn implicit_var(&mut self, k: usize) -> Symbol {
        self.names.intern(&format!("_{k}"))
    }

    /// An element of an input.
    fn load(&mut self, input: nbcc_stages::Input, args: &[Spanned], span: Span) -> Result<Value> {
        let data = &self.hir.inputs[input];
        let (name, dims, ty) = (data.name.clone(), data.dims as usize, data.ty);
        let nodes = self.coordinates(&name, dims, args, span)?;
        self.work(1, span)?;
        Ok(Value::Expr(self.hir.push(NodeKind::Load(input, nodes.into()), ty, span)))
    }

    /// An element of a Func: one expression, or a Tuple of a Func of several values.
    pub(crate) fn call_func(
        &mut self,
        func: FuncId,
        at: Span,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let info = &self.hir.funcs[func];
        if info.poisoned {
            return Err(Failed);
        }
        let input = self.input_funcs.iter().find(|(_, f)| **f == func).map(|(i, _)| *i);
        let name = match input {
            Some(input) if info.anonymous => self.hir.inputs[input].name.clone(),
            _ => info.name.clone(),
        };
        if info.pure.is_none() {
            if self.aborted {
                return Err(Failed);
            }
            let declared = info.span;
            if self.defining == Some(func) {
                return self.fail(
                    Diagnostic::error(
                        &codes::SELF_CALL,
                        format!("the pure definition of `{name}` calls `{name}` itself"),
                    )
                    .at(span, "not defined yet")
                    .help("give it a value first, then refer to itself in an update over an RDom"),
                );
            }
            return self.fail(
                Diagnostic::error(
                    &codes::UNDEFINED_FUNC,
                    format!("`{name}` is called before it is defined"),
                )
                .at(at, "has no definition yet")
                .and(declared, "declared here")
                .help(crate::helps::define_first(&name)),
            );
        }
        let (dims, types) = (info.vars.len(), info.types.clone());
        let nodes: Box<[Node]> = self.coordinates(&name, dims, args, span)?.into();
        self.work(types.len() as u64, span)?;
        let values: Vec<Node> = types
            .iter()
            .enumerate()
            .map(|(k, &ty)| self.hir.push(NodeKind::Call(func, k as u32, nodes.clone()), ty, span))
            .collect();
        Ok(match values.as_slice() {
            [one] => Value::Expr(*one),
            _ => Value::Tuple(values.into()),
        })
    }
}
