//! Functions of target instructions.
