//! The SDPNM machine as a struct, read from a TOML file of `machines/`.

use nbcc_isa::machine::{self, MachineError, Override, check_name, check_range};
use serde::{Deserialize, Serialize};

use crate::array::Array;

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What statistics call it.
    pub name: String,
    /// An array of processing elements.
    pub array: Array,
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
        check_range("array.contexts", array.contexts, 1, Array::MAX_CONTEXTS)
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
        for set in ["array.rows=1", "array.columns=17", "array.memory_ports=0", "array.contexts=0"]
        {
            let change = Override::parse(set).unwrap();
            assert!(Machine::from_toml(text, &[change]).is_err(), "{set}");
        }
    }
}
