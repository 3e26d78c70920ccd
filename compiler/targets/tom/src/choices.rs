//! What is compiled for: a machine, and a policy and a mapping for its controller.

use nbcc_isa_tom::{Machine, policy};
use nbcc_pipeline::{Choice, names};
use nbcc_simt::Compilation;

/// The key of the choice of a policy.
pub const OFFLOAD: &str = "offload";
/// The key of the choice of a mapping.
pub const MAP: &str = "map";

/// What `-X` takes.
pub const CHOICES: &[Choice] = &[
    Choice {
        key: OFFLOAD,
        values: policy::OFFLOAD,
        about: "which instances of candidates run beside memory",
    },
    Choice {
        key: MAP,
        values: &names(&policy::Mapping::ALL),
        about: "which stack holds which line",
    },
];

/// The machine that is compiled for.
pub fn machine_of<X>(state: &Compilation<X>) -> Machine {
    Machine::from_toml(&state.machine.toml, &[]).expect("it was read before")
}
