//! `nbcc as FILE.s`: assembly, as `nbcc objdump` prints it, to a binary.

use std::path::Path;

use nbcc_base::{Diagnostic, Span};

use crate::cli::AsArgs;
use crate::kind::{self, Kind};
use crate::registry::TargetEntry;
use crate::session::{Session, Stop};
use crate::{codes, compile, files, registry};

/// What helps where nothing better is known.
const AS_PRINTED: &str = "write it as `nbcc objdump` prints it; docs/ lists each instruction's \
                          operands";

/// Runs the command.
pub fn assemble(session: &mut Session, args: &AsArgs) -> Result<(), Stop> {
    let out = args.out.clone().unwrap_or_else(|| files::named_after(&args.source, "nbx"));
    if kind::of(session, &args.source) == Kind::Binary && args.source.exists() {
        let name = files::display_name(&args.source);
        let message = format!("`{name}` is a binary, not assembly");
        let error = Diagnostic::error(&codes::UNKNOWN_KIND, message).in_file(name);
        return Err(
            session.fail(error.help("`nbcc objdump` prints its assembly, `nbcc run` runs it"))
        );
    }
    files::check_output(session, &out)?;
    let bytes = binary_of(session, &args.source, args.target.as_deref())?;
    files::write(session, &out, &bytes)
}

/// The binary of an assembly file.
pub fn binary_of(
    session: &mut Session,
    path: &Path,
    target: Option<&str>,
) -> Result<Vec<u8>, Stop> {
    let id = files::read_source(session, path)?;
    let text = session.sources.get(id).text.clone();
    let entry = match target {
        Some(name) => Some(compile::target_entry(session, name)?),
        None => named_in(&text).or(registry::get().targets.first()),
    };
    let Some(entry) = entry else { return Err(Stop::Usage) };
    (entry.assemble)(&text).map_err(|errors| {
        for error in errors {
            let span = Span::new(id, error.span.start, error.span.end);
            let mut diagnostic =
                Diagnostic::error(&codes::BROKEN_ASSEMBLY, error.message).at(span, "here");
            diagnostic.help = error.help.or_else(|| Some(AS_PRINTED.to_string()));
            session.diagnostics.push(diagnostic);
        }
        Stop::Failed
    })
}

/// The target whose instruction set the line `.isa NAME VERSION` names.
fn named_in(text: &str) -> Option<&'static TargetEntry> {
    let name = text.lines().find_map(|line| line.trim().strip_prefix(".isa"))?;
    let name = name.split_whitespace().next()?;
    registry::get().targets.iter().find(|entry| entry.assembly == name)
}
