//! Element types of images and expressions, and literals of those types.

use std::fmt;

/// The type of an element of an image or of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementType {
    /// `Bool()`: false or true.
    Bool,
    /// `UInt(8)`.
    U8,
    /// `UInt(16)`.
    U16,
    /// `UInt(32)`.
    U32,
    /// `Int(8)`.
    I8,
    /// `Int(16)`.
    I16,
    /// `Int(32)`.
    I32,
    /// `Float(32)`, IEEE binary32.
    F32,
}

impl ElementType {
    /// Width in bits; a Bool has one.
    pub fn bits(self) -> u32 {
        match self {
            ElementType::Bool => 1,
            ElementType::U8 | ElementType::I8 => 8,
            ElementType::U16 | ElementType::I16 => 16,
            ElementType::U32 | ElementType::I32 | ElementType::F32 => 32,
        }
    }

    /// Whether it is `Float(32)`.
    pub fn is_float(self) -> bool {
        self == ElementType::F32
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, ElementType::I8 | ElementType::I16 | ElementType::I32)
    }

    /// Whether it is an unsigned integer. Bool counts as one.
    pub fn is_unsigned(self) -> bool {
        !self.is_float() && !self.is_signed()
    }

    /// The least and greatest value of an integer type. Panics on a float.
    pub fn integer_range(self) -> (i64, i64) {
        assert!(!self.is_float(), "{self} has no integer range");
        if self.is_signed() {
            (-(1 << (self.bits() - 1)), (1 << (self.bits() - 1)) - 1)
        } else {
            (0, (1 << self.bits()) - 1)
        }
    }

    /// A value brought into an integer type by wrapping around. Panics on a float.
    pub fn wrap(self, value: i64) -> i64 {
        let (low, high) = self.integer_range();
        let beyond = i128::from(value) - i128::from(low);
        low + beyond.rem_euclid(i128::from(high - low) + 1) as i64
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ElementType::Bool => "bool",
            ElementType::U8 => "uint8",
            ElementType::U16 => "uint16",
            ElementType::U32 => "uint32",
            ElementType::I8 => "int8",
            ElementType::I16 => "int16",
            ElementType::I32 => "int32",
            ElementType::F32 => "float32",
        })
    }
}

/// A literal: an integer in the range of its type (bool: 0 or 1), or the bits of a float, so that
/// literals can be compared and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Literal {
    /// An integer or Bool of the expression's type.
    Int(i64),
    /// The bits of a `Float(32)`.
    Float(u32),
}

impl Literal {
    /// The literal for a float.
    pub fn float(value: f32) -> Literal {
        Literal::Float(value.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn every_integer_wraps_into_a_type() {
        for value in [i64::MIN, i64::MIN + 5, -129, -1, 0, 127, 128, 1 << 40, i64::MAX] {
            assert_eq!(ElementType::I8.wrap(value), i64::from(value as i8), "{value}");
            assert_eq!(ElementType::U8.wrap(value), i64::from(value as u8), "{value}");
            assert_eq!(ElementType::I32.wrap(value), i64::from(value as i32), "{value}");
            assert_eq!(ElementType::U32.wrap(value), i64::from(value as u32), "{value}");
        }
    }
}
