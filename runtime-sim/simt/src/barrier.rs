//! Barriers of a block (PTX ISA, section 9.7.13.1, `barrier.cta`): 16 of them, each for all
//! threads or a number of them, with threads that wait and threads that only arrive.

use crate::Mask;

/// Barriers of a block.
pub const BARRIERS: usize = 16;

/// What is wrong with the use of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BarrierError {
    /// There are 16.
    #[error("there is no barrier {0}: they are numbered 0 to 15")]
    Number(u32),
    /// Not whole warps.
    #[error("barrier {id} is for {count} threads, which is no multiple of 32")]
    Count {
        /// The barrier.
        id: u32,
        /// The number given.
        count: u32,
    },
    /// Threads disagree.
    #[error("barrier {id} is for {count} threads here, but for {other} where others arrived")]
    Disagreement {
        /// The barrier.
        id: u32,
        /// The number given here.
        count: u32,
        /// The number given before.
        other: u32,
    },
    /// A thread comes again before the others came once.
    #[error("a thread arrives at barrier {0} twice before it is complete")]
    Twice(u32),
}

/// Threads that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter<T> {
    /// The warp.
    pub warp: usize,
    /// Its threads.
    pub lanes: Mask,
    /// What the caller wants back.
    pub tag: T,
}

/// A barrier that all have come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion<T> {
    /// Those that waited.
    pub waiters: Vec<Waiter<T>>,
    /// Threads whose predicate holds.
    pub holds: u32,
    /// Threads that gave a predicate.
    pub predicates: u32,
}

#[derive(Clone, Debug)]
struct Barrier<T> {
    /// Threads that it is for; 0 while nobody has come.
    count: u32,
    arrived: Vec<Mask>,
    waiters: Vec<Waiter<T>>,
    holds: u32,
    predicates: u32,
}

/// The barriers of a block.
#[derive(Clone, Debug)]
pub struct Barriers<T> {
    barriers: Vec<Barrier<T>>,
    threads: u32,
}

/// Threads that come to a barrier together.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<T> {
    /// The barrier.
    pub id: u32,
    /// Threads that it is for; 0 for all of the block.
    pub count: u32,
    /// The warp.
    pub warp: usize,
    /// Its threads.
    pub lanes: Mask,
    /// What they get back if they wait.
    pub waits: Option<T>,
    /// The threads whose predicate holds, if they give one.
    pub predicate: Option<Mask>,
}

impl<T: Copy> Barriers<T> {
    /// The barriers of a block of so many threads.
    pub fn new(threads: u32) -> Barriers<T> {
        let warps = threads.div_ceil(32) as usize;
        let barrier = Barrier {
            count: 0,
            arrived: vec![0; warps],
            waiters: Vec::new(),
            holds: 0,
            predicates: 0,
        };
        Barriers { barriers: vec![barrier; BARRIERS], threads: warps as u32 * 32 }
    }

    /// Threads come; `live` gives the threads of each warp that have not ended.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn arrive(
        &mut self,
        arrival: Arrival<T>,
        live: impl Fn(usize) -> Mask,
    ) -> Result<Option<Completion<T>>, BarrierError> {
        let Arrival { id, warp, lanes, .. } = arrival;
        let all = self.threads;
        let barrier = self.barriers.get_mut(id as usize).ok_or(BarrierError::Number(id))?;
        if !arrival.count.is_multiple_of(32) {
            return Err(BarrierError::Count { id, count: arrival.count });
        }
        let count = if arrival.count == 0 { all } else { arrival.count };
        if barrier.count != 0 && barrier.count != count {
            return Err(BarrierError::Disagreement { id, count, other: barrier.count });
        }
        if barrier.arrived[warp] & lanes != 0 {
            return Err(BarrierError::Twice(id));
        }
        barrier.count = count;
        barrier.arrived[warp] |= lanes;
        if let Some(tag) = arrival.waits {
            barrier.waiters.push(Waiter { warp, lanes, tag });
        }
        if let Some(holds) = arrival.predicate {
            barrier.holds += (holds & lanes).count_ones();
            barrier.predicates += lanes.count_ones();
        }
        Ok(self.complete(id as usize, live))
    }

    /// A barrier that the end of threads has completed; to be asked until there is none.
    pub fn after_exit(&mut self, live: impl Fn(usize) -> Mask + Copy) -> Option<Completion<T>> {
        (0..BARRIERS).find_map(|id| self.complete(id, live))
    }

    fn complete(&mut self, id: usize, live: impl Fn(usize) -> Mask) -> Option<Completion<T>> {
        let all = self.threads;
        let barrier = &mut self.barriers[id];
        if barrier.count == 0 {
            return None;
        }
        let mut come = 0;
        for (warp, arrived) in barrier.arrived.iter().enumerate() {
            // A warp counts whole once all its threads are there that there are. One that has
            // ended counts where all threads are expected.
            let whole = live(warp) & !arrived == 0;
            come += match (whole, *arrived != 0 || barrier.count == all) {
                (true, true) => 32,
                _ => arrived.count_ones(),
            };
        }
        if come < barrier.count {
            return None;
        }
        let completion = Completion {
            waiters: std::mem::take(&mut barrier.waiters),
            holds: barrier.holds,
            predicates: barrier.predicates,
        };
        barrier.arrived.fill(0);
        (barrier.count, barrier.holds, barrier.predicates) = (0, 0, 0);
        Some(completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Mask = u32::MAX;

    fn sync(id: u32, count: u32, warp: usize, lanes: Mask) -> Arrival<u32> {
        Arrival { id, count, warp, lanes, waits: Some(warp as u32), predicate: None }
    }

    #[test]
    fn all_threads_in_parts() {
        let mut b = Barriers::new(64);
        assert_eq!(b.arrive(sync(0, 0, 0, 0xffff), |_| ALL), Ok(None));
        assert_eq!(b.arrive(sync(0, 64, 1, ALL), |_| ALL), Ok(None));
        let done = b.arrive(sync(0, 0, 0, 0xffff_0000), |_| ALL).unwrap().unwrap();
        assert_eq!(done.waiters.len(), 3);
        // It can be used again at once.
        assert_eq!(b.arrive(sync(0, 0, 0, ALL), |_| ALL), Ok(None));
    }

    #[test]
    fn ended_threads_do_not_count() {
        let mut b = Barriers::new(96);
        let live = |warp: usize| if warp == 2 { 0 } else { 0xff };
        assert_eq!(b.arrive(sync(3, 0, 0, 0xff), live), Ok(None));
        assert!(b.arrive(sync(3, 0, 1, 0xff), live).unwrap().is_some());
        let mut b = Barriers::new(64);
        assert_eq!(b.arrive(sync(3, 0, 0, ALL), |_| ALL), Ok(None));
        assert!(b.after_exit(|_| ALL).is_none());
        assert!(b.after_exit(|warp| if warp == 1 { 0 } else { ALL }).is_some());
    }

    #[test]
    fn producers_arrive_and_consumers_wait() {
        let mut b = Barriers::new(128);
        let arrive = Arrival { waits: None, ..sync(1, 64, 0, ALL) };
        assert_eq!(b.arrive(arrive, |_| ALL), Ok(None));
        let done = b.arrive(sync(1, 64, 3, ALL), |_| ALL).unwrap().unwrap();
        assert_eq!(done.waiters, [Waiter { warp: 3, lanes: ALL, tag: 3 }]);
        assert_eq!(b.arrive(arrive, |_| ALL), Ok(None));
        assert_eq!(b.arrive(arrive, |_| ALL), Err(BarrierError::Twice(1)));
    }

    #[test]
    fn predicates_are_counted() {
        let mut b = Barriers::new(64);
        let with = |warp, holds| Arrival { predicate: Some(holds), ..sync(0, 0, warp, ALL) };
        assert_eq!(b.arrive(with(0, 0xf), |_| ALL), Ok(None));
        let done = b.arrive(with(1, ALL), |_| ALL).unwrap().unwrap();
        assert_eq!((done.holds, done.predicates), (36, 64));
    }

    #[test]
    fn misuse() {
        let mut b = Barriers::new(128);
        assert_eq!(b.arrive(sync(16, 0, 0, ALL), |_| ALL), Err(BarrierError::Number(16)));
        let count = BarrierError::Count { id: 0, count: 33 };
        assert_eq!(b.arrive(sync(0, 33, 0, ALL), |_| ALL), Err(count));
        assert_eq!(b.arrive(sync(0, 64, 0, ALL), |_| ALL), Ok(None));
        let other = BarrierError::Disagreement { id: 0, count: 96, other: 64 };
        assert_eq!(b.arrive(sync(0, 96, 1, ALL), |_| ALL), Err(other));
    }
}
