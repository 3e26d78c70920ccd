//! The integer operations of grids that are no core operations: PTX ISA manual, sections 9.7.1
//! (integer arithmetic), 9.7.8 (logic and shifts), 9.7.9 (permutation), 9.7.17 (video).

use nbcc_ir::{Direction, EdgeMode, IntType, PrmtMode, Simd, SimdOp, Width};

fn mask(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// The signed value of the low bits.
fn signed(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

fn value(ty: IntType, bits: u64) -> i128 {
    if ty.is_signed() { i128::from(signed(bits, ty.bits())) } else { i128::from(bits) }
}

pub(super) fn multiply_high(ty: IntType, a: u64, b: u64) -> u64 {
    // Unsigned 64-bit factors fill 128 bits.
    let product = match ty.is_signed() {
        true => (value(ty, a) * value(ty, b)) as u128,
        false => u128::from(a) * u128::from(b),
    };
    (product >> ty.bits()) as u64 & mask(ty.bits())
}

pub(super) fn divide(ty: IntType, a: u64, b: u64) -> u64 {
    if b == 0 {
        return mask(ty.bits());
    }
    (value(ty, a) / value(ty, b)) as u64 & mask(ty.bits())
}

pub(super) fn remainder(ty: IntType, a: u64, b: u64) -> u64 {
    if b == 0 {
        return mask(ty.bits());
    }
    (value(ty, a) % value(ty, b)) as u64 & mask(ty.bits())
}

/// A value as `i32`, clamped.
pub(super) fn saturate(value: i64) -> u64 {
    let clamped = value.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
    u64::from(clamped as u32)
}

pub(super) fn s32(bits: u64) -> i64 {
    signed(bits, 32)
}

pub(super) fn bfind(ty: IntType, amount: bool, a: u64) -> u64 {
    let bits = ty.bits();
    let a = if ty.is_signed() && signed(a, bits) < 0 { !a & mask(bits) } else { a };
    if a == 0 {
        return mask(32);
    }
    let position = 63 - a.leading_zeros();
    u64::from(if amount { bits - 1 - position } else { position })
}

pub(super) fn reverse(width: Width, a: u64) -> u64 {
    a.reverse_bits() >> (64 - width.bits())
}

/// `fns`: the n-th set bit counted from a base.
pub(super) fn find_nth_set(word: u64, base: u64, offset: u64) -> u64 {
    if base > 31 {
        return mask(32);
    }
    let offset = s32(offset);
    let set = |at: &u64| word >> at & 1 == 1;
    let found = match offset {
        0 => Some(base).filter(|at| set(at)),
        1.. => (base..32).filter(set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(mask(32))
}

pub(super) fn extract(ty: IntType, a: u64, position: u64, length: u64) -> u64 {
    let bits = ty.bits();
    let (position, length) = ((position & 255) as u32, (length & 255) as u32);
    if length == 0 {
        return 0;
    }
    // Bits above the operand are its sign where it is signed, else zero.
    let wide = value(ty, a);
    let sign_at = (position + length - 1).min(bits - 1);
    let sign = ty.is_signed() && wide >> sign_at & 1 == 1;
    let field = if position >= bits { 0 } else { a >> position };
    let kept = length.min(bits - position.min(bits));
    let field = field & mask(kept);
    (if sign { field | !mask(kept) } else { field }) & mask(bits)
}

pub(super) fn insert(width: Width, a: u64, b: u64, position: u64, length: u64) -> u64 {
    let bits = width.bits();
    let (position, length) = ((position & 255) as u32, (length & 255) as u32);
    if position >= bits || length == 0 {
        return b;
    }
    let field = mask(length.min(bits - position)) << position;
    (b & !field) | (a << position & field)
}

/// A position or length of 32-bit fields.
fn edge(mode: EdgeMode, amount: u64) -> u32 {
    match mode {
        EdgeMode::Clamp => amount.min(32) as u32,
        EdgeMode::Wrap => (amount & 31) as u32,
    }
}

pub(super) fn bit_mask(mode: EdgeMode, position: u64, length: u64) -> u64 {
    let (position, length) = (edge(mode, position), edge(mode, length));
    mask(length) << position & mask(32)
}

pub(super) fn extend(is_signed: bool, mode: EdgeMode, a: u64, length: u64) -> u64 {
    match edge(mode, length) {
        0 => 0,
        32.. => a,
        bits if is_signed => signed(a & mask(bits), bits) as u64 & mask(32),
        bits => a & mask(bits),
    }
}

pub(super) fn permute(mode: PrmtMode, a: u64, b: u64, selector: u64) -> u64 {
    let bytes = a | b << 32;
    let byte = |n: u64| bytes >> (8 * (n & 7)) & 0xff;
    let pick = |from: [u64; 4]| (0..4).fold(0, |out, n| out | byte(from[n]) << (8 * n));
    let s = selector & 3;
    match mode {
        PrmtMode::Index => (0..4).fold(0, |out, n| {
            let control = selector >> (4 * n) & 0xf;
            let picked = byte(control);
            let replicated = if picked & 0x80 != 0 { 0xff } else { 0 };
            out | (if control & 8 != 0 { replicated } else { picked }) << (8 * n)
        }),
        PrmtMode::F4e => pick([s, s + 1, s + 2, s + 3]),
        PrmtMode::B4e => pick([s, s + 7, s + 6, s + 5]),
        PrmtMode::Rc8 => pick([s; 4]),
        PrmtMode::Ecl => pick([0, 1, 2, 3].map(|n: u64| n.max(s))),
        PrmtMode::Ecr => pick([0, 1, 2, 3].map(|n: u64| n.min(s))),
        PrmtMode::Rc16 => {
            let low = (s & 1) * 2;
            pick([low, low + 1, low, low + 1])
        }
    }
}

/// The function with a truth table, whose bit `4a + 2b + c` is its value.
pub(super) fn logic(table: u8, a: u64, b: u64, c: u64) -> u64 {
    let minterm = |n: u8| {
        let pick = |bit: u8, x: u64| if n & bit != 0 { x } else { !x };
        pick(4, a) & pick(2, b) & pick(1, c)
    };
    let terms = (0..8).filter(|n| table >> n & 1 == 1).map(minterm);
    terms.fold(0, |out, term| out | term) & mask(32)
}

pub(super) fn funnel(direction: Direction, mode: EdgeMode, low: u64, high: u64, by: u64) -> u64 {
    let by = edge(mode, by);
    let both = high << 32 | low;
    match direction {
        Direction::Left => ((u128::from(both) << by) >> 32) as u64 & mask(32),
        Direction::Right => both >> by & mask(32),
    }
}

fn lane(word: u64, lane: u32, bits: u32, is_signed: bool) -> i64 {
    let field = word >> (lane * bits) & mask(bits);
    if is_signed { signed(field, bits) } else { field as i64 }
}

pub(super) fn dot4(a_signed: bool, b_signed: bool, [a, b, c]: [u64; 3]) -> u64 {
    let products = (0..4).map(|n| lane(a, n, 8, a_signed) * lane(b, n, 8, b_signed));
    (c as i64).wrapping_add(products.sum()) as u64 & mask(32)
}

pub(super) fn dot2(a_signed: bool, b_signed: bool, high: bool, [a, b, c]: [u64; 3]) -> u64 {
    let first = if high { 2 } else { 0 };
    let products = (0..2).map(|n| lane(a, n, 16, a_signed) * lane(b, first + n, 8, b_signed));
    (c as i64).wrapping_add(products.sum()) as u64 & mask(32)
}

pub(super) fn simd(simd: &Simd, [a, b, c]: [u64; 3]) -> u64 {
    let bits = 32 / u32::from(simd.lanes);
    let (least, greatest) = match simd.dst_signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    let (mut packed, mut total) = (0, c as i64);
    for n in 0..u32::from(simd.lanes) {
        if simd.mask >> n & 1 == 0 {
            packed |= c & mask(bits) << (n * bits);
            continue;
        }
        let (x, y) = (lane(a, n, bits, simd.a_signed), lane(b, n, bits, simd.b_signed));
        let result: i64 = match simd.op {
            SimdOp::Add => x + y,
            SimdOp::Sub => x - y,
            SimdOp::Avrg => {
                let sum = x + y;
                (sum + i64::from(sum >= 0)) >> 1
            }
            SimdOp::Absdiff => (x - y).abs(),
            SimdOp::Min => x.min(y),
            SimdOp::Max => x.max(y),
            SimdOp::SetEq => i64::from(x == y),
            SimdOp::SetNe => i64::from(x != y),
            SimdOp::SetLt => i64::from(x < y),
            SimdOp::SetLe => i64::from(x <= y),
            SimdOp::SetGt => i64::from(x > y),
            SimdOp::SetGe => i64::from(x >= y),
        };
        let result = if simd.sat { result.clamp(least, greatest) } else { result };
        // In place it is cut to its bits; the sum takes it whole.
        packed |= (result as u64 & mask(bits)) << (n * bits);
        total += result;
    }
    if simd.add { total as u64 & mask(32) } else { packed }
}
