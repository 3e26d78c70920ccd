//! Modifiers of float instructions in the words of the library, and what goes by lanes of 64
//! bits.

use nbcc_isa_mpu::operands::{
    ApproxOp, ConvertMods, ConvertRounding, FloatMods, FloatOp, FloatProperty, FloatTest,
    FloatUnaryOp, Format as IsaFormat, NumType, Rounding as IsaRounding,
};
use nbcc_sim_simt::approx::Function;
use nbcc_sim_simt::convert::{Conversion, ToInteger, Type};
use nbcc_sim_simt::float::{Binary, Mode, Packing, Property, Test, Unary};
use nbcc_sim_simt::format::{Format, Rounding};

pub fn packing(format: IsaFormat) -> Packing {
    match format {
        IsaFormat::F32 => Packing { format: Format::F32, packed: false },
        IsaFormat::F16 => Packing { format: Format::F16, packed: false },
        IsaFormat::Bf16 => Packing { format: Format::Bf16, packed: false },
        IsaFormat::F16x2 => Packing { format: Format::F16, packed: true },
        IsaFormat::Bf16x2 => Packing { format: Format::Bf16, packed: true },
    }
}

pub fn mode(mods: &FloatMods) -> Mode {
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

pub fn binary(op: FloatOp) -> Binary {
    match op {
        FloatOp::Add => Binary::Add,
        FloatOp::Sub => Binary::Sub,
        FloatOp::Mul => Binary::Mul,
        FloatOp::Div => Binary::Div,
        FloatOp::Min => Binary::Min,
        FloatOp::Max => Binary::Max,
    }
}

pub fn unary(op: FloatUnaryOp) -> Unary {
    match op {
        FloatUnaryOp::Rcp => Unary::Rcp,
        FloatUnaryOp::Sqrt => Unary::Sqrt,
        FloatUnaryOp::Abs => Unary::Abs,
        FloatUnaryOp::Neg => Unary::Neg,
    }
}

pub fn function(op: ApproxOp) -> Function {
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

pub fn test(test: FloatTest) -> Test {
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

pub fn property(property: FloatProperty) -> Property {
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

pub fn conversion(to: NumType, from: NumType, mods: &ConvertMods) -> Conversion {
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
pub fn operand(ty: NumType, bits: u64) -> u64 {
    if ty.bits() == 64 { bits } else { bits & (u64::MAX >> (64 - ty.bits())) }
}
