//! An iteration as operations of PEs: how they are made of the IR, and what makes fewer or faster ones of them.

mod accumulate;
mod addresses;
pub mod body;
pub mod build;
pub(super) mod collect;
pub(super) mod contents;
mod dividing;
pub(super) mod follow;
mod fuse;
mod gates;
mod lines;
mod loads;
mod located;
mod pairs;
mod quotients;
mod readers;
mod reassociate;
pub(super) mod registers;
pub(super) mod reuse;
pub(super) mod rounds;
mod spread;
pub(super) mod streams;
mod truth;
pub(super) mod turns;
pub(super) mod watch;
mod wide;
mod words;
