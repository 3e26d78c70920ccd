//! The passes of this target, in order: the only place that says so.

use nbcc_pipeline::PassDesc;
use nbcc_simt::{Compilation, passes};

/// The pipeline.
pub const PASSES: &[PassDesc<Compilation>] = &[
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
    passes::allocate(),
    passes::layout(),
    passes::emit(),
];
