//! When something that serves a few requests a cycle is busy: a bus, a port, a unit that is
//! pipelined. Requests come in the order in which they are decided and may be for later; each takes
//! the first slots that are free from its time on, so that one for later keeps nobody waiting.

use nbcc_sim_engine::Cycle;

/// Slots that are taken, a bit each.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Slots of a cycle, and by how much a shift divides by them where one does.
    rate: u64,
    shift: Option<u32>,
    /// The word that `words` begins with.
    first: u64,
    /// 64 slots each.
    words: Vec<u64>,
    taken: u64,
}

const WORD: u64 = 64;

impl Calendar {
    /// All free, `rate` slots a cycle.
    pub fn new(rate: u32) -> Calendar {
        let rate = u64::from(rate.max(1));
        let shift = rate.is_power_of_two().then(|| rate.trailing_zeros());
        Calendar { rate, shift, first: 0, words: Vec::new(), taken: 0 }
    }

    /// Slots that were ever taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Forgets what lies before a cycle, for which nothing is asked any more.
    #[inline]
    pub fn forget(&mut self, before: Cycle) {
        let keep = before * self.rate / WORD;
        if keep <= self.first {
            return;
        }
        let gone = (keep - self.first).min(self.words.len() as u64);
        self.words.drain(..gone as usize);
        self.first = keep;
    }

    /// Takes the first `slots` free ones from a cycle on; the first cycle after the last of them.
    #[inline]
    pub fn take(&mut self, from: Cycle, slots: u32) -> Cycle {
        self.taken += u64::from(slots);
        let slot = match self.shift {
            Some(shift) => from << shift,
            None => from * self.rate,
        };
        let at = slot.max(self.first * WORD);
        if slots == 1
            && let Some(word) = self.words.get_mut((at / WORD - self.first) as usize)
        {
            let free = !*word & u64::MAX << (at % WORD);
            if free != 0 {
                *word |= free & free.wrapping_neg();
                return self.behind(at / WORD * WORD + u64::from(free.trailing_zeros()));
            }
        }
        self.take_some(at, slots)
    }

    /// The first cycle after a slot.
    #[inline]
    fn behind(&self, slot: u64) -> Cycle {
        match self.shift {
            Some(shift) => (slot >> shift) + 1,
            None => slot / self.rate + 1,
        }
    }

    /// Takes the first free slots from one on.
    fn take_some(&mut self, mut at: u64, slots: u32) -> Cycle {
        let mut left = slots;
        let mut last = at;
        while left > 0 {
            let index = (at / WORD - self.first) as usize;
            if index >= self.words.len() {
                self.words.resize(index + 1, 0);
            }
            let word = &mut self.words[index];
            let mut free = !*word & u64::MAX << (at % WORD);
            while free != 0 && left > 0 {
                // As many as stand together.
                let low = free.trailing_zeros();
                let run = (free >> low).trailing_ones().min(left);
                let bits = u64::MAX >> (WORD as u32 - run) << low;
                *word |= bits;
                free &= !bits;
                left -= run;
                last = at / WORD * WORD + u64::from(low + run - 1);
            }
            at = (at / WORD + 1) * WORD;
        }
        self.behind(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled() {
        let mut bus = Calendar::new(2);
        assert_eq!(bus.take(10, 1), 11);
        assert_eq!(bus.take(10, 1), 11);
        assert_eq!(bus.take(10, 1), 12);
        // For later; what comes before is not kept waiting.
        assert_eq!(bus.take(200, 16), 208);
        assert_eq!(bus.take(10, 2), 13);
        assert_eq!(bus.take(199, 4), 209);
        bus.forget(150);
        assert_eq!(bus.take(150, 1), 151);
        assert_eq!(bus.take(0, 1), 129, "what is forgotten is not given out again");
        assert_eq!(bus.taken(), 27);
    }

    #[test]
    fn random_requests_never_share_a_slot() {
        let mut seed = 5_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut bus = Calendar::new(1);
        let mut taken = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let (from, slots) = (random(3000), 1 + random(5) as u32);
            let mut expected = from;
            for _ in 0..slots {
                while !taken.insert(expected) {
                    expected += 1;
                }
            }
            assert_eq!(bus.take(from, slots), expected + 1);
        }
    }
}
