//! The passes of this target, in order: the only place that says so.

use nbcc_pipeline::{OptLevel, PassDesc, optional, pass};
use nbcc_simt::Compilation;
use nbcc_simt::passes::{self, MACHINE, REGISTERS};

use crate::location::{self, Locations};
use crate::{occupancy, schedule};

/// The pipeline.
pub const PASSES: &[PassDesc<Compilation<Locations>>] = &[
    passes::inline(),
    passes::unreachable(),
    passes::objects(),
    passes::fold(),
    passes::simplify_cfg(),
    passes::cse(),
    passes::dce(),
    passes::if_convert(),
    passes::licm(),
    passes::clean(),
    passes::select(),
    pass("locate", "decide what is near the banks and what is far", location::run, &[MACHINE], &[]),
    passes::allocate(),
    optional(
        "schedule",
        "order the instructions of blocks for issue in order",
        OptLevel::O2,
        schedule::run,
        &[REGISTERS],
    ),
    passes::layout(),
    passes::emit(),
    pass(
        "files",
        "say which registers are in which file, and how many warps fit",
        occupancy::run,
        &[REGISTERS],
        &[],
    ),
];
