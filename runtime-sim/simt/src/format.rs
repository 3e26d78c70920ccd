//! Formats of floats: how bits become a binary64 that has the same value, and how a number
//! becomes bits, rounded once.
//!
//! Results that lie between binary64 are handed over rounded to odd: of the two neighbours of the
//! exact value the one whose last bit is set. Rounding such a number to a format with at least two
//! bits less gives what rounding the exact one would (Boldo and Melquiond, "Emulation of a FMA and
//! correctly rounded sums: proved algorithms using rounding to odd", IEEE TC 2008).

/// How a number that lies between two floats becomes one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// To nearest, ties away from zero.
    NearestAway,
    /// Toward zero.
    Zero,
    /// Toward negative infinity.
    Down,
    /// Toward positive infinity.
    Up,
}

/// A format of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// A binary32 whose last 13 bits are zero.
    Tf32,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl Format {
    /// Bits of the significand with the hidden one, and the exponent of the least normal number.
    const fn shape(self) -> (u32, i32) {
        match self {
            Format::F16 => (11, -14),
            Format::Bf16 => (8, -126),
            Format::Tf32 => (11, -126),
            Format::F32 => (24, -126),
            Format::F64 => (53, -1022),
        }
    }

    /// The NaN that operations give.
    pub const fn nan(self) -> u64 {
        match self {
            Format::F16 | Format::Bf16 => 0x7fff,
            Format::Tf32 | Format::F32 => 0x7fff_ffff,
            Format::F64 => 0x7ff8_0000_0000_0000,
        }
    }

    /// Positive infinity.
    pub const fn infinity(self) -> u64 {
        match self {
            Format::F16 => 0x7c00,
            Format::Bf16 => 0x7f80,
            Format::Tf32 | Format::F32 => 0x7f80_0000,
            Format::F64 => 0x7ff0_0000_0000_0000,
        }
    }

    /// One.
    pub const fn one(self) -> u64 {
        match self {
            Format::F16 => 0x3c00,
            Format::Bf16 => 0x3f80,
            Format::Tf32 | Format::F32 => 0x3f80_0000,
            Format::F64 => 0x3ff0_0000_0000_0000,
        }
    }

    /// The sign bit.
    pub const fn sign(self) -> u64 {
        match self {
            Format::F16 | Format::Bf16 => 0x8000,
            Format::Tf32 | Format::F32 => 0x8000_0000,
            Format::F64 => 1 << 63,
        }
    }

    /// The least normal number.
    const fn least_normal(self) -> u64 {
        match self {
            Format::F16 => 0x0400,
            Format::Bf16 => 0x0080,
            Format::Tf32 | Format::F32 => 0x0080_0000,
            Format::F64 => 0x0010_0000_0000_0000,
        }
    }

    /// Whether the bits are a NaN.
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    /// Whether the bits are a subnormal number.
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & !self.sign();
        magnitude != 0 && magnitude < self.least_normal()
    }

    /// A zero of the same sign instead of a subnormal number.
    pub const fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign() } else { bits }
    }

    /// The value; a NaN for a NaN.
    pub fn to_f64(self, bits: u64) -> f64 {
        match self {
            Format::F16 => {
                let bits = bits as u32;
                let (exponent, fraction) = (bits >> 10 & 31, bits & 0x3ff);
                let magnitude = match exponent {
                    0 => f64::from(fraction) / 16_777_216.0,
                    31 if fraction == 0 => f64::INFINITY,
                    31 => return f64::NAN,
                    _ => {
                        let bits = u64::from(exponent + 1023 - 15) << 52;
                        f64::from_bits(bits | u64::from(fraction) << 42)
                    }
                };
                if bits & 0x8000 != 0 { -magnitude } else { magnitude }
            }
            Format::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
            Format::Tf32 | Format::F32 => f64::from(f32::from_bits(bits as u32)),
            Format::F64 => f64::from_bits(bits),
        }
    }

    /// The bits of a number that is exact or rounded to odd.
    pub fn from_f64(self, rounding: Rounding, x: f64) -> u64 {
        if x.is_nan() {
            return self.nan();
        }
        let bits = x.to_bits();
        let negative = bits >> 63 != 0;
        if x == 0.0 || x.is_infinite() {
            let magnitude = if x == 0.0 { 0 } else { self.infinity() };
            return magnitude | if negative { self.sign() } else { 0 };
        }
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match (bits >> 52 & 0x7ff) as i32 {
            0 => (fraction, -1074),
            biased => (fraction | 1 << 52, biased - 1075),
        };
        self.pack(rounding, negative, mantissa, exponent, false)
    }

    /// The same where subnormal results are flushed: those that are less than the least normal number once
    /// they are rounded as if exponents went on below it, as NVIDIA's devices do.
    #[inline]
    pub fn from_f64_flushed(self, rounding: Rounding, x: f64) -> u64 {
        let bits = self.from_f64(rounding, x);
        let (magnitude, least) = (bits & !self.sign(), self.least_normal());
        // Doubled, it is rounded at the place where its last bit would be.
        let is_tiny = magnitude < least
            || (magnitude == least && self.from_f64(rounding, 2.0 * x) & !self.sign() < least << 1);
        if is_tiny { bits & self.sign() } else { bits }
    }

    /// The bits of `mantissa * 2^exponent`, and a bit more than that where `more` says so (less
    /// than one more in the last place of `mantissa`, which has its top bit set then).
    pub fn pack(
        self,
        rounding: Rounding,
        negative: bool,
        mantissa: u64,
        exponent: i32,
        more: bool,
    ) -> u64 {
        let (precision, least) = self.shape();
        let sign = if negative { self.sign() } else { 0 };
        if mantissa == 0 {
            return sign;
        }
        // The top bit where it belongs, so that shifts only go right.
        let up = mantissa.leading_zeros();
        let (mantissa, exponent) = (mantissa << up, exponent - up as i32);
        let top = exponent + 63;
        // The exponent of the last place of the result.
        let last = top.max(least) - (precision as i32 - 1);
        let drop = (last - exponent) as u32;
        let (kept, below, half) = if drop > 64 {
            (0, 1_u128, 2)
        } else {
            let wide = u128::from(mantissa);
            (wide >> drop, wide & ((1 << drop) - 1), 1_u128 << drop >> 1)
        };
        let more_than_half = below > half || (below == half && more);
        let tie = below == half && !more;
        let inexact = below != 0 || more;
        let up = match rounding {
            Rounding::Nearest => more_than_half || (tie && kept & 1 != 0),
            Rounding::NearestAway => more_than_half || tie,
            Rounding::Zero => false,
            Rounding::Down => inexact && negative,
            Rounding::Up => inexact && !negative,
        };
        let kept = kept as u64 + u64::from(up);
        // A significand that is full carries into the exponent by itself.
        let steps = (last + precision as i32 - 1 - least) as u64;
        let magnitude = (steps << (precision - 1)) + kept;
        let magnitude = if self == Format::Tf32 { magnitude << 13 } else { magnitude };
        if magnitude < self.infinity() {
            return sign | magnitude;
        }
        let to_infinity = match rounding {
            Rounding::Nearest | Rounding::NearestAway => true,
            Rounding::Zero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        let greatest = if self == Format::Tf32 { 0x7f7f_e000 } else { self.infinity() - 1 };
        sign | if to_infinity { self.infinity() } else { greatest }
    }
}

/// `sum` rounded to odd, where the exact value is `error` more.
#[inline(always)]
fn odd(sum: f64, error: f64) -> f64 {
    let bits = sum.to_bits();
    // Not for NaN errors, which come of infinities.
    let inexact = error.abs() > 0.0 && bits & 1 == 0;
    let outward = (error > 0.0) == (sum > 0.0);
    let step = if outward { 1 } else { u64::MAX };
    f64::from_bits(bits.wrapping_add(if inexact { step } else { 0 }))
}

/// The sum rounded to odd (Knuth's error of a sum). No operand may be near overflow.
#[inline(always)]
pub fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let virtual_b = sum - a;
    let virtual_a = sum - virtual_b;
    odd(sum, (a - virtual_a) + (b - virtual_b))
}

/// The quotient rounded to odd, of numbers that are far from overflow and underflow.
pub fn div_odd(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    let rest = (-quotient).mul_add(b, a);
    odd(quotient, if b < 0.0 { -rest } else { rest })
}

/// The square root rounded to odd, of numbers that are far from overflow and underflow.
pub fn sqrt_odd(x: f64) -> f64 {
    let root = x.sqrt();
    odd(root, (-root).mul_add(root, x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every binary16 and bf16 has a value that rounds to itself in every direction.
    #[test]
    fn values_round_to_themselves() {
        for format in [Format::F16, Format::Bf16] {
            for bits in 0..=0xffff_u64 {
                let x = format.to_f64(bits);
                let expected = if format.is_nan(bits) { format.nan() } else { bits };
                for rounding in
                    [Rounding::Nearest, Rounding::NearestAway, Rounding::Zero, Rounding::Up]
                {
                    assert_eq!(format.from_f64(rounding, x), expected, "{format:?} {bits:#x}");
                }
            }
        }
    }

    /// Midpoints of neighbouring binary16, and what lies just beside them.
    #[test]
    fn midpoints_of_binary16() {
        for bits in 0..0x7bff_u64 {
            let (low, high) = (Format::F16.to_f64(bits), Format::F16.to_f64(bits + 1));
            let middle = (low + high) / 2.0;
            let round = |rounding, x| Format::F16.from_f64(rounding, x);
            assert_eq!(round(Rounding::Nearest, middle), bits + (bits & 1));
            assert_eq!(round(Rounding::NearestAway, middle), bits + 1);
            assert_eq!(round(Rounding::Nearest, middle.next_up()), bits + 1);
            assert_eq!(round(Rounding::Nearest, middle.next_down()), bits);
            assert_eq!(round(Rounding::Zero, high.next_down()), bits);
            assert_eq!(round(Rounding::Up, low.next_up()), bits + 1);
            assert_eq!(round(Rounding::Down, low.next_up()), bits);
            assert_eq!(round(Rounding::Down, -low.next_up()), 0x8000 | (bits + 1));
        }
    }

    /// The host's own conversion to binary32 is to nearest.
    #[test]
    fn binary32_as_the_host_rounds() {
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Exponents near those of binary32, and bits that often end in a tie.
            let exponent = 1023 - 160 + state % 320;
            let bits = exponent << 52 | (state >> 13 & !0 << (state >> 58) & ((1 << 52) - 1));
            let x = f64::from_bits(bits);
            let found = Format::F32.from_f64(Rounding::Nearest, x);
            assert_eq!(found as u32, (x as f32).to_bits(), "{x:e}");
        }
    }

    #[test]
    fn overflow_goes_where_the_direction_says() {
        let big = 65_520.0;
        assert_eq!(Format::F16.from_f64(Rounding::Nearest, big), 0x7c00);
        assert_eq!(Format::F16.from_f64(Rounding::Nearest, 65_519.99), 0x7bff);
        assert_eq!(Format::F16.from_f64(Rounding::Zero, 1e9), 0x7bff);
        assert_eq!(Format::F16.from_f64(Rounding::Down, 1e9), 0x7bff);
        assert_eq!(Format::F16.from_f64(Rounding::Up, 1e9), 0x7c00);
        assert_eq!(Format::F16.from_f64(Rounding::Down, -1e9), 0xfc00);
        assert_eq!(Format::Bf16.from_f64(Rounding::Zero, f64::MAX), 0x7f7f);
        assert_eq!(Format::Tf32.from_f64(Rounding::NearestAway, 1.0 + 0.5 / 1024.0), 0x3f80_2000);
        assert_eq!(Format::F16.from_f64(Rounding::Up, 1e-300), 1);
        assert_eq!(Format::F16.from_f64(Rounding::Nearest, -1e-300), 0x8000);
    }
}
