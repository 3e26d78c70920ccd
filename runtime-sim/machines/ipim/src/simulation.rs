//! A machine with a program: what a host loads, runs and looks at.

use std::sync::Arc;

use nbcc_isa_ipim::{Machine, Program};
use nbcc_sim_dram::Model;
use nbcc_sim_engine::{Cycle, Progress, Statistics, Trace};

use crate::alu::{Lanes, Words};
use crate::code::Code;
use crate::fault::Fault;
use crate::functional;
use crate::group::{DramError, dram_model};
use crate::groups::DramTotals;
use crate::lookahead::lookahead;
use crate::memory::{Banks, SharedImage};
use crate::plan::plan;
use crate::statistics;
use crate::system::{Control, System, WINDOW};
use crate::timed::{Context, TimedVault};
use crate::vault::Vault;

/// What bounds a run and what it is to leave behind.
pub struct RunOptions<'a> {
    /// Whether cycles are counted.
    pub timing: bool,
    /// Cycles after which a run is given up; without timing, instructions a vault.
    pub max_cycles: Cycle,
    /// Threads that simulate vaults; results do not depend on it.
    pub threads: usize,
    /// The longest time for which vaults are simulated apart; results do not depend on it.
    pub window: Cycle,
    /// Whether groups that see the same requests are simulated once; results do not
    /// depend on it.
    pub together: bool,
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
            window: WINDOW,
            together: true,
            trace_events: None,
            memory_limit: RunOptions::MEMORY_LIMIT,
            progress: None,
        }
    }
}

/// Why a program cannot be simulated at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// Registers, scratchpads and counters would take too much memory.
    #[error(
        "{instructions} instructions on {vaults} vaults take more than the {limit} bytes the simulator may use"
    )]
    TooLarge {
        /// Instructions of the program.
        instructions: u64,
        /// Vaults of the machine.
        vaults: u64,
        /// The bound.
        limit: u64,
    },
    /// The banks of the machine cannot be simulated.
    #[error(transparent)]
    Dram(#[from] DramError),
}

/// What a run with timing leaves behind.
pub struct Timing {
    /// Length of the run: when the last vault ended.
    pub cycles: Cycle,
    /// Issues and waiting of each instruction, over all vaults; the last entry is the
    /// end of the program.
    pub profile: Vec<PcProfile>,
    /// Everything that was measured.
    pub statistics: Statistics,
    /// The timeline, if one was asked for.
    pub trace: Option<Trace>,
}

/// What an instruction cost, over all vaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PcProfile {
    /// How often it issued: cycles of issue.
    pub issued: u64,
    /// Cycles for which cores waited to issue it.
    pub stalled: u64,
}

/// Bytes that registers, scratchpads and counters of all vaults may take.
const MAX_STATE_BYTES: u64 = 2 << 30;

/// Bytes of a vault in the simulator, without its banks.
fn state_bytes(machine: &Machine, instructions: u64) -> u64 {
    let registers = u64::from(machine.registers.data) * size_of::<Lanes>() as u64
        + u64::from(machine.registers.addr) * size_of::<Words>() as u64;
    let memory = &machine.memory;
    let pads = u64::from(memory.pgsm_bytes) * u64::from(machine.hierarchy.pgs)
        + u64::from(memory.vsm_bytes);
    // A count and a waiting time an instruction; scoreboard and controllers.
    registers + pads + 16 * instructions + (1 << 15)
}

/// A machine with a program in it.
pub struct Simulation {
    machine: Machine,
    code: Code,
    model: Arc<Model>,
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
        let model = dram_model(&machine)?;
        let (instructions, vaults) = (u64::from(code.len()), u64::from(machine.vaults()));
        if vaults.saturating_mul(state_bytes(&machine, instructions)) > MAX_STATE_BYTES {
            return Err(SetupError::TooLarge { instructions, vaults, limit: MAX_STATE_BYTES });
        }
        let shared = Arc::new(shared);
        let limit = memory_limit / vaults;
        let vaults = (0..machine.vaults())
            .map(|id| Vault::new(id, &machine, code.len(), shared.clone(), limit))
            .collect();
        Ok(Simulation { machine, code, model, vaults })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The vaults, by their global numbers.
    pub fn vaults(&self) -> &[Vault] {
        &self.vaults
    }

    /// The banks of all vaults, by their global numbers.
    pub fn banks_mut(&mut self) -> impl Iterator<Item = &mut Banks> {
        self.vaults.iter_mut().map(|vault| &mut vault.banks)
    }

    /// Runs the program to its end without timing.
    ///
    /// # Errors
    /// The fault that ended the run.
    pub fn run_functional(&mut self, options: &mut RunOptions<'_>) -> Result<u64, Fault> {
        let mut report = |instructions| {
            if let Some(progress) = &mut options.progress {
                progress(Progress { instructions, ..Progress::default() });
            }
        };
        let counts = functional::run(
            &self.code,
            &self.machine,
            &mut self.vaults,
            options.max_cycles,
            options.threads,
            &mut report,
        )?;
        Ok(counts.instructions)
    }

    /// Runs the program to its end with timing.
    ///
    /// # Errors
    /// The fault that ended the run.
    pub fn run_timed(&mut self, options: &mut RunOptions<'_>) -> Result<Timing, Fault> {
        let plans = plan(&self.code, &self.machine);
        let lookahead = lookahead(&self.code);
        let cx = Context {
            machine: &self.machine,
            code: &self.code,
            plans: &plans,
            lookahead: &lookahead,
            // On the base die, requests of the groups come one after the other.
            together: options.together && !self.machine.features.process_on_base_die,
        };
        let vaults = std::mem::take(&mut self.vaults);
        let mut system = System::new(vaults, &cx, &self.model, options.trace_events);
        let mut report = |at: Progress| {
            if let Some(progress) = &mut options.progress {
                progress(at);
            }
        };
        let mut control = Control {
            max_cycles: options.max_cycles,
            threads: options.threads,
            window: options.window,
            progress: &mut report,
        };
        let cycles = system.run(&mut control)?;
        let trace = options.trace_events.map(|limit| system.take_trace(limit));
        let profile = profile(&system.vaults);
        let mut dram = DramTotals::default();
        system.vaults.iter_mut().for_each(|vault| dram.add(&vault.dram_totals()));
        let statistics = statistics::collect(
            &self.machine,
            &self.code,
            &system.vaults,
            &dram,
            &system.network,
            cycles,
        );
        self.vaults = system.vaults.into_iter().map(|timed| timed.vault).collect();
        Ok(Timing { cycles, profile, statistics, trace })
    }
}

fn profile(vaults: &[TimedVault]) -> Vec<PcProfile> {
    let length = vaults.first().map_or(0, |vault| vault.stalled.len());
    let mut profile = vec![PcProfile::default(); length];
    for vault in vaults {
        for (entry, issued) in profile.iter_mut().zip(&vault.issued) {
            entry.issued += issued;
        }
        for (entry, stalled) in profile.iter_mut().zip(&vault.stalled) {
            entry.stalled += stalled;
        }
    }
    profile
}
