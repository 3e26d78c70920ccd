//! What the parser of options says of one without its value, made useful: what the option is for,
//! and how it is written.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::foreign;

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
    if error.kind() != ErrorKind::InvalidValue || text(ContextKind::InvalidValue) != Some("") {
        return None;
    }
    // As in `--trace <FILE.json>`.
    let option = text(ContextKind::InvalidArg)?.split([' ', '=']).next()?;
    let command = foreign::command();
    let command = command.find_subcommand(args.get(1)?.to_str()?)?;
    let arg = command.get_arguments().find(|arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short() == option.chars().nth(1),
    })?;
    let name = arg.get_value_names()?.first()?;
    let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let example = example(name).map(|value| format!(", as in `{option} {value}`"));
    Some(format!("{option} {name}: {about}{}", example.unwrap_or_default()))
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
