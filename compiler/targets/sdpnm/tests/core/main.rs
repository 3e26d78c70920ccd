//! Code for the core: compiled at several levels and run on the simulated machine, it does what gcc
//! made of the source, or what the interpreter does.

#[path = "../../../../../frontends/c/tests/common/mod.rs"]
mod common;
mod generator;
mod machine;

mod ahead;
mod apart;
mod buffers;
mod chains;
mod divided;
mod exchange;
mod jam;
mod kernels;
mod limited;
mod longs;
mod loops;
mod nests;
mod parts;
mod places;
mod pragmas;
mod ratios;
mod registers;
mod spellings;
mod strips;
mod sums;
mod thresholds;
mod units;
mod watched;
mod wide;
