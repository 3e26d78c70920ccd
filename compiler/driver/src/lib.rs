//! The nbcc command: its options, what it reads and writes, and how it shows things.
//!
//! Everything that touches a file, a terminal or the command line is here; the other crates work
//! on data. [`registry`] is the only place that names frontends and targets. A command is a file
//! under `commands/`; data that programs read and write is under `data/`.

mod argv;
mod check;
mod cli;
pub mod codes;
mod commands;
mod compile;
mod console;
pub mod data;
mod files;
mod foreign;
mod kind;
mod launch;
mod machine;
mod observe;
mod records;
pub mod registry;
mod render;
mod report;
mod session;
pub mod simulate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use nbcc_base::Diagnostic;

use cli::{Cli, MessageFormat};
use session::{Session, Stop};

/// Room for the recursion of grammars and printers over deep but accepted inputs, in bytes.
const STACK: usize = 256 << 20;

/// The whole command: reads the arguments, does what they ask, and says how it went: 0 done, 1 the
/// input or a file is at fault (or nbcc itself), 2 the command line is.
pub fn main() -> ExitCode {
    console::take_over_panics();
    let args: Vec<OsString> = std::env::args_os().collect();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || run(args));
    let code = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic hook has said what went wrong.
        Ok(Err(_)) => 1,
        Err(error) => {
            console::error_line(&format!("error: cannot start: {error}"));
            1
        }
    };
    ExitCode::from(code)
}

/// Runs one command line.
fn run(args: Vec<OsString>) -> u8 {
    if foreign::asks_for_hidden_help(&args) {
        console::print(&foreign::hidden_help());
        return Session::new(MessageFormat::Human).end(0);
    }
    let args = argv::normalise(args, &foreign::command());
    let parsed = foreign::command()
        .try_get_matches_from(&args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return refuse(&args, &error),
    };
    let mut session = Session::new(cli.message_format);
    let code = match commands::dispatch(cli, &mut session) {
        Ok(()) => 0,
        Err(Stop::Failed) => 1,
        Err(Stop::Usage) => 2,
    };
    session.end(code)
}

/// What clap has to say: help and version are no mistakes.
fn refuse(args: &[OsString], error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        console::print(&error.render().ansi().to_string());
        return Session::new(MessageFormat::Human).end(0);
    }
    let asks_for = |form: &str| {
        args.windows(2).any(|w| w[0] == "--message-format" && w[1] == form)
            || args.iter().any(|a| *a == *format!("--message-format={form}"))
    };
    let machines = [("json", MessageFormat::Json), ("short", MessageFormat::Short)];
    if let Some((_, format)) = machines.into_iter().find(|(form, _)| asks_for(form)) {
        let mut session = Session::new(format);
        let text = error.render().to_string();
        // Paragraphs: what is wrong, tips, how the command is used.
        let mut paragraphs = text.split("\n\n");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = words(paragraphs.next().unwrap_or_default());
        let tips: Vec<&str> = paragraphs.filter_map(|p| p.trim().strip_prefix("tip: ")).collect();
        let mut diagnostic =
            Diagnostic::error(&codes::COMMAND_LINE, message.trim_start_matches("error: "));
        diagnostic.help = (!tips.is_empty()).then(|| words(&tips.join("; ")));
        session.usage(diagnostic);
        return session.end(2);
    }
    console::error_text(&error.render().ansi().to_string());
    2
}
