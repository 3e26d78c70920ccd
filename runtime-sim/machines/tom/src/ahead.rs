//! What of a window memory does before it knows what is asked for in it, and where that has its place.
//!
//! Events of equal times happen in the order in which they were brought about, which numbers tell. What is
//! asked for in a window comes before all that its events bring about, and what requests at the ports of
//! clusters bring about in between, though both come later: numbers leave room for them.

use crate::clock::Time;
use crate::queue::Queue;

/// Numbers for what is asked for in a window.
const ASKED: u64 = 1 << 28;
/// Numbers for what an event brings about, and, behind half of them, what requests do until the next one.
const ROOM: u64 = 1 << 20;

/// A window of which events have happened and requests at ports have not.
#[derive(Debug, Default)]
pub struct Ahead {
    /// Requests on their way to the ports of their clusters.
    pub requests: Queue<u32>,
    /// Events that have happened: when, and their numbers.
    happened: Vec<(Time, u64)>,
    /// What is asked for has numbers up to this one.
    asked: u64,
    /// Events that have happened before the last request at its port.
    before: usize,
    /// Requests that have come to ports.
    came: u64,
}

impl Ahead {
    /// A window begins, with events up to a number.
    pub fn begin(&mut self, number: u64) {
        self.happened.clear();
        (self.asked, self.before, self.came) = (number + ASKED, 0, 0);
    }

    /// An event happens, the next in time; what it brings about has numbers behind this one.
    #[inline]
    pub fn happens(&mut self, time: Time, number: u64) -> u64 {
        self.happened.push((time, number));
        self.asked + self.happened.len() as u64 * ROOM
    }

    /// A request comes to its port, the next in time; the same.
    #[inline]
    pub fn comes(&mut self, time: Time, number: u64) -> u64 {
        let happened = self.happened[self.before..].iter();
        self.before += happened.take_while(|event| **event < (time, number)).count();
        self.came += 1;
        self.asked + self.before as u64 * ROOM + ROOM / 2 + self.came
    }

    /// The window is over: its numbers are smaller.
    pub fn end(&self) -> u64 {
        debug_assert!(self.came < ROOM / 2, "{} requests in a window", self.came);
        self.asked + (self.happened.len() as u64 + 1) * ROOM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_has_its_place() {
        let mut ahead = Ahead::default();
        ahead.begin(10);
        let events = [(100, 3), (200, 5), (200, 7)].map(|(time, by)| ahead.happens(time, by));
        let asked = [(50, 1), (100, 4), (150, 11), (200, 6), (200, 12)];
        let requests = asked.map(|(time, by)| ahead.comes(time, by));
        let order = [
            12,
            requests[0],
            events[0],
            requests[1],
            requests[2],
            events[1],
            requests[3],
            events[2],
            requests[4],
            ahead.end(),
        ];
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
    }
}
