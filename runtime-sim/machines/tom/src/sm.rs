//! A multiprocessor: what it is made of, and how it goes from one event to the next. What issues, accesses,
//! offloading and coherence do to it stands in files of their own, which own what it holds of them: they and
//! this one name each other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use foldhash::fast::FixedState;
use nbcc_isa_tom::Machine;
use nbcc_isa_tom::offload::OffloadTable;
use nbcc_sim_engine::slab::Slab;
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::LANES;
use nbcc_sim_simt::machine::block::Block;
use nbcc_sim_simt::machine::context::{Context, State};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::timing::cache::Cache;
use nbcc_sim_simt::timing::coalesce::Piece;
use nbcc_sim_simt::timing::dispatch::Dispatch;
use nbcc_sim_simt::timing::pool::Pool;

use crate::access::{Flight, Miss, Touched, Waiting};
use crate::clock::Clock;
use crate::coherence::{Copies, Faults};
use crate::map::{Learning, Map, Session};
use crate::measures::{Profile, SmCounts};
use crate::message::{Answer, Ask, Request};
use crate::monitor::Load;
use crate::plan::{Kind, Plan};
use crate::policy::{Mean, Policy};
use crate::residents::{Resident, Role, Scheduler, Warp};
use crate::stall::Stall;
use crate::task::{CandidateCounts, Task};
use crate::timeline::Timeline;
use crate::visitors::is_at_end;

/// What does not change while a launch runs.
pub struct Env<'a, 'b> {
    /// The machine.
    pub machine: &'a Machine,
    /// The clock of multiprocessors.
    pub clock: Clock,
    /// Its candidates.
    pub table: &'a OffloadTable,
    /// When instances of them are offloaded.
    pub policy: Policy,
    /// The launch.
    pub context: &'a Context<'b>,
    /// Its instructions, those of the kernel.
    pub plans: &'a [Plan],
    /// Blocks that a multiprocessor holds.
    pub blocks: u32,
    /// Cycles after which a launch is given up.
    pub max_cycles: Cycle,
    /// Whether the steps of section 4.4.2 are taken; else they are not needed, as all see one memory.
    pub is_coherent: bool,
}

impl Env<'_, '_> {
    /// The plan of the instruction at `pc`.
    #[inline]
    pub fn plan(&self, pc: u32) -> &Plan {
        &self.plans[(pc - self.context.kernel.entry) as usize]
    }
}

/// What all multiprocessors change.
pub struct Shared<'a, 'b> {
    /// Memory, counts, output.
    pub state: &'a mut State<'b>,
    /// Blocks that are still to be started, all in one list.
    pub dispatch: Dispatch,
    /// Counts by instruction.
    pub profile: Profile,
    /// The timeline, if one was asked for.
    pub timeline: Option<Timeline>,
    /// Of the lines that the GPU asks its shared cache for, the share that comes from stacks.
    pub misses: f64,
    /// Bytes that all links to stacks, or from them, carry in a cycle.
    pub bandwidth: f64,
    /// Blocks on their way to stacks, there, and back.
    pub tasks: Slab<Task>,
    /// Requests for each stack that are not acknowledged.
    pub pending: Vec<u32>,
    /// How long instances held a place of each stack lately.
    pub turns: Vec<Mean>,
    /// Warps of the blocks that the GPU holds.
    pub warps: u32,
    /// How much the channels to and from each stack are in use.
    pub links: Vec<[Load; 2]>,
    /// Which stack holds which line.
    pub map: Map,
    /// What is known of the mapping.
    pub session: &'a mut Session,
    /// Cycles until the mapping was learnt.
    pub learn_cycles: Cycle,
    /// What is being learnt of the launch.
    pub learning: Option<Learning>,
    /// Blocks that may be started: not all while the mapping is learnt.
    pub gate: u64,
    /// What is counted of each candidate.
    pub candidates: Vec<CandidateCounts>,
    /// What is left out of coherence, in tests.
    pub faults: Faults,
    /// What caches hold that memory does not any more.
    pub copies: Option<Box<Copies>>,
}

impl Shared<'_, '_> {
    /// Warps of the GPU's blocks that are not away.
    pub fn at_home(&self) -> u32 {
        self.warps - self.pending.iter().sum::<u32>()
    }
}

/// Something that a multiprocessor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A line, or the end of a store or atomic operation, by its token.
    Answer(u32, bool),
    /// A block comes to a stack.
    Arrive(u32),
    /// A block is back.
    Return(u32),
    /// A warp may leave for a stack, by its scheduler and place.
    Depart(u32, u32),
    /// A block leaves.
    Leave(u32),
}

/// A multiprocessor.
#[derive(Debug)]
pub struct Sm {
    /// Its number.
    pub number: u32,
    /// Its schedulers.
    pub schedulers: Vec<Scheduler>,
    /// Its blocks by place.
    pub blocks: Vec<Option<Resident>>,
    /// From when the special function unit can begin an instruction.
    pub special: Cycle,
    /// From when the load-store unit can look at a line.
    pub lsu: Cycle,
    /// Accesses that wait for the load-store unit.
    pub collectors: Pool,
    /// Accesses that found no place among the misses, in their order.
    pub waiting: VecDeque<Waiting>,
    /// The private cache.
    pub cache: Cache,
    /// Lines that were asked for.
    pub misses: Slab<Miss>,
    /// The lines among them that go to the private cache, with their numbers.
    pub missing: HashMap<u64, u32, FixedState>,
    /// Stores and atomic operations of lines on their way.
    pub stores: u32,
    events: BinaryHeap<Reverse<(Cycle, u64, Event)>>,
    sequence: u64,
    /// Accesses that are not over.
    pub flights: Slab<Flight>,
    /// Requests that it sends.
    pub out: Vec<Request>,
    /// What it counts.
    pub counts: SmCounts,
    /// Cycles without issue, by reason.
    pub stalls: [u64; Stall::ALL.len()],
    /// The end of its last block.
    pub end: Cycle,
    /// The bursts of memory that an access touches.
    pub bursts: Vec<Piece>,
    /// The lines that they are of.
    pub lines: Vec<Touched>,
    /// The number of its last store or atomic operation.
    pub store_number: u64,
    /// Blocks that have come and find no place yet.
    pub arrivals: VecDeque<u32>,
    /// Warps that wait for the load-store unit, by scheduler and place.
    pub parked: Vec<(usize, usize)>,
    /// Empty lists for the lines that will be asked for.
    pub spare: Vec<Vec<u32>>,
}

impl Sm {
    /// A multiprocessor without blocks.
    pub fn new(number: u32, env: &Env<'_, '_>) -> Sm {
        let machine = env.machine;
        let schedulers = machine.pipeline.schedulers;
        let in_stack = number >= machine.gpu.sms;
        let (warps, blocks) = match in_stack {
            true => (machine.stack.warps, machine.stack.warps),
            false => (machine.sm.warps, env.blocks),
        };
        let places = warps.div_ceil(schedulers) as usize;
        let lines = machine.l1.bytes / machine.cache.line_bytes;
        Sm {
            number,
            schedulers: (0..schedulers).map(|_| Scheduler::new(places)).collect(),
            blocks: (0..blocks).map(|_| None).collect(),
            special: 0,
            lsu: 0,
            collectors: Pool::new(machine.pipeline.memory_collectors),
            waiting: VecDeque::new(),
            cache: Cache::with_ways(lines, machine.l1.ways),
            misses: Slab::new(),
            missing: HashMap::default(),
            stores: 0,
            events: BinaryHeap::new(),
            sequence: 0,
            flights: Slab::new(),
            out: Vec::new(),
            counts: SmCounts::default(),
            stalls: [0; Stall::ALL.len()],
            end: 0,
            bursts: Vec::new(),
            lines: Vec::new(),
            store_number: 0,
            arrivals: VecDeque::new(),
            parked: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Something happens at a cycle.
    pub fn schedule(&mut self, cycle: Cycle, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((cycle, self.sequence, event)));
    }

    /// Memory answers.
    pub fn receive(&mut self, answer: &Answer) {
        let event = match answer.ask {
            Ask::Load => Event::Answer(answer.token, true),
            Ask::Store | Ask::Atomic => Event::Answer(answer.token, false),
            Ask::Offload => Event::Arrive(answer.token),
            Ask::Return => Event::Return(answer.token),
        };
        self.schedule(answer.cycle, event);
    }

    /// The scheduler that can issue next, its cycle and the place of the warp.
    #[inline]
    fn next_issue(&mut self) -> (Cycle, usize, usize) {
        let mut best = (NEVER, 0, 0);
        for (number, scheduler) in self.schedulers.iter_mut().enumerate() {
            let (cycle, place) = scheduler.next_issue();
            if cycle < best.0 {
                best = (cycle, number, place);
            }
        }
        best
    }

    #[inline]
    fn next_answer(&self) -> Cycle {
        self.events.peek().map_or(NEVER, |Reverse((cycle, ..))| *cycle)
    }

    /// The next cycle at which something happens.
    pub fn next_event(&mut self) -> Cycle {
        self.next_answer().min(self.next_issue().0)
    }

    /// Runs up to a cycle, which is not run itself; the next cycle at which something happens.
    ///
    /// # Errors
    /// A fault of a warp.
    pub fn run(
        &mut self,
        until: Cycle,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Result<Cycle, Box<Fault>> {
        loop {
            let answer = self.next_answer();
            let (issue, scheduler, place) = self.next_issue();
            let now = answer.min(issue);
            if now >= until {
                return Ok(now);
            }
            if answer <= issue {
                while let Some(&Reverse((cycle, _, event))) = self.events.peek() {
                    if cycle > now {
                        break;
                    }
                    self.events.pop();
                    match event {
                        Event::Answer(token, true) => self.line_came(now, token, env, shared),
                        Event::Answer(token, false) => self.store_over(now, token, env, shared),
                        Event::Arrive(token) => self.arrived(now, token, env, shared),
                        Event::Return(token) => self.returned(now, token, env, shared)?,
                        Event::Depart(scheduler, slot) => {
                            self.depart(now, scheduler as usize, slot as usize, env, shared);
                        }
                        Event::Leave(block) => self.leave(now, block as usize, env, shared),
                    }
                }
            } else {
                self.issue(now, scheduler, place, env, shared)?;
            }
        }
    }

    /// Starts a block if there is one and room for it; tells whether.
    pub fn start_block(
        &mut self,
        now: Cycle,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> bool {
        if self.number >= env.machine.gpu.sms || shared.dispatch.started() >= shared.gate {
            return false;
        }
        let Some(place) = self.blocks.iter().position(Option::is_none) else { return false };
        let Some(index) = shared.dispatch.take(0) else { return false };
        self.start(now, place, index, env);
        shared.warps += warps_of(env.context);
        true
    }

    fn start(&mut self, now: Cycle, place: usize, index: [u32; 3], env: &Env<'_, '_>) {
        let block = Block::new(env.context, index, self.number);
        let count = block.warps().len();
        let mut places = Vec::with_capacity(count);
        let pc = env.context.kernel.entry;
        for number in 0..count {
            let (scheduler, slot) = self.free_place();
            let own = (slot * self.schedulers.len() + scheduler) as u64;
            let first = u64::from(self.number) * u64::from(env.machine.sm.warps);
            let warp = Warp::new(env, now, (place, number), pc, first + own, Role::Plain);
            self.schedulers[scheduler].warps[slot] = Some(warp);
            places.push((scheduler as u32, slot as u32));
        }
        self.blocks[place] = Some(Resident::new(now, block, places, None));
        for number in 0..count {
            let (scheduler, slot) =
                self.blocks[place].as_ref().expect("just put there").places[number];
            self.prepare(scheduler as usize, slot as usize, env);
            if let Some(warp) = &mut self.schedulers[scheduler as usize].warps[slot as usize] {
                warp.why = Stall::Empty;
            }
        }
    }

    /// A place for a warp in the scheduler that has most of them, the first of several.
    pub fn free_place(&self) -> (usize, usize) {
        let room = |s: &Scheduler| s.warps.iter().filter(|warp| warp.is_none()).count();
        let most =
            (0..self.schedulers.len()).max_by_key(|&s| (room(&self.schedulers[s]), Reverse(s)));
        let home = most.expect("a multiprocessor has schedulers");
        let free = self.schedulers[home].warps.iter().position(Option::is_none);
        (home, free.expect("a multiprocessor takes warps that fit"))
    }

    /// Finds out what a warp does next and when.
    pub fn prepare(&mut self, scheduler: usize, slot: usize, env: &Env<'_, '_>) {
        let sched = &mut self.schedulers[scheduler];
        let Some(warp) = &mut sched.warps[slot] else { return };
        let block = self.blocks[warp.block].as_mut().expect("a warp's block is there");
        match warp.role {
            Role::Leaves(_) | Role::Away => {
                warp.why = Stall::Offload;
                sched.set_ready(slot, NEVER);
                return;
            }
            Role::Visits { end } => {
                if is_at_end(&mut block.block.warp_mut(warp.number).paths, end) {
                    block.done = true;
                    warp.why = Stall::Memory;
                    sched.set_ready(slot, NEVER);
                    return;
                }
            }
            Role::Plain | Role::Stays(_) | Role::Tries(_) => {}
        }
        let Some((pc, ..)) = block.block.warps()[warp.number].paths.current() else {
            warp.why = Stall::Barrier;
            sched.set_ready(slot, NEVER);
            return;
        };
        warp.pc = pc;
        let plan = env.plan(pc);
        let registers = &plan.registers;
        let (ready, by) = warp.board.ready(&registers.waits, &registers.destinations);
        if ready == NEVER || (plan.kind == Kind::Fence && warp.pending > 0) {
            warp.why = Stall::Memory;
            sched.set_ready(slot, NEVER);
            return;
        }
        // What memory answered is already known as its reason.
        if ready > warp.fetched && by.is_some() {
            warp.why = Stall::Dependence;
        } else if !matches!(warp.why, Stall::Memory | Stall::Barrier | Stall::Offload) {
            warp.why = Stall::Fetch;
        }
        let at = ready.max(warp.fetched);
        sched.set_ready(slot, at);
    }

    /// Warps that wait for the load-store unit try again.
    pub fn unpark(&mut self, now: Cycle) {
        for (scheduler, slot) in self.parked.drain(..) {
            let scheduler = &mut self.schedulers[scheduler];
            if let Some(warp) = &mut scheduler.warps[slot]
                && std::mem::take(&mut warp.parked)
            {
                scheduler.set_ready(slot, now);
            }
        }
    }

    /// A block leaves; another takes its place.
    fn leave(&mut self, now: Cycle, place: usize, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        let resident = self.blocks[place].take().expect("a block that leaves");
        self.counts.warp_cycles += resident.places.len() as u64 * (now - resident.since);
        for &(scheduler, slot) in &resident.places {
            let scheduler = &mut self.schedulers[scheduler as usize];
            scheduler.warps[slot as usize] = None;
            scheduler.set_ready(slot as usize, NEVER);
        }
        self.end = self.end.max(now);
        if let Some(token) = resident.task {
            return self.go_back(now, resident, token, env, shared);
        }
        shared.warps -= resident.places.len() as u32;
        if let Some(learning) = &mut shared.learning {
            learning.block_over(shared.gate);
        }
        self.start_block(now, env, shared);
    }

    /// Lets a block leave once nothing of it is left.
    pub fn settle(&mut self, now: Cycle, place: usize) {
        let Some(resident) = &mut self.blocks[place] else { return };
        if resident.leaving || resident.pending > 0 {
            return;
        }
        if !resident.done && !resident.block.is_over() {
            return;
        }
        resident.leaving = true;
        let until = resident.until.max(now + 1);
        self.schedule(until, Event::Leave(place as u32));
    }

    /// Accounts for the cycles of a scheduler before `now`, which were without issue.
    pub fn account(&mut self, scheduler: usize, now: Cycle, why: Stall) -> u64 {
        let scheduler = &mut self.schedulers[scheduler];
        let gap = now.saturating_sub(scheduler.accounted);
        self.stalls[why as usize] += gap;
        scheduler.accounted = now;
        gap
    }

    /// All cycles up to the end of a launch are accounted for.
    pub fn finish(&mut self, end: Cycle) {
        for scheduler in 0..self.schedulers.len() {
            self.account(scheduler, end, Stall::Empty);
        }
    }
}

/// Warps of a block.
pub fn warps_of(context: &Context<'_>) -> u32 {
    context.block.iter().product::<u32>().div_ceil(LANES as u32)
}
