//! What the lanes of a warp compute together: shuffles, votes, matches, reductions (PTX ISA,
//! section 9.7.9 and 9.7.13). `lanes` are those that take part.

use crate::{LANES, Mask, Words, lanes_of};

/// Which lane a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// A lane below.
    Up,
    /// A lane above.
    Down,
    /// The exclusive or of both lane numbers.
    Butterfly,
    /// A lane by number.
    Index,
}

/// The values that lanes get, and the lanes whose source is in range. A lane whose source does
/// not take part keeps its own value.
pub fn shuffle(
    mode: Shuffle,
    lanes: Mask,
    values: &Words,
    operand: &Words,
    clamp: &Words,
) -> (Words, Mask) {
    let mut out = *values;
    let mut valid = 0;
    for lane in lanes_of(lanes) {
        let (own, b, c) = (lane as i32, (operand[lane] & 31) as i32, clamp[lane]);
        let segment = (c >> 8 & 31) as i32;
        let bound = (c & 31) as i32;
        let most = (own & segment) | (bound & !segment);
        let least = own & segment;
        let (source, in_range) = match mode {
            Shuffle::Up => (own - b, own - b >= most),
            Shuffle::Down => (own + b, own + b <= most),
            Shuffle::Butterfly => (own ^ b, own ^ b <= most),
            Shuffle::Index => {
                let source = least | (b & !segment);
                (source, source <= most)
            }
        };
        if in_range {
            valid |= 1 << lane;
            if lanes >> source & 1 != 0 {
                out[lane] = values[source as usize];
            }
        }
    }
    (out, valid)
}

/// The lanes that have the same value as each lane.
pub fn match_any(lanes: Mask, values: &[u64; LANES]) -> Words {
    let mut out = [0; LANES];
    for lane in lanes_of(lanes) {
        for other in lanes_of(lanes) {
            out[lane] |= u32::from(values[lane] == values[other]) << other;
        }
    }
    out
}

/// Whether all lanes have the same value.
pub fn match_all(lanes: Mask, values: &[u64; LANES]) -> bool {
    let mut of = lanes_of(lanes).map(|lane| values[lane]);
    let first = of.next();
    of.all(|value| Some(value) == first)
}

/// Reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Sum.
    Add,
    /// Lesser, signed.
    MinSigned,
    /// Lesser, unsigned.
    MinUnsigned,
    /// Greater, signed.
    MaxSigned,
    /// Greater, unsigned.
    MaxUnsigned,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// The values of the lanes combined; 0 for no lanes.
pub fn reduce(reduction: Reduction, lanes: Mask, values: &Words) -> u32 {
    let combine = |a: u32, b: u32| match reduction {
        Reduction::Add => a.wrapping_add(b),
        Reduction::MinSigned => (a as i32).min(b as i32) as u32,
        Reduction::MinUnsigned => a.min(b),
        Reduction::MaxSigned => (a as i32).max(b as i32) as u32,
        Reduction::MaxUnsigned => a.max(b),
        Reduction::And => a & b,
        Reduction::Or => a | b,
        Reduction::Xor => a ^ b,
    };
    lanes_of(lanes).map(|lane| values[lane]).reduce(combine).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Mask = u32::MAX;

    fn ids() -> Words {
        std::array::from_fn(|lane| lane as u32 + 100)
    }

    fn run(mode: Shuffle, lanes: Mask, b: u32, c: u32) -> (Words, Mask) {
        shuffle(mode, lanes, &ids(), &[b; LANES], &[c; LANES])
    }

    /// As CUDA's intrinsics encode width: `up` has clamp 0, the others 31, segments of `width`.
    #[test]
    fn shuffles_as_the_manual_says() {
        let (out, valid) = run(Shuffle::Down, ALL, 1, 31);
        assert_eq!((out[0], out[30], out[31]), (101, 131, 131));
        assert_eq!(valid, ALL >> 1);
        let (out, valid) = run(Shuffle::Up, ALL, 2, 0);
        assert_eq!((out[0], out[1], out[2], out[31]), (100, 101, 100, 129));
        assert_eq!(valid, ALL << 2);
        let (out, valid) = run(Shuffle::Butterfly, ALL, 16, 31);
        assert_eq!((out[0], out[16], valid), (116, 100, ALL));
        let (out, _) = run(Shuffle::Index, ALL, 5, 31);
        assert_eq!(out, [105; LANES]);
        // Width 8: segment mask 0x18.
        let (out, valid) = run(Shuffle::Down, ALL, 1, 31 | 0x18 << 8);
        assert_eq!((out[6], out[7], out[8]), (107, 107, 109));
        assert_eq!(valid, 0x7f7f_7f7f);
        let (out, _) = run(Shuffle::Index, ALL, 9, 31 | 0x18 << 8);
        assert_eq!((out[0], out[8], out[31]), (101, 109, 125));
        let (out, valid) = run(Shuffle::Up, ALL, 1, 0x18 << 8);
        assert_eq!((out[8], out[9], valid), (108, 108, 0xfefe_fefe));
    }

    #[test]
    fn lanes_that_take_no_part() {
        let (out, valid) = run(Shuffle::Index, 0xff, 20, 31);
        assert_eq!((out[3], valid), (103, 0xff));
    }

    #[test]
    fn matches_and_reductions() {
        let values: [u64; LANES] = std::array::from_fn(|lane| lane as u64 / 16);
        assert_eq!(match_any(ALL, &values)[3], 0xffff);
        assert_eq!(match_any(0xf000_000f, &values)[31], 0xf000_0000);
        assert!(match_all(0xffff, &values) && !match_all(ALL, &values));
        let words: Words = std::array::from_fn(|lane| lane as u32);
        assert_eq!(reduce(Reduction::Add, ALL, &words), 496);
        assert_eq!(reduce(Reduction::MaxUnsigned, 0xff, &words), 7);
        assert_eq!(reduce(Reduction::MinSigned, 6, &[u32::MAX; LANES]), u32::MAX);
        assert_eq!(reduce(Reduction::Xor, 0xff, &words), 0);
    }
}
