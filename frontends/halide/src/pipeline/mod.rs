//! The pipeline that elaboration builds: typed expressions, Funcs with their definitions, and the
//! functions of the language that make them.

pub(crate) mod boundary;
pub(crate) mod builtins;
pub(crate) mod define;
pub(crate) mod hir;
mod lerp;
pub(crate) mod ops;
pub(crate) mod reduce;
pub(crate) mod rewrite;
