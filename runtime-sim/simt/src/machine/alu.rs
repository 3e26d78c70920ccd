//! Integer operations, moves and predicates: what an instruction writes depends on registers only.

use crate::integer::{self, Permutation};
use crate::simd::{self, Simd};
use crate::{LANES, Mask, Words};
use nbcc_isa_simt::operands::{
    CountOp, IntOp, IntTest, PredOp, ShiftOp, Sign, SimdMods, SimdOp, TernaryOp, UnaryOp, WideOp,
};

use crate::machine::warp::Wides;

/// `f` of each lane.
#[inline(always)]
pub fn map<A: Copy, B: Copy + Default>(a: &[A; LANES], f: impl Fn(A) -> B) -> [B; LANES] {
    let mut out = [B::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    out
}

/// `f` of each lane of two registers.
#[inline(always)]
pub fn map2<A: Copy, B: Copy, C: Copy + Default>(
    a: &[A; LANES],
    b: &[B; LANES],
    f: impl Fn(A, B) -> C,
) -> [C; LANES] {
    let mut out = [C::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

/// `f` of each lane of three registers.
#[inline(always)]
pub fn map3<A: Copy, B: Copy, C: Copy, D: Copy + Default>(
    a: &[A; LANES],
    b: &[B; LANES],
    c: &[C; LANES],
    f: impl Fn(A, B, C) -> D,
) -> [D; LANES] {
    let mut out = [D::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
    out
}

/// The lanes for which `f` holds.
#[inline(always)]
pub fn test2<A: Copy, B: Copy>(a: &[A; LANES], b: &[B; LANES], f: impl Fn(A, B) -> bool) -> Mask {
    let mut out = 0;
    for lane in 0..LANES {
        out |= u32::from(f(a[lane], b[lane])) << lane;
    }
    out
}

/// An operation on 32-bit integers.
#[inline(always)]
pub fn int(op: IntOp, a: &Words, b: &Words) -> Words {
    match op {
        IntOp::Add => map2(a, b, u32::wrapping_add),
        IntOp::Sub => map2(a, b, u32::wrapping_sub),
        IntOp::Mul => map2(a, b, u32::wrapping_mul),
        IntOp::MulHiS => map2(a, b, integer::mulhi_s32),
        IntOp::MulHiU => map2(a, b, integer::mulhi_u32),
        IntOp::MinS => map2(a, b, |a, b| (a as i32).min(b as i32) as u32),
        IntOp::MinU => map2(a, b, u32::min),
        IntOp::MaxS => map2(a, b, |a, b| (a as i32).max(b as i32) as u32),
        IntOp::MaxU => map2(a, b, u32::max),
        IntOp::And => map2(a, b, |a, b| a & b),
        IntOp::Or => map2(a, b, |a, b| a | b),
        IntOp::Xor => map2(a, b, |a, b| a ^ b),
        IntOp::Shl => map2(a, b, |a, n| if n < 32 { a << n } else { 0 }),
        IntOp::Shr => map2(a, b, |a, n| if n < 32 { a >> n } else { 0 }),
        IntOp::Sra => map2(a, b, |a, n| (a as i32 >> n.min(31)) as u32),
        IntOp::DivS => map2(a, b, integer::div_s32),
        IntOp::DivU => map2(a, b, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        IntOp::RemS => map2(a, b, integer::rem_s32),
        IntOp::RemU => map2(a, b, |a, b| a.checked_rem(b).unwrap_or(!0)),
        IntOp::AddSat => map2(a, b, |a, b| (a as i32).saturating_add(b as i32) as u32),
        IntOp::SubSat => map2(a, b, |a, b| (a as i32).saturating_sub(b as i32) as u32),
        IntOp::BmskClamp => map2(a, b, |a, b| integer::bmsk(false, a, b)),
        IntOp::BmskWrap => map2(a, b, |a, b| integer::bmsk(true, a, b)),
        IntOp::SzextClampS => map2(a, b, |a, b| integer::szext(false, true, a, b)),
        IntOp::SzextClampU => map2(a, b, |a, b| integer::szext(false, false, a, b)),
        IntOp::SzextWrapS => map2(a, b, |a, b| integer::szext(true, true, a, b)),
        IntOp::SzextWrapU => map2(a, b, |a, b| integer::szext(true, false, a, b)),
    }
}

/// An operation on 64-bit integers.
#[inline(always)]
pub fn wide(op: WideOp, a: &Wides, b: &Wides) -> Wides {
    match op {
        WideOp::Add => map2(a, b, u64::wrapping_add),
        WideOp::Sub => map2(a, b, u64::wrapping_sub),
        WideOp::Mul => map2(a, b, u64::wrapping_mul),
        WideOp::MulHiS => map2(a, b, integer::mulhi_s64),
        WideOp::MulHiU => map2(a, b, integer::mulhi_u64),
        WideOp::MinS => map2(a, b, |a, b| (a as i64).min(b as i64) as u64),
        WideOp::MinU => map2(a, b, u64::min),
        WideOp::MaxS => map2(a, b, |a, b| (a as i64).max(b as i64) as u64),
        WideOp::MaxU => map2(a, b, u64::max),
        WideOp::And => map2(a, b, |a, b| a & b),
        WideOp::Or => map2(a, b, |a, b| a | b),
        WideOp::Xor => map2(a, b, |a, b| a ^ b),
        WideOp::DivS => map2(a, b, integer::div_s64),
        WideOp::DivU => map2(a, b, |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        WideOp::RemS => map2(a, b, integer::rem_s64),
        WideOp::RemU => map2(a, b, |a, b| a.checked_rem(b).unwrap_or(!0)),
    }
}

/// A shift of 64-bit integers.
pub fn shift(op: ShiftOp, a: &Wides, amount: &Words) -> Wides {
    match op {
        ShiftOp::Shl => map2(a, amount, |a, n| if n < 64 { a << n } else { 0 }),
        ShiftOp::Shr => map2(a, amount, |a, n| if n < 64 { a >> n } else { 0 }),
        ShiftOp::Sra => map2(a, amount, |a, n| (a as i64 >> n.min(63)) as u64),
    }
}

/// An operation on a 32-bit integer.
pub fn unary(op: UnaryOp, a: &Words) -> Words {
    match op {
        UnaryOp::Not => map(a, |a| !a),
        UnaryOp::Neg => map(a, u32::wrapping_neg),
        UnaryOp::Abs => map(a, |a| (a as i32).wrapping_abs() as u32),
        UnaryOp::Brev => map(a, u32::reverse_bits),
        UnaryOp::Sext8 => map(a, |a| a as i8 as u32),
        UnaryOp::Sext16 => map(a, |a| a as i16 as u32),
        UnaryOp::Zext8 => map(a, |a| a & 0xff),
        UnaryOp::Zext16 => map(a, |a| a & 0xffff),
        UnaryOp::Sext32 => *a,
    }
}

/// An operation on a 64-bit integer.
pub fn unary_wide(op: UnaryOp, a: &Wides) -> Wides {
    match op {
        UnaryOp::Not => map(a, |a| !a),
        UnaryOp::Neg => map(a, u64::wrapping_neg),
        UnaryOp::Abs => map(a, |a| (a as i64).wrapping_abs() as u64),
        UnaryOp::Brev => map(a, u64::reverse_bits),
        UnaryOp::Sext8 => map(a, |a| a as i8 as u64),
        UnaryOp::Sext16 => map(a, |a| a as i16 as u64),
        UnaryOp::Zext8 => map(a, |a| a & 0xff),
        UnaryOp::Zext16 => map(a, |a| a & 0xffff),
        UnaryOp::Sext32 => map(a, |a| a as i32 as u64),
    }
}

/// A count in an integer of so many bits.
pub fn count(op: CountOp, bits: u32, a: &Wides) -> Words {
    match op {
        CountOp::Popc => map(a, u64::count_ones),
        CountOp::Clz => map(a, |a| a.leading_zeros() - (64 - bits)),
        CountOp::BfindS => map(a, |a| integer::bfind(bits, true, false, a)),
        CountOp::BfindU => map(a, |a| integer::bfind(bits, false, false, a)),
        CountOp::BfindShiftS => map(a, |a| integer::bfind(bits, true, true, a)),
        CountOp::BfindShiftU => map(a, |a| integer::bfind(bits, false, true, a)),
    }
}

/// The zero-extended lanes.
#[inline(always)]
pub fn extend(a: &Words) -> Wides {
    map(a, u64::from)
}

/// The low halves.
#[inline(always)]
pub fn truncate(a: &Wides) -> Words {
    map(a, |a| a as u32)
}

/// An operation on three 32-bit integers.
pub fn ternary(op: TernaryOp, a: &Words, b: &Words, c: &Words) -> Words {
    use TernaryOp::*;
    let bfe = |signed| map3(a, b, c, |a, b, c| integer::bfe(32, signed, a.into(), b, c) as u32);
    let permute =
        |kind: Permutation| map3(a, b, c, |a, b, c| integer::prmt(a, b, kind.selectors(c)));
    let shf = |left, wrap| map3(a, b, c, |a, b, c| integer::shf(left, wrap, a, b, c));
    let dp4a = |x, y| map3(a, b, c, |a, b, c| integer::dp4a(x, y, a, b, c));
    let dp2a = |x, y, high| map3(a, b, c, |a, b, c| integer::dp2a(x, y, high, a, b, c));
    match op {
        Mad => map3(a, b, c, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        MadHiS => map3(a, b, c, |a, b, c| integer::mulhi_s32(a, b).wrapping_add(c)),
        MadHiU => map3(a, b, c, |a, b, c| integer::mulhi_u32(a, b).wrapping_add(c)),
        MadHiSat => map3(a, b, c, integer::madhi_sat),
        SadS => map3(a, b, c, |a, b, c| (a as i32).abs_diff(b as i32).wrapping_add(c)),
        SadU => map3(a, b, c, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        Add3 => map3(a, b, c, |a, b, c| a.wrapping_add(b).wrapping_add(c)),
        BfeS => bfe(true),
        BfeU => bfe(false),
        Fns => map3(a, b, c, integer::fns),
        PrmtIdx => permute(Permutation::Index),
        PrmtF4e => permute(Permutation::Forward),
        PrmtB4e => permute(Permutation::Backward),
        PrmtRc8 => permute(Permutation::Replicate8),
        PrmtEcl => permute(Permutation::EdgeLeft),
        PrmtEcr => permute(Permutation::EdgeRight),
        PrmtRc16 => permute(Permutation::Replicate16),
        ShfLClamp => shf(true, false),
        ShfLWrap => shf(true, true),
        ShfRClamp => shf(false, false),
        ShfRWrap => shf(false, true),
        Dp4aUU => dp4a(false, false),
        Dp4aUS => dp4a(false, true),
        Dp4aSU => dp4a(true, false),
        Dp4aSS => dp4a(true, true),
        Dp2aLoUU => dp2a(false, false, false),
        Dp2aLoUS => dp2a(false, true, false),
        Dp2aLoSU => dp2a(true, false, false),
        Dp2aLoSS => dp2a(true, true, false),
        Dp2aHiUU => dp2a(false, false, true),
        Dp2aHiUS => dp2a(false, true, true),
        Dp2aHiSU => dp2a(true, false, true),
        Dp2aHiSS => dp2a(true, true, true),
    }
}

/// Whole products.
#[inline(always)]
pub fn mul_wide(sign: Sign, a: &Words, b: &Words) -> Wides {
    match sign {
        Sign::Unsigned => map2(a, b, |a, b| u64::from(a) * u64::from(b)),
        Sign::Signed => map2(a, b, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64),
    }
}

/// Magnitudes of differences, plus a third.
pub fn sad_wide(sign: Sign, a: &Wides, b: &Wides, c: &Wides) -> Wides {
    map3(a, b, c, |a, b, c| {
        let difference =
            if sign == Sign::Signed { (a as i64).abs_diff(b as i64) } else { a.abs_diff(b) };
        difference.wrapping_add(c)
    })
}

/// A comparison of 32-bit integers.
#[inline(always)]
pub fn cmp(test: IntTest, a: &Words, b: &Words) -> Mask {
    match test {
        IntTest::Eq => test2(a, b, |a, b| a == b),
        IntTest::Ne => test2(a, b, |a, b| a != b),
        IntTest::LtS => test2(a, b, |a, b| (a as i32) < b as i32),
        IntTest::LeS => test2(a, b, |a, b| a as i32 <= b as i32),
        IntTest::GtS => test2(a, b, |a, b| a as i32 > b as i32),
        IntTest::GeS => test2(a, b, |a, b| a as i32 >= b as i32),
        IntTest::LtU => test2(a, b, |a, b| a < b),
        IntTest::LeU => test2(a, b, |a, b| a <= b),
        IntTest::GtU => test2(a, b, |a, b| a > b),
        IntTest::GeU => test2(a, b, |a, b| a >= b),
    }
}

/// A comparison of 64-bit integers.
#[inline(always)]
pub fn cmp_wide(test: IntTest, a: &Wides, b: &Wides) -> Mask {
    match test {
        IntTest::Eq => test2(a, b, |a, b| a == b),
        IntTest::Ne => test2(a, b, |a, b| a != b),
        IntTest::LtS => test2(a, b, |a, b| (a as i64) < b as i64),
        IntTest::LeS => test2(a, b, |a, b| a as i64 <= b as i64),
        IntTest::GtS => test2(a, b, |a, b| a as i64 > b as i64),
        IntTest::GeS => test2(a, b, |a, b| a as i64 >= b as i64),
        IntTest::LtU => test2(a, b, |a, b| a < b),
        IntTest::LeU => test2(a, b, |a, b| a <= b),
        IntTest::GtU => test2(a, b, |a, b| a > b),
        IntTest::GeU => test2(a, b, |a, b| a >= b),
    }
}

/// Two predicates combined.
pub fn predicate(op: PredOp, a: Mask, b: Mask) -> Mask {
    match op {
        PredOp::And => a & b,
        PredOp::Or => a | b,
        PredOp::Xor => a ^ b,
        PredOp::AndNot => a & !b,
        PredOp::OrNot => a | !b,
        PredOp::Xnor => !(a ^ b),
        PredOp::Nand => !(a & b),
        PredOp::Nor => !(a | b),
    }
}

/// A SIMD operation as the library takes it.
pub fn simd(mods: &SimdMods, mask: u32) -> Simd {
    use simd::Operation;
    let operation = match mods.op {
        SimdOp::Add => Operation::Add,
        SimdOp::Sub => Operation::Sub,
        SimdOp::Avrg => Operation::Average,
        SimdOp::Absdiff => Operation::AbsDiff,
        SimdOp::Min => Operation::Min,
        SimdOp::Max => Operation::Max,
        SimdOp::SetEq => Operation::Eq,
        SimdOp::SetNe => Operation::Ne,
        SimdOp::SetLt => Operation::Lt,
        SimdOp::SetLe => Operation::Le,
        SimdOp::SetGt => Operation::Gt,
        SimdOp::SetGe => Operation::Ge,
    };
    Simd {
        operation,
        halves: mods.halves,
        a_signed: mods.a_signed,
        b_signed: mods.b_signed,
        signed: mods.signed,
        sat: mods.sat,
        add: mods.add,
        mask,
    }
}

/// Bits of a mask as words of 0 and 1.
pub fn spread(mask: Mask) -> Words {
    std::array::from_fn(|lane| mask >> lane & 1)
}
