//! Image pipelines on the interpreter, and what is said where one comes to no end.

use std::collections::BTreeMap;

use nbcc_base::Diagnostic;
use nbcc_interp::pipeline::Trap;
use nbcc_stages::bounds::{ParamValues, Region};
use nbcc_stages::{Image, Pipeline};

use crate::data::gather;
use crate::data::inputs::Loaded;
use crate::progress::waited;
use crate::session::{Session, Stop};
use crate::{codes, limits};

/// Operations on elements of a pipeline at most, where nothing else is said.
pub const MAX_STEPS: u64 = 1 << 40;

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
