//! What a stage reads.

use nbcc_stages::bounds::IndexForm;
use nbcc_stages::{Expr, ExprKind, Func, Input, Pipeline, Walker};

use super::Stage;
use super::forms::Forms;

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
    let reachable = Walker::once(pipeline, roots);
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
    varies_along(pipeline, roots, 0)
}

/// The same of a dimension.
pub fn varies_along(pipeline: &Pipeline, roots: &[Expr], dim: u32) -> bool {
    let reachable = Walker::once(pipeline, roots.iter().copied());
    reachable.iter().any(|&e| pipeline.exprs[e].kind == ExprKind::Dim(dim))
}

/// How the elements that the lanes of a vector read lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All lanes read the same one.
    Same,
    /// Each lane reads the one behind that of the lane before.
    Consecutive,
    /// In any way.
    Anywhere,
}

/// How the elements at coordinates lie to each other, over four points of a row.
pub fn spread(pipeline: &Pipeline, forms: &Forms, args: &[Expr]) -> Spread {
    let reachable = Walker::once(pipeline, args.iter().copied());
    let is_element =
        |&e: &Expr| matches!(pipeline.exprs[e].kind, ExprKind::Load(..) | ExprKind::Call(..));
    if reachable.iter().any(is_element) {
        return Spread::Anywhere;
    }
    if !varies_along_x(pipeline, args) {
        return Spread::Same;
    }
    let (x, rest) = args.split_first().expect("what varies is there");
    let one = forms[*x].as_ref().and_then(IndexForm::as_affine).is_some_and(|f| f.dim(0) == 1);
    if one && !varies_along_x(pipeline, rest) { Spread::Consecutive } else { Spread::Anywhere }
}
