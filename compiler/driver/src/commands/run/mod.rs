//! `nbcc run`: compiles if needed, runs the binary on the simulated machine, writes what comes
//! out and says where cycles and energy went. Image pipelines and kernels have a file each; this
//! one has what both need.

pub mod grid;
pub mod images;

use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_sim_engine::Statistics;

use super::{assemble, compile as compile_command, objdump};
use crate::cli::RunArgs;
use crate::codes;
use crate::kind::{self, Kind};
use crate::observe::Watcher;
use crate::registry::{Runner, TargetEntry};
use crate::session::{Session, Stop};
use crate::simulate::RunError;
use crate::{compile, files, records, simulate};
use nbcc_pipeline::{Artifact, PassOptions, Program, Request};

/// Runs the command.
pub fn run(session: &mut Session, args: &RunArgs) -> Result<(), Stop> {
    let record = compile_command::opt_record(None, &args.program);
    let record = args.passes.fsave_optimization_record.then_some(record);
    for path in [&args.stats, &args.trace, &record].into_iter().flatten() {
        files::check_output(session, path)?;
    }
    let path = &args.program;
    let kind = if args.target.language.language.is_some() {
        Kind::Source
    } else {
        kind::of(session, path)
    };
    if kind != Kind::Source {
        refuse_compile_options(session, args)?;
        let binary = match kind {
            Kind::Assembly => assemble::binary_of(session, path, None)?,
            _ => files::read(session, path, files::MAX_DATA)?,
        };
        let entry = objdump::identify(session, &binary, path)?;
        match &entry.runner {
            Runner::Images(runner) => images::run_binary(session, args, entry, runner, binary),
            Runner::Grids(runner) => grid::run_binary(session, args, entry, runner, binary),
        }
    } else {
        let tools =
            compile::tools(session, path, &args.target.language, args.target.target.as_deref())?;
        match &tools.entry.runner {
            Runner::Images(runner) => images::run_source(session, args, tools, runner),
            Runner::Grids(runner) => grid::run_source(session, args, tools, runner),
        }
    }
}

/// Compiles a program to a binary, with the dumps and records that are asked for.
fn binary_of(
    session: &mut Session,
    args: &RunArgs,
    entry: &'static TargetEntry,
    program: Program,
    request: &Request,
    passes: &PassOptions,
) -> Result<Vec<u8>, Stop> {
    let mut watcher = Watcher::new(&args.passes);
    let (artifact, remarks) =
        compile::compile(session, entry, program, request, passes, &mut watcher);
    watcher.finish();
    let Artifact::Binary(binary) = artifact? else {
        panic!("target {} made text of a request for a binary", entry.target.name());
    };
    if args.passes.fsave_optimization_record {
        let text = records::yaml(&remarks, &session.sources);
        let path = compile_command::opt_record(None, &args.program);
        files::write(session, &path, text.as_bytes())?;
    }
    Ok(binary)
}

/// Options that only mean something when a source is compiled.
fn refuse_compile_options(session: &mut Session, args: &RunArgs) -> Result<(), Stop> {
    let passes = &args.passes;
    let given = [
        ("--check", args.check),
        ("--size", args.data.size.is_some()),
        ("--machine", args.target.machine.is_some()),
        ("--set", !args.target.set.is_empty()),
        ("-X", !args.target.choice.is_empty()),
        ("--target", args.target.target.is_some()),
        ("--disable-pass", !passes.disable_pass.is_empty()),
        ("--print-changed", passes.print_changed.is_some()),
        ("--print-after-all", passes.print_after_all),
        ("--print-before-all", passes.print_before_all),
        ("--fsave-optimization-record", passes.fsave_optimization_record),
    ];
    let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("{option} needs a source file: a binary is compiled already");
    let help = "the machine and its parameters are fixed when a program is compiled";
    Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)))
}

/// Refuses the first of the options that is given: it means nothing for this kind of program.
pub fn refuse_options(
    session: &mut Session,
    given: &[(&str, bool)],
    why: &str,
    help: &str,
) -> Result<(), Stop> {
    let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("{option} means nothing here: {why}");
    Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)))
}

/// Reports why a run gave nothing.
fn failed(session: &mut Session, program: &Path, error: RunError) -> Stop {
    let (code, message, help) = match error {
        RunError::Binary(error) => return objdump::broken(session, program, error),
        RunError::Refused(message) => {
            (&codes::REFUSED, message, "use less data, or a machine with more memory")
        }
        RunError::OutOfCycles(message) => {
            (&codes::OUT_OF_CYCLES, message, "allow more with --max-cycles N")
        }
        RunError::Memory(message) => (&codes::NO_MEMORY, message, simulate::LESS_MEMORY),
        RunError::Fault(message) => (
            &codes::FAULT,
            message,
            "look at the place and the unit that the message names: addresses beyond a buffer, \
             barriers that not all reach; `nbcc objdump` shows the instructions",
        ),
    };
    let error = Diagnostic::error(code, message).help(help);
    session.fail(error.in_file(program.display().to_string()))
}

/// As many threads as the environment says in `NBCC_THREADS`, else as there are processors.
fn threads() -> usize {
    let named = std::env::var("NBCC_THREADS").ok().and_then(|number| number.parse().ok());
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    named.unwrap_or_else(processors).clamp(1, 256)
}

/// Writes what `--stats` asks for.
fn write_stats(
    session: &mut Session,
    args: &RunArgs,
    entry: &TargetEntry,
    machine: &str,
    statistics: Option<&Statistics>,
    instructions: u64,
) -> Result<(), Stop> {
    let Some(path) = &args.stats else { return Ok(()) };
    let text = match statistics {
        Some(statistics) => statistics.to_json(),
        // Without timing nothing else is known.
        None => format!(
            "{:#}\n",
            serde_json::json!({
                "schema_version": 1,
                "target": entry.target.name(),
                "machine": { "name": machine },
                "instructions": instructions,
            })
        ),
    };
    files::write(session, path, text.as_bytes())
}
