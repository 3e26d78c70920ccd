//! Where each value lives: a side table beside a function, the moves that follow from it, its
//! check, and the remarks by which a pass explains a decision.
//!
//! What is placed is any entity (values of the IR, virtual registers, blocks); the places are the
//! target's: any type that is copied, ordered and shown.

pub mod alike;
mod moves;
mod remark;
mod summary;
mod table;
mod verify;

pub use moves::{Move, MoveCount, count, moves};
pub use remark::{Message, Piece, Remark, RemarkKind, Term};
pub use summary::Summary;
pub use table::{Origin, Place, Placement};
pub use verify::{Read, verify};
