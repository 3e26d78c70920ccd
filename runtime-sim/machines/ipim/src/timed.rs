//! A vault in time: its control core issues in order, one instruction a cycle, into
//! the issued-instruction queue; units take their time; an instruction retires when
//! all its engines are done (section IV.B of the iPIM paper).
//!
//! Issue decides everything that happens inside the vault but one: when banks and
//! transfers complete. Those are found out lazily, when the core must know, by moving
//! the groups' controllers and the TSV arbiter forward. They never pass the cycle at
//! which the core could next send them something, nor the horizon up to which
//! messages from other vaults are known.

use std::sync::Arc;

use nbcc_isa_ipim::{ATOM_BYTES, INSTRUCTION_BYTES, Machine};
use nbcc_sim_dram::{Completion, Model, Request};
use nbcc_sim_engine::Cycle;
use nbcc_sim_network::{Grant, Transfer, TsvArbiter, TsvStats};

use crate::code::{Code, Step};
use crate::fault::{Fault, FaultKind};
use crate::group::kind;
use crate::groups::{DramTotals, Groups, Split};
use crate::lookahead::Lookahead;
use crate::plan::{Access, Plan, Route, SCOREBOARD, slots_of_atom};
use crate::slab::Slab;
use crate::timeline::Timeline;
use crate::vault::{Fetch, Next, Vault, engines};

/// What all vaults share.
pub struct Context<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The program.
    pub code: &'a Code,
    /// A plan an instruction.
    pub plans: &'a [Plan],
    /// Distances to the next messages.
    pub lookahead: &'a Lookahead,
    /// Whether groups that see the same requests are simulated once; results do not
    /// depend on it.
    pub together: bool,
}

/// Why a control core did not issue in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// Fetch and decode after a taken jump.
    Branch,
    /// It reads a register that an issued instruction writes.
    TrueDependence,
    /// It writes a register that an issued instruction writes.
    OutputDependence,
    /// It writes a register that an issued instruction reads.
    AntiDependence,
    /// A scratchpad is read or written by an issued instruction.
    ScratchpadOrder,
    /// The issued-instruction queue is full.
    QueueFull,
    /// The TSVs carry data.
    Tsv,
    /// Not all instructions before a `sync` have retired, or not all vaults are there.
    Sync,
    /// The program is over, but not all its instructions have retired.
    Drain,
}

impl Stall {
    /// Every cause.
    pub const ALL: [Stall; 9] = [
        Stall::Branch,
        Stall::TrueDependence,
        Stall::OutputDependence,
        Stall::AntiDependence,
        Stall::ScratchpadOrder,
        Stall::QueueFull,
        Stall::Tsv,
        Stall::Sync,
        Stall::Drain,
    ];

    /// The name in statistics and traces.
    pub fn name(self) -> &'static str {
        match self {
            Stall::Branch => "branch",
            Stall::TrueDependence => "true_dependence",
            Stall::OutputDependence => "output_dependence",
            Stall::AntiDependence => "anti_dependence",
            Stall::ScratchpadOrder => "scratchpad_order",
            Stall::QueueFull => "queue_full",
            Stall::Tsv => "tsv",
            Stall::Sync => "sync",
            Stall::Drain => "drain",
        }
    }
}

/// What a vault sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Asks for an atom of a bank.
    Request {
        /// The atom and where it is to go.
        fetch: Fetch,
        /// The instruction that asks, in the vault that asks.
        pending: u32,
    },
    /// Brings the atom.
    Response {
        /// The vault that asked.
        to: u32,
        /// The instruction that asked.
        pending: u32,
        /// How many requests this vault had received before.
        number: u64,
    },
    /// Has come to a `sync`.
    Arrive,
}

/// Whether a control core runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs, or waits for something of its own.
    Running,
    /// It waits for the other vaults at a phase.
    Waiting(u32),
    /// Its program is over.
    Ended,
}

/// A scoreboard entry: when the instructions that use a register retire.
#[derive(Clone, Copy, Debug, Default)]
struct Register {
    written: Cycle,
    read: Cycle,
    /// An issued instruction of unknown retirement writes it.
    writers: u16,
    /// Issued instructions of unknown retirement that read it.
    readers: u16,
}

/// As a register, for a scratchpad.
#[derive(Clone, Copy, Debug, Default)]
struct Scratchpad {
    written: Cycle,
    read: Cycle,
    writers: u16,
    readers: u16,
    /// Opcode of the last writers.
    opcode: u8,
}

impl Scratchpad {
    /// Whether an access has to wait for instructions of unknown retirement.
    fn is_blocked(&self, access: Access, opcode: u8) -> bool {
        match access {
            Access::None => false,
            Access::Read => self.writers > 0,
            Access::Write => self.readers > 0 || (self.writers > 0 && self.opcode != opcode),
        }
    }

    /// The first cycle at which an access may issue.
    fn ready(&self, access: Access, opcode: u8) -> Cycle {
        match access {
            Access::None => 0,
            Access::Read => self.written,
            Access::Write if self.opcode == opcode => self.read,
            Access::Write => self.read.max(self.written),
        }
    }

    fn issue(&mut self, access: Access, opcode: u8, retire: Option<Cycle>) {
        let (time, count) = match access {
            Access::None => return,
            Access::Read => (&mut self.read, &mut self.readers),
            Access::Write => {
                self.opcode = opcode;
                (&mut self.written, &mut self.writers)
            }
        };
        match retire {
            Some(retire) => *time = (*time).max(retire),
            None => *count += 1,
        }
    }

    fn retire(&mut self, access: Access, retire: Cycle) {
        let (time, count) = match access {
            Access::None => return,
            Access::Read => (&mut self.read, &mut self.readers),
            Access::Write => (&mut self.written, &mut self.writers),
        };
        *time = (*time).max(retire);
        *count -= 1;
    }
}

/// An issued instruction whose retirement is not known.
#[derive(Clone, Debug)]
struct Pending {
    pc: u32,
    /// Bank accesses, or the one transfer or message, that it waits for.
    remaining: u32,
    /// Bank accesses by class of groups.
    of_class: [u8; 32],
    /// When what is done of it was done.
    done: Cycle,
}

/// What goes over the TSVs or the port of the scratchpad.
#[derive(Clone, Copy, Debug)]
enum Transit {
    /// Between registers and the vault's scratchpad, for an issued instruction.
    Scratchpad { pending: u32 },
    /// A request to the controller of a group.
    Bank { group: u32, local: bool, request: Request },
}

/// A request of another vault (or of this one, by `req`).
#[derive(Clone, Copy, Debug)]
struct Remote {
    from: u32,
    pending: u32,
    number: u64,
}

/// Marks the ids of remote requests among those of a controller.
const REMOTE: u64 = 1 << 63;
/// Bank instructions after which it is seen whether classes of groups can be joined.
const JOIN_INTERVAL: u32 = 64;
/// Ranks of TSV transfers that become ready together.
const REMOTE_RANK: u8 = 0;
const LOCAL_RANK: u8 = 1;

/// A vault with its clock.
pub struct TimedVault {
    /// What programs see of it.
    pub vault: Vault,
    /// Whether its core runs.
    pub state: State,
    /// What it has sent since this was last taken, with the cycles.
    pub outbox: Vec<(Cycle, Message)>,
    /// How its program failed.
    pub fault: Option<Fault>,
    /// Issues, by instruction.
    pub issued: Vec<u64>,
    /// Cycles that the core waited to issue, by instruction; the last is for the end.
    pub stalled: Vec<u64>,
    /// Cycles that the core waited, by cause.
    pub stalls: [u64; Stall::ALL.len()],
    /// Atoms fetched from this vault's banks by `req`.
    pub served: u64,
    pc: u32,
    /// First cycle that is neither an issue nor a stall yet.
    clock: Cycle,
    /// First cycle at which fetch and decode have an instruction.
    next_free: Cycle,
    registers: Box<[Register; SCOREBOARD]>,
    pgsm: Scratchpad,
    vsm: Scratchpad,
    pending: Slab<Pending>,
    /// Numbers of pending instructions in the order of issue.
    pending_order: Vec<u32>,
    /// Known retirements that may lie ahead.
    retiring: Vec<Cycle>,
    last_retirement: Cycle,
    /// When the last bank accesses left the engines.
    last_bank_request: Cycle,
    tsv: TsvArbiter,
    /// The port of the vault's scratchpad where it is not the TSVs.
    port: TsvArbiter,
    transits: Slab<Transit>,
    groups: Groups,
    /// Pending instructions that access banks.
    pending_bank: u32,
    /// Whether groups that see the same requests are simulated once.
    together: bool,
    /// Bank instructions until classes of groups are looked at again.
    join_countdown: u32,
    remotes: Slab<Remote>,
    grants: Vec<Grant>,
    completions: Vec<Completion>,
    timeline: Option<Timeline>,
}

impl TimedVault {
    /// A vault at cycle 0.
    pub fn new(vault: Vault, cx: &Context<'_>, model: &Arc<Model>, trace: Option<usize>) -> Self {
        let count = cx.code.len() as usize;
        let h = &cx.machine.hierarchy;
        let mut groups = Groups::new(h.pgs, h.pes, model, cx.together);
        let timeline = trace.map(|limit| {
            groups.enable_log();
            Timeline::new(vault.id, h.pgs, limit)
        });
        TimedVault {
            vault,
            state: State::Running,
            outbox: Vec::new(),
            fault: None,
            issued: vec![0; count],
            stalled: vec![0; count + 1],
            stalls: [0; Stall::ALL.len()],
            served: 0,
            pc: 0,
            clock: 0,
            next_free: 0,
            registers: Box::new([Register::default(); SCOREBOARD]),
            pgsm: Scratchpad::default(),
            vsm: Scratchpad::default(),
            pending: Slab::new(),
            pending_order: Vec::new(),
            retiring: Vec::new(),
            last_retirement: 0,
            last_bank_request: 0,
            tsv: TsvArbiter::new(),
            port: TsvArbiter::new(),
            transits: Slab::new(),
            groups,
            pending_bank: 0,
            together: cx.together,
            join_countdown: JOIN_INTERVAL,
            remotes: Slab::new(),
            grants: Vec::new(),
            completions: Vec::new(),
            timeline,
        }
    }

    /// The cycle up to which issue and stalls are accounted for: of a vault that has
    /// ended, its length.
    pub fn clock(&self) -> Cycle {
        self.clock
    }

    /// Byte address of the instruction that comes next.
    pub fn pc_bytes(&self) -> u32 {
        self.pc * INSTRUCTION_BYTES
    }

    /// Counters of the groups' controllers.
    pub fn dram_totals(&mut self) -> DramTotals {
        self.groups.totals()
    }

    /// Slots of the TSVs and of the scratchpad's own port, where it has one.
    pub fn transfer_stats(&self) -> [TsvStats; 2] {
        [self.tsv.stats(), self.port.stats()]
    }

    /// Takes the timeline.
    pub fn take_timeline(&mut self) -> Option<Timeline> {
        self.timeline.take()
    }

    /// Whether requests of other vaults are being served.
    pub fn serves_remotes(&self) -> bool {
        !self.remotes.is_empty()
    }

    /// The earliest cycle, not before `now`, at which the core can issue the next
    /// `req`, and the next `req` or `sync`, given that it has run up to `now`.
    pub fn next_messages(&self, now: Cycle, cx: &Context<'_>) -> [Cycle; 2] {
        if self.state != State::Running {
            return [Cycle::MAX; 2];
        }
        let start = self.clock.max(self.next_free).max(now);
        let at = self.pc as usize;
        [cx.lookahead.request[at], cx.lookahead.message[at]].map(|distance| match distance {
            u32::MAX => Cycle::MAX,
            distance => start + Cycle::from(distance),
        })
    }

    /// Runs everything that happens before cycle `horizon`.
    pub fn run(&mut self, horizon: Cycle, cx: &Context<'_>) {
        while self.state == State::Running && self.fault.is_none() && self.step(horizon, cx) {}
        while !self.remotes.is_empty() {
            match self.next_event() {
                Some(event) if event < horizon => self.process(event, cx),
                _ => break,
            }
        }
    }

    /// A request has come to this vault.
    pub fn receive_request(
        &mut self,
        time: Cycle,
        from: u32,
        pending: u32,
        fetch: &Fetch,
        cx: &Context<'_>,
    ) {
        let remote = self.remotes.insert(Remote { from, pending, number: self.served });
        let id = REMOTE | u64::from(remote);
        let request = bank_request(cx.machine, id, fetch.bank.engine, fetch.address, false);
        let group = fetch.bank.engine / cx.machine.hierarchy.pes;
        let pending = &mut self.pending;
        let order = &self.pending_order;
        self.groups.isolate(group, |split| note_split(pending, order, split));
        let transit = Transit::Bank { group, local: false, request };
        let slots = slots_of_atom(cx.machine);
        let id = u64::from(self.transits.insert(transit));
        self.tsv.push(Transfer { id, ready: time, rank: REMOTE_RANK, slots });
        self.served += 1;
    }

    /// The atom that a `req` asked for has come.
    pub fn receive_response(&mut self, time: Cycle, pending: u32, cx: &Context<'_>) {
        self.complete(pending, time + Cycle::from(cx.machine.latency.t_vsm), cx);
    }

    /// All vaults have come to the phase that this one waits at.
    pub fn proceed(&mut self, time: Cycle) {
        // Vaults that left the barrier earlier may ask for something before `time`, but
        // not before this one had come to the barrier.
        self.join_groups(self.clock);
        self.stall(Stall::Sync, time, self.pc as usize - 1);
        self.next_free = time;
        self.state = State::Running;
    }

    /// Finishes the banks' accounts when the machine stops at `cycle`.
    pub fn finish(&mut self, cycle: Cycle) {
        for class in 0..self.groups.classes() {
            self.groups.advance(class, cycle, &mut self.completions);
        }
        self.log_commands();
        debug_assert!(self.completions.is_empty(), "a request outlives its program");
    }

    /// Issues the next instruction if it issues before `horizon`.
    fn step(&mut self, horizon: Cycle, cx: &Context<'_>) -> bool {
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
            .max(self.pgsm.ready(plan.pgsm, plan.opcode))
            .max(self.vsm.ready(plan.vsm, plan.opcode));
        let Some(after_queue) = self.queue_slot(after_order, horizon, cx) else { return false };
        let issue = if plan.broadcast { self.tsv.control_cycle(after_queue) } else { after_queue };
        if issue >= horizon {
            return false;
        }

        let next = match step {
            Step::Run(inst) => self.vault.execute(inst),
            Step::Place { dst, coordinate } => {
                self.vault.set_place(*dst, *coordinate, cx.machine);
                Ok(Next::Fall)
            }
            Step::Fault(kind) => Err(kind.clone()),
        };
        let next = match next {
            Ok(next) => next,
            Err(kind) => {
                self.fail(issue, kind);
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
        self.dispatch(plan, at as u32, issue, &next, cx);
        if let Next::Jump(target) = next {
            self.pc = target;
            self.next_free += Cycle::from(cx.machine.control.branch_penalty);
        }
        true
    }

    /// Sends an issued instruction where it goes.
    fn dispatch(&mut self, plan: &Plan, pc: u32, issue: Cycle, next: &Next, cx: &Context<'_>) {
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
                let Next::Fetch(fetch) = *next else { unreachable!("a request fetches") };
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
    fn dispatch_bank(&mut self, plan: &Plan, pc: u32, time: Cycle, write: bool, cx: &Context<'_>) {
        let pes = cx.machine.hierarchy.pes;
        if self.together {
            self.join_countdown -= 1;
            if self.join_countdown == 0 {
                // The clock is past the issue, and requests come later still.
                self.join_groups(self.clock - 1);
            }
            let (pending, order) = (&mut self.pending, &self.pending_order);
            let note = |split| note_split(pending, order, split);
            self.groups.part(plan.mask, &self.vault.addresses, note);
        }
        let number = self.add_pending(plan, pc, 0);
        self.pending_bank += 1;
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

    /// Joins classes of groups, if nothing is under way to any of them.
    fn join_groups(&mut self, now: Cycle) {
        self.join_countdown = JOIN_INTERVAL;
        let idle = self.pending_bank == 0 && self.remotes.is_empty();
        if self.together && idle && self.groups.classes() > 1 {
            self.groups.join(now, &mut self.completions);
            debug_assert!(self.completions.is_empty(), "a request nobody waits for");
            self.log_commands();
        }
    }

    fn step_sync(&mut self, step: &Step, horizon: Cycle, cx: &Context<'_>) -> bool {
        if !self.resolve_all(horizon, cx) {
            return false;
        }
        let start = self.clock.max(self.next_free);
        let issue = start.max(self.last_retirement);
        if issue >= horizon {
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

    fn end(&mut self, horizon: Cycle, cx: &Context<'_>) -> bool {
        if self.resolve_all(horizon, cx) {
            let at = self.pc as usize;
            self.stall(Stall::Branch, self.next_free, at);
            self.stall(Stall::Drain, self.last_retirement, at);
            self.state = State::Ended;
        }
        false
    }

    fn fail(&mut self, cycle: Cycle, kind: FaultKind) {
        let (vault, pc) = (self.vault.id, self.pc_bytes());
        self.fault = Some(Fault { vault, pc, cycle: Some(cycle), kind });
    }

    /// Accounts for the cycles until `until` as waiting of the instruction `at`.
    #[inline]
    fn stall(&mut self, cause: Stall, until: Cycle, at: usize) {
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

    /// Whether an instruction depends on one whose retirement is not known.
    #[inline]
    fn is_blocked(&self, plan: &Plan) -> bool {
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
    fn resolve_conflicts(&mut self, plan: &Plan, horizon: Cycle, cx: &Context<'_>) -> bool {
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

    fn resolve_all(&mut self, horizon: Cycle, cx: &Context<'_>) -> bool {
        while let Some(number) = self.pending_order.first().copied() {
            if !self.resolve(number, horizon, cx) {
                return false;
            }
        }
        true
    }

    /// Moves what a pending instruction waits for forward until its retirement is
    /// known. The core cannot issue before that retirement, so nothing that it might
    /// still send can come too late for what is moved here.
    fn resolve(&mut self, number: u32, horizon: Cycle, cx: &Context<'_>) -> bool {
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
                            _ => return false,
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
                        _ => return false,
                    }
                }
                true
            }
            Route::Fetch => false,
            Route::Fixed { .. } | Route::Sync => unreachable!("it is never pending"),
        }
    }

    /// The first cycle from `time` on at which the issued-instruction queue has room;
    /// `None` when that lies beyond the horizon.
    fn queue_slot(&mut self, time: Cycle, horizon: Cycle, cx: &Context<'_>) -> Option<Cycle> {
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
    fn wait_for_slot(
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
                        return None;
                    }
                    self.process(event, cx);
                }
                (_, Some(retire)) if retire < horizon => time = retire,
                _ => return None,
            }
        }
    }

    /// The next cycle at which something happens to a bank access or a transfer.
    fn next_event(&mut self) -> Option<Cycle> {
        let groups = self.groups.next_event_of_any();
        let grants = self.tsv.next_grant().into_iter().chain(self.port.next_grant()).min();
        groups.into_iter().chain(grants).min()
    }

    /// Does what happens at `event`, the cycle that `next_event` said.
    fn process(&mut self, event: Cycle, cx: &Context<'_>) {
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

    fn advance_tsv(&mut self, grant: Cycle, cx: &Context<'_>) {
        self.tsv.advance(grant + 1, &mut self.grants);
        self.take_grants(cx);
    }

    fn take_grants(&mut self, cx: &Context<'_>) {
        if self.grants.is_empty() {
            return;
        }
        let mut grants = std::mem::take(&mut self.grants);
        for grant in grants.drain(..) {
            match self.transits.remove(grant.id as u32) {
                Transit::Bank { group, local, request } => {
                    let time = grant.last + Cycle::from(cx.machine.latency.t_tsv);
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

    fn advance_class(&mut self, class: usize, until: Cycle, cx: &Context<'_>) {
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
                self.pending_bank -= 1;
                self.complete(number, done, cx);
            }
        }
        self.completions = completions;
        if self.timeline.is_some() {
            self.log_commands();
        }
    }

    fn log_commands(&mut self) {
        let Some(timeline) = &mut self.timeline else { return };
        for class in 0..self.groups.classes() {
            let log = self.groups.take_log(class);
            for group in self.groups.members(class) {
                log.iter().for_each(|issued| timeline.command(group as usize, issued));
            }
        }
    }

    fn add_pending(&mut self, plan: &Plan, pc: u32, remaining: u32) -> u32 {
        self.note_issue(plan, None);
        let number = self.pending.insert(Pending { pc, remaining, of_class: [0; 32], done: 0 });
        self.pending_order.push(number);
        number
    }

    /// The retirement of a pending instruction is known.
    fn complete(&mut self, number: u32, retire: Cycle, cx: &Context<'_>) {
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
        self.pgsm.retire(plan.pgsm, retire);
        self.vsm.retire(plan.vsm, retire);
        self.note_retirement(retire);
    }

    /// Enters an instruction into the scoreboard, with its retirement if known.
    #[inline]
    fn note_issue(&mut self, plan: &Plan, retire: Option<Cycle>) {
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
        self.pgsm.issue(plan.pgsm, plan.opcode, retire);
        self.vsm.issue(plan.vsm, plan.opcode, retire);
    }

    #[inline]
    fn note_retirement(&mut self, retire: Cycle) {
        self.last_retirement = self.last_retirement.max(retire);
        self.retiring.push(retire);
    }
}

/// What a class of groups still has to do for pending instructions, the class that
/// came out of it has to do as well.
fn note_split(pending: &mut Slab<Pending>, order: &[u32], split: Split) {
    for number in order {
        let entry = pending.get_mut(*number).expect("a pending instruction");
        let accesses = entry.of_class[split.from];
        entry.of_class[split.to] = accesses;
        entry.remaining += u32::from(accesses);
    }
}

/// The request for an atom of an engine's bank.
fn bank_request(machine: &Machine, id: u64, engine: u32, address: u32, write: bool) -> Request {
    let row_bytes = machine.dram.row_bytes;
    Request {
        id,
        kind: kind(write),
        bank: engine % machine.hierarchy.pes,
        row: address / row_bytes,
        column: address % row_bytes / ATOM_BYTES,
    }
}
