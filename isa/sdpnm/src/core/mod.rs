//! The core of SDPNM: RV32IM, and what a program for it is. The paper says nothing of the core's
//! instruction set (section 2 names a host controller); docs/fidelity.md says why it is this one.

pub mod arrays;
pub mod asm;
pub mod homes;
pub mod memory;
pub mod operands;
pub mod ops;
pub mod program;
pub mod traps;

pub use homes::{Home, Homed};
pub use memory::{Area, Frame};
pub use operands::{Branch, Category, Class, I12, Jump, Latency, Memory, Unit};
pub use ops::{Inst, ROWS};
pub use program::{CoreProgram, PhysReg};
pub use traps::{Trap, TrapKind};
