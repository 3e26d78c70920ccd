//! Functions of floats against those of binary64, rounded, over all floats or every so many.
//!
//! `NBCC_STRIDE=1 cargo test --release functions -- --nocapture` goes through all of them.

use nbcc_ir::testing::Rng;
use nbcc_ir::{BinaryOp, Op, UnaryOp};

use super::machine::{CHUNK, Program};
use super::numbers::ulps;
use super::{F32, function, legal, operands, operation, special_floats};

/// Every so many floats are looked at.
fn stride() -> u64 {
    std::env::var("NBCC_STRIDE").ok().and_then(|s| s.parse().ok()).unwrap_or(50_021)
}

/// The greatest distance from the rounded result of `reference`, over special floats and a sample
/// of all that are numbers; and where it is. Where the reference is no number anything will do.
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
                        if x.is_nan() || expected.is_nan() {
                            continue;
                        }
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
                if x.is_nan() || y.is_nan() || expected.is_nan() {
                    continue;
                }
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
    let mut rng = Rng::new(3);
    for y in [-3.0f32, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.2, 3.0, 1.0 / 2.4, 7.0, 100.5] {
        let func = function(&[F32], |b, v| {
            let y = b.constant(F32, u64::from(y.to_bits()));
            b.binary(BinaryOp::Pow, v[0], y)
        });
        let mut program = Program::new(&legal(&func));
        let mut xs = special_floats();
        xs.extend((0..CHUNK - xs.len()).map(|_| rng.bits() as u32));
        for (&x, &got) in xs.iter().zip(program.run(&[&xs])) {
            let x = f32::from_bits(x);
            let expected = f64::from(x).powf(f64::from(y)) as f32;
            if x.is_nan() || expected.is_nan() {
                continue;
            }
            let far = ulps(expected.to_bits(), got);
            assert!(far <= 2, "{x:e} to the power of {y} is off by {far} ulp");
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
