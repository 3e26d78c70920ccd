//! Random functions. Everything follows from a seed, so that a failure can be repeated.

use nbcc_ir::Function;

use crate::generator::Generator;

/// Intrinsics that random functions call.
pub const INTRINSICS: &[&str] = &["test.id", "test.mix", "test.log"];

/// A function whose control flow is built from loops that end, two-way and multi-way branches.
/// It takes an `i32`, an `i32`, an `f32` and an `f32x4`, and returns an `i32`, an `f32` and an
/// `f32x4`. Accesses to memory are within bounds but for rare ones.
///
/// Intrinsics: `test.id` (pure, a number of its own in each thread), `test.mix` (pure, of its
/// operands and immediate), `test.log` (a write that must happen in order with its operand).
/// NaN payloads are never looked at.
pub fn structured_function(seed: u64) -> Function {
    let mut generator = Generator::new(seed);
    generator.region(3);
    generator.finish();
    generator.func
}

/// A function of the same kind over an arbitrary graph: several exits, unreachable blocks,
/// irreducible cycles. It may run forever.
pub fn graph_function(seed: u64) -> Function {
    let mut generator = Generator::new(seed);
    generator.graph();
    generator.func
}

/// A function of the same kind that is short and has few types, values and elements of memory, so
/// that constants, equal expressions and accesses to one element meet often. Most values are
/// stored or logged.
pub fn dense_function(seed: u64) -> Function {
    let mut generator = Generator::new(seed);
    generator.dense();
    generator.finish();
    generator.func
}
