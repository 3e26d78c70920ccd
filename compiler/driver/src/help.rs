//! What the parser of options says of one without its value, made useful: what the option is for,
//! and how it is written.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};

use crate::{foreign, registry};

/// The error, with a tip where an option of the command that `args` name lacks its value.
pub fn with_example(mut error: Error, args: &[OsString]) -> Error {
    if let Some(tip) = tip(&error, args) {
        let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

fn tip(error: &Error, args: &[OsString]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let command = foreign::command();
    let command = command.find_subcommand(args.get(1)?.to_str()?)?;
    match error.kind() {
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue) == Some("") => {
            // As in `--trace <FILE.json>`.
            let option = text(ContextKind::InvalidArg)?.split([' ', '=']).next()?;
            let (arg, name) = with_value(command, option)?;
            let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
            Some(format!("{option} {name}: {about}{}", as_in(option, name)))
        }
        // Perhaps an option took what the command was to work on.
        ErrorKind::MissingRequiredArgument => args.windows(2).find_map(|pair| {
            let (option, value) = (pair[0].to_str()?, pair[1].to_str()?);
            let (_, name) = with_value(command, option)?;
            let extension = Path::new(value).extension()?.to_str()?;
            let is_program = registry::get().language(extension).is_some() || extension == "nbx";
            is_program.then(|| {
                format!(
                    "`{option}` took `{value}` for its {name}: give it one of its own{}",
                    as_in(option, name)
                )
            })
        }),
        _ => None,
    }
}

/// The option of that name, and what its value is called.
fn with_value<'a>(command: &'a Command, option: &str) -> Option<(&'a Arg, &'a str)> {
    let arg = command.get_arguments().find(|arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => {
            let mut chars = option.strip_prefix('-').into_iter().flat_map(str::chars);
            arg.get_short().is_some_and(|short| chars.next() == Some(short))
                && chars.next().is_none()
        }
    })?;
    Some((arg, arg.get_value_names()?.first()?))
}

/// How an option is written, where its value has an example.
fn as_in(option: &str, name: &str) -> String {
    example(name).map_or(String::new(), |value| format!(", as in `{option} {value}`"))
}

/// A value of an option whose value is called that.
fn example(name: &str) -> Option<&'static str> {
    Some(match name {
        "FILE.json" => "out.json",
        "FILE.toml" => "launch.toml",
        "NAME=FILE" => "in=picture.png",
        "NAME=VALUE" => "alpha=1.5",
        "KEY=VALUE" => "dram.tRCD=16",
        "W[xH[xC]]" => "512x384",
        "OUT" => "out.nbx",
        "N" => "100000",
        _ => return None,
    })
}
