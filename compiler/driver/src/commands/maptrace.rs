//! `nbcc maptrace`: which bits of addresses should choose the memory stack, for a trace of accesses.

use std::fmt::Write;

use nbcc_base::{Diagnostic, SourceFile, Span};
use serde_json::json;

use crate::cli::MaptraceArgs;
use crate::registry::analyzer::{Analyzer, Score, best, learned};
use crate::registry::{STACKED, stack_mappings, trace};
use crate::session::{Session, Stop};
use crate::style::BOLD;
use crate::{codes, console, files, limits, machine};

/// Runs the command.
pub fn maptrace(session: &mut Session, args: &MaptraceArgs) -> Result<(), Stop> {
    if let Some(path) = &args.stats {
        files::check_output(session, path)?;
    }
    let machine = machine::resolve(session, &STACKED, args.machine.as_deref(), &args.set)?;
    let (mappings, share) = stack_mappings(&machine.text, &machine.overrides).map_err(|error| {
        let diagnostic = Diagnostic::error(&codes::BROKEN_MACHINE, error.message);
        let help = "take a machine with two memory stacks or more";
        session.fail(diagnostic.in_file(machine.name.clone()).help(help))
    })?;
    let share = args.learn.unwrap_or(share);
    let bytes = files::read(session, &args.trace, files::MAX_TEXT)?;
    let name = args.trace.display().to_string();
    // An instance of the shortest line, with what is kept of it under each mapping.
    if !nbcc_base::has_room(bytes.len() as u64 / 6 * (24 * mappings.len() as u64 + 32)) {
        let message = format!("there is no memory for the instances of `{name}`");
        return Err(session.fail(limits::no_memory(message).in_file(name)));
    }
    let mut analyzer = Analyzer::new(mappings);
    trace::read(&bytes, |instance, address| analyzer.access(instance, address)).map_err(
        |error| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let id = session.sources.add(SourceFile::new(&name, text));
            let diagnostic = Diagnostic::error(&codes::BROKEN_TRACE, error.message)
                .at(Span::new(id, error.span.start, error.span.end), "here");
            session
                .fail(diagnostic.help("an access is `INSTANCE R ADDRESS` or `INSTANCE W ADDRESS`"))
        },
    )?;
    let count = learned(share, analyzer.instances());
    let (first, all) = (analyzer.scores(count), analyzer.scores(u64::MAX));
    if let Some(path) = &args.stats {
        let pair = |scores: &[Score]| best(scores).map(|bits| bits.pair());
        let value = json!({
            "instances": analyzer.instances(),
            "accesses": analyzer.accesses(),
            "learned_instances": count,
            "learned": list(&first),
            "mappings": list(&all),
            "best": pair(&first),
            "oracle": pair(&all),
        });
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        files::write(session, path, text.as_bytes())?;
    }
    console::print(&table(&analyzer, count, &first, &all));
    Ok(())
}

fn list(scores: &[Score]) -> Vec<serde_json::Value> {
    let record = |score: &Score| {
        json!({
            "bits": score.bits.pair(),
            "home": score.home,
            "one_stack": score.one_stack,
            "stacks": score.stacks,
        })
    };
    scores.iter().map(record).collect()
}

fn table(analyzer: &Analyzer, count: u64, first: &[Score], all: &[Score]) -> String {
    let (instances, accesses) = (analyzer.instances(), analyzer.accesses());
    let mut text =
        format!("{accesses} accesses of {instances} instances, learned from {count}\n\n");
    let _ = writeln!(
        text,
        "  {:>8}  {:>14} {:>7}  {:>14} {:>7}  {:>16}",
        "bits", "accesses home", "", "one stack", "", "stacks/instance"
    );
    let share = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    for score in all {
        let [low, high] = score.bits.pair();
        let _ = writeln!(
            text,
            "  {:>8}  {:>14} {:>5.1} %  {:>14} {:>5.1} %  {:>16.2}",
            format!("{low}:{high}"),
            score.home,
            share(score.home, accesses),
            score.one_stack,
            share(score.one_stack, instances),
            score.stacks as f64 / instances.max(1) as f64,
        );
    }
    text.push('\n');
    for (what, scores) in [("learned", first), ("best for all", all)] {
        if let Some(bits) = best(scores) {
            let [low, high] = bits.pair();
            let _ = writeln!(text, "{what}: bits {BOLD}{low}:{high}{BOLD:#}");
        }
    }
    text
}
