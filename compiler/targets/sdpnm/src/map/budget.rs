//! When to stop: a clock that only ends a search, and never says which way it goes.

use std::time::{Duration, Instant};

/// A moment after which everything stops.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    end: Option<Instant>,
}

impl Clock {
    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
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
        Clock { end: self.end }
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
