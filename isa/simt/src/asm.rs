//! Assembly files: the printer and reader of `isa/core`, with what an instruction set adds.

use nbcc_isa::asm::{self, AsmError, Dialect, TextType};
use nbcc_isa::container::TEXT;
use nbcc_isa::{LoadError, WriteError};

use crate::inst::Inst;
use crate::isa::Isa;
use crate::operands::PhysReg;
use crate::program::Program;

fn dialect(isa: &Isa) -> Dialect {
    let machine = |name: &'static str| (name, isa.built_in(name).toml);
    Dialect {
        name: isa.name,
        isa: isa.number,
        version: isa.version,
        machines: isa.machines.iter().map(|(name, _)| machine(name)).collect(),
        text: vec![TextType::of::<Inst<PhysReg>>(TEXT)],
    }
}

/// The text of a program.
///
/// # Errors
/// What [`Program::validate`] says.
pub fn disassemble(program: &Program) -> Result<String, WriteError> {
    let dialect = dialect(program.machine.isa);
    Ok(asm::print(&program.to_container()?, &dialect)?)
}

/// The text of a `.nbx` file.
///
/// # Errors
/// What is wrong with the file.
pub fn disassemble_elf(isa: &'static Isa, file: &[u8]) -> Result<String, LoadError> {
    let read = |container: &_| Program::from_container(isa, container);
    asm::disassemble_elf(file, &dialect(isa), read)
}

/// Reads an assembly file.
///
/// # Errors
/// Everything that is wrong with it, up to a limit.
pub fn assemble(isa: &'static Isa, text: &str) -> Result<Program, Vec<AsmError>> {
    let read = |container: &_| Program::from_container(isa, container);
    asm::assemble_program(text, &dialect(isa), read)
}

/// Reads an assembly file and writes the `.nbx` file.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_elf(isa: &'static Isa, text: &str) -> Result<Vec<u8>, Vec<AsmError>> {
    assemble(isa, text)?.to_elf().map_err(|error| vec![AsmError::of_file(error.to_string())])
}
