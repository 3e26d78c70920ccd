//! Instruction tables, assembler, container, machine files: what every target's
//! instruction set is made of. Knows no target.

pub mod asm;
pub mod container;
pub mod dram;
pub mod fields;
mod instruction;
pub mod lines;
pub mod load;
pub mod machine;
pub mod metadata;
pub mod program;
pub mod reference;
pub mod signature;
pub mod table;
pub mod text;

pub use container::Container;
pub use instruction::{
    DecodeError, EncodeError, Imm, Instruction, MachineInstruction, Operand, PhysReg, RegOrImm,
    RegisterClass, Role,
};
pub use lines::{LineTable, SourceLine};
pub use load::LoadError;
pub use machine::{MachineError, Override};
pub use program::{Code, TextSymbol, resolve_labels};
pub use signature::{ArrayParam, Extent, ScalarType, Signature, SignatureParam};
pub use text::{Field, LabelNames, LabelTable, SyntaxError};
