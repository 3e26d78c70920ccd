//! What tools that know other compilers expect of this one. Compiler Explorer, build systems and
//! editors pass options without asking (`-g`, `-L`), look for options in the text of `--help`
//! (Compiler Explorer's reader of Clang's: two blanks, the option, a description that begins with
//! a capital), and pass options of LLVM behind `-mllvm`.

use std::ffi::OsString;
use std::fmt::Write;

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::argv;
use crate::cli::Cli;

/// The command line, with what is expected of a compiler.
pub fn command() -> Command {
    let command = Cli::command();
    let options = listed(&command);
    let help = format!(
        "Options of `nbcc [compile] INPUT`:\n{options}\n\
         A command's own options: nbcc COMMAND --help"
    );
    command.after_help(help).mut_subcommand("compile", |compile| compile.args(without_effect()))
}

/// Options that others need: line tables are always written, and nothing is linked.
fn without_effect() -> [Arg; 3] {
    let taken = |name: &'static str, short: char| Arg::new(name).short(short).hide(true);
    [
        taken("debug", 'g').action(ArgAction::Count),
        taken("library-path", 'L').action(ArgAction::Append),
        taken("of-another-tool", 'W').action(ArgAction::Append),
    ]
}

/// Whether somebody asks LLVM for its options, `-mllvm --help-list-hidden`.
pub fn asks_for_hidden_help(args: &[OsString]) -> bool {
    let asks = |arg: &OsString| arg == "--help-list-hidden" || arg == "-help-list-hidden";
    args.windows(2).any(|pair| pair[0] == "-mllvm" && asks(&pair[1]))
}

/// The options that `-mllvm` may precede, a line each.
pub fn hidden_help() -> String {
    let command = Cli::command();
    let lines = options_of_compile(&command).filter_map(|arg| {
        let name = arg.get_long().filter(|name| argv::has_single_dash(name))?;
        Some((format!("--{name}"), about(arg)))
    });
    columns(&lines.collect::<Vec<_>>())
}

fn options_of_compile(command: &Command) -> impl Iterator<Item = &Arg> {
    let compile = command.find_subcommand("compile").into_iter();
    compile.flat_map(Command::get_arguments).filter(|arg| !arg.is_positional())
}

/// What an option's help says.
fn about(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// The options of `compile`, a line each, spelled as LLVM spells them.
fn listed(command: &Command) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for arg in options_of_compile(command) {
        let long = arg.get_long().unwrap_or_default();
        let mut option = match (arg.get_short(), long) {
            (Some(short), _) => format!("-{short}"),
            (None, long) if argv::has_single_dash(long) => format!("-{long}"),
            (None, long) => format!("--{long}"),
        };
        if arg.get_action().takes_values() && !arg.is_require_equals_set() {
            let names = arg.get_value_names().unwrap_or_default();
            option.extend(names.iter().map(|name| format!(" {name}")));
        }
        lines.push((option, about(arg)));
    }
    lines.push((
        "-mllvm OPTION".into(),
        "Take OPTION, as in -mllvm -print-after-all: LLVM's drivers spell it so".into(),
    ));
    columns(&lines)
}

/// Options and what they do.
fn columns(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(option, _)| option.len()).max().unwrap_or(0);
    lines.iter().fold(String::new(), |mut text, (option, about)| {
        let _ = writeln!(text, "  {option:<width$}  {about}");
        text
    })
}
