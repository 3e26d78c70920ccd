//! What a stage reads.

use nbcc_stages::{Expr, ExprKind, Func, Input, Pipeline, Walker};

use super::Stage;

/// An image that is read: an input or a Func.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// An input.
    Input(Input),
    /// A Func.
    Func(Func),
}

/// One access in a stage.
#[derive(Clone, Debug)]
pub struct Access {
    /// The expression: a load of an input or a call of a Func.
    pub expr: Expr,
    /// What is read.
    pub source: Source,
    /// Which value of a Func's tuple.
    pub value: u32,
    /// Coordinates.
    pub args: Vec<Expr>,
}

/// Everything that a stage evaluates at each of its points.
pub fn stage_roots(pipeline: &Pipeline, func: Func, stage: Stage) -> Vec<Expr> {
    let data = &pipeline.funcs[func];
    match stage {
        Stage::Pure => data.pure.iter().flat_map(|d| d.values.iter().copied()).collect(),
        Stage::Update(k) => data.updates[k].roots(pipeline).collect(),
    }
}

/// What a stage reads, in the order of the arena.
pub fn accesses(pipeline: &Pipeline, func: Func, stage: Stage) -> Vec<Access> {
    accesses_of(pipeline, stage_roots(pipeline, func, stage))
}

/// What expressions read, in the order of the arena.
pub fn accesses_of(pipeline: &Pipeline, roots: impl IntoIterator<Item = Expr>) -> Vec<Access> {
    let reachable = Walker::default().reachable(pipeline, roots);
    let access = |expr: Expr| {
        let (source, value, args) = match &pipeline.exprs[expr].kind {
            ExprKind::Load(input, args) => (Source::Input(*input), 0, args),
            ExprKind::Call(callee, value, args) => (Source::Func(*callee), *value, args),
            _ => return None,
        };
        Some(Access { expr, source, value, args: args.clone() })
    };
    reachable.into_iter().filter_map(access).collect()
}

/// Whether any of the expressions depends on the coordinate along dimension 0.
pub fn varies_along_x(pipeline: &Pipeline, roots: &[Expr]) -> bool {
    let reachable = Walker::default().reachable(pipeline, roots.iter().copied());
    reachable.iter().any(|&e| pipeline.exprs[e].kind == ExprKind::Dim(0))
}
