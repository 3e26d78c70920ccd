//! What is measured of a run. What an instruction costs is known before it runs, so the core counts
//! only how often each issued, and how often each branch was taken.

use nbcc_isa::Instruction;
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::core::{CoreProgram, Latency};

/// Cycles of an instruction, those of a branch where it falls through.
pub(crate) fn cycles(machine: &Machine, latency: Latency) -> u64 {
    let core = &machine.core;
    u64::from(match latency {
        Latency::Single | Latency::Branch => 1,
        Latency::Load => core.load_cycles,
        Latency::Multiply => core.multiply_cycles,
        Latency::Divide => core.divide_cycles,
        Latency::Jump => core.taken_branch_cycles,
    })
}

/// What a run counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// How often each instruction issued.
    pub issued: Vec<u64>,
    /// How often each branch was taken.
    pub taken: Vec<u64>,
    /// Cycles for which each instruction waited for an array.
    pub waited: Vec<u64>,
    /// Cycles from the return of the function to the end of the last array.
    pub drained: u64,
    /// The length of the run.
    pub cycles: u64,
}

impl Measures {
    /// Nothing has run, of so many instructions.
    pub fn new(instructions: usize) -> Measures {
        Measures {
            issued: vec![0; instructions],
            taken: vec![0; instructions],
            waited: vec![0; instructions],
            drained: 0,
            cycles: 0,
        }
    }

    /// Instructions issued.
    pub fn instructions(&self) -> u64 {
        self.issued.iter().sum()
    }

    /// Cycles for which each instruction kept the core waiting.
    pub fn stalled(&self, program: &CoreProgram) -> Vec<u64> {
        let taken = cycles(&program.machine, Latency::Jump) - 1;
        let each = program.code.text.iter().zip(self.issued.iter().zip(&self.taken));
        each.zip(&self.waited)
            .map(|((inst, (issued, branches)), waited)| {
                issued * (cycles(&program.machine, inst.latency()) - 1) + branches * taken + waited
            })
            .collect()
    }
}
