//! Differential fuzzing of C: random functions of loops as one writes them for signals, pictures and
//! tables, run by the interpreter, by the core alone and divided among core and arrays, and by the C
//! compiler there is; a failure is shrunk to a small function. What C leaves open stays out of what
//! the other compiler is asked: it is asked of runs only that the interpreter brings to an end.

#[path = "../../../frontends/c/tests/common/mod.rs"]
mod common;
mod expressions;
pub mod generate;
mod heads;
mod idioms;
pub mod model;
pub mod outside;
pub mod run;
pub mod shrink;
mod statements;
mod subscripts;
