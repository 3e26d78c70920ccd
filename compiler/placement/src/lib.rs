//! Where each value lives: a side table over the IR, the moves that follow from it, its check, and
//! the remarks by which a pass explains a decision.
//!
//! The places are the target's: any type that is copied, ordered and shown.

pub mod alike;
mod moves;
mod remark;
mod table;
mod verify;

pub use moves::{Move, MoveCount, Use, UseSite, count, moved_values, moves, uses};
pub use remark::{Message, Piece, Remark, RemarkKind, Term};
pub use table::{Place, Placement};
pub use verify::verify_placement;
