//! Launches of kernels: the file that describes them, and what it asks for, checked against the
//! kernels that a program has.

mod blocks;
pub mod file;
mod names;
pub mod oracle;
mod resolve;
mod toml;

use std::path::{Path, PathBuf};

use nbcc_base::Diagnostic;
use nbcc_ir::Module;

use crate::kinds::grids::{KernelParam, KernelSpec};
use crate::session::{Session, Stop};
use crate::{codes, files};

pub use blocks::bound_blocks;
pub use resolve::resolve;

use file::SymbolData;

/// The launch file: the one that is named, else `<stem>.toml` beside the program.
pub fn path(session: &mut Session, named: Option<&Path>, program: &Path) -> Result<PathBuf, Stop> {
    if let Some(named) = named {
        return Ok(named.to_path_buf());
    }
    let beside = program.with_file_name(files::named_after(program, "toml"));
    if beside.is_file() {
        return Ok(beside);
    }
    let file = program.display().to_string();
    let message = format!("`{file}` has kernels, and nothing says how to launch them");
    let help = format!("give --launch FILE.toml, or put `{}` beside it", beside.display());
    Err(session.fail(Diagnostic::error(&codes::NO_LAUNCH, message).in_file(file).help(help)))
}

/// The kernels of a module, in their order.
pub fn kernels_of(module: &Module) -> Vec<KernelSpec> {
    let functions = module.functions.values();
    functions
        .filter_map(|function| {
            let kernel = function.kernel.as_ref()?;
            let param = |param: &nbcc_ir::KernelParam| KernelParam {
                name: param.name.clone(),
                bytes: param.size,
                type_name: match param.ty {
                    Some(ty) => ty.name().to_string(),
                    None if matches!(param.size, 1 | 2 | 4 | 8) => format!("b{}", 8 * param.size),
                    None => format!("{} bytes", param.size),
                },
            };
            let params = kernel.params.iter().map(param).collect();
            Some(KernelSpec { name: function.name.clone(), params })
        })
        .collect()
}

/// A `[[symbol]]` that the program has not, or one with more bytes than the variable.
pub fn wrong_symbol(session: &mut Session, symbol: &SymbolData, size: Option<u64>) -> Stop {
    let error = symbol_error(&symbol.name, size);
    session.fail(match (symbol.at, size) {
        (Some(at), Some(_)) => error.at(at, format!("has {} bytes", symbol.bytes.len())),
        (Some(at), None) => error.at(at, "not known"),
        (None, _) => error,
    })
}

/// The same, of a variable of that name.
pub fn symbol_error(name: &str, size: Option<u64>) -> Diagnostic {
    let (message, help) = match size {
        Some(size) => (
            format!("more is given for `{name}` than the {size} bytes of the variable"),
            format!("give a file of up to {size} bytes"),
        ),
        None => (
            format!("the launch file sets `{name}`, and the program has no such variable"),
            "name a module variable as the program declares it, or leave the [[symbol]] out".into(),
        ),
    };
    Diagnostic::error(&codes::WRONG_LAUNCH, message).help(help)
}
