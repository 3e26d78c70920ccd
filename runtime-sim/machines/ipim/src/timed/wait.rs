//! What control cores wait for: completions of banks and transfers, found out only as
//! far as they must be known, and the scoreboard that remembers them.

use nbcc_isa_ipim::{INSTRUCTION_BYTES, Route};
use nbcc_sim_engine::Cycle;

use super::{Context, Message, Pending, REMOTE, Remote, TimedVault, Transit, note_split};
use crate::plan::Plan;

impl TimedVault {
    /// Whether an instruction depends on one whose retirement is not known.
    #[inline]
    pub(super) fn is_blocked(&self, plan: &Plan) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        plan.reads().any(|entry| self.registers[entry].writers > 0)
            || plan.write().is_some_and(|entry| {
                self.registers[entry].writers > 0 || self.registers[entry].readers > 0
            })
            || self.pgsm.is_blocked(plan.pgsm, plan.opcode)
            || self.vsm.is_blocked(plan.vsm, plan.opcode)
    }

    /// Finds out when the instructions that `plan` depends on retire; false when that
    /// lies beyond the horizon.
    #[cold]
    pub(super) fn resolve_conflicts(
        &mut self,
        plan: &Plan,
        horizon: Cycle,
        cx: &Context<'_>,
    ) -> bool {
        let mut at = 0;
        while let Some(number) = self.pending_order.get(at).copied() {
            let pc = self.pending.get(number).expect("a pending instruction").pc;
            if !cx.plans[pc as usize].delays(plan) {
                at += 1;
                continue;
            }
            if !self.resolve(number, horizon, cx) {
                return false;
            }
            // What was resolved, this one and maybe others, has left the list.
            at = 0;
        }
        true
    }

    pub(super) fn resolve_all(&mut self, horizon: Cycle, cx: &Context<'_>) -> bool {
        while let Some(number) = self.pending_order.first().copied() {
            if !self.resolve(number, horizon, cx) {
                return false;
            }
        }
        true
    }

    /// Moves what a pending instruction waits for forward until its retirement is
    /// known; false when that lies beyond the horizon, and `core_wakes` says how far at least. The core cannot issue before that retirement, so nothing that it might
    /// still send can come too late for what is moved here.
    pub(super) fn resolve(&mut self, number: u32, horizon: Cycle, cx: &Context<'_>) -> bool {
        let pc = self.pending.get(number).expect("a pending instruction").pc;
        match cx.plans[pc as usize].route {
            Route::Bank { .. } => {
                for class in 0..self.groups.classes() {
                    while self.pending.get(number).is_some_and(|p| p.of_class[class] > 0) {
                        let event = self.groups.next_event(class);
                        let grant = self.tsv.next_grant();
                        match (event, grant) {
                            (Some(event), Some(grant)) if event < grant && event < horizon => {
                                self.advance_class(class, event, cx);
                            }
                            (Some(event), None) if event < horizon => {
                                self.advance_class(class, event, cx);
                            }
                            (_, Some(grant)) if grant < horizon => self.advance_tsv(grant, cx),
                            _ => {
                                let next = event.into_iter().chain(grant).min();
                                self.core_wakes = next.expect("what it waits for");
                                return false;
                            }
                        }
                    }
                }
                true
            }
            Route::Vsm { .. } => {
                while self.pending.get(number).is_some_and(|p| p.pc == pc) {
                    let on_base_die = cx.machine.features.process_on_base_die;
                    let arbiter = if on_base_die { &self.port } else { &self.tsv };
                    match arbiter.next_grant() {
                        Some(grant) if grant < horizon && on_base_die => {
                            self.port.advance(grant + 1, &mut self.grants);
                            self.take_grants(cx);
                        }
                        Some(grant) if grant < horizon => self.advance_tsv(grant, cx),
                        grant => {
                            self.core_wakes = grant.expect("what it waits for");
                            return false;
                        }
                    }
                }
                true
            }
            Route::Fetch => {
                self.core_wakes = Cycle::MAX;
                false
            }
            Route::Fixed { .. } | Route::Sync => unreachable!("it is never pending"),
        }
    }

    /// The first cycle from `time` on at which the issued-instruction queue has room;
    /// `None` when that lies beyond the horizon.
    pub(super) fn queue_slot(
        &mut self,
        time: Cycle,
        horizon: Cycle,
        cx: &Context<'_>,
    ) -> Option<Cycle> {
        let capacity = cx.machine.control.instruction_queue as usize;
        if self.pending.len() + self.retiring.len() < capacity {
            return Some(time);
        }
        self.retiring.retain(|retire| *retire > time);
        if self.pending.len() + self.retiring.len() < capacity {
            return Some(time);
        }
        self.wait_for_slot(time, capacity, horizon, cx)
    }

    #[cold]
    pub(super) fn wait_for_slot(
        &mut self,
        time: Cycle,
        capacity: usize,
        horizon: Cycle,
        cx: &Context<'_>,
    ) -> Option<Cycle> {
        let mut time = time;
        loop {
            // What retires by `time` leaves; what happens later than the first of the
            // known retirements cannot retire before it.
            self.retiring.retain(|retire| *retire > time);
            if self.pending.len() + self.retiring.len() < capacity {
                return Some(time);
            }
            let retire = self.retiring.iter().min().copied();
            match (self.next_event(), retire) {
                (Some(event), _) if event <= time || retire.is_none_or(|r| event < r) => {
                    if event >= horizon {
                        self.core_wakes = event;
                        return None;
                    }
                    self.process(event, cx);
                }
                (_, Some(retire)) if retire < horizon => time = retire,
                (_, retire) => {
                    self.core_wakes = retire.unwrap_or(Cycle::MAX);
                    return None;
                }
            }
        }
    }

    /// The next cycle at which something happens to a bank access or a transfer.
    pub(super) fn next_event(&mut self) -> Option<Cycle> {
        let groups = self.groups.next_event_of_any();
        let grants = self.tsv.next_grant().into_iter().chain(self.port.next_grant()).min();
        groups.into_iter().chain(grants).min()
    }

    /// Does what happens at `event`, the cycle that `next_event` said.
    pub(super) fn process(&mut self, event: Cycle, cx: &Context<'_>) {
        if self.tsv.next_grant() == Some(event) {
            self.advance_tsv(event, cx);
        }
        if self.port.next_grant() == Some(event) {
            self.port.advance(event + 1, &mut self.grants);
            self.take_grants(cx);
        }
        for class in 0..self.groups.classes() {
            if self.groups.next_event(class).is_some_and(|next| next <= event) {
                self.advance_class(class, event, cx);
            }
        }
    }

    pub(super) fn advance_tsv(&mut self, grant: Cycle, cx: &Context<'_>) {
        self.tsv.advance(grant + 1, &mut self.grants);
        self.take_grants(cx);
    }

    pub(super) fn take_grants(&mut self, cx: &Context<'_>) {
        if self.grants.is_empty() {
            return;
        }
        let mut grants = std::mem::take(&mut self.grants);
        for grant in grants.drain(..) {
            match self.transits.remove(grant.id as u32) {
                Transit::Bank { group, local, request } => {
                    let time = grant.last + Cycle::from(cx.machine.latency.t_tsv);
                    let (pending, order) = (&mut self.pending, &self.pending_order);
                    self.groups.isolate(group, |split| note_split(pending, order, split));
                    let class = self.groups.class_of(group);
                    self.groups.push(class, time, local, request);
                }
                Transit::Scratchpad { pending } => {
                    let pc = self.pending.get(pending).expect("a pending transfer").pc;
                    let plan = &cx.plans[pc as usize];
                    let Route::Vsm { slots, after, .. } = plan.route else {
                        unreachable!("a transfer of the scratchpad");
                    };
                    if let Some(timeline) = &mut self.timeline {
                        timeline.transfer(grant.last, slots, pc * INSTRUCTION_BYTES);
                    }
                    self.complete(pending, grant.last + Cycle::from(after), cx);
                }
            }
        }
        self.grants = grants;
    }

    pub(super) fn advance_class(&mut self, class: usize, until: Cycle, cx: &Context<'_>) {
        let mut completions = std::mem::take(&mut self.completions);
        self.groups.advance(class, until, &mut completions);
        for completion in completions.drain(..) {
            if completion.id & REMOTE != 0 {
                let Remote { from, pending, number } = self.remotes.remove(completion.id as u32);
                let l = &cx.machine.latency;
                let time = completion.finish + Cycle::from(l.t_pe_bus + l.t_tsv + l.t_vsm);
                self.outbox.push((time, Message::Response { to: from, pending, number }));
                continue;
            }
            let number = completion.id as u32;
            let entry = self.pending.get_mut(number).expect("a pending bank access");
            let plan = &cx.plans[entry.pc as usize];
            let Route::Bank { after, .. } = plan.route else { unreachable!("a bank access") };
            entry.of_class[class] -= 1;
            entry.remaining -= 1;
            entry.done = entry.done.max(completion.finish + Cycle::from(after));
            if entry.remaining == 0 {
                let done = entry.done;
                self.complete(number, done, cx);
            }
        }
        self.completions = completions;
        if self.timeline.is_some() {
            self.log_commands();
        }
    }

    pub(super) fn log_commands(&mut self) {
        let Some(timeline) = &mut self.timeline else { return };
        for class in 0..self.groups.classes() {
            let log = self.groups.take_log(class);
            for group in self.groups.members(class) {
                log.iter().for_each(|issued| timeline.command(group as usize, issued));
            }
        }
    }

    pub(super) fn add_pending(&mut self, plan: &Plan, pc: u32, remaining: u32) -> u32 {
        self.note_issue(plan, None);
        let number = self.pending.insert(Pending { pc, remaining, of_class: [0; 32], done: 0 });
        self.pending_order.push(number);
        number
    }

    /// The retirement of a pending instruction is known.
    pub(super) fn complete(&mut self, number: u32, retire: Cycle, cx: &Context<'_>) {
        let Pending { pc, .. } = self.pending.remove(number);
        self.pending_order.retain(|other| *other != number);
        let plan = &cx.plans[pc as usize];
        for entry in plan.reads() {
            let register = &mut self.registers[entry];
            register.readers -= 1;
            register.read = register.read.max(retire);
        }
        if let Some(entry) = plan.write() {
            let register = &mut self.registers[entry];
            register.writers -= 1;
            register.written = register.written.max(retire);
        }
        self.pgsm.retire(plan.pgsm, plan.port, retire);
        self.vsm.retire(plan.vsm, None, retire);
        self.note_retirement(retire);
    }

    /// Enters an instruction into the scoreboard, with its retirement if known.
    #[inline]
    pub(super) fn note_issue(&mut self, plan: &Plan, retire: Option<Cycle>) {
        for entry in plan.reads() {
            let register = &mut self.registers[entry];
            match retire {
                Some(retire) => register.read = register.read.max(retire),
                None => register.readers += 1,
            }
        }
        if let Some(entry) = plan.write() {
            let register = &mut self.registers[entry];
            match retire {
                Some(retire) => register.written = register.written.max(retire),
                None => register.writers += 1,
            }
        }
        // The clock is past the issue.
        let issue = self.clock - 1;
        self.pgsm.issue(plan.pgsm, plan.opcode, issue, plan.port, retire);
        self.vsm.issue(plan.vsm, plan.opcode, issue, None, retire);
    }

    #[inline]
    pub(super) fn note_retirement(&mut self, retire: Cycle) {
        self.last_retirement = self.last_retirement.max(retire);
        self.retiring.push(retire);
    }
}
