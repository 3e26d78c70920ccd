//! `nbcc completions` and `nbcc man`: what shells and manual readers are told of the command line,
//! made of the options themselves.

use std::path::Path;

use clap::CommandFactory;
use nbcc_base::Diagnostic;
use nbcc_base::nearest;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::session::{Session, Stop};
use crate::{codes, files};

/// Prints the script that completes command lines in a shell.
pub fn completions(session: &mut Session, args: &CompletionsArgs) -> Result<(), Stop> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut as_typed(), "nbcc", &mut script);
    files::write(session, Path::new("-"), &script)
}

/// The command line as people type it: `compile` may be left out, so its options stand without it
/// too.
fn as_typed() -> clap::Command {
    let mut command = Cli::command();
    let compile = command.find_subcommand("compile").cloned();
    let options = compile.iter().flat_map(|compile| compile.get_arguments());
    let options: Vec<clap::Arg> = options.map(|option| option.clone().required(false)).collect();
    command = command.args(options);
    command.subcommand_required(false)
}

/// Prints a manual page.
pub fn man(session: &mut Session, args: &ManArgs) -> Result<(), Stop> {
    let mut command = Cli::command();
    // Fills in what commands inherit: their full names, the options of all.
    command.build();
    let page = match &args.about {
        None => command,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => return Err(unknown(session, &command, name)),
        },
    };
    let mut text = Vec::new();
    match clap_mangen::Man::new(page).render(&mut text) {
        Ok(()) => files::write(session, Path::new("-"), &text),
        Err(error) => panic!("a page in memory: {error}"),
    }
}

fn unknown(session: &mut Session, command: &clap::Command, name: &str) -> Stop {
    let names: Vec<&str> = command.get_subcommands().map(|command| command.get_name()).collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", names.join(", ")),
    };
    let message = format!("there is no command `{name}`");
    session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help))
}
