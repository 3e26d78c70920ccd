//! Functions of target instructions over virtual registers, generic over the instruction set.
//!
//! A target selects its own instructions into a [`Function`]; liveness, dependences, register
//! allocation, list schedules and their checkers are computed here from what `isa!` says each operand
//! reads and writes, and code is put together with its labels and lines. Nothing here knows an
//! instruction.

pub mod copies;
pub mod dependence;
pub mod emit;
mod function;
mod list;
pub mod liveness;
mod memory;
pub mod prepass;
mod print;
pub mod regalloc;
pub mod rename;
pub mod rows;
pub mod schedule;
pub mod split;

pub use function::{Block, BlockData, Function, InstData, VReg, VRegData};
pub use memory::{AffineAddress, MemoryAccess};
