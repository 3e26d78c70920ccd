//! What no order of the instructions of a step could take less than.

use super::Cost;

/// Cycles below which no order of the instructions of a step can end, each for its reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Instructions: one issues a cycle.
    pub issue: u64,
    /// Cycles in which the banks of a group serve accesses, all to open rows.
    pub banks: u64,
    /// Operations of the SIMD unit.
    pub simd: u64,
    /// Operations of the integer ALU.
    pub int_alu: u64,
    /// Slots of the TSVs.
    pub tsvs: u64,
}

impl Bounds {
    /// Each bound, with the name of what it is of.
    pub fn each(&self) -> [(u64, &'static str); 5] {
        [
            (self.issue, "control core"),
            (self.banks, "banks"),
            (self.simd, "SIMD units"),
            (self.int_alu, "integer ALUs"),
            (self.tsvs, "TSVs"),
        ]
    }

    /// The largest of the bounds, the first of those that are equal.
    pub fn largest(&self) -> (u64, &'static str) {
        self.each().into_iter().rev().max_by_key(|(cycles, _)| *cycles).unwrap_or_default()
    }
}

impl std::ops::AddAssign for Bounds {
    fn add_assign(&mut self, other: Bounds) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        sum(&mut self.issue, other.issue);
        sum(&mut self.banks, other.banks);
        sum(&mut self.simd, other.simd);
        sum(&mut self.int_alu, other.int_alu);
        sum(&mut self.tsvs, other.tsvs);
    }
}

/// What a step takes as it is compiled (`crate::estimate`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Cycles of a vault all of whose engines work.
    pub cost: Cost,
    /// What bounds them.
    pub bounds: Bounds,
}
