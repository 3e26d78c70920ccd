//! What the grid operations compute that are functions of their operands alone: PTX ISA manual,
//! section 9.7. Written with exact integers and explicit rounding; approximate functions are
//! those of binary64, rounded to nearest once.

mod convert;
mod exact;
mod float;
mod integer;

use nbcc_ir::{AtomOp, FloatArith, FloatFormat, FloatOp, IntType, NumType, ReduxOp, SimtOp};

/// The bits of both results (the second is zero where there is one only) of an operation on the
/// bits of its operands; `None` for operations that are no arithmetic
/// ([`SimtOp::is_arithmetic`]). The signature must be right.
pub fn evaluate_simt(op: &SimtOp, args: &[u64]) -> Option<[u64; 2]> {
    let arg = |n: usize| args.get(n).copied().unwrap_or(0);
    let all = [arg(0), arg(1), arg(2)];
    let [a, b, c] = all;
    let result = match op {
        SimtOp::Float(arith) => {
            halves(arith.format, all, |format, args| float::arithmetic(arith, format, args))
        }
        &SimtOp::Approx(op, format, ftz) => {
            halves(format, all, |format, [a, b, _]| float::approximate(op, format, ftz, [a, b]))
        }
        SimtOp::Convert(conversion) => convert::convert(conversion, [a, b]),
        SimtOp::Compare(compare) => {
            let format = compare.format.element();
            let test = |a, b| u64::from(float::compare(compare.test, format, compare.ftz, a, b));
            if compare.format.is_packed() {
                return Some([test(a & 0xffff, b & 0xffff), test(a >> 16, b >> 16)]);
            }
            test(a, b)
        }
        SimtOp::Copysign(format) => {
            let sign = exact::layout(*format).sign();
            (a & sign) | (b & !sign)
        }
        SimtOp::Testp(property, format) => u64::from(float::property(*property, *format, a)),
        SimtOp::MulHigh(ty) => integer::multiply_high(*ty, a, b),
        SimtOp::IntDiv(ty) => integer::divide(*ty, a, b),
        SimtOp::IntRem(ty) => integer::remainder(*ty, a, b),
        SimtOp::AddSat => integer::saturate(integer::s32(a) + integer::s32(b)),
        SimtOp::SubSat => integer::saturate(integer::s32(a) - integer::s32(b)),
        SimtOp::MadHighSat => {
            let high = integer::s32(integer::multiply_high(IntType::S32, a, b));
            integer::saturate(high + integer::s32(c))
        }
        SimtOp::Popc(_) => u64::from(a.count_ones()),
        SimtOp::Clz(width) => u64::from(a.leading_zeros() - (64 - width.bits())),
        &SimtOp::Bfind(ty, amount) => integer::bfind(ty, amount, a),
        SimtOp::Brev(width) => integer::reverse(*width, a),
        SimtOp::Fns => integer::find_nth_set(a, b, c),
        SimtOp::Bfe(ty) => integer::extract(*ty, a, b, c),
        SimtOp::Bfi(width) => integer::insert(*width, a, b, c, arg(3)),
        SimtOp::Bmsk(mode) => integer::bit_mask(*mode, a, b),
        &SimtOp::Szext(signed, mode) => integer::extend(signed, mode, a, b),
        SimtOp::Prmt(mode) => integer::permute(*mode, a, b, c),
        SimtOp::Lop3(table) => integer::logic(*table, a, b, c),
        &SimtOp::Shf(direction, mode) => integer::funnel(direction, mode, a, b, c),
        &SimtOp::Dp4a(x, y) => integer::dot4(x, y, all),
        &SimtOp::Dp2a(x, y, high) => integer::dot2(x, y, high, all),
        SimtOp::Simd(simd) => integer::simd(simd, all),
        _ => return None,
    };
    Some([result, 0])
}

/// Applies a function to both halves of a packed format, or to the whole of another.
fn halves(format: FloatFormat, args: [u64; 3], f: impl Fn(FloatFormat, [u64; 3]) -> u64) -> u64 {
    if !format.is_packed() {
        return f(format, args);
    }
    let element = format.element();
    f(element, args.map(|bits| bits >> 16)) << 16 | f(element, args.map(|bits| bits & 0xffff))
}

/// What memory holds after an atomic operation: of what it held, and the operands. `global` memory
/// flushes subnormal `f32` sums.
pub fn atomic(op: AtomOp, ty: NumType, global: bool, old: u64, operands: [u64; 2]) -> u64 {
    let [b, c] = operands;
    let format = match ty {
        NumType::Int(int) => return atomic_integer(op, int, old, [b, c]),
        NumType::Float(format) => format,
    };
    let op = match op {
        AtomOp::Add => FloatOp::Add,
        AtomOp::Min => FloatOp::Min,
        AtomOp::Max => FloatOp::Max,
        AtomOp::Cas => return if old == b { c } else { old },
        AtomOp::Exch | AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Inc | AtomOp::Dec => {
            return b;
        }
    };
    let ftz = global && format == FloatFormat::F32;
    let arith = FloatArith { ftz, ..FloatArith::new(op, format) };
    evaluate_simt(&SimtOp::Float(arith), &[old, b]).map_or(0, |[sum, _]| sum)
}

fn atomic_integer(op: AtomOp, ty: IntType, old: u64, [b, c]: [u64; 2]) -> u64 {
    let less = |x: u64, y: u64| {
        let up = 64 - ty.bits();
        if ty.is_signed() { ((x << up) as i64) < ((y << up) as i64) } else { x < y }
    };
    match op {
        AtomOp::And => old & b,
        AtomOp::Or => old | b,
        AtomOp::Xor => old ^ b,
        AtomOp::Exch => b,
        AtomOp::Add => old.wrapping_add(b) & (u64::MAX >> (64 - ty.bits())),
        AtomOp::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomOp::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        AtomOp::Min => {
            if less(b, old) {
                b
            } else {
                old
            }
        }
        AtomOp::Max => {
            if less(old, b) {
                b
            } else {
                old
            }
        }
        AtomOp::Cas => {
            if old == b {
                c
            } else {
                old
            }
        }
    }
}

/// The reduction of two lanes' values by `redux`.
pub fn reduce(op: ReduxOp, ty: IntType, a: u64, b: u64) -> u64 {
    let atom = match op {
        ReduxOp::Add => AtomOp::Add,
        ReduxOp::Min => AtomOp::Min,
        ReduxOp::Max => AtomOp::Max,
        ReduxOp::And => AtomOp::And,
        ReduxOp::Or => AtomOp::Or,
        ReduxOp::Xor => AtomOp::Xor,
    };
    atomic_integer(atom, ty, a, [b, 0])
}
