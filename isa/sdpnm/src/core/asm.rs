//! Assembly of the core's programs.

use nbcc_isa::LoadError;
use nbcc_isa::asm::{self, AsmError, Dialect, TextType};
use nbcc_isa::container::TEXT;

use super::ops::Inst;
use super::program::{CoreProgram, ISA, PhysReg, VERSION};
use crate::config::text::text_type;
use crate::machine::BUILT_IN;

/// The name of the instruction set in assembly.
pub const NAME: &str = "sdpnm";

fn dialect() -> Dialect {
    let canonical = |(name, text): &(&'static str, &str)| {
        let machine = crate::Machine::from_toml(text, &[]).expect("built-in machines are valid");
        (*name, nbcc_isa::machine::to_toml(&machine))
    };
    Dialect {
        name: NAME,
        isa: ISA,
        version: VERSION,
        machines: BUILT_IN.iter().map(canonical).collect(),
        text: vec![TextType::of::<Inst<PhysReg>>(TEXT), text_type()],
    }
}

/// The text of a `.nbx` file.
///
/// # Errors
/// The file is no program for the core.
pub fn disassemble_elf(file: &[u8]) -> Result<String, LoadError> {
    asm::disassemble_elf(file, &dialect(), CoreProgram::from_container)
}

/// The `.nbx` file of a text.
///
/// # Errors
/// Everything that is wrong with it.
pub fn assemble_elf(text: &str) -> Result<Vec<u8>, Vec<AsmError>> {
    let program = asm::assemble_program(text, &dialect(), CoreProgram::from_container)?;
    program.to_elf().map_err(|error| vec![AsmError::of_file(error.to_string())])
}
