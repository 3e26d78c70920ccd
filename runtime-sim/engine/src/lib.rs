//! What every simulated machine shares: the clock, statistics, the energy ledger,
//! the trace of a run, and the report of its progress. Knows no machine.

pub mod energy;
pub mod progress;
pub mod slab;
pub mod statistics;
pub mod team;
pub mod trace;

pub use energy::EnergyLedger;
pub use progress::Progress;
pub use statistics::{Definition, Statistics, Value};
pub use team::{Company, Help, Team};
pub use trace::{Lane, Trace};

/// A point in simulated time, in cycles of the unit's clock domain.
pub type Cycle = u64;

/// The cycle of what does not come by itself.
pub const NEVER: Cycle = Cycle::MAX;
