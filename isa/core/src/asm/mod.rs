//! Assembly files: the text of a whole program, printed and read.
//!
//! ```text
//! .isa simb 1
//! .machine ipim                   # or a section .note.nbcc.target
//! .section .text
//! .file 1 "blur.halide"
//! .type main, @function
//! .size main, 64                  # in bytes
//! main:
//! loop:
//! .loc 1 12 5                     # file, line, column; line 0 for none
//!     seti_crf C4, loop
//! .section .rodata 0x100000000    # with the address
//!     .word 0x3f800000, 0x3f800000
//! .section .nbcc.buffers
//!     .ascii "[]\n"
//! ```
//!
//! A comment goes from `#` to the end of its line.
//!
//! Directives mean what they mean to GNU's assembler, and every instruction begins with a letter:
//! viewers of compilers' output (Compiler Explorer) tell by that what is code, which labels lead
//! somewhere, and which source line an instruction comes from.

mod print;
mod read;

use crate::container::Container;
use crate::instruction::MachineInstruction;
use crate::load::LoadError;

pub use print::print;
pub use read::{Assembled, assemble};

/// What assembly files of a target say of it.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// The name after `.isa`.
    pub name: &'static str,
    /// The number in the ELF header.
    pub isa: u16,
    /// The version in the ELF header.
    pub version: u16,
    /// Machines that `.machine` names, with their descriptions.
    pub machines: Vec<(&'static str, String)>,
}

/// What is wrong with an assembly file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct AsmError {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// The bytes of the file that are at fault.
    pub span: std::ops::Range<usize>,
    /// What to do.
    pub help: Option<String>,
}

impl AsmError {
    /// An error of the file as a whole.
    pub fn of_file(message: impl Into<String>) -> AsmError {
        AsmError { message: message.into(), line: 1, column: 1, span: 0..0, help: None }
    }
}

/// An error at `span` of `text`.
pub fn locate(
    text: &str,
    span: std::ops::Range<usize>,
    message: String,
    help: Option<String>,
) -> AsmError {
    let before = &text[..span.start.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    AsmError {
        message,
        line: before.matches('\n').count() as u32 + 1,
        column: before[line_start..].chars().count() as u32 + 1,
        span,
        help,
    }
}

/// Whether `name` can be a label in an assembly file.
pub fn is_label_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    name.starts_with(|c: char| word(c) && !c.is_ascii_digit()) && name.chars().all(word)
}

/// The text of a `.nbx` file. `read` makes a program of its contents and checks them.
///
/// # Errors
/// What is wrong with the file.
pub fn disassemble_elf<I: MachineInstruction, P>(
    file: &[u8],
    dialect: &Dialect,
    read: impl FnOnce(&Container) -> Result<P, LoadError>,
) -> Result<String, LoadError> {
    let container = Container::from_elf(file, dialect.isa, dialect.version, I::BYTES as u32)?;
    read(&container)?;
    print::<I>(&container, dialect)
}

/// Reads an assembly file as a program, which `read` makes of its contents and checks.
///
/// # Errors
/// Everything that is wrong with the file, up to a limit; what `read` finds is at the instruction
/// where it is one.
pub fn assemble_program<I: MachineInstruction, P>(
    text: &str,
    dialect: &Dialect,
    read: impl FnOnce(&Container) -> Result<P, LoadError>,
) -> Result<P, Vec<AsmError>> {
    let assembled = assemble::<I>(text, dialect)?;
    read(&assembled.container).map_err(|error| {
        let index = (error.offset / I::BYTES as u64) as usize;
        vec![match assembled.spans.get(index) {
            Some(span) if error.section == ".text" => {
                locate(text, span.clone(), error.message, None)
            }
            _ => AsmError::of_file(error.to_string()),
        }]
    })
}
