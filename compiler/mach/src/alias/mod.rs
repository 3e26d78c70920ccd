//! Registers whose classes share one file: a value takes one entry, or an aligned group of several.
//! Liveness, pressure and colouring that stay near linear in functions of many registers: what is
//! live is kept as lists that are as long as what is live, and pressure is brought down before the
//! interference graph is built, so that no instruction adds more edges than the file has entries.
//!
//! Weighted degrees of aliasing classes: Smith, Ramsey, Holloway, "A Generalized Algorithm for
//! Graph-Coloring Register Allocation" (PLDI 2004).

mod check;
mod coalesce;
mod color;
mod graph;
mod liveness;
mod pressure;

pub use check::check_units;
pub use coalesce::coalesce;
pub use color::{Colors, color};
pub use graph::Graph;
pub use liveness::LiveLists;
pub use pressure::{max_pressure, over_pressure};

/// A register file that values of several classes share.
#[derive(Clone, Copy, Debug)]
pub struct File<C: 'static> {
    /// The classes, and how many entries a value of each takes: 1, 2, 4 or 8, aligned to as many.
    pub classes: &'static [(C, u16)],
    /// Entries, 256 at most.
    pub entries: u16,
}

impl<C: Copy + PartialEq> File<C> {
    /// How many entries a value of a class takes; `None` where it lives elsewhere.
    pub fn width(&self, class: C) -> Option<u16> {
        self.classes.iter().find(|(c, _)| *c == class).map(|&(_, width)| width)
    }
}
