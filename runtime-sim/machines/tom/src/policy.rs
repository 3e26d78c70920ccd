//! When an instance of a candidate is offloaded: the policies, behind one question. A policy of one's
//! own is a function from [`Question`] to [`Verdict`], a row in [`POLICIES`] and its name in
//! `isa/tom/src/policy.rs`; docs/offload-policies.md goes through it.

use nbcc_isa_tom::offload::Entry;

/// What is known where a warp is to be offloaded or not: its condition holds, and its first access of
/// memory is known.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The candidate.
    pub entry: &'a Entry,
    /// Whether the channel to the stack of the first access is busy (section 3.3).
    pub tx_busy: bool,
    /// Whether the channel from there is.
    pub rx_busy: bool,
    /// Requests for that stack that are not acknowledged.
    pub pending: u32,
    /// Warps that its multiprocessors hold.
    pub capacity: u32,
    /// What instances of this candidate did in stacks so far.
    pub history: History,
    /// Lanes that run it.
    pub lanes: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
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
    /// Whether requests and acknowledgments are free and all data lies where it is wanted (Fig. 2).
    pub is_ideal: bool,
}

/// Every policy.
pub const POLICIES: &[Policy] = &[
    Policy { name: "controlled", decide: Some(controlled), ..NONE },
    NONE,
    Policy { name: "always", decide: Some(always), ..NONE },
    Policy { name: "ideal", decide: Some(controlled), is_ideal: true, ..NONE },
    Policy { name: "best", decide: Some(best), ..NONE },
    Policy { name: "forced", decide: Some(always), checks_condition: false, ..NONE },
];

/// Nothing is offloaded.
const NONE: Policy = Policy { name: "none", decide: None, checks_condition: true, is_ideal: false };

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
    if q.tx_busy && !q.entry.tag.tx || q.rx_busy && !q.entry.tag.rx {
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
fn best(q: &Question<'_>) -> Verdict {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_policy() {
        let names: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
        assert_eq!(names, nbcc_isa_tom::policy::OFFLOAD);
    }
}
