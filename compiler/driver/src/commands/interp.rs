//! `nbcc interp INPUT`: what a program means, computed by the reference interpreter.

use std::collections::BTreeMap;
use std::fmt::Write;

use nbcc_base::Diagnostic;
use nbcc_interp::pipeline::Trap;
use nbcc_ir::{Func, Module};
use nbcc_pipeline::{Program, signature};
use nbcc_stages::bounds::{ParamValues, Region};
use nbcc_stages::{Image, Pipeline};

use super::run::{self, grids as grid_runs};
use crate::calls;
use crate::cli::InterpArgs;
use crate::data::inputs::Loaded;
use crate::data::{arguments, by, gather, outputs};
use crate::launch::{kernels_of, oracle};
use crate::progress::waited;
use crate::session::{Session, Stop};
use crate::{codes, compile, console, limits};

/// Operations on elements of a pipeline at most, where nothing else is said.
pub const MAX_STEPS: u64 = 1 << 40;

/// Instructions of all threads of a launch at most, where nothing else is said.
const MAX_LAUNCH_STEPS: u64 = 1 << 32;

/// Runs the command.
pub fn interp(session: &mut Session, args: &InterpArgs) -> Result<(), Stop> {
    let reader = compile::reader(session, &args.source, &args.language, args.target.as_deref())?;
    match compile::parse(session, &args.source, reader, &args.data.param)? {
        Program::Stages(pipeline) => images(session, args, &pipeline),
        Program::Grids(kernels) => grids(session, args, &kernels.module),
        Program::Function(module, func) => functions(session, args, &module, func),
    }
}

fn images(session: &mut Session, args: &InterpArgs, pipeline: &Pipeline) -> Result<(), Stop> {
    let launch = [("--launch", args.launch.is_some())];
    let help = run::images::NO_LAUNCH;
    run::refuse_options(session, &launch, "an image pipeline has no kernels", help)?;
    let specs = outputs::of_pipeline(pipeline);
    let places = outputs::plan(session, &specs, &args.data.output, &args.source)?;
    let gathered = gather::gather(session, pipeline, &args.data, &args.source)?;
    let steps = args.max_steps.unwrap_or(MAX_STEPS);
    let (params, regions) = (&gathered.params, &gathered.extents.outputs);
    let images = interpret(session, pipeline, &gathered.inputs, params, regions, steps)?;
    let mut text = String::new();
    text.extend(gathered.inputs.iter().map(|(name, input)| input.line(name)));
    for (place, image) in places.iter().zip(&images) {
        let file = outputs::write(session, place, image)?;
        let _ = writeln!(text, "{}: {} {} -> {file}", place.name, by(&image.extent), image.ty);
    }
    console::print(&text);
    Ok(())
}

fn functions(
    session: &mut Session,
    args: &InterpArgs,
    module: &Module,
    func: Func,
) -> Result<(), Stop> {
    run::functions::refuse_other_options(session, &args.data, args.launch.as_deref())?;
    let signature = signature(&module.functions[func]);
    let arguments = arguments::gather(session, &signature, &args.data)?;
    let places = arguments::plan(session, &signature, &args.data.output)?;
    session.flush();
    let steps = args.max_steps.unwrap_or(MAX_LAUNCH_STEPS);
    let returned = waited("interpreting", || calls::interpret(module, func, &arguments, steps))
        .map_err(|trap| calls::report(session, &trap))?;
    let (arrays, result) = (&returned.arrays, returned.result);
    let text = arguments::write(session, &signature, &places, &arguments, arrays, result)?;
    console::print(&text);
    Ok(())
}

fn grids(session: &mut Session, args: &InterpArgs, module: &Module) -> Result<(), Stop> {
    grid_runs::refuse_image_options(session, &args.data)?;
    let kernels = kernels_of(module);
    let (mut plan, launches) =
        grid_runs::read_plan(session, args.launch.as_deref(), &args.source, &kernels)?;
    session.flush();
    let steps = args.max_steps.unwrap_or(MAX_LAUNCH_STEPS);
    let buffers = plan.take_contents();
    let ran = waited("interpreting", || {
        oracle::launch(session, module, &plan, buffers, &launches, steps)
    })?;
    console::print_bytes(&ran.printed);
    let text = grid_runs::write_reads(session, &plan, &ran.buffers)?;
    console::print(&text);
    Ok(())
}

/// Runs the interpreter, for `max_steps` operations on elements at most; the outputs in order.
pub fn interpret(
    session: &mut Session,
    pipeline: &Pipeline,
    inputs: &BTreeMap<String, Loaded>,
    params: &ParamValues,
    outputs: &[Region],
    max_steps: u64,
) -> Result<Vec<Image>, Stop> {
    let images = gather::images(pipeline, inputs);
    waited("interpreting", || {
        nbcc_interp::pipeline::run_within(pipeline, &images, params, outputs, max_steps)
    })
    .map_err(|trap| report(session, trap))
}

/// Reports why the interpreter stopped.
pub fn report(session: &mut Session, trap: Trap) -> Stop {
    let message = trap.to_string();
    match trap {
        Trap::Bounds(found) => {
            for diagnostic in found.iter() {
                session.diagnostics.push(diagnostic.clone());
            }
            Stop::Failed
        }
        Trap::Access { span, .. } => {
            let error = Diagnostic::error(&codes::TRAP, message).at(span, "this access");
            session.fail(error.help("limit the coordinates with `clamp`"))
        }
        Trap::Param { span, .. } => {
            let error = Diagnostic::error(&codes::TRAP, message).at(span, "declared here");
            session.fail(error.help("set it with --param NAME=VALUE, or give it a default"))
        }
        Trap::Steps(_) => {
            session.fail(limits::out_of_steps(format!("the interpreter took {message}")))
        }
        Trap::Memory { .. } => session.fail(limits::no_memory(message)),
        Trap::Input { .. } => {
            let error = Diagnostic::error(&codes::TRAP, message);
            session.fail(error.help("give its data with --input NAME=FILE"))
        }
        Trap::TooLarge { .. } => {
            let error = Diagnostic::error(&codes::TRAP, message);
            session.fail(error.help("ask for fewer elements: --size, `bound`, smaller inputs"))
        }
    }
}
