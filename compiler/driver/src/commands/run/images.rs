//! Running image pipelines: inputs are gathered, outputs written.

use std::collections::BTreeMap;
use std::fmt::Write;

use nbcc_base::Diagnostic;
use nbcc_pipeline::Program;
use nbcc_stages::bounds::{ParamValues, Region};
use nbcc_stages::{Image, Pipeline};

use super::{account, binary_of, failed, options, refuse_options};
use crate::cli::RunArgs;
use crate::commands::objdump;
use crate::compile::Tools;
use crate::data::gather::{self, Gathered};
use crate::data::inputs::{self, Loaded};
use crate::data::{by, outputs, params};
use crate::kinds::images::{ImageProgram, ImageRan, ImageRequest, ImageRunner};
use crate::limits::check_steps;
use crate::progress::watched;
use crate::registry::TargetEntry;
use crate::session::{Session, Stop};
use crate::style::BOLD;
use crate::{check, codes, compile, console, files, limits, pipelines, report};

/// A binary with the data for its run.
struct Job {
    entry: &'static TargetEntry,
    runner: &'static ImageRunner,
    binary: Vec<u8>,
    described: ImageProgram,
    inputs: BTreeMap<String, Loaded>,
    params: BTreeMap<String, u32>,
    places: Vec<outputs::Place>,
    /// What the outputs are to be compared with.
    meaning: Option<Meaning>,
}

/// What the interpreter needs to compute the outputs.
struct Meaning {
    pipeline: Pipeline,
    params: ParamValues,
    outputs: Vec<Region>,
}

/// Compiles and runs a source file.
pub fn run_source(
    session: &mut Session,
    args: &RunArgs,
    tools: Tools<'_>,
    runner: &'static ImageRunner,
) -> Result<(), Stop> {
    refuse_launch(session, args)?;
    let job = from_source(session, args, tools, runner)?;
    run(session, args, &job)
}

/// Runs a binary.
pub fn run_binary(
    session: &mut Session,
    args: &RunArgs,
    entry: &'static TargetEntry,
    runner: &'static ImageRunner,
    binary: Vec<u8>,
) -> Result<(), Stop> {
    refuse_launch(session, args)?;
    let job = from_binary(session, args, entry, runner, binary)?;
    run(session, args, &job)
}

/// What to do instead of `--launch`.
pub const NO_LAUNCH: &str = "leave it out: inputs are given with --input NAME=FILE";

fn refuse_launch(session: &mut Session, args: &RunArgs) -> Result<(), Stop> {
    let given = [("--launch", args.launch.is_some())];
    refuse_options(session, &given, "an image pipeline has no kernels", NO_LAUNCH)
}

fn run(session: &mut Session, args: &RunArgs, job: &Job) -> Result<(), Stop> {
    session.flush();
    let ran = simulate(session, job, args)?;
    let references = match &job.meaning {
        Some(Meaning { pipeline, params, outputs }) => {
            let steps = check_steps(args.max_cycles, pipelines::MAX_STEPS);
            Some(pipelines::interpret(session, pipeline, &job.inputs, params, outputs, steps)?)
        }
        None => None,
    };
    let mut text = String::new();
    text.extend(job.inputs.iter().map(|(name, input)| input.line(name)));
    text.push_str(&account(session, args, job.entry, &job.described.machine, &ran.measured)?);
    for (place, image) in job.places.iter().zip(&ran.outputs) {
        let file = outputs::write(session, place, image)?;
        let _ = writeln!(
            text,
            "{}: {} {} -> {BOLD}{file}{BOLD:#}",
            place.name,
            by(&image.extent),
            image.ty
        );
    }
    if args.profile {
        text.push_str(&report::profile(&ran.measured.profile, &session.sources));
    }
    let checked = match &references {
        Some(references) => compare(session, job, &ran, references, &mut text),
        None => Ok(()),
    };
    // What is wrong is looked for there.
    files::publish(session)?;
    console::print(&text);
    checked
}

/// A program compiled for the data that it is to run on.
fn from_source(
    session: &mut Session,
    args: &RunArgs,
    tools: Tools<'_>,
    runner: &'static ImageRunner,
) -> Result<Job, Stop> {
    let path = &args.program;
    let entry = tools.entry;
    let passes = compile::pass_options(session, entry, &args.passes)?;
    let mut request = compile::request(session, entry, &args.target, args.data.size.as_ref())?;
    let program = compile::parse(session, path, tools.reader, &args.data.param)?;
    let Program::Stages(pipeline) = program.clone() else {
        panic!("target {} takes image pipelines", entry.target.name());
    };
    let specs = outputs::of_pipeline(&pipeline);
    let places = outputs::plan(session, &specs, &args.data.output, path)?;
    let gathered = gather::gather(session, &pipeline, &args.data, path)?;
    let extents = |input: &Loaded| input.image.extent.clone();
    request.input_extents =
        gathered.inputs.iter().map(|(name, input)| (name.clone(), extents(input))).collect();
    let params = words(&pipeline, &gathered);
    request.params = params.clone();
    let binary = binary_of(session, args, entry, program, &request, &passes)?;
    let described =
        (runner.describe)(&binary).map_err(|error| objdump::broken(session, path, error))?;
    let outputs = gathered.extents.outputs.clone();
    let meaning = Meaning { pipeline, params: gathered.params.clone(), outputs };
    let meaning = args.check.then_some(meaning);
    let params = params
        .into_iter()
        .filter(|(name, _)| described.params.iter().any(|param| param.name == *name))
        .collect();
    let inputs = gathered.inputs;
    Ok(Job { entry, runner, binary, described, inputs, params, places, meaning })
}

/// The words of a pipeline's parameters.
pub fn words(pipeline: &Pipeline, gathered: &Gathered) -> BTreeMap<String, u32> {
    pipeline
        .params
        .iter()
        .filter_map(|(param, data)| Some((data.name.clone(), gathered.params[param]?)))
        .collect()
}

/// A binary with data of the extents that it was compiled for.
fn from_binary(
    session: &mut Session,
    args: &RunArgs,
    entry: &'static TargetEntry,
    runner: &'static ImageRunner,
    binary: Vec<u8>,
) -> Result<Job, Stop> {
    let path = &args.program;
    let described =
        (runner.describe)(&binary).map_err(|error| objdump::broken(session, path, error))?;
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
    Ok(Job { entry, runner, binary, described, inputs, params, places, meaning: None })
}

fn simulate(session: &mut Session, job: &Job, args: &RunArgs) -> Result<ImageRan, Stop> {
    let inputs = job.inputs.values().map(|input| 4 * input.image.data.len() as u64);
    let bytes: u64 = inputs.sum();
    if !nbcc_base::has_room(bytes) {
        let message = format!("the inputs take {bytes} bytes more, for which there is no memory");
        return Err(session.fail(limits::no_memory(message)));
    }
    let result = watched(|progress| {
        let request = ImageRequest {
            inputs: job.inputs.iter().map(|(name, i)| (name.clone(), i.image.clone())).collect(),
            params: job.params.clone(),
            options: options(args, progress),
        };
        (job.runner.run)(&job.binary, request)
    });
    result.map_err(|error| failed(session, &args.program, error))
}

/// Compares outputs with their references and says what was found.
fn compare(
    session: &mut Session,
    job: &Job,
    ran: &ImageRan,
    references: &[Image],
    text: &mut String,
) -> Result<(), Stop> {
    let mut result = Ok(());
    text.push('\n');
    for ((spec, output), reference) in
        job.described.outputs.iter().zip(&ran.outputs).zip(references)
    {
        let found = check::compare(output, reference);
        match found.verdict(&spec.name) {
            Ok(line) => {
                let _ = writeln!(text, "check: {line}");
            }
            Err(message) => {
                let error = Diagnostic::error(&codes::CHECK_FAILED, message);
                result = Err(session.fail(error.help(found.what_next())));
            }
        }
    }
    result
}
