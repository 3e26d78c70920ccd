//! Which warp goes next: the one that can first; among those that can at once the next one in a round.

use nbcc_sim_engine::{Cycle, NEVER};

/// The place of the warp that goes next and its cycle, at `now` at the earliest; `ready` is from when
/// each can. None where none can.
#[inline]
pub fn next(ready: &[Cycle], last: usize, now: Cycle) -> Option<(Cycle, usize)> {
    let after = (last + 1).min(ready.len());
    let (before, behind) = ready.split_at(after);
    let mut best = (NEVER, 0);
    for (from, part) in [(after, behind), (0, before)] {
        for (at, &ready) in part.iter().enumerate() {
            let cycle = ready.max(now);
            if cycle < best.0 {
                best = (cycle, from + at);
                if cycle == now {
                    // None can before it.
                    return Some(best);
                }
            }
        }
    }
    (best.0 != NEVER).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds() {
        assert_eq!(next(&[5, 3, 9], 0, 0), Some((3, 1)));
        assert_eq!(next(&[5, 3, 9], 0, 20), Some((20, 1)));
        assert_eq!(next(&[5, 3, 9], 2, 20), Some((20, 0)));
        assert_eq!(next(&[5, NEVER, 9], 0, 7), Some((7, 0)));
        assert_eq!(next(&[NEVER; 3], 0, 7), None);
        assert_eq!(next(&[], 0, 7), None);
    }
}
