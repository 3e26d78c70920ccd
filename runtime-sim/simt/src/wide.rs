//! Binary64 arithmetic: the host's where it is to nearest, and integers otherwise. A result that
//! is not exact is kept as 64 bits and the knowledge that there is more.

use crate::format::{Format, Rounding};
use crate::operation::{Binary, Mode, Unary, extremum, finish};

const F64: Format = Format::F64;

fn canonical(x: f64) -> u64 {
    if x.is_nan() { F64.nan() } else { x.to_bits() }
}

/// An operation on two binary64.
pub fn binary(op: Binary, mode: Mode, a: u64, b: u64) -> u64 {
    let (a, b) = if mode.ftz { (F64.flush(a), F64.flush(b)) } else { (a, b) };
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let nearest = match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Min | Binary::Max => return extremum(F64, op == Binary::Min, mode, a, b),
    };
    let special = !x.is_finite() || !y.is_finite() || (op == Binary::Div && y == 0.0);
    let bits = if mode.rounding == Rounding::Nearest || special {
        canonical(nearest)
    } else {
        let (p, q) = (parts(x), parts(y));
        match op {
            Binary::Add => sum(mode.rounding, widen(p), widen(q)),
            Binary::Sub => {
                sum(mode.rounding, widen(p), widen(Parts { negative: !q.negative, ..q }))
            }
            Binary::Mul => round(mode.rounding, product(p, q)),
            _ => quotient(mode.rounding, p, q),
        }
    };
    finish(F64, mode, bits)
}

/// `a * b + c`, rounded once.
pub fn fma(mode: Mode, a: u64, b: u64, c: u64) -> u64 {
    let flush = |bits| if mode.ftz { F64.flush(bits) } else { bits };
    let [x, y, z] = [a, b, c].map(|bits| f64::from_bits(flush(bits)));
    let bits = if mode.rounding == Rounding::Nearest || ![x, y, z].iter().all(|v| v.is_finite()) {
        canonical(x.mul_add(y, z))
    } else {
        sum(mode.rounding, product(parts(x), parts(y)), widen(parts(z)))
    };
    finish(F64, mode, bits)
}

/// A reciprocal or square root.
pub fn unary(op: Unary, mode: Mode, a: u64) -> u64 {
    let x = f64::from_bits(a);
    if op == Unary::Rcp {
        return binary(Binary::Div, mode, 1.0_f64.to_bits(), a);
    }
    if mode.rounding == Rounding::Nearest || !x.is_finite() || x <= 0.0 {
        return finish(F64, mode, canonical(x.sqrt()));
    }
    let Parts { mantissa, exponent, .. } = parts(x);
    // 64 bits of root need 128 bits of radicand, of even exponent.
    let up = (u128::from(mantissa).leading_zeros()) & !1;
    let up = if (exponent - up as i32) % 2 != 0 { up - 1 } else { up };
    let radicand = u128::from(mantissa) << up;
    let root = radicand.isqrt();
    let more = root * root != radicand;
    let exponent = (exponent - up as i32) / 2;
    finish(F64, mode, F64.pack(mode.rounding, false, root as u64, exponent, more))
}

/// A finite number: `mantissa * 2^exponent`.
#[derive(Clone, Copy)]
struct Parts {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

/// The same with a product's bits.
#[derive(Clone, Copy)]
struct WideParts {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

fn parts(x: f64) -> Parts {
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = (bits >> 52 & 0x7ff) as i32;
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    Parts { negative: bits >> 63 != 0, mantissa, exponent }
}

fn widen(p: Parts) -> WideParts {
    WideParts { negative: p.negative, mantissa: p.mantissa.into(), exponent: p.exponent }
}

fn product(p: Parts, q: Parts) -> WideParts {
    WideParts {
        negative: p.negative != q.negative,
        mantissa: u128::from(p.mantissa) * u128::from(q.mantissa),
        exponent: p.exponent + q.exponent,
    }
}

fn round(rounding: Rounding, p: WideParts) -> u64 {
    let zeros = p.mantissa.leading_zeros();
    if p.mantissa == 0 {
        return if p.negative { F64.sign() } else { 0 };
    }
    let top = p.mantissa << zeros;
    let exponent = p.exponent - zeros as i32 + 64;
    F64.pack(rounding, p.negative, (top >> 64) as u64, exponent, top as u64 != 0)
}

/// The sum, of which at least 64 bits are kept beside the knowledge of more.
fn sum(rounding: Rounding, p: WideParts, q: WideParts) -> u64 {
    if p.mantissa == 0 && q.mantissa == 0 {
        let negative =
            if p.negative == q.negative { p.negative } else { rounding == Rounding::Down };
        return if negative { F64.sign() } else { 0 };
    }
    if p.mantissa == 0 || q.mantissa == 0 {
        return round(rounding, if p.mantissa == 0 { q } else { p });
    }
    // Top bits at 125: two such numbers add up to no more than 127 bits.
    let place = |p: WideParts| {
        let up = p.mantissa.leading_zeros() as i32 - 2;
        WideParts { mantissa: p.mantissa << up, exponent: p.exponent - up, ..p }
    };
    let (p, q) = (place(p), place(q));
    let (big, small) = if p.exponent >= q.exponent { (p, q) } else { (q, p) };
    let apart = (big.exponent - small.exponent) as u32;
    // What is shifted out lives on in the last bit. Mantissas have at most 106 bits, so that
    // bits are lost only where the numbers are far apart and no top bits cancel.
    let shifted = match apart {
        0..126 => {
            let lost = small.mantissa & ((1 << apart) - 1) != 0;
            small.mantissa >> apart | u128::from(lost)
        }
        _ => 1,
    };
    if big.negative == small.negative {
        return round(rounding, WideParts { mantissa: big.mantissa + shifted, ..big });
    }
    let (negative, mantissa) = if big.mantissa >= shifted {
        (big.negative, big.mantissa - shifted)
    } else {
        (small.negative, shifted - big.mantissa)
    };
    if mantissa == 0 {
        return if rounding == Rounding::Down { F64.sign() } else { 0 };
    }
    round(rounding, WideParts { negative, mantissa, exponent: big.exponent })
}

fn quotient(rounding: Rounding, p: Parts, q: Parts) -> u64 {
    let negative = p.negative != q.negative;
    if p.mantissa == 0 {
        return if negative { F64.sign() } else { 0 };
    }
    // 127 bits by at most 64 give at least 63 bits; both have their top bits set first.
    let (up, down) = (p.mantissa.leading_zeros(), q.mantissa.leading_zeros());
    let dividend = u128::from(p.mantissa << up) << 63;
    let divisor = u128::from(q.mantissa << down);
    let exponent = (p.exponent - up as i32) - (q.exponent - down as i32) - 63;
    let result = dividend / divisor;
    let more = dividend % divisor != 0;
    // 63 or 64 bits: the last one takes what `pack` wants beside a full mantissa.
    if result >> 63 == 0 {
        let bits = (result << 1) as u64 | u64::from(more);
        return F64.pack(rounding, negative, bits, exponent - 1, false);
    }
    F64.pack(rounding, negative, result as u64, exponent, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float;

    fn mode(rounding: Rounding) -> Mode {
        Mode::plain(rounding)
    }

    const EDGES: &[f64] = &[
        0.0,
        1.0,
        1.5,
        3.0,
        f64::MIN_POSITIVE,
        5e-324,
        1e-310,
        f64::MAX,
        1.0 + f64::EPSILON,
        1.0 - f64::EPSILON / 2.0,
        1e200,
        1e-200,
        0.1,
        9007199254740993.0,
        4503599627370495.5,
        f64::INFINITY,
        f64::NAN,
    ];

    fn operands() -> Vec<u64> {
        let mut out: Vec<u64> = EDGES.iter().flat_map(|x| [x.to_bits(), (-x).to_bits()]).collect();
        let mut state = 7_u64;
        for _ in 0..60 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            out.push(state);
            out.push((state & ((1 << 52) - 1)) | (1023 + state % 5) << 52);
        }
        out
    }

    /// The integers rounded to nearest give what the host gives, so that the other directions,
    /// which differ in the last step only, can be believed.
    #[test]
    fn integers_round_to_nearest_as_the_host() {
        let args = operands();
        let finite = |bits: &u64| f64::from_bits(*bits).is_finite();
        for a in args.iter().copied().filter(finite) {
            for b in args.iter().copied().filter(finite) {
                let (x, y) = (f64::from_bits(a), f64::from_bits(b));
                let (p, q) = (parts(x), parts(y));
                let r = Rounding::Nearest;
                assert_eq!(sum(r, widen(p), widen(q)), (x + y).to_bits(), "{x:e} + {y:e}");
                assert_eq!(round(r, product(p, q)), (x * y).to_bits(), "{x:e} * {y:e}");
                if y != 0.0 {
                    assert_eq!(quotient(r, p, q), (x / y).to_bits(), "{x:e} / {y:e}");
                }
                for c in args.iter().copied().filter(finite).step_by(7) {
                    let z = f64::from_bits(c);
                    let expected = x.mul_add(y, z);
                    let found = sum(r, product(p, q), widen(parts(z)));
                    assert_eq!(found, expected.to_bits(), "{x:e} * {y:e} + {z:e}");
                }
            }
        }
    }

    /// Directed results are neighbours of the nearest one on the right side, or it itself.
    #[test]
    fn directions_enclose_the_nearest() {
        let args = operands();
        for op in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div] {
            for &a in &args {
                for &b in &args {
                    let run = |r| f64::from_bits(binary(op, mode(r), a, b));
                    let nearest = run(Rounding::Nearest);
                    let (down, up) = (run(Rounding::Down), run(Rounding::Up));
                    if nearest.is_nan() {
                        assert!(down.is_nan() && up.is_nan());
                        continue;
                    }
                    assert!(down <= nearest && nearest <= up);
                    assert!(down == up || down.next_up() == up, "{op:?} {a:#x} {b:#x}");
                    let zero = run(Rounding::Zero);
                    assert_eq!(zero, if down >= 0.0 { down } else { up });
                }
            }
        }
        for &a in &args {
            let run = |r| f64::from_bits(unary(Unary::Sqrt, mode(r), a));
            let (down, near, up) = (run(Rounding::Down), run(Rounding::Nearest), run(Rounding::Up));
            if near.is_nan() {
                continue;
            }
            assert!(down <= near && near <= up && (down == up || down.next_up() == up));
            // Whether it is exact is known from the square of the root.
            let exact = near.mul_add(near, -f64::from_bits(a)) == 0.0;
            if near.is_finite() && near > 1e-100 && near < 1e100 {
                assert_eq!(down == up, exact, "{a:#x}");
            }
        }
    }

    /// By hand: 1 + 2^-53 lies half way between 1 and 1 + 2^-52; 1/3 below its nearest or above.
    #[test]
    fn by_hand() {
        let one = 1.0_f64.to_bits();
        let tiny = 2.0_f64.powi(-60).to_bits();
        let add = |r, b| binary(Binary::Add, mode(r), one, b);
        assert_eq!(add(Rounding::Up, tiny), one + 1);
        assert_eq!(add(Rounding::Zero, tiny), one);
        assert_eq!(binary(Binary::Sub, mode(Rounding::Down), one, tiny), one - 1);
        let third = |r| binary(Binary::Div, mode(r), one, 3.0_f64.to_bits());
        assert_eq!(third(Rounding::Down), 0x3fd5_5555_5555_5555);
        assert_eq!(third(Rounding::Up), 0x3fd5_5555_5555_5556);
        // x - x is +0, toward negative infinity -0.
        assert_eq!(binary(Binary::Sub, mode(Rounding::Down), one, one), 1 << 63);
        assert_eq!(binary(Binary::Sub, mode(Rounding::Up), one, one), 0);
        let max = f64::MAX.to_bits();
        assert_eq!(binary(Binary::Add, mode(Rounding::Zero), max, max), max);
        assert_eq!(binary(Binary::Add, mode(Rounding::Up), max, max), F64.infinity());
        assert_eq!(
            unary(Unary::Sqrt, mode(Rounding::Up), 2.0_f64.to_bits()),
            0x3ff6_a09e_667f_3bcd
        );
        assert_eq!(
            unary(Unary::Sqrt, mode(Rounding::Down), 2.0_f64.to_bits()),
            0x3ff6_a09e_667f_3bcc
        );
        // 2^-1074 halved goes to itself upward, to zero otherwise.
        let half = 0.5_f64.to_bits();
        assert_eq!(binary(Binary::Mul, mode(Rounding::Up), 1, half), 1);
        assert_eq!(binary(Binary::Mul, mode(Rounding::Zero), 1, half), 0);
        assert_eq!(float::fma(F64, mode(Rounding::Down), 1, half, 1 << 63 | 1), 1 << 63 | 1);
    }
}
