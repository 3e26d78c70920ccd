//! Events in the order of their times, and of their coming where times are equal: a calendar queue
//! (R. Brown, Communications of the ACM 31(10), 1988). Nearly all events are for the next fraction of a
//! microsecond; those go into buckets of equal lengths of time, of which only the one that is being
//! emptied is in order. What is for later waits in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nbcc_sim_engine::NEVER;

use crate::clock::Time;

/// A bucket has two to this many femtoseconds: a handful of events where memory is busy.
const WIDTH: u32 = 19;
/// Buckets: more than an access of memory takes.
const BUCKETS: usize = 512;

/// When, the number of its coming, and what.
type Entry<T> = (Time, u64, T);

/// Events that are still to come.
#[derive(Debug)]
pub struct Queue<T> {
    /// What comes next, the last one first.
    current: Vec<Entry<T>>,
    /// The bucket that it was, counted from the begin of time.
    now: u64,
    /// Those behind it, each at its number modulo their count.
    buckets: Box<[Vec<Entry<T>>]>,
    /// A bit for each that holds something.
    used: [u64; BUCKETS / 64],
    /// What is behind all of them.
    far: BinaryHeap<Reverse<Entry<T>>>,
    /// The number of what came last.
    pub sequence: u64,
}

/// Nothing is to come.
impl<T: Ord + Copy> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue {
            current: Vec::new(),
            now: 0,
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            used: [0; BUCKETS / 64],
            far: BinaryHeap::new(),
            sequence: 0,
        }
    }
}

impl<T: Ord + Copy> Queue<T> {
    /// Something happens at a time, no sooner than what was taken last.
    #[inline]
    pub fn push(&mut self, time: Time, event: T) {
        self.sequence += 1;
        self.push_as(self.sequence, time, event);
    }

    /// The same, as if it came as so manieth.
    #[inline]
    pub fn push_as(&mut self, number: u64, time: Time, event: T) {
        self.put((time, number, event));
    }

    #[inline]
    fn put(&mut self, entry: Entry<T>) {
        let bucket = entry.0 >> WIDTH;
        if bucket <= self.now {
            let at = self.current.partition_point(|other| (other.0, other.1) > (entry.0, entry.1));
            self.current.insert(at, entry);
        } else if bucket - self.now < BUCKETS as u64 {
            let at = bucket as usize % BUCKETS;
            self.used[at / 64] |= 1 << (at % 64);
            self.buckets[at].push(entry);
        } else {
            self.far.push(Reverse(entry));
        }
    }

    /// The first bucket behind the current one that holds something.
    fn next_bucket(&self) -> Option<u64> {
        let first = (self.now + 1) as usize % BUCKETS;
        let (word, bit) = (first / 64, first % 64);
        let words = self.used.len();
        (0..=words).find_map(|step| {
            let at = (word + step) % words;
            let mask = match step {
                0 => u64::MAX << bit,
                _ if step == words => !(u64::MAX << bit),
                _ => u64::MAX,
            };
            let bits = self.used[at] & mask;
            let place = at * 64 + bits.trailing_zeros() as usize;
            let ahead = (place + BUCKETS - first) % BUCKETS;
            (bits != 0).then_some(self.now + 1 + ahead as u64)
        })
    }

    /// When something happens next; [`NEVER`] where nothing is to come.
    pub fn next_time(&self) -> Time {
        if let Some(entry) = self.current.last() {
            return entry.0;
        }
        let near = self.next_bucket().map(|bucket| &self.buckets[bucket as usize % BUCKETS]);
        let near = near.into_iter().flatten().map(|entry| entry.0).min();
        let far = self.far.peek().map(|Reverse(entry)| entry.0);
        near.into_iter().chain(far).min().unwrap_or(NEVER)
    }

    /// Takes what happens next, if that is before a time: when, the number of its coming, and what.
    #[inline]
    pub fn pop_before(&mut self, until: Time) -> Option<(Time, u64, T)> {
        if self.current.is_empty() && !self.turn(until) {
            return None;
        }
        let &entry = self.current.last()?;
        if entry.0 >= until {
            return None;
        }
        self.current.pop();
        Some(entry)
    }

    /// Goes to the next bucket that holds something, if it begins before a time; whether it did.
    fn turn(&mut self, until: Time) -> bool {
        let far = self.far.peek().map(|Reverse(entry)| entry.0 >> WIDTH);
        let Some(next) = self.next_bucket().into_iter().chain(far).min() else { return false };
        if next << WIDTH >= until {
            return false;
        }
        let at = next as usize % BUCKETS;
        if self.used[at / 64] >> (at % 64) & 1 == 1 && next - self.now < BUCKETS as u64 {
            self.used[at / 64] &= !(1 << (at % 64));
            std::mem::swap(&mut self.current, &mut self.buckets[at]);
            self.current.sort_unstable_by_key(|entry| Reverse((entry.0, entry.1)));
        }
        self.now = next;
        while let Some(&Reverse(entry)) = self.far.peek()
            && (entry.0 >> WIDTH) - next < BUCKETS as u64
        {
            self.far.pop();
            self.put(entry);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a heap does, whatever lies between events.
    #[test]
    fn events_come_in_their_order() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
        let (mut now, mut number) = (0, 0_u64);
        for round in 0..4000 {
            for _ in 0..random(8) {
                let ahead = [0, 1 << 10, 1 << 21, 1 << 28, 1 << 32][random(5) as usize];
                let time = now + random(ahead + 2);
                number += 1;
                queue.sequence += 1;
                queue.push(time, number);
                let order = queue.sequence;
                heap.push(Reverse((time, order, number)));
                if random(3) == 0 {
                    // As if it had come before.
                    queue.push_as(order - 1, time, number);
                    heap.push(Reverse((time, order - 1, number)));
                }
            }
            let first = heap.peek().map_or(NEVER, |Reverse((time, ..))| *time);
            assert_eq!(queue.next_time(), first);
            let until = if round % 100 == 99 { NEVER } else { now + random(1 << 23) };
            while let Some((time, order, event)) = queue.pop_before(until) {
                assert_eq!(heap.pop(), Some(Reverse((time, order, event))));
                now = now.max(time);
            }
            assert!(heap.peek().is_none_or(|Reverse((time, ..))| *time >= until));
            now = if until == NEVER { now } else { now.max(until) };
        }
        assert!(number > 10_000);
    }
}
