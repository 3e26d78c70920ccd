//! Instruction tables, assembler, container, machine files: what every target's
//! instruction set is made of. Knows no target.

pub mod asm;
pub mod container;
pub mod dram;
mod dwarf;
mod error;
pub mod fields;
mod instruction;
pub mod lines;
pub mod load;
pub mod machine;
pub mod metadata;
pub mod program;
pub mod reference;
pub mod row;
pub mod signature;
pub mod table;
pub mod text;
mod write;

pub use container::{Container, TextSection};
pub use error::{LoadError, WriteError};
pub use instruction::{
    DecodeError, EncodeError, Imm, Instruction, MachineInstruction, Operand, PhysReg, RegOrImm,
    RegisterClass, Role,
};
pub use lines::{LineTable, SourceLine};
pub use machine::{MachineError, Override};
pub use program::{Code, TextSymbol, resolve_labels};
pub use signature::{ArrayParam, Extent, ScalarType, Signature, SignatureParam};
pub use text::{Field, LabelNames, LabelTable, SyntaxError};
