//! From IR to a program: instruction selection, register allocation, emission.

pub mod banks;
pub mod dependence;
pub mod emit;
pub mod latch;
pub mod layout;
pub mod predicate;
pub mod provenance;
pub mod regalloc;
pub mod schedule;
pub mod select;
mod space;
