//! How types of PTX become types of the IR.

use nbcc_ir::{FloatFormat, IntType, NumType, Scalar, Type};

use crate::ast::ScalarType;

/// The type of a register: integers and bits are integers, 16-bit floats and pairs of them their
/// bits.
pub fn register_type(ty: ScalarType) -> Type {
    use ScalarType::*;
    match ty {
        Pred => Type::I1,
        F32 => Type::F32,
        F64 => Type::F64,
        other => integer_of(other),
    }
}

/// The integer of that size.
pub fn integer_of(ty: ScalarType) -> Type {
    match ty.bytes() {
        Some(1) => Type::I8,
        Some(2) => Type::I16,
        Some(4) => Type::I32,
        Some(8) => Type::I64,
        None => Type::I1,
        Some(n) => panic!("no integer has {n} bytes"),
    }
}

/// The integer of as many bits.
pub fn same_size_integer(ty: Type) -> Type {
    let scalar = match ty.scalar.bits() {
        1 => Scalar::I1,
        8 => Scalar::I8,
        16 => Scalar::I16,
        32 => Scalar::I32,
        _ => Scalar::I64,
    };
    ty.with_scalar(scalar)
}

/// An integer type with its sign; bits are unsigned.
pub fn int_type(ty: ScalarType) -> IntType {
    use ScalarType::*;
    match ty {
        U8 | B8 => IntType::U8,
        S8 => IntType::S8,
        U16 | B16 => IntType::U16,
        S16 => IntType::S16,
        U32 | B32 => IntType::U32,
        S32 => IntType::S32,
        U64 | B64 => IntType::U64,
        S64 => IntType::S64,
        other => panic!(".{} is no integer", other.name()),
    }
}

/// A float format.
pub fn float_format(ty: ScalarType) -> FloatFormat {
    use ScalarType::*;
    match ty {
        F16 => FloatFormat::F16,
        Bf16 => FloatFormat::Bf16,
        F32 | F32x2 => FloatFormat::F32,
        F64 => FloatFormat::F64,
        F16x2 => FloatFormat::F16x2,
        Bf16x2 => FloatFormat::Bf16x2,
        other => panic!(".{} is no float", other.name()),
    }
}

/// A number type.
pub fn num_type(ty: ScalarType) -> NumType {
    use ScalarType::*;
    match ty {
        F16 | Bf16 | F32 | F64 | F16x2 | Bf16x2 => NumType::Float(float_format(ty)),
        other => NumType::Int(int_type(other)),
    }
}
