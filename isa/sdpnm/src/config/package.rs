//! A loop on an array. How the core starts it is stated in [`crate::core::arrays`].
//!
//! Iteration `i` starts at cycle `i * ii`; an operation in slot `s` and stage `t` of it runs at cycle
//! `(i + t) * ii + s`. What an operation computes stands in the output of its PE in exactly the next
//! cycle. In the iterations from `-ahead` to the last it runs; in the `ii`-long rounds before, it puts
//! out its initial register, where it has one. The array stops when the last operation of the last
//! iteration has run.

use super::context::Context;

/// The kinds of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArrayKind {
    /// Numerically controlled oscillators and integrator-comb filters.
    Npea,
    /// Filters.
    Fpea,
    /// As FPEA, with a bank of DRAM under each PE.
    Spea,
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
    /// The own registers of each ring, PE by PE as they are used: (PE, registers of each ring in
    /// order). A ring of `n` registers holds the values of `n` successive iterations.
    pub rings: Vec<(u16, Vec<u8>)>,
    /// The contexts, in ascending order of PE and slot, one at most for each.
    pub contexts: Vec<Placed>,
}
