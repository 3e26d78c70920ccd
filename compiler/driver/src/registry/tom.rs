//! TOM: programs of kernels, the machine that runs them, and its mappings of addresses to stacks.

use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_isa_simt::asm;
use nbcc_isa_tom::address::StackBits;
use nbcc_isa_tom::{ISA, Machine};
pub use nbcc_sim_tom::{analyzer, trace};

use super::{RunReport, Runner, TargetEntry, simt};
use crate::kinds::grids::GridRunner;

/// TOM with its tools.
pub const ENTRY: TargetEntry = TargetEntry {
    target: &nbcc_target_tom::TOM,
    machine,
    isa: ISA.number,
    assembly: ISA.name,
    disassemble: |binary| asm::disassemble_elf(&ISA, binary),
    assemble: |text| asm::assemble_elf(&ISA, text),
    runner: Runner::Grids(GridRunner {
        describe: |binary| simt::describe(&ISA, binary),
        launch: |binary, request| simt::launch(&ISA, binary, request),
    }),
    report: RunReport {
        core: "multiprocessor",
        instructions: "warp instructions",
        note: None,
        has_trace: true,
    },
};

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
