//! The machine on packages and core programs that are written by hand, and on random packages.

mod core;
mod host;
mod loops;
mod naive;
mod random;
mod statistics;
mod support;
