//! The shared SSA intermediate representation.
