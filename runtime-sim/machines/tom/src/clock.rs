//! Time across the machine's clock domains: multiprocessors, interconnect, shared cache, DRAM and TSVs
//! each have a clock of their own. What they share is counted in femtoseconds, in which the periods of
//! Table 1 are exact to a millionth.

use nbcc_sim_engine::{Cycle, NEVER};

/// Femtoseconds from the begin of a launch.
pub type Time = u64;

/// Femtoseconds of a nanosecond.
const NANOSECOND: f64 = 1e6;

/// Femtoseconds of some nanoseconds.
pub fn nanoseconds(ns: f64) -> Time {
    (ns * NANOSECOND).round() as Time
}

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Femtoseconds of a cycle.
    pub period: Time,
}

impl Clock {
    /// A clock of so many gigahertz.
    pub fn gigahertz(rate: f64) -> Clock {
        Clock { period: nanoseconds(1.0 / rate).max(1) }
    }

    /// A clock with cycles of so many nanoseconds.
    pub fn cycle_of(ns: f64) -> Clock {
        Clock { period: nanoseconds(ns).max(1) }
    }

    /// When a cycle begins.
    #[inline]
    pub fn time(self, cycle: Cycle) -> Time {
        if cycle == NEVER { NEVER } else { cycle.saturating_mul(self.period) }
    }

    /// The first cycle that begins at a time or later.
    #[inline]
    pub fn cycle(self, time: Time) -> Cycle {
        if time == NEVER { NEVER } else { time.div_ceil(self.period) }
    }

    /// The first begin of a cycle at a time or later.
    #[inline]
    pub fn edge(self, time: Time) -> Time {
        time.div_ceil(self.period) * self.period
    }
}

/// What moves bytes one after another: a link, or a port. Senders come in the order of time.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// Femtoseconds of a unit.
    unit: Time,
    /// Bytes of a unit: what is smaller takes a whole one.
    unit_bytes: u32,
    /// Femtoseconds from the end of sending to the end of receiving.
    latency: Time,
    free: Time,
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Femtoseconds in which it was in use.
    pub busy: Time,
}

impl Channel {
    /// A channel of so many GB/s for any number of bytes.
    pub fn of_bandwidth(gb_per_s: f64, latency: Time) -> Channel {
        // A byte at a GB/s takes a nanosecond.
        Channel::of_units(nanoseconds(1.0 / gb_per_s), 1, latency)
    }

    /// A channel that takes `unit` femtoseconds for each `unit_bytes` that are begun.
    pub fn of_units(unit: Time, unit_bytes: u32, latency: Time) -> Channel {
        Channel { unit, unit_bytes, latency, free: 0, bytes: 0, packets: 0, busy: 0 }
    }

    /// Femtoseconds in which it was in use up to a time, at which all that was sent by then is known.
    pub fn busy_until(&self, at: Time) -> Time {
        self.busy - self.free.saturating_sub(at).min(self.busy)
    }

    /// Sends bytes at a time or as soon as those before are sent: when that begins, and when all have
    /// arrived.
    #[inline]
    pub fn send(&mut self, at: Time, bytes: u32) -> (Time, Time) {
        let start = at.max(self.free);
        let takes = Time::from(bytes.div_ceil(self.unit_bytes)) * self.unit;
        self.free = start + takes;
        self.bytes += u64::from(bytes);
        self.packets += 1;
        self.busy += takes;
        (start, self.free + self.latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_table_1() {
        let [sm, l2, tsv] = [1.4, 0.7, 1.25].map(Clock::gigahertz);
        assert_eq!((sm.period, l2.period, tsv.period), (714_286, 1_428_571, 800_000));
        assert_eq!(sm.cycle(sm.time(1000)), 1000);
        assert_eq!((tsv.cycle(1), tsv.edge(1), tsv.edge(800_000)), (1, 800_000, 800_000));
        assert_eq!(sm.cycle(NEVER), NEVER);
    }

    #[test]
    fn a_channel_sends_one_after_another() {
        let mut link = Channel::of_bandwidth(80.0, 10);
        assert_eq!(link.send(100, 128), (100, 100 + 128 * 12_500 + 10));
        assert_eq!(link.send(0, 1), (100 + 128 * 12_500, 100 + 129 * 12_500 + 10));
        assert_eq!((link.bytes, link.packets, link.busy), (129, 2, 129 * 12_500));
        let mut port = Channel::of_units(800_000, 32, 0);
        assert_eq!(port.send(0, 33), (0, 1_600_000));
    }
}
