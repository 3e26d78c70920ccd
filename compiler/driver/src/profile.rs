//! Profiles in files: `--profile-out` writes where a run spent its time, `--profile-use` compiles for
//! it.

use nbcc_base::Diagnostic;
use nbcc_host::{Cost, Profile};
use nbcc_pipeline::LineCounts;
use serde_json::{Value, json};

use crate::cli::TargetArgs;
use crate::registry::{self, TargetEntry};
use crate::session::{Session, Stop};
use crate::{codes, files};

/// The version of the form.
const SCHEMA_VERSION: u64 = 1;

/// A profile as JSON: what functions and lines cost in instructions issued and cycles stalled, and how
/// often the most executed instruction of a line was issued.
pub fn to_json(target: &str, profile: &Profile) -> String {
    let functions = profile.functions.iter().map(|function| {
        let Cost { issued, stalled } = function.cost;
        json!({ "name": function.name, "issued": issued, "stalled": stalled })
    });
    let lines = profile.lines.iter().map(|line| {
        let Cost { issued, stalled } = line.cost;
        let (file, number) = line.place.clone().unzip();
        let executed = line.executed;
        json!({ "file": file, "line": number, "issued": issued, "stalled": stalled, "executed": executed })
    });
    let document = json!({
        "schema_version": SCHEMA_VERSION,
        "target": target,
        "functions": functions.collect::<Vec<_>>(),
        "lines": lines.collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

/// The profile that the command line gives, if it gives one.
pub fn to_use(
    session: &mut Session,
    entry: &TargetEntry,
    args: &TargetArgs,
) -> Result<Option<LineCounts>, Stop> {
    let Some(path) = &args.profile_use else { return Ok(None) };
    if !entry.target.uses_profiles() {
        let users = registry::get().targets.iter().filter(|entry| entry.target.uses_profiles());
        let users: Vec<&str> = users.map(|entry| entry.target.name()).collect();
        let message = format!("target {} decides nothing by a profile", entry.target.name());
        let help = format!("--profile-use is for {}", users.join(", "));
        return Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)));
    }
    let text = files::read_text(session, path)?;
    let document = serde_json::from_str::<Value>(&text);
    let read = document.map_err(|error| format!("is no JSON: {error}"));
    read.and_then(|document| counts(&document)).map(Some).map_err(|what| {
        let file = files::display_name(path);
        let error = Diagnostic::error(&codes::BROKEN_PROFILE, format!("`{file}` {what}"));
        let help = "`nbcc run PROGRAM --profile-out FILE.json` writes profiles";
        session.fail(error.in_file(file).help(help))
    })
}

/// The lines of a profile that have a place.
fn counts(document: &Value) -> Result<LineCounts, String> {
    if document["schema_version"].as_u64() != Some(SCHEMA_VERSION) {
        return Err(format!("is no profile of `schema_version` {SCHEMA_VERSION}"));
    }
    let lines = document["lines"].as_array().ok_or("has no list of `lines`")?;
    let mut counts = LineCounts::default();
    for (number, line) in lines.iter().enumerate() {
        if line["file"].is_null() && line["line"].is_null() {
            continue;
        }
        let place = line["file"].as_str().zip(line["line"].as_u64());
        let place = place.and_then(|(file, line)| Some((file, u32::try_from(line).ok()?)));
        let read = place.zip(line["executed"].as_u64());
        let ((file, line), executed) = read.ok_or_else(|| {
            format!("lacks a `file`, `line` or `executed` at place {number} of `lines`")
        })?;
        counts.add(file, line, executed);
    }
    Ok(counts)
}

/// Warns of a profile that knows no line of the sources that were read: it is that of another program.
pub fn warn_of_another(session: &mut Session, profile: Option<&LineCounts>) {
    let Some(counts) = profile else { return };
    let files = session.sources.files();
    let lines = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if files.iter().any(|file| counts.is_about(&file.name, lines(&file.text))) {
        return;
    }
    let name = files.first().map(|file| file.name.clone()).unwrap_or_default();
    let message = format!("the profile has no line of `{name}`");
    let help =
        "it decides nothing: give the one that a run of this program wrote with --profile-out";
    session.diagnostics.push(Diagnostic::warning(&codes::OTHER_PROFILE, message).help(help));
}
