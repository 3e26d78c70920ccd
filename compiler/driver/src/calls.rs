//! Calls of sequential functions: on the interpreter, and what is said where one comes to no end.

use nbcc_base::{Diagnostic, SourceId, Span};
use nbcc_host::function::Bound;
use nbcc_interp::function::{self as interp, Called, Given, Options, TrapKind};
use nbcc_ir::{Func, Module};

use crate::kinds::Place;
use crate::kinds::functions::Trap;
use crate::session::{Session, Stop};
use crate::{codes, limits};

/// Calls a function on arguments that are bound to its signature, for `max_steps` instructions at
/// most.
pub fn interpret(
    module: &Module,
    func: Func,
    arguments: &Bound,
    max_steps: u64,
) -> Result<Called, interp::Trap> {
    let arrays = arguments.arrays.iter().map(|array| Given {
        // Binding refuses extents that do not fit.
        extents: array.shape.iter().rev().map(|&n| n as u32).collect(),
        bytes: &array.bytes,
    });
    let arrays: Vec<Given<'_>> = arrays.collect();
    let options = Options { step_limit: max_steps, ..Options::default() };
    interp::call(module, func, &arguments.scalars, &arrays, &options)
}

/// Reports why a call came to no end.
pub fn report(session: &mut Session, trap: &interp::Trap) -> Stop {
    let what = match &*trap.kind {
        TrapKind::StepLimit(_) => {
            let error = limits::out_of_steps(format!("the interpreter took {trap}"));
            return session.fail(error.at_some(trap.span, "it was here"));
        }
        TrapKind::ArraySize { .. } => {
            let error = Diagnostic::error(&codes::TRAP, trap.kind.to_string());
            return session.fail(error.help("make the arrays smaller"));
        }
        TrapKind::NoMemory { .. } => return session.fail(limits::no_memory(trap.kind.to_string())),
        TrapKind::Promise { element, is_under, other, promise } => {
            let what = match element {
                Some((name, number)) => format!("`{name}[{number}]`"),
                None => "an element".to_string(),
            };
            let message = format!("{what} is reached through a `restrict` pointer, and otherwise");
            let (here, there) = match is_under {
                true => ("reached through it here", "reached otherwise here"),
                false => ("reached otherwise here", "reached through it here"),
            };
            let mut error = Diagnostic::error(&codes::PROMISE, message).at_some(trap.span, here);
            if let Some(span) = *other {
                error = error.and(span, there);
            }
            if let Some(span) = *promise {
                error = error.and(span, "the promise holds from here on");
            }
            let help = "give it elements that nothing else reaches, or leave out `restrict`";
            return session.fail(error.help(help));
        }
        TrapKind::OutOfBounds { mem, subscripts, extents } => Trap::Outside {
            name: mem.clone(),
            subscripts: subscripts.clone(),
            extents: extents.clone(),
        },
        TrapKind::Explicit(message) => Trap::Message(message.clone()),
        TrapKind::Division => Trap::Division,
        _ => Trap::Message(trap.to_string()),
    };
    session.fail(ended(&what).at_some(trap.span, "here"))
}

/// Reports that a program ended its run, at that place of a source that may have been read.
pub fn report_trap(session: &mut Session, trap: &Trap, place: Option<&Place>) -> Stop {
    let error = ended(trap);
    let Some(place) = place else { return session.fail(error) };
    session.fail(match span_of(session, place) {
        Some(span) => error.at(span, "here"),
        None => error.in_file(format!("{}:{}:{}", place.file, place.line, place.column)),
    })
}

/// A place of a source that was read; the whole line where nothing closer is known.
pub fn span_of(session: &Session, place: &Place) -> Option<Span> {
    let files = session.sources.files();
    let number = files.iter().position(|file| file.name == place.file)?;
    let file = &files[number];
    let line = file.line(place.line)?;
    let start = line.as_ptr() as usize - file.text.as_ptr() as usize;
    let (from, to) = match place.column {
        0 => (line.len() - line.trim_start().len(), line.trim_end().len()),
        column => {
            let at = line.char_indices().nth(column as usize - 1).map_or(line.len(), |(at, _)| at);
            (at, at + line[at..].chars().next().map_or(0, char::len_utf8))
        }
    };
    Some(Span::new(SourceId(number as u32), start + from, start + to.max(from)))
}

/// What is said of a program that ended its run, on the interpreter as on a machine.
fn ended(trap: &Trap) -> Diagnostic {
    let (message, help) = match trap {
        Trap::Outside { name, subscripts, extents } => {
            let list = |all: Vec<String>| all.into_iter().rev().collect::<Vec<_>>().join("][");
            let at = list(subscripts.iter().map(i64::to_string).collect());
            let has = list(extents.iter().map(u32::to_string).collect());
            // Subscripts of 64 bits are cut off where no array has elements.
            let most = i64::from(i32::MAX);
            let is_cut = subscripts.iter().any(|at| !(-most < *at && *at < most));
            let beyond = if is_cut { " or beyond" } else { "" };
            let message =
                format!("`{name}[{at}]`{beyond} is outside of the array, which is `{name}[{has}]`");
            (message, "keep the subscripts within the extents")
        }
        Trap::Division => ("a division has no result".to_string(), "test the divisor before"),
        Trap::Message(message) => {
            (message.clone(), "follow what stands there back to where its values come from")
        }
    };
    Diagnostic::error(&codes::TRAP, message).help(help)
}
