//! IEEE binary16 as bits, to and from binary64, which holds every binary16 exactly.
//!
//! The crate `half` does not round once from binary64: it drops the low 32 bits of the fraction, or
//! goes through binary32, so that a value just above the middle of two goes to the even one.

/// The value of binary16 bits. A NaN keeps its sign and the upper bits of its payload.
pub fn f16_to_f64(bits: u16) -> f64 {
    let sign = u64::from(bits >> 15) << 63;
    let exponent = u64::from(bits >> 10 & 0x1f);
    let fraction = u64::from(bits & 0x3ff);
    let magnitude = match exponent {
        0 => return f64::from_bits(sign | (fraction as f64 / 16_777_216.0).to_bits()),
        0x1f => 0x7ff << 52 | fraction << 42,
        _ => (exponent + 1023 - 15) << 52 | fraction << 42,
    };
    f64::from_bits(sign | magnitude)
}

/// The nearest binary16, halves to even. A NaN becomes the quiet one of its sign.
pub fn f64_to_f16(value: f64) -> u16 {
    let sign = ((value.to_bits() >> 63) as u16) << 15;
    let magnitude = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    // Halfway between the largest finite value and the next power of two, and above.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Below the least normal value the last place is 2^-24; the scaling is exact.
    if magnitude < 1.0 / 16384.0 {
        return sign | (magnitude * 16_777_216.0).round_ties_even() as u16;
    }
    let rebased = magnitude.to_bits() - ((1023 - 15) << 52);
    let kept = rebased >> 42;
    let rest = rebased & ((1 << 42) - 1);
    let half = 1 << 41;
    let up = rest > half || (rest == half && kept & 1 == 1);
    sign | (kept + u64::from(up)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back() {
        for bits in 0..=u16::MAX {
            let value = f16_to_f64(bits);
            if value.is_nan() {
                assert_eq!(f64_to_f16(value), bits & 0x8000 | 0x7e00);
            } else {
                assert_eq!(f64_to_f16(value), bits, "{value}");
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_with_halves_to_even() {
        // Between each pair of neighbours: below the middle, the middle, above it.
        for bits in 0..0x7bffu16 {
            let (low, high) = (f16_to_f64(bits), f16_to_f64(bits + 1));
            let middle = (low + high) / 2.0;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            assert_eq!(f64_to_f16(middle), even);
            assert_eq!(f64_to_f16(middle.next_down()), bits);
            assert_eq!(f64_to_f16(-middle.next_up()), 0x8000 | (bits + 1));
        }
        assert_eq!(f64_to_f16(65520.0), 0x7c00);
        assert_eq!(f64_to_f16(65520f64.next_down()), 0x7bff);
        assert_eq!(f64_to_f16(1e300), 0x7c00);
        assert_eq!(f64_to_f16(-1e-300), 0x8000);
    }
}
