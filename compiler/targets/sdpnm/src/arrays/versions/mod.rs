//! The second version of a loop, which an array runs, and what the core asks before it does.

mod again;
mod conditions;
pub(super) mod forms;
pub mod version;
