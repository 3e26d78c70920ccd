//! `nbcc bench SUITE`: runs the programs of a suite under its variants, and shows a paper's figures
//! beside what was measured. A suite is data ([`suite`]); how it is run ([`batch`], [`job`]) and shown
//! ([`table`], [`plot`]) is the same for all targets. docs/bench.md is the page for users.

mod batch;
mod elements;
mod figures;
mod formula;
mod job;
mod launches;
mod plot;
mod suite;
mod table;
mod tournament;
mod workers;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use nbcc_base::{Diagnostic, SourceFile, nearest};
use serde_json::{Value, json};

use self::figures::{Measured, Row};
use self::job::Source;
use self::suite::{Checked, Figure, Size};
use super::run;
use crate::cli::{BenchArgs, LanguageArgs};
use crate::registry::{self, BundledSuite};
use crate::session::{Session, Stop};
use crate::style::BOLD;
use crate::{codes, compile, console, files};

/// Runs the command.
pub fn bench(session: &mut Session, args: &BenchArgs) -> Result<(), Stop> {
    let Some(name) = &args.suite else {
        let list = registry::get().suites.iter().map(|suite| format!("{}\n", suite.name));
        console::print(&list.collect::<String>());
        return Ok(());
    };
    for path in [&args.stats, &args.plot].into_iter().flatten() {
        files::check_output(session, path)?;
    }
    let bundled = registry::get().suites.iter().find(|suite| suite.name == *name);
    let file = match bundled {
        Some(suite) => session.sources.add(SourceFile::new(format!("<{name}.toml>"), suite.text)),
        None if Path::new(name).exists() || name.contains(['/', '.']) => {
            files::read_source(session, Path::new(name))?
        }
        None => return Err(unknown(session, "suite", name, known_suites())),
    };
    let checked = suite::read(session, file)?;
    let figures = chosen(session, args, &checked)?;
    let programs = programs(session, args, &checked, &figures)?;
    let mut sources = Vec::new();
    for (program, is_run) in checked.suite.programs.iter().zip(&programs) {
        sources.push(match is_run {
            true => Some(source(session, args, bundled, name, &checked, program)?),
            false => None,
        });
    }
    if args.threads.is_none() {
        run::check_threads(session)?;
    }
    let threads = args.threads.map_or_else(run::threads, |threads| threads as usize);
    session.flush();
    if args.tournament {
        let asked = tournament::Tournament {
            checked: &checked,
            sources: &sources,
            quick: args.quick,
            threads,
        };
        let (text, data) = tournament::run(session, &asked)?;
        if let Some(path) = &args.stats {
            files::write(session, path, format!("{data:#}\n").as_bytes())?;
        }
        tournament::show(&text, &data, args.json);
        return Ok(());
    }
    let (measured, failed) = batch::run(
        session,
        &batch::Batch {
            checked: &checked,
            sources: &sources,
            variants: variants(&checked, &figures),
            size: size(args),
            threads,
        },
    );
    let rows = all_rows(session, &checked, &figures, &measured)?;
    // Without any figure there is nothing to keep, and nothing to replace earlier ones by.
    let has_figures = rows.iter().flat_map(|(_, rows)| rows).any(|row| row.measured.is_some());
    let is_kept = !failed || has_figures;
    let data = json(args, name, &checked, &rows, &measured);
    if let Some(path) = args.stats.as_ref().filter(|_| is_kept) {
        files::write(session, path, format!("{data:#}\n").as_bytes())?;
    }
    if let Some(path) = args.plot.as_ref().filter(|_| is_kept) {
        files::write(session, path, plot::svg(&checked.suite.title, &rows).as_bytes())?;
    }
    match args.json {
        true => console::print(&format!("{data:#}\n")),
        false => console::print(&(heading(args, &checked, &programs) + &table::tables(&rows))),
    }
    files::publish(session)?;
    if failed { Err(Stop::Failed) } else { Ok(()) }
}

/// How large programs are run.
fn size(args: &BenchArgs) -> Size {
    if args.quick { Size::Quick } else { Size::Whole }
}

fn known_suites() -> Vec<&'static str> {
    registry::get().suites.iter().map(|suite| suite.name).collect()
}

/// An error of the command line for a name that is not there.
fn unknown(session: &mut Session, what: &str, name: &str, known: Vec<&str>) -> Stop {
    let message = format!("there is no {what} `{name}`");
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "give a suite file, FILE.toml".to_string(),
        None => format!("there are: {}", known.join(", ")),
    };
    session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help))
}

/// The figures that are asked for.
fn chosen<'s>(
    session: &mut Session,
    args: &BenchArgs,
    checked: &'s Checked,
) -> Result<Vec<&'s Figure>, Stop> {
    let all = &checked.suite.figures;
    for name in &args.figure {
        if !all.iter().any(|figure| figure.name == *name) {
            let known = all.iter().map(|figure| figure.name.as_str()).collect();
            return Err(unknown(session, "figure", name, known));
        }
    }
    let is_chosen = |figure: &&Figure| args.figure.is_empty() || args.figure.contains(&figure.name);
    Ok(all.iter().filter(is_chosen).collect())
}

/// Whether each program is run: it is asked for, and a figure has it.
fn programs(
    session: &mut Session,
    args: &BenchArgs,
    checked: &Checked,
    figures: &[&Figure],
) -> Result<Vec<bool>, Stop> {
    let all = &checked.suite.programs;
    for name in &args.workload {
        if !all.iter().any(|program| program.name == *name) {
            let known = all.iter().map(|program| program.name.as_str()).collect();
            return Err(unknown(session, "workload", name, known));
        }
    }
    let is_run = |name: &String| {
        (args.workload.is_empty() || args.workload.contains(name))
            && figures.iter().any(|figure| figure.has(name))
    };
    Ok(all.iter().map(|program| is_run(&program.name)).collect())
}

/// The numbers of the variants that figures name, and the first.
fn variants(checked: &Checked, figures: &[&Figure]) -> Vec<usize> {
    let mut used = BTreeSet::from([0]);
    for name in figures.iter().flat_map(|figure| figure.formula().names) {
        let variants = &checked.suite.variants;
        used.extend(variants.iter().position(|known| Some(&known.name) == name.variant.as_ref()));
    }
    used.into_iter().collect()
}

/// The source of a program.
fn source(
    session: &mut Session,
    args: &BenchArgs,
    bundled: Option<&BundledSuite>,
    suite: &str,
    checked: &Checked,
    program: &suite::Program,
) -> Result<Source, Stop> {
    let beside = || Path::new(suite).parent().unwrap_or(Path::new("")).to_path_buf();
    let folder: Option<PathBuf> = match (&args.dir, bundled) {
        (Some(folder), _) => Some(folder.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(beside()),
    };
    let Some(folder) = folder else {
        let sources = bundled.map(|suite| suite.sources).unwrap_or_default();
        let Some((name, text)) = sources.iter().find(|(name, _)| *name == program.source) else {
            let message = format!("suite `{suite}` comes without `{}`", program.source);
            return Err(suite::fault(session, checked.source, 0..0, message, "give --dir DIR"));
        };
        return Ok(Source { path: PathBuf::from(name), text: text.to_string() });
    };
    let path = folder.join(&program.source);
    let language = LanguageArgs::default();
    let tools = compile::tools(session, &path, &language, Some(&checked.suite.target))?;
    let id = compile::read(session, &path, tools.reader)?;
    Ok(Source { path, text: session.sources.get(id).text.to_string() })
}

/// The rows of the figures.
fn all_rows<'s>(
    session: &mut Session,
    checked: &Checked,
    figures: &[&'s Figure],
    measured: &[Option<Measured>],
) -> Result<Vec<(&'s Figure, Vec<Row>)>, Stop> {
    let mut all = Vec::new();
    for figure in figures {
        let rows = figures::rows(&checked.suite, figure, measured).map_err(|name| {
            let message = format!("figure `{}` names `{name}`, which nothing counts", figure.name);
            let measured = measured.iter().flatten().flat_map(|measured| measured.values());
            let known: BTreeSet<&str> =
                measured.flat_map(|values| values.keys().map(String::as_str)).collect();
            let help = match nearest(&name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "docs/statistics.md lists what is counted".to_string(),
            };
            suite::fault(session, checked.source, figure.value.span(), message, &help)
        })?;
        all.push((*figure, rows));
    }
    Ok(all)
}

/// Which suite it is, and of which sizes its programs are.
fn heading(args: &BenchArgs, checked: &Checked, programs: &[bool]) -> String {
    let which = if args.quick { "quick sizes" } else { "whole sizes" };
    let mut text = format!("{BOLD}{}{BOLD:#}, {which}\n", checked.suite.title);
    let run = checked.suite.programs.iter().zip(programs).filter(|(_, is_run)| **is_run);
    for (program, _) in run {
        let sizes = program.names(size(args)).iter();
        let sizes: Vec<String> = sizes.map(|(name, value)| format!("{name} {value}")).collect();
        if !sizes.is_empty() {
            let _ = writeln!(text, "  {}: {}", program.name, sizes.join(", "));
        }
    }
    text.push('\n');
    text
}

/// All that is known, for scripts.
fn json(
    args: &BenchArgs,
    name: &str,
    checked: &Checked,
    figures: &[(&Figure, Vec<Row>)],
    measured: &[Option<Measured>],
) -> Value {
    let suite = &checked.suite;
    let rows = figures.iter().flat_map(|(_, rows)| rows).map(|row| {
        json!({
            "figure": row.figure,
            "workload": row.workload,
            "paper": row.paper,
            "measured": row.measured,
            "note": row.note,
        })
    });
    let programs = suite.programs.iter().zip(measured).filter(|(_, measured)| measured.is_some());
    let sizes =
        programs.map(|(program, _)| (program.name.clone(), json!(program.names(size(args)))));
    let mut runs = Vec::new();
    for (program, measured) in suite.programs.iter().zip(measured) {
        for (variant, values) in measured.iter().flatten() {
            let mut values: serde_json::Map<String, Value> = values
                .iter()
                .filter(|(_, value)| !matches!(value, nbcc_sim_engine::Value::List(_)))
                .map(|(key, value)| (key.clone(), json!(value)))
                .collect();
            values.insert("workload".into(), json!(program.name));
            values.insert("variant".into(), json!(suite.variants[*variant].name));
            runs.push(Value::Object(values));
        }
    }
    let variants = suite.variants.iter().map(|variant| {
        json!({
            "name": variant.name,
            "machine": variant.machine,
            "choices": variant.choices,
            "set": variant.set,
        })
    });
    let command: Vec<String> = std::env::args().skip(1).collect();
    json!({
        "schema_version": 1,
        "suite": name,
        "title": suite.title,
        "target": suite.target,
        "quick": args.quick,
        "command": format!("nbcc {}", command.join(" ")),
        "sizes": sizes.collect::<serde_json::Map<_, _>>(),
        "variants": variants.collect::<Vec<_>>(),
        "figures": rows.collect::<Vec<_>>(),
        "runs": runs,
    })
}
