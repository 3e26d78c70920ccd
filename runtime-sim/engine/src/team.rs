//! Threads that work in rounds which one of them begins and ends: a barrier that is waited at by looking
//! (Mellor-Crummey, Scott, "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors",
//! TOCS 1991), since rounds take microseconds.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// What a leader and its workers know of each other.
#[derive(Debug)]
pub struct Team {
    /// The last round of which each worker's part has been begun, by it or by the leader.
    begun: Box<[AtomicU64]>,
    /// Rounds that have begun.
    round: AtomicU64,
    /// What the round is about.
    about: AtomicU64,
    /// Parts of workers that are done.
    done: AtomicUsize,
    over: AtomicBool,
}

/// Workers wait for rounds until this is gone.
#[derive(Debug)]
pub struct Lead<'a>(&'a Team);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
    }
}

/// A part of a round: done in any case, so that nobody waits for a thread that panicked.
struct Part<'a>(&'a AtomicUsize);

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Looks for a short while, then lets others have the processor, then sleeps.
fn wait(looked: &mut u32) {
    *looked += 1;
    match *looked {
        0..1000 => spin_loop(),
        1000..5000 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(20)),
    }
}

impl Team {
    /// A leader with so many workers.
    pub fn new(workers: usize) -> Team {
        Team {
            begun: (0..workers).map(|_| AtomicU64::new(0)).collect(),
            round: AtomicU64::new(0),
            about: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// To be kept by the leader while there are rounds.
    pub fn lead(&self) -> Lead<'_> {
        Lead(self)
    }

    /// Whether nobody else has begun a worker's part of a round.
    fn begin(&self, worker: usize, round: u64) -> bool {
        let begun = &self.begun[worker];
        let last = begun.load(Ordering::Acquire);
        let exchange =
            || begun.compare_exchange(last, round, Ordering::AcqRel, Ordering::Acquire).is_ok();
        last < round && exchange()
    }

    /// What a worker does, which has a number: its part of every round until the leader is gone, unless
    /// it comes so late that the leader has begun it.
    pub fn work(&self, worker: usize, mut part: impl FnMut(u64)) {
        let mut seen = 0;
        loop {
            let mut looked = 0;
            let round = loop {
                let round = self.round.load(Ordering::Acquire);
                if round != seen {
                    break round;
                }
                if self.over.load(Ordering::Acquire) {
                    return;
                }
                wait(&mut looked);
            };
            seen = round;
            if self.begin(worker, round) {
                let _done = Part(&self.done);
                part(self.about.load(Ordering::Relaxed));
            }
        }
    }

    /// A round: `own` is the leader's part, `part` does that of a worker who has not begun it by then.
    /// All is done afterwards; tells how many workers did theirs.
    pub fn round(&self, about: u64, own: impl FnOnce(), mut part: impl FnMut(usize)) -> usize {
        self.about.store(about, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        let round = self.round.fetch_add(1, Ordering::Release) + 1;
        own();
        let late = (0..self.begun.len()).filter(|&worker| self.begin(worker, round));
        let helped = self.begun.len() - late.map(&mut part).count();
        let mut looked = 0;
        while self.done.load(Ordering::Acquire) < helped {
            wait(&mut looked);
        }
        helped
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn every_part_of_every_round_is_done_once() {
        for workers in 0..4 {
            let team = Team::new(workers);
            let sums: Vec<Mutex<u64>> = (0..workers).map(|_| Mutex::new(0)).collect();
            let add = |worker: usize, about| *sums[worker].lock().unwrap() += about;
            std::thread::scope(|scope| {
                let _lead = team.lead();
                for worker in 0..workers {
                    let (team, add) = (&team, &add);
                    scope.spawn(move || team.work(worker, |about| add(worker, about)));
                }
                let mut own = 0;
                for round in 1..=1000 {
                    let helped = team.round(round, || own += round, |worker| add(worker, round));
                    assert!(helped <= workers);
                    assert!(sums.iter().all(|sum| *sum.lock().unwrap() == own));
                }
            });
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn nobody_waits_for_a_thread_that_panicked() {
        let team = Team::new(1);
        std::thread::scope(|scope| {
            let _lead = team.lead();
            scope.spawn(|| team.work(0, |_| panic!("as a part does")));
            while team.round(1, || (), |_| ()) == 0 {}
        });
    }
}
