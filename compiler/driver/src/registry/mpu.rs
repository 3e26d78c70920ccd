//! MPU: programs of kernels, and the simulated machine that runs them.

use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_isa_mpu::{ISA, Machine};
use nbcc_isa_simt::asm;

use super::{RunReport, Runner, TargetEntry, simt};
use crate::kinds::grids::GridRunner;

/// MPU with its tools.
pub const ENTRY: TargetEntry = TargetEntry {
    target: &nbcc_target_mpu::MPU,
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
        core: "core",
        instructions: "warp instructions",
        note: None,
        has_trace: true,
        statistics: nbcc_sim_mpu::DEFINITIONS,
    },
};

fn machine(text: &str, overrides: &[Override]) -> Result<Vec<Entry>, MachineError> {
    Ok(Machine::from_toml(text, overrides)?.list(text))
}
