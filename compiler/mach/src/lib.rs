//! Functions of target instructions over virtual registers, generic over the instruction set.
//!
//! A target selects its own instructions into a [`Function`]; liveness, interference, colouring
//! and dependence are computed here from what `isa!` says each operand reads and writes. Nothing
//! here knows an instruction.

pub mod alias;
pub mod check;
pub mod color;
mod function;
pub mod interference;
pub mod liveness;
mod print;

pub use function::{Block, BlockData, Function, InstData, VReg, VRegData};
