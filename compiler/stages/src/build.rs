//! Building pipelines by hand, for tests and tools. Operands are of the types the operation wants;
//! nothing is promoted.

use nbcc_base::Span;

use crate::{
    BinaryOp, CompareOp, Definition, Directive, DirectiveKind, ElementType, Expr, ExprKind, Func,
    FuncData, Input, InputData, Literal, Pipeline, RDom, RDomData, Schedule, Update,
};

/// A pipeline under construction.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// What is built so far.
    pub pipeline: Pipeline,
}

impl Build {
    /// An empty pipeline.
    pub fn new() -> Build {
        Build::default()
    }

    /// A declared input of floats.
    pub fn input(&mut self, name: &str, dims: u32) -> Input {
        self.typed_input(name, ElementType::F32, dims)
    }

    /// A declared input.
    pub fn typed_input(&mut self, name: &str, ty: ElementType, dims: u32) -> Input {
        self.pipeline.inputs.push(InputData {
            name: name.to_string(),
            ty,
            dims,
            repeat_edge: false,
            estimates: Vec::new(),
            fixed: Vec::new(),
            span: Span::default(),
        })
    }

    /// An expression.
    pub fn expr(&mut self, kind: ExprKind, ty: ElementType) -> Expr {
        self.pipeline.expr(kind, ty, Span::default())
    }

    /// An `I32` literal.
    pub fn int(&mut self, value: i32) -> Expr {
        self.expr(ExprKind::Literal(Literal::Int(value.into())), ElementType::I32)
    }

    /// A float literal.
    pub fn float(&mut self, value: f32) -> Expr {
        self.expr(ExprKind::Literal(Literal::float(value)), ElementType::F32)
    }

    /// A dimension of the Func being defined.
    pub fn dim(&mut self, n: u32) -> Expr {
        self.expr(ExprKind::Dim(n), ElementType::I32)
    }

    /// A variable of a reduction domain.
    pub fn rvar(&mut self, rdom: RDom, n: u32) -> Expr {
        self.expr(ExprKind::RVar(rdom, n), ElementType::I32)
    }

    /// An element of an input.
    pub fn load(&mut self, input: Input, at: &[Expr]) -> Expr {
        let ty = self.pipeline.inputs[input].ty;
        self.expr(ExprKind::Load(input, at.to_vec()), ty)
    }

    /// The first value of a Func.
    pub fn call(&mut self, func: Func, at: &[Expr]) -> Expr {
        self.call_value(func, 0, at)
    }

    /// A value of a Func's tuple.
    pub fn call_value(&mut self, func: Func, k: u32, at: &[Expr]) -> Expr {
        let ty = self.pipeline.funcs[func].types[k as usize];
        self.expr(ExprKind::Call(func, k, at.to_vec()), ty)
    }

    /// An operation, of the type of its first operand.
    pub fn binary(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let ty = self.pipeline.ty(a);
        self.expr(ExprKind::Binary(op, a, b), ty)
    }

    /// A sum.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(BinaryOp::Add, a, b)
    }

    /// A product.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// `max(min(a, high), low)` of an `I32`.
    pub fn clamp(&mut self, a: Expr, low: i32, high: i32) -> Expr {
        let (low, high) = (self.int(low), self.int(high));
        let most = self.binary(BinaryOp::Min, a, high);
        self.binary(BinaryOp::Max, most, low)
    }

    /// A comparison.
    pub fn compare(&mut self, op: CompareOp, a: Expr, b: Expr) -> Expr {
        self.expr(ExprKind::Compare(op, a, b), ElementType::Bool)
    }

    /// A conversion.
    pub fn cast(&mut self, ty: ElementType, a: Expr) -> Expr {
        self.expr(ExprKind::Cast(a), ty)
    }

    /// A reduction domain of constant bounds.
    pub fn rdom(&mut self, name: &str, dims: &[(i32, i32)]) -> RDom {
        let dims = dims.iter().map(|&(min, extent)| (self.int(min), self.int(extent))).collect();
        self.pipeline.rdoms.push(RDomData {
            name: name.to_string(),
            dims,
            predicates: Vec::new(),
            span: Span::default(),
        })
    }

    /// A Func of one value.
    pub fn func(&mut self, name: &str, vars: &[&str], value: Expr) -> Func {
        self.tuple(name, vars, &[value])
    }

    /// A Func of a tuple.
    pub fn tuple(&mut self, name: &str, vars: &[&str], values: &[Expr]) -> Func {
        self.pipeline.funcs.push(FuncData {
            name: name.to_string(),
            vars: vars.iter().map(|v| v.to_string()).collect(),
            types: values.iter().map(|&v| self.pipeline.ty(v)).collect(),
            pure: Some(Definition { values: values.to_vec(), span: Span::default() }),
            updates: Vec::new(),
            schedule: Schedule::default(),
            span: Span::default(),
        })
    }

    /// A further update of a Func.
    pub fn update(&mut self, func: Func, args: &[Expr], values: &[Expr], rdom: Option<RDom>) {
        self.pipeline.funcs[func].updates.push(Update {
            args: args.to_vec(),
            values: values.to_vec(),
            rdom,
            schedule: Schedule::default(),
            span: Span::default(),
        });
    }

    /// A further directive of a Func.
    pub fn directive(&mut self, func: Func, kind: DirectiveKind) {
        let directive = Directive { kind, span: Span::default() };
        self.pipeline.funcs[func].schedule.directives.push(directive);
    }
}
