//! The frontend of PTX, the virtual instruction set that CUDA compilers emit.
//!
//! A file goes through [`token`] and [`syntax`] to a syntax tree ([`ast`]); names are resolved,
//! declarations checked and initialisers laid out ([`resolve`], into [`resolved`]); then
//! instructions are checked and lowered to the shared IR.

pub mod ast;
pub mod codes;
pub mod names;
pub mod resolved;

use nbcc_base::{Diagnostics, Failed, SourceFile, SourceId};

/// What is known beside the source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {}

/// Reads a file into IR. Spans refer to `source`. Errors, warnings and notes go to `diagnostics`;
/// `Err` means that at least one of them is an error.
pub fn parse(
    _source: SourceId,
    _file: &SourceFile,
    _options: &Options,
    _diagnostics: &mut Diagnostics,
) -> Result<nbcc_ir::Module, Failed> {
    Ok(nbcc_ir::Module::default())
}
