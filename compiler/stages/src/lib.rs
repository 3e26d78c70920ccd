//! Image pipelines before loops.
//!
//! A [`Pipeline`] is a graph of stages: Funcs with a pure definition and updates, over an arena of
//! typed expressions, each with its schedule. A frontend builds it; the interpreter runs it
//! unscheduled, which is what a program means; a target adds its own directives, distribution and
//! default schedule before it is lowered to loops. Nothing here knows a machine.

pub mod bounds;
pub mod build;
pub mod codes;
mod coordinates;
mod directive;
mod entities;
mod evaluate;
mod expr;
mod free;
mod graph;
mod image;
mod inline;
pub mod lower;
pub mod print;
mod progression;
mod quotient;
pub mod scalar;
mod simplify;
mod types;
mod unroll;
mod verify;
mod walk;

pub use coordinates::{Coordinates, integer_coordinates};
pub use directive::{Directive, DirectiveArg, DirectiveInfo, DirectiveKind, ParamKind, Schedule};
pub use entities::{Expr, Func, Input, Param, RDom};
pub use evaluate::word_of;
pub use expr::{BinaryOp, CompareOp, ExprData, ExprKind, Intrinsic, UnaryOp};
pub use free::{Freed, free_variables};
pub use graph::{Definition, FuncData, InputData, ParamData, Pipeline, RDomData, Update};
pub use image::Image;
pub use inline::{inline, inline_where, is_inlined};
pub use progression::Progression;
pub use quotient::Quotient;
pub use simplify::{Simplifier, specialize};
pub use types::{ElementType, Literal};
pub use unroll::{Unrolled, are_loops_named, unroll_updates};
pub use verify::{VerifyError, verify};
pub use walk::Walker;
