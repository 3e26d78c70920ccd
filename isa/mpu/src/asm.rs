//! MPU assembly files: the printer and reader of `isa/core`, with what MPU adds.

use nbcc_isa::asm::{self, AsmError, Dialect};
use nbcc_isa::container::WriteError;
use nbcc_isa::{Container, LoadError};

use crate::INSTRUCTION_BYTES;
use crate::inst::Inst;
use crate::machine::{BUILT_IN, Machine};
use crate::operands::PhysReg;
use crate::program::{ISA, Program, VERSION};

/// The name of the instruction set in assembly files.
pub const NAME: &str = "mpu";

fn dialect() -> Dialect {
    Dialect {
        name: NAME,
        isa: ISA,
        version: VERSION,
        machines: BUILT_IN
            .iter()
            .map(|(name, _)| (*name, Machine::built_in(name).to_toml()))
            .collect(),
    }
}

/// The text of a program.
///
/// # Errors
/// What [`Program::validate`] says.
pub fn disassemble(program: &Program) -> Result<String, WriteError> {
    let container = program.to_container()?;
    print(&container).map_err(|error| WriteError(error.to_string()))
}

/// The text of a `.nbx` file.
///
/// # Errors
/// What is wrong with the file.
pub fn disassemble_elf(file: &[u8]) -> Result<String, LoadError> {
    let container = Container::from_elf(file, ISA, VERSION, INSTRUCTION_BYTES)?;
    Program::from_container(&container)?;
    print(&container)
}

fn print(container: &Container) -> Result<String, LoadError> {
    asm::print::<Inst<PhysReg>>(container, &dialect())
}

/// Reads an assembly file.
///
/// # Errors
/// Everything that is wrong with it, up to a limit.
pub fn assemble(text: &str) -> Result<Program, Vec<AsmError>> {
    let assembled = asm::assemble::<Inst<PhysReg>>(text, &dialect())?;
    Program::from_container(&assembled.container).map_err(|error| {
        let index = (error.offset / u64::from(INSTRUCTION_BYTES)) as usize;
        let (span, message) = match assembled.spans.get(index) {
            Some(span) if error.section == ".text" => (span.clone(), error.message),
            _ => (0..0, error.to_string()),
        };
        vec![asm::locate(text, span, message, None)]
    })
}

/// Reads an assembly file and writes the `.nbx` file.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_elf(text: &str) -> Result<Vec<u8>, Vec<AsmError>> {
    let program = assemble(text)?;
    program.to_elf().map_err(|error| vec![asm::locate(text, 0..0, error.to_string(), None)])
}
