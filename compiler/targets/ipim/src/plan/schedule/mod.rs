//! Schedules: which directives are legal, what they ask of this target, and what became of each.
//!
//! Before planning, [`check`] refuses what cannot be meant: places that do not enclose every use,
//! orders that change the result. What is legal but not what this machine does (the order of loops
//! in a tile, say) changes no result; after planning, [`settle`] says of each directive whether it
//! was followed and, where not, what is done instead.

pub mod defaults;
mod hazards;
mod levels;
mod loops;
mod settle;
mod stages;

use nbcc_base::Diagnostics;
use nbcc_stages::Pipeline;

pub use loops::{MAX_TILE, scheduled_tile, within};
pub use settle::{settle, settle_unrolled};

/// Refuses directives that no loop nest could follow.
///
/// # Errors
/// One diagnostic for each, at the directive.
pub fn check(pipeline: &Pipeline) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::default();
    levels::check(pipeline, &mut found);
    hazards::check(pipeline, &mut found);
    if found.has_errors() { Err(found) } else { Ok(()) }
}
