//! The mapper of data-flow graphs on arrays of processing elements, and the arrays.

pub use nbcc_isa_sdpnm::{Array, Fault, Graph, Links, Mapping, check};
pub use nbcc_target_sdpnm::map::mappers::{MAPPERS, find as mapper};
pub use nbcc_target_sdpnm::map::{Effort, NoMapping, Outcome, Request, map};
pub use nbcc_target_sdpnm::{codes, read, report};

/// The array that is mapped on where nobody says otherwise.
pub fn usual() -> Array {
    nbcc_isa_sdpnm::Machine::built_in("sdpnm").array
}
