//! Threads that work in rounds which one of them begins and ends: a barrier that is waited at by looking
//! (Mellor-Crummey, Scott, "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors",
//! TOCS 1991), since rounds take microseconds.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// A worker.
#[derive(Debug, Default)]
struct Seat {
    /// The last round of which its part has been begun, by it or by the leader.
    begun: AtomicU64,
    /// Its thread, once that runs.
    thread: OnceLock<Thread>,
    sleeps: AtomicBool,
}

impl Seat {
    /// Ends its sleep.
    fn wake(&self) {
        if self.sleeps.load(Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// What a leader and its workers know of each other.
#[derive(Debug)]
pub struct Team {
    seats: Box<[Seat]>,
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
        self.0.over.store(true, Ordering::SeqCst);
        self.0.seats.iter().for_each(Seat::wake);
    }
}

/// What workers did in a round.
#[derive(Clone, Copy, Debug)]
pub struct Help {
    /// How many did their part.
    pub workers: usize,
    /// How long the leader waited for them after it had looked for a while.
    pub waited: Duration,
}

/// Whether rounds are worth it. There is none for a while where nobody has helped in the last ones, nor where
/// they have cost time because others want the processors: a worker lost its own in a part, or the leader
/// had to wait for one, which it may since its worker takes what is due to both. The while is longer each
/// time.
#[derive(Debug, Default)]
pub struct Company {
    /// Rounds one after another in which nobody helped.
    missed: u32,
    /// How often that was too many.
    pauses: u32,
    /// Rounds that are left out now.
    alone: u32,
    /// When the leader asked last how long it had waited for processors, and the answer.
    asked: Option<(Instant, Duration)>,
    /// How often time was lost in a row.
    losses: u32,
    /// Before this time there is no round.
    until: Option<Instant>,
}

/// Rounds without help after which there is none for a while.
const MISSED: u32 = 8;
/// So many, twice as many each time.
const ALONE: u32 = 4;
/// How often these become more.
const MORE: u32 = 6;
/// Time that is lost if it is this much: parts of workers take microseconds.
const LOST: Duration = Duration::from_micros(200);
/// There is no round for so many times as long, twice as many each time.
const REST: u32 = 16;
/// How often these become more.
const LOSSES: u32 = 3;
/// Time between two questions.
const ASK: Duration = Duration::from_millis(2);

/// How long this thread could have run and had no processor, where the system says that.
fn delayed() -> Duration {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = line.split(' ').nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

impl Company {
    /// Whether there is to be a round.
    #[inline]
    pub fn is_worth(&mut self) -> bool {
        if self.alone > 0 {
            self.alone -= 1;
            return false;
        }
        if self.until.is_some_and(|until| until <= Instant::now()) {
            (self.until, self.asked) = (None, None);
        }
        self.until.is_none()
    }

    /// What help there was in it.
    pub fn helped(&mut self, help: Help) {
        self.judge(help.waited);
        if help.workers > 0 {
            (self.missed, self.pauses) = (0, 0);
            return;
        }
        self.missed += 1;
        if self.missed >= MISSED {
            self.missed = 0;
            self.alone = ALONE << self.pauses;
            self.pauses = (self.pauses + 1).min(MORE);
        }
    }

    /// Whether too much time is lost.
    fn judge(&mut self, waited: Duration) {
        let now = Instant::now();
        let mut lost = waited;
        match self.asked {
            Some((last, _)) if now - last < ASK => {}
            _ => {
                let delay = delayed();
                // What was long ago was not in rounds.
                if let Some((last, before)) = self.asked.replace((now, delay))
                    && now - last < 4 * ASK
                {
                    lost += delay.saturating_sub(before);
                    if lost < LOST {
                        self.losses = 0;
                    }
                }
            }
        }
        if lost >= LOST {
            self.until = Some(now + lost * (REST << self.losses));
            self.losses = (self.losses + 1).min(LOSSES);
        }
    }
}

/// A part of a round: done in any case, so that nobody waits for a thread that panicked.
struct Part<'a>(&'a AtomicUsize);

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Looks that are followed by others at once.
const LOOKS: u32 = 1000;

/// Looks after which others have had the processor often enough: who waits sleeps.
const PATIENCE: u32 = 5 * LOOKS;

/// A leader looks for a short while, then lets others have the processor, then sleeps.
fn wait(looked: &mut u32) {
    *looked += 1;
    match *looked {
        0..LOOKS => spin_loop(),
        LOOKS..PATIENCE => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(20)),
    }
}

impl Team {
    /// A leader with so many workers.
    pub fn new(workers: usize) -> Team {
        Team {
            seats: (0..workers).map(|_| Seat::default()).collect(),
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
        let begun = &self.seats[worker].begun;
        let last = begun.load(Ordering::Acquire);
        let exchange =
            || begun.compare_exchange(last, round, Ordering::AcqRel, Ordering::Acquire).is_ok();
        last < round && exchange()
    }

    /// What a worker does, which has a number: its part of every round until the leader is gone, unless
    /// it comes so late that the leader has begun it.
    pub fn work(&self, worker: usize, mut part: impl FnMut(u64)) {
        let mut seen = 0;
        let seat = &self.seats[worker];
        seat.thread.get_or_init(std::thread::current);
        loop {
            let mut looked = 0;
            let round = loop {
                let round = self.round.load(Ordering::SeqCst);
                if round != seen {
                    break round;
                }
                if self.over.load(Ordering::SeqCst) {
                    return;
                }
                looked += 1;
                match looked {
                    0..LOOKS => spin_loop(),
                    LOOKS..PATIENCE => std::thread::yield_now(),
                    // Who wakes it sees that it sleeps, or it sees that there is a round.
                    PATIENCE => seat.sleeps.store(true, Ordering::SeqCst),
                    _ => std::thread::park(),
                }
            };
            if looked >= PATIENCE {
                seat.sleeps.store(false, Ordering::Relaxed);
            }
            seen = round;
            if self.begin(worker, round) {
                let _done = Part(&self.done);
                part(self.about.load(Ordering::Relaxed));
            }
        }
    }

    /// A round: `own` is the leader's part, `part` does that of a worker who has not begun it by then.
    /// All is done afterwards.
    pub fn round(&self, about: u64, own: impl FnOnce(), mut part: impl FnMut(usize)) -> Help {
        self.about.store(about, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        let round = self.round.fetch_add(1, Ordering::SeqCst) + 1;
        self.seats.iter().for_each(Seat::wake);
        own();
        let late = (0..self.seats.len()).filter(|&worker| self.begin(worker, round));
        let workers = self.seats.len() - late.map(&mut part).count();
        let (mut looked, mut since) = (0, None);
        while self.done.load(Ordering::Acquire) < workers {
            if looked == LOOKS {
                since = Some(Instant::now());
            }
            wait(&mut looked);
        }
        Help { workers, waited: since.map_or(Duration::ZERO, |since| since.elapsed()) }
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
                    let help = team.round(round, || own += round, |worker| add(worker, round));
                    assert!(help.workers <= workers);
                    assert!(sums.iter().all(|sum| *sum.lock().unwrap() == own));
                }
            });
        }
    }

    fn help(workers: usize, waited: Duration) -> Help {
        Help { workers, waited }
    }

    #[test]
    fn company_is_asked_for_less_and_less() {
        let mut company = Company::default();
        let mut rounds = |workers: usize| {
            let mut asked = 0;
            for _ in 0..1000 {
                if company.is_worth() {
                    company.helped(help(workers, Duration::ZERO));
                    // What others do on this machine is not asked here.
                    company.until = None;
                    asked += 1;
                }
            }
            asked
        };
        let (first, second) = (rounds(0), rounds(0));
        assert!((30..80).contains(&first) && (16..48).contains(&second), "{first} {second}");
        assert!(rounds(1) > 700);
    }

    #[test]
    fn company_that_lost_its_processor_is_not_asked_for_at_once() {
        let mut company = Company::default();
        company.helped(help(1, LOST / 2));
        assert!(company.is_worth());
        company.helped(help(1, Duration::from_secs(600)));
        assert!(!company.is_worth());
        let mut company = Company::default();
        company.helped(help(1, LOST));
        std::thread::sleep(LOST * REST);
        assert!(company.is_worth());
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn nobody_waits_for_a_thread_that_panicked() {
        let team = Team::new(1);
        std::thread::scope(|scope| {
            let _lead = team.lead();
            scope.spawn(|| team.work(0, |_| panic!("as a part does")));
            while team.round(1, || (), |_| ()).workers == 0 {}
        });
    }
}
