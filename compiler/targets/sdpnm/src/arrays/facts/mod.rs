//! What is known of a loop: its shape, where it is in the source, how its words grow, what its accesses touch.

pub mod access;
pub mod evolution;
mod poly;
pub(super) mod rows;
pub mod shape;
pub mod sources;
pub(super) mod walks;
