//! The SIMB instruction set and the iPIM machine: what the compiler writes and the
//! simulator reads, each stated once.

pub mod asm;
pub mod layout;
pub mod machine;
pub mod operands;
pub mod ops;
pub mod program;
pub mod route;

pub use layout::{Buffer, Element, Grid, Layout, Location, Tiled};
pub use machine::Machine;
pub use operands::{
    Addr, CHIP_ID, CompOp, FloatOp, IntOp, Mode, PE_ID, PG_ID, PhysReg, RESERVED_ADDR_REGS,
    RegClass, SimbMask, Source, VAULT_ID, VecMask,
};
pub use ops::{Category, Inst, Latency, Memory, Unit};
pub use program::{Coordinate, Param, Patch, Program, Rodata};
pub use route::Route;

/// The number of lanes of a DataRF entry.
pub const LANES: usize = 4;
/// Bytes of a bank atom, a DataRF entry and a TSV transfer.
pub const ATOM_BYTES: u32 = 16;
/// Bytes of an element of a buffer, whatever its type.
pub const ELEMENT_BYTES: u32 = 4;
/// Bytes of an instruction.
pub const INSTRUCTION_BYTES: u32 = 16;
