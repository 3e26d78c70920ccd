//! Which warp goes next: the one that can first; among those that can at once the next one in a round.

use nbcc_sim_engine::Cycle;

use super::NEVER;

/// The place of the warp that goes next and its cycle, at `now` at the earliest; `ready` is from when
/// each can. None where none can.
#[inline]
pub fn next(ready: &[Cycle], last: usize, now: Cycle) -> Option<(Cycle, usize)> {
    let first = ready.iter().copied().fold(NEVER, Cycle::min);
    if first == NEVER {
        return None;
    }
    let cycle = first.max(now);
    let can = |ready: &[Cycle]| ready.iter().position(|&from| from <= cycle);
    let after = (last + 1).min(ready.len());
    let at = match can(&ready[after..]) {
        Some(at) => after + at,
        None => can(&ready[..after])?,
    };
    (cycle != NEVER).then_some((cycle, at))
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
