//! `nbcc memtrace`: replays a trace of DRAM requests on a controller of its own.

use std::fmt::Write;
use std::path::Path;

use nbcc_base::{CodeInfo, Diagnostic, SourceFile, Span};
use nbcc_sim_dram::{
    DramConfig, MachineError, RefreshPolicy, Replay, left_out, parse_machine, parse_trace,
};

use crate::cli::MemtraceArgs;
use crate::registry::{self, TargetEntry};
use crate::session::{Session, Stop};
use crate::{codes, console, files, limits, machine};

/// Runs the command.
pub fn memtrace(session: &mut Session, args: &MemtraceArgs) -> Result<(), Stop> {
    if let Some(path) = &args.stats {
        files::check_output(session, path)?;
    }
    let config = dram(session, args)?;
    let bytes = files::read(session, &args.trace, files::MAX_TEXT)?;
    let name = args.trace.display().to_string();
    // A request of the shortest line, while the list of them grows.
    if !nbcc_base::has_room(10 * bytes.len() as u64) {
        let message = format!("there is no memory for the requests of `{name}`");
        return Err(session.fail(limits::no_memory(message).in_file(name)));
    }
    let requests = parse_trace(&bytes, &config).map_err(|error| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let span = error.place.span;
        let message = error.problem.to_string();
        let help = "a request is `R BANK ROW COLUMN` or `W BANK ROW COLUMN`, inside the device of \
                    the machine file";
        at_place(session, &codes::BROKEN_TRACE, message, &name, text, span, help)
    })?;
    if requests.is_empty() {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let help = "write a request a line, `R BANK ROW COLUMN` or `W BANK ROW COLUMN`";
        let message = "the trace has no requests".to_string();
        return Err(at_place(session, &codes::BROKEN_TRACE, message, &name, text, 0..0, help));
    }
    let replay = nbcc_sim_dram::replay(&config, &requests, args.window).map_err(|error| {
        let error = Diagnostic::error(&codes::BROKEN_MACHINE, error.to_string());
        session.fail(error.help("change the parameters it names, in the file or with --set"))
    })?;
    if let Some(path) = &args.stats {
        let mut text = serde_json::to_string_pretty(&json(&replay)).unwrap_or_default();
        text.push('\n');
        files::write(session, path, text.as_bytes())?;
    }
    console::print(&table(&replay));
    Ok(())
}

/// The machine file with the changes that the command line makes.
fn dram(session: &mut Session, args: &MemtraceArgs) -> Result<DramConfig, Stop> {
    refuse_targets(session, &args.machine)?;
    let text = files::read_text(session, &args.machine)?;
    let name = args.machine.display().to_string();
    let set = |key: &str| args.set.iter().any(|(set, _)| set == key);
    let defaults: Vec<String> = left_out(&text)
        .into_iter()
        .filter(|(key, _)| !(set(key) || args.no_refresh && *key == "refresh"))
        .map(|(key, value)| format!("`{key} = {value}`"))
        .collect();
    let settings: Vec<String> =
        args.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut config = parse_machine(&text, &settings).map_err(|error| match error {
        MachineError::File { place, message } => {
            let (code, span) = (&codes::BROKEN_MACHINE, place.span);
            let help = "docs/dram.md lists the parameters with their units and ranges";
            at_place(session, code, message, &name, text.clone(), span, help)
        }
        MachineError::Setting { setting, message } => {
            let (message, help) = machine::without_list(message);
            let message = format!("--set {setting}: {message}");
            let help = help.unwrap_or_else(|| {
                "write --set KEY=VALUE with a key of the machine file and a value in its range"
                    .to_string()
            });
            session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help))
        }
    })?;
    if !defaults.is_empty() {
        let message = format!("the machine file leaves out {}", defaults.join(", "));
        let note = Diagnostic::note(&codes::LEFT_OUT, message).in_file(name);
        session.diagnostics.push(note.help("these values are taken; --set changes them"));
    }
    if args.no_refresh {
        config.refresh = RefreshPolicy::None;
    }
    Ok(config)
}

/// Machines of targets have names, and more than a DRAM.
fn refuse_targets(session: &mut Session, machine: &Path) -> Result<(), Stop> {
    let targets = registry::get().targets;
    let is_its = |entry: &&TargetEntry| {
        let machines = entry.target.machines();
        machines.iter().any(|known| Path::new(known.name) == machine)
    };
    let Some(entry) = targets.iter().find(is_its).filter(|_| !machine.exists()) else {
        return Ok(());
    };
    let (name, target) = (machine.display(), entry.target.name());
    let message =
        format!("`{name}` is a machine of target {target}, not a file that describes a DRAM");
    let help = "give --machine FILE.toml with the DRAM's parameters, as docs/dram.md lists them";
    Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)))
}

/// An error at a place of a text file.
fn at_place(
    session: &mut Session,
    code: &'static CodeInfo,
    message: String,
    name: &str,
    text: String,
    span: std::ops::Range<usize>,
    otherwise: &str,
) -> Stop {
    let id = session.sources.add(SourceFile::new(name, text));
    let span = Span::new(id, span.start, span.end);
    let (message, help) = machine::without_list(message);
    let mut diagnostic = Diagnostic::error(code, message).at(span, "here");
    diagnostic.help = Some(help.unwrap_or_else(|| otherwise.to_string()));
    session.fail(diagnostic)
}

fn json(replay: &Replay) -> serde_json::Value {
    serde_json::json!({
        "requests": replay.requests,
        "finish_cycle": replay.finish_cycle,
        "hits": replay.hits,
        "misses": replay.misses,
        "conflicts": replay.conflicts,
        "average_read_latency": replay.average_read_latency,
    })
}

fn table(replay: &Replay) -> String {
    let mut text = String::new();
    let share = |part: u64| 100.0 * part as f64 / replay.requests.max(1) as f64;
    let _ = writeln!(text, "requests              {:>12}", replay.requests);
    for (name, count) in
        [("hits", replay.hits), ("misses", replay.misses), ("conflicts", replay.conflicts)]
    {
        let _ = writeln!(text, "  {name:<20}{count:>12}  {:5.1} %", share(count));
    }
    let _ = writeln!(text, "finish cycle          {:>12}", replay.finish_cycle);
    let _ = writeln!(text, "average read latency  {:>12.3} cycles", replay.average_read_latency);
    text
}
