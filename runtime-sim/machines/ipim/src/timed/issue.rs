//! The issue of instructions: the first cycle that all rules allow, what the
//! instruction does, and where it goes.

use nbcc_isa_ipim::route::slots_of_atom;
use nbcc_isa_ipim::{INSTRUCTION_BYTES, Route};
use nbcc_sim_engine::Cycle;
use nbcc_sim_network::Transfer;

use super::{Context, JOIN_INTERVAL, LOCAL_RANK, Message, State, TimedVault, Transit};
use super::{bank_request, note_join, note_split};
use crate::code::Step;
use crate::engines::engines;
use crate::fault::{Fault, FaultKind};
use crate::plan::Plan;
use crate::stall::Stall;
use crate::vault::Next;

impl TimedVault {
    /// Issues the next instruction if it issues before `horizon`; otherwise `core_wakes` says until when
    /// that remains so.
    pub(super) fn step(&mut self, horizon: Cycle, cx: &Context<'_>) -> bool {
        let at = self.pc as usize;
        let Some(step) = cx.code.steps.get(at) else { return self.end(horizon, cx) };
        let plan = &cx.plans[at];
        if plan.route == Route::Sync {
            return self.step_sync(step, horizon, cx);
        }
        if self.is_blocked(plan) && !self.resolve_conflicts(plan, horizon, cx) {
            return false;
        }

        let start = self.clock.max(self.next_free);
        let (mut after_true, mut after_output, mut after_anti) = (start, 0, 0);
        for entry in plan.reads() {
            after_true = after_true.max(self.registers[entry].written);
        }
        if let Some(entry) = plan.write() {
            after_output = self.registers[entry].written;
            after_anti = self.registers[entry].read;
        }
        after_output = after_output.max(after_true);
        after_anti = after_anti.max(after_output);
        let after_order = after_anti
            .max(self.pgsm.ready(plan.pgsm, plan.opcode, plan.port))
            .max(self.vsm.ready(plan.vsm, plan.opcode, None));
        let Some(after_queue) = self.queue_slot(after_order, horizon, cx) else { return false };
        let issue = if plan.broadcast { self.tsv.control_cycle(after_queue) } else { after_queue };
        if issue >= horizon {
            self.core_wakes = issue;
            return false;
        }

        let next = match step {
            Step::Run(inst) => self.vault.execute(inst),
            Step::Place { dst, coordinate } => {
                self.vault.set_place(*dst, *coordinate, cx.machine);
                Ok(Next::Fall)
            }
            Step::Fault(kind) => Err(Box::new(kind.clone())),
        };
        let next = match next {
            Ok(next) => next,
            Err(kind) => {
                self.fail(issue, *kind);
                return false;
            }
        };

        if plan.broadcast {
            self.tsv.control(after_queue, &mut self.grants);
            self.take_grants(cx);
        }
        for (cause, until) in [
            (Stall::Branch, start),
            (Stall::TrueDependence, after_true),
            (Stall::OutputDependence, after_output),
            (Stall::AntiDependence, after_anti),
            (Stall::ScratchpadOrder, after_order),
            (Stall::QueueFull, after_queue),
            (Stall::Tsv, issue),
        ] {
            self.stall(cause, until, at);
        }
        self.issued[at] += 1;
        self.clock = issue + 1;
        self.next_free = issue + 1;
        self.pc += 1;
        if let Some(timeline) = &mut self.timeline {
            timeline.issue(step, plan, issue, at as u32 * INSTRUCTION_BYTES, cx.machine);
        }
        self.dispatch(plan, at as u32, issue, cx);
        if let Next::Jump(target) = next {
            self.pc = target;
            self.next_free += Cycle::from(cx.machine.control.branch_penalty);
        }
        true
    }

    /// Sends an issued instruction where it goes.
    pub(super) fn dispatch(&mut self, plan: &Plan, pc: u32, issue: Cycle, cx: &Context<'_>) {
        match plan.route {
            Route::Fixed { latency } => {
                let retire = issue + Cycle::from(latency);
                self.note_issue(plan, Some(retire));
                self.note_retirement(retire);
            }
            Route::Bank { write, before, .. } => {
                // Engines send requests in program order, however long their registers take.
                let time = self.last_bank_request.max(issue + Cycle::from(before));
                self.last_bank_request = time;
                self.dispatch_bank(plan, pc, time, write, cx);
            }
            Route::Vsm { slots, before, .. } => {
                let pending = self.add_pending(plan, pc, 1);
                let id = u64::from(self.transits.insert(Transit::Scratchpad { pending }));
                let ready = issue + Cycle::from(before);
                let on_base_die = cx.machine.features.process_on_base_die;
                let arbiter = if on_base_die { &mut self.port } else { &mut self.tsv };
                arbiter.push(Transfer { id, ready, rank: LOCAL_RANK, slots });
            }
            Route::Fetch => {
                let fetch = self.vault.fetch;
                let pending = self.add_pending(plan, pc, 1);
                if fetch.bank.vault == self.vault.id {
                    let bank = fetch.bank.engine as usize;
                    let atom = self.vault.banks.read(bank, fetch.address);
                    self.vault.receive(fetch.vsm, atom);
                }
                self.outbox.push((issue, Message::Request { fetch, pending }));
            }
            Route::Sync => unreachable!("a sync is not dispatched"),
        }
    }

    /// Sends the requests of a bank access, which leave the engines at `time`.
    pub(super) fn dispatch_bank(
        &mut self,
        plan: &Plan,
        pc: u32,
        time: Cycle,
        write: bool,
        cx: &Context<'_>,
    ) {
        let pes = cx.machine.hierarchy.pes;
        if self.together {
            self.join_countdown -= 1;
            if self.join_countdown == 0 {
                // The clock is past the issue, and requests come later still.
                self.join_groups(self.clock - 1, cx);
            }
            let (pending, order) = (&mut self.pending, &self.pending_order);
            let note = |split| note_split(pending, order, split);
            self.groups.part(plan.mask, &self.vault.addresses, note);
        }
        let number = self.add_pending(plan, pc, 0);
        let on_base_die = cx.machine.features.process_on_base_die;
        for class in 0..self.groups.classes() {
            let first = self.groups.first(class) * pes;
            let of_group = u64::from(plan.mask) >> first & ((1 << pes) - 1);
            for pe in engines(of_group as u32) {
                let engine = first + pe as u32;
                let address = self.vault.addresses[engine as usize];
                let request = bank_request(cx.machine, u64::from(number), engine, address, write);
                let entry = self.pending.get_mut(number).expect("just added");
                entry.of_class[class] += 1;
                entry.remaining += 1;
                if on_base_die {
                    let group = first / pes;
                    let transit = Transit::Bank { group, local: true, request };
                    let id = u64::from(self.transits.insert(transit));
                    let slots = slots_of_atom(cx.machine);
                    self.tsv.push(Transfer { id, ready: time, rank: LOCAL_RANK, slots });
                } else {
                    self.groups.push(class, time, true, request);
                }
            }
        }
    }

    /// Joins classes of groups that have become alike; whatever comes next comes after cycle `now`.
    pub(super) fn join_groups(&mut self, now: Cycle, cx: &Context<'_>) {
        self.join_countdown = JOIN_INTERVAL;
        if !self.together || self.groups.classes() == 1 {
            return;
        }
        // What has moved one class so far has waited for nothing that could still come to another.
        let now = self.groups.latest().max(now);
        for class in 0..self.groups.classes() {
            self.advance_class(class, now, cx);
        }
        let (pending, order) = (&mut self.pending, &self.pending_order);
        self.groups.join(|class| note_join(pending, order, class));
    }

    pub(super) fn step_sync(&mut self, step: &Step, horizon: Cycle, cx: &Context<'_>) -> bool {
        if !self.resolve_all(horizon, cx) {
            return false;
        }
        let start = self.clock.max(self.next_free);
        let issue = start.max(self.last_retirement);
        if issue >= horizon {
            self.core_wakes = issue;
            return false;
        }
        let at = self.pc as usize;
        self.stall(Stall::Branch, start, at);
        self.stall(Stall::Sync, issue, at);
        let Step::Run(inst) = step else { unreachable!("a sync that is a fault") };
        let Ok(Next::Sync(phase)) = self.vault.execute(inst) else {
            unreachable!("a sync does nothing else");
        };
        self.issued[at] += 1;
        self.clock = issue + 1;
        self.pc += 1;
        if let Some(timeline) = &mut self.timeline {
            timeline.issue(step, &cx.plans[at], issue, at as u32 * INSTRUCTION_BYTES, cx.machine);
        }
        self.state = State::Waiting(phase);
        self.outbox.push((issue, Message::Arrive));
        false
    }

    pub(super) fn end(&mut self, horizon: Cycle, cx: &Context<'_>) -> bool {
        if self.resolve_all(horizon, cx) {
            self.stall(Stall::Branch, self.next_free, self.pc as usize);
            // No instruction is left to wait: the last one of the program is what is waited for.
            self.stall(Stall::Drain, self.last_retirement, self.pc.saturating_sub(1) as usize);
            self.state = State::Ended;
        }
        false
    }

    pub(super) fn fail(&mut self, cycle: Cycle, kind: FaultKind) {
        let (vault, pc) = (self.vault.id, self.pc_bytes());
        self.fault = Some(Fault { vault, pc, cycle: Some(cycle), kind });
    }

    /// Accounts for the cycles until `until` as waiting of the instruction `at`.
    #[inline]
    pub(super) fn stall(&mut self, cause: Stall, until: Cycle, at: usize) {
        if until > self.clock {
            let cycles = until - self.clock;
            self.stalls[cause as usize] += cycles;
            self.stalled[at] += cycles;
            if let Some(timeline) = &mut self.timeline {
                timeline.stall(cause, self.clock, cycles);
            }
            self.clock = until;
        }
    }
}
