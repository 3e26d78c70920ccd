//! Conversions and operators on checked operands (C11, 6.3 and 6.5), computed at once where the
//! operands are constants.

use nbcc_base::Span;

use super::Sema;
use crate::codes;
use crate::names::Name;
use crate::sema::tree::{Arith, Compare, Expr, ExprKind, PlaceKind};
use crate::types::{Int, Kind, Len, Qual, Ty, Types};

/// The result of an operation on integers of one type; `None` where there is none.
pub(crate) fn compute(op: Arith, int: Int, a: i64, b: i64) -> Option<i64> {
    let bits = int.bits().max(32);
    let amount = (b as u64 % u64::from(bits)) as u32;
    let signed = int.is_signed();
    let value = match op {
        Arith::Mul => a.wrapping_mul(b),
        Arith::Add => a.wrapping_add(b),
        Arith::Sub => a.wrapping_sub(b),
        Arith::And => a & b,
        Arith::Or => a | b,
        Arith::Xor => a ^ b,
        Arith::Shl => a.wrapping_shl(amount),
        Arith::Shr if signed => a.wrapping_shr(amount),
        Arith::Shr => ((a as u64) >> amount) as i64,
        Arith::Div | Arith::Rem if b == 0 => return None,
        Arith::Div if signed => a.wrapping_div(b),
        Arith::Div => (a as u64 / b as u64) as i64,
        Arith::Rem if signed => a.wrapping_rem(b),
        Arith::Rem => (a as u64 % b as u64) as i64,
    };
    Some(int.wrap(value))
}

/// Whether a comparison of integers of one type holds.
pub(crate) fn holds(op: Compare, int: Int, a: i64, b: i64) -> bool {
    let order = if int.is_signed() { a.cmp(&b) } else { (a as u64).cmp(&(b as u64)) };
    match op {
        Compare::Lt => order.is_lt(),
        Compare::Gt => order.is_gt(),
        Compare::Le => order.is_le(),
        Compare::Ge => order.is_ge(),
        Compare::Eq => order.is_eq(),
        Compare::Ne => order.is_ne(),
    }
}

/// How what a pointer points to goes with what another one may.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    Fits,
    DropsConst,
    Differs,
}

impl Sema<'_> {
    pub(super) fn int_const(&self, value: i64, ty: Ty, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(value), ty, span }
    }

    /// An integer as one of another type. Panics on what is no integer.
    pub(super) fn convert(&mut self, expr: Expr, to: Ty) -> Expr {
        if expr.ty == to || expr.ty == Types::ERROR || to == Types::ERROR {
            return expr;
        }
        let span = expr.span;
        let Some(int) = self.types.as_int(to) else { return expr };
        if self.types.is_pointer(expr.ty) {
            // A truth value is all that a pointer is converted to.
            return Expr { kind: ExprKind::IsSet(Box::new(expr)), ty: to, span };
        }
        match expr.kind {
            ExprKind::Const(value) => self.int_const(int.wrap(value), to, span),
            _ => Expr { kind: ExprKind::Convert(Box::new(expr)), ty: to, span },
        }
    }

    /// A condition: an integer or pointer, compared with zero where it is used.
    pub(super) fn truth(&mut self, expr: Expr) -> Expr {
        if self.types.is_pointer(expr.ty) {
            let span = expr.span;
            return Expr { kind: ExprKind::IsSet(Box::new(expr)), ty: Types::INT, span };
        }
        if expr.ty != Types::ERROR && self.types.as_int(expr.ty).is_none() {
            let text = self.text(expr.ty);
            let help = "compare a number with 0";
            let message = format!("a condition of the type {text}");
            self.error(&codes::TYPE, expr.span, message, "no number", help);
            return self.bad(expr.span);
        }
        expr
    }

    /// An integer operand, promoted.
    pub(super) fn promoted(&mut self, expr: Expr) -> Option<(Expr, Int)> {
        let int = self.types.as_int(expr.ty)?.promoted();
        let ty = self.types.int(int);
        Some((self.convert(expr, ty), int))
    }

    pub(super) fn arith(&mut self, op: Arith, a: Expr, b: Expr, ty: Ty, span: Span) -> Expr {
        let int = self.types.as_int(ty).unwrap_or(Int::Int);
        let divides = matches!(op, Arith::Div | Arith::Rem);
        if let (ExprKind::Const(x), ExprKind::Const(y)) = (&a.kind, &b.kind)
            && let Some(value) = compute(op, int, *x, *y)
        {
            return self.int_const(value, ty, span);
        }
        if divides && matches!(b.kind, ExprKind::Const(0)) && !self.is_skipped() {
            let help = "divide by what is not 0";
            self.error(&codes::DIVISION, span, "a division by zero", "divides by 0", help);
            return self.bad(span);
        }
        Expr { kind: ExprKind::Arith(op, Box::new(a), Box::new(b)), ty, span }
    }

    /// An operation on any two operands.
    pub(super) fn binary(&mut self, op: Arith, a: Expr, b: Expr, span: Span, at: Span) -> Expr {
        if a.ty == Types::ERROR || b.ty == Types::ERROR {
            return self.bad(span);
        }
        let (left, right) = (self.types.pointee(a.ty), self.types.pointee(b.ty));
        match (op, left, right) {
            (Arith::Add, Some(_), None) => return self.offset(a, b, false, span),
            (Arith::Sub, Some(_), None) => return self.offset(a, b, true, span),
            (Arith::Add, None, Some(_)) => return self.offset(b, a, false, span),
            (Arith::Sub, Some(x), Some(y)) if self.types.compatible(x.ty, y.ty) => {
                if !self.is_sized(x.ty, span) {
                    return self.bad(span);
                }
                let kind = ExprKind::Distance(Box::new(a), Box::new(b));
                return Expr { kind, ty: Types::LONG, span };
            }
            _ => {}
        }
        let shift = matches!(op, Arith::Shl | Arith::Shr);
        let (Some(x), Some(y)) = (self.types.as_int(a.ty), self.types.as_int(b.ty)) else {
            return self.operands(&a, &b, span, at);
        };
        if shift {
            let ty = self.types.int(x.promoted());
            let amount = self.types.int(y.promoted());
            let (a, b) = (self.convert(a, ty), self.convert(b, amount));
            return self.arith(op, a, b, ty, span);
        }
        let ty = self.types.int(x.common(y));
        let (a, b) = (self.convert(a, ty), self.convert(b, ty));
        self.arith(op, a, b, ty, span)
    }

    fn operands(&mut self, a: &Expr, b: &Expr, span: Span, at: Span) -> Expr {
        let (x, y) = (self.text(a.ty), self.text(b.ty));
        let message = format!("the operator does not take {x} and {y}");
        let help = "use integers, or a pointer and an integer";
        self.error(&codes::TYPE, at, message, "between these", help);
        self.bad(span)
    }

    pub(super) fn compare(&mut self, op: Compare, a: Expr, b: Expr, span: Span, at: Span) -> Expr {
        if a.ty == Types::ERROR || b.ty == Types::ERROR {
            return self.bad(span);
        }
        if self.types.is_pointer(a.ty) || self.types.is_pointer(b.ty) {
            return self.compare_pointers(op, a, b, span, at);
        }
        let (Some(x), Some(y)) = (self.types.as_int(a.ty), self.types.as_int(b.ty)) else {
            return self.operands(&a, &b, span, at);
        };
        let int = x.common(y);
        let ty = self.types.int(int);
        let (a, b) = (self.convert(a, ty), self.convert(b, ty));
        if let (ExprKind::Const(x), ExprKind::Const(y)) = (&a.kind, &b.kind) {
            return self.int_const(i64::from(holds(op, int, *x, *y)), Types::INT, span);
        }
        Expr { kind: ExprKind::Compare(op, Box::new(a), Box::new(b)), ty: Types::INT, span }
    }

    fn compare_pointers(&mut self, op: Compare, a: Expr, b: Expr, span: Span, at: Span) -> Expr {
        let (a, b) = match (self.types.pointee(a.ty), self.types.pointee(b.ty)) {
            (Some(x), Some(y)) => {
                let void = x.ty == Types::VOID || y.ty == Types::VOID;
                if !void && !self.types.compatible(x.ty, y.ty) {
                    return self.operands(&a, &b, span, at);
                }
                (a, b)
            }
            (Some(_), None) if is_zero(&b) => {
                let null = Expr { kind: ExprKind::Null, ty: a.ty, span: b.span };
                (a, null)
            }
            (None, Some(_)) if is_zero(&a) => {
                let null = Expr { kind: ExprKind::Null, ty: b.ty, span: a.span };
                (null, b)
            }
            _ => return self.operands(&a, &b, span, at),
        };
        let kind = ExprKind::ComparePointers(op, Box::new(a), Box::new(b));
        Expr { kind, ty: Types::INT, span }
    }

    /// Whether elements of the type can be counted; reported where not.
    pub(super) fn is_sized(&mut self, ty: Ty, span: Span) -> bool {
        let sized = self.types.is_complete(ty);
        if !sized && !self.is_told(ty) {
            let text = self.text(ty);
            let message = format!("a pointer to {text} has no elements to count");
            let help = "use a pointer to a type that is complete";
            self.error(&codes::INCOMPLETE, span, message, "no size", help);
        }
        sized
    }

    /// A pointer so many elements on, or back.
    pub(super) fn offset(&mut self, pointer: Expr, by: Expr, minus: bool, span: Span) -> Expr {
        let Some(to) = self.types.pointee(pointer.ty) else { return self.bad(span) };
        if by.ty == Types::ERROR {
            return self.bad(span);
        }
        if self.types.as_int(by.ty).is_none() {
            let text = self.text(by.ty);
            let message = format!("a pointer moved by {text}");
            self.error(&codes::TYPE, by.span, message, "no integer", "move it by an integer");
            return self.bad(span);
        }
        if !self.is_sized(to.ty, span) {
            return self.bad(span);
        }
        let ty = pointer.ty;
        let by = self.promoted(by).map_or_else(|| self.bad(span), |(by, _)| by);
        Expr { kind: ExprKind::Offset(Box::new(pointer), Box::new(by), minus), ty, span }
    }

    fn points(&self, from: Qual, to: Qual) -> Match {
        if from.ty != Types::VOID && to.ty != Types::VOID && !self.types.compatible(from.ty, to.ty)
        {
            return Match::Differs;
        }
        if self.is_const_type(from) && !self.is_const_type(to) {
            return Match::DropsConst;
        }
        Match::Fits
    }

    /// Whether a value of the type may not be written, or the elements of an array.
    pub(super) fn is_const_type(&self, of: Qual) -> bool {
        match self.types.kind(of.ty) {
            Kind::Array(element, _) => of.is_const || self.is_const_type(element),
            _ => of.is_const,
        }
    }

    /// A value as an object of another type takes it (6.5.16.1). `what` says in messages which.
    pub(super) fn assigned(&mut self, expr: Expr, to: Ty, what: &str) -> Expr {
        let span = expr.span;
        if expr.ty == Types::ERROR || to == Types::ERROR {
            return expr;
        }
        if self.types.as_int(to).is_some() && self.types.as_int(expr.ty).is_some() {
            return self.convert(expr, to);
        }
        if to == Types::BOOL && self.types.is_pointer(expr.ty) {
            return self.convert(expr, to);
        }
        if let Some(target) = self.types.pointee(to) {
            if is_zero(&expr) {
                return Expr { kind: ExprKind::Null, ty: to, span };
            }
            if let Some(from) = self.types.pointee(expr.ty) {
                let fits = self.points(from, target);
                if fits == Match::Fits {
                    return self.repointed(expr, to);
                }
                let (from, target) = (self.text(expr.ty), self.text(to));
                let (code, message, help) = match fits {
                    Match::DropsConst => (
                        &codes::CONST,
                        format!("{from} given to {what} of the type {target} loses its `const`"),
                        "make the pointer one to `const`, or the object not `const`",
                    ),
                    _ => (
                        &codes::POINTER_TYPE,
                        format!("{from} given to {what} of the type {target}"),
                        "pointers are to the type of their elements: copy the elements instead",
                    ),
                };
                self.error(code, span, message, "another pointer", help);
                return self.bad(span);
            }
        }
        if self.types.members(to).is_some() && self.types.compatible(expr.ty, to) {
            return expr;
        }
        let (from_pointer, to_pointer) =
            (self.types.is_pointer(expr.ty), self.types.is_pointer(to));
        let (from, target) = (self.text(expr.ty), self.text(to));
        if expr.ty == Types::VOID {
            let message = format!("what has no value is given to {what} of the type {target}");
            let help = "give the function that is called a type of result, or leave its value out";
            self.error(&codes::TYPE, span, message, "no value", help);
            return self.bad(span);
        }
        if self.is_text(&expr) {
            let message = format!("a text is given to {what} of the type {target}");
            let help = "one character stands in single quotes, `'a'`; a text is for an array of \
                        `char` or a pointer to `const char`";
            self.error(&codes::POINTER_CAST, span, message, "a text", help);
            return self.bad(span);
        }
        let message = format!("{from} given to {what} of the type {target}");
        let (code, label, help) = match (from_pointer, to_pointer) {
            (false, false) => (&codes::TYPE, "another type", "give a value of that type"),
            (true, false) => {
                let help =
                    "a pointer is no number: name an element with `[0]` or `*`, or keep an index";
                (&codes::POINTER_CAST, "a pointer", help)
            }
            _ => {
                let help = "a number is no pointer: give an array, or an address with `&`";
                (&codes::POINTER_CAST, "no pointer", help)
            }
        };
        self.error(code, span, message, label, help);
        self.bad(span)
    }

    /// Whether a value is a text between quotes.
    fn is_text(&self, expr: &Expr) -> bool {
        let ExprKind::Address(place) = &expr.kind else { return false };
        let PlaceKind::Global(number) = place.kind else { return false };
        self.globals[number].name == Name(0) && self.globals[number].is_const
    }

    pub(super) fn repointed(&mut self, expr: Expr, to: Ty) -> Expr {
        if expr.ty == to {
            return expr;
        }
        let span = expr.span;
        match expr.kind {
            ExprKind::Null => Expr { ty: to, ..expr },
            _ => Expr { kind: ExprKind::Repoint(Box::new(expr)), ty: to, span },
        }
    }

    /// The bytes of a value of the type, for `sizeof`.
    pub(super) fn sizeof(&mut self, ty: Ty, span: Span) -> Expr {
        if ty == Types::ERROR {
            return self.bad(span);
        }
        match self.types.size(ty) {
            Some(size) => self.int_const(size as i64, Types::ULONG, span),
            None => match self.types.kind(ty) {
                // A row of a parameter whose extents are no constants.
                Kind::Array(of, Len::Var(local)) => {
                    let count = self.local_value(local, span);
                    let count = self.convert(count, Types::ULONG);
                    let size = self.sizeof(of.ty, span);
                    self.arith(Arith::Mul, count, size, Types::ULONG, span)
                }
                Kind::Array(of, Len::Fixed(count)) => {
                    let count = self.int_const(count as i64, Types::ULONG, span);
                    let size = self.sizeof(of.ty, span);
                    self.arith(Arith::Mul, count, size, Types::ULONG, span)
                }
                _ => {
                    let text = self.text(ty);
                    let message = format!("{text} has no size");
                    let help = "ask for the size of a type that is complete";
                    self.error(&codes::INCOMPLETE, span, message, "not complete", help);
                    self.bad(span)
                }
            },
        }
    }
}

/// Whether an expression is a null pointer constant (6.3.2.3).
pub(super) fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(0) | ExprKind::Null => true,
        ExprKind::Repoint(inner) => is_zero(inner),
        _ => false,
    }
}
