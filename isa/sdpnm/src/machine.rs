//! The SDPNM machine as a struct, read from a TOML file of `machines/`.

use nbcc_isa::dram::Dram;
use nbcc_isa::machine::{self, MachineError, Override, check_name, check_range};
use serde::{Deserialize, Serialize};

use crate::array::Array;
use crate::config::ArrayKind;
use crate::core::arrays::WINDOW_BYTES;
use crate::core::memory::ALIGNMENT;

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
    /// The arrays that there are.
    pub arrays: Arrays,
    /// What an array has beside its elements.
    pub control: Control,
    /// The shared memory of an array.
    pub shared: Shared,
    /// The core.
    pub core: Core,
    /// The memory.
    pub memory: Memory,
    /// A bank of it.
    pub dram: Dram,
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

/// The arrays that there are, all as [`Machine::array`] says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrays {
    /// The kind of each; its place in the list is its number.
    pub kinds: Vec<ArrayKind>,
    /// Row and column of each in the plane of arrays.
    pub places: Vec<[i32; 2]>,
}

/// What an array has beside its elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Global registers.
    pub globals: u32,
    /// Multipliers of an array of the kind NPEA: sines and cosines that start in a cycle.
    pub npea_multipliers: u32,
    /// How often the contexts of a PE the configuration memory holds: one set that runs, others that
    /// are loaded meanwhile.
    pub context_sets: u32,
    /// Cycles in which a context of each PE of a row is loaded.
    pub load_row_cycles: u32,
    /// Cycles from the start of a loaded package to its first cycle.
    pub switch_cycles: u32,
}

/// The shared memory of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// KiB of it.
    pub kib: u32,
    /// Banks, of words of 4 bytes that go round.
    pub banks: u32,
    /// Bytes a cycle that the loader and the host controller move between it and the memory.
    pub staging_bytes: u32,
    /// The same of an array with banks beside it, of the kind SPEA.
    pub beside_bytes: u32,
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
    /// Bytes of a column, an access of a bank. Columns go round the banks.
    pub access_bytes: u32,
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
    /// A row of a bank that is opened.
    pub dram_activate_pj: f64,
    /// An operation of a PE.
    pub pe_operation_pj: f64,
    /// What a product of two numbers of 16 bits takes beside.
    pub pe_multiply_pj: f64,
    /// An operand from the output of another PE.
    pub pe_link_pj: f64,
    /// An own register, read or written.
    pub pe_register_pj: f64,
    /// A global register, read or written.
    pub pe_global_pj: f64,
    /// A context that a PE follows for a cycle.
    pub pe_context_pj: f64,
    /// A context that is loaded into a PE.
    pub pe_configure_pj: f64,
    /// An access to shared memory.
    pub shared_access_pj: f64,
}

/// The built-in machines: name and TOML text.
pub const BUILT_IN: &[(&str, &str)] = &[("sdpnm", include_str!("../machines/sdpnm.toml"))];

impl Machine {
    /// Arrays at most: so many control pages and windows lie below the memory of data.
    pub const MAX_ARRAYS: usize = 16;

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

    /// What reports call an array: its kind, with a number where there are several.
    pub fn array_name(&self, array: usize) -> String {
        let kinds = &self.arrays.kinds;
        let Some(kind) = kinds.get(array) else { return array.to_string() };
        let alike = |range: &[ArrayKind]| range.iter().filter(|other| *other == kind).count();
        match alike(kinds) {
            1 => kind.name().to_string(),
            _ => format!("{}{}", kind.name(), alike(&kinds[..array])),
        }
    }

    /// What the address of a home in a shared memory is a multiple of: it begins at the first bank.
    pub fn home_alignment(&self) -> u32 {
        let row = 4 * self.shared.banks;
        if row.is_multiple_of(ALIGNMENT) { row } else { 2 * row }
    }

    /// Bytes of the shared memory of an array.
    pub fn shared_bytes(&self) -> u32 {
        self.shared.kib << 10
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
        let arrays = self.arrays.kinds.len();
        if arrays != self.arrays.places.len() || arrays > Machine::MAX_ARRAYS {
            let message = "`arrays.places` has not one place an array";
            return Err(MachineError::at_key("arrays.places", message)
                .with_help(format!("there are {} arrays at most", Machine::MAX_ARRAYS)));
        }
        let control = &self.control;
        check_range("control.globals", control.globals, 1, 256)?;
        check_range("control.npea_multipliers", control.npea_multipliers, 0, 256)?;
        check_range("control.context_sets", control.context_sets, 1, 1024)?;
        check_range("control.load_row_cycles", control.load_row_cycles, 0, 1000)?;
        check_range("control.switch_cycles", control.switch_cycles, 0, 1000)?;
        check_range("shared.kib", self.shared.kib, 1, WINDOW_BYTES >> 10)?;
        check_range("shared.banks", self.shared.banks, 1, 256)?;
        check_range("shared.staging_bytes", self.shared.staging_bytes, 1, 1 << 16)?;
        check_range("shared.beside_bytes", self.shared.beside_bytes, 1, 1 << 16)?;
        check_range("clock.mhz", self.clock.mhz, 1, 10_000)?;
        let core = &self.core;
        check_range("core.load_cycles", core.load_cycles, 1, 1000)?;
        check_range("core.multiply_cycles", core.multiply_cycles, 1, 1000)?;
        check_range("core.divide_cycles", core.divide_cycles, 1, 1000)?;
        check_range("core.taken_branch_cycles", core.taken_branch_cycles, 1, 1000)?;
        check_range("memory.banks", self.memory.banks, 2, 128)?;
        // Addresses have 32 bits, and the core's code has the first 16 MiB.
        check_range("memory.bank_mib", self.memory.bank_mib, 16, 31)?;
        check_range("memory.access_bytes", self.memory.access_bytes, 4, 256)?;
        self.dram.validate(1, self.memory.bank_mib << 20, self.memory.access_bytes)?;
        let energy = &self.energy;
        let events = [
            ("energy.core_instruction_pj", energy.core_instruction_pj),
            ("energy.core_multiply_pj", energy.core_multiply_pj),
            ("energy.core_divide_pj", energy.core_divide_pj),
            ("energy.dram_bit_pj", energy.dram_bit_pj),
            ("energy.dram_activate_pj", energy.dram_activate_pj),
            ("energy.pe_operation_pj", energy.pe_operation_pj),
            ("energy.pe_multiply_pj", energy.pe_multiply_pj),
            ("energy.pe_link_pj", energy.pe_link_pj),
            ("energy.pe_register_pj", energy.pe_register_pj),
            ("energy.pe_global_pj", energy.pe_global_pj),
            ("energy.pe_context_pj", energy.pe_context_pj),
            ("energy.pe_configure_pj", energy.pe_configure_pj),
            ("energy.shared_access_pj", energy.shared_access_pj),
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
        let names: Vec<String> = (0..5).map(|array| machine.array_name(array)).collect();
        assert_eq!(names, ["npea", "fpea0", "fpea1", "fpea2", "spea"]);
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
            "arrays.kinds=[\"fpea\"]",
            "arrays.kinds=[\"fppa\"]",
            "control.globals=0",
            "shared.kib=65",
            "shared.banks=0",
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
