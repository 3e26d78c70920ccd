//! Target-neutral transforms. Each is one algorithm: a function that changes an IR function and
//! says whether it did. A target decides which of them run, and when.
//!
//! They keep what a program computes bit for bit (which NaN an operation gives is not part of
//! that), and never add a trap; one that a program would run into may disappear with the
//! computation. Instructions keep their source locations, and new ones take that of what they
//! replace.

use nbcc_ir::Function;

pub mod accumulators;
pub mod choices;
pub mod clone_blocks;
pub mod cse;
pub mod dce;
mod effects;
pub mod fold;
pub mod licm;
mod loop_info;
pub mod lower_switch;
pub mod params;
pub mod promote;
pub mod ranges;
pub mod rotate;
pub mod simplify_cfg;
pub mod strength;
pub mod trip_counts;
pub mod unreachable;
pub mod unroll;
pub mod unroll_counted;
pub mod unroll_left;
pub mod widen;

/// A transform.
pub type Pass = fn(&mut Function) -> bool;

/// Every transform by its name.
pub const PASSES: &[(&str, Pass)] = &[
    ("accumulators", accumulators::run),
    ("choices", choices::run),
    ("fold", fold::run),
    ("cse", cse::run),
    ("dce", dce::run),
    ("licm", licm::run),
    ("lower-switch", lower_switch::run),
    ("strength", strength::run),
    ("params", params::run),
    ("ranges", ranges::run),
    ("promote", promote::run),
    ("rotate", rotate::run),
    ("simplify-cfg", simplify_cfg::run),
    ("trip-counts", trip_counts::run),
    ("unreachable", unreachable::run),
    ("unroll", unroll::run),
    ("unroll-counted", unroll_counted::run),
    ("unroll-left", unroll_left::run),
    ("widen", widen::run),
];
