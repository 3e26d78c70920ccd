//! The commands, a file each.

mod assemble;
mod bench;
mod compile;
mod diff;
mod documents;
mod explain;
mod interp;
mod map;
mod maptrace;
mod memtrace;
mod objdump;
pub mod run;
mod targets;

use crate::cli::{Cli, Command};
use crate::session::{Session, Stop};

/// Does what the command line asks.
pub fn dispatch(cli: Cli, session: &mut Session) -> Result<(), Stop> {
    match cli.command {
        Command::Compile(args) => compile::compile(session, &args),
        Command::Diff(args) => diff::diff(session, &args),
        Command::Explain(args) => explain::explain(session, &args),
        Command::Bench(args) => bench::bench(session, &args),
        Command::As(args) => assemble::assemble(session, &args),
        Command::Objdump(args) => objdump::objdump(session, &args),
        Command::Interp(args) => interp::interp(session, &args),
        Command::Maptrace(args) => maptrace::maptrace(session, &args),
        Command::Map(args) => map::map(session, &args),
        Command::Memtrace(args) => memtrace::memtrace(session, &args),
        Command::Run(args) => run::run(session, &args),
        Command::Targets(args) => targets::targets(session, &args),
        Command::Completions(args) => documents::completions(session, &args),
        Command::Man(args) => documents::man(session, &args),
    }
}
