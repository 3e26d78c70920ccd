//! Passes on kernels in the shared IR. Transforms that help every target are those of `nbcc_opt`.

pub mod addresses;
pub mod complete;
pub mod copies;
pub mod forward;
pub mod frequency;
pub mod fuse;
pub mod increments;
pub mod legalize;
pub mod merge;
pub mod place;
pub mod preload;
pub mod reuse;
mod rewrite;
pub mod share;
pub mod sink;
pub mod unroll;
