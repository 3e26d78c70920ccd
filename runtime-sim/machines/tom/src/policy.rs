//! When an instance of a candidate is offloaded: the policies, behind one question. A policy of one's
//! own is a function from [`Question`] to [`Verdict`], a row in [`POLICIES`] and its name in
//! `isa/tom/src/policy.rs`; docs/offload-policies.md goes through it.

use nbcc_isa_tom::offload::Entry;

use crate::monitor::Load;

/// What is known where a warp is to be offloaded or not: its condition holds, and its first access of
/// memory is known.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The candidate.
    pub entry: &'a Entry,
    /// How much the channel to the stack of the first access is in use (section 3.3).
    pub tx: Load,
    /// How much the channel from there is.
    pub rx: Load,
    /// Requests for that stack that are not acknowledged.
    pub pending: u32,
    /// Warps that its multiprocessors hold.
    pub capacity: u32,
    /// Warps of the GPU's blocks, a multiprocessor: as many as those of a stack would have were they divided
    /// among all.
    pub fair: u32,
    /// Warps of the GPU's blocks that are not away.
    pub at_home: u32,
    /// What instances of this candidate did in stacks so far.
    pub history: History,
    /// Lanes that run it.
    pub lanes: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Instances of the candidate that came to this question so far, this one with them.
    pub number: u64,
    /// How long instances of this candidate took lately.
    pub experience: Experience,
    /// Of four instances of the candidate so many are to go, where a run says so.
    pub quarters: u8,
}

/// How long instances of a candidate took lately, on either side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experience {
    /// Cycles from marker to end of those that stayed although their condition held.
    pub home: Mean,
    /// Warps that were not away when it was decided on these, they themselves with them.
    pub beside: Mean,
    /// Cycles from marker to acknowledgment of those that were offloaded.
    pub away: Mean,
    /// Requests that were pending at their stacks when these were sent, they themselves with them.
    pub ahead: Mean,
    /// Instances that stayed, as was decided, since the last one that went.
    pub stayed: u64,
    /// Markers that came while the candidate rested.
    pub rested: u64,
}

impl Experience {
    /// Whether the candidate rests at this marker: none of its instances went of late, so that deciding is
    /// time lost. A bit that is read with the marker says so, which then does nothing; of these markers each
    /// [`LOOKS`]th is decided on all the same, and the first instance that goes ends the rest.
    pub fn rests(&mut self) -> bool {
        if self.stayed < 2 * ENOUGH {
            return false;
        }
        self.rested += 1;
        !self.rested.is_multiple_of(LOOKS)
    }
}

/// Of so many markers of a candidate that rests one is decided on.
const LOOKS: u64 = 8;

/// A mean that forgets: over all numbers while they are few, then each counts a sixteenth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// Numbers so far.
    pub count: u64,
    /// Their mean.
    pub value: f64,
}

impl Mean {
    /// Takes a number.
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        self.value += (number as f64 - self.value) / self.count.min(16) as f64;
    }
}

/// What instances of a candidate did in stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Instances that came back.
    pub instances: u64,
    /// Their instructions.
    pub instructions: u64,
    /// Their accesses of memory.
    pub accesses: u64,
    /// Lines that these touched.
    pub lines: u64,
    /// Of these, lines of other stacks.
    pub remote_lines: u64,
    /// Bytes of their requests and acknowledgments.
    pub bytes: u64,
}

/// What becomes of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is offloaded.
    Offload,
    /// It stays: it would use a busy channel more.
    Channel,
    /// It stays: the stack has enough to do.
    Warps,
}

/// A policy.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// What `-X offload` calls it.
    pub name: &'static str,
    /// What becomes of an instance; `None` where nothing is asked because nothing is offloaded.
    pub decide: Option<fn(&Question<'_>) -> Verdict>,
    /// Whether the condition of a loop must hold.
    pub checks_condition: bool,
    /// Whether candidates none of whose instances goes rest ([`Experience::rests`]).
    pub rests: bool,
    /// Whether requests and acknowledgments are free and all data lies where it is wanted (Fig. 2).
    pub is_ideal: bool,
}

/// Every policy.
pub const POLICIES: &[Policy] = &[
    Policy { name: "controlled", decide: Some(controlled), ..NONE },
    NONE,
    Policy { name: "always", decide: Some(always), ..NONE },
    Policy { name: "ideal", decide: Some(controlled), is_ideal: true, ..NONE },
    Policy { name: "best", decide: Some(faster), rests: true, ..NONE },
    Policy { name: "balanced", decide: Some(balanced), ..NONE },
    Policy { name: "scarce", decide: Some(scarce), ..NONE },
    Policy { name: "forced", decide: Some(always), checks_condition: false, ..NONE },
];

/// What a run says for each candidate, under no name.
pub const QUARTERS: Policy = Policy { name: "quarters", decide: Some(quarters), ..NONE };

/// Nothing is offloaded.
const NONE: Policy =
    Policy { name: "none", decide: None, checks_condition: true, rests: false, is_ideal: false };

/// "Uncontrolled" (section 6.1).
fn always(_: &Question<'_>) -> Verdict {
    Verdict::Offload
}

/// The policy of a name, one of `nbcc_isa_tom::policy::OFFLOAD`.
///
/// # Panics
/// There is none.
pub fn of(name: &str) -> Policy {
    let found = POLICIES.iter().find(|policy| policy.name == name);
    *found.unwrap_or_else(|| panic!("there is no policy `{name}`"))
}

/// Sections 3.3 and 4.2: not where the block would use a busy channel more, and not more than the stack's
/// multiprocessor holds.
fn controlled(q: &Question<'_>) -> Verdict {
    if q.tx.is_busy && !q.entry.tag.tx || q.rx.is_busy && !q.entry.tag.rx {
        return Verdict::Channel;
    }
    if q.pending >= q.capacity { Verdict::Warps } else { Verdict::Offload }
}

/// Instances from which on a candidate's history counts.
const ENOUGH: u64 = 8;

/// As [`controlled`], but a candidate whose instances turned out to compute much for each line that they
/// asked for gets a smaller share of the stack: its multiprocessor is one against sixteen of the GPU, and
/// arithmetic would keep it from the bandwidth that it is there for. One that mostly asks other stacks,
/// or moves more than it asks for, stays.
fn balanced(q: &Question<'_>) -> Verdict {
    let verdict = controlled(q);
    let seen = q.history;
    if verdict != Verdict::Offload || seen.instances < ENOUGH {
        return verdict;
    }
    let line = u64::from(q.line_bytes);
    if seen.bytes + seen.remote_lines * line > seen.lines * line {
        return Verdict::Channel;
    }
    /// Instructions a line that a stack's multiprocessor issues while its vaults move the line.
    const BALANCE: u64 = 8;
    let load = seen.instructions.div_ceil(seen.lines.max(1));
    let share = u64::from(q.capacity) * BALANCE / load.max(BALANCE);
    if u64::from(q.pending) >= share.max(1) { Verdict::Warps } else { Verdict::Offload }
}

/// As [`controlled`], but only while a link to the stack or from it is busy: what is not scarce need not
/// be saved.
fn scarce(q: &Question<'_>) -> Verdict {
    if q.tx.is_busy || q.rx.is_busy { controlled(q) } else { Verdict::Channel }
}

/// Of so many instances one goes to the side that seems the slower one, to see whether it still is: of the
/// first ones each [`TRIAL`]th, of more as many each time that their number has doubled, since what held for
/// long is not likely to change soon.
fn trial(number: u64) -> u64 {
    (number.next_power_of_two() / 16).max(TRIAL)
}

/// The least number of instances of which one is tried.
const TRIAL: u64 = 32;

/// To the side on which it will be over first. Warps are a fixed number of customers of two servers; where
/// each goes to the one that answers sooner, both are kept as busy as they can be used (Wardrop,
/// Proceedings of the Institution of Civil Engineers 1(3), 1952). The stack is expected to answer as soon as
/// lately while no more requests are there than were then, and in proportion later beyond, sooner below as far
/// as these had to wait for a place: where more of them do not slow it, it fills. Home is expected to answer as
/// lately, too, and as far as a link is in use in proportion to the warps that are there: at the end of a launch
/// few are, and what waits for a stack then is what the launch waits for. Others gain as well by an instance that
/// spares a link ([`worth`]).
///
/// More than the stack holds may wait for it: instances often come all at once, when blocks begin, and what
/// is kept then does not come again.
///
/// Before both sides are known a stack gets as many as any multiprocessor has, so that launches all of whose
/// instances begin at once gain by it too; all that it holds while a link that would be spared is busy. The first
/// of all stays: of a candidate that comes only once nothing is known in time. Later
/// one of many sees whether the slower side still is, while a link is busy.
fn faster(q: &Question<'_>) -> Verdict {
    let verdict = controlled(q);
    if verdict == Verdict::Channel {
        return verdict;
    }
    let Experience { home, beside, away, ahead, .. } = q.experience;
    let has_room = q.pending < q.capacity;
    let goes = if home.count < ENOUGH || away.count == 0 {
        let is_first = away.count == 0 && q.pending < q.fair && q.number > 1;
        let spares = q.tx.is_busy && q.entry.tag.tx || q.rx.is_busy && q.entry.tag.rx;
        has_room && (is_first || spares)
    } else {
        // Who finds room waits for none, however many did lately.
        let alone = (f64::from(q.capacity) / ahead.value).min(1.0);
        let expected = away.value * (f64::from(q.pending + 1) / ahead.value).max(alone);
        let worth = if has_room { worth(q) } else { 1.0 };
        let used = q.rx.mean.max(q.tx.mean);
        let stays = home.value * (1.0 - used + used * f64::from(q.at_home) / beside.value);
        let is_faster = expected < worth * stays;
        let few = (q.tx.is_busy || q.rx.is_busy) && q.pending < q.capacity.div_ceil(8);
        if q.number.is_multiple_of(trial(q.number)) { !is_faster && few } else { is_faster }
    };
    if goes { Verdict::Offload } else { Verdict::Warps }
}

/// How much longer than at home an instance may take in a stack: where links have nothing to do it must be
/// clearly faster there. Where a link is in use, all that cross it wait for each other, the longer the less
/// of its time is left: an instance spares them what its request and acknowledgment are less than the
/// lines that it asks for, and takes as much as these are of a link that it does not spare.
fn worth(q: &Question<'_>) -> f64 {
    let links = [(q.entry.tag.tx, q.tx.mean), (q.entry.tag.rx, q.rx.mean)];
    let of = |spared: bool| {
        let shares = links.iter().filter(|link| link.0 == spared).map(|link| link.1);
        let used = shares.fold(0.0, f64::max).min(0.95);
        used / (1.0 - used)
    };
    let lines = q.history.lines * u64::from(q.line_bytes);
    let moved = q.history.bytes as f64 / lines.max(1) as f64;
    0.8 + (1.0 - moved).max(0.0) * of(true) - moved * of(false)
}

/// A share of all instances, as evenly as it can be: what the best choice is compared with.
fn quarters(q: &Question<'_>) -> Verdict {
    let gone = |instances: u64| instances * u64::from(q.quarters) / 4;
    if gone(q.number) > gone(q.number - 1) { Verdict::Offload } else { Verdict::Channel }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbcc_isa_tom::offload::{RegisterSet, Tag};

    fn entry(tx: bool, rx: bool) -> Entry {
        Entry {
            kernel: 0,
            begin: 1,
            end: 2,
            live_in: RegisterSet::default(),
            live_out: RegisterSet::default(),
            constants: Vec::new(),
            inputs: 0,
            tag: Tag { tx, rx },
            trips: 1,
            condition: None,
        }
    }

    fn question(entry: &Entry) -> Question<'_> {
        Question {
            entry,
            tx: Load::default(),
            rx: Load::default(),
            pending: 0,
            capacity: 48,
            fair: 0,
            at_home: 0,
            history: History::default(),
            lanes: 32,
            line_bytes: 128,
            number: 1,
            experience: Experience::default(),
            quarters: 0,
        }
    }

    const BUSY: Load = Load { share: 1.0, mean: 1.0, is_busy: true };

    fn mean(count: u64, value: f64) -> Mean {
        Mean { count, value }
    }

    #[test]
    fn every_name_has_its_policy() {
        let names: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
        assert_eq!(names, nbcc_isa_tom::policy::OFFLOAD);
    }

    #[test]
    fn control_spares_busy_channels_and_full_stacks() {
        let saves = entry(false, true);
        let q = question(&saves);
        assert_eq!(controlled(&q), Verdict::Offload);
        assert_eq!(controlled(&Question { rx: BUSY, ..q }), Verdict::Offload);
        assert_eq!(controlled(&Question { tx: BUSY, ..q }), Verdict::Channel);
        assert_eq!(controlled(&Question { pending: 48, ..q }), Verdict::Warps);
        assert_eq!(scarce(&q), Verdict::Channel);
        assert_eq!(scarce(&Question { rx: BUSY, ..q }), Verdict::Offload);
    }

    #[test]
    fn what_never_goes_rests() {
        let mut seen = Experience { stayed: 2 * ENOUGH - 1, ..Experience::default() };
        assert!(!seen.rests() && seen.rested == 0);
        seen.stayed += 1;
        for _ in 0..3 {
            let looks = (0..LOOKS).filter(|_| !seen.rests()).count();
            assert_eq!(looks, 1);
        }
        seen.stayed = 0;
        assert!((0..LOOKS).all(|_| !seen.rests()));
    }

    #[test]
    fn the_faster_side_is_taken() {
        let saves = entry(true, true);
        let known = |away, home, ahead| Experience {
            home: mean(ENOUGH, home),
            beside: mean(ENOUGH, 1000.0),
            away: mean(ENOUGH, away),
            ahead: mean(ENOUGH, ahead),
            ..Experience::default()
        };
        // Of the bytes of its lines an instance moves half.
        let history = History { instances: 1, lines: 8, bytes: 512, ..History::default() };
        let of = |rx, pending, number, experience| {
            let at_home = 1000;
            faster(&Question {
                rx,
                pending,
                at_home,
                number,
                experience,
                history,
                ..question(&saves)
            })
        };
        let idle = Load::default();
        // As many as a multiprocessor has while too little is known, all that it holds if a link is busy.
        let fair = Question { fair: 5, number: 2, ..question(&saves) };
        assert_eq!(faster(&Question { number: 1, ..fair }), Verdict::Warps);
        assert_eq!(faster(&Question { pending: 4, ..fair }), Verdict::Offload);
        assert_eq!(faster(&Question { pending: 5, ..fair }), Verdict::Warps);
        assert_eq!(faster(&Question { pending: 48, fair: 60, ..fair }), Verdict::Warps);
        assert_eq!(of(idle, 0, 1, Experience::default()), Verdict::Warps);
        assert_eq!(of(BUSY, 47, 1, Experience::default()), Verdict::Offload);
        assert_eq!(of(BUSY, 48, 1, Experience::default()), Verdict::Warps);
        // As many requests take as long, twice as many twice that.
        assert_eq!(of(idle, 9, 1, known(100.0, 200.0, 10.0)), Verdict::Offload);
        assert_eq!(of(idle, 19, 1, known(100.0, 200.0, 10.0)), Verdict::Warps);
        assert_eq!(of(idle, 0, 1, known(300.0, 200.0, 10.0)), Verdict::Warps);
        assert_eq!(of(BUSY, 0, 1, known(300.0, 200.0, 10.0)), Verdict::Offload);
        // Who waits must be over sooner, however busy a link is.
        assert_eq!(of(BUSY, 149, 1, known(50.0, 200.0, 50.0)), Verdict::Offload);
        assert_eq!(of(BUSY, 199, 1, known(50.0, 200.0, 50.0)), Verdict::Warps);
        // Home takes half as long once half of the warps are gone, if a link decides that.
        let experience = known(120.0, 200.0, 50.0);
        let waits = Question { pending: 49, at_home: 500, experience, ..question(&saves) };
        assert_eq!(faster(&Question { rx: BUSY, ..waits }), Verdict::Warps);
        assert_eq!(faster(&Question { rx: BUSY, at_home: 1000, ..waits }), Verdict::Offload);
        assert_eq!(faster(&waits), Verdict::Offload);
        // Who need not wait takes as long as those would have that did, without it.
        assert_eq!(of(idle, 47, 1, known(300.0, 200.0, 96.0)), Verdict::Offload);
        assert_eq!(of(idle, 47, 1, known(300.0, 200.0, 48.0)), Verdict::Warps);
        assert_eq!(of(idle, 64, 1, known(300.0, 200.0, 96.0)), Verdict::Warps);
        // One of many looks at the other side.
        assert_eq!(of(BUSY, 0, TRIAL, known(5000.0, 200.0, 10.0)), Verdict::Offload);
        assert_eq!(of(idle, 0, TRIAL, known(500.0, 200.0, 10.0)), Verdict::Warps);
        assert_eq!(of(idle, 0, TRIAL, known(100.0, 200.0, 10.0)), Verdict::Warps);
        // Fewer later on.
        assert_eq!(of(BUSY, 0, 256 * TRIAL - TRIAL, known(5000.0, 200.0, 10.0)), Verdict::Warps);
        assert_eq!(of(BUSY, 0, 256 * TRIAL, known(5000.0, 200.0, 10.0)), Verdict::Offload);
    }

    #[test]
    fn what_spares_a_link_may_take_longer() {
        let saves = entry(true, true);
        let history = History { instances: 1, lines: 8, bytes: 512, ..History::default() };
        let of = |share, bytes| {
            let rx = Load { share, mean: share, is_busy: false };
            worth(&Question { rx, history: History { bytes, ..history }, ..question(&saves) })
        };
        assert!((of(0.0, 512) - 0.8).abs() < 1e-9);
        assert!((of(0.8, 512) - 2.8).abs() < 1e-9);
        assert!((of(1.0, 512) - 10.3).abs() < 1e-9);
        // One that moves more than it asks for spares nothing, nor does one that spares the other link.
        assert!((of(1.0, 2048) - 0.8).abs() < 1e-9);
        // What a link carries that is not spared counts as much: half of the bytes of its lines.
        let spares_none = entry(false, false);
        let busy = |entry, tx, rx| worth(&Question { tx, rx, history, ..question(entry) });
        assert!((busy(&spares_none, Load::default(), BUSY) - (0.8 - 9.5)).abs() < 1e-9);
        let spares_one = entry(false, true);
        assert!((busy(&spares_one, BUSY, BUSY) - 0.8).abs() < 1e-9);
        assert!((busy(&spares_one, Load::default(), BUSY) - 10.3).abs() < 1e-9);
    }

    #[test]
    fn quarters_are_spread_evenly() {
        let saves = entry(true, true);
        for share in 0..=4 {
            let of = |number| quarters(&Question { number, quarters: share, ..question(&saves) });
            let goes: Vec<bool> = (1..=8).map(|number| of(number) == Verdict::Offload).collect();
            assert_eq!(goes.iter().filter(|goes| **goes).count(), 2 * usize::from(share));
            assert_eq!(goes[..4], goes[4..]);
        }
    }

    #[test]
    fn a_mean_forgets() {
        let mut seen = Mean::default();
        (0..4).for_each(|number| seen.add(number));
        assert_eq!((seen.count, seen.value), (4, 1.5));
        (0..400).for_each(|_| seen.add(10));
        assert!((seen.value - 10.0).abs() < 1e-6);
    }
}
