//! What the driver asks of a simulator and gets from it: a file for each kind of program, and here
//! what is the same for all of them.

pub mod functions;
pub mod grids;
pub mod images;

use nbcc_base::Span;
use nbcc_host::Profile;
use nbcc_isa::{LoadError, SourceLine};
use nbcc_sim_engine::{Progress, Statistics, Trace};

/// How a program is to be run.
pub struct RunOptions<'a> {
    /// Leave timing out.
    pub fast: bool,
    /// Give up after so many cycles; [`RunOptions::cycles`] says what holds where nothing is asked.
    pub max_cycles: Option<u64>,
    /// Keep a timeline.
    pub trace: bool,
    /// Threads to simulate with; results do not depend on it.
    pub threads: usize,
    /// Called now and then.
    pub progress: &'a mut dyn FnMut(Progress),
}

impl RunOptions<'_> {
    /// Cycles at most where the command line says nothing, on every machine.
    pub const MAX_CYCLES: u64 = 1_000_000_000;

    /// Cycles at most.
    pub fn cycles(&self) -> u64 {
        self.max_cycles.unwrap_or(RunOptions::MAX_CYCLES)
    }
}

/// What is known of a run beside its data.
#[derive(Debug, Default)]
pub struct Measured {
    /// Instructions issued.
    pub instructions: u64,
    /// What was measured; `None` without timing.
    pub statistics: Option<Statistics>,
    /// Where cycles went.
    pub profile: Profile,
    /// The timeline, if one was asked for and the machine keeps one.
    pub trace: Option<Trace>,
    /// The length of a cycle in nanoseconds.
    pub cycle_ns: f64,
}

/// Why a run came to no end.
#[derive(Debug)]
pub enum RunError {
    /// The binary is damaged.
    Binary(LoadError),
    /// The binary does not fit the data or the simulator.
    Refused(String),
    /// The machine does not take a launch, which a launch file asks for there.
    Launch(String, Option<Span>),
    /// A launch came as often as it may and is to come again, by what stands there in a launch file.
    Endless(String, Option<Span>),
    /// A module variable that is to begin with something, and its bytes, if there is one at all.
    Symbol(String, Option<u64>),
    /// The limit on cycles was reached, there in the source.
    OutOfCycles(String, Option<Place>),
    /// The host has no memory for what it takes.
    Memory(String),
    /// The program did what the machine cannot do, there in the source.
    Fault(String, Option<Place>),
    /// The program ended the run, there in the source.
    Trap(functions::Trap, Option<Place>),
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where it is not known.
    pub column: u32,
}

impl Place {
    /// The place that a table of lines has of an instruction.
    pub fn of((file, at): (&str, SourceLine)) -> Place {
        Place { file: file.to_string(), line: at.line, column: at.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_given_up_after_the_cycles_that_the_manual_says() {
        let progress: &mut dyn FnMut(Progress) = &mut |_| ();
        let (fast, trace, threads) = (false, false, 1);
        let mut options = RunOptions { fast, max_cycles: None, trace, threads, progress };
        assert_eq!(options.cycles(), 1_000_000_000);
        options.max_cycles = Some(7);
        assert_eq!(options.cycles(), 7);
    }
}
