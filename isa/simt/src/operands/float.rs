//! Formats of floats, operations on them, and conversions.

use nbcc_isa::named_field;

use crate::fields::flags_field;

named_field! {
    /// Formats of floats in a 32-bit register; those of 16 bits are its low half.
    pub enum Format as "float format" {
        /// IEEE binary32.
        F32 = 0 "f32",
        /// IEEE binary16.
        F16 = 1 "f16",
        /// The upper half of a binary32.
        Bf16 = 2 "bf16",
        /// Two binary16, the first in the low half.
        F16x2 = 3 "f16x2",
        /// Two bf16, the first in the low half.
        Bf16x2 = 4 "bf16x2",
    }
}

named_field! {
    /// Rounding of a result that lies between two floats.
    pub enum Rounding as "rounding" {
        /// To nearest, ties to even.
        Rn = 0 "rn",
        /// Toward zero.
        Rz = 1 "rz",
        /// Toward negative infinity.
        Rm = 2 "rm",
        /// Toward positive infinity.
        Rp = 3 "rp",
    }
}

named_field! {
    /// Operations on two floats.
    pub enum FloatOp as "float operation" {
        /// Sum.
        Add = 0 "add",
        /// Difference.
        Sub = 1 "sub",
        /// Product.
        Mul = 2 "mul",
        /// Quotient.
        Div = 3 "div",
        /// The lesser; of a NaN and a number, the number; -0 is less than +0.
        Min = 4 "min",
        /// The greater; of a NaN and a number, the number; +0 is greater than -0.
        Max = 5 "max",
    }
}

named_field! {
    /// Operations on one float, with one right result.
    pub enum FloatUnaryOp as "float operation" {
        /// Reciprocal.
        Rcp = 0 "rcp",
        /// Square root.
        Sqrt = 1 "sqrt",
        /// Magnitude.
        Abs = 2 "abs",
        /// The other sign.
        Neg = 3 "neg",
    }
}

named_field! {
    /// Functions of a float within an error bound: the right result of binary64, rounded to
    /// nearest.
    pub enum ApproxOp as "function" {
        /// Reciprocal.
        Rcp = 0 "rcp",
        /// Square root.
        Sqrt = 1 "sqrt",
        /// Reciprocal of the square root.
        Rsqrt = 2 "rsqrt",
        /// Sine of radians.
        Sin = 3 "sin",
        /// Cosine of radians.
        Cos = 4 "cos",
        /// Logarithm to base 2.
        Lg2 = 5 "lg2",
        /// 2 to the operand.
        Ex2 = 6 "ex2",
        /// Hyperbolic tangent.
        Tanh = 7 "tanh",
    }
}

named_field! {
    /// Functions of a binary64 within an error bound.
    pub enum ApproxWideOp as "function" {
        /// Reciprocal, of the upper half: the low 32 bits are zero.
        Rcp = 0 "rcp",
        /// Reciprocal of the square root, of the upper half: the low 32 bits are zero.
        Rsqrt = 2 "rsqrt",
    }
}

named_field! {
    /// Approximate division of binary32.
    pub enum ApproxDivOp as "division" {
        /// Zero where the divisor is above 2^126 in magnitude.
        Div = 0 "approx",
        /// Over the full range.
        Full = 1 "full",
    }
}

flags_field! {
    /// How a float operation rounds, and what it does to operands and result.
    pub struct FloatMods {
        rounding: Rounding as "How the result is rounded." in 2 bits;
        /// Subnormal operands and results become zeros of their sign (binary32 and binary16).
        ftz = "ftz",
        /// The result is limited to 0..1, a NaN to 0.
        sat = "sat",
        /// A negative result becomes 0, a NaN the canonical one.
        relu = "relu",
        /// Minimum and maximum: a NaN operand gives the canonical NaN.
        nan = "nan",
        /// Minimum and maximum of magnitudes, with the exclusive or of the signs.
        xorsign_abs = "xorsign_abs",
    }
}

flags_field! {
    /// A format, and whether subnormals become zeros.
    pub struct FormatMods {
        format: Format as "The format." in 3 bits;
        /// Subnormal operands and results become zeros of their sign.
        ftz = "ftz",
    }
}

named_field! {
    /// Comparisons of floats; those with `u` hold where an operand is a NaN, too.
    pub enum FloatTest as "comparison" {
        /// Equal.
        Eq = 0 "eq",
        /// Less or greater.
        Ne = 1 "ne",
        /// Less.
        Lt = 2 "lt",
        /// Less or equal.
        Le = 3 "le",
        /// Greater.
        Gt = 4 "gt",
        /// Greater or equal.
        Ge = 5 "ge",
        /// Equal or unordered.
        Equ = 6 "equ",
        /// Not equal or unordered.
        Neu = 7 "neu",
        /// Less or unordered.
        Ltu = 8 "ltu",
        /// Less, equal or unordered.
        Leu = 9 "leu",
        /// Greater or unordered.
        Gtu = 10 "gtu",
        /// Greater, equal or unordered.
        Geu = 11 "geu",
        /// Neither is a NaN.
        Num = 12 "num",
        /// One is a NaN.
        Nan = 13 "nan",
    }
}

named_field! {
    /// What `testp` asks of a float.
    pub enum FloatProperty as "property" {
        /// Neither infinite nor a NaN.
        Finite = 0 "finite",
        /// Infinite.
        Infinite = 1 "infinite",
        /// No NaN.
        Number = 2 "number",
        /// A NaN.
        NotANumber = 3 "notanumber",
        /// Neither subnormal, infinite nor a NaN. Zero is normal.
        Normal = 4 "normal",
        /// Subnormal.
        Subnormal = 5 "subnormal",
    }
}

named_field! {
    /// Types of conversions. The instruction's operands are wide where the type has 64 bits;
    /// narrower integers are the low bits of a register, a result is extended to 32 bits.
    pub enum NumType as "type" {
        /// 8 bits, unsigned.
        U8 = 0 "u8",
        /// 8 bits, signed.
        S8 = 1 "s8",
        /// 16 bits, unsigned.
        U16 = 2 "u16",
        /// 16 bits, signed.
        S16 = 3 "s16",
        /// 32 bits, unsigned.
        U32 = 4 "u32",
        /// 32 bits, signed.
        S32 = 5 "s32",
        /// 64 bits, unsigned.
        U64 = 6 "u64",
        /// 64 bits, signed.
        S64 = 7 "s64",
        /// IEEE binary16.
        F16 = 8 "f16",
        /// The upper half of a binary32.
        Bf16 = 9 "bf16",
        /// IEEE binary32.
        F32 = 10 "f32",
        /// IEEE binary64.
        F64 = 11 "f64",
        /// A binary32 with 10 fraction bits.
        Tf32 = 12 "tf32",
    }
}

impl NumType {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            NumType::U8 | NumType::S8 => 8,
            NumType::U16 | NumType::S16 | NumType::F16 | NumType::Bf16 => 16,
            NumType::U32 | NumType::S32 | NumType::F32 | NumType::Tf32 => 32,
            NumType::U64 | NumType::S64 | NumType::F64 => 64,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, NumType::F16 | NumType::Bf16 | NumType::F32 | NumType::F64 | NumType::Tf32)
    }
}

named_field! {
    /// Rounding of conversions.
    pub enum ConvertRounding as "rounding" {
        /// The conversion is exact, or between integers.
        Exact = 0 "exact",
        /// To the nearest float, ties to even.
        Rn = 1 "rn",
        /// To a float, toward zero.
        Rz = 2 "rz",
        /// To a float, toward negative infinity.
        Rm = 3 "rm",
        /// To a float, toward positive infinity.
        Rp = 4 "rp",
        /// To the nearest float, ties away from zero.
        Rna = 5 "rna",
        /// To the nearest integer, ties to even.
        Rni = 6 "rni",
        /// To an integer, toward zero.
        Rzi = 7 "rzi",
        /// To an integer, toward negative infinity.
        Rmi = 8 "rmi",
        /// To an integer, toward positive infinity.
        Rpi = 9 "rpi",
    }
}

flags_field! {
    /// How a conversion rounds.
    pub struct ConvertMods {
        rounding: ConvertRounding as "How the result is rounded." in 4 bits;
        /// Subnormal binary32 operands and results become zeros of their sign.
        ftz = "ftz",
        /// The result is limited: an integer to the range of its type, a float to 0..1.
        sat = "sat",
        /// A negative result becomes 0.
        relu = "relu",
    }
}
