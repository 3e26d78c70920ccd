//! Functions of floats against those of binary64, rounded, over all floats or every so many.
//!
//! `NBCC_STRIDE=1 cargo test --release functions -- --nocapture` goes through all of them.

use nbcc_ir::{BinaryOp, Op, UnaryOp};
use nbcc_testing::Rng;

use super::machine::{CHUNK, Program};
use super::numbers::ulps;
use super::{F32, function, legal, operands, operation, special_floats};

/// A function of one number, in binary64.
type Unary = fn(f64) -> f64;
/// A function of two.
type Binary = fn(f64, f64) -> f64;

/// Every so many floats are looked at.
fn stride() -> u64 {
    std::env::var("NBCC_STRIDE").ok().and_then(|s| s.parse().ok()).unwrap_or(50_021)
}

/// The greatest distance from the rounded result of `reference`, over special floats and a sample
/// of all; and where it is.
fn greatest_error(op: UnaryOp, reference: fn(f64) -> f64) -> (u64, f32) {
    let func = legal(&operation(&[F32], |v| Op::Unary(op, v[0])));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let workers = if stride() < 1000 { cores } else { 1 };
    let parts: Vec<_> = (0..workers)
        .map(|worker| {
            let mut program = Program::new(&func);
            std::thread::spawn(move || {
                let mut worst = (0, 0.0);
                let mut chunk: Vec<u32> = special_floats();
                let step = stride() * workers;
                let mut next = worker * stride();
                while !chunk.is_empty() {
                    for (&x, &got) in chunk.iter().zip(program.run(&[&chunk])) {
                        let x = f32::from_bits(x);
                        let expected = reference(f64::from(x)) as f32;
                        let far = ulps(expected.to_bits(), got);
                        if far > worst.0 {
                            worst = (far, x);
                        }
                    }
                    chunk.clear();
                    while chunk.len() < CHUNK && next < 1 << 32 {
                        chunk.push(next as u32);
                        next += step;
                    }
                }
                worst
            })
        })
        .collect();
    let results = parts.into_iter().map(|part| part.join().unwrap());
    results.max_by_key(|&(far, _)| far).unwrap()
}

fn within(op: UnaryOp, limit: u64, reference: fn(f64) -> f64) {
    let (far, x) = greatest_error(op, reference);
    println!("{op:?}: {far} ulp, at {x:e} ({:#010x})", x.to_bits());
    assert!(far <= limit, "{op:?} of {x:e} is off by {far} ulp");
}

#[test]
fn rounding() {
    within(UnaryOp::Floor, 0, f64::floor);
    within(UnaryOp::Ceil, 0, f64::ceil);
    within(UnaryOp::Nearest, 0, f64::round_ties_even);
    within(UnaryOp::Trunc, 0, f64::trunc);
}

#[test]
fn roots() {
    within(UnaryOp::Sqrt, 1, f64::sqrt);
}

#[test]
fn exponentials_and_logarithms() {
    within(UnaryOp::Exp, 2, f64::exp);
    within(UnaryOp::Log, 2, f64::ln);
}

#[test]
fn hyperbolic_functions() {
    within(UnaryOp::Sinh, 2, f64::sinh);
    within(UnaryOp::Cosh, 2, f64::cosh);
    within(UnaryOp::Tanh, 3, f64::tanh);
}

/// The greatest error of a function of two floats, over special and random operands.
fn greatest_error_of_two(op: BinaryOp, reference: fn(f64, f64) -> f64) -> (u64, f32, f32) {
    let func = legal(&operation(&[F32, F32], |v| Op::Binary(op, v[0], v[1])));
    let mut program = Program::new(&func);
    let mut worst = (0, 0.0, 0.0);
    for seed in 0..(500_000 / stride()).max(1) {
        let args = operands(&[F32, F32], 10_000, seed);
        let skip = if seed > 0 { args[0].len() - 10_000 } else { 0 };
        for at in (skip..args[0].len()).step_by(CHUNK) {
            let end = args[0].len().min(at + CHUNK);
            let (xs, ys) = (&args[0][at..end], &args[1][at..end]);
            for ((&x, &y), &got) in xs.iter().zip(ys).zip(program.run(&[xs, ys])) {
                let (x, y) = (f32::from_bits(x), f32::from_bits(y));
                let expected = reference(f64::from(x), f64::from(y)) as f32;
                let far = ulps(expected.to_bits(), got);
                if far > worst.0 {
                    worst = (far, x, y);
                }
            }
        }
    }
    worst
}

fn within_of_two(op: BinaryOp, limit: u64, reference: fn(f64, f64) -> f64) {
    let (far, x, y) = greatest_error_of_two(op, reference);
    println!("{op:?}: {far} ulp, at {x:e}, {y:e} ({:#010x}, {:#010x})", x.to_bits(), y.to_bits());
    assert!(far <= limit, "{op:?} of {x:e}, {y:e} is off by {far} ulp");
}

#[test]
fn powers() {
    within_of_two(BinaryOp::Pow, 2, f64::powf);
}

/// Functions of which one operand is a constant take shorter ways.
#[test]
fn functions_of_constants() {
    let mut rng = Rng::new(3);
    let mut constants: Vec<f32> = special_floats().into_iter().map(f32::from_bits).collect();
    constants.extend([-3.0, 2.2, 1.0 / 2.4, 7.0, 100.5]);
    let cases: [(BinaryOp, u64, Binary); 2] =
        [(BinaryOp::Pow, 2, f64::powf), (BinaryOp::Atan2, 3, f64::atan2)];
    for ((op, limit, reference), constant) in
        cases.into_iter().flat_map(|case| constants.iter().map(move |&c| (case, c)))
    {
        for first in [false, true] {
            let func = function(&[F32], |b, v| {
                let c = b.constant(F32, u64::from(constant.to_bits()));
                let (x, y) = if first { (c, v[0]) } else { (v[0], c) };
                b.binary(op, x, y)
            });
            let mut program = Program::new(&legal(&func));
            let mut all = special_floats();
            all.extend((0..CHUNK - all.len()).map(|_| rng.bits() as u32));
            for (&bits, &got) in all.iter().zip(program.run(&[&all])) {
                let other = f32::from_bits(bits);
                let (x, y) = if first { (constant, other) } else { (other, constant) };
                let expected = reference(f64::from(x), f64::from(y)) as f32;
                let far = ulps(expected.to_bits(), got);
                assert!(far <= limit, "{op:?} of {x:e} and {y:e} is off by {far} ulp");
            }
        }
    }
}

/// Functions of operands whose range is known take shorter ways too.
#[test]
fn functions_of_operands_in_a_range() {
    use UnaryOp::*;
    let functions: [(UnaryOp, u64, Unary); 15] = [
        (Sqrt, 1, f64::sqrt),
        (Exp, 2, f64::exp),
        (Log, 2, f64::ln),
        (Sin, 3, f64::sin),
        (Cos, 3, f64::cos),
        (Tan, 4, f64::tan),
        (Asin, 3, f64::asin),
        (Acos, 3, f64::acos),
        (Atan, 3, f64::atan),
        (Sinh, 2, f64::sinh),
        (Cosh, 2, f64::cosh),
        (Tanh, 3, f64::tanh),
        (Floor, 0, f64::floor),
        (Ceil, 0, f64::ceil),
        (Trunc, 0, f64::trunc),
    ];
    let all = special_floats();
    let ranges = [(0.0f32, f32::INFINITY), (-0.0, 1.0), (-1.0, 1.0), (-9.0, 1e4), (f32::MIN, 9.0)];
    for ((op, limit, reference), (low, high)) in
        functions.into_iter().flat_map(|case| ranges.map(|range| (case, range)))
    {
        // A NaN is left by limits that are compared the other way round.
        for nan in [false, true] {
            let func = function(&[F32], |b, v| {
                let low = b.constant(F32, u64::from(low.to_bits()));
                let high = b.constant(F32, u64::from(high.to_bits()));
                let limit = |b: &mut nbcc_ir::Builder<'_>, op, x, y| match nan {
                    true => b.binary(op, y, x),
                    false => b.binary(op, x, y),
                };
                let most = limit(b, BinaryOp::Fmin, v[0], high);
                let limited = limit(b, BinaryOp::Fmax, most, low);
                b.unary(op, limited)
            });
            let mut program = Program::new(&legal(&func));
            for (&bits, &got) in all.iter().zip(program.run(&[&all])) {
                let (x, mut limited) = (f32::from_bits(bits), f32::from_bits(bits));
                if !(nan && x.is_nan()) {
                    limited = if limited < high { limited } else { high };
                    limited = if limited > low { limited } else { low };
                }
                let expected = reference(f64::from(limited)) as f32;
                let far = ulps(expected.to_bits(), got);
                assert!(far <= limit, "{op:?} of {x:e} in {low}..{high} is off by {far} ulp");
            }
        }
    }
}

#[test]
fn trigonometric_functions() {
    within(UnaryOp::Sin, 3, f64::sin);
    within(UnaryOp::Cos, 3, f64::cos);
    within(UnaryOp::Tan, 4, f64::tan);
}

#[test]
fn inverse_trigonometric_functions() {
    within(UnaryOp::Asin, 3, f64::asin);
    within(UnaryOp::Acos, 3, f64::acos);
    within(UnaryOp::Atan, 3, f64::atan);
    within_of_two(BinaryOp::Atan2, 3, f64::atan2);
}
