//! Functions of target instructions over virtual registers, generic over the instruction set.
//!
//! A target selects its own instructions into a [`Function`]; liveness, register allocation and its
//! checker are computed here from what `isa!` says each operand reads and writes. Nothing here
//! knows an instruction.

mod function;
pub mod liveness;
mod print;
pub mod regalloc;

pub use function::{Block, BlockData, Function, InstData, VReg, VRegData};
