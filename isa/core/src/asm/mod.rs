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
//! .section .text.array 0x1000     # instructions of another type, with the address
//! filter:
//!     mac r0, r1
//! .section .nbcc.buffers
//!     .ascii "[]\n"
//! ```
//!
//! A comment goes from `#` to the end of its line.
//!
//! Directives mean what they mean to GNU's assembler, and every instruction begins with a letter:
//! viewers of compilers' output (Compiler Explorer) tell by that what is code, which labels lead
//! somewhere, and which source line an instruction comes from.

mod error;
mod print;
mod read;
mod section;

use crate::container::Container;
use crate::error::LoadError;

pub use error::{AsmError, locate};
pub use print::print;
pub use read::{Assembled, assemble, parse_instruction};
pub use section::{BoxedInstruction, Dialect, TextInstruction, TextType};

/// The text of a `.nbx` file. `read` makes a program of its contents and checks them.
///
/// # Errors
/// What is wrong with the file.
pub fn disassemble_elf<P>(
    file: &[u8],
    dialect: &Dialect,
    read: impl FnOnce(&Container) -> Result<P, LoadError>,
) -> Result<String, LoadError> {
    let known: Vec<(&str, u32)> =
        dialect.text.iter().map(|ty| (ty.section, ty.instruction_bytes)).collect();
    let container = Container::from_elf(file, dialect.isa, dialect.version, &known)?;
    read(&container)?;
    print(&container, dialect)
}

/// Reads an assembly file as a program, which `read` makes of its contents and checks.
///
/// # Errors
/// Everything that is wrong with the file, up to a limit; what `read` finds is at the instruction or
/// the directive that made what is wrong, where there is one.
pub fn assemble_program<P>(
    text: &str,
    dialect: &Dialect,
    read: impl FnOnce(&Container) -> Result<P, LoadError>,
) -> Result<P, Vec<AsmError>> {
    let assembled = assemble(text, dialect)?;
    read(&assembled.container).map_err(|error| {
        let span = assembled.place(&error.section, error.offset);
        let is_text = assembled.container.text.iter().any(|text| text.name == error.section);
        vec![match span {
            Some(span) if is_text => locate(text, span, error.message, None),
            Some(span) => {
                let message = format!("in `{}`: {}", error.section, error.message);
                locate(text, span, message, None)
            }
            None => AsmError::of_file(error.to_string()),
        }]
    })
}
