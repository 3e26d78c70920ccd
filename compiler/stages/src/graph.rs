//! The stage graph: inputs, scalar parameters, reduction domains and Funcs of one pipeline.

use std::collections::BTreeMap;

use cranelift_entity::PrimaryMap;
use nbcc_base::Span;

use crate::directive::Schedule;
use crate::entities::{Expr, Func, Input, Param, RDom};
use crate::expr::{ExprData, ExprKind};
use crate::types::{ElementType, Literal};

/// An input image. Its extents are fixed later, by the data or the command line; its coordinates
/// start at zero.
#[derive(Clone, Debug)]
pub struct InputData {
    /// Its name, as in `--input NAME=FILE`.
    pub name: String,
    /// The type of its elements.
    pub ty: ElementType,
    /// How many dimensions it has.
    pub dims: u32,
    /// Whether reading outside it reads the nearest edge (an input that was never declared)
    /// instead of being an error.
    pub repeat_edge: bool,
    /// `set_estimate`s on the input: minimum and extent a dimension, where given.
    pub estimates: Vec<Option<(i32, i32)>>,
    /// `set_bounds` on the input: the extents that it must have, where given, and where that
    /// stands.
    pub fixed: Vec<Option<(u32, Span)>>,
    /// Where it is declared, or first called.
    pub span: Span,
}

impl InputData {
    /// The extent of a dimension that the source fixes, else the one that it holds likely.
    pub fn expected_extent(&self, dim: usize) -> Option<u32> {
        if let Some(Some((extent, _))) = self.fixed.get(dim) {
            return Some(*extent);
        }
        let (min, extent) = (*self.estimates.get(dim)?)?;
        u32::try_from(i64::from(min) + i64::from(extent)).ok()
    }
}

/// A scalar parameter.
#[derive(Clone, Debug)]
pub struct ParamData {
    /// Its name, as in `--param NAME=VALUE`.
    pub name: String,
    /// Its type.
    pub ty: ElementType,
    /// Its value where the command line gives none.
    pub default: Option<Literal>,
    /// Where it is declared.
    pub span: Span,
}

/// A reduction domain of one to four dimensions: the first varies fastest.
#[derive(Clone, Debug)]
pub struct RDomData {
    /// Its name.
    pub name: String,
    /// Minimum and extent of each dimension, `I32`. They depend on literals and input extents
    /// only, but may name parameters.
    pub dims: Vec<(Expr, Expr)>,
    /// `where` conditions, all of which must hold for a point to be visited.
    pub predicates: Vec<Expr>,
    /// Where it is declared.
    pub span: Span,
}

/// What a Func is at every point, before its updates.
#[derive(Clone, Debug)]
pub struct Definition {
    /// A value for each element of the Func's tuple.
    pub values: Vec<Expr>,
    /// The left side and the right side.
    pub span: Span,
}

/// An update of a Func: for each point of the reduction domain in order (and of the pure
/// dimensions that the left side names), the element at `args` becomes `values`.
#[derive(Clone, Debug)]
pub struct Update {
    /// Coordinates on the left side. A pure dimension stands as [`ExprKind::Dim`] of its own
    /// position.
    pub args: Vec<Expr>,
    /// A value for each element of the Func's tuple, computed before any is stored.
    pub values: Vec<Expr>,
    /// The domain that the update runs over, if it names one.
    pub rdom: Option<RDom>,
    /// The schedule of this update.
    pub schedule: Schedule,
    /// The left side and the right side.
    pub span: Span,
}

/// A stage.
#[derive(Clone, Debug)]
pub struct FuncData {
    /// Its name, unique in the pipeline.
    pub name: String,
    /// The names of its Vars, in order: as many as it has dimensions.
    pub vars: Vec<String>,
    /// The type of each element of its tuple; one for a plain Func.
    pub types: Vec<ElementType>,
    /// The pure definition. A Func that has updates only has zeros at first.
    pub pure: Option<Definition>,
    /// Updates, in order.
    pub updates: Vec<Update>,
    /// The schedule of the pure definition and of the Func as a whole.
    pub schedule: Schedule,
    /// Where it is declared or first defined.
    pub span: Span,
}

/// A pipeline: one `.halide` file.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Its name: the stem of its file.
    pub name: String,
    /// Every expression.
    pub exprs: PrimaryMap<Expr, ExprData>,
    /// Input images, in order of appearance.
    pub inputs: PrimaryMap<Input, InputData>,
    /// Scalar parameters, in order of appearance.
    pub params: PrimaryMap<Param, ParamData>,
    /// The names of the parameters that were constants when the source was read.
    pub constants: Vec<String>,
    /// Reduction domains.
    pub rdoms: PrimaryMap<RDom, RDomData>,
    /// Funcs. A Func calls only Funcs that come before it, and itself in an update.
    pub funcs: PrimaryMap<Func, FuncData>,
    /// The Funcs whose values are the result, in order.
    pub outputs: Vec<Func>,
    /// How the end of the source names Funcs, where it can: by a name of the file, or an element
    /// of an array.
    pub handles: BTreeMap<Func, String>,
}

impl Pipeline {
    /// Adds an expression.
    pub fn expr(&mut self, kind: ExprKind, ty: ElementType, span: Span) -> Expr {
        self.exprs.push(ExprData { kind, ty, span })
    }

    /// The number that a literal is, of integers and conditions.
    pub fn integer(&self, expr: Expr) -> Option<i64> {
        match self.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// The type of an expression.
    pub fn ty(&self, expr: Expr) -> ElementType {
        self.exprs[expr].ty
    }
}
