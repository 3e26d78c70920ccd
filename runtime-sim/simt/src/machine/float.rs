//! Float instructions: their modifiers in the words of the library, and what they write.

use crate::Mask;
use crate::approx::{self, Function};
use crate::convert::{Conversion, ToInteger, Type, convert};
use crate::float::{self as arithmetic, Packing, Property, Test};
use crate::format::{Format, Rounding};
use crate::operation::{Binary, Mode, Unary};
use nbcc_isa_simt::operands::{
    ApproxDivOp, ApproxOp, ApproxWideOp, ConvertMods, ConvertRounding, FloatMods, FloatOp,
    FloatProperty, FloatTest, FloatUnaryOp, Format as IsaFormat, NumType, Rounding as IsaRounding,
};
use nbcc_isa_simt::{Op, PhysReg};

use crate::machine::alu::{map, map2, map3, test2};
use crate::machine::warp::Warp;

fn packing_of(format: IsaFormat) -> Packing {
    match format {
        IsaFormat::F32 => Packing { format: Format::F32, packed: false },
        IsaFormat::F16 => Packing { format: Format::F16, packed: false },
        IsaFormat::Bf16 => Packing { format: Format::Bf16, packed: false },
        IsaFormat::F16x2 => Packing { format: Format::F16, packed: true },
        IsaFormat::Bf16x2 => Packing { format: Format::Bf16, packed: true },
    }
}

fn mode_of(mods: &FloatMods) -> Mode {
    Mode {
        rounding: match mods.rounding {
            IsaRounding::Rn => Rounding::Nearest,
            IsaRounding::Rz => Rounding::Zero,
            IsaRounding::Rm => Rounding::Down,
            IsaRounding::Rp => Rounding::Up,
        },
        ftz: mods.ftz,
        sat: mods.sat,
        relu: mods.relu,
        nan: mods.nan,
        xorsign_abs: mods.xorsign_abs,
    }
}

fn binary_of(op: FloatOp) -> Binary {
    match op {
        FloatOp::Add => Binary::Add,
        FloatOp::Sub => Binary::Sub,
        FloatOp::Mul => Binary::Mul,
        FloatOp::Div => Binary::Div,
        FloatOp::Min => Binary::Min,
        FloatOp::Max => Binary::Max,
    }
}

fn unary_of(op: FloatUnaryOp) -> Unary {
    match op {
        FloatUnaryOp::Rcp => Unary::Rcp,
        FloatUnaryOp::Sqrt => Unary::Sqrt,
        FloatUnaryOp::Abs => Unary::Abs,
        FloatUnaryOp::Neg => Unary::Neg,
    }
}

fn function_of(op: ApproxOp) -> Function {
    match op {
        ApproxOp::Rcp => Function::Rcp,
        ApproxOp::Sqrt => Function::Sqrt,
        ApproxOp::Rsqrt => Function::Rsqrt,
        ApproxOp::Sin => Function::Sin,
        ApproxOp::Cos => Function::Cos,
        ApproxOp::Lg2 => Function::Lg2,
        ApproxOp::Ex2 => Function::Ex2,
        ApproxOp::Tanh => Function::Tanh,
    }
}

fn test_of(test: FloatTest) -> Test {
    match test {
        FloatTest::Eq => Test::Eq,
        FloatTest::Ne => Test::Ne,
        FloatTest::Lt => Test::Lt,
        FloatTest::Le => Test::Le,
        FloatTest::Gt => Test::Gt,
        FloatTest::Ge => Test::Ge,
        FloatTest::Equ => Test::Equ,
        FloatTest::Neu => Test::Neu,
        FloatTest::Ltu => Test::Ltu,
        FloatTest::Leu => Test::Leu,
        FloatTest::Gtu => Test::Gtu,
        FloatTest::Geu => Test::Geu,
        FloatTest::Num => Test::Num,
        FloatTest::Nan => Test::Nan,
    }
}

fn property_of(property: FloatProperty) -> Property {
    match property {
        FloatProperty::Finite => Property::Finite,
        FloatProperty::Infinite => Property::Infinite,
        FloatProperty::Number => Property::Number,
        FloatProperty::NotANumber => Property::NotANumber,
        FloatProperty::Normal => Property::Normal,
        FloatProperty::Subnormal => Property::Subnormal,
    }
}

fn number(ty: NumType) -> Type {
    let int = |bits, signed| Type::Int { bits, signed };
    match ty {
        NumType::U8 => int(8, false),
        NumType::S8 => int(8, true),
        NumType::U16 => int(16, false),
        NumType::S16 => int(16, true),
        NumType::U32 => int(32, false),
        NumType::S32 => int(32, true),
        NumType::U64 => int(64, false),
        NumType::S64 => int(64, true),
        NumType::F16 => Type::Float(Format::F16),
        NumType::Bf16 => Type::Float(Format::Bf16),
        NumType::F32 => Type::Float(Format::F32),
        NumType::F64 => Type::Float(Format::F64),
        NumType::Tf32 => Type::Float(Format::Tf32),
    }
}

fn conversion_of(to: NumType, from: NumType, mods: &ConvertMods) -> Conversion {
    let (rounding, integer) = match mods.rounding {
        ConvertRounding::Exact | ConvertRounding::Rn => (Rounding::Nearest, None),
        ConvertRounding::Rz => (Rounding::Zero, None),
        ConvertRounding::Rm => (Rounding::Down, None),
        ConvertRounding::Rp => (Rounding::Up, None),
        ConvertRounding::Rna => (Rounding::NearestAway, None),
        ConvertRounding::Rni => (Rounding::Nearest, Some(ToInteger::Nearest)),
        ConvertRounding::Rzi => (Rounding::Nearest, Some(ToInteger::Zero)),
        ConvertRounding::Rmi => (Rounding::Nearest, Some(ToInteger::Down)),
        ConvertRounding::Rpi => (Rounding::Nearest, Some(ToInteger::Up)),
    };
    let mut conversion = Conversion {
        to: number(to),
        from: number(from),
        rounding,
        integer,
        ftz: mods.ftz,
        sat: mods.sat,
        relu: mods.relu,
    };
    // A float becomes an integer as the rounding says, also where it names no integer.
    if from.is_float() && !to.is_float() && integer.is_none() {
        conversion.integer = Some(match rounding {
            Rounding::Nearest | Rounding::NearestAway => ToInteger::Nearest,
            Rounding::Zero => ToInteger::Zero,
            Rounding::Down => ToInteger::Down,
            Rounding::Up => ToInteger::Up,
        });
    }
    conversion
}

/// The operand's low bits as the conversion reads them.
fn operand_of(ty: NumType, bits: u64) -> u64 {
    if ty.bits() == 64 { bits } else { bits & (u64::MAX >> (64 - ty.bits())) }
}

/// Executes float arithmetic; tells whether it is that.
pub fn compute(warp: &mut Warp, op: &Op<PhysReg>, act: Mask) -> bool {
    match op {
        Op::Float { op, format, mods, dst, a, b } => {
            let b = warp.source(b);
            let value = arithmetic::binary_lanes(
                packing_of(*format),
                binary_of(*op),
                mode_of(mods),
                warp.word(*a),
                &b,
            );
            warp.set_word(*dst, act, &value);
        }
        Op::FloatWide { op, mods, dst, a, b } => {
            let (op, mode) = (binary_of(*op), mode_of(mods));
            let value = map2(&warp.wide(*a), &warp.double_source(b), |a, b| {
                arithmetic::binary(Format::F64, op, mode, a, b)
            });
            warp.set_wide(*dst, act, &value);
        }
        Op::Fma { format, mods, dst, a, b, c } => {
            let c = warp.source(c);
            let value = arithmetic::fma_lanes(
                packing_of(*format),
                mode_of(mods),
                warp.word(*a),
                warp.word(*b),
                &c,
            );
            warp.set_word(*dst, act, &value);
        }
        Op::FmaWide { mods, dst, a, b, c } => {
            let mode = mode_of(mods);
            let value = map3(&warp.wide(*a), &warp.wide(*b), &warp.double_source(c), |a, b, c| {
                arithmetic::fma(Format::F64, mode, a, b, c)
            });
            warp.set_wide(*dst, act, &value);
        }
        Op::FloatUnary { op, format, mods, dst, a } => {
            let value = arithmetic::unary_lanes(
                packing_of(*format),
                unary_of(*op),
                mode_of(mods),
                warp.word(*a),
            );
            warp.set_word(*dst, act, &value);
        }
        Op::FloatUnaryWide { op, mods, dst, a } => {
            let (op, mode) = (unary_of(*op), mode_of(mods));
            let value = map(&warp.wide(*a), |a| arithmetic::unary(Format::F64, op, mode, a));
            warp.set_wide(*dst, act, &value);
        }
        Op::Approx { op, mods, dst, a } => {
            let (function, packing) = (function_of(*op), packing_of(mods.format));
            let ftz = mods.ftz;
            let value = map(warp.word(*a), |a| {
                packing.map([a], |[a]| approx::approx(packing.format, function, ftz, a))
            });
            warp.set_word(*dst, act, &value);
        }
        Op::ApproxWide { op, mods, dst, a } => {
            let function = match op {
                ApproxWideOp::Rcp => Function::Rcp,
                ApproxWideOp::Rsqrt => Function::Rsqrt,
            };
            let ftz = mods.ftz;
            let value = map(&warp.wide(*a), |a| approx::approx_wide(function, ftz, a));
            warp.set_wide(*dst, act, &value);
        }
        Op::ApproxDiv { op, mods, dst, a, b } => {
            let (full, ftz) = (*op == ApproxDivOp::Full, mods.ftz);
            let value = map2(warp.word(*a), &warp.source(b), |a, b| {
                approx::divide(full, ftz, a.into(), b.into()) as u32
            });
            warp.set_word(*dst, act, &value);
        }
        Op::FloatCmp { test, mods, dst, a, b } => {
            let (test, format) = (test_of(*test), packing_of(mods.format).format);
            let cut = if format == Format::F32 { u32::MAX } else { 0xffff };
            let ftz = mods.ftz;
            let value = test2(warp.word(*a), &warp.source(b), |a, b| {
                arithmetic::compare(format, test, ftz, (a & cut).into(), (b & cut).into())
            });
            warp.set_predicate(*dst, act, value);
        }
        Op::FloatCmpWide { test, dst, a, b } => {
            let test = test_of(*test);
            let value = test2(&warp.wide(*a), &warp.double_source(b), |a, b| {
                test.holds(f64::from_bits(a), f64::from_bits(b))
            });
            warp.set_predicate(*dst, act, value);
        }
        Op::FloatCmpPacked { test, mods, low, high, a, b } => {
            let (test, format) = (test_of(*test), packing_of(mods.format).format);
            let ftz = mods.ftz;
            let (a, b) = (*warp.word(*a), warp.source(b));
            for (dst, shift) in [(low, 0), (high, 16)] {
                let value = test2(&a, &b, |a, b| {
                    let half = |x: u32| u64::from(x >> shift & 0xffff);
                    arithmetic::compare(format, test, ftz, half(a), half(b))
                });
                warp.set_predicate(*dst, act, value);
            }
        }
        Op::Copysign { dst, a, b } => {
            let sign = 1 << 31;
            let value = map2(warp.word(*a), &warp.source(b), |a, b| a & sign | b & !sign);
            warp.set_word(*dst, act, &value);
        }
        Op::CopysignWide { dst, a, b } => {
            let sign = 1 << 63;
            let value = map2(&warp.wide(*a), &warp.double_source(b), |a, b| a & sign | b & !sign);
            warp.set_wide(*dst, act, &value);
        }
        Op::Testp { property, dst, a } => {
            let property = property_of(*property);
            let a = warp.word(*a);
            let value =
                test2(a, a, |a, _| arithmetic::has_property(Format::F32, property, a.into()));
            warp.set_predicate(*dst, act, value);
        }
        Op::TestpWide { property, dst, a } => {
            let property = property_of(*property);
            let a = warp.wide(*a);
            let value = test2(&a, &a, |a, _| arithmetic::has_property(Format::F64, property, a));
            warp.set_predicate(*dst, act, value);
        }
        Op::Cvt { to, from, mods, dst, src } => {
            let (conversion, from) = (conversion_of(*to, *from, mods), *from);
            let value =
                map(warp.word(*src), |x| convert(&conversion, operand_of(from, x.into())) as u32);
            warp.set_word(*dst, act, &value);
        }
        Op::CvtWiden { to, from, mods, dst, src } => {
            let (conversion, from) = (conversion_of(*to, *from, mods), *from);
            let value = map(warp.word(*src), |x| convert(&conversion, operand_of(from, x.into())));
            warp.set_wide(*dst, act, &value);
        }
        Op::CvtNarrow { to, from, mods, dst, src } => {
            let conversion = conversion_of(*to, *from, mods);
            let value = map(&warp.wide(*src), |x| convert(&conversion, x) as u32);
            warp.set_word(*dst, act, &value);
        }
        Op::CvtWide { to, from, mods, dst, src } => {
            let conversion = conversion_of(*to, *from, mods);
            let value = map(&warp.wide(*src), |x| convert(&conversion, x));
            warp.set_wide(*dst, act, &value);
        }
        Op::CvtPack { to, mods, dst, a, b } => {
            let to = match to {
                IsaFormat::Bf16 | IsaFormat::Bf16x2 => NumType::Bf16,
                IsaFormat::F16 | IsaFormat::F16x2 | IsaFormat::F32 => NumType::F16,
            };
            let conversion = conversion_of(to, NumType::F32, mods);
            let value = map2(warp.word(*a), &warp.source(b), |a, b| {
                let half = |x: u32| convert(&conversion, x.into()) as u32 & 0xffff;
                half(a) << 16 | half(b)
            });
            warp.set_word(*dst, act, &value);
        }
        _ => return false,
    }
    true
}
