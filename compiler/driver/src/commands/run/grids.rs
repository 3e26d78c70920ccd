//! Running kernels: a launch file says on which grids and buffers, what is read back is written.

use std::fmt::Write;
use std::path::Path;

use nbcc_base::{Diagnostic, SourceId};
use nbcc_pipeline::Program;

use super::{CHECK_STEPS, account, binary_of, failed, options, refuse_options};
use crate::cli::{DataArgs, RunArgs};
use crate::commands::objdump;
use crate::compile::Tools;
use crate::data::arrays;
use crate::kinds::RunError;
use crate::kinds::grids::{Contents, GridLaunch, GridRan, GridRequest, GridRunner, KernelSpec};
use crate::launch::file::{self, Plan};
use crate::launch::{self, kernels_of, oracle};
use crate::limits::check_steps;
use crate::progress::{waited, watched};
use crate::registry::TargetEntry;
use crate::session::{Session, Stop};
use crate::style::BOLD;
use crate::{check, codes, compile, console, files, limits, report};

/// Compiles and runs a source file.
pub fn run_source(
    session: &mut Session,
    args: &RunArgs,
    tools: Tools<'_>,
    runner: &'static GridRunner,
) -> Result<(), Stop> {
    refuse_image_options(session, &args.data)?;
    let entry = tools.entry;
    let passes = compile::pass_options(session, entry, &args.passes)?;
    let request = compile::request(session, entry, &args.target, None)?;
    let program = compile::parse(session, &args.program, tools.reader, &[])?;
    let Program::Grids(mut grids) = program else {
        panic!("target {} takes kernels", entry.target.name());
    };
    let module = grids.module.clone();
    let (mut plan, launches) = plan(session, args, &kernels_of(&module))?;
    launch::bound_blocks(&mut grids.module, &launches);
    let binary = binary_of(session, args, entry, Program::Grids(grids), &request, &passes)?;
    let described = (runner.describe)(&binary)
        .map_err(|error| objdump::broken(session, &args.program, error))?;
    let buffers = plan.take_contents();
    // Only a check needs them twice.
    let bytes = buffers.iter().map(|buffer| match buffer {
        Contents::Bytes(bytes) => bytes.len() as u64,
        Contents::Zeros(_) => 0,
    });
    if args.check && !nbcc_base::has_room(bytes.sum()) {
        let message = "there is no memory for the buffers of the check";
        return Err(session.fail(limits::no_memory(message)));
    }
    let kept = if args.check { buffers.clone() } else { Vec::new() };
    let ran = simulate(session, args, runner, &binary, (&plan, buffers), launches.clone())?;
    let checked = match args.check {
        true => {
            session.flush();
            let steps = check_steps(args.max_cycles, CHECK_STEPS);
            let reference = waited("interpreting", || {
                oracle::launch(session, &module, &plan, kept, &launches, steps)
            })?;
            compare(session, &plan, &ran, &reference)
        }
        false => Ok(String::new()),
    };
    let lines = checked.as_deref().unwrap_or_default().to_string();
    show(session, args, entry, &described.machine, &plan, &ran, &lines)?;
    checked.map(|_| ())
}

/// Runs a binary.
pub fn run_binary(
    session: &mut Session,
    args: &RunArgs,
    entry: &'static TargetEntry,
    runner: &'static GridRunner,
    binary: Vec<u8>,
) -> Result<(), Stop> {
    refuse_image_options(session, &args.data)?;
    let described = (runner.describe)(&binary)
        .map_err(|error| objdump::broken(session, &args.program, error))?;
    let (mut plan, launches) = plan(session, args, &described.kernels)?;
    let buffers = plan.take_contents();
    let ran = simulate(session, args, runner, &binary, (&plan, buffers), launches)?;
    show(session, args, entry, &described.machine, &plan, &ran, "")
}

/// Options of images mean nothing for kernels.
pub fn refuse_image_options(session: &mut Session, data: &DataArgs) -> Result<(), Stop> {
    let given = [
        ("--input", !data.input.is_empty()),
        ("--output", !data.output.is_empty()),
        ("--param", !data.param.is_empty()),
        ("--size", data.size.is_some()),
    ];
    let help = "say in a file what each argument is, and give it with --launch FILE.toml";
    refuse_options(session, &given, "kernels get their data by a launch file", help)
}

fn plan(
    session: &mut Session,
    args: &RunArgs,
    kernels: &[KernelSpec],
) -> Result<(Plan, Vec<GridLaunch>), Stop> {
    read_plan(session, args.launch.as_deref(), &args.program, kernels)
}

/// The launch file of a program, checked against its kernels.
pub fn read_plan(
    session: &mut Session,
    named: Option<&Path>,
    program: &Path,
    kernels: &[KernelSpec],
) -> Result<(Plan, Vec<GridLaunch>), Stop> {
    let path = launch::path(session, named, program)?;
    let (source, plan): (SourceId, Plan) = file::read(session, &path, program)?;
    let launches = launch::resolve(session, source, &plan, kernels)?;
    Ok((plan, launches))
}

fn simulate(
    session: &mut Session,
    args: &RunArgs,
    runner: &GridRunner,
    binary: &[u8],
    (plan, buffers): (&Plan, Vec<Contents>),
    launches: Vec<GridLaunch>,
) -> Result<GridRan, Stop> {
    session.flush();
    let mut ran = watched(|progress| {
        let request = GridRequest {
            symbols: plan.symbols.iter().map(|s| (s.name.clone(), s.bytes.clone())).collect(),
            buffers,
            launches,
            options: options(args, progress),
        };
        (runner.launch)(binary, request)
    });
    if let Some(error) = ran.failure.take() {
        console::print_bytes(&ran.printed);
        if let RunError::Symbol(name, size) = &error
            && let Some(symbol) = plan.symbols.iter().find(|symbol| symbol.name == *name)
        {
            return Err(launch::wrong_symbol(session, symbol, *size));
        }
        return Err(failed(session, &args.program, error));
    }
    Ok(ran)
}

/// Writes what is read back, and says how the run went.
fn show(
    session: &mut Session,
    args: &RunArgs,
    entry: &TargetEntry,
    machine: &str,
    plan: &Plan,
    ran: &GridRan,
    checked: &str,
) -> Result<(), Stop> {
    console::print_bytes(&ran.printed);
    let mut text = account(session, args, entry, machine, &ran.measured)?;
    text.push_str(&write_reads(session, plan, &ran.buffers)?);
    if args.profile {
        text.push_str(&report::profile(&ran.measured.profile, &session.sources));
        if let Some(statistics) = &ran.measured.statistics {
            text.push_str(&report::candidates(statistics));
        }
    }
    text.push_str(checked);
    // Nothing need stand behind the table: then it ends as any text does.
    if text.ends_with("\n\n") {
        text.pop();
    }
    // Where a check fails, what is wrong is looked for there.
    files::publish(session)?;
    console::print(&text);
    Ok(())
}

/// Writes the buffers that are read back; a line for each.
pub fn write_reads(
    session: &mut Session,
    plan: &Plan,
    buffers: &[Vec<u8>],
) -> Result<String, Stop> {
    let mut text = String::new();
    for read in &plan.reads {
        let bytes = &buffers[read.buffer];
        session.with_name_at(read.at, |session| {
            arrays::write(session, &read.path, &read.form, bytes)
        })?;
        let name = &plan.buffers[read.buffer].name;
        let file = read.path.display();
        let _ = writeln!(text, "{name}: {} bytes -> {BOLD}{file}{BOLD:#}", bytes.len());
    }
    Ok(text)
}

/// Compares buffers and output with the interpreter's, bit for bit.
fn compare(
    session: &mut Session,
    plan: &Plan,
    ran: &GridRan,
    reference: &GridRan,
) -> Result<String, Stop> {
    let mut text = String::from("\n");
    for ((buffer, is), should) in plan.buffers.iter().zip(&ran.buffers).zip(&reference.buffers) {
        match check::compare_bytes(is, should, check::ORACLE)
            .map_err(|what| format!("`{}` {what}", buffer.name))
        {
            Ok(()) => {
                let (name, size) = (&buffer.name, is.len());
                let _ = writeln!(text, "check: {name} equals the interpreter's, {size} bytes");
            }
            Err(message) => {
                let error = Diagnostic::error(&codes::CHECK_FAILED, format!("buffer {message}"));
                return Err(session.fail(error.help(check::MAY_BE_ORDER)));
            }
        }
    }
    if lines(&ran.printed) != lines(&reference.printed) {
        let message = "what the kernels printed differs from the interpreter's";
        let error = Diagnostic::error(&codes::CHECK_FAILED, message).help(check::MAY_BE_ORDER);
        return Err(session.fail(error));
    }
    if ran.printed != reference.printed {
        text.push_str("check: the interpreter prints the same lines, in another order\n");
    }
    Ok(text)
}

/// The lines that kernels printed, sorted: threads print in the order in which they come to it.
fn lines(printed: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = printed.split(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_are_the_same_in_any_order() {
        assert_eq!(lines(b"a 0\nb 0\na 1\n"), lines(b"a 0\na 1\nb 0\n"));
        assert_ne!(lines(b"a 0\na 0\nb 0\n"), lines(b"a 0\nb 0\n"));
        assert_ne!(lines(b"a 0\nb"), lines(b"a 0\nb 0\n"));
    }
}
