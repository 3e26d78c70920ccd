//! Operations on integers, on lanes of integers in a word, and on predicates.

use nbcc_isa::named_field;

use crate::fields::flags_field;

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
        /// Signed remainder of the sign of the dividend; all ones by zero, 0 by -1.
        RemS = 17 "rem_s",
        /// Unsigned remainder; all ones by zero.
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
        /// Signed remainder of the sign of the dividend; all ones by zero, 0 by -1.
        RemS = 17 "rem_s",
        /// Unsigned remainder; all ones by zero.
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
