//! The instruction set that SIMT machines share, and the programs made of it: what compilers write
//! and simulators read, each stated once. It is PTX's operations in an encoding of our own.
//!
//! A machine's own crate states the rest as data: an [`Isa`] (name, number, which of the
//! [optional instructions](ops::OPTIONAL) and hints it has, sections of its own) and the
//! [`Machine`] that its description gives.

mod access;
pub mod asm;
pub mod classes;
mod fields;
pub mod inst;
mod isa;
pub mod operands;
pub mod ops;
pub mod program;
mod special;

pub use classes::{Category, Latency, Memory, Unit};
pub use inst::{Guard, Hint, Inst};
pub use isa::{Isa, Limits, Machine};
pub use operands::{NO_RECONVERGENCE, PREDICATES, PhysReg, RegClass};
pub use ops::Op;
pub use program::{Kernel, Object, ObjectSpace, Param, ParamType, Program, Relocation};

/// Threads of a warp.
pub const LANES: usize = 32;
/// Bytes of an instruction.
pub const INSTRUCTION_BYTES: u32 = 16;
/// Generic addresses from here are those of the block's shared memory, address 0 first.
pub const SHARED_WINDOW: u64 = 0x7f00_0000_0000_0000;
/// Generic addresses from here are those of the thread's local memory, address 0 first.
pub const LOCAL_WINDOW: u64 = 0x7e00_0000_0000_0000;
/// Generic addresses from here are those of the kernel's parameters, address 0 first.
pub const PARAM_WINDOW: u64 = 0x7d00_0000_0000_0000;
/// Bytes of each window.
pub const WINDOW_BYTES: u64 = 1 << 32;
