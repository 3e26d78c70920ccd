//! SIMB assembly files: the printer and reader of `isa/core`, with what iPIM adds.

use nbcc_isa::asm::{self, AsmError, Dialect, TextType};
use nbcc_isa::container::TEXT;
use nbcc_isa::{LoadError, WriteError};

use crate::machine::{BUILT_IN, Machine};
use crate::operands::PhysReg;
use crate::ops::Inst;
use crate::program::{ISA, Program, VERSION};

/// The name of the instruction set in assembly files.
pub const NAME: &str = "simb";

fn dialect() -> Dialect {
    Dialect {
        name: NAME,
        isa: ISA,
        version: VERSION,
        machines: BUILT_IN
            .iter()
            .map(|(name, _)| (*name, Machine::built_in(name).to_toml()))
            .collect(),
        text: vec![TextType::of::<Inst<PhysReg>>(TEXT)],
    }
}

/// The text of a program.
///
/// # Errors
/// What [`Program::validate`] says.
pub fn disassemble(program: &Program) -> Result<String, WriteError> {
    Ok(asm::print(&program.to_container()?, &dialect())?)
}

/// The text of a `.nbx` file.
///
/// # Errors
/// What is wrong with the file.
pub fn disassemble_elf(file: &[u8]) -> Result<String, LoadError> {
    asm::disassemble_elf(file, &dialect(), Program::from_container)
}

/// Reads an assembly file.
///
/// # Errors
/// Everything that is wrong with it, up to a limit.
pub fn assemble(text: &str) -> Result<Program, Vec<AsmError>> {
    asm::assemble_program(text, &dialect(), Program::from_container)
}

/// Reads an assembly file and writes the `.nbx` file.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_elf(text: &str) -> Result<Vec<u8>, Vec<AsmError>> {
    assemble(text)?.to_elf().map_err(|error| vec![AsmError::of_file(error.to_string())])
}
