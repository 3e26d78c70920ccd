//! What the grammar's actions call: spans, names, the order of binary operators.

use std::collections::HashMap;

use cranelift_entity::EntityRef;
use nbcc_base::{SourceId, Span};

use crate::syntax::ast::{
    Ast, Class, DeclKind, Declaration, Declarator, ExprId, ExprKind, ForHead, Function, Ident,
    Lambda, Names, Op, Parameter, RangeHead, StmtId, StmtKind, Symbol, TypeName, TypeWord,
};

/// The tree under construction.
pub(crate) struct Builder<'a> {
    pub(crate) source: SourceId,
    pub(crate) text: &'a str,
    pub(crate) ast: Ast,
    pub(crate) names: Names,
    /// The parameters of templates, by the first byte of what follows them.
    pub(crate) templates: HashMap<u32, Vec<(u32, u32)>>,
    /// Where the last complete item ends, and the nodes that there are up to it.
    pub(crate) end: u32,
    nodes: (usize, usize),
}

impl<'a> Builder<'a> {
    pub(crate) fn new(source: SourceId, text: &'a str) -> Builder<'a> {
        Builder {
            source,
            text,
            ast: Ast::default(),
            names: Names::default(),
            templates: HashMap::new(),
            end: 0,
            nodes: (0, 0),
        }
    }

    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        Span { source: self.source, start, end }
    }

    pub(crate) fn ident(&mut self, start: u32, end: u32) -> Ident {
        let text = self.text;
        let name = self.names.intern(&text[start as usize..end as usize]);
        Ident { name, span: self.span(start, end) }
    }

    pub(crate) fn expr(&mut self, kind: ExprKind, start: u32, end: u32) -> ExprId {
        self.ast.expr(kind, self.span(start, end))
    }

    pub(crate) fn stmt(&mut self, kind: StmtKind, start: u32, end: u32) -> StmtId {
        self.ast.stmt(kind, self.span(start, end))
    }

    /// Records a complete item.
    pub(crate) fn item(&mut self, item: StmtId, end: u32) {
        self.end = end;
        self.nodes = (self.ast.exprs.len(), self.ast.stmts.len());
        if !matches!(self.ast.stmts[item].kind, StmtKind::Empty) {
            self.ast.items.push(item);
        }
    }

    /// Gives up the item that is read: its nodes belong to nothing.
    pub(crate) fn abandon(&mut self) {
        let (exprs, stmts) = (self.ast.exprs.len(), self.ast.stmts.len());
        for k in self.nodes.0..exprs {
            self.ast.exprs[ExprId::new(k)].kind = ExprKind::Bool(false);
        }
        for k in self.nodes.1..stmts {
            self.ast.stmts[StmtId::new(k)].kind = StmtKind::Empty;
        }
        self.nodes = (exprs, stmts);
    }

    pub(crate) fn declaration(
        &mut self,
        is_const: bool,
        kind: DeclKind,
        reference: Option<Span>,
        declarators: Vec<Declarator>,
        start: u32,
        end: u32,
    ) -> StmtId {
        let declaration = Declaration { is_const, kind, reference, declarators };
        self.stmt(StmtKind::Decl(Box::new(declaration)), start, end)
    }

    pub(crate) fn for_loop(&mut self, head: ForHead, body: StmtId, start: u32, end: u32) -> StmtId {
        self.stmt(StmtKind::For(Box::new(head), body), start, end)
    }

    pub(crate) fn for_each(
        &mut self,
        head: RangeHead,
        body: StmtId,
        start: u32,
        end: u32,
    ) -> StmtId {
        self.stmt(StmtKind::ForEach(Box::new(head), body), start, end)
    }

    pub(crate) fn class(
        &mut self,
        name: Ident,
        base: Option<Ident>,
        members: Vec<StmtId>,
        start: u32,
        end: u32,
    ) -> StmtId {
        let class = Class { name, base, members: members.into() };
        self.stmt(StmtKind::Class(Box::new(class)), start, end)
    }

    /// A call of `callee<T>(args)`: the types are the first arguments.
    pub(crate) fn call_with_types(
        &mut self,
        callee: ExprId,
        types: Vec<ExprId>,
        args: Vec<ExprId>,
        start: u32,
        end: u32,
    ) -> ExprId {
        let args: Vec<ExprId> = types.into_iter().chain(args).collect();
        self.expr(ExprKind::Call(callee, args.into()), start, end)
    }

    pub(crate) fn function(
        &mut self,
        result: DeclKind,
        name: Ident,
        parameters: Vec<Parameter>,
        body: StmtId,
        start: u32,
        end: u32,
    ) -> StmtId {
        let types = self.templates.get(&start).cloned().unwrap_or_default();
        let types = types.into_iter().map(|(from, to)| self.ident(from, to)).collect();
        let function = Function { result, name, types, parameters, body };
        self.stmt(StmtKind::Function(Box::new(function)), start, end)
    }

    /// `[captures](parameters) { ... }`.
    pub(crate) fn lambda(
        &mut self,
        (by_value, references): (bool, Vec<Symbol>),
        parameters: Vec<Parameter>,
        result: Option<TypeName>,
        body: StmtId,
        (start, end): (u32, u32),
    ) -> ExprId {
        let span = self.span(start, end);
        let result = result.unwrap_or(TypeName { word: TypeWord::Auto, span });
        let name = Ident { name: self.names.intern("lambda"), span };
        let result = DeclKind::Plain(result);
        let function = Function { result, name, types: Vec::new(), parameters, body };
        self.expr(ExprKind::Lambda(Box::new(Lambda { by_value, references, function })), start, end)
    }

    /// `Input<T[n]> name;`: each name is an array.
    pub(crate) fn array_declaration(
        &mut self,
        (kind, length): (DeclKind, Option<ExprId>),
        mut declarators: Vec<Declarator>,
        start: u32,
        end: u32,
    ) -> StmtId {
        for declarator in &mut declarators {
            declarator.lengths.insert(0, length);
        }
        self.declaration(false, kind, None, declarators, start, end)
    }

    /// A chain of operands and operators as a tree, by Dijkstra's shunting-yard algorithm. Each
    /// part of the chain is an operator with its span and the operand after it.
    pub(crate) fn binary(&mut self, first: ExprId, rest: Vec<(Op, u32, u32, ExprId)>) -> ExprId {
        let mut operands = vec![first];
        let mut operators: Vec<(Op, Span)> = Vec::new();
        for (op, start, end, operand) in rest {
            while operators.last().is_some_and(|(top, _)| top.precedence() >= op.precedence()) {
                self.reduce(&mut operands, &mut operators);
            }
            operators.push((op, self.span(start, end)));
            operands.push(operand);
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators);
        }
        operands.pop().expect("one operand is left")
    }

    fn reduce(&mut self, operands: &mut Vec<ExprId>, operators: &mut Vec<(Op, Span)>) {
        let (op, at) = operators.pop().expect("an operator is waiting");
        let right = operands.pop().expect("it has a right operand");
        let left = operands.pop().expect("it has a left operand");
        let span = self.ast.exprs[left].span.to(self.ast.exprs[right].span);
        operands.push(self.ast.expr(ExprKind::Binary(op, at, left, right), span));
    }
}
