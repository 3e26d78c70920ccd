//! Which registers fit which instruction types: the PTX manual's sections on operand type checking
//! ("Operand Size Exceeding Instruction-Type Size" for the relaxed rules), as `ptxas` reads them.

use crate::ast::ScalarType;

/// Kinds of types, by which they agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `.bX`: agrees with every type of the same size.
    Bits,
    /// `.uX` and `.sX`: agree with each other.
    Integer,
    /// Floats agree with themselves only.
    Float,
    /// Predicates.
    Predicate,
    /// Textures, samplers, surfaces.
    Opaque,
}

/// The class of a type.
pub fn class(ty: ScalarType) -> Class {
    use ScalarType::*;
    match ty {
        B8 | B16 | B32 | B64 | B128 => Class::Bits,
        U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 => Class::Integer,
        F16 | F16x2 | Bf16 | Bf16x2 | F32 | F32x2 | F64 => Class::Float,
        Pred => Class::Predicate,
        Texref | Samplerref | Surfref => Class::Opaque,
    }
}

/// Whether a type is of signed integers.
pub fn is_signed(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::S8 | ScalarType::S16 | ScalarType::S32 | ScalarType::S64)
}

/// Bits of a type; a predicate has one.
pub fn bits(ty: ScalarType) -> u32 {
    ty.bytes().map_or(1, |bytes| bytes * 8)
}

/// Whether a register of type `register` may stand for an operand of type `wanted`.
pub fn fits(register: ScalarType, wanted: ScalarType) -> bool {
    match (class(register), class(wanted)) {
        (Class::Predicate, Class::Predicate) => true,
        (Class::Predicate | Class::Opaque, _) | (_, Class::Predicate | Class::Opaque) => false,
        (Class::Bits, _) | (_, Class::Bits) | (Class::Integer, Class::Integer) => {
            register.bytes() == wanted.bytes()
        }
        _ => register == wanted,
    }
}

/// The same where registers may be wider: loads, stores, conversions.
pub fn fits_relaxed(register: ScalarType, wanted: ScalarType) -> bool {
    if wanted == ScalarType::Bf16 {
        return fits(register, wanted);
    }
    let wide = register.bytes() >= wanted.bytes();
    match (class(register), class(wanted)) {
        (Class::Predicate | Class::Opaque, _) | (_, Class::Predicate | Class::Opaque) => false,
        (Class::Bits, _) | (_, Class::Bits) | (Class::Integer, Class::Integer) => wide,
        _ => register == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType::*;

    #[test]
    fn types_agree_as_the_manual_says() {
        assert!(fits(U32, S32) && fits(B32, F32) && fits(F32, B32) && fits(B32, U32));
        assert!(!fits(F32, U32) && !fits(U32, F32) && !fits(U16, U32) && !fits(U64, U32));
        assert!(fits(B16, F16) && fits(B16, Bf16) && !fits(F16, Bf16) && !fits(U16, F16));
        assert!(fits(Pred, Pred) && !fits(Pred, B8) && !fits(B32, Pred));
        assert!(fits_relaxed(U64, U8) && fits_relaxed(B64, F32) && fits_relaxed(F64, B8));
        assert!(!fits_relaxed(U8, U16) && !fits_relaxed(F64, F32) && !fits_relaxed(F32, U8));
    }
}
