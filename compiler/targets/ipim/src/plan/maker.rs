//! Makes expressions, Funcs and updates of a pipeline that is planned otherwise than it is written.

use nbcc_base::Span;
use nbcc_stages::{
    BinaryOp, CompareOp, Definition, ElementType, Expr, ExprKind, Func, FuncData, Literal,
    Pipeline, RDom, RDomData, Schedule, Simplifier, Update, Walker,
};

/// Makes what a pipeline consists of.
pub(super) struct Maker<'a> {
    pub(super) pipeline: &'a mut Pipeline,
    pub(super) simplifier: Simplifier,
    pub(super) span: Span,
}

impl Maker<'_> {
    pub(super) fn make(&mut self, kind: ExprKind, ty: ElementType) -> Expr {
        self.simplifier.make(self.pipeline, kind, ty, self.span)
    }

    pub(super) fn number(&mut self, value: i64) -> Expr {
        self.make(ExprKind::Literal(Literal::Int(value)), ElementType::I32)
    }

    pub(super) fn dim(&mut self, d: u32) -> Expr {
        self.make(ExprKind::Dim(d), ElementType::I32)
    }

    pub(super) fn int(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        self.make(ExprKind::Binary(op, a, b), ElementType::I32)
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Expr, b: Expr) -> Expr {
        self.make(ExprKind::Compare(op, a, b), ElementType::Bool)
    }

    /// `factor * expr + offset`.
    pub(super) fn scaled(&mut self, expr: Expr, factor: i64, offset: i64) -> Expr {
        let [factor, offset] = [factor, offset].map(|n| self.number(n));
        let product = self.int(BinaryOp::Mul, expr, factor);
        self.int(BinaryOp::Add, product, offset)
    }

    /// An expression with others in place of some that it consists of.
    pub(super) fn substituted(
        &mut self,
        root: Expr,
        instead: impl Fn(&ExprKind) -> Option<Expr>,
    ) -> Expr {
        let mut new = std::collections::BTreeMap::new();
        for expr in Walker::once(self.pipeline, [root]) {
            let data = self.pipeline.exprs[expr].clone();
            let made = instead(&data.kind).unwrap_or_else(|| {
                let kind = data.kind.map_operands(|operand| new[&operand]);
                self.simplifier.make(self.pipeline, kind, data.ty, data.span)
            });
            new.insert(expr, made);
        }
        new[&root]
    }

    pub(super) fn func(
        &mut self,
        name: String,
        vars: &[&str],
        ty: ElementType,
        value: Expr,
    ) -> Func {
        self.pipeline.funcs.push(FuncData {
            name,
            vars: vars.iter().map(ToString::to_string).collect(),
            types: vec![ty],
            pure: Some(Definition { values: vec![value], span: self.span }),
            updates: vec![],
            schedule: Schedule::default(),
            span: self.span,
        })
    }

    pub(super) fn rdom(&mut self, name: String, min: i64, extent: i64) -> RDom {
        let dims = vec![(self.number(min), self.number(extent))];
        self.pipeline.rdoms.push(RDomData { name, dims, predicates: vec![], span: self.span })
    }

    pub(super) fn update(&mut self, func: Func, args: Vec<Expr>, value: Expr, rdom: RDom) {
        let (rdom, span) = (Some(rdom), self.span);
        let schedule = Schedule::default();
        self.pipeline.funcs[func].updates.push(Update {
            args,
            values: vec![value],
            rdom,
            schedule,
            span,
        });
    }
}
