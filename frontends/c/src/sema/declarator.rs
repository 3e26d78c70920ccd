//! Declarators (C11, 6.7.6): pointers, arrays and functions, and those that the language does not have.

use nbcc_base::Span;

use super::{Scope, Sema, Symbol};
use crate::codes;
use crate::sema::tree::ExprKind;
use crate::syntax::ast::{self, Declarator, Part, SpecItem, Word};
use crate::types::{Kind, Len, Qual, Signature, Ty, Types};

/// Levels of arrays and structures in a type at most.
pub(super) const MAX_DEPTH: u32 = 256;

/// Which extents an array may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extents {
    Constant,
    /// Those of parameters of a function with a body: any expression.
    Any,
    /// Those of parameters of a prototype: any expression, or `*`. Nothing computes them.
    Prototype,
    /// Those of what a local variable points to: any expression, computed where it is declared.
    Pointed,
}

impl Sema<'_> {
    /// The type that a declarator gives its name.
    pub(super) fn declared(&mut self, base: Qual, declarator: &Declarator, mode: Extents) -> Qual {
        let mut of = base;
        let levels = declarator.parts.len() + self.types.sums(base.ty).depth as usize;
        if levels > MAX_DEPTH as usize {
            let span = declarator.name.map(|name| name.span).unwrap_or_default();
            let message = format!("a type of {levels} levels");
            self.error(&codes::LIMIT, span, message, "too many", "use fewer than 256");
            return Qual::new(Types::ERROR, false);
        }
        for (number, part) in declarator.parts.iter().enumerate().rev() {
            let outer = number == 0;
            of = match part {
                Part::Pointer(ast::Qualifiers { is_const, is_restrict }) => {
                    let is_refused = of.ty == Types::ERROR || !self.pointer_to(of, declarator);
                    let ty = if is_refused { Types::ERROR } else { self.types.pointer(of) };
                    Qual { ty, is_const: *is_const, is_restrict: *is_restrict }
                }
                Part::Array { length, is_restrict, span } => {
                    let ty = self.array_of(of, length, *span, mode);
                    Qual { ty, is_const: false, is_restrict: *is_restrict && outer }
                }
                Part::Function { params, variadic, names_only, span } => {
                    let ty = self.function_type(of, params, *variadic, *names_only, *span);
                    Qual::new(ty, false)
                }
            };
        }
        of
    }

    /// Refuses pointers that the language does not have; whether it has this one.
    fn pointer_to(&mut self, of: Qual, declarator: &Declarator) -> bool {
        let span = declarator.name.map(|name| name.span);
        let span = span.unwrap_or_default();
        let mut inner = of.ty;
        while let Kind::Array(element, _) = self.types.kind(inner) {
            inner = element.ty;
        }
        match self.types.kind(inner) {
            Kind::Function(_) => {
                let message = "function pointers are not supported";
                let help = "call the functions by their names, chosen with `if` or `switch`";
                self.error(&codes::FUNCTION_POINTER, span, message, "points to a function", help);
                self.function_pointers = true;
                false
            }
            Kind::Pointer(_) => {
                let message = "pointers to pointers are not supported";
                let help = "return the pointer, or use an index into the array";
                self.error(&codes::POINTER_POINTER, span, message, "points to a pointer", help);
                false
            }
            _ => true,
        }
    }

    fn array_of(&mut self, of: Qual, length: &ast::Length, span: Span, mode: Extents) -> Ty {
        if matches!(self.types.kind(of.ty), Kind::Function(_)) {
            let message = "function pointers are not supported";
            let help = "call the functions by their names, chosen with `if` or `switch`";
            self.error(&codes::FUNCTION_POINTER, span, message, "an array of functions", help);
            self.function_pointers = true;
            return Types::ERROR;
        }
        if self.types.is_pointer(of.ty) {
            let message = "pointers in arrays are not supported";
            let help = "use an array of more dimensions, or indices into one array";
            self.error(&codes::POINTER_MEMBER, span, message, "holds pointers", help);
            return Types::ERROR;
        }
        if !self.types.is_complete(of.ty) && of.ty != Types::ERROR {
            self.incomplete(of.ty, span);
            return Types::ERROR;
        }
        let len = match length {
            ast::Length::Unsaid => Len::Unknown,
            ast::Length::Any if mode == Extents::Prototype => Len::Var(self.names_extent(span)),
            ast::Length::Any => {
                let message = "`[*]` stands outside of a prototype";
                let help = "write how many elements the array has";
                self.error(&codes::VLA, span, message, "says no length", help);
                return Types::ERROR;
            }
            ast::Length::Value(length) => match self.length(length, mode) {
                Some(len) if of.ty != Types::ERROR => len,
                _ => return Types::ERROR,
            },
        };
        let ty = self.types.make(Kind::Array(of, len));
        let is_known = matches!(len, Len::Fixed(_)) && self.types.size(of.ty).is_some();
        if is_known && self.types.size(ty).is_none_or(|size| size > i64::MAX as u64) {
            let help = "use a smaller length";
            self.error(&codes::LIMIT, span, "an array of 2^63 bytes or more", "too large", help);
            return Types::ERROR;
        }
        ty
    }

    /// The length of an array; `None` where it is refused.
    fn length(&mut self, length: &ast::Expr, mode: Extents) -> Option<Len> {
        let value = self.expr(length);
        if value.ty == Types::ERROR {
            return None;
        }
        if self.types.as_int(value.ty).is_none() {
            let message = "the length of an array is no integer";
            let help = "write an integer";
            self.error(&codes::CONSTANT, length.span, message, "not an integer", help);
            return None;
        }
        match value.kind {
            ExprKind::Const(count) if count > 0 => Some(Len::Fixed(count as u64)),
            // A host may give an empty array.
            ExprKind::Const(0) if mode != Extents::Constant => Some(Len::Fixed(0)),
            ExprKind::Const(count) => {
                let message = format!("an array of {count} elements");
                let help = "give it at least one element";
                self.error(&codes::ARRAY_SIZE, length.span, message, "not positive", help);
                None
            }
            _ if mode != Extents::Constant => {
                let value = self.convert(value, Types::LONG);
                let name = self.names_extent(length.span);
                self.current.extents.push((name, value));
                Some(Len::Var(name))
            }
            _ if self.current.number.is_none() => {
                let message = "the length of a variable of the file is not constant";
                let help = "write a literal, a macro or a constant of an enumeration";
                self.error(&codes::CONSTANT, length.span, message, "not constant", help);
                None
            }
            _ => {
                let message = "variable-length arrays are not supported";
                let help = "give it a constant length, the largest that is needed";
                self.error(&codes::VLA, length.span, message, "not constant", help);
                None
            }
        }
    }

    /// A variable for an extent.
    fn names_extent(&mut self, span: Span) -> u32 {
        // It is found by its number only, so it may have the name of anything.
        self.add_local(crate::names::Name(0), Types::LONG, span)
    }

    fn function_type(
        &mut self,
        result: Qual,
        params: &[ast::ParamDecl],
        variadic: bool,
        names_only: bool,
        span: Span,
    ) -> Ty {
        self.refuse_forms(variadic, names_only, span);
        let result = self.refuse_result(result, span);
        let saved = std::mem::take(&mut self.current);
        // So that what extents are made of need not be constant.
        self.current.number = Some(usize::MAX);
        self.scopes.push(Scope::default());
        let mut types = Vec::new();
        if !only_void(params) {
            for param in params {
                let base = self.specs(&param.specs, false);
                let of = self.declared(base.of, &param.declarator, Extents::Prototype);
                types.push(self.adjusted(of).ty);
                if let Some(name) = param.declarator.name {
                    let local = self.add_local(name.name, of.ty, name.span);
                    self.declare(name.name, Symbol::Local(local), name.span);
                }
            }
        }
        self.scopes.pop();
        self.current = saved;
        let open = params.is_empty();
        self.types.function(Signature { result: result.ty, params: types, open })
    }

    pub(super) fn refuse_forms(&mut self, variadic: bool, names_only: bool, span: Span) {
        if variadic {
            self.variadic = true;
            let message = "functions with `...` are not supported";
            let help = "give it all its parameters, or an array";
            self.error(&codes::VARIADIC, span, message, "takes any number", help);
        }
        if names_only {
            let message = "parameters without types are not supported";
            let help = "write the types in the parentheses: `int f(int a, int b)`";
            self.error(&codes::KNR, span, message, "an old form of definition", help);
        }
    }

    /// The type of a parameter: arrays are pointers (6.7.6.3).
    pub(super) fn adjusted(&mut self, of: Qual) -> Qual {
        match self.types.kind(of.ty) {
            Kind::Array(element, _) => Qual { ty: self.types.pointer(element), ..of },
            Kind::Function(_) => Qual::new(self.types.pointer(of), false),
            _ => of,
        }
    }
}

/// Whether a parameter list is `(void)`.
pub(super) fn only_void(params: &[ast::ParamDecl]) -> bool {
    let is_void = |(item, _): &(SpecItem, Span)| matches!(item, SpecItem::Word(Word::Void));
    match params {
        [param] => {
            let declarator = &param.declarator;
            param.specs.items.len() == 1
                && param.specs.items.iter().all(is_void)
                && declarator.name.is_none()
                && declarator.parts.is_empty()
        }
        _ => false,
    }
}
