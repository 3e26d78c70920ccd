//! Where each value lives.
