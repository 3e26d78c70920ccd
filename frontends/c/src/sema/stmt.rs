//! Statements (C11, 6.8).

use nbcc_base::{Diagnostic, Span};

use super::{Scope, Sema, Switch, ends};
use crate::codes;
use crate::names::Name;
use crate::sema::tree::{Arith, Expr, ExprKind, Loop, PlaceKind, Stmt, StmtKind};
use crate::syntax::ast;
use crate::types::Types;

impl Sema<'_> {
    pub(super) fn statements(&mut self, list: Vec<ast::Stmt>, out: &mut Vec<Stmt>) {
        let (mut ended, mut reported) = (false, self.refused.statements);
        let outer = self.unreached;
        self.enter_block(&list);
        for stmt in list {
            let is_entered =
                matches!(stmt.kind, ast::StmtKind::Case(..) | ast::StmtKind::Default(_))
                    || matches!(stmt.kind, ast::StmtKind::Decl(_) | ast::StmtKind::Empty);
            if ended && !is_entered && !has_label(&stmt) && !reported {
                reported = true;
                let note = Diagnostic::note(&codes::UNREACHABLE, "this is never reached");
                let note = note.at(stmt.span, "behind a jump");
                self.diagnostics.push(note.help("remove it, or the jump before it"));
            }
            let jumps = is_jump(&stmt);
            let has_label = has_label(&stmt);
            self.unreached = self.stays_unreached(outer || ended, has_label);
            ended = jumps || ended && !has_label;
            self.statement(stmt, out);
        }
        self.leave_block();
        self.unreached = outer;
    }

    /// A statement that is reached, unless its condition is known not to hold.
    fn block_if(&mut self, holds: bool, stmt: ast::Stmt) -> Stmt {
        let outer = self.unreached;
        self.unreached = self.stays_unreached(outer || !holds, has_label(&stmt));
        let block = self.block(stmt);
        self.unreached = outer;
        block
    }

    fn block(&mut self, stmt: ast::Stmt) -> Stmt {
        let span = stmt.span;
        self.scopes.push(Scope::default());
        let mut list = Vec::new();
        self.statement(stmt, &mut list);
        self.scopes.pop();
        match list.len() {
            1 => list.remove(0),
            _ => Stmt { kind: StmtKind::Block(list), span },
        }
    }

    fn condition(&mut self, expr: &ast::Expr) -> Expr {
        let value = self.expr(expr);
        self.truth(value)
    }

    fn statement(&mut self, stmt: ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let kind = match stmt.kind {
            ast::StmtKind::Empty => return,
            ast::StmtKind::Expr(expr) => StmtKind::Expr(self.expr_or_void(&expr)),
            ast::StmtKind::Block(list) => {
                self.scopes.push(Scope::default());
                let mut inner = Vec::new();
                self.statements(list, &mut inner);
                self.scopes.pop();
                StmtKind::Block(inner)
            }
            ast::StmtKind::If(condition, then, other) => {
                let condition = self.condition(&condition);
                let known = ends::known(&condition);
                let then = Box::new(self.block_if(known != Some(false), *then));
                let other = other.map(|other| Box::new(self.block_if(known != Some(true), *other)));
                StmtKind::If(condition, then, other)
            }
            ast::StmtKind::Loop(data) => StmtKind::Loop(Box::new(self.repeated(*data))),
            ast::StmtKind::Switch(value, body) => self.switch(&value, *body),
            ast::StmtKind::Case(value, inner) => {
                let label = self.case(&value);
                let inner = Box::new(self.block(*inner));
                match label {
                    Some(label) => StmtKind::Label(label, inner),
                    None => inner.kind,
                }
            }
            ast::StmtKind::Default(inner) => {
                let label = self.default(span);
                let inner = Box::new(self.block(*inner));
                match label {
                    Some(label) => StmtKind::Label(label, inner),
                    None => inner.kind,
                }
            }
            ast::StmtKind::Break => {
                if self.current.loops == 0 && self.current.switches.is_empty() {
                    self.misplaced("break", "a loop or switch", "leaves nothing", span);
                    return;
                }
                StmtKind::Break
            }
            ast::StmtKind::Continue => {
                if self.current.loops == 0 {
                    self.misplaced("continue", "a loop", "leaves nothing", span);
                    return;
                }
                StmtKind::Continue
            }
            ast::StmtKind::Return(value) => StmtKind::Return(self.returned(value, span)),
            ast::StmtKind::Decl(declaration) => return self.declaration(declaration, out),
            ast::StmtKind::StaticAssert(condition, text) => {
                return self.static_assert(&condition, &text, span);
            }
            ast::StmtKind::Pragma(text, at, inner) => {
                self.pragma(text, at, &inner);
                return self.statement(*inner, out);
            }
        };
        out.push(Stmt { kind, span });
    }

    fn misplaced(&mut self, word: &str, what: &str, label: &str, span: Span) {
        let message = format!("`{word}` outside of {what}");
        self.error(&codes::MISPLACED, span, message, label, "remove it");
    }

    fn returned(&mut self, value: Option<ast::Expr>, span: Span) -> Option<Expr> {
        let result = self.current.result.unwrap_or(Types::VOID);
        match value {
            None if result != Types::VOID && result != Types::ERROR => {
                let text = self.text(result);
                let message = format!("`return` without a value in a function that gives {text}");
                let help = "write the value behind it";
                self.error(&codes::RETURN, span, message, "no value", help);
                None
            }
            None => None,
            Some(value) => {
                let value = self.expr_or_void(&value);
                self.current.returns_value = true;
                if result == Types::VOID {
                    if value.ty != Types::VOID && value.ty != Types::ERROR {
                        let message = "`return` with a value in a function that gives none";
                        let help = "leave the value out, or give the function a type";
                        self.error(&codes::RETURN, value.span, message, "a value", help);
                    }
                    return Some(value);
                }
                Some(self.assigned(value, result, "the result"))
            }
        }
    }

    fn repeated(&mut self, data: ast::Loop) -> Loop {
        let ast::Loop { init, condition, step, body, body_first } = data;
        let wishes = std::mem::take(&mut self.wishes);
        self.scopes.push(Scope::default());
        let mut before = Vec::new();
        if let Some(init) = init {
            self.statement(init, &mut before);
        }
        let condition = condition.map(|condition| self.condition(&condition));
        let enters = body_first || condition.as_ref().and_then(ends::known) != Some(false);
        let outer = self.unreached;
        self.unreached = self.stays_unreached(outer || !enters, has_label(&body));
        let step = step.map(|step| self.expr_or_void(&step));
        self.unreached = outer;
        let counted = step.as_ref().and_then(counted);
        let writes = |sema: &Self, local: u32| sema.current.locals[local as usize].written;
        let written = counted.map(|(local, _)| writes(self, local));
        let labels = self.labels_of_switch();
        self.current.loops += 1;
        let body = self.block_if(enters, body);
        self.current.loops -= 1;
        let counter = counted.filter(|&(local, _)| Some(writes(self, local)) == written);
        let entered = self.labels_of_switch() != labels;
        self.scopes.pop();
        Loop { init: before, condition, step, body, body_first, counter, entered, wishes }
    }

    fn labels_of_switch(&self) -> usize {
        let switch = self.current.switches.last();
        switch.map_or(0, |switch| switch.cases.len() + usize::from(switch.default.is_some()))
    }

    fn switch(&mut self, value: &ast::Expr, body: ast::Stmt) -> StmtKind {
        let value = self.expr(value);
        let span = value.span;
        let value = match self.promoted(value) {
            Some((value, _)) => value,
            None => {
                let help = "switch on an integer";
                self.error(
                    &codes::TYPE,
                    span,
                    "a switch on what is no integer",
                    "no integer",
                    help,
                );
                self.bad(span)
            }
        };
        let unreached = self.unreached;
        let switch = Switch { ty: Some(value.ty), unreached, ..Switch::default() };
        self.current.switches.push(switch);
        let body = Box::new(self.block(body));
        let switch = self.current.switches.pop().unwrap_or_default();
        let cases = switch.cases.iter().map(|&(value, label, _)| (value, label)).collect();
        StmtKind::Switch(value, cases, switch.default.map(|(label, _)| label), body)
    }

    /// Whether no way leads to a statement that is `skipped` by what is before it: none leads from the
    /// switch around to a label in it either.
    fn stays_unreached(&self, skipped: bool, has_label: bool) -> bool {
        let is_reached = |switch: &Switch| !switch.unreached;
        skipped && !(has_label && self.current.switches.last().is_none_or(is_reached))
    }

    fn new_label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn case(&mut self, value: &ast::Expr) -> Option<u32> {
        let constant = self.constant(value)?;
        let span = value.span;
        let Some(switch) = self.current.switches.last() else {
            self.misplaced("case", "a switch", "is for no value", span);
            return None;
        };
        let int = switch.ty.and_then(|ty| self.types.as_int(ty))?;
        let constant = int.wrap(constant);
        if let Some(&(.., first)) = switch.cases.iter().find(|(known, ..)| *known == constant) {
            let error =
                Diagnostic::error(&codes::CASE, format!("the case {constant} is there twice"));
            let error = error.at(span, "again").and(first, "first here");
            self.diagnostics.push(error.help("remove one of them"));
            return None;
        }
        let label = self.new_label();
        if let Some(switch) = self.current.switches.last_mut() {
            switch.cases.push((constant, label, span));
        }
        Some(label)
    }

    fn default(&mut self, span: Span) -> Option<u32> {
        let Some(switch) = self.current.switches.last() else {
            self.misplaced("default", "a switch", "is for no value", span);
            return None;
        };
        if let Some((_, first)) = switch.default {
            let error = Diagnostic::error(&codes::CASE, "a switch has two defaults");
            let error = error.at(span, "again").and(first, "first here");
            self.diagnostics.push(error.help("remove one of them"));
            return None;
        }
        let label = self.new_label();
        if let Some(switch) = self.current.switches.last_mut() {
            switch.default = Some((label, span));
        }
        Some(label)
    }

    /// `#pragma nbcc ...` before a statement.
    fn pragma(&mut self, text: Name, at: Span, inner: &ast::Stmt) {
        let words = self.name(text).to_string();
        let words: Vec<&str> = words.split(' ').collect();
        let number = |text: &str| text.parse::<u32>().is_ok_and(|n| n > 0);
        let known = match words[..] {
            ["array", "(", unit, ")"] => matches!(unit, "NPEA" | "FPEA" | "SPEA" | "none"),
            ["unroll" | "ii", "(", count, ")"] => number(count),
            _ => false,
        };
        if !known {
            let message = format!("`#pragma nbcc {}` is not known", words.join(" "));
            let help = "there are array(NPEA|FPEA|SPEA|none), unroll(k) and ii(k)";
            self.error(&codes::PRAGMA, at, message, "not known", help);
            return;
        }
        let mut inner = inner;
        while let ast::StmtKind::Pragma(_, _, next) = &inner.kind {
            inner = next;
        }
        if !matches!(inner.kind, ast::StmtKind::Loop(_)) {
            let message = "`#pragma nbcc` stands before no loop";
            let help = "write it before `for`, `while` or `do`";
            self.error(&codes::PRAGMA, inner.span, message, "no loop", help);
            return;
        }
        if let [name, _, value, _] = words[..] {
            self.wishes.push((name.to_string(), value.to_string()));
        }
    }
}

/// The variable that a step counts, and what it adds.
fn counted(step: &Expr) -> Option<(u32, i64)> {
    let ExprKind::Update { place, op, by, .. } = &step.kind else { return None };
    let (PlaceKind::Local(local), ExprKind::Const(by)) = (&place.kind, &by.kind) else {
        return None;
    };
    match op {
        Arith::Add => Some((*local, *by)),
        Arith::Sub => Some((*local, by.wrapping_neg())),
        _ => None,
    }
}

/// Whether a statement is a jump, maybe behind labels.
fn is_jump(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        ast::StmtKind::Return(_) | ast::StmtKind::Break | ast::StmtKind::Continue => true,
        ast::StmtKind::Case(_, inner) | ast::StmtKind::Default(inner) => is_jump(inner),
        _ => false,
    }
}

/// Whether a label of a case stands in a statement.
fn has_label(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        ast::StmtKind::Case(..) | ast::StmtKind::Default(_) => true,
        ast::StmtKind::Block(list) => list.iter().any(has_label),
        ast::StmtKind::If(_, then, other) => {
            has_label(then) || other.as_ref().is_some_and(|other| has_label(other))
        }
        ast::StmtKind::Loop(data) => has_label(&data.body),
        ast::StmtKind::Pragma(_, _, body) => has_label(body),
        _ => false,
    }
}
