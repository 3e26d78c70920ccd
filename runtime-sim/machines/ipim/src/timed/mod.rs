//! A vault in time: its control core issues in order, one instruction a cycle, into
//! the issued-instruction queue; units take their time; an instruction retires when
//! all its engines are done (section IV.B of the iPIM paper).
//!
//! Issue decides everything that happens inside the vault but one: when banks and
//! transfers complete. Those are found out lazily, when the core must know, by moving
//! the groups' controllers and the TSV arbiter forward. They never pass the cycle at
//! which the core could next send them something, nor the horizon up to which
//! messages from other vaults are known.

mod issue;
mod wait;

use std::sync::Arc;

use nbcc_isa_ipim::route::slots_of_atom;
use nbcc_isa_ipim::{ATOM_BYTES, INSTRUCTION_BYTES, Machine};
use nbcc_sim_dram::{Completion, Model, Request};
use nbcc_sim_engine::Cycle;
use nbcc_sim_network::{Grant, Transfer, TsvArbiter, TsvStats};

use crate::code::Code;
use crate::fault::Fault;
use crate::group::kind;
use crate::groups::{DramTotals, Groups, Split};
use crate::lookahead::Lookahead;
use crate::plan::{Plan, SCOREBOARD};
use crate::scoreboard::{Register, Scratchpad};
use crate::stall::Stall;
use crate::timeline::Timeline;
use crate::vault::{Fetch, Vault};
use nbcc_sim_engine::slab::Slab;

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
    /// Before this cycle the core issues nothing, unless a message comes: what it waits for happens
    /// then, or is a response that has not come.
    core_wakes: Cycle,
    /// As `core_wakes`, for everything that happens in the vault.
    wakes: Cycle,
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
            core_wakes: 0,
            wakes: 0,
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

    /// The cycle before which nothing happens in the vault, unless a message comes to it.
    pub fn wakes(&self) -> Cycle {
        self.wakes
    }

    /// The earliest cycle, not before `now`, at which the core can issue the next
    /// `req`, and the next `req` or `sync`, given that it has run up to `now` and no message comes.
    pub fn next_messages(&self, now: Cycle, cx: &Context<'_>) -> [Cycle; 2] {
        if self.state != State::Running {
            return [Cycle::MAX; 2];
        }
        let start = self.clock.max(self.next_free).max(self.core_wakes).max(now);
        let at = self.pc as usize;
        [cx.lookahead.request[at], cx.lookahead.message[at]].map(|distance| match distance {
            u32::MAX => Cycle::MAX,
            distance => start.saturating_add(Cycle::from(distance)),
        })
    }

    /// Runs everything that happens before cycle `horizon`.
    pub fn run(&mut self, horizon: Cycle, cx: &Context<'_>) {
        while self.state == State::Running && self.fault.is_none() && self.step(horizon, cx) {}
        self.wakes = if self.state == State::Running { self.core_wakes } else { Cycle::MAX };
        while !self.remotes.is_empty() {
            match self.next_event() {
                Some(event) if event < horizon => {
                    self.process(event, cx);
                    self.disturb(horizon);
                }
                event => {
                    self.wakes = self.wakes.min(event.unwrap_or(Cycle::MAX));
                    break;
                }
            }
        }
    }

    /// Something happens at `time` that the core did not reckon with, but no response.
    fn disturb(&mut self, time: Cycle) {
        // Only a response ends the wait for one.
        if self.core_wakes != Cycle::MAX {
            self.core_wakes = self.core_wakes.min(time);
        }
        self.wakes = self.wakes.min(time);
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
        let transit = Transit::Bank { group, local: false, request };
        let slots = slots_of_atom(cx.machine);
        let id = u64::from(self.transits.insert(transit));
        self.tsv.push(Transfer { id, ready: time, rank: REMOTE_RANK, slots });
        self.served += 1;
        self.disturb(time);
    }

    /// The atom that a `req` asked for has come.
    pub fn receive_response(&mut self, time: Cycle, pending: u32, cx: &Context<'_>) {
        self.complete(pending, time + Cycle::from(cx.machine.latency.t_vsm), cx);
        self.core_wakes = self.core_wakes.min(time);
        self.wakes = self.wakes.min(time);
    }

    /// All vaults have come to the phase that this one waits at.
    pub fn proceed(&mut self, time: Cycle, cx: &Context<'_>) {
        // Vaults that left the barrier earlier may ask for something before `time`, but
        // not before this one had come to the barrier.
        self.join_groups(self.clock, cx);
        self.stall(Stall::Sync, time, self.pc as usize - 1);
        self.next_free = time;
        self.state = State::Running;
        (self.core_wakes, self.wakes) = (time, time);
    }

    /// Finishes the banks' accounts when the machine stops at `cycle`.
    pub fn finish(&mut self, cycle: Cycle) {
        for class in 0..self.groups.classes() {
            self.groups.advance(class, cycle, &mut self.completions);
        }
        self.log_commands();
        debug_assert!(self.completions.is_empty(), "a request outlives its program");
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

/// A class of groups is one with another that has the same to do for pending instructions.
fn note_join(pending: &mut Slab<Pending>, order: &[u32], class: usize) {
    for number in order {
        let entry = pending.get_mut(*number).expect("a pending instruction");
        entry.remaining -= u32::from(entry.of_class[class]);
        entry.of_class.copy_within(class + 1.., class);
        entry.of_class[31] = 0;
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
