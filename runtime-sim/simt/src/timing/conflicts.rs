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
    let simple = bytes <= 4 && addresses.iter().all(|address| address % 4 + u64::from(bytes) <= 4);
    match (simple, banks) {
        (true, 32) => most_asked::<LANES, 32>(addresses, mask, bytes, 32, atomic),
        (true, _) => most_asked::<LANES, 256>(addresses, mask, bytes, banks, atomic),
        _ => most_asked::<{ LANES * 8 }, 256>(addresses, mask, bytes, banks, atomic),
    }
}

/// The words of one bank at most, with room for `WORDS` of them and `BANKS` lists.
#[inline(always)]
fn most_asked<const WORDS: usize, const BANKS: usize>(
    addresses: &[u64; LANES],
    mask: Mask,
    bytes: u32,
    banks: u64,
    atomic: bool,
) -> u32 {
    // Those of a bank are in a list: a word and the number of the next one, from 1.
    let mut words = [(0_u64, 0_u16); WORDS];
    let mut lists = [(0_u16, 0_u16); BANKS];
    let (mut count, mut most) = (0, 0);
    for lane in lanes_of(mask) {
        let mut word = addresses[lane] / 4;
        let last = addresses[lane].saturating_add(u64::from(bytes).max(1) - 1) / 4;
        let last = last.min(word + (WORDS / LANES) as u64 - 1);
        loop {
            let (newest, asked) = &mut lists[(word % banks) as usize];
            let mut at = *newest;
            while !atomic && at != 0 && words[usize::from(at) - 1].0 != word {
                at = words[usize::from(at) - 1].1;
            }
            if atomic || at == 0 {
                words[count] = (word, *newest);
                count += 1;
                (*newest, *asked) = (count as u16, *asked + 1);
                most = most.max(*asked);
            }
            if word >= last {
                break;
            }
            word += 1;
        }
    }
    most.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of each bank in a set, or, of atomic operations, in a list.
    fn counted(addresses: &[u64; LANES], mask: Mask, bytes: u32, banks: u32, atomic: bool) -> u32 {
        let all = lanes_of(mask).flat_map(|lane| {
            let first = addresses[lane] / 4;
            first..=(addresses[lane] + u64::from(bytes) - 1) / 4
        });
        let mut words: Vec<u64> = all.collect();
        words.sort_unstable();
        if !atomic {
            words.dedup();
        }
        let of = |bank| words.iter().filter(|word| *word % u64::from(banks) == bank).count();
        (0..banks.into()).map(of).max().unwrap_or(0) as u32
    }

    #[test]
    fn random_addresses() {
        let mut seed = 3_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            let bytes = 1 << random(5);
            let (unit, range) = (1 << random(6), 1 + random(200));
            let addresses = std::array::from_fn(|_| random(range) * unit * bytes);
            let mask = [Mask::MAX, random(1 << 32) as Mask][random(2) as usize];
            let banks = [32, 16, 7, 64][random(4) as usize];
            let atomic = random(4) == 0;
            let of = (mask, bytes as u32, banks, atomic);
            let found = passes(&addresses, mask, bytes as u32, banks, atomic);
            let expected = counted(&addresses, mask, bytes as u32, banks, atomic);
            assert_eq!(found, expected, "{of:?} {addresses:?}");
        }
    }

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
