//! A loop on an array. How the core starts it is stated in [`crate::core::arrays`].
//!
//! Iteration `i` starts at cycle `i * ii`; an operation in slot `s` and stage `t` of it runs at cycle
//! `(i + t) * ii + s`. What an operation computes stands in the output of its PE in exactly the next
//! cycle; a PE without an operation in a slot puts out 0. In the iterations from `-ahead` to the last it
//! runs; in the `ii`-long rounds before, it puts out its initial register, where it has one. The array
//! stops when the last operation of the last iteration has run; of 0 iterations nothing runs.
//!
//! In a cycle, all operands are read first: what loads find in memory is what it held at the start of
//! the cycle; stores, registers and global registers have their new values in the next one. Of two
//! stores to a byte in a cycle, that of the PE of the higher number stays.

use nbcc_isa::SourceLine;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::opcode::Opcode;

/// The kinds of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayKind {
    /// Numerically controlled oscillators and integrator-comb filters.
    Npea,
    /// Filters.
    Fpea,
    /// As FPEA, with a bank of DRAM under each PE.
    Spea,
}

impl ArrayKind {
    /// The name in machine files and reports.
    pub fn name(self) -> &'static str {
        match self {
            ArrayKind::Npea => "npea",
            ArrayKind::Fpea => "fpea",
            ArrayKind::Spea => "spea",
        }
    }

    /// Whether its PEs have the operation.
    pub fn has(self, op: Opcode) -> bool {
        match self {
            ArrayKind::Npea => op.on_npea(),
            ArrayKind::Fpea | ArrayKind::Spea => op.on_fpea(),
        }
    }
}

/// A context at its PE and slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The PE, row x columns + column.
    pub pe: u16,
    /// The cycle of the interval, less than `ii`.
    pub slot: u16,
    /// What it does.
    pub context: Context,
    /// The source line that it comes from, in the files of the program's line table.
    pub line: Option<SourceLine>,
}

/// A loop on an array: the configuration package of section 3.4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// What assembly text and reports call it, `F:LINE` for a loop of a source.
    pub name: String,
    /// The array that it is for, by its number in the machine file.
    pub array: u8,
    /// The initiation interval, in cycles.
    pub ii: u16,
    /// The least interval that the loop could have on the array, for reports: of its recurrences and of
    /// what it uses; 0 where that is not known.
    pub mii: u16,
    /// The own registers of each ring, PE by PE as they are used: (PE, registers of each ring in
    /// order). A ring of `n` registers holds the values of `n` successive iterations.
    pub rings: Vec<(u16, Vec<u8>)>,
    /// The contexts, in ascending order of PE and slot, one at most for each.
    pub contexts: Vec<Placed>,
}

impl Package {
    /// Cycles from the start to the last operation of the last iteration, without stalls.
    pub fn cycles(&self, iterations: u32) -> u64 {
        let last = |placed: &Placed| {
            u64::from(placed.context.control.stage) * u64::from(self.ii) + u64::from(placed.slot)
        };
        match (iterations, self.contexts.iter().map(last).max()) {
            (0, _) | (_, None) => 0,
            (_, Some(last)) => u64::from(iterations - 1) * u64::from(self.ii) + last + 1,
        }
    }

    /// The registers of each ring of a PE.
    pub fn rings_of(&self, pe: u16) -> &[u8] {
        let found = self.rings.iter().find(|(of, _)| *of == pe);
        found.map_or(&[], |(_, rings)| rings.as_slice())
    }
}
