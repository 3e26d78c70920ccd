//! `nbcc run`: compiles if needed, runs the binary on the simulated machine, writes the outputs
//! and says where cycles and energy went.

use std::collections::BTreeMap;
use std::fmt::Write;

use nbcc_base::Diagnostic;
use nbcc_pipeline::Artifact;
use nbcc_sim_engine::Progress;
use nbcc_stages::{Image, Pipeline};

use super::{compile as compile_command, interp, objdump};
use crate::cli::RunArgs;
use crate::data::gather::{self, Gathered};
use crate::data::inputs::{self, Loaded};
use crate::data::{by, outputs, params};
use crate::observe::Watcher;
use crate::registry::TargetEntry;
use crate::session::{Session, Stop};
use crate::simulate::{Described, Ran, RunError, RunRequest};
use crate::{check, codes, compile, console, files, records, report};

/// A binary with the data for its run.
struct Job {
    entry: &'static TargetEntry,
    binary: Vec<u8>,
    described: Described,
    inputs: BTreeMap<String, Loaded>,
    params: BTreeMap<String, u32>,
    places: Vec<outputs::Place>,
    /// The outputs that the interpreter computed, where they are to be compared.
    references: Option<Vec<Image>>,
}

/// Runs the command.
pub fn run(session: &mut Session, args: &RunArgs) -> Result<(), Stop> {
    for path in [&args.stats, &args.trace].into_iter().flatten() {
        files::check_folder(session, path)?;
    }
    let is_binary = args.program.extension().is_some_and(|extension| extension == "nbx");
    let job = if is_binary { from_binary(session, args)? } else { from_source(session, args)? };
    session.flush();
    let ran = simulate(session, &job, args)?;
    let mut text = String::new();
    for (name, input) in &job.inputs {
        let image = &input.image;
        let _ = writeln!(text, "{name}: {} {} from {}", by(&image.extent), image.ty, input.from);
    }
    write_records(session, &job, args, &ran)?;
    if let Some(statistics) = &ran.statistics {
        text.push_str(&report::table(statistics));
    } else {
        let count = report::grouped(ran.instructions);
        let _ = writeln!(text, "{count} instructions, no timing (--fast)");
    }
    for (place, image) in job.places.iter().zip(&ran.outputs) {
        let file = outputs::write(session, place, image)?;
        let _ = writeln!(
            text,
            "{}: {} {} -> \x1b[1m{file}\x1b[0m",
            place.name,
            by(&image.extent),
            image.ty
        );
    }
    if args.profile {
        text.push_str(&report::profile(&ran.profile, &session.sources));
    }
    let checked = match &job.references {
        Some(references) => compare(session, &job, &ran, references, &mut text),
        None => Ok(()),
    };
    console::print(&text);
    checked
}

/// A program compiled for the data that it is to run on.
fn from_source(session: &mut Session, args: &RunArgs) -> Result<Job, Stop> {
    let path = &args.program;
    let tools = compile::tools(session, path, args.target.target.as_deref())?;
    let entry = tools.entry;
    let passes = compile::pass_options(session, entry, &args.passes)?;
    let mut request = compile::request(session, entry, &args.target, args.data.size.as_ref())?;
    let program = compile::parse(session, path, tools)?;
    let pipeline = interp::pipeline_of(session, &program, path)?.clone();
    let specs = outputs::of_pipeline(&pipeline);
    let places = outputs::plan(session, &specs, &args.data.output, path)?;
    let gathered = gather::gather(session, &pipeline, &args.data, path)?;
    let extents = |input: &Loaded| input.image.extent.clone();
    request.input_extents =
        gathered.inputs.iter().map(|(name, input)| (name.clone(), extents(input))).collect();
    let params = words(&pipeline, &gathered);
    request.params = params.clone();
    session.flush();
    let mut watcher = Watcher::new(&args.passes);
    let (artifact, remarks) =
        compile::compile(session, entry, program, &request, &passes, &mut watcher);
    watcher.finish();
    let Artifact::Binary(binary) = artifact? else {
        panic!("target {} made text of a request for a binary", entry.target.name());
    };
    if args.passes.fsave_optimization_record {
        let text = records::yaml(&remarks, &session.sources);
        files::write(session, &compile_command::opt_record(path), text.as_bytes())?;
    }
    let described = (entry.describe)(&binary)
        .unwrap_or_else(|error| panic!("a binary just made cannot be read: {error}"));
    let references = match args.check {
        true => Some(interp::interpret(session, &pipeline, &gathered)?),
        false => None,
    };
    let params = params
        .into_iter()
        .filter(|(name, _)| described.params.iter().any(|param| param.name == *name))
        .collect();
    let inputs = gathered.inputs;
    Ok(Job { entry, binary, described, inputs, params, places, references })
}

/// The words of a pipeline's parameters.
fn words(pipeline: &Pipeline, gathered: &Gathered) -> BTreeMap<String, u32> {
    pipeline
        .params
        .iter()
        .filter_map(|(param, data)| Some((data.name.clone(), gathered.params[param]?)))
        .collect()
}

/// A binary with data of the extents that it was compiled for.
fn from_binary(session: &mut Session, args: &RunArgs) -> Result<Job, Stop> {
    let path = &args.program;
    refuse_compile_options(session, args)?;
    let binary = files::read(session, path, files::MAX_DATA)?;
    let entry = objdump::identify(session, &binary, path)?;
    let described =
        (entry.describe)(&binary).map_err(|error| objdump::broken(session, path, error))?;
    let places = outputs::plan(session, &described.outputs, &args.data.output, path)?;
    let known: Vec<_> =
        described.params.iter().map(|param| (param.name.clone(), param.ty)).collect();
    let set = params::read(session, &known, &args.data.param)?;
    let mut params = BTreeMap::new();
    for param in &described.params {
        match set.get(&param.name) {
            Some(&literal) => {
                let word = nbcc_stages::scalar::literal_word(param.ty, literal);
                params.insert(param.name.clone(), word);
            }
            None if param.is_required => {
                let message = format!("parameter `{}` has no value", param.name);
                let help = format!("set it with --param {}=VALUE", param.name);
                return Err(session.fail(Diagnostic::error(&codes::NO_PARAM, message).help(help)));
            }
            None => {}
        }
    }
    let mut inputs = inputs::given(session, &described.inputs, &args.data.input)?;
    inputs::add_beside(session, &described.inputs, &mut inputs, path)?;
    inputs::add_bundled(session, &described.inputs, &mut inputs, path)?;
    Ok(Job { entry, binary, described, inputs, params, places, references: None })
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

fn simulate(session: &mut Session, job: &Job, args: &RunArgs) -> Result<Ran, Stop> {
    let bar = console::is_watched().then(|| {
        let bar = indicatif::ProgressBar::new_spinner();
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        bar
    });
    let mut progress = |now: Progress| {
        if let Some(bar) = &bar {
            bar.set_message(format!("{} cycles, {} instructions", now.cycles, now.instructions));
        }
    };
    let request = RunRequest {
        inputs: job.inputs.iter().map(|(name, i)| (name.clone(), i.image.clone())).collect(),
        params: job.params.clone(),
        fast: args.fast,
        max_cycles: args.max_cycles,
        trace: args.trace.is_some(),
        threads: threads(),
        progress: &mut progress,
    };
    let result = (job.entry.run)(&job.binary, request);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    result.map_err(|error| {
        let file = args.program.display().to_string();
        let (code, message) = match error {
            RunError::Binary(error) => return objdump::broken(session, &args.program, error),
            RunError::Refused(message) => (&codes::REFUSED, message),
            RunError::OutOfCycles(message) => (&codes::OUT_OF_CYCLES, message),
            RunError::Fault(message) => (&codes::FAULT, message),
        };
        session.fail(Diagnostic::error(code, message).in_file(file))
    })
}

/// As many threads as the environment says in `NBCC_THREADS`, else as there are processors.
fn threads() -> usize {
    let named = std::env::var("NBCC_THREADS").ok().and_then(|number| number.parse().ok());
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    named.unwrap_or_else(processors).clamp(1, 256)
}

/// Writes what `--stats` and `--trace` ask for.
fn write_records(session: &mut Session, job: &Job, args: &RunArgs, ran: &Ran) -> Result<(), Stop> {
    if let Some(path) = &args.stats {
        let text = match &ran.statistics {
            Some(statistics) => statistics.to_json(),
            // Without timing nothing else is known.
            None => format!(
                "{:#}\n",
                serde_json::json!({
                    "schema_version": 1,
                    "target": job.entry.target.name(),
                    "machine": { "name": job.described.machine },
                    "instructions": ran.instructions,
                })
            ),
        };
        files::write(session, path, text.as_bytes())?;
    }
    if let (Some(path), Some(trace)) = (&args.trace, &ran.trace) {
        let mut bytes = Vec::new();
        trace.write(&mut bytes, ran.cycle_ns).unwrap_or_default();
        files::write(session, path, &bytes)?;
    }
    Ok(())
}

/// Compares outputs with their references and says what was found.
fn compare(
    session: &mut Session,
    job: &Job,
    ran: &Ran,
    references: &[Image],
    text: &mut String,
) -> Result<(), Stop> {
    let mut result = Ok(());
    text.push('\n');
    for ((spec, output), reference) in
        job.described.outputs.iter().zip(&ran.outputs).zip(references)
    {
        match check::compare(output, reference).verdict(&spec.name) {
            Ok(line) => {
                let _ = writeln!(text, "check: {line}");
            }
            Err(message) => {
                result = Err(session.fail(Diagnostic::error(&codes::CHECK_FAILED, message)));
            }
        }
    }
    result
}
