//! The SDPNM machine as a struct, read from a TOML file of `machines/`.

use nbcc_isa::machine::{self, MachineError, Override, check_name, check_range};
use serde::{Deserialize, Serialize};

use crate::array::Array;

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What statistics call it.
    pub name: String,
    /// Clocks.
    pub clock: Clock,
    /// An array of processing elements.
    pub array: Array,
    /// The core.
    pub core: Core,
    /// The memory.
    pub memory: Memory,
    /// What events cost.
    pub energy: Energy,
}

/// Clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Cycles of the core and the arrays in a microsecond.
    pub mhz: u32,
}

/// How long instructions of the core take, in cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// A load.
    pub load_cycles: u32,
    /// A product.
    pub multiply_cycles: u32,
    /// A quotient or a remainder.
    pub divide_cycles: u32,
    /// A jump, or a branch that is taken.
    pub taken_branch_cycles: u32,
}

/// The memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Banks of DRAM.
    pub banks: u32,
    /// MiB of a bank.
    pub bank_mib: u32,
}

/// What events cost, in picojoules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// An instruction of the core.
    pub core_instruction_pj: f64,
    /// What a product takes beside.
    pub core_multiply_pj: f64,
    /// What a quotient or remainder takes beside.
    pub core_divide_pj: f64,
    /// A bit between the dies.
    pub dram_bit_pj: f64,
}

/// The built-in machines: name and TOML text.
pub const BUILT_IN: &[(&str, &str)] = &[("sdpnm", include_str!("../machines/sdpnm.toml"))];

impl Machine {
    /// A built-in machine.
    ///
    /// # Panics
    /// `name` is not one of [`BUILT_IN`].
    pub fn built_in(name: &str) -> Machine {
        let text = machine::built_in_text(BUILT_IN, name).expect("the name of a built-in machine");
        Machine::from_toml(text, &[]).expect("built-in machines are valid")
    }

    /// Reads a machine file and applies overrides.
    ///
    /// # Errors
    /// As [`machine::load`].
    pub fn from_toml(text: &str, overrides: &[Override]) -> Result<Machine, MachineError> {
        machine::load(text, overrides, Machine::validate)
    }

    /// Bytes of the memory: the first address behind it.
    pub fn memory_bytes(&self) -> u64 {
        (u64::from(self.memory.banks) * u64::from(self.memory.bank_mib)) << 20
    }

    /// The length of a cycle in nanoseconds.
    pub fn cycle_ns(&self) -> f64 {
        1e3 / f64::from(self.clock.mhz)
    }

    /// Checks every value for its range.
    ///
    /// # Errors
    /// The first value that is out of range, by its key.
    pub fn validate(&self) -> Result<(), MachineError> {
        check_name(&self.name)?;
        let array = &self.array;
        let (least, most) = Array::SIDES;
        check_range("array.rows", array.rows, least, most)?;
        check_range("array.columns", array.columns, least, most)?;
        check_range("array.registers", array.registers, 0, Array::MAX_REGISTERS)?;
        check_range("array.memory_ports", array.memory_ports, 1, Array::MAX_MEMORY_PORTS)?;
        check_range("array.contexts", array.contexts, 1, Array::MAX_CONTEXTS)?;
        check_range("clock.mhz", self.clock.mhz, 1, 10_000)?;
        let core = &self.core;
        check_range("core.load_cycles", core.load_cycles, 1, 1000)?;
        check_range("core.multiply_cycles", core.multiply_cycles, 1, 1000)?;
        check_range("core.divide_cycles", core.divide_cycles, 1, 1000)?;
        check_range("core.taken_branch_cycles", core.taken_branch_cycles, 1, 1000)?;
        check_range("memory.banks", self.memory.banks, 2, 128)?;
        // Addresses have 32 bits, and the core's code has the first 16 MiB.
        check_range("memory.bank_mib", self.memory.bank_mib, 16, 31)?;
        let energy = &self.energy;
        let events = [
            ("energy.core_instruction_pj", energy.core_instruction_pj),
            ("energy.core_multiply_pj", energy.core_multiply_pj),
            ("energy.core_divide_pj", energy.core_divide_pj),
            ("energy.dram_bit_pj", energy.dram_bit_pj),
        ];
        events.into_iter().try_for_each(|(key, value)| check_range(key, value, 0.0, 1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_machine_is_that_of_the_paper() {
        let machine = Machine::built_in("sdpnm");
        assert_eq!((machine.array.rows, machine.array.columns), (8, 8));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let text = BUILT_IN[0].1;
        for set in [
            "array.rows=1",
            "array.columns=17",
            "array.memory_ports=0",
            "array.contexts=0",
            "clock.mhz=0",
            "core.load_cycles=0",
            "core.divide_cycles=1001",
            "memory.banks=1",
            "memory.bank_mib=32",
            "energy.dram_bit_pj=-1.0",
        ] {
            let change = Override::parse(set).unwrap();
            assert!(Machine::from_toml(text, &[change]).is_err(), "{set}");
        }
    }
}
