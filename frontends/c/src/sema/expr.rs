//! Expressions (C11, 6.5).

use nbcc_base::Span;

use super::operators::is_zero;
use super::place::root;
use super::{Sema, Symbol};
use crate::codes;
use crate::literal::Integer;
use crate::sema::tree::{Arith, Compare, Expr, ExprKind, Place, PlaceKind};
use crate::syntax::ast::{self, Op, UnaryOp};
use crate::types::{Int, Kind, Len, Qual, Ty, Types};

impl Sema<'_> {
    /// The value of an expression; arrays are pointers to their first elements.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Bad => self.bad(span),
            ast::ExprKind::Int(value) => self.integer(*value, span),
            ast::ExprKind::Char(value) => self.int_const(i64::from(*value), Types::INT, span),
            ast::ExprKind::Name(name) => match self.lookup(*name) {
                Some(Symbol::Constant(value, ty)) => self.int_const(value, ty, span),
                Some(Symbol::Function(_)) => {
                    let message = "function pointers are not supported";
                    let help = "call the function: write its arguments in parentheses behind it";
                    if !self.function_pointers {
                        let label = "a function as a value";
                        self.error(&codes::FUNCTION_POINTER, span, message, label, help);
                    }
                    self.bad(span)
                }
                _ => self.value_of(expr),
            },
            ast::ExprKind::Text(_)
            | ast::ExprKind::Index(..)
            | ast::ExprKind::Member(..)
            | ast::ExprKind::Arrow(..)
            | ast::ExprKind::Compound(..)
            | ast::ExprKind::Unary(UnaryOp::Deref, _) => self.value_of(expr),
            ast::ExprKind::Unary(UnaryOp::Address, inner) => self.address(inner, span),
            ast::ExprKind::Unary(op, inner) => self.unary(*op, inner, span),
            ast::ExprKind::Step { up, prefix, place } => self.step(*up, *prefix, place, span),
            ast::ExprKind::Binary(op, at, a, b) => self.binary_expr(*op, a, b, span, *at),
            ast::ExprKind::Cond(c, a, b) => self.conditional(c, a, b, span),
            ast::ExprKind::Comma(a, b) => {
                let a = self.expr_or_void(a);
                let b = self.expr(b);
                let ty = b.ty;
                Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), ty, span }
            }
            ast::ExprKind::Assign(None, to, value) => self.assign(to, value, span),
            ast::ExprKind::Assign(Some(op), to, value) => {
                let by = self.expr(value);
                let place = self.place(to);
                self.update(place, *op, by, false, span)
            }
            ast::ExprKind::Call(function, args) => self.call(function, args, span),
            ast::ExprKind::Cast(ty, inner) => self.cast(ty, inner, span),
            ast::ExprKind::SizeofType(ty) => {
                let ty = self.type_name(ty).ty;
                self.sizeof(ty, span)
            }
            ast::ExprKind::SizeofExpr(inner) => {
                let ty = self.type_of(inner);
                self.sizeof(ty, span)
            }
            ast::ExprKind::Alignof(ty) => {
                let ty = self.type_name(ty).ty;
                let align = self.types.align(ty) as i64;
                self.int_const(align, Types::ULONG, span)
            }
            ast::ExprKind::Offsetof(ty, members) => self.offsetof(ty, members, span),
        }
    }

    /// The same where a value need not come out.
    pub(super) fn expr_or_void(&mut self, expr: &ast::Expr) -> Expr {
        self.expr(expr)
    }

    /// The type of an expression that is not evaluated, arrays as they are.
    fn type_of(&mut self, expr: &ast::Expr) -> Ty {
        self.dead += 1;
        // What it would write is not written.
        let written: Vec<u32> = self.current.locals.iter().map(|local| local.written).collect();
        let calls = self.current.calls.len();
        let ty = match &expr.kind {
            ast::ExprKind::Name(name)
                if matches!(self.lookup(*name), Some(Symbol::Local(_) | Symbol::Global(_))) =>
            {
                self.place(expr).ty
            }
            ast::ExprKind::Text(bytes) => {
                let of = Qual::new(Types::CHAR, false);
                self.types.make(Kind::Array(of, Len::Fixed(bytes.len() as u64 + 1)))
            }
            ast::ExprKind::Index(..)
            | ast::ExprKind::Member(..)
            | ast::ExprKind::Arrow(..)
            | ast::ExprKind::Compound(..)
            | ast::ExprKind::Unary(UnaryOp::Deref, _) => self.place(expr).ty,
            _ => self.expr(expr).ty,
        };
        for (local, written) in self.current.locals.iter_mut().zip(written) {
            local.written = written;
        }
        self.current.calls.truncate(calls);
        self.dead -= 1;
        ty
    }

    /// The type of a literal: the first that holds it (6.4.4.1).
    pub(super) fn integer(&mut self, value: Integer, span: Span) -> Expr {
        let fits = |int: Int| {
            let max = match (int.bits(), int.is_signed()) {
                (32, true) => i32::MAX as u64,
                (32, false) => u64::from(u32::MAX),
                (_, true) => i64::MAX as u64,
                (_, false) => u64::MAX,
            };
            value.bits <= max
        };
        let all = match value.longs {
            0 => &[Int::Int, Int::UInt, Int::Long, Int::ULong][..],
            1 => &[Int::Long, Int::ULong],
            _ => &[Int::LLong, Int::ULLong],
        };
        let may = |int: Int| {
            if value.unsigned { !int.is_signed() } else { int.is_signed() || !value.decimal }
        };
        let found = all.iter().copied().find(|&int| may(int) && fits(int));
        // Too large for every signed type: as gcc, which warns.
        let int = found.unwrap_or(if value.longs == 2 { Int::ULLong } else { Int::ULong });
        let ty = self.types.int(int);
        self.int_const(int.wrap(value.bits as i64), ty, span)
    }

    pub(super) fn address(&mut self, inner: &ast::Expr, span: Span) -> Expr {
        if let ast::ExprKind::Name(name) = inner.kind
            && let Some(Symbol::Function(_)) = self.lookup(name)
        {
            return self.expr(inner);
        }
        if let ast::ExprKind::Unary(UnaryOp::Deref, pointer) = &inner.kind {
            return self.expr(pointer);
        }
        let takes = std::mem::replace(&mut self.takes_address, true);
        let mut place = self.place(inner);
        self.takes_address = takes;
        if place.ty == Types::ERROR {
            return self.bad(span);
        }
        if self.types.is_pointer(place.ty) {
            let message = "pointers to pointers are not supported";
            let help = "return the pointer, or use an index into the array";
            self.error(&codes::POINTER_POINTER, span, message, "points to a pointer", help);
            return self.bad(span);
        }
        if let PlaceKind::Local(local) = place.kind {
            self.current.locals[local as usize].written += 1;
        }
        self.in_memory(&mut place);
        let ty = self.types.pointer(Qual::new(place.ty, place.is_const));
        Expr { kind: ExprKind::Address(Box::new(place)), ty, span }
    }

    fn unary(&mut self, op: UnaryOp, inner: &ast::Expr, span: Span) -> Expr {
        let value = self.expr(inner);
        if value.ty == Types::ERROR {
            return value;
        }
        if op == UnaryOp::Not {
            let value = self.truth(value);
            return match value.kind {
                ExprKind::Const(value) => self.int_const(i64::from(value == 0), Types::INT, span),
                _ => Expr { kind: ExprKind::Not(Box::new(value)), ty: Types::INT, span },
            };
        }
        let Some((value, int)) = self.promoted(value) else {
            let help = "use an integer";
            self.error(&codes::TYPE, span, "the operator takes an integer", "not an integer", help);
            return self.bad(span);
        };
        let ty = value.ty;
        if let ExprKind::Const(bits) = value.kind {
            let bits = match op {
                UnaryOp::Minus => bits.wrapping_neg(),
                UnaryOp::Complement => !bits,
                _ => bits,
            };
            return self.int_const(int.wrap(bits), ty, span);
        }
        let kind = match op {
            UnaryOp::Minus => ExprKind::Negate(Box::new(value)),
            UnaryOp::Complement => ExprKind::Complement(Box::new(value)),
            _ => return value,
        };
        Expr { kind, ty, span }
    }

    fn binary_expr(&mut self, op: Op, a: &ast::Expr, b: &ast::Expr, span: Span, at: Span) -> Expr {
        if let Op::LogAnd | Op::LogOr = op {
            let a = self.expr(a);
            let a = self.truth(a);
            let known = match a.kind {
                ExprKind::Const(value) => Some(value != 0),
                _ => None,
            };
            let skips = known == Some(op == Op::LogOr);
            self.dead += u32::from(skips);
            let b = self.expr(b);
            let b = self.truth(b);
            self.dead -= u32::from(skips);
            if a.ty == Types::ERROR || b.ty == Types::ERROR {
                return self.bad(span);
            }
            if skips {
                return self.int_const(i64::from(op == Op::LogOr), Types::INT, span);
            }
            if let (Some(_), ExprKind::Const(value)) = (known, &b.kind) {
                return self.int_const(i64::from(*value != 0), Types::INT, span);
            }
            let (a, b) = (Box::new(a), Box::new(b));
            let kind = if op == Op::LogAnd { ExprKind::And(a, b) } else { ExprKind::Or(a, b) };
            return Expr { kind, ty: Types::INT, span };
        }
        let (a, b) = (self.expr(a), self.expr(b));
        match arith_of(op) {
            Some(op) => self.binary(op, a, b, span, at),
            None => self.compare(compare_of(op), a, b, span, at),
        }
    }

    fn conditional(&mut self, c: &ast::Expr, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        let c = self.expr(c);
        let c = self.truth(c);
        let known = match c.kind {
            ExprKind::Const(value) => Some(value != 0),
            _ => None,
        };
        self.dead += u32::from(known == Some(false));
        let a = self.expr_or_void(a);
        self.dead -= u32::from(known == Some(false));
        self.dead += u32::from(known == Some(true));
        let b = self.expr_or_void(b);
        self.dead -= u32::from(known == Some(true));
        if [&c, &a, &b].iter().any(|expr| expr.ty == Types::ERROR) {
            return self.bad(span);
        }
        let (a, b) = match (self.types.as_int(a.ty), self.types.as_int(b.ty)) {
            (Some(x), Some(y)) => {
                let ty = self.types.int(x.common(y));
                (self.convert(a, ty), self.convert(b, ty))
            }
            _ if is_zero(&a) && self.types.is_pointer(b.ty) => {
                let a = Expr { kind: ExprKind::Null, ty: b.ty, span: a.span };
                (a, b)
            }
            _ if is_zero(&b) && self.types.is_pointer(a.ty) => {
                let b = Expr { kind: ExprKind::Null, ty: a.ty, span: b.span };
                (a, b)
            }
            _ => match (self.types.pointee(a.ty), self.types.pointee(b.ty)) {
                (Some(x), Some(y)) if x.ty == y.ty => {
                    let is_const = x.is_const || y.is_const;
                    let ty = self.types.pointer(Qual::new(x.ty, is_const));
                    (self.repointed(a, ty), self.repointed(b, ty))
                }
                _ if self.types.compatible(a.ty, b.ty) => (a, b),
                _ => {
                    let (x, y) = (self.text(a.ty), self.text(b.ty));
                    let message = format!("the choice is between {x} and {y}");
                    let help = "make both of one type";
                    self.error(&codes::TYPE, span, message, "two types", help);
                    return self.bad(span);
                }
            },
        };
        let ty = a.ty;
        match known {
            Some(true) if matches!(a.kind, ExprKind::Const(_)) => Expr { span, ..a },
            Some(false) if matches!(b.kind, ExprKind::Const(_)) => Expr { span, ..b },
            _ => Expr { kind: ExprKind::Cond(Box::new(c), Box::new(a), Box::new(b)), ty, span },
        }
    }

    /// Notes that a place is written; refused where it is `const`.
    pub(super) fn writes(&mut self, place: &Place) -> bool {
        if place.ty == Types::ERROR {
            return false;
        }
        if let Kind::Array(..) = self.types.kind(place.ty) {
            let help = "copy the elements in a loop, or with `memcpy`";
            self.error(&codes::LVALUE, place.span, "an array is assigned", "not one value", help);
            return false;
        }
        let by_member = self.types.members(place.ty).unwrap_or_default();
        let has_const = by_member.iter().any(|member| self.is_const_type(member.of));
        if place.is_const || has_const {
            let is_value = matches!(root(place).kind, PlaceKind::Temporary(..));
            let (message, help) = if is_value {
                ("this is a value, no place", "assign it to a variable first")
            } else {
                ("this is `const`", "leave out the `const`, or write another variable")
            };
            let code = if is_value { &codes::LVALUE } else { &codes::CONST };
            self.error(code, place.span, message, "is written here", help);
            return false;
        }
        match root(place).kind {
            PlaceKind::Local(local) => self.current.locals[local as usize].written += 1,
            PlaceKind::Global(number) => self.globals[number].written = true,
            _ => {}
        }
        true
    }

    pub(super) fn assign(&mut self, to: &ast::Expr, value: &ast::Expr, span: Span) -> Expr {
        let place = self.place(to);
        let value = self.expr(value);
        if !self.writes(&place) {
            return self.bad(span);
        }
        let what = match (&place.kind, &to.kind) {
            (PlaceKind::Local(_) | PlaceKind::Global(_), ast::ExprKind::Name(name)) => {
                format!("`{}`", self.name(*name))
            }
            (PlaceKind::Index(..), _) => "an element".to_string(),
            (PlaceKind::Member(..), _) => "a member".to_string(),
            _ => "a place".to_string(),
        };
        let value = self.assigned(value, place.ty, &what);
        if value.ty == Types::ERROR {
            return self.bad(span);
        }
        let ty = place.ty;
        Expr { kind: ExprKind::Assign(Box::new(place), Box::new(value)), ty, span }
    }

    pub(super) fn step(&mut self, up: bool, prefix: bool, place: &ast::Expr, span: Span) -> Expr {
        let place = self.place(place);
        let one = self.int_const(1, Types::INT, span);
        self.update(place, if up { Op::Add } else { Op::Sub }, one, !prefix, span)
    }

    /// `place op= by`, and the value before or after it.
    fn update(&mut self, place: Place, op: Op, by: Expr, post: bool, span: Span) -> Expr {
        if !self.writes(&place) || by.ty == Types::ERROR {
            return self.bad(span);
        }
        let ty = place.ty;
        let Some(op) = arith_of(op) else { return self.bad(span) };
        if let Some(to) = self.types.pointee(ty) {
            let by_int = self.types.as_int(by.ty).is_some();
            if !matches!(op, Arith::Add | Arith::Sub) || !by_int {
                let help = "move a pointer with `+=` or `-=` by an integer";
                self.error(
                    &codes::TYPE,
                    span,
                    "no operation on a pointer",
                    "not for pointers",
                    help,
                );
                return self.bad(span);
            }
            if !self.is_sized(to.ty, span) {
                return self.bad(span);
            }
            let minus = op == Arith::Sub;
            let by = self.promoted(by).map_or_else(|| self.bad(span), |(by, _)| by);
            let kind = ExprKind::Move { place: Box::new(place), by: Box::new(by), minus, post };
            return Expr { kind, ty, span };
        }
        let (Some(x), Some(y)) = (self.types.as_int(ty), self.types.as_int(by.ty)) else {
            let value = self.bad(span);
            let (left, right) = (self.text(ty), self.text(by.ty));
            let message = format!("the operator does not take {left} and {right}");
            let help = "use integers, or a pointer and an integer";
            self.error(&codes::TYPE, span, message, "between these", help);
            return value;
        };
        let shift = matches!(op, Arith::Shl | Arith::Shr);
        let compute = if shift { x.promoted() } else { x.common(y) };
        let compute = self.types.int(compute);
        let by = if shift {
            self.promoted(by).map_or_else(|| self.bad(span), |(by, _)| by)
        } else {
            self.convert(by, compute)
        };
        if matches!(op, Arith::Div | Arith::Rem)
            && matches!(by.kind, ExprKind::Const(0))
            && self.dead == 0
        {
            let help = "divide by what is not 0";
            self.error(&codes::DIVISION, span, "a division by zero", "divides by 0", help);
        }
        let kind = ExprKind::Update { place: Box::new(place), op, by: Box::new(by), compute, post };
        Expr { kind, ty, span }
    }

    fn cast(&mut self, to: &ast::TypeName, inner: &ast::Expr, span: Span) -> Expr {
        let to = self.type_name(to).ty;
        let value = self.expr_or_void(inner);
        if to == Types::VOID {
            let kind = match value.kind {
                ExprKind::Bad => ExprKind::Bad,
                _ => {
                    let zero = self.int_const(0, Types::VOID, span);
                    ExprKind::Comma(Box::new(value), Box::new(zero))
                }
            };
            return Expr { kind, ty: Types::VOID, span };
        }
        if value.ty == Types::ERROR || to == Types::ERROR {
            return self.bad(span);
        }
        let (from_int, to_int) = (self.types.as_int(value.ty), self.types.as_int(to));
        match (from_int, to_int) {
            (Some(_), Some(_)) => {
                let mut value = self.convert(value, to);
                value.span = span;
                value
            }
            (None, Some(Int::Bool)) if self.types.is_pointer(value.ty) => self.convert(value, to),
            (Some(_), None) if self.types.is_pointer(to) && is_zero(&value) => {
                Expr { kind: ExprKind::Null, ty: to, span }
            }
            _ => match (self.types.pointee(value.ty), self.types.pointee(to)) {
                (Some(from), Some(target))
                    if self.types.compatible(from.ty, target.ty)
                        || from.ty == Types::VOID && is_zero(&value)
                        || target.ty == Types::VOID =>
                {
                    self.repointed(value, to)
                }
                (None, None) if self.types.compatible(value.ty, to) => value,
                (from, target) => {
                    let (x, y) = (self.text(value.ty), self.text(to));
                    let message = format!("{x} is not cast to {y}");
                    let (code, help) = match (from, target) {
                        (None, None) => (&codes::TYPE, "cast integers"),
                        _ => (
                            &codes::POINTER_CAST,
                            "copy the elements, or take integers apart with shifts and masks",
                        ),
                    };
                    self.error(code, span, message, "no such cast", help);
                    self.bad(span)
                }
            },
        }
    }

    /// The type that a type name names.
    pub(super) fn type_name(&mut self, name: &ast::TypeName) -> Qual {
        let base = self.specs(&name.specs, false);
        self.declared(base.of, &name.declarator, super::declarator::Extents::Constant)
    }

    fn offsetof(&mut self, ty: &ast::TypeName, members: &[ast::Ident], span: Span) -> Expr {
        let mut ty = self.type_name(ty).ty;
        let mut offset = 0;
        for name in members {
            let path = self.types.members(ty).and_then(|list| self.find_in(list, name.name));
            let Some(path) = path else {
                self.no_member(ty, *name);
                return self.bad(span);
            };
            for number in path {
                if let Some(list) = self.types.members(ty) {
                    offset += list[number].offset;
                    ty = list[number].of.ty;
                }
            }
        }
        self.int_const(offset as i64, Types::ULONG, span)
    }

    /// The value of a constant expression of integers; reported where it is none.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<i64> {
        let value = self.expr(expr);
        match value.kind {
            ExprKind::Const(value) => Some(value),
            ExprKind::Bad => None,
            _ => {
                let help = "use literals, constants of enumerations, `sizeof` and macros";
                let message = "this is no constant expression";
                self.error(&codes::CONSTANT, expr.span, message, "not constant", help);
                None
            }
        }
    }
}

fn arith_of(op: Op) -> Option<Arith> {
    Some(match op {
        Op::Mul => Arith::Mul,
        Op::Div => Arith::Div,
        Op::Rem => Arith::Rem,
        Op::Add => Arith::Add,
        Op::Sub => Arith::Sub,
        Op::Shl => Arith::Shl,
        Op::Shr => Arith::Shr,
        Op::And => Arith::And,
        Op::Xor => Arith::Xor,
        Op::Or => Arith::Or,
        _ => return None,
    })
}

fn compare_of(op: Op) -> Compare {
    match op {
        Op::Lt => Compare::Lt,
        Op::Gt => Compare::Gt,
        Op::Le => Compare::Le,
        Op::Ge => Compare::Ge,
        Op::Eq => Compare::Eq,
        _ => Compare::Ne,
    }
}
