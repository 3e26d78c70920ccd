//! Constant indices: those outside of a whole array are refused. An index into a row may reach others,
//! one into a member of a structure no other member.

use nbcc_base::{Diagnostic, Span};

use super::Sema;
use crate::codes;
use crate::sema::tree::{Expr, ExprKind, Place, PlaceKind};
use crate::syntax::ast;
use crate::types::Kind;

/// The elements of a whole array, counted from the place where a row of it begins.
#[derive(Clone, Copy)]
pub(super) struct Range {
    /// The number of that place.
    first: i128,
    /// Elements of the whole array.
    total: i128,
    /// The parameter that it is.
    param: Option<u32>,
}

impl Range {
    /// Another element, of which `each` more are made; `None` where it is outside.
    fn row(self, at: i64, each: i128, behind: bool) -> Option<Range> {
        let first = self.first + i128::from(at);
        let is_inside = first >= 0 && (first < self.total || first == self.total && behind);
        let total = self.total.checked_mul(each).filter(|_| is_inside)?;
        Some(Range { first: first.checked_mul(each)?, total, ..self })
    }
}

impl Sema<'_> {
    /// An index, which is evaluated whatever becomes of the element.
    pub(super) fn subscript(&mut self, index: &ast::Expr) -> Expr {
        let takes = std::mem::take(&mut self.takes_address);
        let index = self.expr(index);
        self.takes_address = takes;
        index
    }

    /// Where an array is, in elements of its own; `None` where that is not known.
    pub(super) fn range_of_array(&self, place: &Place) -> Option<Range> {
        let Kind::Array(_, len) = self.types.kind(place.ty) else { return None };
        let count = i128::from(len.fixed()?);
        match &place.kind {
            PlaceKind::Index(of, index) => {
                let ExprKind::Const(at) = index.kind else { return None };
                self.range_of_array(of)?.row(at, count, self.takes_address)
            }
            PlaceKind::Deref(pointer) => {
                self.range_of_pointer(pointer)?.row(0, count, self.takes_address)
            }
            PlaceKind::Bad => None,
            _ => Some(Range { first: 0, total: count, param: None }),
        }
    }

    /// Where a pointer points to, in elements of what it points to.
    pub(super) fn range_of_pointer(&self, pointer: &Expr) -> Option<Range> {
        match &pointer.kind {
            ExprKind::Address(place) => {
                let to = self.types.pointee(pointer.ty)?.ty;
                self.range_of_array(place).filter(|_| to != place.ty)
            }
            ExprKind::Value(place) => {
                let PlaceKind::Local(local) = place.kind else { return None };
                let known = self.current.arrays.iter().find(|(param, _)| *param == local);
                known.map(|&(_, count)| Range { first: 0, total: count.into(), param: Some(local) })
            }
            ExprKind::Offset(of, by, minus) => {
                let (ExprKind::Const(by), range) = (&by.kind, self.range_of_pointer(of)?) else {
                    return None;
                };
                let by = if *minus { -i128::from(*by) } else { i128::from(*by) };
                Some(Range { first: range.first + by, ..range })
            }
            _ => None,
        }
    }

    /// Refuses a constant index outside of a whole array, whose row has `count` elements.
    pub(super) fn check_index(
        &mut self,
        range: Option<Range>,
        count: Option<u64>,
        index: &Expr,
        span: Span,
    ) {
        let (ExprKind::Const(at), Some(range)) = (&index.kind, range) else { return };
        let Range { first, total, param } = range;
        // The place behind the last element has an address.
        if range.row(*at, 1, self.takes_address).is_some() || self.is_skipped() {
            return;
        }
        let count = count.map_or(total, i128::from);
        let message = match (first, count == total) {
            (0, true) => {
                format!("the index {at} is outside of the array, which has {count} elements")
            }
            _ => format!(
                "the index {at} reaches element {} of the whole array, which has {total} elements",
                first + i128::from(*at)
            ),
        };
        let help = format!("use an index from 0 to {}", (count - 1).max(0));
        let error = Diagnostic::error(&codes::INDEX, message).at(span, "outside").help(help);
        match param {
            Some(param) => self.current.beyond.push((param, error)),
            None => self.diagnostics.push(error),
        }
    }
}
