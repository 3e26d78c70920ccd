//! Code for the core: functions of the shared IR to RV32IM.
//!
//! Values of up to 32 bits take a register, those of 64 bits two. The bits of a register above a
//! narrow value are anything, and are made by who looks at them (`select/values.rs`). Memory objects
//! have fixed addresses (`objects.rs`): nothing calls itself, so that there is no stack, only a frame
//! with arguments, what traps say and spilled values. Every access is checked against its object; what
//! is outside ends the run in a block of its own behind the code (`select/access.rs`).

pub mod divide;
pub mod emit;
pub mod islands;
pub mod layout;
pub mod objects;
pub mod regalloc;
pub mod select;

use nbcc_isa_sdpnm::core::Inst;
use nbcc_mach::{Function, VReg};

/// A function of the core's instructions over virtual registers.
pub type MachFunction = Function<Inst<VReg>>;

/// What the IR says where a division has no result. The table of traps has a kind for it.
pub const NO_RESULT: &str = "a division has no result";
