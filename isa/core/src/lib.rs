//! Instruction tables, assembler, container, machine files: what every target's
//! instruction set is made of. Knows no target.

pub mod dram;
mod instruction;
pub mod machine;
pub mod table;
pub mod text;

pub use instruction::{
    DecodeError, EncodeError, Imm, Instruction, MachineInstruction, Operand, PhysReg, RegOrImm,
    RegisterClass, Role,
};
pub use machine::{MachineError, Override};
pub use text::{Field, LabelNames, LabelTable, SyntaxError};
