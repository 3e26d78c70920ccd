//! Operands of MPU instructions that are no plain register: operations, formats, spaces and
//! modifiers; and the register files. Names are PTX's where it has one.

use std::fmt::{self, Write};

use nbcc_isa::text::Cursor;
use nbcc_isa::{Field, LabelNames, RegisterClass, SyntaxError};

use crate::fields::{flags_field, named_field, reg_or_imm};

/// The register files of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegClass {
    /// 32 bits; `R0` to `R255`.
    Word,
    /// 64 bits: the pair of `R` registers that begins with this even one, low half first.
    Wide,
    /// 1 bit; `P0` to `P6`.
    Pred,
}

impl RegisterClass for RegClass {
    const ALL: &'static [RegClass] = &[RegClass::Word, RegClass::Wide, RegClass::Pred];

    fn name(self) -> &'static str {
        match self {
            RegClass::Word => "Word",
            RegClass::Wide => "Wide",
            RegClass::Pred => "Pred",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            RegClass::Word => "R",
            RegClass::Wide => "D",
            RegClass::Pred => "P",
        }
    }
}

/// A register of an MPU machine.
pub type PhysReg = nbcc_isa::PhysReg<RegClass>;

/// Predicate registers of a thread: P0 to P6.
pub const PREDICATES: u16 = 7;

reg_or_imm! {
    /// A source: a number, or a register. A number takes the place of a 64-bit integer
    /// sign-extended from 32 bits, of a binary64 as its upper half, of a 16-bit format as its
    /// low 16 bits.
    Source, ["", ""]
}

reg_or_imm! {
    /// What an address is counted from: the value of a register, or a number (0 for an address
    /// that is the offset alone). Written `[D4]` or `[0x0]`.
    Base, ["[", "]"]
}

named_field! {
    /// Operations on two 32-bit integers; those without a sign give the low 32 bits.
    pub enum IntOp as "integer operation" {
        /// Sum.
        Add = 0 "add",
        /// Difference.
        Sub = 1 "sub",
        /// Product.
        Mul = 2 "mul",
        /// The high half of the product of signed numbers.
        MulHiS = 3 "mulhi_s",
        /// The high half of the product of unsigned numbers.
        MulHiU = 4 "mulhi_u",
        /// The lesser signed number.
        MinS = 5 "min_s",
        /// The lesser unsigned number.
        MinU = 6 "min_u",
        /// The greater signed number.
        MaxS = 7 "max_s",
        /// The greater unsigned number.
        MaxU = 8 "max_u",
        /// Bitwise and.
        And = 9 "and",
        /// Bitwise or.
        Or = 10 "or",
        /// Bitwise exclusive or.
        Xor = 11 "xor",
        /// Shift left; 0 for an (unsigned) amount of 32 or more.
        Shl = 12 "shl",
        /// Logical shift right; 0 for an (unsigned) amount of 32 or more.
        Shr = 13 "shr",
        /// Arithmetic shift right; the sign for an (unsigned) amount of 32 or more.
        Sra = 14 "sra",
        /// Signed quotient toward zero; all ones by zero, the dividend for the least by -1.
        DivS = 15 "div_s",
        /// Unsigned quotient; all ones by zero.
        DivU = 16 "div_u",
        /// Signed remainder of the sign of the dividend; the dividend by zero, 0 by -1.
        RemS = 17 "rem_s",
        /// Unsigned remainder; the dividend by zero.
        RemU = 18 "rem_u",
        /// Signed sum, limited to the range of a signed number.
        AddSat = 19 "addsat",
        /// Signed difference, limited to the range of a signed number.
        SubSat = 20 "subsat",
        /// Ones at `b` and above, `b` and `a` no more than 32: `a` is the lowest bit.
        BmskClamp = 21 "bmsk_clamp",
        /// The same with position and width taken modulo 32.
        BmskWrap = 22 "bmsk_wrap",
        /// The low `b` bits sign-extended, `b` no more than 32.
        SzextClampS = 23 "szext_clamp_s",
        /// The low `b` bits zero-extended, `b` no more than 32.
        SzextClampU = 24 "szext_clamp_u",
        /// The low `b` modulo 32 bits sign-extended.
        SzextWrapS = 25 "szext_wrap_s",
        /// The low `b` modulo 32 bits zero-extended.
        SzextWrapU = 26 "szext_wrap_u",
    }
}

named_field! {
    /// Operations on two 64-bit integers, as those on 32 bits.
    pub enum WideOp as "integer operation" {
        /// Sum.
        Add = 0 "add",
        /// Difference.
        Sub = 1 "sub",
        /// Product.
        Mul = 2 "mul",
        /// The high half of the product of signed numbers.
        MulHiS = 3 "mulhi_s",
        /// The high half of the product of unsigned numbers.
        MulHiU = 4 "mulhi_u",
        /// The lesser signed number.
        MinS = 5 "min_s",
        /// The lesser unsigned number.
        MinU = 6 "min_u",
        /// The greater signed number.
        MaxS = 7 "max_s",
        /// The greater unsigned number.
        MaxU = 8 "max_u",
        /// Bitwise and.
        And = 9 "and",
        /// Bitwise or.
        Or = 10 "or",
        /// Bitwise exclusive or.
        Xor = 11 "xor",
        /// Signed quotient toward zero; all ones by zero, the dividend for the least by -1.
        DivS = 15 "div_s",
        /// Unsigned quotient; all ones by zero.
        DivU = 16 "div_u",
        /// Signed remainder of the sign of the dividend; the dividend by zero, 0 by -1.
        RemS = 17 "rem_s",
        /// Unsigned remainder; the dividend by zero.
        RemU = 18 "rem_u",
    }
}

named_field! {
    /// Shifts of 64-bit integers by an unsigned 32-bit amount.
    pub enum ShiftOp as "shift" {
        /// Left; 0 for an amount of 64 or more.
        Shl = 0 "shl",
        /// Right, logical; 0 for an amount of 64 or more.
        Shr = 1 "shr",
        /// Right, arithmetic; the sign for an amount of 64 or more.
        Sra = 2 "sra",
    }
}

named_field! {
    /// Operations on one integer.
    pub enum UnaryOp as "integer operation" {
        /// Bitwise complement.
        Not = 0 "not",
        /// Two's complement.
        Neg = 1 "neg",
        /// Magnitude; the least number stays.
        Abs = 2 "abs",
        /// Bits in reverse order.
        Brev = 3 "brev",
        /// The low 8 bits sign-extended.
        Sext8 = 4 "sext8",
        /// The low 16 bits sign-extended.
        Sext16 = 5 "sext16",
        /// The low 8 bits zero-extended.
        Zext8 = 6 "zext8",
        /// The low 16 bits zero-extended.
        Zext16 = 7 "zext16",
        /// The low 32 bits sign-extended.
        Sext32 = 8 "sext32",
    }
}

named_field! {
    /// What is counted in an integer.
    pub enum CountOp as "count" {
        /// Ones.
        Popc = 0 "popc",
        /// Leading zeros.
        Clz = 1 "clz",
        /// The position of the highest bit unlike the sign; all ones where there is none.
        BfindS = 2 "bfind_s",
        /// The position of the highest one; all ones where there is none.
        BfindU = 3 "bfind_u",
        /// The left shift that brings the bit of `bfind_s` to the top; all ones for none.
        BfindShiftS = 4 "bfind_shift_s",
        /// The left shift that brings the bit of `bfind_u` to the top; all ones for none.
        BfindShiftU = 5 "bfind_shift_u",
    }
}

named_field! {
    /// Operations on three 32-bit integers `a`, `b` and `c`.
    pub enum TernaryOp as "integer operation" {
        /// Low half of `a * b`, plus `c`.
        Mad = 0 "mad",
        /// High half of the signed product, plus `c`.
        MadHiS = 1 "madhi_s",
        /// High half of the unsigned product, plus `c`.
        MadHiU = 2 "madhi_u",
        /// High half of the signed product, plus `c`, limited to the range of a signed number.
        MadHiSat = 3 "madhi_sat",
        /// Magnitude of the signed difference of `a` and `b`, plus `c`.
        SadS = 4 "sad_s",
        /// Magnitude of the unsigned difference of `a` and `b`, plus `c`.
        SadU = 5 "sad_u",
        /// `a + b + c`.
        Add3 = 6 "add3",
        /// `c & 0xff` bits of `a` from bit `b & 0xff`, sign-extended.
        BfeS = 7 "bfe_s",
        /// `c & 0xff` bits of `a` from bit `b & 0xff`, zero-extended.
        BfeU = 8 "bfe_u",
        /// The position of the `c`th one of mask `a` from bit `b` (signed `c`: upward or down).
        Fns = 9 "fns",
        /// Bytes of `b:a` that the four selectors in `c` name.
        PrmtIdx = 10 "prmt_idx",
        /// Four bytes of `b:a` from byte `c & 3` upward.
        PrmtF4e = 11 "prmt_f4e",
        /// Four bytes of `b:a` from byte `c & 3` downward.
        PrmtB4e = 12 "prmt_b4e",
        /// Byte `c & 3` of `a` four times.
        PrmtRc8 = 13 "prmt_rc8",
        /// Edge clamp left at byte `c & 3` of `a`.
        PrmtEcl = 14 "prmt_ecl",
        /// Edge clamp right at byte `c & 3` of `a`.
        PrmtEcr = 15 "prmt_ecr",
        /// Half `c & 1` of `a` twice.
        PrmtRc16 = 16 "prmt_rc16",
        /// The high half of `b:a` shifted left by `c`, no more than 32.
        ShfLClamp = 17 "shf_l_clamp",
        /// The high half of `b:a` shifted left by `c` modulo 32.
        ShfLWrap = 18 "shf_l_wrap",
        /// The low half of `b:a` shifted right by `c`, no more than 32.
        ShfRClamp = 19 "shf_r_clamp",
        /// The low half of `b:a` shifted right by `c` modulo 32.
        ShfRWrap = 20 "shf_r_wrap",
        /// Sum of the products of four unsigned bytes each, plus `c`.
        Dp4aUU = 21 "dp4a_uu",
        /// The same of unsigned bytes of `a` and signed ones of `b`.
        Dp4aUS = 22 "dp4a_us",
        /// The same of signed bytes of `a` and unsigned ones of `b`.
        Dp4aSU = 23 "dp4a_su",
        /// The same of signed bytes.
        Dp4aSS = 24 "dp4a_ss",
        /// Products of two unsigned halves of `a` and the low two unsigned bytes of `b`, plus `c`.
        Dp2aLoUU = 25 "dp2a_lo_uu",
        /// The same of unsigned halves and signed bytes.
        Dp2aLoUS = 26 "dp2a_lo_us",
        /// The same of signed halves and unsigned bytes.
        Dp2aLoSU = 27 "dp2a_lo_su",
        /// The same of signed halves and bytes.
        Dp2aLoSS = 28 "dp2a_lo_ss",
        /// Products of two unsigned halves of `a` and the high two unsigned bytes of `b`, plus `c`.
        Dp2aHiUU = 29 "dp2a_hi_uu",
        /// The same of unsigned halves and signed bytes.
        Dp2aHiUS = 30 "dp2a_hi_us",
        /// The same of signed halves and unsigned bytes.
        Dp2aHiSU = 31 "dp2a_hi_su",
        /// The same of signed halves and bytes.
        Dp2aHiSS = 32 "dp2a_hi_ss",
    }
}

named_field! {
    /// Whether numbers are signed.
    pub enum Sign as "sign" {
        /// Unsigned.
        Unsigned = 0 "u",
        /// Signed.
        Signed = 1 "s",
    }
}

named_field! {
    /// Comparisons of integers.
    pub enum IntTest as "comparison" {
        /// Equal.
        Eq = 0 "eq",
        /// Not equal.
        Ne = 1 "ne",
        /// Less, signed.
        LtS = 2 "lt_s",
        /// Less or equal, signed.
        LeS = 3 "le_s",
        /// Greater, signed.
        GtS = 4 "gt_s",
        /// Greater or equal, signed.
        GeS = 5 "ge_s",
        /// Less, unsigned.
        LtU = 6 "lt_u",
        /// Less or equal, unsigned.
        LeU = 7 "le_u",
        /// Greater, unsigned.
        GtU = 8 "gt_u",
        /// Greater or equal, unsigned.
        GeU = 9 "ge_u",
    }
}

named_field! {
    /// Operations on predicates.
    pub enum PredOp as "predicate operation" {
        /// Both.
        And = 0 "and",
        /// One at least.
        Or = 1 "or",
        /// One of the two.
        Xor = 2 "xor",
        /// The first and not the second.
        AndNot = 3 "andnot",
        /// The first or not the second.
        OrNot = 4 "ornot",
        /// Both or neither.
        Xnor = 5 "xnor",
        /// Not both.
        Nand = 6 "nand",
        /// Neither.
        Nor = 7 "nor",
    }
}

named_field! {
    /// Operations on 2 or 4 integers in a register.
    pub enum SimdOp as "SIMD operation" {
        /// Sum.
        Add = 0 "add",
        /// Difference.
        Sub = 1 "sub",
        /// Average, rounded away from zero.
        Avrg = 2 "avrg",
        /// Magnitude of the difference.
        Absdiff = 3 "absdiff",
        /// Lesser.
        Min = 4 "min",
        /// Greater.
        Max = 5 "max",
        /// 1 where equal.
        SetEq = 6 "seteq",
        /// 1 where not equal.
        SetNe = 7 "setne",
        /// 1 where less.
        SetLt = 8 "setlt",
        /// 1 where less or equal.
        SetLe = 9 "setle",
        /// 1 where greater.
        SetGt = 10 "setgt",
        /// 1 where greater or equal.
        SetGe = 11 "setge",
    }
}

flags_field! {
    /// A SIMD operation with its types. Lanes that `mask` of the instruction leaves out are
    /// those of `c`; with `add` the results are summed up and added to `c`.
    pub struct SimdMods {
        op: SimdOp as "The operation." in 4 bits;
        /// Two halves, else four bytes.
        halves = "x2",
        /// `a` is signed.
        a_signed = "as",
        /// `b` is signed.
        b_signed = "bs",
        /// The result is signed.
        signed = "s",
        /// The result is limited to its range.
        sat = "sat",
        /// The results of the lanes are added to `c`.
        add = "add",
    }
}

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
        /// Neither zero, subnormal, infinite nor a NaN.
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

named_field! {
    /// Where a load, store or atomic operation goes.
    pub enum Space as "space" {
        /// Any of the others, by the window that the address lies in.
        Generic = 0 "generic",
        /// Memory of the machine, allocated by the host or by the program's data.
        Global = 1 "global",
        /// Memory of the block.
        Shared = 2 "shared",
        /// Memory of the thread.
        Local = 3 "local",
        /// Data of the program that no thread may write; addresses are those of `global`.
        Const = 4 "const",
        /// Parameters of the kernel.
        Param = 5 "param",
    }
}

named_field! {
    /// What one register of a load or store holds of memory.
    pub enum Access as "access" {
        /// A byte, zero-extended.
        U8 = 0 "u8",
        /// A byte, sign-extended.
        S8 = 1 "s8",
        /// Two bytes, zero-extended.
        U16 = 2 "u16",
        /// Two bytes, sign-extended.
        S16 = 3 "s16",
        /// Four bytes.
        B32 = 4 "b32",
    }
}

impl Access {
    /// Bytes of memory.
    pub fn bytes(self) -> u32 {
        match self {
            Access::U8 | Access::S8 => 1,
            Access::U16 | Access::S16 => 2,
            Access::B32 => 4,
        }
    }
}

named_field! {
    /// What an access promises to other threads beside its value.
    pub enum Order as "order" {
        /// Nothing.
        Weak = 0 "weak",
        /// It happens as often and in the order as written.
        Volatile = 1 "volatile",
        /// It is atomic.
        Relaxed = 2 "relaxed",
        /// Later accesses of the thread come behind it.
        Acquire = 3 "acquire",
        /// Earlier accesses of the thread come before it.
        Release = 4 "release",
        /// Both.
        AcqRel = 5 "acq_rel",
    }
}

named_field! {
    /// What memory holds after an atomic operation, of what it held and the operand.
    pub enum AtomOp as "atomic operation" {
        /// Bitwise and.
        And = 0 "and",
        /// Bitwise or.
        Or = 1 "or",
        /// Bitwise exclusive or.
        Xor = 2 "xor",
        /// The operand.
        Exch = 3 "exch",
        /// Sum.
        Add = 4 "add",
        /// Plus one, zero from the operand on (unsigned).
        Inc = 5 "inc",
        /// Minus one, the operand from zero or from above the operand (unsigned).
        Dec = 6 "dec",
        /// Lesser.
        Min = 7 "min",
        /// Greater.
        Max = 8 "max",
    }
}

named_field! {
    /// What an atomic operation takes memory for. Which operations a type has:
    /// bits `and` to `exch`; unsigned also `add` to `max`; signed `add`, `min`, `max`;
    /// floats `add`, those of 16 bits `min` and `max` too.
    pub enum AtomType as "type" {
        /// 32 bits, unsigned.
        U32 = 0 "u32",
        /// 32 bits, signed.
        S32 = 1 "s32",
        /// IEEE binary32; `add` flushes subnormals in global memory.
        F32 = 2 "f32",
        /// IEEE binary16.
        F16 = 3 "f16",
        /// The upper half of a binary32.
        Bf16 = 4 "bf16",
        /// Two binary16.
        F16x2 = 5 "f16x2",
        /// Two bf16.
        Bf16x2 = 6 "bf16x2",
        /// 16 bits.
        B16 = 7 "b16",
    }
}

impl AtomType {
    /// Bytes of memory.
    pub fn bytes(self) -> u32 {
        match self {
            AtomType::F16 | AtomType::Bf16 | AtomType::B16 => 2,
            _ => 4,
        }
    }
}

named_field! {
    /// What a 64-bit atomic operation takes memory for.
    pub enum AtomWideType as "type" {
        /// 64 bits, unsigned.
        U64 = 0 "u64",
        /// 64 bits, signed.
        S64 = 1 "s64",
        /// IEEE binary64.
        F64 = 2 "f64",
    }
}

named_field! {
    /// Which lanes an operation among lanes is for.
    pub enum SyncMode as "mode" {
        /// Those of its mask, which wait for each other.
        Sync = 0 "sync",
        /// Those that execute it together; the mask means nothing.
        Legacy = 1 "legacy",
    }
}

named_field! {
    /// Which lane a shuffle reads.
    pub enum ShflMode as "shuffle" {
        /// A lane below.
        Up = 0 "up",
        /// A lane above.
        Down = 1 "down",
        /// The exclusive or of both lane numbers.
        Bfly = 2 "bfly",
        /// A lane by number.
        Idx = 3 "idx",
    }
}

named_field! {
    /// What lanes vote on.
    pub enum VoteMode as "vote" {
        /// True for all.
        All = 0 "all",
        /// True for one at least.
        Any = 1 "any",
        /// The same for all.
        Uni = 2 "uni",
    }
}

named_field! {
    /// Reductions over the lanes of a warp.
    pub enum ReduxOp as "reduction" {
        /// Sum.
        Add = 0 "add",
        /// Lesser, signed.
        MinS = 1 "min_s",
        /// Lesser, unsigned.
        MinU = 2 "min_u",
        /// Greater, signed.
        MaxS = 3 "max_s",
        /// Greater, unsigned.
        MaxU = 4 "max_u",
        /// Bitwise and.
        And = 5 "and",
        /// Bitwise or.
        Or = 6 "or",
        /// Bitwise exclusive or.
        Xor = 7 "xor",
    }
}

named_field! {
    /// How a barrier combines the predicates of its threads.
    pub enum BarrierReduction as "reduction" {
        /// True for all.
        And = 0 "and",
        /// True for one at least.
        Or = 1 "or",
    }
}

named_field! {
    /// Whether all threads of a warp come to a barrier together.
    pub enum Alignment as "alignment" {
        /// They may come one by one.
        Unaligned = 0 "any",
        /// They do.
        Aligned = 1 "aligned",
    }
}

named_field! {
    /// Whose accesses a fence orders.
    pub enum Scope as "scope" {
        /// The block's.
        Cta = 0 "cta",
        /// The machine's.
        Gpu = 1 "gpu",
        /// The host's as well.
        Sys = 2 "sys",
    }
}

/// Declares special registers by ranges of names.
macro_rules! special {
    ($( $(#[$doc:meta])* $variant:ident = $bits:literal $text:literal ),+ $(,)?) => {
        named_field! {
            /// Special registers of 32 bits, as PTX defines them.
            pub enum Special as "special register" {
                $( $(#[$doc])* $variant = $bits $text ),+
            }
        }
    };
}

special! {
    /// Position of the thread in its block, x.
    TidX = 0 "tid_x",
    /// Position of the thread in its block, y.
    TidY = 1 "tid_y",
    /// Position of the thread in its block, z.
    TidZ = 2 "tid_z",
    /// Threads of a block along x.
    NtidX = 3 "ntid_x",
    /// Threads of a block along y.
    NtidY = 4 "ntid_y",
    /// Threads of a block along z.
    NtidZ = 5 "ntid_z",
    /// Position of the block in the grid, x.
    CtaidX = 6 "ctaid_x",
    /// Position of the block in the grid, y.
    CtaidY = 7 "ctaid_y",
    /// Position of the block in the grid, z.
    CtaidZ = 8 "ctaid_z",
    /// Blocks of the grid along x.
    NctaidX = 9 "nctaid_x",
    /// Blocks of the grid along y.
    NctaidY = 10 "nctaid_y",
    /// Blocks of the grid along z.
    NctaidZ = 11 "nctaid_z",
    /// Position of the thread in its warp.
    Laneid = 12 "laneid",
    /// Number of the warp in its block.
    Warpid = 13 "warpid",
    /// Warps that a core may have.
    Nwarpid = 14 "nwarpid",
    /// Number of the core.
    Smid = 15 "smid",
    /// Cores of the machine.
    Nsmid = 16 "nsmid",
    /// The mask of the lane itself.
    LanemaskEq = 17 "lanemask_eq",
    /// The mask of the lane and those below.
    LanemaskLe = 18 "lanemask_le",
    /// The mask of the lanes below.
    LanemaskLt = 19 "lanemask_lt",
    /// The mask of the lane and those above.
    LanemaskGe = 20 "lanemask_ge",
    /// The mask of the lanes above.
    LanemaskGt = 21 "lanemask_gt",
    /// Cycles of the core, the low 32 bits.
    Clock = 22 "clock",
    /// Cycles of the core, the high 32 bits.
    ClockHi = 23 "clock_hi",
    /// Nanoseconds, the low 32 bits.
    GlobaltimerLo = 24 "globaltimer_lo",
    /// Nanoseconds, the high 32 bits.
    GlobaltimerHi = 25 "globaltimer_hi",
    /// Bytes of shared memory of a block, static and dynamic.
    TotalSmemSize = 26 "total_smem_size",
    /// Bytes of dynamic shared memory of a block.
    DynamicSmemSize = 27 "dynamic_smem_size",
    /// Number of the launch, the low 32 bits.
    GrididLo = 28 "gridid_lo",
    /// A register that the machine has not: zero.
    Zero = 29 "zero",
}

named_field! {
    /// Special registers of 64 bits.
    pub enum SpecialWide as "special register" {
        /// Cycles of the core.
        Clock = 0 "clock64",
        /// Nanoseconds.
        Globaltimer = 1 "globaltimer",
        /// Number of the launch.
        Gridid = 2 "gridid",
        /// A register that the machine has not: zero.
        Zero = 3 "zero",
    }
}

/// A signed number of bytes that is added to an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offset(pub i32);

impl Field for Offset {
    fn to_bits(&self) -> Option<u64> {
        Some(u64::from(self.0 as u32))
    }
    fn from_bits(bits: u64) -> Option<Self> {
        u32::try_from(bits).ok().map(|bits| Offset(bits as i32))
    }
    fn write(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "{}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        Ok(Offset(cursor.number_in("the offset", i32::MIN.into(), i32::MAX.into())? as i32))
    }
}

/// 64 bits, written `x` and 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits64(pub u64);

impl Field for Bits64 {
    fn to_bits(&self) -> Option<u64> {
        Some(self.0)
    }
    fn from_bits(bits: u64) -> Option<Self> {
        Some(Bits64(bits))
    }
    fn write(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "x{:016x}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        let start = cursor.position();
        let word = cursor.expect_name("64 bits in hexadecimal")?;
        let digits = word.strip_prefix('x').filter(|d| !d.is_empty() && !d.starts_with('+'));
        digits.and_then(|d| u64::from_str_radix(d, 16).ok()).map(Bits64).ok_or_else(|| {
            SyntaxError::new("expected 64 bits in hexadecimal", start..start + word.len())
                .with_help("64 bits are written `x` and up to 16 hexadecimal digits")
        })
    }
}

/// Where a branch's paths meet again: the immediate post-dominator.
pub const NO_RECONVERGENCE: i32 = -1;
