//! When to stop: a clock that only ends a search, and never says which way it goes.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// A moment after which everything stops, or when somebody says so.
#[derive(Clone, Debug)]
pub struct Clock {
    end: Option<Instant>,
    cancelled: Option<Arc<AtomicBool>>,
}

/// Says that a search is not needed any more.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops what was given this.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }
}

impl Clock {
    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.cancelled.as_ref().is_some_and(|c| c.load(Relaxed))
            || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// This clock, for something that can be stopped earlier.
    pub fn or(self, cancel: &Cancel) -> Clock {
        Clock { cancelled: Some(Arc::clone(&cancel.0)), ..self }
    }
}

/// Looks of a round of a program, after which it ends as one that found nothing: values that many read from
/// many places take that in a few moves. Rounds that find something seldom take a sixth of it, which is what
/// they get once [`MAX_LOOKS`] was done, and less once twice and three times as much was.
const MOST_LOOKS_A_ROUND: [u64; 4] = [125_000_000, 20_000_000, 8_000_000, 2_000_000];

/// Work that was done for a program, in looks of a [`Board`](super::anneal::Board): unlike a clock it says
/// the same on every machine. One thread notes it.
#[derive(Debug, Default)]
pub struct Work {
    /// Those for the graph that is mapped.
    looks: AtomicU64,
    /// Those for others before it, of each [`MAX_LOOKS`] at most.
    before: AtomicU64,
    /// All when this interval was begun.
    begun: AtomicU64,
    entries: AtomicU64,
}

/// Entries of the matrices of integer programs, each as often as a pivot was made, for a program after
/// which no more of these are solved: some seconds.
pub const MOST_ENTRIES: u64 = 400_000_000;

/// Looks for the graphs of a program that are much for the next one: about half a second.
const MAX_LOOKS: u64 = 125_000_000;

impl Work {
    /// Notes so many more.
    pub fn add(&self, looks: u64) {
        self.looks.fetch_add(looks, Relaxed);
    }

    /// Notes so many more entries that pivots had.
    pub fn add_entries(&self, entries: u64) {
        self.entries.fetch_add(entries, Relaxed);
    }

    /// What is left of [`MOST_ENTRIES`].
    pub fn entries_left(&self) -> u64 {
        MOST_ENTRIES.saturating_sub(self.entries.load(Relaxed))
    }

    /// Notes that another graph is mapped from now on.
    pub fn begin(&self) {
        self.before.fetch_add(self.looks.swap(0, Relaxed).min(MAX_LOOKS), Relaxed);
    }

    /// Notes that another interval is tried from now on.
    pub fn begin_interval(&self) {
        self.begun.store(self.before.load(Relaxed) + self.looks.load(Relaxed), Relaxed);
    }

    /// Whether so much was done that no more than one round is tried: before this graph, or twice as much
    /// for it.
    pub fn is_much(&self) -> bool {
        self.before.load(Relaxed) >= MAX_LOOKS || self.looks.load(Relaxed) >= 2 * MAX_LOOKS
    }

    /// Looks that the next round may take.
    pub fn looks_a_round(&self) -> u64 {
        let done = (self.begun.load(Relaxed) / MAX_LOOKS) as usize;
        MOST_LOOKS_A_ROUND[done.min(MOST_LOOKS_A_ROUND.len() - 1)]
    }
}

/// The time that a search may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    begin: Instant,
    end: Option<Instant>,
}

impl Budget {
    /// From now on, for that long.
    pub fn new(limit: Duration) -> Budget {
        let begin = Instant::now();
        Budget { begin, end: begin.checked_add(limit) }
    }

    /// No longer than `limit` from the beginning of this one, nor than this one.
    pub fn until(&self, limit: Duration) -> Budget {
        let end = match (self.begin.checked_add(limit), self.end) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Budget { begin: self.begin, end }
    }

    /// What a long computation asks.
    pub fn clock(&self) -> Clock {
        Clock { end: self.end, cancelled: None }
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.clock().is_over()
    }

    /// The time that is left; `None` where there is no end.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The time since the beginning.
    pub fn spent(&self) -> Duration {
        self.begin.elapsed()
    }
}
