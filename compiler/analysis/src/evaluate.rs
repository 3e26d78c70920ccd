//! What each operation computes that touches neither memory nor control: stated once, for the
//! interpreter and for constant folding.
//!
//! Integers wrap. Floats are IEEE 754 with rounding to nearest even; a NaN that an operation makes
//! is the positive quiet one without payload. Sum, difference, product, quotient and square root
//! of binary16 and binary32 are computed in binary64 and rounded again, which gives the correctly
//! rounded result since 53 >= 2p + 2 (Figueroa, "When is double rounding innocuous?", 1995). The
//! transcendental functions are those of binary64, rounded.

use nbcc_ir::{BinaryOp, ConvertOp, FloatCond, IntCond, Op, Scalar, Type, UnaryOp, f16_to_f64};
use nbcc_ir::{Value, f64_to_f16};

use crate::lanes::{Lanes, sign_extend};
use crate::simt::evaluate_simt;

/// A division that has no result: by zero, or the least integer by -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivisionTrap;

/// The result of an operation, given those of its operands; `None` for operations that touch
/// memory, calls, intrinsics, and grid operations that are no arithmetic or have two results. The operands must have the types the verifier asks for.
pub fn evaluate(op: &Op, value: impl Fn(Value) -> Lanes) -> Option<Result<Lanes, DivisionTrap>> {
    Some(Ok(match op {
        Op::Const(ty, constant) => Lanes::constant(*ty, constant),
        Op::Unary(op, a) => unary(*op, &value(*a)),
        Op::Binary(op, a, b) => return Some(binary(*op, &value(*a), &value(*b))),
        Op::Fma(a, b, c) => ternary(&value(*a), &value(*b), &value(*c), fma),
        Op::MulAdd(a, b, c) => ternary(&value(*a), &value(*b), &value(*c), |scalar, a, b, c| {
            let product = float_binary(BinaryOp::Fmul, scalar, a, b);
            float_binary(BinaryOp::Fadd, scalar, product, c)
        }),
        Op::Icmp(cond, a, b) => compare(&value(*a), &value(*b), |s, a, b| icmp(*cond, s, a, b)),
        Op::Fcmp(cond, a, b) => compare(&value(*a), &value(*b), |s, a, b| fcmp(*cond, s, a, b)),
        Op::Select(cond, a, b) => {
            let (cond, a, b) = (value(*cond), value(*a), value(*b));
            Lanes::from_fn(a.ty(), |n| if cond.lane(n) != 0 { a.lane(n) } else { b.lane(n) })
        }
        Op::Convert(op, a, to) => convert(*op, &value(*a), *to),
        Op::Splat(a, lanes) => {
            let a = value(*a);
            Lanes::splat(a.ty().with_lanes(*lanes), a.lane(0))
        }
        Op::Extract(a, lane) => {
            let a = value(*a);
            Lanes::splat(a.ty().with_lanes(1), a.lane(usize::from(*lane)))
        }
        Op::Insert(a, b, lane) => {
            let (a, b) = (value(*a), value(*b));
            Lanes::from_fn(a.ty(), |n| if n == usize::from(*lane) { b.lane(0) } else { a.lane(n) })
        }
        Op::Shuffle(a, b, lanes) => {
            let (a, b) = (value(*a), value(*b));
            let count = usize::from(a.ty().lanes);
            Lanes::from_fn(a.ty().with_lanes(lanes.len() as u8), |n| {
                let from = usize::from(lanes[n]);
                if from < count { a.lane(from) } else { b.lane(from - count) }
            })
        }
        Op::Load(..)
        | Op::Store(..)
        | Op::LoadRaw(..)
        | Op::StoreRaw(..)
        | Op::Call(..)
        | Op::Intrinsic(_) => return None,
        Op::Simt(op, args) => {
            let args: Vec<u64> = args.iter().map(|&v| value(v).lane(0)).collect();
            let [result, _] = evaluate_simt(op, &args)?;
            match op.signature().ok()?.results[..] {
                [ty] => Lanes::splat(ty, result),
                _ => return None,
            }
        }
    }))
}

/// An operation of one operand, lane by lane.
pub fn unary(op: UnaryOp, a: &Lanes) -> Lanes {
    let scalar = a.ty().scalar;
    let sign = 1u64 << (scalar.bits() - 1);
    Lanes::from_fn(a.ty(), |lane| {
        let bits = a.lane(lane);
        let float = |f: fn(f64) -> f64| encode(scalar, f(decode(scalar, bits)));
        match op {
            UnaryOp::Ineg => bits.wrapping_neg(),
            UnaryOp::Not => !bits,
            UnaryOp::Fneg => bits ^ sign,
            UnaryOp::Fabs => bits & !sign,
            UnaryOp::Sqrt => float(f64::sqrt),
            UnaryOp::Floor => float(f64::floor),
            UnaryOp::Ceil => float(f64::ceil),
            UnaryOp::Nearest => float(f64::round_ties_even),
            UnaryOp::Trunc => float(f64::trunc),
            UnaryOp::Exp => float(f64::exp),
            UnaryOp::Log => float(f64::ln),
            UnaryOp::Sin => float(f64::sin),
            UnaryOp::Cos => float(f64::cos),
            UnaryOp::Tan => float(f64::tan),
            UnaryOp::Asin => float(f64::asin),
            UnaryOp::Acos => float(f64::acos),
            UnaryOp::Atan => float(f64::atan),
            UnaryOp::Sinh => float(f64::sinh),
            UnaryOp::Cosh => float(f64::cosh),
            UnaryOp::Tanh => float(f64::tanh),
        }
    })
}

/// An operation of two operands, lane by lane.
pub fn binary(op: BinaryOp, a: &Lanes, b: &Lanes) -> Result<Lanes, DivisionTrap> {
    let scalar = a.ty().scalar;
    if op.is_float() {
        return Ok(Lanes::from_fn(a.ty(), |n| float_binary(op, scalar, a.lane(n), b.lane(n))));
    }
    let mut trap = false;
    let result = Lanes::from_fn(a.ty(), |n| {
        integer_binary(op, scalar, a.lane(n), b.lane(n)).unwrap_or_else(|DivisionTrap| {
            trap = true;
            0
        })
    });
    if trap { Err(DivisionTrap) } else { Ok(result) }
}

/// The result's upper bits are not meaningful.
fn integer_binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Result<u64, DivisionTrap> {
    let signed = |bits| sign_extend(scalar, bits);
    let (sa, sb) = (signed(a), signed(b));
    let width = u64::from(scalar.bits());
    let overflows = sb == -1 && sa == signed(1 << (width - 1));
    Ok(match op {
        BinaryOp::Iadd => a.wrapping_add(b),
        BinaryOp::Isub => a.wrapping_sub(b),
        BinaryOp::Imul => a.wrapping_mul(b),
        BinaryOp::Sdiv | BinaryOp::Srem if sb == 0 || overflows => return Err(DivisionTrap),
        BinaryOp::Sdiv => (sa / sb) as u64,
        BinaryOp::Srem => (sa % sb) as u64,
        BinaryOp::Udiv => a.checked_div(b).ok_or(DivisionTrap)?,
        BinaryOp::Urem => a.checked_rem(b).ok_or(DivisionTrap)?,
        BinaryOp::DivEuclid | BinaryOp::ModEuclid if sb == 0 => 0,
        BinaryOp::DivEuclid => sa.wrapping_div_euclid(sb) as u64,
        BinaryOp::ModEuclid => sa.wrapping_rem_euclid(sb) as u64,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl if b >= width => 0,
        BinaryOp::Shl => a << b,
        BinaryOp::Lshr if b >= width => 0,
        BinaryOp::Lshr => a >> b,
        BinaryOp::Ashr => (sa >> b.min(width - 1)) as u64,
        BinaryOp::Smin => sa.min(sb) as u64,
        BinaryOp::Smax => sa.max(sb) as u64,
        BinaryOp::Umin => a.min(b),
        BinaryOp::Umax => a.max(b),
        _ => unreachable!("{op:?} is no integer operation"),
    })
}

fn float_binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> u64 {
    let (x, y) = (decode(scalar, a), decode(scalar, b));
    let round = |value: f64| decode(scalar, encode(scalar, value));
    let value = match op {
        BinaryOp::Fadd => x + y,
        BinaryOp::Fsub => x - y,
        BinaryOp::Fmul => x * y,
        BinaryOp::Fdiv => x / y,
        // These two give an operand, bits unchanged.
        BinaryOp::Fmin => return if x < y { a } else { b },
        BinaryOp::Fmax => return if x > y { a } else { b },
        BinaryOp::Fmod => x - round(y * round(x / y).floor()),
        BinaryOp::Pow => x.powf(y),
        BinaryOp::Atan2 => x.atan2(y),
        _ => unreachable!("{op:?} is no float operation"),
    };
    encode(scalar, value)
}

fn ternary(a: &Lanes, b: &Lanes, c: &Lanes, f: impl Fn(Scalar, u64, u64, u64) -> u64) -> Lanes {
    Lanes::from_fn(a.ty(), |n| f(a.ty().scalar, a.lane(n), b.lane(n), c.lane(n)))
}

fn fma(scalar: Scalar, a: u64, b: u64, c: u64) -> u64 {
    let (x, y, z) = (decode(scalar, a), decode(scalar, b), decode(scalar, c));
    match scalar {
        Scalar::F32 => encode(scalar, f64::from((x as f32).mul_add(y as f32, z as f32))),
        Scalar::F64 => encode(scalar, x.mul_add(y, z)),
        _ => encode(scalar, sum_to_odd(x * y, z)),
    }
}

/// The sum of two binary64 rounded to odd, so that it can be rounded again to a narrower format
/// without error (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
fn sum_to_odd(x: f64, y: f64) -> f64 {
    let sum = x + y;
    // The error of the sum, exact (Knuth's TwoSum).
    let other = sum - x;
    let error = (x - (sum - other)) + (y - other);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if error > 0.0 { sum.next_up() } else { sum.next_down() }
}

fn compare(a: &Lanes, b: &Lanes, f: impl Fn(Scalar, u64, u64) -> bool) -> Lanes {
    let scalar = a.ty().scalar;
    Lanes::from_fn(a.ty().with_scalar(Scalar::I1), |n| u64::from(f(scalar, a.lane(n), b.lane(n))))
}

/// Whether two integers of a scalar, as their bits, compare so.
pub fn icmp(cond: IntCond, scalar: Scalar, a: u64, b: u64) -> bool {
    let (sa, sb) = (sign_extend(scalar, a), sign_extend(scalar, b));
    match cond {
        IntCond::Eq => a == b,
        IntCond::Ne => a != b,
        IntCond::Slt => sa < sb,
        IntCond::Sle => sa <= sb,
        IntCond::Sgt => sa > sb,
        IntCond::Sge => sa >= sb,
        IntCond::Ult => a < b,
        IntCond::Ule => a <= b,
        IntCond::Ugt => a > b,
        IntCond::Uge => a >= b,
    }
}

fn fcmp(cond: FloatCond, scalar: Scalar, a: u64, b: u64) -> bool {
    let (x, y) = (decode(scalar, a), decode(scalar, b));
    match cond {
        FloatCond::Eq => x == y,
        FloatCond::Ne => x != y,
        FloatCond::Lt => x < y,
        FloatCond::Le => x <= y,
        FloatCond::Gt => x > y,
        FloatCond::Ge => x >= y,
    }
}

/// A conversion, lane by lane.
pub fn convert(op: ConvertOp, a: &Lanes, to: Type) -> Lanes {
    let (from, scalar) = (a.ty().scalar, to.scalar);
    let width = scalar.bits();
    Lanes::from_fn(to, |lane| {
        let bits = a.lane(lane);
        match op {
            ConvertOp::Truncate | ConvertOp::ZeroExtend | ConvertOp::Bitcast => bits,
            ConvertOp::SignExtend => sign_extend(from, bits) as u64,
            ConvertOp::FloatToSigned => {
                let limit = 2f64.powi(width as i32 - 1);
                match decode(from, bits).trunc() {
                    value if (-limit..limit).contains(&value) => value as i64 as u64,
                    _ => 1 << (width - 1),
                }
            }
            // The remainder is exact. Of what is not finite it is no number, which a cast takes to
            // zero.
            ConvertOp::FloatToUnsigned => {
                (decode(from, bits) % 2f64.powi(width as i32)) as i128 as u64
            }
            // Straight to binary32: rounding twice would not be innocuous here. To binary16 it
            // is, as integers that binary64 does not hold are out of its range.
            ConvertOp::SignedToFloat => match scalar {
                Scalar::F32 => u64::from((sign_extend(from, bits) as f32).to_bits()),
                _ => encode(scalar, sign_extend(from, bits) as f64),
            },
            ConvertOp::UnsignedToFloat => match scalar {
                Scalar::F32 => u64::from((bits as f32).to_bits()),
                _ => encode(scalar, bits as f64),
            },
            ConvertOp::FloatToFloat => encode(scalar, decode(from, bits)),
        }
    })
}

/// The value of the bits of a float type. Panics on an integer type.
pub fn decode(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F16 => f16_to_f64(bits as u16),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F64 => f64::from_bits(bits),
        _ => unreachable!("{scalar} is no float"),
    }
}

/// The bits of the nearest value of a float type. Panics on an integer type.
pub fn encode(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        Scalar::F16 if value.is_nan() => 0x7e00,
        Scalar::F32 if value.is_nan() => 0x7fc0_0000,
        Scalar::F64 if value.is_nan() => 0x7ff8_0000_0000_0000,
        Scalar::F16 => u64::from(f64_to_f16(value)),
        Scalar::F32 => u64::from((value as f32).to_bits()),
        Scalar::F64 => value.to_bits(),
        _ => unreachable!("{scalar} is no float"),
    }
}

#[cfg(test)]
mod tests {
    use nbcc_testing::Rng;

    use super::*;

    fn i32_binary(op: BinaryOp, a: i32, b: i32) -> Result<i32, DivisionTrap> {
        binary(op, &Lanes::i32(a), &Lanes::i32(b)).map(|r| r.as_i64() as i32)
    }

    #[test]
    fn integers_at_the_ends_of_their_range() {
        use BinaryOp::*;
        let least = i32::MIN;
        for (op, a, b, result) in [
            (Iadd, i32::MAX, 1, least),
            (Imul, 0x10001, 0x10001, 0x20001),
            (DivEuclid, -7, 2, -4),
            (DivEuclid, -7, -2, 4),
            (DivEuclid, 7, 0, 0),
            (DivEuclid, least, -1, least),
            (ModEuclid, -7, 3, 2),
            (ModEuclid, -7, -3, 2),
            (ModEuclid, 5, 0, 0),
            (ModEuclid, least, -1, 0),
            (Sdiv, -7, 2, -3),
            (Srem, -7, 2, -1),
            (Udiv, -2, 2, 0x7fff_ffff),
            (Shl, 1, 32, 0),
            (Lshr, -1, 40, 0),
            (Lshr, -1, 1, i32::MAX),
            (Ashr, -5, -1, -1),
            (Ashr, 5, 99, 0),
            (Smin, -1, 1, -1),
            (Umin, -1, 1, 1),
        ] {
            assert_eq!(i32_binary(op, a, b), Ok(result), "{op:?} {a} {b}");
        }
        for (op, a, b) in [(Sdiv, 1, 0), (Srem, 1, 0), (Udiv, 1, 0), (Urem, 1, 0)] {
            assert_eq!(i32_binary(op, a, b), Err(DivisionTrap));
        }
        assert_eq!(i32_binary(Sdiv, least, -1), Err(DivisionTrap));
        assert_eq!(i32_binary(Srem, least, -1), Err(DivisionTrap));
    }

    #[test]
    fn narrow_integers_equal_the_wide_ones_cut_off() {
        let i8 = Type { scalar: Scalar::I8, lanes: 1 };
        let wide = |a: i64| Lanes::splat(Type::I64, a as u64);
        for a in -128..128i64 {
            for b in -128..128i64 {
                let (x, y) = (Lanes::splat(i8, a as u64), Lanes::splat(i8, b as u64));
                for &op in BinaryOp::ALL.iter().filter(|op| !op.is_float()) {
                    use BinaryOp::*;
                    let unsigned = matches!(op, Udiv | Urem | Lshr | Umin | Umax);
                    let (p, q) = match (unsigned, op) {
                        (true, _) => (a & 0xff, b & 0xff),
                        (_, Shl | Ashr) => (a, b & 0xff),
                        _ => (a, b),
                    };
                    let narrow = binary(op, &x, &y).map(|r| r.lane(0));
                    let mut expected = binary(op, &wide(p), &wide(q)).map(|r| r.lane(0) & 0xff);
                    if (a, b) == (-128, -1) && matches!(op, Sdiv | Srem) {
                        expected = Err(DivisionTrap);
                    }
                    assert_eq!(narrow, expected, "{op:?} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn binary32_arithmetic_is_that_of_the_machine() {
        let mut rng = Rng::new(7);
        let number = |rng: &mut Rng| match rng.below(4) {
            0 => f32::from_bits(rng.bits() as u32),
            1 => f32::from_bits(rng.bits() as u32 & 0x80ff_ffff),
            2 => (rng.bits() as i32 >> 20) as f32,
            _ => *rng.pick(&[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE]),
        };
        for _ in 0..200_000 {
            let (x, y, z) = (number(&mut rng), number(&mut rng), number(&mut rng));
            let (a, b, c) = (Lanes::f32(x), Lanes::f32(y), Lanes::f32(z));
            let f = |op| binary(op, &a, &b).unwrap();
            assert!(f(BinaryOp::Fadd).same(&Lanes::f32(x + y)), "{x} + {y}");
            assert!(f(BinaryOp::Fsub).same(&Lanes::f32(x - y)), "{x} - {y}");
            assert!(f(BinaryOp::Fmul).same(&Lanes::f32(x * y)), "{x} * {y}");
            assert!(f(BinaryOp::Fdiv).same(&Lanes::f32(x / y)), "{x} / {y}");
            assert!(f(BinaryOp::Fmod).same(&Lanes::f32(x - y * (x / y).floor())));
            assert!(unary(UnaryOp::Sqrt, &a).same(&Lanes::f32(x.sqrt())));
            assert!(ternary(&a, &b, &c, fma).same(&Lanes::f32(x.mul_add(y, z))));
            let integer = convert(ConvertOp::FloatToSigned, &a, Type::I32);
            let fits = (-2147483648.0..2147483648.0).contains(&x);
            assert_eq!(integer, Lanes::i32(if fits { x as i32 } else { i32::MIN }));
        }
        // The first where it is less, else the second: zeros and NaNs give the second.
        let min = |x: f32, y: f32| binary(BinaryOp::Fmin, &Lanes::f32(x), &Lanes::f32(y)).unwrap();
        assert_eq!(min(0.0, -0.0), Lanes::f32(-0.0));
        assert_eq!(min(-0.0, 0.0), Lanes::f32(0.0));
        assert_eq!(min(f32::NAN, 1.0), Lanes::f32(1.0));
    }

    #[test]
    fn binary16_fma_rounds_once() {
        // Exact in integers: every finite binary16 is a multiple of 2^-24, a product of 2^-48.
        let mut rng = Rng::new(3);
        let scaled = |bits: u64| (f16_to_f64(bits as u16) * f64::from(1 << 24)) as i128;
        for _ in 0..200_000 {
            let mut number = || loop {
                let bits = rng.bits() & 0xffff;
                if bits & 0x7c00 != 0x7c00 {
                    return bits;
                }
            };
            let (a, b, c) = (number(), number(), number());
            let exact = scaled(a) * scaled(b) + (scaled(c) << 24);
            let found = fma(Scalar::F16, a, b, c);
            if found & 0x7c00 == 0x7c00 {
                assert!(exact.abs() >= 65520 << 48);
                continue;
            }
            // No neighbour is nearer, and a tie goes to the even one.
            let distance = |bits: u64| (exact - (scaled(bits) << 24)).abs();
            for neighbour in [found.wrapping_sub(1), found + 1] {
                if neighbour & 0x7c00 != 0x7c00 && neighbour >> 15 == found >> 15 {
                    let (near, far) = (distance(found), distance(neighbour));
                    assert!(near < far || (near == far && found & 1 == 0), "{a:x} {b:x} {c:x}");
                }
            }
        }
    }

    #[test]
    fn conversions_out_of_range_and_rounded_once() {
        let i8 = Type { scalar: Scalar::I8, lanes: 1 };
        let to = |op, x: f32, ty| convert(op, &Lanes::f32(x), ty).as_i64();
        assert_eq!(to(ConvertOp::FloatToSigned, 300.7, i8), -128);
        assert_eq!(to(ConvertOp::FloatToSigned, f32::NEG_INFINITY, i8), -128);
        assert_eq!(to(ConvertOp::FloatToSigned, f32::NAN, Type::I32), i32::MIN.into());
        assert_eq!(to(ConvertOp::FloatToSigned, -128.9, i8), -128);
        assert_eq!(to(ConvertOp::FloatToUnsigned, 255.9, i8), -1);
        assert_eq!(to(ConvertOp::FloatToUnsigned, 300.7, i8), 44);
        assert_eq!(to(ConvertOp::FloatToUnsigned, -3.9, i8), -3);
        assert_eq!(to(ConvertOp::FloatToUnsigned, -1.0, Type::I64), -1);
        assert_eq!(to(ConvertOp::FloatToUnsigned, f32::INFINITY, Type::I64), 0);
        // Just above a tie of binary32, which binary64 rounds onto the tie.
        let value = (1i64 << 60) + (1 << 36) + 1;
        let wide = Lanes::splat(Type::I64, value as u64);
        let float = convert(ConvertOp::SignedToFloat, &wide, Type::F32);
        assert_eq!(float, Lanes::f32(value as f32));
        assert_ne!(float, Lanes::f32(value as f64 as f32));
    }
}
