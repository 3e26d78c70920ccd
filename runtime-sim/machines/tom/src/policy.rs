//! When an instance of a candidate is offloaded: the policies, behind one question. A policy of one's
//! own is a function from [`Question`] to [`Verdict`], a row in [`POLICIES`] and its name in
//! `isa/tom/src/policy.rs`; docs/offload-policies.md goes through it.

use nbcc_isa_tom::offload::Entry;

use crate::faster::faster;
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
    /// Cycles for which instances of any candidate held a place there lately; 0 before the first is over.
    pub turn: f64,
    /// Warps that its multiprocessors hold.
    pub capacity: u32,
    /// Warps of the GPU's blocks, a multiprocessor: as many as those of a stack would have were they divided
    /// among all.
    pub fair: u32,
    /// Warps of the GPU's blocks that are not away.
    pub at_home: u32,
    /// Blocks of the launch that have not begun.
    pub coming: u64,
    /// What instances of this candidate did in stacks so far.
    pub history: History,
    /// Lanes that run it.
    pub lanes: u32,
    /// Trips of its loop, 1 where that is not known.
    pub trips: u64,
    /// Whether it is in its loop already, having stayed so far.
    pub again: bool,
    /// Of the lines that the GPU asks its shared cache for, the share that comes from stacks.
    pub misses: f64,
    /// Bytes that all links to stacks, or from them, carry in a cycle.
    pub bandwidth: f64,
    /// Bytes of an address and of an acknowledgment on a link.
    pub packet: [u32; 2],
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
    /// Cycles a trip, from marker to end, of those that stayed although their condition held; of loops in each
    /// trip what they took so far.
    pub home: Mean,
    /// Warps that were not away when it was decided on these, they themselves with them.
    pub beside: Mean,
    /// Requests that were pending at their stacks when these were sent, they themselves with them.
    pub ahead: Mean,
    /// Cycles a trip for which those that were offloaded held a place of the stack.
    pub held: Mean,
    /// Cycles from marker to acknowledgment in which they neither held a place nor waited for one there.
    pub way: Mean,
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
        if self.stayed < 2 * MIN_INSTANCES {
            return false;
        }
        self.rested += 1;
        !self.rested.is_multiple_of(LOOKS)
    }
}

impl Experience {
    /// Whether it rests in a trip of a loop that stays, whose time was just noted: as at its markers.
    pub fn rests_within(&self) -> bool {
        self.stayed >= 2 * MIN_INSTANCES && !self.home.count.is_multiple_of(LOOKS)
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
    pub fn add(&mut self, number: f64) {
        self.count += 1;
        self.value += (number - self.value) / self.count.min(16) as f64;
    }
}

/// What instances of a candidate did in stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Instances that came back.
    pub instances: u64,
    /// Trips of their loops, 1 each where that is not known.
    pub trips: u64,
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
    /// Of these, those of requests.
    pub request_bytes: u64,
    /// Lines that they asked memory for.
    pub loads: u64,
    /// Lines that they wrote to memory.
    pub stores: u64,
    /// Bytes that they wrote.
    pub written: u64,
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
    /// Whether a loop that stays is decided on again in each trip: what is left of it is an instance, too.
    pub reconsiders: bool,
    /// Whether requests and acknowledgments are free and all data lies where it is wanted (Fig. 2).
    pub is_ideal: bool,
}

/// Every policy.
pub const POLICIES: &[Policy] = &[
    Policy { name: "controlled", decide: Some(controlled), ..NONE },
    NONE,
    Policy { name: "always", decide: Some(always), ..NONE },
    Policy { name: "ideal", decide: Some(controlled), is_ideal: true, ..NONE },
    Policy { name: "best", decide: Some(faster), rests: true, reconsiders: true, ..NONE },
    Policy { name: "balanced", decide: Some(balanced), ..NONE },
    Policy { name: "scarce", decide: Some(scarce), ..NONE },
    Policy { name: "forced", decide: Some(always), checks_condition: false, ..NONE },
];

/// What a run says for each candidate, under no name.
pub const QUARTERS: Policy = Policy { name: "quarters", decide: Some(quarters), ..NONE };

/// Nothing is offloaded.
const NONE: Policy = Policy {
    name: "none",
    decide: None,
    checks_condition: true,
    rests: false,
    reconsiders: false,
    is_ideal: false,
};

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
pub fn controlled(q: &Question<'_>) -> Verdict {
    if q.tx.is_busy && !q.entry.tag.tx || q.rx.is_busy && !q.entry.tag.rx {
        return Verdict::Channel;
    }
    if q.pending >= q.capacity { Verdict::Warps } else { Verdict::Offload }
}

/// Instances from which on a candidate's history counts.
pub const MIN_INSTANCES: u64 = 8;

/// As [`controlled`], but a candidate whose instances turned out to compute much for each line that they
/// asked for gets a smaller share of the stack: its multiprocessor is one against sixteen of the GPU, and
/// arithmetic would keep it from the bandwidth that it is there for. One that mostly asks other stacks,
/// or moves more than it asks for, stays.
fn balanced(q: &Question<'_>) -> Verdict {
    let verdict = controlled(q);
    let seen = q.history;
    if verdict != Verdict::Offload || seen.instances < MIN_INSTANCES {
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

/// A share of all instances, as evenly as it can be: what the best choice is compared with.
fn quarters(q: &Question<'_>) -> Verdict {
    let gone = |instances: u64| instances * u64::from(q.quarters) / 4;
    if gone(q.number) > gone(q.number - 1) { Verdict::Offload } else { Verdict::Channel }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use nbcc_isa_tom::offload::{RegisterSet, Tag};

    pub(crate) fn entry(tx: bool, rx: bool) -> Entry {
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

    pub(crate) fn question(entry: &Entry) -> Question<'_> {
        Question {
            entry,
            tx: Load::default(),
            rx: Load::default(),
            pending: 0,
            turn: 0.0,
            capacity: 48,
            fair: 0,
            at_home: 0,
            coming: 1,
            history: History::default(),
            lanes: 32,
            trips: 1,
            again: false,
            misses: 1.0,
            bandwidth: 228.0,
            packet: [4, 1],
            line_bytes: 128,
            number: 1,
            experience: Experience::default(),
            quarters: 0,
        }
    }

    pub(crate) const BUSY: Load = Load { share: 1.0, mean: 1.0, is_busy: true };

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
        let mut seen = Experience { stayed: 2 * MIN_INSTANCES - 1, ..Experience::default() };
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
        (0..4).for_each(|number| seen.add(number.into()));
        assert_eq!((seen.count, seen.value), (4, 1.5));
        (0..400).for_each(|_| seen.add(10.0));
        assert!((seen.value - 10.0).abs() < 1e-6);
    }
}
