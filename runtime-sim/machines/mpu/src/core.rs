//! A core: what it is made of, and how it goes from one event to the next. What issues, accesses and
//! answers do to it stands in files of their own, which own what it holds of them: they and this one
//! name each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::layout::Layout;
use nbcc_sim_dram::{Completion, Model, Port};
use nbcc_sim_engine::slab::Slab;
use nbcc_sim_engine::{Cycle, Lane, NEVER, Trace};
use nbcc_sim_simt::machine::block::{Block, BlockFault};
use nbcc_sim_simt::machine::context::{Context, State};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::machine::grid;
use nbcc_sim_simt::timing::calendar::Calendar;
use nbcc_sim_simt::timing::coalesce::Piece;
use nbcc_sim_simt::timing::dispatch::Dispatch;
use nbcc_sim_simt::timing::operands;
use nbcc_sim_simt::timing::pool::Pool;
use nbcc_sim_simt::timing::scoreboard::Scoreboard;
use nbcc_sim_simt::{LANES, Mask, lanes_of};

use crate::answers::{Flight, Message, Service, Word};
use crate::measures::{Cause, Counts, Profile};
use crate::plan::Plan;
use crate::remote_cache::RemoteCache;
use crate::residents::{Resident, Subcore, Warp};
use crate::stall::Stall;
use crate::tracks::Tracks;

/// What does not change while a launch runs.
pub struct Env<'a, 'b> {
    /// The machine.
    pub machine: &'a Machine,
    /// Which bank holds which byte.
    pub layout: Layout,
    /// The launch.
    pub context: &'a Context<'b>,
    /// Its instructions, those of the kernel.
    pub plans: &'a [Plan],
    /// Blocks that a core holds.
    pub blocks: u32,
    /// Cycles after which a launch is given up.
    pub max_cycles: Cycle,
}

impl Env<'_, '_> {
    /// The plan of the instruction at `pc`.
    #[inline]
    pub fn plan(&self, pc: u32) -> &Plan {
        &self.plans[(pc - self.context.kernel.entry) as usize]
    }

    /// Registers that a scoreboard has.
    fn registers(&self) -> usize {
        operands::count(self.context.kernel.registers)
    }
}

/// What cores that are simulated one after the other change.
pub struct Shared<'a, 'b> {
    /// Memory, counts, output.
    pub state: State<'b>,
    /// Blocks that are still to be started.
    pub dispatch: &'a mut Dispatch,
    /// Counts by instruction.
    pub profile: &'a mut Profile,
    /// The timeline, and the lanes of all subcores.
    pub trace: Option<&'a mut (Trace, Vec<Lane>)>,
}

/// A load of global memory that was executed while other cores might have stored.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The place of the block.
    pub block: usize,
    /// The number of the warp in it.
    pub warp: usize,
    /// The instruction, and the threads that it was for.
    pub what: (u32, Mask),
    /// What it loaded.
    pub addresses: [u64; LANES],
    /// First and last byte, all between them included.
    pub range: [u64; 2],
}

impl Loaded {
    /// A load of so many bytes a thread.
    pub fn new(
        (block, warp): (usize, usize),
        what: (u32, Mask),
        bytes: u32,
        addresses: [u64; LANES],
    ) -> Loaded {
        let of = |lane: usize| addresses[lane];
        let (mut first, mut last) = (u64::MAX, 0);
        for lane in lanes_of(what.1) {
            (first, last) = (first.min(of(lane)), last.max(of(lane)));
        }
        let range = [first, last.saturating_add(u64::from(bytes.max(1)) - 1)];
        Loaded { block, warp, what, addresses, range }
    }
}

/// How far a core has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// To the end of the window; the next cycle at which something happens.
    Through(Cycle),
    /// To an instruction that has to see all of memory.
    Before(Cycle),
}

/// Something that a core waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// An access is over.
    Commit(u32),
    /// A packet has come.
    Receive(u32),
    /// A block leaves.
    Leave(u32),
}

/// A packet on its way to the network.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// When it enters.
    pub time: Cycle,
    /// The core that it is for.
    pub to: u32,
    /// Its bytes.
    pub bytes: u32,
    /// What it says.
    pub message: Message,
}

/// A core.
#[derive(Debug)]
pub struct Core {
    /// Its number.
    pub number: u32,
    /// Its subcores, each with a near-bank unit.
    pub subcores: Vec<Subcore>,
    /// When each of them issues next, and the place of the warp; to be found out again where it is none.
    next: Vec<Option<(Cycle, usize)>>,
    /// Its blocks by place.
    pub blocks: Vec<Option<Resident>>,
    /// The banks of its near-bank units.
    pub banks: Vec<Port>,
    /// When something happens there next.
    bank_next: Vec<Cycle>,
    /// The first of these.
    banks_next: Cycle,
    /// The TSVs from the base die.
    pub down: Calendar,
    /// The TSVs to the base die.
    pub up: Calendar,
    /// Shared memory.
    pub smem: Calendar,
    /// Pending requests to other cores.
    pub remote: Pool,
    /// Words of other cores.
    pub cache: RemoteCache,
    events: BinaryHeap<Reverse<(Cycle, u64, Event)>>,
    sequence: u64,
    /// Accesses of its warps.
    pub flights: Slab<Flight>,
    /// Requests to its banks.
    pub words: Slab<Word>,
    /// Requests of other cores.
    pub services: Slab<Service>,
    /// Packets that have come.
    inbox: Slab<Message>,
    /// Packets that it sends.
    pub out: Vec<Outgoing>,
    /// What it counts.
    pub counts: Counts,
    /// Cycles without issue, by reason.
    pub stalls: [u64; Stall::ALL.len()],
    /// Bytes over its TSVs, by cause.
    pub tsv: [u64; Cause::ALL.len()],
    /// The end of its last block.
    pub end: Cycle,
    /// Warps that were parked, by subcore and place there; some may not be any more.
    pub parked: Vec<(u32, u32)>,
    /// What it has loaded in this window, where others run beside it.
    pub loaded: Vec<Loaded>,
    /// The pieces of an access.
    pub pieces: Vec<Piece>,
    done: Vec<Completion>,
    /// Cycles before this one have been forgotten.
    forgotten: Cycle,
}

/// Cycles between the times at which calendars forget.
const FORGET: Cycle = 256;

impl Core {
    /// A core without blocks.
    pub fn new(number: u32, env: &Env<'_, '_>, model: &Arc<Model>) -> Core {
        let machine = env.machine;
        let units = machine.hierarchy.subcores as usize;
        let words = machine.network.remote_cache_bytes / machine.memory.bank_io_bytes;
        Core {
            number,
            subcores: (0..units).map(|_| Subcore::new(machine)).collect(),
            next: vec![None; units],
            blocks: (0..env.blocks).map(|_| None).collect(),
            banks: (0..units).map(|_| Port::new(model)).collect(),
            bank_next: vec![NEVER; units],
            banks_next: NEVER,
            down: Calendar::new(machine.network.tsv_ticks),
            up: Calendar::new(machine.network.tsv_ticks),
            smem: Calendar::new(1),
            remote: Pool::new(machine.core.remote_requests),
            cache: RemoteCache::new(words),
            events: BinaryHeap::new(),
            sequence: 0,
            flights: Slab::new(),
            words: Slab::new(),
            services: Slab::new(),
            inbox: Slab::new(),
            out: Vec::new(),
            counts: Counts::default(),
            stalls: [0; Stall::ALL.len()],
            tsv: [0; Cause::ALL.len()],
            end: 0,
            parked: Vec::new(),
            loaded: Vec::new(),
            pieces: Vec::new(),
            done: Vec::new(),
            forgotten: 0,
        }
    }

    /// Something happens at a time.
    pub fn schedule(&mut self, time: Cycle, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, event)));
    }

    /// A packet comes at a time.
    pub fn receive(&mut self, time: Cycle, message: Message) {
        let number = self.inbox.insert(message);
        self.schedule(time, Event::Receive(number));
    }

    /// Looks again at what the banks of a unit do next.
    pub fn look_at(&mut self, unit: usize) {
        self.bank_next[unit] = self.banks[unit].next_event().unwrap_or(NEVER);
        self.banks_next = self.bank_next.iter().copied().fold(NEVER, Cycle::min);
    }

    /// The subcore that can issue next, its cycle and the place of the warp.
    #[inline]
    fn next_issue(&mut self) -> (Cycle, usize, usize) {
        let mut best = (NEVER, 0, 0);
        for (number, next) in self.next.iter_mut().enumerate() {
            let (cycle, place) = *next.get_or_insert_with(|| self.subcores[number].next_issue());
            if cycle < best.0 {
                best = (cycle, number, place);
            }
        }
        best
    }

    /// From when a warp can issue.
    #[inline]
    pub fn set_ready(&mut self, subcore: usize, slot: usize, at: Cycle) {
        self.subcores[subcore].ready[slot] = at;
        // What is known stands where another warp comes behind it.
        let next = &mut self.next[subcore];
        *next = next.filter(|&(cycle, next)| next != slot && at > cycle);
    }

    /// A warp of a subcore issues.
    #[inline]
    pub fn issues(&mut self, subcore: usize, slot: usize) {
        self.subcores[subcore].last = slot;
        self.next[subcore] = None;
    }

    #[inline]
    fn next_answer(&self) -> Cycle {
        let event = self.events.peek().map_or(NEVER, |Reverse((cycle, ..))| *cycle);
        self.banks_next.min(event)
    }

    /// The next cycle at which something happens.
    pub fn next_event(&mut self) -> Cycle {
        self.next_answer().min(self.next_issue().0)
    }

    /// Runs up to a cycle, which is not run itself, or up to an instruction that needs more of memory
    /// than is there.
    ///
    /// # Errors
    /// A fault of a warp.
    pub fn run(
        &mut self,
        until: Cycle,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Result<Came, Box<Fault>> {
        loop {
            let answer = self.next_answer();
            let (issue, subcore, place) = self.next_issue();
            let now = answer.min(issue);
            if now >= until {
                return Ok(Came::Through(now));
            }
            if now >= self.forgotten + FORGET {
                self.forget(now);
            }
            if answer <= issue {
                self.answer(now, env, shared);
            } else if !self.issue(now, subcore, place, env, shared)? {
                return Ok(Came::Before(now));
            }
        }
    }

    /// Loads again what a core that goes before in this window may have stored.
    ///
    /// # Errors
    /// The fault of the load.
    pub fn load_again(
        &mut self,
        load: &Loaded,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Result<(), Box<Fault>> {
        let block = &mut self.blocks[load.block].as_mut().expect("a block that loads").block;
        let (state, index) = (&mut shared.state, block.index());
        block
            .load_again(load.warp, load.what, &load.addresses, env.context, state)
            .map_err(|fault| Core::fault(env, index, fault))
    }

    fn forget(&mut self, now: Cycle) {
        self.forgotten = now;
        self.down.forget(now);
        self.up.forget(now);
        self.smem.forget(now);
        self.subcores.iter_mut().for_each(|subcore| subcore.forget(now));
    }

    /// Does what banks, packets and events say at a cycle.
    fn answer(&mut self, now: Cycle, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        for unit in 0..self.banks.len() {
            if self.banks_next > now {
                break;
            }
            if self.bank_next[unit] > now {
                continue;
            }
            let mut done = std::mem::take(&mut self.done);
            self.banks[unit].advance(now, &mut done);
            for completion in done.drain(..) {
                self.completed(completion.id as u32, completion.finish, env);
            }
            self.done = done;
            self.look_at(unit);
        }
        while let Some(Reverse((time, _, event))) = self.events.peek().copied() {
            if time > now {
                break;
            }
            self.events.pop();
            match event {
                Event::Commit(flight) => self.commit(now, flight, env),
                Event::Receive(number) => {
                    let message = self.inbox.remove(number);
                    self.received(now, &message, env);
                }
                Event::Leave(block) => self.leave(now, block as usize, env, shared),
            }
        }
    }

    /// Bytes over TSVs from a cycle on; when they are there.
    pub fn tsv(
        &mut self,
        up: bool,
        cause: Cause,
        from: Cycle,
        bytes: u32,
        machine: &Machine,
    ) -> Cycle {
        let ticks = bytes.div_ceil(machine.network.tsv_bytes).max(1);
        self.tsv[cause as usize] += u64::from(bytes);
        let (bus, counted) = match up {
            true => (&mut self.up, &mut self.counts.ticks_up),
            false => (&mut self.down, &mut self.counts.ticks_down),
        };
        *counted += u64::from(ticks);
        bus.take(from, ticks)
    }

    /// Starts blocks while there are some and room for them.
    pub fn start_blocks(&mut self, now: Cycle, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        while let Some(place) = self.blocks.iter().position(Option::is_none) {
            let Some(index) = shared.dispatch.take(self.number as usize) else { return };
            self.start(now, place, index, env);
        }
    }

    fn start(&mut self, now: Cycle, place: usize, index: [u32; 3], env: &Env<'_, '_>) {
        let block = Block::new(env.context, index, self.number);
        let count = block.warps().len();
        let mut places = Vec::with_capacity(count);
        let latency = &env.machine.latency;
        for number in 0..count {
            let home = number % self.subcores.len();
            let subcore = &mut self.subcores[home];
            let free = subcore.warps.iter().position(Option::is_none);
            let slot = free.expect("a core takes blocks that fit");
            subcore.warps[slot] = Some(Warp {
                block: place,
                number,
                pc: env.context.kernel.entry,
                fetched: now + Cycle::from(latency.fetch + latency.decode),
                why: Stall::Empty,
                board: Scoreboard::new(env.registers()),
                tracks: Tracks::default(),
                pending: 0,
                parked: false,
                reach: None,
            });
            places.push((home as u32, slot as u32));
        }
        let resident =
            Resident { block, places, pending: 0, until: now, since: now, leaving: false };
        self.blocks[place] = Some(resident);
        for number in 0..count {
            let (subcore, slot) =
                self.blocks[place].as_ref().expect("just put there").places[number];
            self.prepare(subcore as usize, slot as usize, env);
            if let Some(warp) = &mut self.subcores[subcore as usize].warps[slot as usize] {
                warp.why = Stall::Empty;
            }
        }
    }

    /// Finds out what a warp does next and when.
    pub fn prepare(&mut self, subcore: usize, slot: usize, env: &Env<'_, '_>) {
        let sub = &mut self.subcores[subcore];
        let Some(warp) = &mut sub.warps[slot] else { return };
        let block = self.blocks[warp.block].as_ref().expect("a warp's block is there");
        let Some((pc, ..)) = block.block.warps()[warp.number].paths.current() else {
            warp.why = Stall::Barrier;
            return self.set_ready(subcore, slot, NEVER);
        };
        warp.pc = pc;
        let plan = env.plan(pc);
        let (ready, by) = warp.board.ready(&plan.registers.waits, &plan.registers.destinations);
        if ready == NEVER || (plan.kind == crate::plan::Kind::Fence && warp.pending > 0) {
            warp.why = Stall::Memory;
            return self.set_ready(subcore, slot, NEVER);
        }
        // What memory answered is already known as its reason.
        if ready > warp.fetched && by.is_some() {
            warp.why = Stall::Dependence;
        } else if warp.why != Stall::Memory && warp.why != Stall::Barrier {
            warp.why = Stall::Fetch;
        }
        let at = ready.max(warp.fetched);
        self.set_ready(subcore, slot, at);
    }

    /// Warps that wait for a place in a table try again.
    pub fn unpark(&mut self, now: Cycle) {
        let mut parked = std::mem::take(&mut self.parked);
        for (subcore, slot) in parked.drain(..) {
            if let Some(warp) = &mut self.subcores[subcore as usize].warps[slot as usize]
                && std::mem::take(&mut warp.parked)
            {
                self.set_ready(subcore as usize, slot as usize, now);
            }
        }
        self.parked = parked;
    }

    /// A block leaves; others take its place.
    fn leave(&mut self, now: Cycle, place: usize, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        let resident = self.blocks[place].take().expect("a block that leaves");
        self.counts.warp_cycles += resident.places.len() as u64 * (now - resident.since);
        for (subcore, slot) in resident.places {
            self.subcores[subcore as usize].warps[slot as usize] = None;
            self.set_ready(subcore as usize, slot as usize, NEVER);
        }
        self.end = self.end.max(now);
        self.start_blocks(now, env, shared);
    }

    /// Lets a block leave once nothing of it is left.
    pub fn settle(&mut self, now: Cycle, place: usize) {
        let Some(resident) = &mut self.blocks[place] else { return };
        if resident.leaving || resident.pending > 0 || !resident.block.is_over() {
            return;
        }
        resident.leaving = true;
        let until = resident.until.max(now + 1);
        self.schedule(until, Event::Leave(place as u32));
    }

    /// Accounts for the cycles of a subcore before `now`, which were without issue.
    pub fn account(&mut self, subcore: usize, now: Cycle, why: Stall) -> u64 {
        let subcore = &mut self.subcores[subcore];
        let gap = now.saturating_sub(subcore.accounted);
        self.stalls[why as usize] += gap;
        subcore.accounted = now;
        gap
    }

    /// Banks go on to the end of a launch; all is accounted for.
    pub fn finish(&mut self, end: Cycle) {
        for subcore in 0..self.subcores.len() {
            self.account(subcore, end, Stall::Empty);
        }
        let mut done = Vec::new();
        self.banks.iter_mut().for_each(|bank| bank.advance(end, &mut done));
    }

    /// What a user is told of a fault.
    #[cold]
    pub fn fault(env: &Env<'_, '_>, index: [u32; 3], fault: BlockFault) -> Box<Fault> {
        grid::fault(env.context, index, fault)
    }

    /// The fault of a launch that takes too long, if a block is there.
    pub fn out_of_cycles(&self, env: &Env<'_, '_>) -> Option<Box<Fault>> {
        let resident = self.blocks.iter().flatten().next()?;
        let fault = resident.block.out_of_cycles(env.max_cycles);
        Some(Core::fault(env, resident.block.index(), fault))
    }
}

/// Warps of a block.
pub fn warps_of(context: &Context<'_>) -> u32 {
    context.block.iter().product::<u32>().div_ceil(LANES as u32)
}
