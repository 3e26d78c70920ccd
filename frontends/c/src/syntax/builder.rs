//! What the grammar's actions call: spans, depths, the order of binary operators, and what the
//! lexer is to know of names.

use std::cell::RefCell;

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Span};

use crate::codes;
use crate::literal;
use crate::names::{Name, Names};
use crate::syntax::ast::{
    Declarator, Expr, ExprKind, Ident, Init, Item, Loop, Op, ParamDecl, SpecItem, Specs, Stmt,
    StmtKind, Storage,
};
use crate::syntax::scopes::Scopes;

/// Levels of expressions and statements: long sums and chains of `else if` are this deep, too, so
/// it is more than what people nest.
const MAX_DEPTH: u32 = 4096;

/// The tree under construction.
pub(crate) struct Builder<'a> {
    /// The spans of the tokens.
    spans: &'a [Span],
    names: &'a Names,
    scopes: &'a RefCell<Scopes>,
    diagnostics: &'a mut Diagnostics,
    pub(crate) items: Vec<Item>,
    /// The `_Static_assert`s within structures.
    pub(crate) asserts: Vec<(Expr, Vec<u8>, Span)>,
    /// The token behind the last item.
    pub(crate) end: u32,
    in_typedef: bool,
    too_deep: bool,
    /// What was said of the item that is read, which is read again if it has syntax errors.
    said: Vec<Diagnostic>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        spans: &'a [Span],
        names: &'a Names,
        scopes: &'a RefCell<Scopes>,
        diagnostics: &'a mut Diagnostics,
    ) -> Builder<'a> {
        Builder {
            spans,
            names,
            scopes,
            diagnostics,
            items: Vec::new(),
            asserts: Vec::new(),
            end: 0,
            in_typedef: false,
            too_deep: false,
            said: Vec::new(),
        }
    }

    /// The text of some tokens.
    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        let last = end.max(start + 1) as usize - 1;
        let of = |at: usize| self.spans.get(at).or(self.spans.last()).copied().unwrap_or_default();
        of(start as usize).to(of(last))
    }

    fn refuse(&mut self, code: &'static CodeInfo, span: Span, message: &str, help: &str) {
        let error = Diagnostic::error(code, message).at(span, "not supported").help(help);
        self.said.push(error);
    }

    pub(crate) fn expr(&mut self, kind: ExprKind, start: u32, end: u32) -> Expr {
        let span = self.span(start, end);
        self.expr_at(kind, span)
    }

    fn expr_at(&mut self, kind: ExprKind, span: Span) -> Expr {
        let depth = |e: &Expr| e.depth;
        let below = match &kind {
            ExprKind::Unary(_, a)
            | ExprKind::Step { place: a, .. }
            | ExprKind::Member(a, _)
            | ExprKind::Arrow(a, _)
            | ExprKind::Cast(_, a)
            | ExprKind::SizeofExpr(a) => depth(a),
            ExprKind::Binary(_, _, a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Index(a, b) => depth(a).max(depth(b)),
            ExprKind::Cond(a, b, c) => depth(a).max(depth(b)).max(depth(c)),
            ExprKind::Call(a, args) => args.iter().map(depth).max().unwrap_or(0).max(depth(a)),
            _ => 0,
        };
        if below >= MAX_DEPTH {
            self.report_depth(span);
            return Expr { kind: ExprKind::Bad, span, depth: 1 };
        }
        Expr { kind, span, depth: below + 1 }
    }

    fn report_depth(&mut self, span: Span) {
        if !self.too_deep {
            self.too_deep = true;
            let error = Diagnostic::error(&codes::LIMIT, "this is nested too deep");
            let error = error.at(span, format!("more than {MAX_DEPTH} levels"));
            self.said.push(error.help("take it apart: use variables, functions and loops"));
        }
    }

    pub(crate) fn stmt(&mut self, kind: StmtKind, start: u32, end: u32) -> Stmt {
        let span = self.span(start, end);
        let below = match &kind {
            StmtKind::If(_, then, other) => {
                then.depth.max(other.as_ref().map_or(0, |other| other.depth))
            }
            StmtKind::Loop(data) => data.body.depth,
            StmtKind::Switch(_, s)
            | StmtKind::Case(_, s)
            | StmtKind::Default(s)
            | StmtKind::Pragma(_, _, s) => s.depth,
            StmtKind::Block(list) => list.iter().map(|s| s.depth).max().unwrap_or(0),
            _ => 0,
        };
        if below >= MAX_DEPTH {
            self.report_depth(span);
            return Stmt { kind: StmtKind::Empty, span, depth: 1 };
        }
        Stmt { kind, span, depth: below + 1 }
    }

    pub(crate) fn while_loop(
        &mut self,
        condition: Expr,
        body: Stmt,
        body_first: bool,
        start: u32,
        end: u32,
    ) -> Stmt {
        let condition = Some(condition);
        let data = Loop { init: None, condition, step: None, body, body_first };
        self.stmt(StmtKind::Loop(Box::new(data)), start, end)
    }

    pub(crate) fn block(&mut self, list: Vec<Stmt>, start: u32, end: u32) -> Stmt {
        self.stmt(StmtKind::Block(list), start, end)
    }

    pub(crate) fn expr_stmt(&mut self, expr: Option<Expr>, start: u32, end: u32) -> Stmt {
        self.stmt(expr.map_or(StmtKind::Empty, StmtKind::Expr), start, end)
    }

    pub(crate) fn if_else(
        &mut self,
        condition: Expr,
        then: Stmt,
        other: Option<Stmt>,
        start: u32,
        end: u32,
    ) -> Stmt {
        self.stmt(StmtKind::If(condition, Box::new(then), other.map(Box::new)), start, end)
    }

    /// A chain of operands and operators as a tree, by Dijkstra's shunting-yard algorithm. Each
    /// part of the chain is an operator with its token and the operand after it.
    pub(crate) fn binary(&mut self, first: Expr, rest: Vec<(Op, u32, Expr)>) -> Expr {
        if rest.is_empty() {
            return first;
        }
        let mut operands = vec![first];
        let mut operators: Vec<(Op, u32)> = Vec::new();
        for (op, at, operand) in rest {
            while operators.last().is_some_and(|(top, _)| top.precedence() >= op.precedence()) {
                self.reduce(&mut operands, &mut operators);
            }
            operators.push((op, at));
            operands.push(operand);
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators);
        }
        operands.pop().expect("one operand is left")
    }

    fn reduce(&mut self, operands: &mut Vec<Expr>, operators: &mut Vec<(Op, u32)>) {
        let (op, at) = operators.pop().expect("an operator is waiting");
        let right = operands.pop().expect("it has a right operand");
        let left = operands.pop().expect("it has a left operand");
        let span = left.span.to(right.span);
        let at = self.span(at, at + 1);
        let kind = ExprKind::Binary(op, at, Box::new(left), Box::new(right));
        let expr = self.expr_at(kind, span);
        operands.push(expr);
    }

    /// The bytes of texts that stand one behind the other.
    pub(crate) fn bytes(&self, texts: &[Name]) -> Vec<u8> {
        let text = |&name: &Name| literal::text(self.names.text(name)).unwrap_or_default();
        texts.iter().flat_map(text).collect()
    }

    pub(crate) fn decl_specs(&mut self, specs: Specs) -> Specs {
        let is = |(item, _): &(SpecItem, Span)| matches!(item, SpecItem::Storage(Storage::Typedef));
        self.in_typedef = specs.items.iter().any(is);
        specs
    }

    /// A declarator is complete: from here on its name means what it declares.
    pub(crate) fn declared(&mut self, declarator: Declarator) -> Declarator {
        if let Some(Ident { name, .. }) = declarator.name {
            self.scopes.borrow_mut().declare(name, self.in_typedef);
        }
        declarator
    }

    pub(crate) fn declare(&mut self, name: Ident) {
        self.scopes.borrow_mut().declare(name.name, false);
    }

    /// What a `for` declares belongs to it.
    pub(crate) fn open_scope(&mut self) {
        self.scopes.borrow_mut().open();
    }

    pub(crate) fn close_scope(&mut self) {
        self.scopes.borrow_mut().close();
    }

    pub(crate) fn param(
        &mut self,
        specs: Specs,
        declarator: Declarator,
        start: u32,
        end: u32,
    ) -> ParamDecl {
        if let Some(Ident { name, .. }) = declarator.name {
            self.scopes.borrow_mut().declare_param(name);
        }
        ParamDecl { specs, declarator, span: self.span(start, end) }
    }

    pub(crate) fn bit_field(&mut self, start: u32, end: u32) {
        let span = self.span(start, end);
        let help = "give it a type of its own, or use shifts and masks";
        self.refuse(&codes::BIT_FIELD, span, "bit-fields are not supported", help);
    }

    /// Refuses what other compilers have beyond C.
    pub(crate) fn extension(&mut self, what: &str, help: &str, start: u32, end: u32) {
        let span = self.span(start, end);
        self.refuse(&codes::EXTENSION, span, &format!("{what} not supported"), help);
    }

    pub(crate) fn label(&mut self, name: Ident) {
        if nbcc_base::nearest(self.names.text(name.name), ["default"]).is_some() {
            let text = self.names.text(name.name);
            let message = format!("`{text}` is no word of the language");
            let error = Diagnostic::error(&codes::SYNTAX, message).at(name.span, "a label");
            let error = error.help("did you mean `default`?");
            return self.said.push(error);
        }
        let help = "use loops with `break` and `continue`, or a function that returns";
        self.refuse(&codes::GOTO, name.span, "labels are not supported", help);
    }

    pub(crate) fn function(
        &mut self,
        specs: Specs,
        declarator: Declarator,
        body: Stmt,
        start: u32,
        end: u32,
    ) {
        let span = declarator.name.map_or_else(|| self.span(start, end), |name| name.span);
        self.item(Item::Function { specs, declarator, body, span }, end);
    }

    /// Records a complete item.
    pub(crate) fn item(&mut self, item: Item, end: u32) {
        self.ends(end);
        for (condition, text, span) in self.asserts.drain(..) {
            self.items.push(Item::StaticAssert(condition, text, span));
        }
        self.items.push(item);
    }

    pub(crate) fn empty(&mut self, end: u32) {
        self.ends(end);
    }

    /// An item ends without syntax errors.
    fn ends(&mut self, end: u32) {
        self.end = end;
        for said in self.said.drain(..) {
            self.diagnostics.push(said);
        }
    }

    pub(crate) fn stray_pragma(&mut self, start: u32, end: u32) {
        let span = self.span(start, end);
        let error = Diagnostic::error(&codes::PRAGMA, "`#pragma nbcc` stands before no loop");
        self.said.push(error.at(span, "not here").help("write it before `for`, `while` or `do`"));
        self.ends(end);
    }
}

impl Init {
    /// Where it stands.
    pub(crate) fn span(&self) -> Span {
        match self {
            Init::Expr(expr) => expr.span,
            Init::List(_, span) => *span,
        }
    }
}
