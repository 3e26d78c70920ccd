//! Machine descriptions: by name or from a file, with `--set` applied, checked before use.

use std::path::Path;

use nbcc_base::{Diagnostic, SourceFile, Span};
use nbcc_isa::machine::{Entry, MachineError, Override};

use crate::registry::TargetEntry;
use crate::session::{Session, Stop};
use crate::{codes, files, registry};
use nbcc_base::nearest;

/// A machine description that has been checked.
pub struct Machine {
    /// Its name or file, for messages.
    pub name: String,
    /// The text, without the changes that `--set` makes.
    pub text: String,
    /// What `--set` changes.
    pub overrides: Vec<Override>,
    /// Its parameters, changes applied.
    pub entries: Vec<Entry>,
}

/// The machine that `--machine` names, the target's first where it names none.
pub fn resolve(
    session: &mut Session,
    entry: &TargetEntry,
    name: Option<&str>,
    set: &[(String, String)],
) -> Result<Machine, Stop> {
    let machines = entry.target.machines();
    let known = match name {
        Some(name) => machines.iter().find(|machine| machine.name == name),
        None => machines.first(),
    };
    let (name, text) = match (known, name) {
        (Some(info), _) => (info.name.to_string(), info.text.to_string()),
        (None, Some(name)) if looks_like_file(name) => {
            (name.to_string(), files::read_text(session, Path::new(name))?)
        }
        (None, name) => return Err(unknown(session, entry, name.unwrap_or_default())),
    };
    let overrides: Vec<Override> = set
        .iter()
        .map(|(key, value)| Override { key: key.trim().into(), value: value.trim().into() })
        .collect();
    let entries = (entry.machine)(&text, &overrides)
        .map_err(|error| report(session, &name, &text, &overrides, error))?;
    Ok(Machine { name, text, overrides, entries })
}

fn looks_like_file(name: &str) -> bool {
    name.contains(['/', '\\', '.']) || Path::new(name).exists()
}

fn unknown(session: &mut Session, entry: &TargetEntry, name: &str) -> Stop {
    let target = entry.target.name();
    let message = format!("target {target} has no machine `{name}`");
    let names: Vec<&str> = entry.target.machines().iter().map(|machine| machine.name).collect();
    let help = match (nearest(name, names.iter().copied()), registry::get().machine(name)) {
        (_, Some((other, _))) => format!("it is a machine of --target {}", other.target.name()),
        (Some(near), None) => format!("did you mean `{near}`?"),
        (None, None) => format!("there are: {}; or give a file", names.join(", ")),
    };
    session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help))
}

/// What helps where nothing better is known of a mistake in a machine file.
const COMPLETE: &str = "`nbcc targets --machine NAME` prints a machine that is complete, with the \
                        range that each parameter comes from";

/// A mistake in `--set` is the command line's, any other the file's.
fn report(
    session: &mut Session,
    name: &str,
    text: &str,
    overrides: &[Override],
    error: MachineError,
) -> Stop {
    let from_set =
        |key: &String| error.span.is_none() && overrides.iter().any(|change| change.key == *key);
    if error.key.as_ref().is_some_and(from_set) {
        let mut diagnostic = Diagnostic::error(&codes::COMMAND_LINE, error.message);
        diagnostic.help = Some(error.help.unwrap_or_else(|| {
            format!("`nbcc targets --machine {name}` lists the parameters and their values")
        }));
        return session.usage(diagnostic);
    }
    let error = error.locate(text);
    let (message, help) = without_list(error.message);
    let mut diagnostic = Diagnostic::error(&codes::BROKEN_MACHINE, message);
    diagnostic.help = Some(error.help.or(help).unwrap_or_else(|| COMPLETE.to_string()));
    match error.span {
        Some(span) => {
            let id = session.sources.add(SourceFile::new(name, text));
            diagnostic = diagnostic.at(Span::new(id, span.start, span.end), "here");
        }
        None => diagnostic = diagnostic.in_file(name),
    }
    session.fail(diagnostic)
}

/// A message of the TOML reader without its list of all keys; the nearest of them is the help.
pub fn without_list(message: String) -> (String, Option<String>) {
    let Some((what, list)) = message.split_once(", expected one of ") else {
        return (message, None);
    };
    let Some(name) = what.strip_prefix("unknown field `").and_then(|n| n.strip_suffix('`')) else {
        return (message, None);
    };
    let keys = list.split(", ").map(|key| key.trim_matches('`'));
    let help = nearest(name, keys).map(|near| format!("did you mean `{near}`?"));
    (format!("unknown key `{name}`"), help)
}
