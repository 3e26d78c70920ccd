//! A machine with a program: what a host loads, runs and looks at.

use std::sync::Arc;

use nbcc_isa_ipim::{Machine, Program};
use nbcc_sim_engine::{Cycle, Progress};

use crate::code::Code;
use crate::fault::Fault;
use crate::functional;
use crate::memory::{Banks, SharedImage};
use crate::vault::Vault;

/// What bounds a run and what it is to leave behind.
pub struct RunOptions<'a> {
    /// Whether cycles are counted.
    pub timing: bool,
    /// Cycles after which a run is given up; without timing, instructions a vault.
    pub max_cycles: Cycle,
    /// Threads that simulate vaults; results do not depend on it.
    pub threads: usize,
    /// Events of the trace to keep; none makes no trace.
    pub trace_events: Option<usize>,
    /// Bytes that all banks may allocate in the simulator.
    pub memory_limit: u64,
    /// Called now and then.
    pub progress: Option<&'a mut (dyn FnMut(Progress) + 'a)>,
}

impl RunOptions<'_> {
    /// Cycles of a run that has no other bound.
    pub const MAX_CYCLES: Cycle = 1_000_000_000;
    /// Bytes that banks may allocate when nothing else is said.
    pub const MEMORY_LIMIT: u64 = 8 << 30;
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        RunOptions {
            timing: true,
            max_cycles: RunOptions::MAX_CYCLES,
            threads: 1,
            trace_events: None,
            memory_limit: RunOptions::MEMORY_LIMIT,
            progress: None,
        }
    }
}

/// Why a program cannot be simulated at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// Counters would take too much memory.
    #[error("{instructions} instructions on {vaults} vaults are more than the simulator holds")]
    TooLarge {
        /// Instructions of the program.
        instructions: u64,
        /// Vaults of the machine.
        vaults: u64,
    },
}

/// Instructions times vaults that a simulation holds counters for.
const MAX_COUNTERS: u64 = 1 << 26;

/// A machine with a program in it.
pub struct Simulation {
    machine: Machine,
    code: Code,
    vaults: Vec<Vault>,
}

impl Simulation {
    /// The machine of `program` with its text loaded. Every bank starts as `shared`;
    /// `memory_limit` bounds what all banks allocate.
    ///
    /// # Errors
    /// When the simulation would take too much memory. The program must be valid.
    pub fn new(
        program: &Program,
        shared: SharedImage,
        memory_limit: u64,
    ) -> Result<Simulation, SetupError> {
        let machine = program.machine.clone();
        let code = Code::new(program);
        let (instructions, vaults) = (u64::from(code.len()), u64::from(machine.vaults()));
        if instructions * vaults > MAX_COUNTERS {
            return Err(SetupError::TooLarge { instructions, vaults });
        }
        let shared = Arc::new(shared);
        let limit = memory_limit / vaults;
        let vaults = (0..machine.vaults())
            .map(|id| Vault::new(id, &machine, code.len(), shared.clone(), limit))
            .collect();
        Ok(Simulation { machine, code, vaults })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The vaults, by their global numbers.
    pub fn vaults(&self) -> &[Vault] {
        &self.vaults
    }

    /// The banks of a vault, by its global number.
    pub fn banks_mut(&mut self, vault: u32) -> &mut Banks {
        &mut self.vaults[vault as usize].banks
    }

    /// Runs the program to its end without timing.
    ///
    /// # Errors
    /// The fault that ended the run.
    pub fn run_functional(&mut self, options: &mut RunOptions<'_>) -> Result<u64, Fault> {
        let mut report = |instructions| {
            if let Some(progress) = &mut options.progress {
                progress(Progress { cycles: 0, instructions });
            }
        };
        let counts = functional::run(
            &self.code,
            &self.machine,
            &mut self.vaults,
            options.max_cycles,
            &mut report,
        )?;
        Ok(counts.instructions)
    }
}
