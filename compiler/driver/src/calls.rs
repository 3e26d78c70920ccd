//! Calls of sequential functions on the interpreter.

use nbcc_base::Diagnostic;
use nbcc_host::function::Bound;
use nbcc_interp::function::{self, Called, Given, Options, Trap, TrapKind};
use nbcc_ir::{Func, Module};

use crate::session::{Session, Stop};
use crate::{codes, limits};

/// Calls a function on arguments that are bound to its signature, for `max_steps` instructions at
/// most.
pub fn interpret(
    module: &Module,
    func: Func,
    arguments: &Bound,
    max_steps: u64,
) -> Result<Called, Trap> {
    let arrays = arguments.arrays.iter().map(|array| Given {
        // Binding refuses extents that do not fit.
        extents: array.shape.iter().rev().map(|&n| n as u32).collect(),
        bytes: &array.bytes,
    });
    let arrays: Vec<Given<'_>> = arrays.collect();
    let options = Options { step_limit: max_steps, ..Options::default() };
    function::call(module, func, &arguments.scalars, &arrays, &options)
}

/// Reports why a call came to no end.
pub fn report(session: &mut Session, trap: &Trap) -> Stop {
    let message = match *trap.kind {
        TrapKind::StepLimit(_) => {
            let error = limits::out_of_steps(format!("the interpreter took {trap}"));
            return session.fail(match trap.span {
                Some(span) => error.at(span, "it was here"),
                None => error,
            });
        }
        TrapKind::OutOfBounds { ref mem, ref subscripts, ref extents } => {
            let list = |all: Vec<String>| all.into_iter().rev().collect::<Vec<_>>().join("][");
            let at = list(subscripts.iter().map(i64::to_string).collect());
            let has = list(extents.iter().map(u32::to_string).collect());
            format!("`{mem}[{at}]` is outside of the array, which is `{mem}[{has}]`")
        }
        TrapKind::Explicit(ref message) => message.clone(),
        _ => trap.to_string(),
    };
    let help = match *trap.kind {
        TrapKind::OutOfBounds { .. } => "keep the subscripts within the extents",
        TrapKind::Division => "test the divisor before",
        _ => "look at the place that the message names",
    };
    let error = Diagnostic::error(&codes::TRAP, message).help(help);
    session.fail(match trap.span {
        Some(span) => error.at(span, "here"),
        None => error,
    })
}
