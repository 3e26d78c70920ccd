//! `nbcc objdump FILE.nbx`: a binary as assembly that `nbcc as` reads back.

use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_isa::{LoadError, load};

use crate::cli::ObjdumpArgs;
use crate::registry::TargetEntry;
use crate::session::{Session, Stop};
use crate::{codes, files, registry};

/// Runs the command.
pub fn objdump(session: &mut Session, args: &ObjdumpArgs) -> Result<(), Stop> {
    if let Some(out) = &args.out {
        files::check_output(session, out)?;
    }
    let bytes = files::read(session, &args.binary, files::MAX_DATA)?;
    let entry = identify(session, &bytes, &args.binary)?;
    let text = (entry.disassemble)(&bytes).map_err(|error| broken(session, &args.binary, error))?;
    files::write(session, args.out.as_deref().unwrap_or(Path::new("-")), text.as_bytes())
}

/// The target that a binary is for.
pub fn identify(
    session: &mut Session,
    bytes: &[u8],
    path: &Path,
) -> Result<&'static TargetEntry, Stop> {
    let (isa, _) = load::identify(bytes).map_err(|error| broken(session, path, error))?;
    registry::get().by_isa(isa).ok_or_else(|| {
        let message =
            format!("`{}` is for instruction set {isa}, which no target has", path.display());
        session.fail(
            Diagnostic::error(&codes::BROKEN_BINARY, message)
                .in_file(path.display().to_string())
                .help("run it with the nbcc that made it, or compile the source again"),
        )
    })
}

/// An error in a binary.
pub fn broken(session: &mut Session, path: &Path, error: LoadError) -> Stop {
    let file = path.display().to_string();
    session.fail(
        Diagnostic::error(&codes::BROKEN_BINARY, format!("`{file}`: {error}"))
            .in_file(file)
            .help("compile the source again"),
    )
}
