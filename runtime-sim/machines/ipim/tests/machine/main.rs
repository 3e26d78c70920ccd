//! The iPIM machine: what instructions do, when they do it, and what happens to
//! programs that do what they must not.

mod faults;
mod messages;
mod naive;
mod random;
mod semantics;
mod statistics;
mod support;
mod timing;
