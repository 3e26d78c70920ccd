//! Definitions of functions (C11, 6.9.1), and what several declarations say of one (6.2.7).

use nbcc_base::{Diagnostic, Span};

use super::declarator::{Extents, only_void};
use super::{Current, Scope, Sema, Symbol};
use crate::codes;
use crate::sema::tree::{Extent, Function, Param};
use crate::syntax::ast::{Declarator, Ident, ParamDecl, Part, Specs, Stmt, StmtKind, Storage};
use crate::types::{Kind, Len, Qual, Signature, Ty, Types};

impl Sema<'_> {
    pub(super) fn function(
        &mut self,
        specs: &Specs,
        declarator: Declarator,
        body: Stmt,
        span: Span,
    ) {
        self.told.clear();
        let base = self.specs(specs, false);
        let Some(name) = declarator.name else { return };
        let mut rest = declarator;
        let (params, variadic, names_only, at) =
            match (!rest.parts.is_empty()).then(|| rest.parts.remove(0)) {
                Some(Part::Function { params, variadic, names_only, span }) => {
                    (params, variadic, names_only, span)
                }
                _ => {
                    let help = "write `T name(parameters) { ... }`";
                    self.error(
                        &codes::SYNTAX,
                        span,
                        "a body behind what is no function",
                        "no function",
                        help,
                    );
                    return;
                }
            };
        self.refuse_forms(variadic, names_only, at);
        if variadic {
            self.refused.add(name.name);
        }
        if names_only {
            return self.refused.add(name.name);
        }
        let result = self.declared(base.of, &rest, Extents::Constant);
        let result = self.refuse_result(result, span);
        self.current = Current { result: Some(result.ty), ..Current::default() };
        // So that what the parameters declare is theirs; it is known better below.
        self.current.number = Some(usize::MAX);
        self.scopes.push(Scope::default());
        let open = params.is_empty();
        let params = if only_void(&params) { Vec::new() } else { self.params(&params) };
        let types = params.iter().map(|param| param.ty).collect();
        let signature = Signature { result: result.ty, params: types, open };
        let ty = self.types.function(signature);
        let number = self.defined(name, ty, base.storage == Some(Storage::Static));
        self.current.number = Some(number);
        let mut out = Vec::new();
        let end = body.span.end as usize;
        let end = Span::new(body.span.source, end.saturating_sub(1), end);
        if let StmtKind::Block(list) = body.kind {
            // The parameters belong to the outermost block of the body.
            self.statements(list, &mut out);
        }
        self.scopes.pop();
        let ends = super::ends::reaches_end(&out);
        let is_whole = !self.refused.statements;
        if ends && is_whole && !matches!(self.types.kind(result.ty), Kind::Void | Kind::Error) {
            let message = format!("`{}` may end here without a value", self.name(name.name));
            let warning = Diagnostic::warning(&codes::NO_VALUE, message).at(end, "no `return`");
            self.diagnostics.push(warning.help("return a value on each way to the end"));
        }
        let current = std::mem::take(&mut self.current);
        let is_as_given = |local: u32| current.locals[local as usize].written == 1;
        let beyond = current.beyond.into_iter().filter(|&(local, _)| is_as_given(local));
        let beyond = beyond.map(|(_, said)| said).collect();
        let function = &mut self.functions[number];
        function.beyond = beyond;
        function.body = Some(out);
        function.span = name.span;
        function.result = result.ty;
        function.params = params;
        function.open = open;
        function.locals = current.locals;
        function.extents = current.extents;
        function.calls = current.calls;
        function.returns_value = current.returns_value;
        function.ends = ends;
    }

    /// Refuses results that are no values; the result, or that of an error.
    pub(super) fn refuse_result(&mut self, result: Qual, span: Span) -> Qual {
        let message = match self.types.kind(result.ty) {
            Kind::Array(..) => "a function returns an array",
            Kind::Function(_) => "a function returns a function",
            _ => return result,
        };
        let help = "return a structure, or fill an array that is given";
        self.error(&codes::TYPE, span, message, "not a value", help);
        Qual { ty: Types::ERROR, ..result }
    }

    /// The number of a function that is defined.
    fn defined(&mut self, name: Ident, ty: Ty, is_static: bool) -> usize {
        let known = self.scopes[0].symbols.get(&name.name).copied();
        match known {
            Some((Symbol::Function(number), first)) => {
                if self.functions[number].body.is_some() {
                    self.duplicate(name.name, name.span, first);
                } else {
                    self.agrees(number, ty, true, name.span);
                }
                self.functions[number].is_static |= is_static;
                number
            }
            other => {
                if let Some((_, first)) = other {
                    self.duplicate(name.name, name.span, first);
                }
                let number = self.add_function(name, ty, is_static);
                self.scopes[0].symbols.insert(name.name, (Symbol::Function(number), name.span));
                number
            }
        }
    }

    /// Brings another declaration of a function together with what is known of it (6.2.7).
    pub(super) fn agrees(&mut self, number: usize, ty: Ty, is_body: bool, span: Span) {
        let known = self.signature_of(number);
        let function = &self.functions[number];
        let signature = match self.types.kind(ty) {
            Kind::Function(signature) => self.types.functions[signature as usize].clone(),
            _ => return,
        };
        // A body behind `()` says that there are no parameters (6.7.6.3, 15).
        let takes_none = function.open && function.body.is_some() || signature.open && is_body;
        let takes_some = !function.params.is_empty() || !signature.params.is_empty();
        if !self.types.compatible(known, ty) || takes_none && takes_some {
            let message = format!("`{}` is declared with another type", self.name(function.name));
            let error = Diagnostic::error(&codes::DUPLICATE, message);
            let error = error.at(span, "another type").and(function.span, "declared here");
            self.diagnostics.push(error.help("make the declarations the same"));
            return;
        }
        let function = &mut self.functions[number];
        if function.open && function.body.is_none() && !signature.open {
            function.params = params_of(&signature, span);
            function.open = false;
        }
    }

    pub(super) fn add_function(&mut self, name: Ident, ty: Ty, is_static: bool) -> usize {
        let Kind::Function(signature) = self.types.kind(ty) else { return 0 };
        let signature = self.types.functions[signature as usize].clone();
        self.functions.push(Function {
            name: name.name,
            span: name.span,
            is_static,
            result: signature.result,
            params: params_of(&signature, name.span),
            open: signature.open,
            body: None,
            locals: Vec::new(),
            extents: Vec::new(),
            calls: Vec::new(),
            inlined_calls: 0,
            returns_value: false,
            ends: false,
            beyond: Vec::new(),
        });
        self.functions.len() - 1
    }

    /// The type of a function.
    pub(super) fn signature_of(&mut self, number: usize) -> Ty {
        let function = &self.functions[number];
        let params: Vec<Ty> = function.params.iter().map(|param| param.ty).collect();
        let signature = Signature { result: function.result, open: function.open, params };
        self.types.function(signature)
    }

    fn params(&mut self, params: &[ParamDecl]) -> Vec<Param> {
        let mut list = Vec::new();
        for param in params {
            let base = self.specs(&param.specs, false);
            let declared = self.declared(base.of, &param.declarator, Extents::Any);
            let of = self.adjusted(declared);
            let span = param.declarator.name.map_or(param.span, |name| name.span);
            if of.ty == Types::VOID {
                let message = "a parameter of the type `void`";
                let help = "give it a type with values; `(void)` alone says that there are none";
                self.error(&codes::INCOMPLETE, span, message, "no value", help);
            } else if !self.types.is_complete(of.ty) && !self.is_told(of.ty) {
                let text = self.text(of.ty);
                let message = format!("a parameter of the type {text}, which is not complete");
                let help = "define the type before";
                self.error(&codes::INCOMPLETE, span, message, "not complete", help);
            }
            let extent = match self.types.kind(declared.ty) {
                Kind::Array(_, Len::Fixed(count)) => Some(Extent::Fixed(count)),
                Kind::Array(_, Len::Var(local)) => Some(Extent::Var(local)),
                _ => None,
            };
            if let Some(Extent::Fixed(count)) = extent {
                self.current.arrays.push((self.current.locals.len() as u32, count));
            }
            let name = param.declarator.name;
            let ty = if declared.ty == Types::ERROR { Types::ERROR } else { of.ty };
            let local = self.add_local(name.map_or(crate::names::Name(0), |n| n.name), ty, span);
            self.current.locals[local as usize].is_const = of.is_const;
            self.current.locals[local as usize].is_restrict = of.is_restrict;
            self.current.locals[local as usize].written = 1;
            if let Some(name) = name
                && let Some((_, first)) = self.declare(name.name, Symbol::Local(local), span)
            {
                self.duplicate(name.name, span, first);
            }
            let name = name.map(|name| name.name);
            list.push(Param { name, span, ty, local, extent });
        }
        list
    }
}

/// The parameters of a function without a body.
fn params_of(signature: &Signature, span: Span) -> Vec<Param> {
    let param = |&ty| Param { name: None, span, ty, local: 0, extent: None };
    signature.params.iter().map(param).collect()
}
