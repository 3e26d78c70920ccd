//! Which body of a loop is mapped, and on which arrays.

pub(super) mod bands;
pub(super) mod choose;
pub(super) mod jam;
mod package;
pub mod place;
pub(super) mod split;
