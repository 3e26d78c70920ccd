//! What a controller does next: the minimum of (cycle, precedence, age) over
//! its waiting requests and refreshes. FR-FCFS is that of Rixner et al. (ISCA
//! 2000); the row-hit-first variant, the precedence of activated requests and the
//! drain marks are those of Ramulator 2.1 (Luo et al., CAL 2023).

use nbcc_sim_engine::{Cycle, NEVER};

use super::Controller;
use crate::command::Command;
use crate::config::{QueueKind, Scheduler};
use crate::standard::{SLOTS, slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing will ever happen without a new request.
    Nothing,
    /// A refresh falls due before anything else can issue.
    RefreshDue,
    /// Precharge-all or refresh.
    Refresh,
    /// A command for an entry.
    Serve,
}

/// The next thing to happen if nothing is enqueued before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) cycle: Cycle,
    /// Entry that `Serve` is for.
    pub(super) index: u32,
    pub(super) action: Action,
    pub(super) command: Command,
    /// Write-drain mode after an idle tick, or after `action` if it serves.
    pub(super) write_mode: bool,
}

impl Plan {
    /// Nothing, and a write-drain mode that stays.
    pub(super) fn nothing(write_mode: bool) -> Plan {
        Plan {
            cycle: NEVER,
            index: 0,
            action: Action::Nothing,
            command: Command::Refresh,
            write_mode,
        }
    }

    /// Takes a command for an entry if it can issue earlier than what is planned.
    #[inline]
    fn offer(&mut self, cycle: Cycle, index: usize, command: Command) {
        if cycle < self.cycle {
            self.cycle = cycle;
            self.index = index as u32;
            self.action = Action::Serve;
            self.command = command;
        }
    }
}

/// Which commands to which row buffers have been offered, of as many buffers as bits suffice for.
#[derive(Default)]
struct Offered(u64);

impl Offered {
    /// Whether a command to a buffer was not offered before, as far as is known.
    #[inline]
    fn is_new(&mut self, buffer: usize, command: Command) -> bool {
        let bit = buffer * SLOTS + slot(command);
        let new = bit >= 64 || self.0 >> bit & 1 == 0;
        if bit < 64 {
            self.0 |= 1 << bit;
        }
        new
    }
}

impl Controller {
    #[inline]
    pub(super) fn make_plan(&mut self) {
        if !self.planned {
            self.plan = self.next_plan();
            self.planned = true;
        }
    }

    fn next_plan(&mut self) -> Plan {
        let first = self.now + 1;
        let mut plan = Plan::nothing(self.write_mode);
        if self.active > 0 {
            self.plan_active(first, &mut plan);
        }
        if self.pending_refreshes > 0 {
            if self.active == 0 {
                plan.command = self.device.prerequisite(Command::Refresh, 0, 0);
                plan.cycle = self.device.earliest(plan.command, 0, 0).max(first);
                plan.action = Action::Refresh;
            }
        } else if plan.cycle > first {
            self.plan_waiting(first, &mut plan);
        }
        if plan.cycle >= self.next_refresh {
            plan.cycle = self.next_refresh;
            plan.action = Action::RefreshDue;
        }
        plan
    }

    /// Column commands of entries whose row is held open for them.
    #[inline]
    fn plan_active(&self, first: Cycle, plan: &mut Plan) {
        for (index, entry) in self.queue.iter().enumerate() {
            if entry.active {
                let command = entry.column_command();
                let at = self.device.earliest_at(command, entry.bank, entry.buffer as usize);
                plan.offer(at.max(first), index, command);
                if plan.cycle == first {
                    return;
                }
            }
        }
    }

    /// The policy's choice among entries that have not activated a row.
    #[inline]
    fn plan_waiting(&mut self, first: Cycle, plan: &mut Plan) {
        let config = &self.device.model().config;
        let fcfs = config.scheduler == Scheduler::Fcfs;
        let split = config.queue == QueueKind::Split;
        if split {
            plan.write_mode = self.next_write_mode();
        }
        if fcfs && self.active > 0 {
            return;
        }
        self.scan += 1;
        let mut offered = Offered::default();
        for index in 0..self.queue.len() {
            let entry = self.queue[index];
            // An entry that others wait for is served in either mode, or writes
            // that wait for reads could fill their queue for ever.
            if entry.active || (split && entry.write != plan.write_mode && !entry.blocks) {
                continue;
            }
            self.offer_waiting(index, first, plan, &mut offered);
            if plan.cycle == first || fcfs {
                return;
            }
        }
    }

    /// Takes the next command of an entry that has not activated its row, if nothing forbids it and it
    /// can issue earlier than what is planned; older entries have been looked at.
    #[inline]
    fn offer_waiting(
        &mut self,
        index: usize,
        first: Cycle,
        plan: &mut Plan,
        offered: &mut Offered,
    ) {
        let entry = &self.queue[index];
        let row_hit = self.device.model().config.scheduler == Scheduler::FrFcfsRowHit;
        let buffer = entry.buffer as usize;
        let command = self.device.next_column_step(entry.column_command(), buffer, entry.row);
        let mut held = entry.hazards > 0;
        if command == Command::Precharge {
            let usage = self.buffers[buffer];
            held |= usage.active > 0 || (row_hit && usage.hit_scan == self.scan);
        } else if row_hit && command != Command::Activate {
            self.buffers[buffer].hit_scan = self.scan;
        }
        // A younger entry can have the same command no earlier.
        if !held && offered.is_new(buffer, command) {
            let at = self.device.earliest_at(command, entry.bank, buffer);
            plan.offer(at.max(first), index, command);
        }
    }

    /// Whether what is planned still holds, or holds again, now that the youngest entry has come.
    pub(super) fn plan_youngest(&mut self) -> bool {
        let config = &self.device.model().config;
        if config.scheduler == Scheduler::Fcfs || config.queue == QueueKind::Split {
            return false;
        }
        // While a refresh is due, only entries that have activated their row are served.
        if self.pending_refreshes == 0 {
            let mut plan = self.plan;
            let youngest = self.queue.len() - 1;
            self.offer_waiting(youngest, self.now + 1, &mut plan, &mut Offered::default());
            self.plan = plan;
        }
        true
    }

    /// Write-drain mode as a tick that looks at waiting requests leaves it.
    fn next_write_mode(&self) -> bool {
        let config = self.config();
        let [reads, writes] = self.slots;
        let share = |percent: u32| u64::from(config.write_queue_size) * u64::from(percent);
        let taken = u64::from(writes) * 100;
        if self.write_mode {
            !((writes == 0 || taken < share(config.write_drain_low_percent)) && reads != 0)
        } else {
            taken > share(config.write_drain_high_percent) || reads == 0
        }
    }
}
