//! `nbcc run`: compiles if needed, runs the binary on the simulated machine, writes what comes
//! out and says where cycles and energy went. Each kind of program has a file; this one has what all
//! need.

pub mod functions;
pub mod grids;
pub mod images;

use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_sim_engine::Progress;

use super::{assemble, compile as compile_command, objdump};
use crate::cli::RunArgs;
use crate::codes;
use crate::kind::{self, Kind};
use crate::kinds::{Measured, RunError, RunOptions};
use crate::observe::Watcher;
use crate::registry::{Runner, TargetEntry};
use crate::session::{Session, Stop};
use crate::{calls, compile, files, launch, limits, profile, records, report};
use nbcc_pipeline::{Artifact, PassOptions, Program, Request};

/// Runs the command.
pub fn run(session: &mut Session, args: &RunArgs) -> Result<(), Stop> {
    check_threads(session)?;
    let record = compile_command::opt_record(None, &args.program);
    let record = args.passes.fsave_optimization_record.then_some(record);
    for path in [&args.stats, &args.trace, &args.profile_out, &record].into_iter().flatten() {
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
        refuse_trace(session, args, entry)?;
        match &entry.runner {
            Runner::Images(runner) => images::run_binary(session, args, entry, runner, binary),
            Runner::Grids(runner) => grids::run_binary(session, args, entry, runner, binary),
            Runner::Function(runner) => functions::run_binary(session, args, entry, runner, binary),
        }
    } else {
        let tools =
            compile::tools(session, path, &args.target.language, args.target.target.as_deref())?;
        refuse_trace(session, args, tools.entry)?;
        match &tools.entry.runner {
            Runner::Images(runner) => images::run_source(session, args, tools, runner),
            Runner::Grids(runner) => grids::run_source(session, args, tools, runner),
            Runner::Function(runner) => functions::run_source(session, args, tools, runner),
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
        ("--profile-use", args.target.profile_use.is_some()),
        ("--target", args.target.target.is_some()),
        ("--entry", args.target.language.entry.is_some()),
        ("-D", !args.target.language.define.is_empty()),
        ("-I", !args.target.language.include.is_empty()),
        ("-O", passes.level.is_some()),
        ("--verify-each", passes.verify_each),
        ("--time-passes", passes.time_passes),
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
pub fn failed(session: &mut Session, program: &Path, error: RunError) -> Stop {
    let mut at = None;
    let (code, message, help) = match error {
        RunError::Binary(error) => return objdump::broken(session, program, error),
        RunError::Endless(message, until) => {
            return launch::oracle::endless(session, message, until);
        }
        RunError::Launch(message, span) => {
            let error = Diagnostic::error(&codes::WRONG_LAUNCH, message).help(LAUNCH_LIMITS);
            return session.fail(error.at_some(span, "launched here"));
        }
        RunError::Symbol(name, size) => {
            return session.fail(launch::symbol_error(&name, size));
        }
        RunError::Trap(trap, place) => return calls::report_trap(session, &trap, place.as_ref()),
        RunError::Refused(message) => {
            (&codes::REFUSED, message, "use less data, or a machine with more memory")
        }
        RunError::OutOfCycles(message, place) => {
            at = place;
            (&codes::OUT_OF_CYCLES, message, "allow more with --max-cycles N")
        }
        RunError::Memory(message) => (&codes::NO_MEMORY, message, limits::LESS_MEMORY),
        RunError::Fault(message, place) => {
            at = place;
            let help = "look at the place and the unit that the message names: addresses beyond a \
                        buffer, barriers that not all reach; `nbcc objdump` shows the instructions";
            (&codes::FAULT, message, help)
        }
    };
    let error = Diagnostic::error(code, message).help(help);
    if let Some(span) = at.and_then(|place| calls::span_of(session, &place)) {
        return session.fail(error.at(span, "it was here"));
    }
    session.fail(error.in_file(program.display().to_string()))
}

/// Instructions that the interpreter takes at most for a check, of a launch those of all threads: more than any
/// run that ends within reason.
const CHECK_STEPS: u64 = 1 << 36;

/// What to do about a launch that the machine does not take.
const LAUNCH_LIMITS: &str = "ask for less, or for a machine that has more; `nbcc targets --machine NAME` lists what \
                             machines have";

/// The variable that says how many threads simulate.
const THREADS: &str = "NBCC_THREADS";

/// Refuses a number of threads in the environment that is none.
pub fn check_threads(session: &mut Session) -> Result<(), Stop> {
    let Some(named) = std::env::var_os(THREADS).filter(|named| !named.is_empty()) else {
        return Ok(());
    };
    let named = named.to_string_lossy();
    if named.parse::<usize>().is_ok_and(|number| number > 0) {
        return Ok(());
    }
    let message =
        format!("the environment variable {THREADS} is `{named}`, which is no positive number");
    let help = "set it to a number of threads, or unset it to use every processor";
    Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)))
}

/// As many threads as the environment says, which [`check_threads`] has looked at, else as there are
/// processors.
pub fn threads() -> usize {
    let named = std::env::var(THREADS).ok().and_then(|number| number.parse().ok());
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    named.unwrap_or_else(processors).clamp(1, 256)
}

/// How the command line asks for a run.
fn options<'a>(args: &RunArgs, progress: &'a mut dyn FnMut(Progress)) -> RunOptions<'a> {
    RunOptions {
        fast: args.fast,
        max_cycles: args.max_cycles,
        trace: args.trace.is_some(),
        threads: threads(),
        progress,
    }
}

/// Writes what `--stats`, `--profile-out` and `--trace` ask for: where cycles and energy went, as text.
fn account(
    session: &mut Session,
    args: &RunArgs,
    entry: &TargetEntry,
    machine: &str,
    measured: &Measured,
) -> Result<String, Stop> {
    if let Some(path) = &args.stats {
        let text = match &measured.statistics {
            Some(statistics) => statistics.to_json(),
            // Without timing nothing else is known.
            None => format!(
                "{:#}\n",
                serde_json::json!({
                    "schema_version": 1,
                    "target": entry.target.name(),
                    "machine": { "name": machine },
                    "instructions": measured.instructions,
                })
            ),
        };
        files::write(session, path, text.as_bytes())?;
    }
    if let Some(path) = &args.profile_out {
        let text = profile::to_json(entry.target.name(), &measured.profile);
        files::write(session, path, text.as_bytes())?;
    }
    if let (Some(path), Some(trace)) = (&args.trace, &measured.trace) {
        let mut bytes = Vec::new();
        trace.write(&mut bytes, measured.cycle_ns).unwrap_or_default();
        files::write(session, path, &bytes)?;
    }
    let Some(statistics) = &measured.statistics else {
        let count = report::grouped(measured.instructions);
        return Ok(format!("{count} {}, no timing (--fast)\n", entry.report.instructions));
    };
    let mut text = report::table(statistics, entry.report.core);
    if let Some(note) = entry.report.note {
        text.push_str(note);
        text.push_str("\n\n");
    }
    Ok(text)
}

/// A machine may keep no timeline.
fn refuse_trace(session: &mut Session, args: &RunArgs, entry: &TargetEntry) -> Result<(), Stop> {
    let asks = args.trace.is_some() && !entry.report.has_trace;
    let why = format!("the simulator of target {} keeps no timeline", entry.target.name());
    let help = "--profile shows where instructions are issued, --stats FILE.json what was counted";
    refuse_options(session, &[("--trace", asks)], &why, help)
}
