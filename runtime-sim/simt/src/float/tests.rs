//! Expected bits from the manual, by hand, and from the host where it rounds as asked.

use super::*;

const F16: Format = Format::F16;
const F32: Format = Format::F32;

fn f32_op(op: Binary, mode: Mode, a: f32, b: f32) -> u32 {
    binary(F32, op, mode, a.to_bits().into(), b.to_bits().into()) as u32
}

const DIRECTIONS: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];

/// Bits that are often special, near powers of two or subnormal.
fn samples() -> Vec<u32> {
    let mut out = vec![
        0,
        1,
        2,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x3f80_0000,
        0x3f80_0001,
        0x3f7f_ffff,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0000,
        0x7f80_0001,
        0x4b80_0000,
        0x4b00_0001,
        0x3380_0000,
    ];
    let mut state = 5_u64;
    for _ in 0..80 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        out.push((state >> 32) as u32);
        out.push((127 + (state >> 60) as u32) << 23 | (state >> 20) as u32 & 0x7f_ffff);
    }
    let negative: Vec<u32> = out.iter().map(|bits| bits | 1 << 31).collect();
    out.extend(negative);
    out
}

/// To nearest the path over binary64 agrees with the host in binary32, the lanes with both.
#[test]
fn nearest_as_the_host() {
    let args = samples();
    let canonical = |x: f32| if x.is_nan() { 0x7fff_ffff } else { x.to_bits() };
    let packing = Packing { format: F32, packed: false };
    for &a in &args {
        for &b in &args {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            for (op, expected) in [
                (Binary::Add, x + y),
                (Binary::Sub, x - y),
                (Binary::Mul, x * y),
                (Binary::Div, x / y),
            ] {
                let expected = canonical(expected);
                assert_eq!(f32_op(op, Mode::NEAREST, x, y), expected, "{op:?} {a:#x} {b:#x}");
                let lanes = binary_lanes(packing, op, Mode::NEAREST, &[a; 32], &[b; 32]);
                assert_eq!(lanes[7], expected);
                let ftz = Mode { ftz: true, ..Mode::NEAREST };
                let lanes = binary_lanes(packing, op, ftz, &[a; 32], &[b; 32]);
                assert_eq!(lanes[7], f32_op(op, ftz, x, y), "{op:?} {a:#x} {b:#x} flushed");
            }
            for &c in args.iter().step_by(11) {
                let z = f32::from_bits(c);
                let expected = canonical(x.mul_add(y, z));
                let found = fma(F32, Mode::NEAREST, a.into(), b.into(), c.into()) as u32;
                assert_eq!(found, expected, "{a:#x} * {b:#x} + {c:#x}");
                let lanes = fma_lanes(packing, Mode::NEAREST, &[a; 32], &[b; 32], &[c; 32]);
                assert_eq!(lanes[31], expected, "{a:#x} * {b:#x} + {c:#x} in lanes");
            }
        }
    }
}

/// Directed results against those of the integers of binary64, where binary32 operands have
/// exact sums and products.
#[test]
fn directions_against_exact_values() {
    let args = samples();
    for &a in &args {
        for &b in &args {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            if !x.is_finite() || !y.is_finite() {
                continue;
            }
            let product = f64::from(x) * f64::from(y);
            for rounding in DIRECTIONS {
                let mode = Mode::plain(rounding);
                let found = f64::from(f32::from_bits(f32_op(Binary::Mul, mode, x, y)));
                match rounding {
                    Rounding::Down => assert!(found <= product),
                    Rounding::Up => assert!(found >= product),
                    Rounding::Zero => assert!(found.abs() <= product.abs()),
                    _ => {}
                }
            }
            let run = |op, r| f32::from_bits(f32_op(op, Mode::plain(r), x, y));
            for op in [Binary::Add, Binary::Mul, Binary::Div] {
                let (down, near, up) =
                    (run(op, Rounding::Down), run(op, Rounding::Nearest), run(op, Rounding::Up));
                if near.is_nan() {
                    continue;
                }
                assert!(down <= near && near <= up, "{op:?} {a:#x} {b:#x}");
                assert!(down == up || down.next_up() == up, "{op:?} {a:#x} {b:#x}");
            }
        }
    }
}

#[test]
fn by_hand() {
    let up = Mode::plain(Rounding::Up);
    let down = Mode::plain(Rounding::Down);
    let zero = Mode::plain(Rounding::Zero);
    // 1 + 2^-149: one step up, or none.
    let tiny = f32::from_bits(1);
    assert_eq!(f32_op(Binary::Add, up, 1.0, tiny), 0x3f80_0001);
    assert_eq!(f32_op(Binary::Add, zero, 1.0, tiny), 0x3f80_0000);
    assert_eq!(f32_op(Binary::Sub, down, 1.0, tiny), 0x3f7f_ffff);
    assert_eq!(f32_op(Binary::Add, down, 1.0, -1.0), 0x8000_0000);
    assert_eq!(f32_op(Binary::Add, zero, -0.0, -0.0), 0x8000_0000);
    // 1/3 = 0x3eaaaaaa.aa..
    assert_eq!(f32_op(Binary::Div, zero, 1.0, 3.0), 0x3eaa_aaaa);
    assert_eq!(f32_op(Binary::Div, up, 1.0, 3.0), 0x3eaa_aaab);
    assert_eq!(f32_op(Binary::Div, down, -1.0, 3.0), 0xbeaa_aaab);
    // The square root of 2 = 0x3fb504f3.33..
    let root = |mode| unary(F32, Unary::Sqrt, mode, 2.0_f32.to_bits().into());
    assert_eq!((root(zero), root(up)), (0x3fb5_04f3, 0x3fb5_04f4));
    assert_eq!(unary(F32, Unary::Rcp, up, 3.0_f32.to_bits().into()), 0x3eaa_aaab);
    assert_eq!(unary(F32, Unary::Sqrt, up, (-0.0_f32).to_bits().into()), 0x8000_0000);
    assert_eq!(unary(F32, Unary::Rcp, up, 0x8000_0000), 0xff80_0000);
    // The product of the least subnormal with itself.
    assert_eq!(f32_op(Binary::Mul, up, tiny, tiny), 1);
    assert_eq!(f32_op(Binary::Mul, up, -tiny, tiny), 0x8000_0000);
    // 2^127 doubled.
    let big = f32::from_bits(0x7f00_0000);
    assert_eq!(f32_op(Binary::Add, zero, big, big), 0x7f7f_ffff);
    assert_eq!(f32_op(Binary::Add, up, big, big), 0x7f80_0000);
    // A double rounding would lose the last bit: 1 + 2^-24 + 2^-60 is above the tie.
    let fused = fma(
        F32,
        Mode::NEAREST,
        2.0_f32.powi(-30).to_bits().into(),
        2.0_f32.powi(-30).to_bits().into(),
        0x3f80_0000,
    );
    assert_eq!(fused, 0x3f80_0000);
    let a = (1.0 + 2.0_f32.powi(-12)).to_bits().into();
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: a tie to even, and above it with a little more.
    assert_eq!(fma(F32, Mode::NEAREST, a, a, 0), 0x3f80_1000);
    assert_eq!(fma(F32, Mode::NEAREST, a, a, 1), 0x3f80_1001);
    assert_eq!(fma(F32, Mode::NEAREST, a, a, 0x8000_0001), 0x3f80_1000);
}

#[test]
fn flushing_saturation_and_nans() {
    let ftz = Mode { ftz: true, ..Mode::NEAREST };
    assert_eq!(f32_op(Binary::Add, ftz, f32::from_bits(0x8000_0001), -0.0), 0x8000_0000);
    // The least normal halved.
    assert_eq!(f32_op(Binary::Mul, ftz, -f32::MIN_POSITIVE, 0.5), 0x8000_0000);
    assert_eq!(f32_op(Binary::Mul, Mode::NEAREST, f32::MIN_POSITIVE, 0.5), 0x0040_0000);
    let sat = Mode { sat: true, ..Mode::NEAREST };
    assert_eq!(f32_op(Binary::Add, sat, 0.75, 0.75), 0x3f80_0000);
    assert_eq!(f32_op(Binary::Sub, sat, 0.25, 0.75), 0);
    assert_eq!(f32_op(Binary::Mul, sat, -0.0, 1.0), 0);
    assert_eq!(f32_op(Binary::Mul, sat, f32::INFINITY, 0.0), 0);
    assert_eq!(f32_op(Binary::Mul, Mode::NEAREST, f32::INFINITY, 0.0), 0x7fff_ffff);
    assert_eq!(f32_op(Binary::Add, Mode::NEAREST, f32::from_bits(0xffc0_1234), 1.0), 0x7fff_ffff);
    let relu = Mode { relu: true, ..Mode::NEAREST };
    assert_eq!(fma(F16, relu, 0xbc00, 0x3c00, 0), 0);
    assert_eq!(fma(F16, relu, 0x7e00, 0x3c00, 0), 0x7fff);
    // The sign bit only, also of NaNs.
    assert_eq!(unary(F32, Unary::Neg, Mode::NEAREST, 0x7fc0_1234), 0xffc0_1234);
    assert_eq!(unary(F32, Unary::Abs, ftz, 0x8000_0001), 0);
}

#[test]
fn minima_and_maxima() {
    let min = |a: u64, b: u64| binary(F32, Binary::Min, Mode::NEAREST, a, b);
    let (zero, minus_zero, nan, one) = (0, 0x8000_0000, 0x7fc0_0000, 0x3f80_0000);
    assert_eq!((min(zero, minus_zero), min(minus_zero, zero)), (minus_zero, minus_zero));
    assert_eq!(binary(F32, Binary::Max, Mode::NEAREST, minus_zero, zero), zero);
    assert_eq!((min(nan, one), min(one, nan), min(nan, nan)), (one, one, 0x7fff_ffff));
    let strict = Mode { nan: true, ..Mode::NEAREST };
    assert_eq!(binary(F32, Binary::Max, strict, nan, one), 0x7fff_ffff);
    let signs = Mode { xorsign_abs: true, ..Mode::NEAREST };
    let (minus_two, minus_three) = (0xc000_0000, 0xc040_0000);
    assert_eq!(binary(F32, Binary::Min, signs, minus_two, minus_three), 0x4000_0000);
    assert_eq!(binary(F32, Binary::Max, signs, one, minus_three), minus_three);
    assert_eq!(binary(Format::F64, Binary::Min, Mode::NEAREST, 1 << 63, 0), 1 << 63);
}

/// Binary16 operations against binary64, which holds their sums and products exactly: the
/// nearest of all neighbours, over every operand for some others.
#[test]
fn binary16_over_all_operands() {
    let packing = Packing { format: F16, packed: true };
    for b in [0x0000_u64, 0x8001, 0x03ff, 0x0400, 0x3c00, 0x3c01, 0x5555, 0x7bff, 0xfbff, 0x7c00] {
        for a in 0..0x1_0000_u64 {
            let (x, y) = (F16.to_f64(a), F16.to_f64(b));
            for (op, exact) in [(Binary::Add, x + y), (Binary::Mul, x * y)] {
                let found = binary(F16, op, Mode::NEAREST, a, b);
                if exact.is_nan() {
                    assert_eq!(found, 0x7fff);
                    continue;
                }
                let value = F16.to_f64(found);
                assert_eq!(value.is_sign_negative(), exact.is_sign_negative());
                if found & 0x7fff == 0x7c00 {
                    assert!(exact.abs() >= 65520.0, "{a:#x} {b:#x}");
                    continue;
                }
                // No neighbour is nearer, and of two as near the even one is taken.
                let error = (value - exact).abs();
                for other in [found.wrapping_sub(1), found + 1] {
                    if (other ^ found) & 0x8000 != 0 || other & 0x7fff >= 0x7c00 {
                        continue;
                    }
                    let far = (F16.to_f64(other) - exact).abs();
                    assert!(far > error || (far == error && found & 1 == 0), "{a:#x} {b:#x}");
                }
            }
            let both = (a << 16 | b) as u32;
            let words = binary_lanes(packing, Binary::Add, Mode::NEAREST, &[both; 32], &[both; 32]);
            assert_eq!(u64::from(words[3] & 0xffff), binary(F16, Binary::Add, Mode::NEAREST, b, b));
        }
    }
}

#[test]
fn tests_of_numbers() {
    let nan = f64::NAN;
    for (test, less, equal, greater, unordered) in [
        (Test::Eq, false, true, false, false),
        (Test::Ne, true, false, true, false),
        (Test::Lt, true, false, false, false),
        (Test::Le, true, true, false, false),
        (Test::Gt, false, false, true, false),
        (Test::Ge, false, true, true, false),
        (Test::Equ, false, true, false, true),
        (Test::Neu, true, false, true, true),
        (Test::Ltu, true, false, false, true),
        (Test::Leu, true, true, false, true),
        (Test::Gtu, false, false, true, true),
        (Test::Geu, false, true, true, true),
        (Test::Num, true, true, true, false),
        (Test::Nan, false, false, false, true),
    ] {
        assert_eq!(test.holds(1.0, 2.0), less, "{test:?}");
        assert_eq!(test.holds(0.0, -0.0), equal, "{test:?}");
        assert_eq!(test.holds(2.0, 1.0), greater, "{test:?}");
        assert_eq!(test.holds(nan, 1.0), unordered, "{test:?}");
    }
    assert!(compare(F32, Test::Eq, true, 1, 0x8000_0000));
    assert!(has_property(F32, Property::Subnormal, 1));
    assert!(has_property(F32, Property::Normal, 0));
    assert!(has_property(Format::F64, Property::Infinite, 0x7ff << 52));
    assert!(!has_property(F32, Property::Finite, 0x7fc0_0000));
}

/// The greatest product below 2^-126 that has 25 bits rounds to it as a subnormal, but is less where there
/// is a place for its last bit; half of that more is not.
#[test]
fn what_is_flushed_is_rounded_as_if_exponents_went_on() {
    let ftz = |rounding| Mode { ftz: true, ..Mode::plain(rounding) };
    let multiply = |rounding, a, b| binary(F32, Binary::Mul, ftz(rounding), a, b);
    assert_eq!(multiply(Rounding::Nearest, 0x0080_0000, 0x3f7f_ffff), 0);
    assert_eq!(multiply(Rounding::Up, 0x8080_0000, 0xbf7f_ffff), 0);
    assert_eq!(multiply(Rounding::Nearest, 0x3732_5080, 0x08b7_c3e7), 0);
    assert_eq!(multiply(Rounding::Nearest, 0x2c86_c2b9, 0x1373_2835), 0x0080_0000);
    assert_eq!(multiply(Rounding::Up, 0x1545_ecf0, 0x2aa5_8ea5), 0x0080_0000);
    assert_eq!(binary(Format::F16, Binary::Mul, ftz(Rounding::Nearest), 0x13c5, 0x2c1e), 0);
    assert_eq!(binary(Format::F16, Binary::Mul, ftz(Rounding::Nearest), 0x1863, 0x274b), 0x400);
    // The same on registers, whose lanes the host computes.
    let words = |bits| [bits; LANES];
    let packing = Packing { format: F32, packed: false };
    let mode = ftz(Rounding::Nearest);
    for (a, b, product) in [(0x3732_5080, 0x08b7_c3e7, 0), (0x2c86_c2b9, 0x1373_2835, 0x0080_0000)]
    {
        let lanes = binary_lanes(packing, Binary::Mul, mode, &words(a), &words(b));
        assert_eq!(lanes[0], product);
        let lanes = fma_lanes(packing, mode, &words(a), &words(b), &words(0));
        assert_eq!(lanes[0], product);
    }
}
