//! From IR to a program: instruction selection, register allocation, emission.

pub mod emit;
pub mod layout;
pub mod regalloc;
pub mod select;
