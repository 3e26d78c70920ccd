//! The nbcc command.
fn main() {}
