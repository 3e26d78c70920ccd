//! `nbcc targets`: what can be compiled for, and the parameters of a machine.

use std::fmt::Write;
use std::path::Path;

use crate::cli::TargetsArgs;
use crate::registry::Language;
use crate::session::{Session, Stop};
use crate::style::{BOLD, DIM};
use crate::{compile, console, files, included, machine, registry};

/// Runs the command.
pub fn targets(session: &mut Session, args: &TargetsArgs) -> Result<(), Stop> {
    if args.include_dir {
        let folder = included::headers_folder(session)?;
        console::print(&format!("{}\n", folder.display()));
        return Ok(());
    }
    let named = match &args.target {
        Some(name) => Some(compile::target_entry(session, name)?),
        None => None,
    };
    let text = match &args.machine {
        None => list(named),
        Some(name) => {
            let by_name = registry::get().machine(name).map(|(entry, _)| entry);
            let by_file = || registry::get().targets.iter().find(|entry| takes(entry, name));
            let entry = named.or(by_name).or_else(by_file).or(registry::get().targets.first());
            let Some(entry) = entry else { return Err(Stop::Usage) };
            let machine = machine::resolve(session, entry, Some(name), &args.set)?;
            parameters(&machine)
        }
    };
    console::print(&text);
    Ok(())
}

/// Whether a file describes a machine of that target.
fn takes(entry: &registry::TargetEntry, file: &str) -> bool {
    let text = files::read_bounded(Path::new(file), files::MAX_TEXT).ok();
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| (entry.machine)(&text, &[]).is_ok())
}

fn list(only: Option<&'static registry::TargetEntry>) -> String {
    let mut text = String::new();
    for entry in registry::get().targets {
        let target = entry.target;
        if only.is_some_and(|only| only.target.name() != target.name()) {
            continue;
        }
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}: {}", target.name(), target.about());
        for Language { frontend, target: usual, .. } in registry::get().languages {
            if *usual == target.name() {
                let _ =
                    writeln!(text, "  language .{}: {}", frontend.extension(), frontend.about());
            }
        }
        text.push_str("  machines (--machine):\n");
        let machines = target.machines();
        let width = machines.iter().map(|machine| machine.name.len()).max().unwrap_or(0);
        for machine in machines {
            let _ = writeln!(text, "    {:<width$}  {}", machine.name, machine.about);
        }
        if !target.choices().is_empty() {
            text.push_str("  choices (-X KEY=VALUE):\n");
        }
        for choice in target.choices() {
            let values =
                if choice.values.is_empty() { "...".to_string() } else { choice.values.join("|") };
            let _ = writeln!(text, "    {}={values}\n        {}", choice.key, choice.about);
        }
    }
    text
}

/// The parameters as a TOML file would state them, but with whole keys as `--set` takes them.
fn parameters(machine: &machine::Machine) -> String {
    let entries = &machine.entries;
    let key = entries.iter().map(|entry| entry.key.len()).max().unwrap_or(0);
    let value = entries.iter().map(|entry| entry.value.len()).max().unwrap_or(0).min(24);
    let mut text = String::new();
    for entry in entries {
        let line = format!(
            "{:<key$} = {:<value$}  {DIM}# {}{DIM:#}",
            entry.key, entry.value, entry.comment
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
