//! Running sequential functions: arrays and scalars are bound to parameters, what arrays hold at the
//! end is written.

use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_host::function::Bound;
use nbcc_interp::function::Called;
use nbcc_isa::Signature;
use nbcc_pipeline::{Program, signature};

use super::{CHECK_STEPS, account, binary_of, failed, options, refuse_options};
use crate::cli::{DataArgs, RunArgs};
use crate::commands::objdump;
use crate::compile::Tools;
use crate::data::arguments::{self, Place};
use crate::kinds::functions::{FunctionRan, FunctionRequest, FunctionRunner};
use crate::limits::check_steps;
use crate::progress::{waited, watched};
use crate::registry::TargetEntry;
use crate::session::{Session, Stop};
use crate::{calls, check, codes, compile, console, files, report};

/// A binary with the data for its run.
struct Job {
    entry: &'static TargetEntry,
    runner: &'static FunctionRunner,
    binary: Vec<u8>,
    /// The machine's name.
    machine: String,
    signature: Signature,
    arguments: Bound,
    places: Vec<Place>,
}

/// Compiles and runs a source file.
pub fn run_source(
    session: &mut Session,
    args: &RunArgs,
    tools: Tools<'_>,
    runner: &'static FunctionRunner,
) -> Result<(), Stop> {
    refuse_other_options(session, &args.data, args.launch.as_deref())?;
    let entry = tools.entry;
    let passes = compile::pass_options(session, entry, &args.passes)?;
    let request = compile::request(session, entry, &args.target, None)?;
    let program = compile::parse(session, &args.program, tools.reader, &args.data.param)?;
    let Program::Function(mut module, func) = program else {
        panic!("target {} takes functions", entry.target.name());
    };
    compile::specialise(session, &mut module, func, &args.data.param)?;
    let signature = signature(&module.functions[func]);
    let arguments = arguments::gather(session, &signature, &args.data)?;
    let program = Program::Function(module, func);
    let binary = binary_of(session, args, entry, program, &request, &passes)?;
    let job = job(session, args, entry, runner, binary, |_, _| Ok(arguments))?;
    session.flush();
    let ran = simulate(session, args, &job)?;
    let checked = match args.check {
        true => {
            let checked = compile::parse_checked(session, &args.program, tools.reader, &[])?;
            let Program::Function(module, func) = checked else {
                panic!("a program of another kind");
            };
            let steps = check_steps(args.max_cycles, CHECK_STEPS);
            let call = || calls::interpret(&module, func, &job.arguments, steps);
            let reference = waited("interpreting", call);
            let reference = reference.map_err(|trap| calls::report(session, &trap))?;
            compare(session, &job, &ran, &reference)
        }
        false => Ok(String::new()),
    };
    show(session, args, &job, &ran, checked.as_deref().unwrap_or_default())?;
    checked.map(|_| ())
}

/// Runs a binary.
pub fn run_binary(
    session: &mut Session,
    args: &RunArgs,
    entry: &'static TargetEntry,
    runner: &'static FunctionRunner,
    binary: Vec<u8>,
) -> Result<(), Stop> {
    refuse_other_options(session, &args.data, args.launch.as_deref())?;
    let gather = |session: &mut Session, signature: &Signature| {
        arguments::gather(session, signature, &args.data)
    };
    let job = job(session, args, entry, runner, binary, gather)?;
    session.flush();
    let ran = simulate(session, args, &job)?;
    show(session, args, &job, &ran, "")
}

/// Options of other kinds of programs mean nothing for functions.
pub fn refuse_other_options(
    session: &mut Session,
    data: &DataArgs,
    launch: Option<&Path>,
) -> Result<(), Stop> {
    let help = "leave it out: arrays are given with --input NAME=FILE.npy";
    let launch = [("--launch", launch.is_some())];
    refuse_options(session, &launch, "a sequential program has no kernels", help)?;
    let help = "leave it out: the source states the extents of arrays";
    let size = [("--size", data.size.is_some())];
    refuse_options(session, &size, "a sequential program has no images", help)
}

fn job(
    session: &mut Session,
    args: &RunArgs,
    entry: &'static TargetEntry,
    runner: &'static FunctionRunner,
    binary: Vec<u8>,
    gather: impl FnOnce(&mut Session, &Signature) -> Result<Bound, Stop>,
) -> Result<Job, Stop> {
    let described = (runner.describe)(&binary)
        .map_err(|error| objdump::broken(session, &args.program, error))?;
    let signature = described.signature;
    let arguments = gather(session, &signature)?;
    let places = arguments::plan(session, &signature, &args.data.output)?;
    Ok(Job { entry, runner, binary, machine: described.machine, signature, arguments, places })
}

fn simulate(session: &mut Session, args: &RunArgs, job: &Job) -> Result<FunctionRan, Stop> {
    let result = watched(|progress| {
        let arguments = &job.arguments;
        let request = FunctionRequest { arguments, options: options(args, progress) };
        (job.runner.call)(&job.binary, request)
    });
    result.map_err(|error| failed(session, &args.program, error))
}

/// Writes what the call left behind, and says how it went.
fn show(
    session: &mut Session,
    args: &RunArgs,
    job: &Job,
    ran: &FunctionRan,
    checked: &str,
) -> Result<(), Stop> {
    let mut text = account(session, args, job.entry, &job.machine, &ran.measured)?;
    let Job { signature, places, arguments, .. } = job;
    let written = arguments::write(session, signature, places, arguments, &ran.arrays, ran.result)?;
    text.push_str(&written);
    if args.profile {
        text.push_str(&report::profile(&ran.measured.profile, &session.sources));
    }
    text.push_str(checked);
    // Where a check fails, what is wrong is looked for there.
    files::publish(session)?;
    console::print(&text);
    Ok(())
}

/// Compares arrays and result with the interpreter's, bit for bit.
fn compare(
    session: &mut Session,
    job: &Job,
    ran: &FunctionRan,
    reference: &Called,
) -> Result<String, Stop> {
    let mut text = String::from("\n");
    let params = job.signature.params.iter().filter(|param| param.array.is_some());
    for ((param, is), should) in params.zip(&ran.arrays).zip(&reference.arrays) {
        let name = &param.name;
        match check::compare_bytes(is, should, check::ORACLE) {
            Ok(()) => {
                let bytes = is.len();
                text.push_str(&format!("check: {name} equals the interpreter's, {bytes} bytes\n"));
            }
            Err(what) => return Err(differs(session, format!("array `{name}` {what}"))),
        }
    }
    if let Some(ty) = job.signature.result {
        let shown = |bits: Option<u64>| arguments::show(ty, bits.unwrap_or_default());
        let (is, should) = (shown(ran.result), shown(reference.result));
        if is != should {
            return Err(differs(session, format!("the result is {is} instead of {should}")));
        }
        text.push_str(&format!("check: the result equals the interpreter's, {is}\n"));
    }
    Ok(text)
}

fn differs(session: &mut Session, message: String) -> Stop {
    session.fail(Diagnostic::error(&codes::CHECK_FAILED, message).help(check::WHAT_NEXT))
}
