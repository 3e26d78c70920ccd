//! TOM: programs of kernels, the machine that runs them, and its mappings of addresses to stacks.

use nbcc_host::timing::Session;
use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_isa_simt::{Program, asm};
use nbcc_isa_tom::address::StackBits;
pub use nbcc_isa_tom::policy::OFFLOAD as POLICIES;
use nbcc_isa_tom::policy::{Mapping, Policy};
use nbcc_isa_tom::{ISA, Machine};
pub use nbcc_sim_tom::{analyzer, trace};

use super::{RunReport, Runner, TargetEntry, simt};
use crate::kinds::RunOptions;
use crate::kinds::grids::{GridRan, GridRequest, GridRunner};

/// TOM with its tools.
pub const ENTRY: TargetEntry = TargetEntry {
    target: &nbcc_target_tom::TOM,
    machine,
    isa: ISA.number,
    assembly: ISA.name,
    disassemble: |binary| asm::disassemble_elf(&ISA, binary),
    assemble: |text| asm::assemble_elf(&ISA, text),
    runner: Runner::Grids(GridRunner { describe: |binary| simt::describe(&ISA, binary), launch }),
    report: RunReport {
        core: "multiprocessor",
        instructions: "warp instructions",
        note: None,
        has_trace: true,
        statistics: nbcc_sim_tom::DEFINITIONS,
    },
};

/// Launches kernels. For the best pair of bits over the whole run all of it runs twice: once to see where
/// the instances of candidates go.
fn launch(binary: &[u8], request: GridRequest<'_>) -> GridRan {
    let maps = |program: &Program| Policy::of(program).map(|policy| policy.map);
    let asked = Program::from_elf(&ISA, binary).and_then(|program| maps(&program));
    let mut session = Session::default();
    if asked.is_ok_and(|map| map == Mapping::Oracle) && !request.options.fast {
        let RunOptions { fast, max_cycles, threads, .. } = request.options;
        let progress = &mut *request.options.progress;
        let watched = GridRequest {
            symbols: request.symbols.clone(),
            buffers: request.buffers.clone(),
            launches: request.launches.clone(),
            options: RunOptions { fast, max_cycles, trace: false, threads, progress },
        };
        session.tom = nbcc_sim_tom::Session::watching();
        let ran = simt::launch_in(&ISA, binary, watched, &mut session);
        if ran.failure.is_some() {
            return ran;
        }
        session.tom = session.tom.given();
    }
    simt::launch_in(&ISA, binary, request, &mut session)
}

fn machine(text: &str, overrides: &[Override]) -> Result<Vec<Entry>, MachineError> {
    Ok(Machine::from_toml(text, overrides)?.list(text))
}

/// The mappings of addresses to stacks among which a machine chooses, and the share of instances that
/// it learns from.
pub fn mappings(text: &str, overrides: &[Override]) -> Result<(Vec<StackBits>, f64), MachineError> {
    let machine = Machine::from_toml(text, overrides)?;
    if machine.stack.count < 2 {
        let message = "the machine has one memory stack: there is nothing to choose";
        return Err(MachineError::at_key("stack.count", message));
    }
    Ok((machine.mappings(), machine.map.learn_share))
}

/// What a tournament of policies runs.
pub mod tournament {
    use super::*;

    /// As the binary says.
    pub fn run(binary: &[u8], request: GridRequest<'_>) -> GridRan {
        launch(binary, request)
    }

    /// Nothing is offloaded; where the instances of candidates go is left in the session.
    pub fn watch(binary: &[u8], request: GridRequest<'_>) -> (GridRan, nbcc_sim_tom::Session) {
        let mut session = Session { tom: nbcc_sim_tom::Session::watching(), ..Session::default() };
        let ran = simt::launch_in(&ISA, binary, request, &mut session);
        (ran, session.tom)
    }

    /// Of four instances of each candidate so many are offloaded, under a pair of bits or the baseline's
    /// mapping; `known` is what was watched.
    pub fn assigned(
        binary: &[u8],
        request: GridRequest<'_>,
        known: &nbcc_sim_tom::Session,
        bits: Option<StackBits>,
        quarters: Vec<u8>,
    ) -> GridRan {
        let mut session = Session { tom: known.assigned(bits, quarters), ..Session::default() };
        simt::launch_in(&ISA, binary, request, &mut session)
    }
}
