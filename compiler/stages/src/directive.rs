//! Schedules: the directives applied to a Func or to one of its updates, in source order.

use nbcc_base::Span;

use crate::entities::{Expr, Func};

/// The directives of a Func or an update, in the order they stand.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The directives.
    pub directives: Vec<Directive>,
}

/// One directive.
#[derive(Clone, Debug)]
pub struct Directive {
    /// What it asks for.
    pub kind: DirectiveKind,
    /// From its name to its closing parenthesis.
    pub span: Span,
}

/// What a directive asks for. Loop variables are named, as in Halide; the variables of a reduction
/// domain `r` are called `r$x`, `r$y`, `r$z`, `r$w` here and printed `r.x` and so on.
#[derive(Clone, Debug)]
pub enum DirectiveKind {
    /// Computed whole before any consumer.
    ComputeRoot,
    /// Computed anew at each use.
    ComputeInline,
    /// Computed inside loop `var` of `func`.
    ComputeAt {
        /// The Func whose loops are meant.
        func: Func,
        /// The loop.
        var: String,
    },
    /// Stored outside every loop.
    StoreRoot,
    /// Stored inside loop `var` of `func`.
    StoreAt {
        /// The Func whose loops are meant.
        func: Func,
        /// The loop.
        var: String,
    },
    /// Loop `old` becomes `outer` around `inner`, which has `factor` steps.
    Split {
        /// The loop to split.
        old: String,
        /// The loop over blocks.
        outer: String,
        /// The loop inside a block.
        inner: String,
        /// Steps of the inner loop, at least 1.
        factor: i64,
    },
    /// Loops `inner` and `outer` become one loop.
    Fuse {
        /// The faster of the two.
        inner: String,
        /// The slower.
        outer: String,
        /// The new loop.
        fused: String,
    },
    /// Loops in this order, innermost first.
    Reorder(Vec<String>),
    /// The loop in vectors: of `width` elements, or whole.
    Vectorize {
        /// The loop.
        var: String,
        /// Elements a vector.
        width: Option<i64>,
    },
    /// The loop unrolled: `factor` steps, or whole.
    Unroll {
        /// The loop.
        var: String,
        /// Steps a round.
        factor: Option<i64>,
    },
    /// The loop's steps in parallel.
    Parallel(String),
    /// Dimension `var` starts at `min` and has `extent` elements (both constant).
    Bound {
        /// The dimension.
        var: String,
        /// First coordinate.
        min: Expr,
        /// Number of elements.
        extent: Expr,
    },
    /// Dimension `var` probably starts at `min` with `extent` elements.
    SetEstimate {
        /// The dimension.
        var: String,
        /// First coordinate.
        min: Expr,
        /// Number of elements.
        extent: Expr,
    },
    /// The update merges what an intermediate Func has over these pairs of a reduction loop and a
    /// new Var. The frontend has made two Funcs of one; nothing is left to do.
    Rfactor(Vec<(String, String)>),
    /// A directive that a target brings, checked against its [`DirectiveInfo`].
    Target {
        /// Its name.
        name: &'static str,
        /// Its arguments.
        args: Vec<DirectiveArg>,
    },
}

/// An argument of a target's directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveArg {
    /// The name of a Var.
    Var(String),
    /// A constant.
    Int(i64),
}

/// A directive that a target brings to the language: what a frontend needs to parse it.
#[derive(Debug)]
pub struct DirectiveInfo {
    /// Its name in the source.
    pub name: &'static str,
    /// The forms it can take: the kinds of its arguments.
    pub forms: &'static [&'static [ParamKind]],
    /// How it is written, for help texts.
    pub usage: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
}

/// What may stand as an argument of a target's directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A loop variable that exists.
    Var,
    /// A new loop variable.
    NewVar,
    /// A constant of at least 1.
    Size,
    /// Any number of loop variables, to the end.
    Vars,
}
