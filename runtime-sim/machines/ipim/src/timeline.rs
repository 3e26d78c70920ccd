//! The trace of a vault: a lane for its core, for each kind of unit, and for the
//! controller of each group.

use nbcc_isa::Instruction;
use nbcc_isa_ipim::{Machine, Unit};
use nbcc_sim_dram::Issued;
use nbcc_sim_engine::{Cycle, Lane, Trace};

use crate::code::Step;
use crate::plan::Plan;
use crate::stall::Stall;

/// A vault's part of a trace.
#[derive(Clone, Debug)]
pub struct Timeline {
    trace: Trace,
    core: Lane,
    simd: Lane,
    int_alu: Lane,
    registers: Lane,
    pgsm: Lane,
    vsm: Lane,
    groups: Vec<Lane>,
}

impl Timeline {
    /// The lanes of a vault, with room for `limit` events.
    pub fn new(vault: u32, groups: u32, limit: usize) -> Timeline {
        let mut trace = Trace::new(limit);
        let process = format!("vault {vault}");
        let mut lane = |name: &str| trace.lane(&process, name);
        let core = lane("control core");
        let simd = lane("SIMD units");
        let int_alu = lane("integer ALUs");
        let registers = lane("register moves");
        let pgsm = lane("PGSM");
        let vsm = lane("VSM");
        let groups = (0..groups).map(|group| lane(&format!("DRAM, group {group}"))).collect();
        Timeline { trace, core, simd, int_alu, registers, pgsm, vsm, groups }
    }

    /// The events.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// An instruction issues.
    pub fn issue(&mut self, step: &Step, plan: &Plan, cycle: Cycle, pc: u32, machine: &Machine) {
        let (name, unit) = match step {
            Step::Run(inst) => (inst.mnemonic(), inst.unit()),
            _ => ("seti_crf", Unit::Control),
        };
        let detail = u64::from(pc);
        self.trace.push(self.core, name, cycle, 1, detail);
        let start = cycle + if plan.broadcast { Cycle::from(machine.latency.t_tsv) } else { 0 };
        // Units are pipelined: an instruction occupies their first stage for a cycle.
        let lane = match unit {
            Unit::Simd => self.simd,
            Unit::IntAlu => self.int_alu,
            Unit::Registers => self.registers,
            Unit::Pgsm => self.pgsm,
            Unit::Control | Unit::Bank | Unit::Vsm | Unit::Network => return,
        };
        if plan.mask != 0 {
            self.trace.push(lane, name, start, 1, detail);
        }
    }

    /// The core waits.
    pub fn stall(&mut self, cause: Stall, start: Cycle, length: Cycle) {
        self.trace.push(self.core, cause.name(), start, length, 0);
    }

    /// A transfer of the vault's scratchpad has had its last slot.
    pub fn transfer(&mut self, last: Cycle, slots: u32, pc: u32) {
        let slots = Cycle::from(slots);
        // Control may have had slots in between; the last ones are shown.
        let start = (last + 1).saturating_sub(slots);
        self.trace.push(self.vsm, "transfer", start, slots, u64::from(pc));
    }

    /// A controller issues a command.
    pub fn command(&mut self, group: usize, issued: &Issued) {
        let lane = self.groups[group];
        self.trace.push(lane, issued.command.name(), issued.cycle, 1, u64::from(issued.bank));
    }
}
