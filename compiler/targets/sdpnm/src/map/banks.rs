//! Accesses that meet at a bank of the shared memory make the array wait. How long they do in a slot,
//! on average over iterations, follows from their addresses: where these differ by constants, or advance
//! by as much in each iteration, it is known which banks they take at a time; others are taken to be
//! anywhere.

use std::collections::BTreeMap;

/// The addresses of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Of accesses of one region the addresses are known relative to each other; no word is in two.
    pub region: usize,
    /// At which bank the region begins.
    pub begin: Begin,
    /// Bytes from the beginning of the region, in iteration 0.
    pub offset: i64,
    /// Bytes an iteration.
    pub stride: i64,
    /// Bytes of the element, which may reach from one word into the next.
    pub bytes: i64,
}

/// Where a region begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At the first bank.
    Bank0,
    /// At some bank, the same in all iterations.
    Fixed,
    /// At another one in each.
    Anywhere,
    /// Where that list says, of which the first entry is that of iteration 0.
    Listed(usize),
}

/// What is known of the accesses of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banks {
    /// How many there are, of words of 4 bytes that go round.
    pub count: i64,
    /// Iterations that run at a time, about.
    pub iterations: i64,
    /// The addresses of each node that accesses memory.
    pub streams: Vec<Option<Stream>>,
    /// Addresses by iteration, [`LISTED`] of them.
    pub lists: Vec<Vec<i64>>,
}

/// Iterations that are looked at, each for several places of regions that are not known.
const ITERATIONS: i64 = 32;
const SAMPLES: i64 = 2;

/// Iterations between the beginnings of two samples.
const SAMPLE_DISTANCE: i64 = 512;

/// The iteration that is looked at first, which is far enough for operations many intervals late.
const FIRST: i64 = 64;

/// Iterations of which addresses are listed.
pub const LISTED: usize = (FIRST + SAMPLE_DISTANCE * (SAMPLES - 1) + ITERATIONS) as usize;

/// A stall an iteration, in the units of [`Banks::stalls`].
pub const STALL: i64 = ITERATIONS * SAMPLES;

impl Banks {
    /// How long the array waits in a slot an iteration, given nodes and how many intervals after the
    /// start of their iterations they run.
    pub fn stalls(&self, accesses: &[(usize, i64)]) -> i64 {
        Walks::new(self).stalls(accesses)
    }

    /// How many words an iteration takes of the bank that it takes most of, on average.
    pub fn busiest(&self) -> f64 {
        let nodes = (0..self.streams.len()).filter(|&node| self.streams[node].is_some());
        let nodes: Vec<usize> = nodes.collect();
        let mut all = 0;
        for sample in 0..SAMPLES {
            for iteration in 0..ITERATIONS {
                let of = |&node: &usize| {
                    let last = self.streams[node].map_or(0, |stream| stream.bytes - 1);
                    [0, last].map(|byte| self.word(node, byte, iteration, sample))
                };
                let mut words: Vec<(i64, i64)> = nodes.iter().flat_map(of).collect();
                words.sort_unstable();
                words.dedup();
                all += words.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(0);
            }
        }
        all as f64 / STALL as f64
    }

    /// The first word and the last one of a node so many intervals late, in all iterations of all samples.
    fn words(&self, (node, stage): (usize, i64)) -> Vec<[Word; 2]> {
        let last = self.streams[node].map_or(0, |stream| stream.bytes - 1);
        let moments = (0..SAMPLES).flat_map(|sample| (0..ITERATIONS).map(move |i| (sample, i)));
        let word = |byte, iteration, sample| {
            let (bank, word) = self.word(node, byte, iteration - stage, sample);
            (bank as usize, word)
        };
        moments.map(|(sample, i)| [word(0, i, sample), word(last, i, sample)]).collect()
    }

    /// The bank of a byte of an access, and what tells its word from others of the bank.
    fn word(&self, node: usize, byte: i64, iteration: i64, sample: i64) -> (i64, i64) {
        let Some(stream) = self.streams[node] else { return (0, 0) };
        let Stream { region, begin: begins, offset, stride, .. } = stream;
        let begin = match begins {
            Begin::Bank0 | Begin::Listed(_) => 0,
            Begin::Fixed => scattered(region as i64, !sample, self.count),
            Begin::Anywhere => scattered(region as i64, iteration * SAMPLES + sample, self.count),
        };
        let iteration = iteration + FIRST + SAMPLE_DISTANCE * sample;
        let listed = match begins {
            Begin::Listed(list) => self.lists[list][iteration.clamp(0, LISTED as i64 - 1) as usize],
            _ => 0,
        };
        let word = begin + ((listed + offset + byte + stride * iteration) >> 2);
        // Of what is anywhere only the bank is known.
        let name =
            if begins == Begin::Anywhere { !(node as i64) } else { word << 16 | region as i64 };
        let is_power = self.count & (self.count - 1) == 0;
        let bank = if is_power { word & (self.count - 1) } else { word.rem_euclid(self.count) };
        (bank, name)
    }
}

/// A word: its bank, and what tells it from others of the bank.
type Word = (usize, i64);

/// [`Banks::stalls`] for one who asks again and again of the same accesses: their words are kept.
#[derive(Debug)]
pub struct Walks<'a> {
    banks: &'a Banks,
    /// For nodes at their intervals: the first word and the last one, in all iterations of all samples.
    words: BTreeMap<(usize, i64), Vec<[Word; 2]>>,
    /// How many words of each bank are taken, and which.
    counts: Vec<usize>,
    taken: Vec<i64>,
}

impl<'a> Walks<'a> {
    /// Of accesses of which that is known.
    pub fn new(banks: &'a Banks) -> Walks<'a> {
        let counts = vec![0; banks.count as usize];
        Walks { banks, words: BTreeMap::new(), counts, taken: Vec::new() }
    }

    /// As [`Banks::stalls`].
    pub fn stalls(&mut self, accesses: &[(usize, i64)]) -> i64 {
        if accesses.len() < 2 {
            return 0;
        }
        for &access in accesses {
            self.words.entry(access).or_insert_with(|| self.banks.words(access));
        }
        let walks: Vec<&[[Word; 2]]> = accesses.iter().map(|of| &self.words[of][..]).collect();
        let most_words = 2 * accesses.len();
        self.taken.resize(self.taken.len().max(self.counts.len() * most_words), 0);
        let mut all = 0;
        for moment in 0..STALL as usize {
            self.counts.fill(0);
            let mut most = 1;
            for walk in &walks {
                let [first, last] = walk[moment];
                let both = [first, last];
                for &(bank, word) in &both[..if first == last { 1 } else { 2 }] {
                    let begin = bank * most_words;
                    let count = &mut self.counts[bank];
                    if !self.taken[begin..begin + *count].contains(&word) {
                        self.taken[begin + *count] = word;
                        *count += 1;
                        most = most.max(*count);
                    }
                }
            }
            all += most as i64 - 1;
        }
        all
    }
}

/// A number below `count` that looks random (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
fn scattered(what: i64, which: i64, count: i64) -> i64 {
    let mut bits = (what as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ which as u64;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) % count as u64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(region: usize, offset: i64, stride: i64) -> Option<Stream> {
        Some(Stream { region, begin: Begin::Bank0, offset, stride, bytes: 4 })
    }

    #[test]
    fn equal_banks_wait_and_equal_words_do_not() {
        let streams = vec![
            stream(0, 0, 4),
            stream(0, 64, 4),
            Some(Stream { bytes: 2, ..stream(0, 66, 4).unwrap() }),
            stream(0, 4, 4),
            stream(1, 0, 4),
        ];
        let banks = Banks { count: 16, iterations: 64, streams, lists: vec![] };
        assert_eq!(banks.stalls(&[(0, 0)]), 0);
        assert_eq!(banks.stalls(&[(0, 0), (1, 0)]), STALL);
        assert_eq!(banks.stalls(&[(1, 0), (2, 0)]), 0);
        assert_eq!(banks.stalls(&[(0, 0), (3, 0)]), 0);
        // An iteration later it is where the other one is.
        assert_eq!(banks.stalls(&[(0, 0), (3, 1)]), 0);
        assert_eq!(banks.stalls(&[(4, 0), (3, 1)]), STALL);
        assert_eq!(banks.stalls(&[(0, 0), (1, 0), (4, 0)]), 2 * STALL);
    }

    #[test]
    fn what_is_kept_of_accesses_says_the_same_again() {
        let streams = vec![stream(0, 0, 4), stream(0, 64, 8), stream(1, 4, 0), stream(2, 2, 6)];
        let banks = Banks { count: 16, iterations: 64, streams, lists: vec![] };
        let mut walks = Walks::new(&banks);
        for accesses in [
            &[(0, 0), (1, 0)][..],
            &[(0, 0), (1, 0), (2, 1), (3, 2)],
            &[(3, 0), (2, 1)],
            &[(0, 0), (1, 0)],
            &[(1, -1), (3, 2), (0, 0)],
        ] {
            assert_eq!(walks.stalls(accesses), banks.stalls(accesses), "{accesses:?}");
        }
    }

    #[test]
    fn a_word_that_moves_past_one_that_stays_waits_now_and_then() {
        let anywhere = Stream { region: 2, begin: Begin::Anywhere, offset: 0, stride: 0, bytes: 4 };
        let streams = vec![stream(0, 0, 0), stream(1, 0, 4), Some(anywhere)];
        let banks = Banks { count: 16, iterations: 64, streams, lists: vec![] };
        assert_eq!(banks.stalls(&[(0, 0), (1, 0)]), STALL / 16);
        let with_unknown = banks.stalls(&[(0, 0), (2, 0)]);
        assert!(with_unknown < STALL / 4, "{with_unknown}");
    }
}
