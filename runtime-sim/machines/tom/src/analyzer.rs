//! The memory map analyzer (TOM paper, sections 3.2.3 and 4.3): under which mapping of addresses to
//! stacks do the accesses of an offloaded block stay in the stack that it runs on? The hardware keeps
//! the stacks of each instance under each mapping; here their accesses are counted as well.

use std::collections::HashMap;

use nbcc_isa_tom::address::StackBits;

/// What was seen of one mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// The mapping.
    pub bits: StackBits,
    /// Accesses to the stack of their instance's first access.
    pub home: u64,
    /// Instances with accesses to one stack only.
    pub one_stack: u64,
    /// Distinct stacks, summed over instances.
    pub stacks: u64,
}

/// Accesses of instances as they come.
#[derive(Debug)]
pub struct Analyzer {
    mappings: Vec<StackBits>,
    /// The place of each instance among those seen, in order of appearance.
    places: HashMap<u64, usize>,
    /// For each instance, one behind the other: what was seen under each mapping.
    seen: Vec<Seen>,
    accesses: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    home: u32,
    /// A bit for each stack.
    stacks: u64,
    home_accesses: u64,
}

impl Analyzer {
    /// An analyzer that has seen nothing.
    pub fn new(mappings: Vec<StackBits>) -> Analyzer {
        Analyzer { mappings, places: HashMap::new(), seen: Vec::new(), accesses: 0 }
    }

    /// Takes an access of an instance. The first one decides its home under each mapping.
    pub fn access(&mut self, instance: u64, address: u64) {
        self.accesses += 1;
        let count = self.mappings.len();
        let next = self.places.len();
        let place = *self.places.entry(instance).or_insert(next);
        if place == next {
            let first =
                |bits: &StackBits| Seen { home: bits.stack(address), stacks: 0, home_accesses: 0 };
            self.seen.extend(self.mappings.iter().map(first));
        }
        for (seen, bits) in self.seen[place * count..][..count].iter_mut().zip(&self.mappings) {
            let stack = bits.stack(address);
            seen.stacks |= 1 << stack;
            seen.home_accesses += u64::from(stack == seen.home);
        }
    }

    /// Accesses seen.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Instances seen.
    pub fn instances(&self) -> u64 {
        self.places.len() as u64
    }

    /// The scores of the mappings, in their order, of the first instances to appear.
    pub fn scores(&self, instances: u64) -> Vec<Score> {
        let count = self.mappings.len();
        let rows = usize::try_from(instances).map_or(self.seen.len(), |n| n.saturating_mul(count));
        let rows = &self.seen[..rows.min(self.seen.len())];
        let score = |(number, bits): (usize, &StackBits)| {
            let mut score = Score { bits: *bits, home: 0, one_stack: 0, stacks: 0 };
            for seen in rows.iter().skip(number).step_by(count) {
                score.home += seen.home_accesses;
                score.one_stack += u64::from(seen.stacks.count_ones() == 1);
                score.stacks += u64::from(seen.stacks.count_ones());
            }
            score
        };
        self.mappings.iter().enumerate().map(score).collect()
    }
}

/// The best of mappings: most accesses at home, then most instances with one stack, then lowest bits.
pub fn best(scores: &[Score]) -> Option<StackBits> {
    let rank = |score: &&Score| (score.home, score.one_stack, std::cmp::Reverse(score.bits));
    scores.iter().max_by_key(rank).map(|score| score.bits)
}

/// How many instances a share of them is: at least one.
pub fn learned(share: f64, instances: u64) -> u64 {
    ((share * instances as f64).ceil() as u64).clamp(1, instances.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(low: u32) -> StackBits {
        StackBits { low, count: 2 }
    }

    /// Two instances of a kernel that reads one array and writes another 64 KiB behind: under bits
    /// above the stride of instances both accesses lie in one stack.
    #[test]
    fn accesses_are_counted_by_their_first_stack() {
        let mut analyzer = Analyzer::new(vec![bits(7), bits(9), bits(15)]);
        for instance in [3, 9] {
            let base = instance * 128;
            analyzer.access(instance, base);
            analyzer.access(instance, base + 0x80);
            analyzer.access(instance, base + 0x10000);
        }
        assert_eq!((analyzer.instances(), analyzer.accesses()), (2, 6));
        let all = analyzer.scores(u64::MAX);
        // Bits 7 and 8: the neighbouring line is elsewhere, 64 KiB on is the same stack.
        assert_eq!((all[0].home, all[0].one_stack, all[0].stacks), (4, 0, 4));
        // Bits 9 and 10: instance 3 goes from line 3 to 4, another stack; instance 9 stays.
        assert_eq!((all[1].home, all[1].one_stack, all[1].stacks), (5, 1, 3));
        // Bits 15 and 16: only 64 KiB on is another stack.
        assert_eq!((all[2].home, all[2].one_stack, all[2].stacks), (4, 0, 4));
        assert_eq!(best(&all), Some(bits(9)));
        // Of the first instance alone 7:8 and 9:10 are equal, and the lower bits count.
        let first = analyzer.scores(1);
        assert_eq!((first[0].home, first[1].home, first[2].home), (2, 2, 2));
        assert_eq!(best(&first), Some(bits(7)));
    }

    #[test]
    fn a_share_is_at_least_one_instance() {
        assert_eq!((learned(0.001, 1), learned(0.001, 1000), learned(0.001, 1001)), (1, 1, 2));
        assert_eq!((learned(1.0, 7), learned(0.5, 7)), (7, 4));
    }
}
