//! The banks of a process group in time.

use std::sync::Arc;

use nbcc_isa_ipim::{ATOM_BYTES, Machine};
pub use nbcc_sim_dram::Port as Group;
use nbcc_sim_dram::{Banks, DramConfig, Kind, Model};

/// Why a machine's banks cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine's DRAM: {0}")]
pub struct DramError(String);

/// The controller of a group as the DRAM model describes it.
///
/// # Errors
/// Timings that the DRAM model refuses.
pub fn dram_model(machine: &Machine) -> Result<Arc<Model>, DramError> {
    let banks = Banks {
        count: machine.hierarchy.pes,
        bytes: machine.memory.bank_bytes,
        access_bytes: ATOM_BYTES,
        row_buffers: 1,
    };
    let config = DramConfig::beside_banks(&machine.dram, banks);
    Model::new(&config).map_err(|error| DramError(error.to_string()))
}

/// Kind of an access.
pub fn kind(write: bool) -> Kind {
    if write { Kind::Write } else { Kind::Read }
}
