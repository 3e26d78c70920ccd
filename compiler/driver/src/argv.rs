//! The command line as people write it, brought into the form that the option parser reads:
//! options spelled as LLVM spells them get their second dash, and `compile`, which may be left
//! out, is put in.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use clap::Command;

/// Options that may be spelled with a single dash.
const SINGLE_DASH: &[&str] = &[
    "print-after-all",
    "print-before-all",
    "print-changed",
    "print-passes",
    "time-passes",
    "verify-each",
    "fsave-optimization-record",
];

/// The arguments after `nbcc`, with the command's name first. `command` says which options take a value.
pub fn normalise(args: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let mut args = args.into_iter();
    args.next();
    let mut options_end = false;
    let mut rest: Vec<OsString> = Vec::new();
    while let Some(arg) = args.next() {
        options_end |= arg == "--";
        rest.push(match arg.to_str() {
            _ if options_end => arg,
            // What follows is an option as LLVM spells it, which those here are already.
            Some("-mllvm") => args.next().map_or(arg, double_dash),
            _ => double_dash(arg),
        });
    }
    let name = match first_positional(&rest, &options_with_value(command)) {
        Some(at) if is_command(&rest[at], command) => Some(rest.remove(at)),
        Some(_) => Some("compile".into()),
        None if rest.is_empty() || asks_for_help(&rest) => None,
        None => Some("compile".into()),
    };
    std::iter::once("nbcc".into()).chain(name).chain(rest).collect()
}

/// Whether an option, without dashes, may be spelled with one.
pub fn has_single_dash(name: &str) -> bool {
    SINGLE_DASH.contains(&name)
}

/// The word that stands where a command or a source file is expected and looks like neither: it is
/// not called like a command and has no extension. Whether there is a file of that name is for the
/// caller to see.
pub fn odd_word(args: &[OsString], command: &Command) -> Option<String> {
    let args: Vec<OsString> = args.iter().skip(1).cloned().map(double_dash).collect();
    let at = first_positional(&args, &options_with_value(command))?;
    // Behind an option that there is not, it may be a value.
    let before = args[..at].last().map(|arg| arg.to_string_lossy());
    if before.is_some_and(|arg| arg.strip_prefix("--").is_some_and(|name| !has_long(command, name)))
    {
        return None;
    }
    let word = &args[at];
    let is_odd = !is_command(word, command) && Path::new(word).extension().is_none() && word != "-";
    is_odd.then(|| word.to_string_lossy().into_owned())
}

/// Whether any command has an option of that name; what follows `=` is its value.
fn has_long(command: &Command, name: &str) -> bool {
    let name = name.split('=').next();
    let commands = std::iter::once(command).chain(command.get_subcommands());
    commands.flat_map(Command::get_arguments).any(|option| option.get_long() == name)
        || matches!(name, Some("help" | "version"))
}

fn double_dash(arg: OsString) -> OsString {
    let Some(text) = arg.to_str() else { return arg };
    let Some(name) = text.strip_prefix('-') else { return arg };
    let bare = name.split('=').next().unwrap_or(name);
    if has_single_dash(bare) { format!("-{text}").into() } else { arg }
}

fn is_command(arg: &OsString, command: &Command) -> bool {
    arg.to_str().is_some_and(|name| name == "help" || command.find_subcommand(name).is_some())
}

fn asks_for_help(args: &[OsString]) -> bool {
    args.iter().any(|arg| ["-h", "--help", "-V", "--version"].iter().any(|help| arg == help))
}

/// Every option, of any command, whose value may be the next argument; with its dashes.
fn options_with_value(command: &Command) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for command in std::iter::once(command).chain(command.get_subcommands()) {
        for option in command.get_arguments().filter(|arg| !arg.is_positional()) {
            if !option.get_action().takes_values() || option.is_require_equals_set() {
                continue;
            }
            names.extend(option.get_long().map(|name| format!("--{name}")));
            names.extend(option.get_short().map(|name| format!("-{name}")));
        }
    }
    names
}

fn first_positional(args: &[OsString], with_value: &BTreeSet<String>) -> Option<usize> {
    let mut skip = false;
    for (at, arg) in args.iter().enumerate() {
        let text = arg.to_string_lossy();
        if std::mem::take(&mut skip) {
            continue;
        }
        if text == "--" {
            return None;
        }
        if text == "-" || !text.starts_with('-') {
            return Some(at);
        }
        skip = with_value.contains(text.as_ref());
    }
    None
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn normalised(line: &str) -> String {
        let args = line.split(' ').map(OsString::from).collect();
        let args = normalise(args, &Cli::command());
        args.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn compile_may_be_left_out() {
        assert_eq!(normalised("nbcc a.halide -o b"), "nbcc compile a.halide -o b");
        assert_eq!(normalised("nbcc -o run a.halide"), "nbcc compile -o run a.halide");
        assert_eq!(normalised("nbcc -O1 run a.halide"), "nbcc run -O1 a.halide");
        assert_eq!(normalised("nbcc --print-passes"), "nbcc compile --print-passes");
        assert_eq!(normalised("nbcc --help"), "nbcc --help");
        assert_eq!(normalised("nbcc"), "nbcc");
    }

    #[test]
    fn words_that_are_neither_command_nor_file_are_found() {
        let odd = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            odd_word(&args, &Cli::command())
        };
        assert_eq!(odd("nbcc compil x"), Some("compil".into()));
        assert_eq!(odd("nbcc -O1 --machine small version"), Some("version".into()));
        for usual in [
            "nbcc",
            "nbcc --sise 4",
            "nbcc run x",
            "nbcc a.halide",
            "nbcc -",
            "nbcc --help",
            "nbcc help",
        ] {
            assert_eq!(odd(usual), None, "{usual}");
        }
    }

    #[test]
    fn llvm_options_have_one_dash_or_two() {
        assert_eq!(
            normalised("nbcc a.halide -print-after-all --print-before-all"),
            "nbcc compile a.halide --print-after-all --print-before-all"
        );
        assert_eq!(
            normalised("nbcc a.halide -mllvm --print-before-all -mllvm -print-after-all"),
            "nbcc compile a.halide --print-before-all --print-after-all"
        );
        assert_eq!(
            normalised("nbcc -print-changed=diff run a -- -time-passes"),
            "nbcc run --print-changed=diff a -- -time-passes"
        );
    }
}
