//! What a warp's access touches: its lanes' addresses become pieces of memory (MPU paper, section
//! IV-B2; on GPUs the sectors of a request).

use crate::{LANES, Mask, lanes_of};

/// A piece of memory that lanes access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its number: the address over the size of a piece.
    pub number: u64,
    /// The lanes.
    pub lanes: Mask,
}

/// Fills `out` with the pieces of `size` bytes, a power of two, that `mask` touches with accesses of
/// `bytes`, in the order of lanes.
pub fn pieces(addresses: &[u64; LANES], mask: Mask, bytes: u32, size: u32, out: &mut Vec<Piece>) {
    let shift = size.trailing_zeros();
    if out.is_empty()
        && bytes.is_power_of_two()
        && bytes <= size
        && addresses[0].is_multiple_of(bytes.into())
        && addresses[0].checked_add(LANES as u64 * u64::from(bytes)).is_some()
        && is_contiguous(addresses, mask, bytes)
    {
        // As many lanes side by side as are left in each piece.
        let run = size / bytes;
        let mut number = addresses[0] >> shift;
        let (mut lane, mut left) = (0, run - (addresses[0] as u32 & (size - 1)) / bytes);
        while lane < LANES as u32 {
            let count = left.min(LANES as u32 - lane);
            out.push(Piece { number, lanes: Mask::MAX >> (LANES as u32 - count) << lane });
            (number, lane, left) = (number + 1, lane + count, run);
        }
        return;
    }
    // Addresses mostly ascend, and then no piece has to be looked for.
    let mut highest = out.iter().map(|piece| piece.number).max();
    for lane in lanes_of(mask) {
        let first = addresses[lane] >> shift;
        let last = addresses[lane].saturating_add(u64::from(bytes).max(1) - 1) >> shift;
        for number in first..=last {
            let lanes = 1 << lane;
            if let Some(piece) = out.last_mut()
                && piece.number == number
            {
                piece.lanes |= lanes;
                continue;
            }
            if highest.is_none_or(|highest| number > highest) {
                highest = Some(number);
                out.push(Piece { number, lanes });
                continue;
            }
            match out.iter_mut().rev().find(|piece| piece.number == number) {
                Some(piece) => piece.lanes |= lanes,
                None => out.push(Piece { number, lanes }),
            }
        }
    }
}

/// Whether all lanes access consecutive elements of `bytes`.
pub fn is_contiguous(addresses: &[u64; LANES], mask: Mask, bytes: u32) -> bool {
    let mut same = mask == Mask::MAX;
    for (lane, address) in addresses.iter().enumerate() {
        same &= address.wrapping_sub(addresses[0]) == lane as u64 * u64::from(bytes);
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides() {
        let count = |stride: u64, bytes| {
            let mut out = Vec::new();
            let addresses = std::array::from_fn(|lane| 0x1000 + lane as u64 * stride);
            pieces(&addresses, Mask::MAX, bytes, 32, &mut out);
            assert_eq!(out.iter().fold(0, |all, piece| all | piece.lanes), Mask::MAX);
            (out.len(), is_contiguous(&addresses, Mask::MAX, bytes))
        };
        assert_eq!(count(4, 4), (4, true));
        assert_eq!(count(0, 4), (1, false));
        assert_eq!(count(8, 4), (8, false));
        assert_eq!(count(128, 4), (32, false));
        assert_eq!(count(16, 16), (16, true));
        assert_eq!(count(1, 1), (1, true));
    }

    #[test]
    fn neighbours_share_pieces_wherever_they_begin() {
        for bytes in [1_u64, 2, 4, 8, 16, 32] {
            for size in [32_u32, 64, 128, 256] {
                for first in [0, 1, 3, 7, 31, 100, 255] {
                    let addresses = std::array::from_fn(|lane| (first + lane as u64) * bytes);
                    let mut out = Vec::new();
                    pieces(&addresses, Mask::MAX, bytes as u32, size, &mut out);
                    let mut expected: Vec<Piece> = Vec::new();
                    for (lane, address) in addresses.iter().enumerate() {
                        let (number, lanes) = (address / u64::from(size), 1 << lane);
                        match expected.last_mut() {
                            Some(last) if last.number == number => last.lanes |= lanes,
                            _ => expected.push(Piece { number, lanes }),
                        }
                    }
                    assert_eq!(out, expected, "{bytes} bytes from {first} on, pieces of {size}");
                }
            }
        }
    }

    #[test]
    fn a_piece_may_be_smaller_than_an_access() {
        let mut out = Vec::new();
        pieces(&[64; LANES], 1, 32, 8, &mut out);
        let numbers: Vec<u64> = out.iter().map(|piece| piece.number).collect();
        assert_eq!(numbers, [8, 9, 10, 11]);
        assert!(!is_contiguous(&[64; LANES], 1, 32));
    }
}
