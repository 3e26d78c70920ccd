//! `nbcc interp INPUT`: what a program means, computed by the reference interpreter.

use std::fmt::Write;

use nbcc_ir::{Func, Module};
use nbcc_pipeline::{Program, signature};
use nbcc_stages::Pipeline;

use super::run::{self, grids as grid_runs};
use crate::cli::InterpArgs;
use crate::data::{arguments, by, gather, outputs};
use crate::launch::{kernels_of, oracle};
use crate::progress::waited;
use crate::session::{Session, Stop};
use crate::{calls, compile, console, pipelines};

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
    let steps = args.max_steps.unwrap_or(pipelines::MAX_STEPS);
    let (params, regions) = (&gathered.params, &gathered.extents.outputs);
    let images = pipelines::interpret(session, pipeline, &gathered.inputs, params, regions, steps)?;
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
