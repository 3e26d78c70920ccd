//! The passes of this target, in order: the only place that says so.

use nbcc_pipeline::{OptLevel, PassDesc, optional, pass};
use nbcc_simt::Compilation;
use nbcc_simt::passes::{MACHINE, REGISTERS};

use crate::schedule;
use crate::table::{self, Candidates};

/// The pipeline.
pub const PASSES: &[PassDesc<Compilation<Candidates>>] = nbcc_simt::pipeline! {
    selected: [
        optional(
            "predicate",
            "guard small branches with loads",
            OptLevel::O2,
            schedule::predicate,
            &[MACHINE],
        ),
        optional(
            "schedule",
            "order the instructions of blocks for issue in order",
            OptLevel::O2,
            schedule::run,
            &[MACHINE],
        ),
    ],
    allocated: [],
    emitted: [pass(
        "offload",
        "mark what is worth running beside memory, and list it in the table",
        table::run,
        &[REGISTERS],
        &[],
    )],
};
