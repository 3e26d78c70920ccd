//! How often shared memory is asked for one of its banks by an access of a warp: lanes that want
//! different words of a bank are served one after another, equal words go together.

use crate::{LANES, Mask, lanes_of};

/// Passes of an access of `bytes` a lane over `banks` banks of 4 bytes. Of an atomic operation lanes
/// with equal addresses go one after another as well.
pub fn passes(addresses: &[u64; LANES], mask: Mask, bytes: u32, banks: u32, atomic: bool) -> u32 {
    if mask == 0 {
        return 0;
    }
    let mut words = [0_u64; LANES * 8];
    let mut count = 0;
    for lane in lanes_of(mask) {
        let first = addresses[lane] / 4;
        let last = addresses[lane].saturating_add(u64::from(bytes).max(1) - 1) / 4;
        for word in (first..=last).take(8) {
            words[count] = word;
            count += 1;
        }
    }
    let words = &mut words[..count];
    if !words.is_sorted() {
        words.sort_unstable();
    }
    let mut asked = [0_u16; 256];
    let mut last = None;
    for &word in words.iter() {
        if atomic || last != Some(word) {
            asked[(word % u64::from(banks.clamp(1, 256))) as usize] += 1;
        }
        last = Some(word);
    }
    asked.into_iter().max().unwrap_or(0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides() {
        let of = |stride: u64, bytes, atomic| {
            let addresses = std::array::from_fn(|lane| lane as u64 * stride);
            passes(&addresses, Mask::MAX, bytes, 32, atomic)
        };
        assert_eq!(of(4, 4, false), 1);
        assert_eq!(of(8, 4, false), 2);
        assert_eq!(of(128, 4, false), 32);
        assert_eq!(of(132, 4, false), 1);
        assert_eq!(of(0, 4, false), 1);
        assert_eq!(of(0, 4, true), 32);
        assert_eq!(of(8, 8, false), 2);
        assert_eq!(of(16, 16, false), 4);
        assert_eq!(of(1, 1, false), 1);
        assert_eq!(passes(&[0; LANES], 0, 4, 32, false), 0);
    }
}
