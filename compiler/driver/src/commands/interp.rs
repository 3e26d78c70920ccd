//! `nbcc interp INPUT`: what a program means, computed by the reference interpreter.

use std::fmt::Write;
use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_interp::pipeline::Trap;
use nbcc_pipeline::Program;
use nbcc_stages::{Image, Pipeline};

use crate::cli::InterpArgs;
use crate::data::gather::{self, Gathered};
use crate::data::{by, outputs};
use crate::session::{Session, Stop};
use crate::{codes, compile, console};

/// Runs the command.
pub fn interp(session: &mut Session, args: &InterpArgs) -> Result<(), Stop> {
    let tools = compile::tools(session, &args.source, args.target.as_deref())?;
    let program = compile::parse(session, &args.source, tools)?;
    let pipeline = pipeline_of(session, &program, &args.source)?;
    let specs = outputs::of_pipeline(pipeline);
    let places = outputs::plan(session, &specs, &args.data.output, &args.source)?;
    let gathered = gather::gather(session, pipeline, &args.data, &args.source)?;
    session.flush();
    let images = interpret(session, pipeline, &gathered)?;
    let mut text = String::new();
    for (name, input) in &gathered.inputs {
        let image = &input.image;
        let _ = writeln!(text, "{name}: {} {} from {}", by(&image.extent), image.ty, input.from);
    }
    for (place, image) in places.iter().zip(&images) {
        let file = outputs::write(session, place, image)?;
        let _ = writeln!(text, "{}: {} {} -> {file}", place.name, by(&image.extent), image.ty);
    }
    console::print(&text);
    Ok(())
}

/// The image pipeline that a program is.
pub fn pipeline_of<'a>(
    session: &mut Session,
    program: &'a Program,
    path: &Path,
) -> Result<&'a Pipeline, Stop> {
    match program {
        Program::Stages(pipeline) => Ok(pipeline),
        Program::Ir(_) => {
            let message = format!("`{}` is no image pipeline", path.display());
            Err(session.fail(Diagnostic::error(&codes::UNKNOWN_KIND, message)))
        }
    }
}

/// Runs the interpreter; the outputs in order.
pub fn interpret(
    session: &mut Session,
    pipeline: &Pipeline,
    gathered: &Gathered,
) -> Result<Vec<Image>, Stop> {
    let images = gather::images(pipeline, gathered);
    nbcc_interp::pipeline::run(pipeline, &images, &gathered.params, &gathered.extents.outputs)
        .map_err(|trap| report(session, trap))
}

fn report(session: &mut Session, trap: Trap) -> Stop {
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
            session.fail(Diagnostic::error(&codes::TRAP, message).at(span, "declared here"))
        }
        Trap::Input { .. } | Trap::TooLarge { .. } => {
            session.fail(Diagnostic::error(&codes::TRAP, message))
        }
    }
}
