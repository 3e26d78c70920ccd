//! Names and numbers on the command line, held against what a program has.

use std::ops::RangeInclusive;

use nbcc_base::{Diagnostic, nearest};

use crate::codes;
use crate::session::{Session, Stop};

/// Refuses names that the program does not have, and those given twice. `what` is `input`, `output`
/// or `parameter`.
pub fn check<'a>(
    session: &mut Session,
    what: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    args: &[(String, String)],
) -> Result<(), Stop> {
    check_for(session, what, known, args, Session::usage)
}

/// The same of a function, whose names are those of its file: that is at fault where one does not fit.
pub fn check_file<'a>(
    session: &mut Session,
    what: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    args: &[(String, String)],
) -> Result<(), Stop> {
    check_for(session, what, known, args, Session::fail)
}

fn check_for<'a>(
    session: &mut Session,
    what: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    args: &[(String, String)],
    stop: impl Fn(&mut Session, Diagnostic) -> Stop,
) -> Result<(), Stop> {
    for (index, (name, _)) in args.iter().enumerate() {
        if !known.clone().any(|known| known == name) {
            let error = unknown(what, name, known);
            return Err(stop(session, error));
        }
        if args[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(given_twice(session, what, name));
        }
    }
    Ok(())
}

/// An integer as people write it: decimal, hexadecimal, negative; `None` where it is none of the
/// range.
pub fn integer(text: &str, range: RangeInclusive<i128>) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
        None => i128::from(digits.parse::<u64>().ok()?),
    };
    let value = if is_negative { -magnitude } else { magnitude };
    range.contains(&value).then_some(value)
}

/// An error for a name that the program does not have.
pub fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(&codes::COMMAND_LINE, format!("the program has no {what} `{name}`"));
    let list: Vec<&str> = known.clone().collect();
    match nearest(name, known) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if list.is_empty() => diagnostic.help(format!("it has no {what}s at all")),
        None => diagnostic.help(format!("it has: {}", list.join(", "))),
    }
}

/// An error for a name that options give twice.
fn given_twice(session: &mut Session, what: &str, name: &str) -> Stop {
    let error = Diagnostic::error(&codes::COMMAND_LINE, format!("{what} `{name}` is given twice"));
    session.usage(error.help(format!("give --{} {name}=... once", option_of(what))))
}

/// The option by which a thing is given.
fn option_of(what: &str) -> &str {
    if what == "parameter" { "param" } else { what }
}
