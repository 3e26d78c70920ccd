//! Which routers are to be looked at when. What is due within 64 cycles, as nearly all is, lies in a ring
//! of sets, a bit a router; the rest in a heap. Routers of one cycle come in the order of their numbers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nbcc_sim_engine::Cycle;

/// Cycles of the ring.
const RING: u64 = 64;

/// Routers by the cycle at which they are due; equal entries are one.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// The first cycle that the ring covers.
    now: Cycle,
    /// Cycles of the ring, modulo its length, at which something is due.
    filled: u64,
    /// Words of a set.
    words: usize,
    /// The sets, one after another.
    sets: Box<[u64]>,
    /// What is due later.
    far: BinaryHeap<Reverse<(Cycle, u32)>>,
}

impl Wheel {
    /// Nothing is due of so many routers.
    pub fn new(routers: usize) -> Wheel {
        let words = routers.div_ceil(64);
        let sets = vec![0; words * RING as usize].into();
        Wheel { now: 0, filled: 0, words, sets, far: BinaryHeap::new() }
    }

    /// The present cycle.
    #[inline]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// A router is due at a cycle, which does not lie before the present one.
    #[inline]
    pub fn push(&mut self, cycle: Cycle, router: u32) {
        if cycle - self.now >= RING {
            self.far.push(Reverse((cycle, router)));
            return;
        }
        let slot = cycle % RING;
        self.filled |= 1 << slot;
        self.sets[slot as usize * self.words + router as usize / 64] |= 1 << (router % 64);
    }

    /// The first cycle at which something is due.
    #[inline]
    pub fn next(&self) -> Option<Cycle> {
        let far = self.far.peek().map(|Reverse((cycle, _))| *cycle);
        if self.filled == 0 {
            return far;
        }
        let ahead = self.filled.rotate_right((self.now % RING) as u32).trailing_zeros();
        let near = self.now + Cycle::from(ahead);
        Some(far.map_or(near, |far| far.min(near)))
    }

    /// The present cycle, before which nothing is due.
    #[inline]
    pub fn advance(&mut self, now: Cycle) {
        self.now = now;
        while let Some(Reverse((cycle, router))) = self.far.peek().copied()
            && cycle - now < RING
        {
            self.far.pop();
            self.push(cycle, router);
        }
    }

    /// The first router that is due at the present cycle.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        let slot = self.now % RING;
        if self.filled >> slot & 1 == 0 {
            return None;
        }
        let begin = slot as usize * self.words;
        let set = &mut self.sets[begin..begin + self.words];
        let index = set.iter().position(|word| *word != 0).expect("a set that is filled");
        let bit = set[index].trailing_zeros();
        set[index] &= set[index] - 1;
        if set[index..].iter().all(|word| *word == 0) {
            self.filled &= !(1 << slot);
        }
        Some(index as u32 * 64 + bit)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Against an ordered set, with times near and far.
    #[test]
    fn entries_come_in_their_order() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for routers in [1, 64, 65, 200] {
            let mut wheel = Wheel::new(routers as usize);
            let mut all = BTreeSet::new();
            let mut now = 0;
            for _ in 0..5000 {
                for _ in 0..random(4) {
                    let ahead = if random(10) == 0 { random(1000) } else { random(70) };
                    let entry = (now + ahead, random(routers) as u32);
                    wheel.push(entry.0, entry.1);
                    all.insert(entry);
                }
                assert_eq!(wheel.next(), all.first().map(|entry| entry.0));
                let Some(next) = wheel.next() else { continue };
                now = next;
                wheel.advance(now);
                while let Some(router) = wheel.pop() {
                    assert_eq!(all.pop_first(), Some((now, router)));
                }
                now += 1;
                wheel.advance(now);
            }
        }
    }
}
