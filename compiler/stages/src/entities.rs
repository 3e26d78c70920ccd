//! The numbers of what a pipeline consists of.

use cranelift_entity::entity_impl;

/// An input image.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(u32);
entity_impl!(Input, "input");

/// A scalar parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Param(u32);
entity_impl!(Param, "param");

/// A reduction domain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RDom(u32);
entity_impl!(RDom, "rdom");

/// A Func: a stage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Func(u32);
entity_impl!(Func, "func");

/// An expression in its pipeline's arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr(u32);
entity_impl!(Expr, "e");
