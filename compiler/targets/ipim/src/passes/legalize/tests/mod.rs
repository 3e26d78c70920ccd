//! Expansions compared with what they stand for.

mod counts;
mod functions;
mod machine;
mod numbers;
mod operations;
mod programs;

use nbcc_ir::{Builder, ExecutionModel, Function, Op, Terminator, Type, Value};
use nbcc_testing::Rng;

/// Lanes of the functions that are tested.
const LANES: u8 = 16;

/// A function of parameters of these types that returns what `body` makes of them.
fn function(params: &[Type], body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Value) -> Function {
    let mut func = Function::new("test", ExecutionModel::Engines);
    let entry = func.entry();
    let params: Vec<Value> = params.iter().map(|&ty| func.add_param(entry, ty)).collect();
    let mut b = Builder::at(&mut func, entry);
    let result = body(&mut b, &params);
    let ty = b.func.ty(result);
    b.terminate(Terminator::Return(vec![result]));
    func.results = vec![ty];
    func
}

/// A function of one operation.
fn operation(params: &[Type], op: impl FnOnce(&[Value]) -> Op) -> Function {
    function(params, |b, args| b.value(op(args)))
}

/// A legal function that means the same.
fn legal(func: &Function) -> Function {
    assert_eq!(nbcc_ir::verify_function(func, None), vec![]);
    let mut legal = func.clone();
    super::run(&mut legal, &super::Features::default());
    assert_eq!(nbcc_ir::verify_function(&legal, None), vec![]);
    legal
}

const I32: Type = Type { lanes: LANES, ..Type::I32 };
const F32: Type = Type { lanes: LANES, ..Type::F32 };

/// Integers at the ends of ranges, and around powers of two.
fn special_integers() -> Vec<u32> {
    let mut all = vec![0, 1, 2, 3, 5, 7, 10, 100, 255, 256, 641, 1000, 65535, 65536, 65537];
    for shift in [7, 15, 16, 17, 22, 23, 24, 25, 30, 31] {
        for step in [-1i32, 0, 1] {
            all.push((1u32 << shift).wrapping_add(step as u32));
        }
    }
    let opposite: Vec<u32> = all.iter().map(|n| n.wrapping_neg()).collect();
    all.extend(opposite);
    all.sort();
    all.dedup();
    all
}

/// Zeros, infinities, denormals, the ends of the normal range, integers, halves, neighbours, and
/// what is no number.
fn special_floats() -> Vec<u32> {
    let mut all: Vec<f32> = vec![0.0, 1e-45, 1.1e-38, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY];
    all.extend([
        0.1,
        0.25,
        0.3,
        0.499_999_97,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        3.5,
        10.0,
        255.0,
    ]);
    all.extend([
        1e-30,
        1e-20,
        1e-10,
        1e10,
        1e20,
        1e30,
        0.7,
        1.4,
        88.7,
        89.0,
        103.9,
        104.1,
        std::f32::consts::PI,
    ]);
    for power in [-149, -127, -126, -125, -64, -24, 0, 1, 22, 23, 24, 31, 32, 63, 64, 126, 127] {
        let x = 2f64.powi(power) as f32;
        all.extend([x.next_down(), x, x.next_up()]);
    }
    let mut bits: Vec<u32> = all.iter().map(|x| x.to_bits()).collect();
    bits.extend(all.iter().map(|x| (-x).to_bits()));
    bits.extend([0x7fc0_0000, 0xffc0_0001]);
    bits.sort();
    bits.dedup();
    bits
}

/// Operands for an operation of `count` operands: every combination of special ones, and random
/// ones of every magnitude. As many for each operand, a multiple of the lanes.
fn operands(params: &[Type], random: usize, seed: u64) -> Vec<Vec<u32>> {
    let special = |ty: Type| if ty.is_float() { special_floats() } else { special_integers() };
    let mut all: Vec<Vec<u32>> = vec![vec![]; params.len()];
    match params {
        [a] => all[0] = special(*a),
        [a, b] => {
            for x in special(*a) {
                for y in special(*b) {
                    all[0].push(x);
                    all[1].push(y);
                }
            }
        }
        _ => panic!("operations of one or two operands"),
    }
    let mut rng = Rng::new(seed);
    for _ in 0..random {
        let shared = rng.bits() as u32;
        let near = rng.one_in(4);
        for (list, ty) in all.iter_mut().zip(params) {
            let bits = rng.bits() as u32;
            list.push(match (ty.is_float(), near) {
                // Operands close to each other.
                (_, true) => shared ^ (bits & bits >> 8 & 0x8000_00ff),
                (true, _) => match rng.below(3) {
                    0 => bits,
                    1 => ((bits as i32 >> 8) as f32).to_bits(),
                    _ => bits & 0x87ff_ffff | 0x3800_0000,
                },
                // Integers of every length.
                (false, _) => (bits as i32 >> rng.below(32)) as u32,
            });
        }
    }
    let lanes = usize::from(LANES);
    for list in &mut all {
        let first = list[0];
        while list.len() % lanes != 0 {
            list.push(first);
        }
    }
    all
}
