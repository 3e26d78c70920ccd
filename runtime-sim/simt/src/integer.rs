//! Integer operations of PTX that are no operation of the host (PTX ISA, sections 9.7.1, 9.7.2
//! and 9.7.8), on 32 and 64 bits.

/// The signed quotient toward zero: all ones by zero, the dividend for the least by -1.
pub fn div_s32(a: u32, b: u32) -> u32 {
    if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 }
}

/// The signed remainder: all ones by zero.
pub fn rem_s32(a: u32, b: u32) -> u32 {
    if b == 0 { u32::MAX } else { (a as i32).wrapping_rem(b as i32) as u32 }
}

/// The signed quotient of 64 bits.
pub fn div_s64(a: u64, b: u64) -> u64 {
    if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }
}

/// The signed remainder of 64 bits.
pub fn rem_s64(a: u64, b: u64) -> u64 {
    if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 }
}

/// The high half of a signed product.
pub fn mulhi_s32(a: u32, b: u32) -> u32 {
    ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
}

/// The high half of an unsigned product.
pub fn mulhi_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// The high half of a signed product of 64 bits.
pub fn mulhi_s64(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}

/// The high half of an unsigned product of 64 bits.
pub fn mulhi_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// The high half of a signed product plus `c`, limited to the range.
pub fn madhi_sat(a: u32, b: u32, c: u32) -> u32 {
    (mulhi_s32(a, b) as i32).saturating_add(c as i32) as u32
}

/// `length` bits of `a` from bit `position`, extended: zeros or the sign, which is the top bit of
/// the field, or of `a` where the field reaches beyond it.
pub fn bfe(bits: u32, signed: bool, a: u64, position: u32, length: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let a = if bits == 32 { a & 0xffff_ffff } else { a };
    let msb = bits - 1;
    let sign = if !signed || length == 0 { 0 } else { a >> (position + length - 1).min(msb) & 1 };
    let taken = length.min(bits.saturating_sub(position));
    let field = if taken == 0 { 0 } else { a >> position & (u64::MAX >> (64 - taken)) };
    let filled = if sign != 0 && taken < 64 { field | u64::MAX << taken } else { field };
    if bits == 32 { filled & 0xffff_ffff } else { filled }
}

/// `b` with `length` bits from bit `position` replaced by the low bits of `a`.
pub fn bfi(bits: u32, a: u64, b: u64, position: u32, length: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let taken = length.min(bits.saturating_sub(position));
    if taken == 0 {
        return b;
    }
    let mask = (u64::MAX >> (64 - taken)) << position;
    b & !mask | a << position & mask
}

/// The position of the highest bit unlike the sign (signed) or set; all ones where there is none.
/// With `shift` what brings it to the top.
pub fn bfind(bits: u32, signed: bool, shift: bool, a: u64) -> u32 {
    let negative = signed && a >> (bits - 1) & 1 != 0;
    let a = if negative { !a } else { a };
    let a = if bits == 32 { a & 0xffff_ffff } else { a };
    if a == 0 {
        return u32::MAX;
    }
    let position = 63 - a.leading_zeros();
    if shift { bits - 1 - position } else { position }
}

/// The position of the `offset`th set bit of `mask` from bit `base`: upward for a positive
/// offset, downward for a negative one; bit `base` itself for zero. All ones where there is none.
pub fn fns(mask: u32, base: u32, offset: u32) -> u32 {
    let offset = offset as i32;
    if base > 31 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let mut position = base as i32;
    let mut count = 0_u32;
    let step = if offset > 0 { 1 } else { -1 };
    while (0..32).contains(&position) {
        if mask >> position & 1 != 0 {
            count += 1;
            if count == offset.unsigned_abs() {
                return position as u32;
            }
        }
        position += step;
    }
    u32::MAX
}

/// Ones in `width` bits from bit `position`.
pub fn bmsk(wrap: bool, position: u32, width: u32) -> u32 {
    let (position, width) =
        if wrap { (position & 31, width & 31) } else { (position.min(32), width.min(32)) };
    let ones = if width == 32 { u32::MAX } else { (1 << width) - 1 };
    if position == 32 { 0 } else { ones << position }
}

/// The low `width` bits extended.
pub fn szext(wrap: bool, signed: bool, a: u32, width: u32) -> u32 {
    let width = if wrap { width & 31 } else { width.min(32) };
    match width {
        0 => 0,
        32 => a,
        _ if signed => ((a << (32 - width)) as i32 >> (32 - width)) as u32,
        _ => a & ((1 << width) - 1),
    }
}

/// Four bytes of `b:a` by four selectors of four bits, whose top bit replicates the sign.
pub fn prmt(a: u32, b: u32, selectors: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut out = 0;
    for place in 0..4 {
        let selector = selectors >> (4 * place) & 15;
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        out |= u32::from(byte) << (8 * place);
    }
    out
}

/// The fixed permutations of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permutation {
    /// Four selectors.
    Index,
    /// Four bytes upward.
    Forward,
    /// Four bytes downward.
    Backward,
    /// A byte four times.
    Replicate8,
    /// Edge clamp left.
    EdgeLeft,
    /// Edge clamp right.
    EdgeRight,
    /// A half twice.
    Replicate16,
}

impl Permutation {
    /// The selectors for `c`, least significant first as in `prmt`.
    pub fn selectors(self, c: u32) -> u32 {
        const fn table(rows: [u32; 4], c: u32) -> u32 {
            rows[(c & 3) as usize]
        }
        // Rows as in the manual, from selector 3 down to 0.
        match self {
            Permutation::Index => c,
            Permutation::Forward => table([0x3210, 0x4321, 0x5432, 0x6543], c),
            Permutation::Backward => table([0x5670, 0x6701, 0x7012, 0x0123], c),
            Permutation::Replicate8 => table([0x0000, 0x1111, 0x2222, 0x3333], c),
            Permutation::EdgeLeft => table([0x3210, 0x3211, 0x3222, 0x3333], c),
            Permutation::EdgeRight => table([0x0000, 0x1110, 0x2210, 0x3210], c),
            Permutation::Replicate16 => table([0x1010, 0x3232, 0x1010, 0x3232], c),
        }
    }
}

/// The double register `high:low` shifted by `amount`: its high half to the left, its low half to
/// the right.
pub fn shf(left: bool, wrap: bool, low: u32, high: u32, amount: u32) -> u32 {
    let n = if wrap { amount & 31 } else { amount.min(32) };
    let both = u64::from(high) << 32 | u64::from(low);
    if left { (both << n >> 32) as u32 } else { (both >> n) as u32 }
}

/// The function of three bits with a truth table, bit by bit.
#[inline(always)]
pub fn lop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    let mut out = 0;
    for row in 0..8_u32 {
        if table >> row & 1 != 0 {
            let pick = |x: u32, bit: u32| if row & bit != 0 { x } else { !x };
            out |= pick(a, 4) & pick(b, 2) & pick(c, 1);
        }
    }
    out
}

fn byte(x: u32, n: u32, signed: bool) -> i64 {
    let byte = (x >> (8 * n)) as u8;
    if signed { i64::from(byte as i8) } else { i64::from(byte) }
}

/// The sum of the products of four bytes each, plus `c`.
pub fn dp4a(a_signed: bool, b_signed: bool, a: u32, b: u32, c: u32) -> u32 {
    let products: i64 = (0..4).map(|n| byte(a, n, a_signed) * byte(b, n, b_signed)).sum();
    c.wrapping_add(products as u32)
}

/// The sum of the products of the halves of `a` and two bytes of `b`, the low or high ones, plus
/// `c`.
pub fn dp2a(a_signed: bool, b_signed: bool, high: bool, a: u32, b: u32, c: u32) -> u32 {
    let half = |n: u32| {
        let half = (a >> (16 * n)) as u16;
        if a_signed { i64::from(half as i16) } else { i64::from(half) }
    };
    let first = if high { 2 } else { 0 };
    let products: i64 = (0..2).map(|n| half(n) * byte(b, first + n, b_signed)).sum();
    c.wrapping_add(products as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_has_no_traps() {
        assert_eq!(div_s32(7, 0), u32::MAX);
        assert_eq!(rem_s32(7, 0), u32::MAX);
        assert_eq!(rem_s64(7, 0), u64::MAX);
        assert_eq!(div_s32(i32::MIN as u32, u32::MAX), i32::MIN as u32);
        assert_eq!(rem_s64(i64::MIN as u64, u64::MAX), 0);
        assert_eq!(div_s32(-7_i32 as u32, 2), -3_i32 as u32);
        assert_eq!(rem_s32(-7_i32 as u32, 2), -1_i32 as u32);
    }

    #[test]
    fn fields_at_and_past_the_end() {
        assert_eq!(bfe(32, false, 0xdead_beef, 8, 8), 0xbe);
        assert_eq!(bfe(32, true, 0xdead_beef, 8, 8), 0xffff_ffbe);
        // Beyond the top: the sign bit fills.
        assert_eq!(bfe(32, true, 0x8000_0000, 28, 8), 0xffff_fff8);
        assert_eq!(bfe(32, false, 0x8000_0000, 28, 8), 8);
        assert_eq!(bfe(32, true, 0x8000_0000, 40, 8), 0xffff_ffff);
        assert_eq!(bfe(32, true, 0x7fff_ffff, 40, 8), 0);
        assert_eq!(bfe(32, true, 0xffff_ffff, 4, 0), 0);
        assert_eq!(bfe(64, true, 1 << 63, 63, 1), u64::MAX);
        assert_eq!(bfe(64, false, u64::MAX, 0, 64), u64::MAX);
        // Only the low eight bits of position and length count.
        assert_eq!(bfe(32, false, 0xdead_beef, 0x108, 0x208), 0xbe);
        assert_eq!(bfi(32, 0xff, 0x1234_5678, 8, 8), 0x1234_ff78);
        assert_eq!(bfi(32, 0xff, 0x1234_5678, 28, 8), 0xf234_5678);
        assert_eq!(bfi(32, 0xff, 0x1234_5678, 32, 8), 0x1234_5678);
        assert_eq!(bfi(64, u64::MAX, 0, 0, 64), u64::MAX);
    }

    #[test]
    fn searches() {
        assert_eq!(bfind(32, false, false, 0), u32::MAX);
        assert_eq!(bfind(32, true, false, 0xffff_ffff), u32::MAX);
        assert_eq!(bfind(32, true, false, 0xffff_fffe), 0);
        assert_eq!(bfind(32, false, true, 1), 31);
        assert_eq!(bfind(64, false, false, 1 << 40), 40);
        assert_eq!(fns(0b1010_0110, 0, 3), 5);
        assert_eq!(fns(0b1010_0110, 7, -2_i32 as u32), 5);
        assert_eq!(fns(0b1010_0110, 1, 0), 1);
        assert_eq!(fns(0b1010_0110, 0, 0), u32::MAX);
        assert_eq!(fns(0b1010_0110, 0, 5), u32::MAX);
    }

    #[test]
    fn masks_and_extensions() {
        assert_eq!(bmsk(false, 4, 8), 0xff0);
        assert_eq!(bmsk(false, 40, 8), 0);
        assert_eq!(bmsk(false, 0, 40), u32::MAX);
        assert_eq!(bmsk(true, 33, 34), 6);
        assert_eq!(szext(false, true, 0x80, 8), 0xffff_ff80);
        assert_eq!(szext(false, false, 0xfff, 40), 0xfff);
        assert_eq!(szext(true, true, 0xff, 32), 0);
    }

    #[test]
    fn permutations_of_the_manual() {
        let (a, b) = (0x0302_0100, 0x0706_0504);
        assert_eq!(prmt(a, b, 0x7531), 0x0705_0301);
        assert_eq!(prmt(0x80, 0, 0x0008), 0x8080_80ff);
        let fixed = |p: Permutation, c| prmt(a, b, p.selectors(c));
        assert_eq!(fixed(Permutation::Forward, 3), 0x0605_0403);
        assert_eq!(fixed(Permutation::Backward, 0), 0x0506_0700);
        assert_eq!(fixed(Permutation::Backward, 3), 0x0001_0203);
        assert_eq!(fixed(Permutation::EdgeLeft, 2), 0x0302_0202);
        assert_eq!(fixed(Permutation::EdgeRight, 1), 0x0101_0100);
        assert_eq!(fixed(Permutation::Replicate16, 1), 0x0302_0302);
    }

    #[test]
    fn shifts_of_double_registers() {
        assert_eq!(shf(true, false, 0x8000_0000, 1, 1), 3);
        assert_eq!(shf(true, false, 0xdead_beef, 1, 99), 0xdead_beef);
        assert_eq!(shf(false, false, 1, 0xdead_beef, 32), 0xdead_beef);
        assert_eq!(shf(false, true, 0xdead_beef, 1, 32), 0xdead_beef);
    }

    #[test]
    fn dot_products() {
        assert_eq!(dp4a(false, false, 0x0102_0304, 0x0101_0101, 5), 15);
        assert_eq!(dp4a(true, false, 0xff00_0000, 0xff00_0000, 0), -255_i32 as u32);
        assert_eq!(dp2a(true, true, false, 0xffff_0002, 0x0000_0203, 1), 5);
        assert_eq!(dp2a(false, true, true, 0x0001_0002, 0xff03_0000, 0), 5);
        assert_eq!(lop3(0x96, 0b1100, 0b1010, 0b0110), 0);
        assert_eq!(lop3(0xe8, 0b1100, 0b1010, 0b0110), 0b1110);
    }
}
