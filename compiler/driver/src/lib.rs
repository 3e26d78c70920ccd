//! The nbcc command.
