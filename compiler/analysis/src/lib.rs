//! Facts about IR functions, and the meaning of operations on values.
//!
//! Each fact is a snapshot that a plain function computes; a pass that changes the function
//! computes it anew.

pub mod affine;
mod cycles;
pub mod dependence;
pub mod evaluate;
mod frontiers;
mod joins;
pub mod lanes;
pub mod listing;
pub mod liveness;
pub mod loops;
mod min_tree;
pub mod order;
pub mod parting;
pub mod postdominators;
pub mod simt;
pub mod strides;
pub mod sum;
pub mod uniformity;
pub mod value_range;

pub use affine::{Affine, AffineForms, MAX_TERMS};
pub use dependence::{Access, Distances, Overlap, distances, overlap};
pub use evaluate::{DivisionTrap, binary, convert, decode, encode, evaluate, icmp, unary};
pub use lanes::{Lanes, is_nan, sign_extend};
pub use liveness::Liveness;
pub use loops::{Loop, LoopData, LoopForest};
pub use order::loop_order;
pub use parting::parted_blocks;
pub use postdominators::{PostDominators, endless_representatives};
pub use simt::{atomic, evaluate_simt, reduce};
pub use strides::Strides;
pub use uniformity::{Uniformity, is_grid_source};
pub use value_range::{IntrinsicRanges, ValueRange, ValueRanges};
