//! Facts about IR functions, and the meaning of operations on values.
//!
//! Each fact is a snapshot that a plain function computes; a pass that changes the function
//! computes it anew.

mod evaluate;
mod lanes;

pub use evaluate::{DivisionTrap, binary, convert, evaluate, unary};
pub use lanes::{Lanes, is_nan, sign_extend};
