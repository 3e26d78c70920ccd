//! Clock, statistics, energy ledger, trace.

/// A point in simulated time, in cycles of the unit's clock domain.
pub type Cycle = u64;
