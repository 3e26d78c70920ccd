//! Types of values and the spaces that memory is divided into.

use std::fmt;

/// The type of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// A truth value.
    I1,
    /// 8 bits. Integers carry no sign: operations do.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// IEEE binary16.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl Scalar {
    /// Bytes of a value in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::I1 => 1,
            Scalar::I8 => 8,
            Scalar::I16 | Scalar::F16 => 16,
            Scalar::I32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::F64 => 64,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }
}

/// A scalar or a short vector of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// The type of each lane.
    pub scalar: Scalar,
    /// Number of lanes; 1 for a scalar.
    pub lanes: u8,
}

impl Type {
    /// A truth value.
    pub const I1: Type = Type { scalar: Scalar::I1, lanes: 1 };
    /// An 8-bit integer.
    pub const I8: Type = Type { scalar: Scalar::I8, lanes: 1 };
    /// A 16-bit integer.
    pub const I16: Type = Type { scalar: Scalar::I16, lanes: 1 };
    /// A 32-bit integer.
    pub const I32: Type = Type { scalar: Scalar::I32, lanes: 1 };
    /// A 64-bit integer.
    pub const I64: Type = Type { scalar: Scalar::I64, lanes: 1 };
    /// A binary32 float.
    pub const F32: Type = Type { scalar: Scalar::F32, lanes: 1 };

    /// A binary64 float.
    pub const F64: Type = Type { scalar: Scalar::F64, lanes: 1 };

    /// The vector of that many lanes of the same scalar.
    pub fn with_lanes(self, lanes: u8) -> Type {
        Type { lanes, ..self }
    }

    /// The type with that scalar and as many lanes.
    pub fn with_scalar(self, scalar: Scalar) -> Type {
        Type { scalar, ..self }
    }

    /// Whether its lanes are floats.
    pub fn is_float(self) -> bool {
        self.scalar.is_float()
    }

    /// Whether it has more than one lane.
    pub fn is_vector(self) -> bool {
        self.lanes > 1
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = if self.is_float() { 'f' } else { 'i' };
        write!(f, "{letter}{}", self.bits())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scalar)?;
        if self.is_vector() { write!(f, "x{}", self.lanes) } else { Ok(()) }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What a memory object or a raw address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Seen by every thread or engine.
    Global,
    /// Shared by a group of them.
    Shared,
    /// One thread's or engine's own.
    Local,
    /// Parameters, read only.
    Param,
    /// Constants, read only.
    Const,
    /// One of the others: the address says which.
    Generic,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
