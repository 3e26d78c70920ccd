//! What tests of several crates share: random functions and the numbers that they are made of, files
//! that end with the diagnostics expected of them, and sources made to harm.
//!
//! Only tests depend on this crate. As features of the crates that it serves, all of this would make
//! builds with tests and builds without compile those crates, and whatever is on top of them, twice.

mod dense;
mod functions;
mod generator;
mod reports;
mod rng;

pub use functions::{INTRINSICS, dense_function, graph_function, structured_function};
pub use reports::{
    cases, check_all_are_made, check_codes_have_files, check_examples, check_files, check_results,
    damaged, errors, files, report,
};
pub use rng::Rng;
