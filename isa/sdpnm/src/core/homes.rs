//! Homes: what lies in the shared memories of arrays while a program runs.

use serde::{Deserialize, Serialize};

use super::memory::Area;

/// What the loader puts into the shared memory of an array before the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// The array, by its number in the machine file.
    pub array: u8,
    /// What.
    pub what: Homed,
}

/// What has a home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Homed {
    /// An array parameter, by its number. The loader gives homes of parameters addresses behind those of
    /// objects, at multiples of [`Machine::home_alignment`](crate::Machine::home_alignment), in the order
    /// of the parameters and then of the list, where they fit. A parameter with one home that fitted lies there alone: its argument is the address in
    /// the window, and its contents come back from there. One with several is `const`: each fitting one
    /// is a copy, and its argument stays an address of the memory.
    Parameter(u32),
    /// A variable of the module: a copy of what the memory holds there at the start, which stays where
    /// it is and does not change with it.
    Object {
        /// Where it lies in the memory.
        from: Area,
        /// The address in the shared memory, a multiple of
        /// [`ALIGNMENT`](super::memory::ALIGNMENT).
        at: u32,
    },
    /// Room for as many bytes at the same address as another home has, which is no twin and in another
    /// array. An array with twins has nothing else, and these are of homes of one array: so they are
    /// there wherever those are.
    Twin {
        /// The number of the other home.
        of: u32,
        /// Whether it holds before the call what the other one holds.
        filled: bool,
    },
}
