//! The frontend of PTX, the virtual instruction set that CUDA compilers emit.
//!
//! A file goes through [`token`] and [`syntax`] to a syntax tree ([`ast`]); names are resolved,
//! declarations checked and initialisers laid out ([`resolve`], into [`resolved`]). Instructions
//! are matched with the table of [`forms`] and checked ([`check`]), then lowered to the shared IR
//! ([`lower`]).

pub mod ast;
mod body;
pub mod check;
pub mod codes;
mod cursor;
mod debug;
mod declaration;
mod expression;
pub mod forms;
mod listing;
mod lower;
pub mod names;
mod resolve;
pub mod resolved;
mod special;
mod syntax;
mod token;

use nbcc_analysis::listing::Listing;
use nbcc_base::{CodeInfo, Diagnostics, Failed, SourceFile, SourceId};
use nbcc_pipeline::{Frontend, Grids, ParseOptions, Program, ProgramKind};

/// Kernels in PTX.
#[derive(Debug)]
pub struct Ptx;

impl Frontend for Ptx {
    fn name(&self) -> &'static str {
        "ptx"
    }

    fn about(&self) -> &'static str {
        "kernels in PTX, as CUDA compilers emit them"
    }

    fn extension(&self) -> &'static str {
        "ptx"
    }

    fn kind(&self) -> ProgramKind {
        ProgramKind::Grids
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        all_codes()
    }

    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        _: &ParseOptions<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed> {
        let (module, listings) = kernels(id, file, diagnostics)?;
        Ok(Program::Grids(Grids { module, listings }))
    }
}

/// Reads a file into IR. Spans refer to `source`. Errors, warnings and notes go to `diagnostics`;
/// `Err` means that at least one of them is an error.
pub fn parse(
    source: SourceId,
    file: &SourceFile,
    diagnostics: &mut Diagnostics,
) -> Result<nbcc_ir::Module, Failed> {
    kernels(source, file, diagnostics).map(|(module, _)| module)
}

/// A file as IR, and its kernels as they are written.
fn kernels(
    source: SourceId,
    file: &SourceFile,
    diagnostics: &mut Diagnostics,
) -> Result<(nbcc_ir::Module, Vec<Listing>), Failed> {
    let ast = syntax::parse(source, file, diagnostics)?;
    let module = resolve::resolve(ast, &file.text, diagnostics)?;
    let forms = check::check(&module, diagnostics)?;
    if module.incomplete {
        return Err(Failed);
    }
    Ok((lower::lower(&module, &forms, diagnostics)?, listing::listings(&module, &forms)))
}

/// Every diagnostic code of this crate.
pub fn all_codes() -> Vec<&'static CodeInfo> {
    [codes::ALL, check::codes::ALL].concat()
}

/// Reads a file as far as names are resolved and declarations checked.
pub fn read<'a>(
    source: SourceId,
    file: &'a SourceFile,
    diagnostics: &mut Diagnostics,
) -> Result<resolved::Resolved<'a>, Failed> {
    let ast = syntax::parse(source, file, diagnostics)?;
    let module = resolve::resolve(ast, &file.text, diagnostics)?;
    if module.incomplete { Err(Failed) } else { Ok(module) }
}
