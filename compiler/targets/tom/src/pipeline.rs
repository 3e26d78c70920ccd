//! The passes of this target, in order: the only place that says so.

use nbcc_pipeline::{OptLevel, PassDesc, optional, pass};
use nbcc_simt::Compilation;
use nbcc_simt::passes::{MACHINE, REGISTERS};

use crate::table::{self, Candidates};
use crate::{latch, schedule};

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
    allocated: [optional(
        "latch",
        "let loops go back by the branch that may leave them",
        OptLevel::O1,
        latch::run,
        &[REGISTERS],
    )],
    emitted: [pass(
        "offload",
        "mark what is worth running beside memory, and list it in the table",
        table::run,
        &[REGISTERS],
        &[],
    )],
};
