//! The iPIM machine.
