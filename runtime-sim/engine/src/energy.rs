//! Where energy went: a ledger with an entry a component, in picojoules.
//!
//! An entry is a number of events times the energy of one, so that the same run
//! always gives the same sums, in whatever order events happened.

/// Energy by component, in the order of first mention.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyLedger {
    parts: Vec<(&'static str, f64)>,
}

impl EnergyLedger {
    /// An empty ledger.
    pub fn new() -> EnergyLedger {
        EnergyLedger::default()
    }

    /// Adds `events` of `picojoules` each to `component`.
    pub fn add(&mut self, component: &'static str, events: u64, picojoules: f64) {
        let energy = events as f64 * picojoules;
        match self.parts.iter_mut().find(|(name, _)| *name == component) {
            Some((_, sum)) => *sum += energy,
            None => self.parts.push((component, energy)),
        }
    }

    /// The components with their energies in pJ, in the order of first mention.
    pub fn parts(&self) -> &[(&'static str, f64)] {
        &self.parts
    }

    /// The energy of a component in pJ; 0 when it was never mentioned.
    pub fn of(&self, component: &str) -> f64 {
        self.parts.iter().find(|(name, _)| *name == component).map_or(0.0, |(_, sum)| *sum)
    }

    /// The sum of all parts, pJ, added in their order.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|(_, sum)| sum).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_the_total() {
        let mut ledger = EnergyLedger::new();
        ledger.add("simd", 3, 2.5);
        ledger.add("bank", 10, 0.5);
        ledger.add("simd", 1, 2.5);
        assert_eq!(ledger.parts(), [("simd", 10.0), ("bank", 5.0)]);
        assert_eq!(ledger.total(), 15.0);
        assert_eq!(ledger.of("bank"), 5.0);
        assert_eq!(ledger.of("none"), 0.0);
    }
}
