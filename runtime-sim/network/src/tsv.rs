//! The TSVs of a vault: one slot a cycle, shared in time by control (broadcast
//! instructions) and data (section IV.C of the iPIM paper).
//!
//! Data transfers are served in the order in which they became ready, each taking
//! its slots as they come. Control and data alternate while both wait, so neither
//! starves. Slots are decided lazily, in order: a control slot can be asked for at
//! any cycle that is not decided yet, and what data got before it follows.

use std::collections::VecDeque;

use nbcc_sim_engine::Cycle;

/// Data that wants slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Returned in its [`Grant`].
    pub id: u64,
    /// First cycle at which it can use a slot.
    pub ready: Cycle,
    /// Of transfers that become ready in the same cycle, the lowest rank goes first.
    pub rank: u8,
    /// Slots that it needs, one at least.
    pub slots: u32,
}

/// A transfer has had its last slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Of the transfer.
    pub id: u64,
    /// The cycle of its last slot.
    pub last: Cycle,
}

/// What an arbiter counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TsvStats {
    /// Slots used by control.
    pub control_slots: u64,
    /// Slots used by data.
    pub data_slots: u64,
}

/// The arbiter of the TSVs of a vault.
#[derive(Clone, Debug, Default)]
pub struct TsvArbiter {
    /// First slot that is not decided.
    next: Cycle,
    /// Control had the slot before `next`.
    control_last: bool,
    /// Waiting data, by the cycle at which it is ready.
    waiting: VecDeque<Transfer>,
    stats: TsvStats,
}

impl TsvArbiter {
    /// An arbiter at cycle 0.
    pub fn new() -> TsvArbiter {
        TsvArbiter::default()
    }

    /// Counters so far.
    pub fn stats(&self) -> TsvStats {
        self.stats
    }

    /// Whether no data waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The first cycle whose slot is not decided.
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Queues a transfer behind those that are ready no later. Which goes first does not
    /// depend on the order of the calls, except between equals in rank and readiness.
    pub fn push(&mut self, transfer: Transfer) {
        debug_assert!(transfer.slots > 0, "transfer {} has no slots", transfer.id);
        let behind = self
            .waiting
            .iter()
            .rposition(|other| (other.ready, other.rank) <= (transfer.ready, transfer.rank));
        let at = behind.map_or(0, |index| index + 1);
        self.waiting.insert(at, transfer);
    }

    /// The cycle of the last slot of the transfer at the head of the queue if control
    /// asks for none before.
    pub fn next_grant(&self) -> Option<Cycle> {
        let head = self.waiting.front()?;
        Some(head.ready.max(self.next) + Cycle::from(head.slots) - 1)
    }

    /// Decides all slots before `until` in favour of data.
    pub fn advance(&mut self, until: Cycle, grants: &mut Vec<Grant>) {
        while self.next < until {
            let Some(head) = self.waiting.front_mut() else {
                self.control_last = false;
                self.next = until;
                return;
            };
            if head.ready > self.next {
                self.control_last = false;
                self.next = head.ready.min(until);
                continue;
            }
            let slots = Cycle::from(head.slots).min(until - self.next);
            self.control_last = false;
            self.next += slots;
            self.stats.data_slots += slots;
            head.slots -= slots as u32;
            if head.slots == 0 {
                grants.push(Grant { id: head.id, last: self.next - 1 });
                self.waiting.pop_front();
            }
        }
    }

    /// The cycle at which a control slot asked for at `want` would come.
    pub fn control_cycle(&self, want: Cycle) -> Cycle {
        if want > self.next {
            // Data takes what it can before `want`; control was not there last.
            return want;
        }
        let contended =
            self.control_last && self.waiting.front().is_some_and(|head| head.ready <= self.next);
        self.next + Cycle::from(contended)
    }

    /// Takes the control slot of [`TsvArbiter::control_cycle`].
    pub fn control(&mut self, want: Cycle, grants: &mut Vec<Grant>) -> Cycle {
        let at = self.control_cycle(want);
        self.advance(at, grants);
        self.next = at + 1;
        self.control_last = true;
        self.stats.control_slots += 1;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_alone_has_every_slot() {
        let mut tsv = TsvArbiter::new();
        let mut grants = Vec::new();
        for cycle in 0..4 {
            assert_eq!(tsv.control(cycle, &mut grants), cycle);
        }
        assert_eq!(tsv.stats(), TsvStats { control_slots: 4, data_slots: 0 });
    }

    #[test]
    fn control_and_data_alternate() {
        let mut tsv = TsvArbiter::new();
        let mut grants = Vec::new();
        tsv.push(Transfer { id: 7, ready: 0, rank: 0, slots: 3 });
        // Control was not there before slot 0, so it goes first; then they alternate.
        assert_eq!(tsv.control(0, &mut grants), 0);
        assert_eq!(tsv.control(1, &mut grants), 2);
        assert_eq!(tsv.control(3, &mut grants), 4);
        assert_eq!(grants, []);
        assert_eq!(tsv.control(5, &mut grants), 6);
        assert_eq!(grants, [Grant { id: 7, last: 5 }]);
        assert_eq!(tsv.control(7, &mut grants), 7);
        assert_eq!(tsv.stats(), TsvStats { control_slots: 5, data_slots: 3 });
    }

    #[test]
    fn data_takes_gaps_in_the_order_of_readiness() {
        let mut tsv = TsvArbiter::new();
        let mut grants = Vec::new();
        tsv.push(Transfer { id: 1, ready: 10, rank: 0, slots: 2 });
        tsv.push(Transfer { id: 2, ready: 4, rank: 0, slots: 2 });
        tsv.push(Transfer { id: 3, ready: 10, rank: 0, slots: 1 });
        assert_eq!(tsv.next_grant(), Some(5));
        assert_eq!(tsv.control(5, &mut grants), 5);
        tsv.advance(20, &mut grants);
        assert_eq!(
            grants,
            [Grant { id: 2, last: 6 }, Grant { id: 1, last: 11 }, Grant { id: 3, last: 12 }]
        );
        assert!(tsv.is_idle());
        assert_eq!(tsv.next_grant(), None);
    }
}
