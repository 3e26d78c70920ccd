//! The passes of this target, in order: the only place that says so.

use nbcc_pipeline::{OptLevel, PassDesc, optional, pass};
use nbcc_simt::Compilation;
use nbcc_simt::passes::{MACHINE, REGISTERS};

use crate::location::{self, Locations};
use crate::{occupancy, schedule};

/// The pipeline.
pub const PASSES: &[PassDesc<Compilation<Locations>>] = nbcc_simt::pipeline! {
    selected: [pass(
        "locate",
        "decide what is near the banks and what is far",
        location::run,
        &[MACHINE],
        &[],
    )],
    allocated: [optional(
        "schedule",
        "order the instructions of blocks for issue in order",
        OptLevel::O2,
        schedule::run,
        &[REGISTERS],
    )],
    emitted: [pass(
        "files",
        "say which registers are in which file, and how many warps fit",
        occupancy::run,
        &[REGISTERS],
        &[],
    )],
};
