//! How often shared memory is asked for one of its banks by an access of a warp: lanes that want
//! different words of a bank are served one after another, equal words go together.

use crate::{LANES, Mask, lanes_of};

/// Passes of an access of `bytes` a lane over `banks` banks of 4 bytes. Of an atomic operation lanes
/// with equal addresses go one after another as well.
pub fn passes(addresses: &[u64; LANES], mask: Mask, bytes: u32, banks: u32, atomic: bool) -> u32 {
    if mask == 0 {
        return 0;
    }
    let banks = u64::from(banks.clamp(1, 256));
    if bytes == 4 && !atomic && mask == Mask::MAX && banks >= LANES as u64 {
        // As most accesses are: a word a lane side by side, or the same one for all.
        let away = |lane: usize| addresses[lane].wrapping_sub(addresses[0]);
        let simple = addresses[0].is_multiple_of(4) && addresses[0] <= addresses[LANES - 1];
        let mut alike = [simple; 2];
        for lane in 0..LANES {
            alike[0] &= away(lane) == 4 * lane as u64;
            alike[1] &= away(lane) == 0;
        }
        if alike[0] || alike[1] {
            return 1;
        }
    }
    if bytes <= 4 && addresses.iter().all(|address| address % 4 + u64::from(bytes) <= 4) {
        return most_asked(&mut [0; LANES], addresses, mask, bytes, banks, atomic);
    }
    most_asked(&mut [0; LANES * 8], addresses, mask, bytes, banks, atomic)
}

/// The words of one bank at most, with `words` as room for all of them.
#[inline(always)]
fn most_asked(
    words: &mut [u64],
    addresses: &[u64; LANES],
    mask: Mask,
    bytes: u32,
    banks: u64,
    atomic: bool,
) -> u32 {
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
            asked[(word % banks) as usize] += 1;
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
