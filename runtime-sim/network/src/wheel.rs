//! Which of some numbered things are to be looked at in which cycle: a timing wheel (Varghese, Lauck,
//! "Hashed and Hierarchical Timing Wheels", SOSP 1987) whose slots are sets, with a heap for what is
//! further away than its slots.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nbcc_sim_engine::Cycle;

/// Slots, as many as a word has bits.
const SLOTS: Cycle = 64;

/// Things to be looked at, from a cycle on that grows while there are any.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// The cycle that was taken last; everything is at it or later.
    base: Cycle,
    /// Slots that are not empty.
    occupied: u64,
    /// A set a slot: bits by number, in as many words as they need.
    slots: Vec<u64>,
    words: usize,
    /// What does not fit into the slots from the base on.
    far: BinaryHeap<Reverse<(Cycle, u32)>>,
}

impl Wheel {
    /// Nothing to look at, of things with numbers below `count`.
    pub fn new(count: usize) -> Wheel {
        let words = count.div_ceil(64);
        let slots = vec![0; words * SLOTS as usize];
        Wheel { base: 0, occupied: 0, slots, words, far: BinaryHeap::new() }
    }

    /// Looks at something in a cycle, which is not before one that was taken, unless nothing is left:
    /// then time may begin anew.
    pub fn push(&mut self, cycle: Cycle, number: u32) {
        if cycle < self.base {
            debug_assert!(self.next().is_none(), "cycle {cycle} is over");
            self.base = cycle;
        }
        if cycle - self.base < SLOTS {
            let slot = (cycle % SLOTS) as usize;
            self.occupied |= 1 << slot;
            self.slots[slot * self.words + number as usize / 64] |= 1 << (number % 64);
        } else {
            self.far.push(Reverse((cycle, number)));
        }
    }

    /// The next cycle in which something is to be looked at.
    pub fn next(&self) -> Option<Cycle> {
        let far = self.far.peek().map(|Reverse((cycle, _))| *cycle);
        let ahead = self.occupied.rotate_right((self.base % SLOTS) as u32);
        let near = (ahead != 0).then(|| self.base + Cycle::from(ahead.trailing_zeros()));
        near.into_iter().chain(far).min()
    }

    /// Takes what is to be looked at in a cycle, none before it being left: numbers in ascending order,
    /// each once, go to the end of `into`.
    pub fn take(&mut self, cycle: Cycle, into: &mut Vec<u32>) {
        self.base = cycle;
        while let Some(&Reverse((far, number))) = self.far.peek()
            && far - cycle < SLOTS
        {
            self.far.pop();
            self.push(far, number);
        }
        let slot = (cycle % SLOTS) as usize;
        if self.occupied >> slot & 1 == 0 {
            return;
        }
        self.occupied &= !(1 << slot);
        let set = &mut self.slots[slot * self.words..][..self.words];
        for (word, bits) in set.iter_mut().enumerate() {
            let mut left = std::mem::take(bits);
            while left != 0 {
                into.push(word as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Against a sorted set, with things near and far.
    #[test]
    fn takes_all_in_order() {
        let mut seed = 3_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let (mut wheel, mut set) = (Wheel::new(130), BTreeSet::new());
        let mut now = 0;
        for _ in 0..20_000 {
            for _ in 0..random(4) {
                let most = if random(8) == 0 { 1000 } else { 70 };
                let ahead = 1 + random(most);
                let number = random(130) as u32;
                wheel.push(now + ahead, number);
                set.insert((now + ahead, number));
            }
            assert_eq!(wheel.next(), set.first().map(|(cycle, _)| *cycle));
            let Some(next) = wheel.next().filter(|_| random(3) > 0) else { continue };
            now = next;
            let mut taken = vec![];
            wheel.take(now, &mut taken);
            let expected: Vec<u32> =
                set.range((now, 0)..(now + 1, 0)).map(|(_, number)| *number).collect();
            assert_eq!(taken, expected);
            set.retain(|(cycle, _)| *cycle > now);
        }
        assert!(now > 10_000);
        while let Some(next) = wheel.next() {
            wheel.take(next, &mut vec![]);
        }
        wheel.push(5, 1);
        assert_eq!(wheel.next(), Some(5));
    }
}
