//! Lowering to the shared IR: what every target does alike. Loops, storage and the way an element
//! is reached are the target's; the meaning of expressions is not.

mod expr;

pub use expr::{Access, ExprLowering, ir_type, wrap};
