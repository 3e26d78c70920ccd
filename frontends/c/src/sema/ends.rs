//! Whether a way leads to the end of a function's body (C11, 6.9.1), as far as constant conditions tell.

use super::tree::{Expr, ExprKind, Stmt, StmtKind};

/// Where control goes from a statement.
#[derive(Clone, Copy, Default)]
struct Ways {
    /// To what stands behind it.
    on: bool,
    /// By a `break` to the end of what is around it.
    breaks: bool,
    /// By a `continue` to the next round of the loop around it.
    continues: bool,
}

impl Ways {
    fn or(self, other: Ways) -> Ways {
        Ways {
            on: self.on || other.on,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
        }
    }
}

const ON: Ways = Ways { on: true, breaks: false, continues: false };

/// Whether control may come to the end of a list of statements.
pub(super) fn reaches_end(list: &[Stmt]) -> bool {
    ways_of(list).on
}

fn ways_of(list: &[Stmt]) -> Ways {
    let mut all = ON;
    for stmt in list {
        // What is not reached may have labels within, by which it is entered.
        let next = ways(stmt);
        if all.on || has_label(stmt) {
            all = Ways { on: false, ..all }.or(next);
        }
    }
    all
}

fn ways(stmt: &Stmt) -> Ways {
    match &stmt.kind {
        StmtKind::Expr(expr) => Ways { on: !is_end(expr), ..Ways::default() },
        StmtKind::Local(..) => ON,
        StmtKind::Return(_) => Ways::default(),
        StmtKind::Break => Ways { breaks: true, ..Ways::default() },
        StmtKind::Continue => Ways { continues: true, ..Ways::default() },
        StmtKind::Block(list) => ways_of(list),
        StmtKind::Label(_, inner) => ways(inner),
        StmtKind::If(condition, then, other) => {
            let other = || other.as_ref().map_or(ON, |other| ways(other));
            let has_labels = has_label(stmt);
            match known(condition).filter(|_| !has_labels) {
                Some(true) => ways(then),
                Some(false) => other(),
                None => ways(then).or(other()),
            }
        }
        StmtKind::Switch(_, _, default, body) => {
            let body = ways(body);
            Ways { on: body.on || body.breaks || default.is_none(), breaks: false, ..body }
        }
        StmtKind::Loop(data) => {
            let body = ways(&data.body);
            let is_endless = data.condition.as_ref().is_none_or(|c| known(c) == Some(true));
            let is_tested = !data.body_first || body.on || body.continues;
            Ways { on: !is_endless && is_tested || body.breaks, ..Ways::default() }
        }
    }
}

/// What a condition is known to be.
pub(super) fn known(condition: &Expr) -> Option<bool> {
    match condition.kind {
        ExprKind::Const(value) => Some(value != 0),
        _ => None,
    }
}

/// Whether an expression always ends the run.
fn is_end(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::AssertFail(_) => true,
        ExprKind::Comma(a, b) => is_end(a) || is_end(b),
        ExprKind::Cond(condition, a, b) => match known(condition) {
            Some(true) => is_end(a),
            Some(false) => is_end(b),
            None => is_end(condition) || is_end(a) && is_end(b),
        },
        _ => false,
    }
}

fn has_label(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Label(..) => true,
        StmtKind::Block(list) => list.iter().any(has_label),
        StmtKind::If(_, then, other) => {
            has_label(then) || other.as_ref().is_some_and(|other| has_label(other))
        }
        // Labels in the body of a switch are its own.
        StmtKind::Loop(data) => has_label(&data.body),
        _ => false,
    }
}
