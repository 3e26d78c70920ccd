//! Places (lvalues): names, elements, members, what pointers point to; and their values.

use std::rc::Rc;

use nbcc_base::Span;

use super::{Sema, Symbol};
use crate::codes;
use crate::names::Name;
use crate::sema::tree::{Expr, ExprKind, Init, Place, PlaceKind};
use crate::syntax::ast::{self, UnaryOp};
use crate::types::{Kind, Len, Qual, Ty, Types};

impl Sema<'_> {
    pub(super) fn value_of(&mut self, expr: &ast::Expr) -> Expr {
        let place = self.place(expr);
        self.value(place)
    }

    /// What a place holds; an array is a pointer to its first element.
    pub(super) fn value(&mut self, mut place: Place) -> Expr {
        let (ty, span) = (place.ty, place.span);
        match self.types.kind(ty) {
            Kind::Error => self.bad(span),
            Kind::Array(of, _) => {
                self.in_memory(&mut place);
                let of = Qual { is_const: of.is_const || place.is_const, ..of };
                let ty = self.types.pointer(of);
                Expr { kind: ExprKind::Address(Box::new(place)), ty, span }
            }
            Kind::Void => {
                let help = "a pointer to `void` has no elements: use the type of the elements";
                self.error(&codes::TYPE, span, "a value of the type `void`", "no value", help);
                self.bad(span)
            }
            _ if !self.types.is_complete(ty) => {
                self.is_sized(ty, span);
                self.bad(span)
            }
            _ => Expr { kind: ExprKind::Value(Box::new(place)), ty, span },
        }
    }

    /// The variable that a place belongs to must lie in memory.
    pub(super) fn in_memory(&mut self, place: &mut Place) {
        match &mut place.kind {
            PlaceKind::Local(local)
            | PlaceKind::Literal(local, _)
            | PlaceKind::Temporary(local, _) => {
                self.current.locals[*local as usize].in_memory = true;
            }
            PlaceKind::Global(number) => self.globals[*number].in_memory = true,
            PlaceKind::Index(inner, _) | PlaceKind::Member(inner, _) => self.in_memory(inner),
            PlaceKind::Bad | PlaceKind::Deref(_) => {}
        }
    }

    pub(super) fn local_value(&mut self, local: u32, span: Span) -> Expr {
        let ty = self.current.locals[local as usize].ty;
        let place = Place { kind: PlaceKind::Local(local), ty, is_const: false, span };
        Expr { kind: ExprKind::Value(Box::new(place)), ty, span }
    }

    fn bad_place(&self, span: Span) -> Place {
        Place { kind: PlaceKind::Bad, ty: Types::ERROR, is_const: false, span }
    }

    /// The place that an expression names.
    pub(super) fn place(&mut self, expr: &ast::Expr) -> Place {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Bad => self.bad_place(span),
            ast::ExprKind::Name(name) => self.named(*name, span),
            ast::ExprKind::Unary(UnaryOp::Deref, inner) => {
                let pointer = self.expr(inner);
                self.deref(pointer, span)
            }
            ast::ExprKind::Index(array, index) => self.index(array, index, span),
            ast::ExprKind::Member(of, member) => {
                let place = if is_place(of) { self.place(of) } else { self.temporary(of) };
                self.member(place, *member, span)
            }
            ast::ExprKind::Arrow(of, member) => {
                let pointer = self.expr(of);
                let place = self.deref(pointer, span);
                self.member(place, *member, span)
            }
            ast::ExprKind::Compound(ty, init) => {
                let of = self.type_name(ty);
                let (ty, values) = self.init(of.ty, init);
                let name = Name(0);
                let local = self.add_local(name, ty, span);
                self.current.locals[local as usize].written = 1;
                let kind = PlaceKind::Literal(local, Rc::new(Init { values }));
                if self.current.number.is_none() {
                    let help = "write the initialiser itself";
                    let message = "a compound literal outside of functions";
                    self.error(&codes::CONSTANT, span, message, "not constant", help);
                    return self.bad_place(span);
                }
                Place { kind, ty, is_const: of.is_const, span }
            }
            ast::ExprKind::Text(bytes) => self.text_place(bytes, span),
            _ => {
                let value = self.expr(expr);
                if value.ty != Types::ERROR {
                    let help = "write a variable, an element or a member";
                    self.error(
                        &codes::LVALUE,
                        span,
                        "this is no place that holds a value",
                        "a value",
                        help,
                    );
                }
                self.bad_place(span)
            }
        }
    }

    /// A text is an array of its characters that lives as long as the program.
    fn text_place(&mut self, bytes: &[u8], span: Span) -> Place {
        let of = Qual::new(Types::CHAR, false);
        let ty = self.types.make(Kind::Array(of, Len::Fixed(bytes.len() as u64 + 1)));
        let values = bytes.iter().enumerate().filter(|&(_, &byte)| byte != 0);
        self.globals.push(super::Global {
            name: Name(0),
            ty,
            is_const: true,
            is_restrict: false,
            in_memory: true,
            written: false,
            defined: super::tree::Defined::Wholly,
            values: values.map(|(at, &byte)| (at as u64, i64::from(byte as i8))).collect(),
            pointer: None,
        });
        let kind = PlaceKind::Global(self.globals.len() - 1);
        Place { kind, ty, is_const: false, span }
    }

    fn named(&mut self, name: Name, span: Span) -> Place {
        match self.lookup(name) {
            Some(Symbol::Local(local)) => {
                let data = &self.current.locals[local as usize];
                Place { kind: PlaceKind::Local(local), ty: data.ty, is_const: data.is_const, span }
            }
            Some(Symbol::Global(number)) => {
                let data = &self.globals[number];
                Place {
                    kind: PlaceKind::Global(number),
                    ty: data.ty,
                    is_const: data.is_const,
                    span,
                }
            }
            Some(Symbol::Function(_) | Symbol::Constant(..) | Symbol::Typedef(_)) => {
                let message = format!("`{}` is no variable", self.name(name));
                let help = "write a variable, an element or a member";
                self.error(&codes::LVALUE, span, message, "no place", help);
                self.bad_place(span)
            }
            None => {
                self.unknown(name, span);
                self.bad_place(span)
            }
        }
    }

    fn temporary(&mut self, of: &ast::Expr) -> Place {
        let value = self.expr(of);
        let (ty, span) = (value.ty, value.span);
        if ty == Types::ERROR {
            return self.bad_place(span);
        }
        let local = self.add_local(Name(0), ty, span);
        let kind = PlaceKind::Temporary(local, Box::new(value));
        Place { kind, ty, is_const: true, span }
    }

    fn deref(&mut self, pointer: Expr, span: Span) -> Place {
        if pointer.ty == Types::ERROR {
            return self.bad_place(span);
        }
        let Some(to) = self.types.pointee(pointer.ty) else {
            let text = self.text(pointer.ty);
            let message = format!("{text} is no pointer");
            let help = match self.types.kind(pointer.ty) {
                Kind::Struct(_) => "members of a structure are named with `.`",
                _ => "only arrays and pointers have elements: declare it as one of them",
            };
            self.error(&codes::TYPE, pointer.span, message, "points to nothing", help);
            return self.bad_place(span);
        };
        Place { kind: PlaceKind::Deref(pointer), ty: to.ty, is_const: to.is_const, span }
    }

    pub(super) fn index(&mut self, array: &ast::Expr, index: &ast::Expr, span: Span) -> Place {
        if let ast::ExprKind::Name(_)
        | ast::ExprKind::Index(..)
        | ast::ExprKind::Member(..)
        | ast::ExprKind::Arrow(..) = &array.kind
            && !self.is_constant_name(array)
        {
            let place = self.place(array);
            if let Kind::Array(of, len) = self.types.kind(place.ty) {
                let index = self.subscript(index);
                if index.ty == Types::ERROR {
                    return self.bad_place(span);
                }
                let Some((index, _)) = self.promoted(index) else {
                    return self.bad_index(span);
                };
                let range = self.range_of_array(&place);
                self.check_index(range, len.fixed(), &index, span);
                let mut place = place;
                self.in_memory(&mut place);
                let is_const = place.is_const || of.is_const;
                let kind = PlaceKind::Index(Box::new(place), index);
                return Place { kind, ty: of.ty, is_const, span };
            }
            let pointer = self.value(place);
            return self.index_pointer(pointer, index, span);
        }
        let pointer = self.expr(array);
        self.index_pointer(pointer, index, span)
    }

    fn is_constant_name(&self, expr: &ast::Expr) -> bool {
        match expr.kind {
            ast::ExprKind::Name(name) => {
                matches!(self.lookup(name), Some(Symbol::Constant(..) | Symbol::Function(_)))
            }
            _ => false,
        }
    }

    fn bad_index(&mut self, span: Span) -> Place {
        self.error(
            &codes::TYPE,
            span,
            "an index that is no integer",
            "not an index",
            "write an integer",
        );
        self.bad_place(span)
    }

    fn index_pointer(&mut self, pointer: Expr, index: &ast::Expr, span: Span) -> Place {
        let mut index = self.subscript(index);
        let mut pointer = pointer;
        if self.types.is_pointer(index.ty) {
            // `2[a]`
            std::mem::swap(&mut pointer, &mut index);
        }
        if pointer.ty == Types::ERROR || index.ty == Types::ERROR {
            return self.bad_place(span);
        }
        if !self.types.is_pointer(pointer.ty) {
            return self.deref(pointer, span);
        }
        let range = self.range_of_pointer(&pointer);
        self.check_index(range, None, &index, span);
        let moved = self.offset(pointer, index, false, span);
        if moved.ty == Types::ERROR {
            return self.bad_place(span);
        }
        self.deref(moved, span)
    }

    /// Reports that a type has no member of a name.
    pub(super) fn no_member(&mut self, ty: Ty, name: ast::Ident) {
        let is_open = self.types.members(ty).is_none();
        if ty == Types::ERROR || self.refused.has(name.name) || is_open && self.is_told(ty) {
            return;
        }
        let text = self.text(ty);
        let wanted = self.name(name.name);
        let (message, help) = match (self.types.members(ty), self.types.kind(ty)) {
            (Some(members), _) => {
                let named = members.iter().filter_map(|member| member.name);
                let known: Vec<&str> = named.map(|name| self.names.text(name)).collect();
                let help = match nbcc_base::nearest(wanted, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are: {}", known.join(", ")),
                };
                (format!("{text} has no member `{wanted}`"), help)
            }
            (None, Kind::Pointer(_)) => {
                (format!("{text} is a pointer"), "write `->` instead of `.`".to_string())
            }
            (None, Kind::Struct(_)) => {
                (format!("{text} is not complete"), "define its members before".to_string())
            }
            _ => (format!("{text} has no members"), "use a structure".to_string()),
        };
        self.error(&codes::MEMBER, name.span, message, "no member", help);
    }

    pub(super) fn member(&mut self, place: Place, name: ast::Ident, span: Span) -> Place {
        if place.ty == Types::ERROR {
            return place;
        }
        let members = self.types.members(place.ty);
        let Some(path) = members.and_then(|members| self.find_in(members, name.name)) else {
            self.no_member(place.ty, name);
            return self.bad_place(span);
        };
        let mut place = place;
        for number in path {
            let Some(member) = self.types.members(place.ty).map(|members| members[number].of)
            else {
                return self.bad_place(span);
            };
            let is_const = place.is_const || member.is_const;
            let kind = PlaceKind::Member(Box::new(place), number);
            place = Place { kind, ty: member.ty, is_const, span };
        }
        place
    }
}

/// Whether an expression may be a place.
fn is_place(expr: &ast::Expr) -> bool {
    matches!(
        expr.kind,
        ast::ExprKind::Name(_)
            | ast::ExprKind::Index(..)
            | ast::ExprKind::Member(..)
            | ast::ExprKind::Arrow(..)
            | ast::ExprKind::Compound(..)
            | ast::ExprKind::Unary(UnaryOp::Deref, _)
            | ast::ExprKind::Bad
    )
}

/// The place that a place is within.
pub(super) fn root(place: &Place) -> &Place {
    let mut place = place;
    while let PlaceKind::Index(inner, _) | PlaceKind::Member(inner, _) = &place.kind {
        place = inner;
    }
    place
}
