//! Which body of a loop is mapped, and on which arrays.

pub(super) mod bands;
pub(super) mod choose;
pub(super) mod jam;
pub mod place;
pub(super) mod split;
