//! Visiting expressions without recursion: operands precede their users in the arena, so the
//! order of the arena is an order of evaluation.

use std::cell::Cell;
use std::collections::BTreeMap;

use cranelift_entity::EntityRef;
use nbcc_base::Span;

use crate::{Expr, ExprKind, Func, Pipeline, Update};

impl ExprKind {
    /// Calls `visit` with each operand, in order.
    pub fn each_operand(&self, mut visit: impl FnMut(Expr)) {
        match self {
            ExprKind::Literal(_)
            | ExprKind::Dim(_)
            | ExprKind::RVar(..)
            | ExprKind::Param(_)
            | ExprKind::InputExtent(..) => {}
            ExprKind::Load(_, args) | ExprKind::Call(_, _, args) | ExprKind::Intrinsic(_, args) => {
                args.iter().copied().for_each(visit)
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Reinterpret(a) => visit(*a),
            ExprKind::Binary(_, a, b) | ExprKind::Compare(_, a, b) => {
                visit(*a);
                visit(*b);
            }
            ExprKind::Select(a, b, c) => {
                visit(*a);
                visit(*b);
                visit(*c);
            }
        }
    }

    /// The same with each operand replaced.
    pub fn map_operands(&self, mut map: impl FnMut(Expr) -> Expr) -> ExprKind {
        let mut all = |args: &Vec<Expr>| args.iter().map(|&a| map(a)).collect::<Vec<_>>();
        match self {
            ExprKind::Literal(_)
            | ExprKind::Dim(_)
            | ExprKind::RVar(..)
            | ExprKind::Param(_)
            | ExprKind::InputExtent(..) => self.clone(),
            ExprKind::Load(input, args) => ExprKind::Load(*input, all(args)),
            ExprKind::Call(func, k, args) => ExprKind::Call(*func, *k, all(args)),
            ExprKind::Intrinsic(op, args) => ExprKind::Intrinsic(*op, all(args)),
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, map(*a)),
            ExprKind::Cast(a) => ExprKind::Cast(map(*a)),
            ExprKind::Reinterpret(a) => ExprKind::Reinterpret(map(*a)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, map(*a), map(*b)),
            ExprKind::Compare(op, a, b) => ExprKind::Compare(*op, map(*a), map(*b)),
            ExprKind::Select(a, b, c) => ExprKind::Select(map(*a), map(*b), map(*c)),
        }
    }
}

impl Pipeline {
    /// Copies of expressions and of all that they consist of, by what they are copies of: each is what
    /// `change` makes of it, its operands done in the kind that it is given.
    pub fn rewritten(
        &mut self,
        roots: impl IntoIterator<Item = Expr>,
        mut change: impl FnMut(&mut Pipeline, Expr, ExprKind, Span) -> ExprKind,
    ) -> BTreeMap<Expr, Expr> {
        let mut new: BTreeMap<Expr, Expr> = BTreeMap::new();
        for expr in Walker::once(self, roots) {
            let data = self.exprs[expr].clone();
            let kind = data.kind.map_operands(|operand| new[&operand]);
            let kind = change(self, expr, kind, data.span);
            new.insert(expr, self.expr(kind, data.ty, data.span));
        }
        new
    }

    /// Replaces what Funcs evaluate, and the conditions of all domains, by what [`Pipeline::rewritten`]
    /// makes of it.
    pub fn rewrite(
        &mut self,
        funcs: &[Func],
        change: impl FnMut(&mut Pipeline, Expr, ExprKind, Span) -> ExprKind,
    ) {
        let roots: Vec<Expr> = funcs.iter().flat_map(|&func| self.func_roots(func)).collect();
        let new = self.rewritten(roots, change);
        let rename = |e: &mut Expr| *e = new.get(e).copied().unwrap_or(*e);
        for data in self.funcs.values_mut() {
            data.pure.iter_mut().flat_map(|pure| &mut pure.values).for_each(rename);
            let updates = data.updates.iter_mut();
            updates.flat_map(|u| u.args.iter_mut().chain(&mut u.values)).for_each(rename);
        }
        self.rdoms.values_mut().flat_map(|rdom| &mut rdom.predicates).for_each(rename);
    }
}

/// Collects what is reachable from expressions; one walker serves many collections, so that each
/// costs time in what it finds and not in the size of the arena.
#[derive(Clone, Debug, Default)]
pub struct Walker {
    seen: Vec<u32>,
    round: u32,
    stack: Vec<Expr>,
}

thread_local! {
    static KEPT: Cell<Walker> = Cell::default();
}

impl Walker {
    /// As [`Walker::reachable`], by a walker that the thread keeps for who collects once.
    pub fn once(pipeline: &Pipeline, roots: impl IntoIterator<Item = Expr>) -> Vec<Expr> {
        let mut walker = KEPT.take();
        let found = walker.reachable(pipeline, roots);
        KEPT.set(walker);
        found
    }

    /// Everything reachable from `roots`, themselves included, operands before users.
    pub fn reachable(
        &mut self,
        pipeline: &Pipeline,
        roots: impl IntoIterator<Item = Expr>,
    ) -> Vec<Expr> {
        if self.seen.len() < pipeline.exprs.len() {
            self.seen.resize(pipeline.exprs.len(), 0);
        }
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.seen.fill(0);
            self.round = 1;
        }
        let mut found = Vec::new();
        self.stack.clear();
        self.stack.extend(roots);
        while let Some(expr) = self.stack.pop() {
            if std::mem::replace(&mut self.seen[expr.index()], self.round) == self.round {
                continue;
            }
            found.push(expr);
            pipeline.exprs[expr].kind.each_operand(|operand| self.stack.push(operand));
        }
        found.sort_unstable();
        found
    }
}

impl Update {
    /// Everything this update evaluates: coordinates, values and the conditions of its domain.
    pub fn roots<'a>(&'a self, pipeline: &'a Pipeline) -> impl Iterator<Item = Expr> + 'a {
        let predicates = self.rdom.map_or(&[][..], |r| &pipeline.rdoms[r].predicates);
        self.args.iter().chain(&self.values).chain(predicates).copied()
    }

    /// Whether coordinate `d` of the left side is the pure dimension of that position.
    pub fn is_pure_dim(&self, pipeline: &Pipeline, d: usize) -> bool {
        pipeline.exprs[self.args[d]].kind == ExprKind::Dim(d as u32)
    }
}

impl Pipeline {
    /// What every stage of a Func evaluates: the pure definition's values, then each update's
    /// coordinates, values and conditions.
    pub fn func_roots(&self, func: Func) -> Vec<Expr> {
        let data = &self.funcs[func];
        let pure = data.pure.iter().flat_map(|d| d.values.iter().copied());
        pure.chain(data.updates.iter().flat_map(|u| u.roots(self))).collect()
    }
}
