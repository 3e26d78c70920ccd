//! The nbcc command: its options, what it reads and writes, and how it shows things.
//!
//! Everything that touches a file, a terminal or the command line is here; the other crates work
//! on data. [`registry`] is the only place that names frontends and targets. A command is a file
//! under `commands/`; data that programs read and write is under `data/`.

mod argv;
mod bounded;
mod calls;
mod check;
mod claims;
mod cli;
pub mod codes;
mod commands;
mod compile;
mod console;
pub mod data;
mod files;
mod foreign;
mod help;
mod included;
mod kind;
pub mod kinds;
mod launch;
mod limited;
mod limits;
mod machine;
mod observe;
mod pipelines;
mod profile;
mod progress;
mod records;
pub mod registry;
mod render;
mod report;
mod session;
mod staged;
mod streams;
mod style;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::FromArgMatches;
use nbcc_base::Diagnostic;
use nbcc_base::nearest;

use cli::{Cli, MessageFormat};
use session::{Session, Stop};

/// Room for the recursion of grammars and printers over deep but accepted inputs, in bytes.
const STACK: usize = 256 << 20;

/// The same for passes, of which threads share the kernels of a program.
const STACK_OF_PASSES: usize = 32 << 20;

/// The whole command: reads the arguments, does what they ask, and says how it went: 0 done, 1 the
/// input or a file is at fault (or nbcc itself), 2 the command line is.
pub fn main() -> ExitCode {
    main_with(&registry::BUILT_IN)
}

/// [`main`] with frontends and targets of one's own. Panics where the process has others already.
pub fn main_with(registry: &'static registry::Registry) -> ExitCode {
    assert!(registry::set(registry).is_ok(), "the registry is set once");
    console::take_over_panics();
    let args: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(limited::attended(&args).unwrap_or_else(|| on_own_stack(args)))
}

/// Runs one command line on a stack that is large enough.
fn on_own_stack(args: Vec<OsString>) -> u8 {
    let format = message_format(&args);
    let threads = commands::run::threads();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_OF_PASSES);
    if let Err(error) = pool.build_global() {
        return no_memory_to_start(format, &error);
    }
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || run(args));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic hook has said what went wrong.
        Ok(Err(_)) => 1,
        Err(error) => no_memory_to_start(format, &error),
    }
}

/// Ends where there is no room for stacks.
fn no_memory_to_start(format: MessageFormat, error: &dyn std::error::Error) -> u8 {
    let message = format!("there is no memory to start with: {error}");
    let help = "nbcc takes 300 MB of address space, and 32 MB for each thread (`NBCC_THREADS`), \
                before it reads anything: allow more memory (`ulimit -v`)";
    let mut session = Session::new(format);
    session.fail(limits::no_memory(message).help(help));
    session.end(1)
}

/// Runs one command line.
fn run(args: Vec<OsString>) -> u8 {
    if foreign::asks_for_hidden_help(&args) {
        console::print(&foreign::hidden_help());
        return Session::new(MessageFormat::Human).end(0);
    }
    let command = foreign::command();
    if let Some(word) = argv::odd_word(&args, &command).filter(|word| !Path::new(word).exists()) {
        let mut session = Session::new(message_format(&args));
        session.usage(no_command(&word, &command));
        session.flush();
        return session.end(2);
    }
    let args = argv::normalise(args, &command);
    let parsed =
        command.try_get_matches_from(&args).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return refuse(&args, &help::with_example(error, &args)),
    };
    let mut session = Session::new(cli.message_format);
    let done = commands::dispatch(cli, &mut session).and_then(|()| files::publish(&mut session));
    let code = match done {
        Ok(()) => 0,
        Err(Stop::Failed) => 1,
        Err(Stop::Usage) => 2,
    };
    session.end(code)
}

/// The form of messages that a command line asks for that was not, or cannot be, parsed.
fn message_format(args: &[OsString]) -> MessageFormat {
    let asks_for = |form: &str| {
        args.windows(2).any(|w| w[0] == "--message-format" && w[1] == form)
            || args.iter().any(|a| *a == *format!("--message-format={form}"))
    };
    let forms = [("json", MessageFormat::Json), ("short", MessageFormat::Short)];
    let asked = forms.into_iter().find(|(form, _)| asks_for(form));
    asked.map_or(MessageFormat::Human, |(_, format)| format)
}

/// The error for a word that is neither a command nor a file, with what it may stand for: a source
/// file without its extension, a command, an option.
fn no_command(word: &str, command: &clap::Command) -> Diagnostic {
    let message = format!("there is no command `{word}`, and no file of that name");
    let mut sources = registry::get()
        .languages
        .iter()
        .map(|language| format!("{word}.{}", language.frontend.extension()));
    let source = sources.find(|file| Path::new(file).is_file());
    let commands = || command.get_subcommands().map(|command| command.get_name());
    let compile = command.find_subcommand("compile");
    let options = command.get_arguments().chain(compile.iter().flat_map(|c| c.get_arguments()));
    let options: Vec<&str> =
        options.filter_map(|option| option.get_long()).chain(["help", "version"]).collect();
    let option = options.iter().copied().find(|option| *option == word);
    let option = option.or_else(|| nearest(word, options));
    let help = match (source, nearest(word, commands()), option) {
        (Some(source), ..) => format!("did you mean `nbcc {source}`?"),
        (_, Some(command), _) => format!("did you mean `nbcc {command}`?"),
        (_, _, Some(option)) => format!("did you mean `nbcc --{option}`?"),
        _ => {
            let all: Vec<&str> = commands().collect();
            format!("name a source file, or a command: {}", all.join(", "))
        }
    };
    Diagnostic::error(&codes::COMMAND_LINE, message).help(help)
}

/// What clap has to say: help and version are no mistakes.
fn refuse(args: &[OsString], error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        console::print(&error.render().ansi().to_string());
        return Session::new(MessageFormat::Human).end(0);
    }
    let format = message_format(args);
    if format != MessageFormat::Human {
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
