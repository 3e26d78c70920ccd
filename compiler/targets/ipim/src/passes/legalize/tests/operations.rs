//! Each operation against the interpreter's, on special operands and random ones.

use nbcc_analysis::Lanes;
use nbcc_ir::{
    BinaryOp, ConvertOp, Effect, FloatCond, Function, IntCond, Op, Scalar, Type, UnaryOp, Value,
};
use nbcc_testing::Rng;

use super::machine::{CHUNK, Program};
use super::numbers::ulps;
use super::{F32, I32, LANES, function, legal, operands, operation};
use crate::intrinsics::{self, ANY, RANGE};

/// Random operands of each operation.
const RANDOM: usize = 8_000;

const I1: Type = Type { lanes: LANES, scalar: Scalar::I1 };

/// Runs a function and its expansion, and gives operands and both results to `check`.
fn compare(func: &Function, args: &[Vec<u32>], mut check: impl FnMut(&[u32], u32, u32)) {
    let expanded = legal(func);
    let params = &func.blocks[func.entry()].params;
    let types: Vec<Type> = params.iter().map(|&p| func.ty(p)).collect();
    let mut program = Program::new(&expanded);
    let lanes = usize::from(LANES);
    for at in (0..args[0].len()).step_by(lanes) {
        let vectors: Vec<Lanes> = args
            .iter()
            .zip(&types)
            .map(|(list, &ty)| Lanes::from_fn(ty, |n| u64::from(list[at + n])))
            .collect();
        let expected = nbcc_interp::function::eval(func, &vectors).unwrap();
        let slices: Vec<&[u32]> = args.iter().map(|list| &list[at..at + lanes]).collect();
        let got = program.run(&slices);
        for lane in 0..lanes {
            let operands: Vec<u32> = slices.iter().map(|s| s[lane]).collect();
            check(&operands, expected[0].lane(lane) as u32, got[lane]);
        }
    }
}

/// Both results are the same; of what is no number, whichever.
fn exact(func: &Function, args: &[Vec<u32>], what: &str) {
    let params = &func.blocks[func.entry()].params;
    let floats: Vec<bool> = params.iter().map(|&p| func.ty(p).is_float()).collect();
    let float = func.results[0].is_float();
    let truth = func.results[0].scalar == Scalar::I1;
    let is_nan = |bits: u32| f32::from_bits(bits).is_nan();
    compare(func, args, |operands, expected, got| {
        let expected = if truth { 0u32.wrapping_sub(expected) } else { expected };
        if float && is_nan(expected) && is_nan(got) {
            return;
        }
        assert_eq!(got, expected, "{what} of {}", show(operands, &floats));
    });
}

fn show(operands: &[u32], floats: &[bool]) -> String {
    let one = |(&bits, &float): (&u32, &bool)| match float {
        true => format!("{:e} ({bits:#010x})", f32::from_bits(bits)),
        false => format!("{} ({bits:#010x})", bits as i32),
    };
    operands.iter().zip(floats).map(one).collect::<Vec<_>>().join(", ")
}

fn exact_binary(op: BinaryOp, ty: Type, args: &[Vec<u32>]) {
    let func = operation(&[ty, ty], |v| Op::Binary(op, v[0], v[1]));
    exact(&func, args, &format!("{op:?}"));
}

const INT_CONDS: [IntCond; 10] = [
    IntCond::Eq,
    IntCond::Ne,
    IntCond::Slt,
    IntCond::Sle,
    IntCond::Sgt,
    IntCond::Sge,
    IntCond::Ult,
    IntCond::Ule,
    IntCond::Ugt,
    IntCond::Uge,
];

const FLOAT_CONDS: [FloatCond; 6] =
    [FloatCond::Eq, FloatCond::Ne, FloatCond::Lt, FloatCond::Le, FloatCond::Gt, FloatCond::Ge];

#[test]
fn comparisons() {
    let integers = operands(&[I32, I32], RANDOM, 1);
    for cond in INT_CONDS {
        let func = operation(&[I32, I32], |v| Op::Icmp(cond, v[0], v[1]));
        exact(&func, &integers, &format!("{cond:?}"));
    }
    let floats = operands(&[F32, F32], RANDOM, 2);
    for cond in FLOAT_CONDS {
        let func = operation(&[F32, F32], |v| Op::Fcmp(cond, v[0], v[1]));
        exact(&func, &floats, &format!("{cond:?}"));
    }
}

#[test]
fn comparisons_with_constants() {
    let integers = operands(&[I32], 2000, 3);
    for constant in super::special_integers() {
        for cond in INT_CONDS {
            for swap in [false, true] {
                let func = function(&[I32], |b, v| {
                    let c = b.constant(I32, u64::from(constant));
                    let (x, y) = if swap { (c, v[0]) } else { (v[0], c) };
                    b.value(Op::Icmp(cond, x, y))
                });
                exact(&func, &integers, &format!("{cond:?} {} {swap}", constant as i32));
            }
        }
    }
    let floats = operands(&[F32], 2000, 4);
    for constant in super::special_floats() {
        for cond in FLOAT_CONDS {
            for swap in [false, true] {
                let func = function(&[F32], |b, v| {
                    let c = b.constant(F32, u64::from(constant));
                    let (x, y) = if swap { (c, v[0]) } else { (v[0], c) };
                    b.value(Op::Fcmp(cond, x, y))
                });
                exact(&func, &floats, &format!("{cond:?} {} {swap}", f32::from_bits(constant)));
            }
        }
    }
}

#[test]
fn selection_and_limits() {
    use BinaryOp::*;
    let integers = operands(&[I32, I32], RANDOM, 5);
    for op in [Smin, Smax, Umin, Umax] {
        exact_binary(op, I32, &integers);
    }
    let floats = operands(&[F32, F32], RANDOM, 6);
    for op in [Fmin, Fmax] {
        exact_binary(op, F32, &floats);
    }
    for cond in [IntCond::Slt, IntCond::Sge, IntCond::Ne] {
        let func = function(&[I32, I32], |b, v| {
            let c = b.value(Op::Icmp(cond, v[0], v[1]));
            let sum = b.iadd(v[0], v[1]);
            b.value(Op::Select(c, sum, v[0]))
        });
        exact(&func, &integers, "select");
    }
    for (x, y) in [(1.0f32, 0.0f32), (0.0, 1.0), (2.0, 3.0), (-0.0, 0.0)] {
        let func = function(&[F32, F32], |b, v| {
            let c = b.value(Op::Fcmp(FloatCond::Ge, v[0], v[1]));
            let x = b.constant(F32, u64::from(x.to_bits()));
            let y = b.constant(F32, u64::from(y.to_bits()));
            b.value(Op::Select(c, x, y))
        });
        exact(&func, &floats, "select of constants");
    }
}

#[test]
fn limits_by_constants() {
    use BinaryOp::*;
    let integers = operands(&[I32], 1000, 7);
    for constant in super::special_integers() {
        for op in [Smin, Smax, Umin, Umax] {
            for swap in [false, true] {
                let func = function(&[I32], |b, v| {
                    let c = b.constant(I32, u64::from(constant));
                    let (x, y) = if swap { (c, v[0]) } else { (v[0], c) };
                    b.binary(op, x, y)
                });
                exact(&func, &integers, &format!("{op:?} {}", constant as i32));
            }
        }
    }
    let floats = operands(&[F32], 1000, 8);
    for constant in super::special_floats() {
        for op in [Fmin, Fmax] {
            for swap in [false, true] {
                let func = function(&[F32], |b, v| {
                    let c = b.constant(F32, u64::from(constant));
                    let (x, y) = if swap { (c, v[0]) } else { (v[0], c) };
                    b.binary(op, x, y)
                });
                exact(&func, &floats, &format!("{op:?} {}", f32::from_bits(constant)));
            }
        }
    }
}

#[test]
fn signs_and_rounding() {
    use UnaryOp::*;
    let integers = operands(&[I32], RANDOM, 9);
    for op in [Ineg, Not] {
        let func = operation(&[I32], |v| Op::Unary(op, v[0]));
        exact(&func, &integers, &format!("{op:?}"));
    }
    let floats = operands(&[F32], RANDOM, 10);
    for op in [Fneg, Fabs, Floor, Ceil, Nearest, Trunc] {
        let func = operation(&[F32], |v| Op::Unary(op, v[0]));
        exact(&func, &floats, &format!("{op:?}"));
    }
}

#[test]
fn conversions() {
    let integers = operands(&[I32], RANDOM, 11);
    for op in [ConvertOp::SignedToFloat, ConvertOp::UnsignedToFloat] {
        let func = operation(&[I32], |v| Op::Convert(op, v[0], F32));
        exact(&func, &integers, &format!("{op:?}"));
    }
    let floats = operands(&[F32], RANDOM, 12);
    for op in [ConvertOp::FloatToSigned, ConvertOp::FloatToUnsigned] {
        exact(&operation(&[F32], |v| Op::Convert(op, v[0], I32)), &floats, &format!("{op:?}"));
        for rounding in ROUNDINGS {
            let func = function(&[F32], |b, v| {
                let rounded = b.unary(rounding, v[0]);
                b.convert(op, rounded, I32)
            });
            exact(&func, &floats, &format!("{rounding:?}, {op:?}"));
        }
    }
}

const ROUNDINGS: [UnaryOp; 4] = [UnaryOp::Floor, UnaryOp::Ceil, UnaryOp::Nearest, UnaryOp::Trunc];

/// Integers of which only low bits are wanted take shorter ways.
#[test]
fn conversions_to_narrow_integers() {
    let floats = operands(&[F32], RANDOM, 12);
    for (op, constant) in [
        (BinaryOp::And, 1),
        (BinaryOp::And, 0xff),
        (BinaryOp::And, 0x1ff),
        (BinaryOp::And, 0xffff),
        (BinaryOp::And, 0x1ffff),
        (BinaryOp::And, -1),
        (BinaryOp::Shl, 15),
        (BinaryOp::Shl, 16),
        (BinaryOp::Shl, 24),
    ] {
        for rounding in [None, Some(UnaryOp::Floor), Some(UnaryOp::Ceil)] {
            let func = function(&[F32], |b, v| {
                let rounded = rounding.map_or(v[0], |op| b.unary(op, v[0]));
                let integer = b.convert(ConvertOp::FloatToSigned, rounded, I32);
                let constant = b.constant(I32, u64::from(constant as u32));
                b.binary(op, integer, constant)
            });
            exact(&func, &floats, &format!("{rounding:?}, {op:?} {constant}"));
        }
    }
}

#[test]
fn what_is_no_number_is_not_itself() {
    let floats = operands(&[F32], RANDOM, 26);
    for cond in FLOAT_CONDS {
        let func = operation(&[F32], |v| Op::Fcmp(cond, v[0], v[0]));
        exact(&func, &floats, &format!("{cond:?} itself"));
    }
}

/// Floats whose range is known take shorter ways.
#[test]
fn conversions_of_small_floats() {
    let args = operands(&[F32], RANDOM, 25);
    let ranges = [
        (-100.0f32, 100.0f32),
        (-3.0e6, 2.0),
        (0.0, 255.0),
        (-0.0, 1.0e9),
        (-0.5, 4.0e9),
        (0.0, 1.0e10),
        (-2147483648.0, 1.0),
        (-1.0e10, 5.0e9),
        (-4.0e9, f32::INFINITY),
    ];
    let limits = |from: f32, to: f32, nan: bool| {
        move |b: &mut nbcc_ir::Builder<'_>, x: Value| {
            let from = b.constant(F32, u64::from(from.to_bits()));
            let to = b.constant(F32, u64::from(to.to_bits()));
            // The second is what a NaN gives.
            if nan {
                let most = b.binary(BinaryOp::Fmin, to, x);
                return b.binary(BinaryOp::Fmax, from, most);
            }
            let most = b.binary(BinaryOp::Fmin, x, to);
            b.binary(BinaryOp::Fmax, most, from)
        }
    };
    for (from, to) in ranges {
        for nan in [false, true] {
            for convert in [ConvertOp::FloatToSigned, ConvertOp::FloatToUnsigned] {
                for op in ROUNDINGS {
                    let func = function(&[F32], |b, v| {
                        let limited = limits(from, to, nan)(b, v[0]);
                        let rounded = b.unary(op, limited);
                        b.convert(convert, rounded, I32)
                    });
                    exact(&func, &args, &format!("{convert:?} of {op:?} of {from} to {to} {nan}"));
                }
            }
        }
    }
}

#[test]
fn choices_between_related_integers() {
    let args = operands(&[I32, I32], RANDOM, 26);
    let choice = |arms: fn(&mut nbcc_ir::Builder<'_>, Value, Value) -> (Value, Value)| {
        function(&[I32, I32], |b, v| {
            let (x, y) = arms(b, v[0], v[1]);
            let c = b.value(Op::Icmp(IntCond::Ult, v[0], v[1]));
            b.value(Op::Select(c, x, y))
        })
    };
    let opposite = choice(|b, x, _| (b.unary(UnaryOp::Ineg, x), x));
    exact(&opposite, &args, "opposite or itself");
    let itself = choice(|b, x, _| (x, b.unary(UnaryOp::Ineg, x)));
    exact(&itself, &args, "itself or opposite");
    let differences =
        choice(|b, x, y| (b.binary(BinaryOp::Isub, y, x), b.binary(BinaryOp::Isub, x, y)));
    exact(&differences, &args, "absolute difference");
    for swap in [false, true] {
        let sum = function(&[I32, I32], |b, v| {
            let (x, y) = if swap { (v[1], v[0]) } else { (v[0], v[1]) };
            let sum = b.iadd(x, y);
            let c = b.value(Op::Icmp(IntCond::Ult, v[0], v[1]));
            b.value(Op::Select(c, sum, v[0]))
        });
        exact(&sum, &args, "sum or not");
    }
    let func = operation(&[I32], |v| Op::Unary(UnaryOp::Ineg, v[0]));
    assert_eq!(super::counts::operations(&legal(&func)), 1);
}

/// A value range counts.
#[test]
fn value_ranges() {
    let args: Vec<Vec<u32>> = vec![(0..256).collect(), (0..256).rev().collect()];
    let byte = |b: &mut nbcc_ir::Builder<'_>, v: Value| {
        let ty = b.func.ty(v);
        let imms = vec![0, 255];
        intrinsics::call(b, RANGE, Effect::Pure, vec![v], imms, Some(ty)).unwrap()
    };
    for (op, operations) in [(BinaryOp::Smax, 4), (BinaryOp::DivEuclid, 18)] {
        let ranged = function(&[I32, I32], |b, v| {
            let (x, y) = (byte(b, v[0]), byte(b, v[1]));
            b.binary(op, x, y)
        });
        let plain = legal(&operation(&[I32, I32], |v| Op::Binary(op, v[0], v[1])));
        let ranged = legal(&ranged);
        assert_eq!(super::counts::operations(&ranged), operations);
        let (mut ranged, mut plain) = (Program::new(&ranged), Program::new(&plain));
        let args = [args[0].as_slice(), &args[1]];
        assert_eq!(ranged.run(&args), plain.run(&args));
    }
}

/// A limit that must hold in every lane does, whatever value ranges say.
#[test]
fn value_ranges_are_not_relied_on_behind_any() {
    let limited = |behind: bool| {
        let func = function(&[I32], |b, v| {
            let imms = vec![0, 255];
            let pure = Effect::Pure;
            let byte = intrinsics::call(b, RANGE, pure, vec![v[0]], imms, Some(I32)).unwrap();
            let one = b.constant(I32, 1);
            let mut index = b.iadd(byte, one);
            if behind {
                index = intrinsics::call(b, ANY, pure, vec![index], vec![], Some(I32)).unwrap();
            }
            let last = b.constant(I32, 256);
            b.binary(BinaryOp::Umin, index, last)
        });
        legal(&func)
    };
    assert_eq!(super::counts::operations(&limited(false)), 1);
    let outside: Vec<u32> = vec![0, 255, 256, 1000, 1 << 31, u32::MAX - 1];
    let mut program = Program::new(&limited(true));
    assert!(program.run(&[&outside]).iter().all(|&n| n <= 256));
}

/// Limits of floats hold for NaN too, so that what is an index stays one.
#[test]
fn limits_hold_for_nan() {
    let nans: Vec<u32> = vec![0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff, 0xdead_beef];
    for (first, second) in [(BinaryOp::Fmin, BinaryOp::Fmax), (BinaryOp::Fmax, BinaryOp::Fmin)] {
        let limit = |op: BinaryOp| if op == BinaryOp::Fmin { 1.0f32 } else { 0.0 };
        let func = legal(&function(&[F32], |b, v| {
            let mut value = v[0];
            for op in [first, second] {
                let limit = b.constant(F32, u64::from(limit(op).to_bits()));
                value = b.binary(op, value, limit);
            }
            let eight = b.constant(F32, u64::from(8.0f32.to_bits()));
            let scaled = b.binary(BinaryOp::Fmul, value, eight);
            let index = b.convert(ConvertOp::FloatToSigned, scaled, I32);
            let last = b.constant(I32, 8);
            b.binary(BinaryOp::Umin, index, last)
        }));
        assert!(Program::new(&func).run(&[&nans]).iter().all(|&n| n <= 8));
    }
}

#[test]
fn truth_values() {
    let args = operands(&[I32, I32], 500, 14);
    let truths = |b: &mut nbcc_ir::Builder<'_>, v: &[Value]| {
        (b.value(Op::Icmp(IntCond::Slt, v[0], v[1])), b.value(Op::Icmp(IntCond::Eq, v[0], v[1])))
    };
    for op in [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor] {
        let func = function(&[I32, I32], |b, v| {
            let (x, y) = truths(b, v);
            let x = b.unary(UnaryOp::Not, x);
            b.binary(op, x, y)
        });
        exact(&func, &args, &format!("{op:?}"));
    }
    for cond in INT_CONDS {
        let func = function(&[I32, I32], |b, v| {
            let (x, y) = truths(b, v);
            b.value(Op::Icmp(cond, x, y))
        });
        // Comparisons of truth values take them as unsigned; the interpreter, as signed bits.
        if !matches!(cond, IntCond::Slt | IntCond::Sle | IntCond::Sgt | IntCond::Sge) {
            exact(&func, &args, &format!("{cond:?} of truth values"));
        }
    }
    let func = function(&[I32, I32], |b, v| {
        let (x, y) = truths(b, v);
        let both = b.constant(I1, 1);
        let chosen = b.value(Op::Select(x, both, y));
        b.convert(ConvertOp::ZeroExtend, chosen, I32)
    });
    exact(&func, &args, "truth value as integer");
}

fn bytes(args: &mut [Vec<u32>], mask: u32) {
    args.iter_mut().flatten().for_each(|bits| *bits &= mask);
}

#[test]
fn integer_division() {
    use BinaryOp::*;
    let args = operands(&[I32, I32], RANDOM, 15);
    exact_binary(DivEuclid, I32, &args);
    exact_binary(ModEuclid, I32, &args);
    // The rest have no result for some operands.
    let mut args = args;
    let [numbers, divisors] = &mut args[..] else { panic!("two lists") };
    for (n, d) in numbers.iter_mut().zip(divisors) {
        if *d == 0 || (*n, *d) == (1 << 31, u32::MAX) {
            *d = 1;
        }
        if *n == 1 << 31 && *d == u32::MAX {
            *n = 1;
        }
    }
    for op in [Sdiv, Srem, Udiv, Urem] {
        exact_binary(op, I32, &args);
    }
}

#[test]
fn division_of_narrow_integers() {
    use BinaryOp::*;
    for mask in [0xff, 0xffff, 0x1_ffff, 0x2_0000, 0xf_ffff, 0xff_ffff] {
        let mut args = operands(&[I32, I32], RANDOM, 16);
        bytes(&mut args, mask);
        for op in [DivEuclid, ModEuclid] {
            let func = function(&[I32, I32], |b, v| {
                let mask = b.constant(I32, u64::from(mask));
                let (x, y) = (b.binary(And, v[0], mask), b.binary(And, v[1], mask));
                b.binary(op, x, y)
            });
            exact(&func, &args, &format!("{op:?} of {mask:#x}"));
        }
    }
    // Signed ones of 16 bits.
    let args = operands(&[I32, I32], RANDOM, 17);
    for op in [DivEuclid, ModEuclid] {
        let func = function(&[I32, I32], |b, v| {
            let amount = b.constant(I32, 16);
            let (x, y) = (b.binary(Ashr, v[0], amount), b.binary(Ashr, v[1], amount));
            b.binary(op, x, y)
        });
        exact(&func, &args, &format!("{op:?} of 16 bits"));
    }
}

#[test]
fn integer_division_by_constants() {
    use BinaryOp::*;
    let args = operands(&[I32], 500, 18);
    let mut rng = Rng::new(19);
    let mut divisors = super::special_integers();
    divisors.extend((0..60).map(|_| (rng.bits() as i32 >> rng.below(32)) as u32));
    for divisor in divisors {
        for op in [DivEuclid, ModEuclid, Sdiv, Srem, Udiv, Urem] {
            if divisor == 0 && !matches!(op, DivEuclid | ModEuclid) {
                continue;
            }
            if divisor == u32::MAX && matches!(op, Sdiv | Srem) {
                continue;
            }
            for (name, amount, right) in
                [("all", 0, Ashr), ("signed", 9, Ashr), ("signed", 20, Ashr), ("natural", 12, Lshr)]
            {
                let func = function(&[I32], |b, v| {
                    let amount = b.constant(I32, amount);
                    let x = b.binary(right, v[0], amount);
                    let d = b.constant(I32, u64::from(divisor));
                    b.binary(op, x, d)
                });
                exact(&func, &args, &format!("{op:?} of {name} by {}", divisor as i32));
            }
        }
    }
}

/// Whether two numbers, zeros included, have the same sign.
fn same_sign(a: u32, b: u32) -> bool {
    f32::from_bits(a).is_nan() || a >> 31 == b >> 31
}

#[test]
fn float_division() {
    let args = operands(&[F32, F32], 10 * RANDOM, 20);
    let func = operation(&[F32, F32], |v| Op::Binary(BinaryOp::Fdiv, v[0], v[1]));
    let mut wrong = 0;
    compare(&func, &args, |operands, expected, got| {
        let [a, b] = [0, 1].map(|n| f32::from_bits(operands[n]));
        let far = ulps(expected, got);
        assert!(far <= 1, "{a:e} / {b:e}: {far} ulp");
        assert!(same_sign(expected, got), "{a:e} / {b:e}: sign");
        wrong += far;
    });
    // Few are not correctly rounded.
    assert!(wrong < args[0].len() as u64 / 40, "{wrong} of {}", args[0].len());
}

#[test]
fn float_division_by_constants() {
    let args = operands(&[F32], 1000, 21);
    let mut rng = Rng::new(22);
    let mut divisors = super::special_floats();
    divisors.extend((0..200).map(|_| rng.bits() as u32));
    for divisor in divisors {
        let func = function(&[F32], |b, v| {
            let d = b.constant(F32, u64::from(divisor));
            b.binary(BinaryOp::Fdiv, v[0], d)
        });
        compare(&func, &args, |operands, expected, got| {
            let a = f32::from_bits(operands[0]);
            let far = ulps(expected, got);
            assert!(far <= 2, "{a:e} / {:e}: {far} ulp", f32::from_bits(divisor));
            assert!(same_sign(expected, got), "{a:e} / {:e}: sign", f32::from_bits(divisor));
        });
    }
}

#[test]
fn float_remainders_of_exact_quotients() {
    let mut args = operands(&[F32, F32], RANDOM, 23);
    // Integers of twelve bits: the quotient is exact, or far from a whole number.
    for bits in args.iter_mut().flatten() {
        *bits = ((*bits as i32 >> 20).max(-2047) as f32).to_bits();
    }
    let func = operation(&[F32, F32], |v| Op::Binary(BinaryOp::Fmod, v[0], v[1]));
    exact(&func, &args, "remainder");
}

#[test]
fn square_roots() {
    let args = operands(&[F32], 10 * RANDOM, 24);
    let func = operation(&[F32], |v| Op::Unary(UnaryOp::Sqrt, v[0]));
    compare(&func, &args, |operands, expected, got| {
        let far = ulps(expected, got);
        assert!(far <= 1, "{:e}: {far} ulp", f32::from_bits(operands[0]));
        assert!(same_sign(expected, got));
    });
    let mut program = Program::new(&legal(&func));
    let squares: Vec<u32> = (0..CHUNK as u32).map(|n| ((n * n) as f32).to_bits()).collect();
    let roots: Vec<f32> = program.run(&[&squares]).iter().map(|&b| f32::from_bits(b)).collect();
    assert!(roots.iter().enumerate().all(|(n, &root)| root == n as f32));
}
