//! Facts about IR functions, and the meaning of operations on values.
//!
//! Each fact is a snapshot that a plain function computes; a pass that changes the function
//! computes it anew.

mod affine;
mod dependence;
mod evaluate;
mod lanes;
mod liveness;
mod loops;
mod postdominators;
mod uniformity;

pub use affine::{Affine, AffineForms, MAX_TERMS};
pub use dependence::{Access, Distances, Overlap, distances, overlap};
pub use evaluate::{DivisionTrap, binary, convert, evaluate, unary};
pub use lanes::{Lanes, is_nan, sign_extend};
pub use liveness::Liveness;
pub use loops::{Loop, LoopData, LoopForest};
pub use postdominators::{PostDominators, endless_representatives};
pub use uniformity::Uniformity;
