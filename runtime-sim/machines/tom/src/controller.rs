//! The offload controller of a multiprocessor of the GPU (section 4.2): what a warp goes through that
//! comes to the begin of a candidate, until it goes on behind its end.
//!
//! The marker issues; the controller takes some cycles. Then the warp runs up to its first access of
//! memory, which says what the destination is: there the policy decides. An instance that stays goes on
//! from there. One that is offloaded is put back to its begin, with its registers of that time: what it
//! ran so far is lost, and nothing with it, since it wrote registers only. It leaves once its registers
//! are there and what its multiprocessor has written before is in memory (the first step of section
//! 4.4.2); of the other warps it waits only for those of its block, with which alone it is ordered.

use nbcc_isa_simt::operands::Space;
use nbcc_isa_tom::offload::{Entry, Held};
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::machine::access::resolve;
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::machine::warp::Warp as Threads;
use nbcc_sim_simt::timing::operands;
use nbcc_sim_simt::{LANES, Mask, lanes_of};

use crate::issue::Issue;
use crate::map::Learning;
use crate::message::{Ask, Request};
use crate::plan::{Kind, Plan};
use crate::policy::{Question, Verdict};
use crate::residents::{Departure, Role, Stay, Try};
use crate::sm::{Env, Event, Shared, Sm};
use crate::stall::Stall;
use crate::task::{Refusal, Task, request_bytes};

impl Sm {
    /// The marker of a candidate has issued.
    pub fn marked(
        &mut self,
        go: &Issue,
        number: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let is_asked = env.policy.decide.is_some() || shared.learning.is_some();
        if go.lanes == 0 || !is_asked {
            return;
        }
        let counts = &mut shared.candidates[number as usize];
        let mut stay = Stay {
            number,
            lanes: go.lanes,
            since: go.now,
            trips: 1,
            why: Refusal::Learning,
            moved: false,
            instance: None,
            beside: None,
        };
        if env.policy.decide.is_some() {
            counts.considered += 1;
        }
        let watched = shared.learning.as_mut().and_then(Learning::begin);
        if watched.is_some() {
            if env.policy.decide.is_some() {
                counts.refused[Refusal::Learning as usize] += 1;
            }
            stay.instance = watched;
            self.warp_mut(go.scheduler, go.slot).role = Role::Stays(stay);
            return;
        }
        let entry = &env.table.entries[number as usize];
        let threads = &mut self.blocks[go.block].as_mut().expect("its block").block;
        let threads = threads.warp_mut(go.warp);
        stay.trips = trips(entry, threads, go.lanes);
        let holds = !env.policy.checks_condition || condition_holds(entry, threads, go.lanes);
        let experience = shared.session.experience_mut(number);
        let rests = env.policy.rests && experience.rests();
        let role = if holds && !rests {
            threads.paths.hold();
            let paths = threads.paths.clone();
            let Stay { lanes, since, trips, .. } = stay;
            let again = None;
            Role::Tries(Box::new(Try { number, lanes, since, trips, again, paths, packed: None }))
        } else {
            if !rests {
                experience.stayed += 1;
            }
            let why = if holds { Refusal::Warps } else { Refusal::Condition };
            counts.refused[why as usize] += 1;
            stay.why = why;
            stay.beside = holds.then(|| shared.at_home());
            Role::Stays(stay)
        };
        let warp = self.warp_mut(go.scheduler, go.slot);
        warp.role = role;
        if !rests {
            warp.fetched = go.now + 1 + Cycle::from(env.machine.offload.latency);
            warp.why = Stall::Offload;
        }
    }

    /// A warp that is on its way through a candidate issues an instruction, unless it is offloaded, which
    /// is told.
    pub fn in_candidate(
        &mut self,
        go: &Issue,
        plan: &Plan,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> bool {
        let warp = self.warp_mut(go.scheduler, go.slot);
        match std::mem::replace(&mut warp.role, Role::Plain) {
            Role::Stays(mut stay) => {
                let entry = &env.table.entries[stay.number as usize];
                if go.mask & stay.lanes == 0 {
                    // Other threads of the warp go first.
                    warp.role = Role::Stays(stay);
                } else if entry.contains(go.pc) {
                    if go.pc != entry.begin {
                        stay.moved = true;
                    } else if stay.moved {
                        stay.moved = false;
                        warp.role = Role::Stays(stay);
                        return self.reconsider(go, &stay, env, shared);
                    }
                    warp.role = Role::Stays(stay);
                } else {
                    stayed(&stay, go.now, shared);
                }
                false
            }
            Role::Tries(mut tries) => {
                let entry = &env.table.entries[tries.number as usize];
                if !entry.contains(go.pc) || go.mask & tries.lanes == 0 {
                    self.stay(go, &tries, Refusal::Condition, env, shared);
                    return true;
                }
                let resident = self.blocks[go.block].as_ref().expect("its block");
                let threads = &resident.block.warps()[go.warp];
                if let Kind::Access(space) = plan.kind
                    && go.lanes != 0
                    && let Some(stack) = self.destination(go, threads, space, plan, env, shared)
                {
                    let decide = env.policy.decide.expect("a policy that offloads");
                    let counts = &mut shared.candidates[tries.number as usize];
                    counts.asked += u64::from(tries.again.is_none());
                    let verdict = decide(&question(&tries, entry, stack as usize, env, shared));
                    match verdict {
                        Verdict::Offload => self.leave_for(go, *tries, stack, env, shared),
                        Verdict::Channel => self.stay(go, &tries, Refusal::Channel, env, shared),
                        Verdict::Warps => self.stay(go, &tries, Refusal::Warps, env, shared),
                    }
                    return true;
                }
                if tries.packed.is_none() {
                    tries.packed = Some(packed(entry, threads, tries.lanes, env));
                }
                self.warp_mut(go.scheduler, go.slot).role = Role::Tries(tries);
                false
            }
            role => {
                warp.role = role;
                false
            }
        }
    }

    /// The stack that an access of memory goes to first, that of its lowest lane.
    fn destination(
        &self,
        go: &Issue,
        threads: &Threads,
        space: Space,
        plan: &Plan,
        env: &Env<'_, '_>,
        shared: &Shared<'_, '_>,
    ) -> Option<u32> {
        let (base, offset) = env.context.program.code.text[go.pc as usize].op.address()?;
        let lane = go.lanes.trailing_zeros() as usize % LANES;
        let address = threads.addresses(base, offset.0)[lane];
        let (space, address) =
            if space == Space::Generic { resolve(address) } else { (space, address) };
        debug_assert!(!plan.atomic, "a candidate without atomic operations");
        match space {
            Space::Global | Space::Generic => Some(shared.map.stack(shared.map.line(address))),
            Space::Local => {
                let home = self.schedulers[go.scheduler].warps[go.slot].as_ref()?.home;
                Some(shared.map.stack(Sm::local_line(home, address / 4, lane, env)))
            }
            Space::Shared | Space::Param | Space::Const => None,
        }
    }

    /// An instance stays where it is.
    fn stay(
        &mut self,
        go: &Issue,
        tries: &Try,
        why: Refusal,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let block = &mut self.blocks[go.block].as_mut().expect("its block").block;
        block.warp_mut(go.warp).paths.let_go();
        let Try { number, lanes, since, trips, .. } = *tries;
        let stay = tries.again.unwrap_or_else(|| {
            shared.candidates[number as usize].refused[why as usize] += 1;
            shared.session.experience_mut(number).stayed += 1;
            let beside = (why != Refusal::Condition).then(|| shared.at_home());
            Stay { number, lanes, since, trips, why, moved: false, instance: None, beside }
        });
        self.warp_mut(go.scheduler, go.slot).role = Role::Stays(stay);
        self.prepare(go.scheduler, go.slot, env);
    }

    /// An instance that stays is at the begin of its loop again: what is left of it may be offloaded. Tells
    /// whether that is being decided on.
    fn reconsider(
        &mut self,
        go: &Issue,
        stay: &Stay,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> bool {
        let (Some(beside), None) = (stay.beside, stay.instance) else { return false };
        if !env.policy.reconsiders || go.mask != stay.lanes || stay.trips <= 1 {
            return false;
        }
        let number = stay.number;
        let entry = &env.table.entries[number as usize];
        let block = &mut self.blocks[go.block].as_mut().expect("its block").block;
        let threads = block.warp_mut(go.warp);
        let left = trips(entry, threads, stay.lanes);
        if left >= stay.trips {
            return false;
        }
        let experience = shared.session.experience_mut(number);
        experience.home.add((go.now - stay.since) as f64 / (stay.trips - left) as f64);
        experience.beside.add(beside.into());
        // Where another one waits for each place of every stack it is no use to ask.
        let most = 2 * env.machine.stack.warps * env.machine.stack.sms;
        let is_full = shared.pending.iter().all(|pending| *pending >= most);
        if is_full
            || env.policy.rests && experience.rests_within()
            || !condition_holds(entry, threads, stay.lanes)
        {
            return false;
        }
        threads.paths.hold();
        let paths = threads.paths.clone();
        let (lanes, since) = (stay.lanes, go.now);
        let again = Some(*stay);
        let tries = Try { number, lanes, since, trips: left, again, paths, packed: None };
        let warp = self.warp_mut(go.scheduler, go.slot);
        warp.role = Role::Tries(Box::new(tries));
        warp.fetched = go.now + 1 + Cycle::from(env.machine.offload.latency);
        warp.why = Stall::Offload;
        self.prepare(go.scheduler, go.slot, env);
        true
    }

    /// An instance will be offloaded: its warp is at its begin again.
    fn leave_for(
        &mut self,
        go: &Issue,
        tries: Try,
        stack: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let Try { number, lanes, since, trips, again, paths, packed: before } = tries;
        if let Some(stay) = again {
            // What is left of it is an instance of its own.
            shared.candidates[number as usize].refused[stay.why as usize] -= 1;
        }
        shared.session.experience_mut(number).stayed = 0;
        let entry = &env.table.entries[number as usize];
        let stores = self.store_number;
        let resident = self.blocks[go.block].as_mut().expect("its block");
        let threads = resident.block.warp_mut(go.warp);
        threads.paths.restore(paths);
        let packed = before.unwrap_or_else(|| packed(entry, threads, lanes, env));
        resident.departures.push((go.scheduler as u32, go.slot as u32));
        shared.pending[stack as usize] += 1;
        let ahead = shared.pending[stack as usize];
        let decided = go.now;
        let departure =
            Departure { number, lanes, since, trips, decided, stack, ahead, packed, stores };
        let warp = self.warp_mut(go.scheduler, go.slot);
        warp.role = Role::Leaves(Box::new(departure));
        self.prepare(go.scheduler, go.slot, env);
        self.depart(go.now, go.scheduler, go.slot, env, shared);
    }

    /// A warp leaves if nothing keeps it; else it is looked at again when that is over.
    pub fn depart(
        &mut self,
        now: Cycle,
        scheduler: usize,
        slot: usize,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let Some(warp) = &mut self.schedulers[scheduler].warps[slot] else { return };
        let Role::Leaves(departure) = &warp.role else { return };
        let resident = self.blocks[warp.block].as_mut().expect("its block");
        let entry = &env.table.entries[departure.number as usize];
        let flushes = env.is_coherent && !shared.faults.keeps_writes;
        let before = departure.stores;
        if flushes && resident.stores.iter().any(|store| *store <= before) {
            return;
        }
        let numbers = entry.live_in.iter().map(|reg| operands::number(reg.class, reg.index));
        let ready = numbers.fold(0, |at, number| at.max(warp.board.ready(&[number], &[]).0));
        if ready == NEVER {
            return;
        }
        if ready > now {
            self.schedule(ready, Event::Depart(scheduler as u32, slot as u32));
            return;
        }
        let Role::Leaves(departure) = std::mem::replace(&mut warp.role, Role::Away) else { return };
        let departure = *departure;
        let place = (scheduler as u32, slot as u32);
        resident.departures.retain(|waits| *waits != place);
        // Its block is not over before it is back.
        resident.pending += 1;
        let mut threads = departure.packed;
        let home = resident.block.warp_mut(warp.number);
        threads.local = std::mem::take(&mut home.local);
        let bytes = request_bytes(entry, departure.lanes);
        let counts = &mut shared.candidates[departure.number as usize];
        counts.instances += 1;
        counts.flush_cycles += now - departure.decided;
        let mut task = Task {
            number: departure.number,
            stack: departure.stack,
            lanes: departure.lanes,
            sm: self.number,
            place: (scheduler, slot),
            index: resident.block.index(),
            home: warp.home,
            warp: Some(threads),
            since: departure.since,
            ahead: departure.ahead,
            trips: departure.trips,
            arrived: 0,
            begun: 0,
            held: 0,
            written: Vec::new(),
            stacks: 0,
            did: Default::default(),
        };
        task.did.bytes += u64::from(bytes);
        task.did.request_bytes += u64::from(bytes);
        let token = shared.tasks.insert(task);
        let from = (env.clock.time(now + 1), self.number);
        let request = Request::of_block(from, token, Ask::Offload, departure.stack, [bytes, 0]);
        self.out.push(request);
    }

    /// A block is back: its warp goes on behind it.
    ///
    /// # Errors
    /// The fault of a block all of which waits for ever.
    pub fn returned(
        &mut self,
        now: Cycle,
        token: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Result<(), Box<Fault>> {
        let task = shared.tasks.remove(token);
        shared.pending[task.stack as usize] -= 1;
        let entry = &env.table.entries[task.number as usize];
        let counts = &mut shared.candidates[task.number as usize];
        counts.one_stack += u64::from(task.stacks.count_ones() <= 1);
        counts.away_cycles += now - task.since;
        counts.did.add(&task.did);
        counts.did.instances += 1;
        counts.did.trips += task.trips;
        let experience = shared.session.experience_mut(task.number);
        experience.ahead.add(task.ahead.into());
        experience.held.add(task.held as f64 / task.trips as f64);
        let waited = task.begun - task.arrived;
        experience.way.add((now - task.since - waited - task.held) as f64);
        if let Some(timeline) = &mut shared.timeline {
            timeline.offload(task.stack, task.number, task.since, now);
        }
        // The third step of section 4.4.2: lines that the block has written, one a cycle.
        if env.is_coherent && !shared.faults.keeps_lines {
            counts.invalidated += task.written.len() as u64;
            self.lsu = self.lsu.max(now) + task.written.len() as Cycle;
            task.written
                .iter()
                .for_each(|line| self.drop_line(*line, shared.copies.as_deref_mut()));
        }
        let (scheduler, slot) = task.place;
        let warp = self.schedulers[scheduler].warps[slot].as_mut().expect("a warp that waits");
        let (block, number) = (warp.block, warp.number);
        let pipeline = &env.machine.pipeline;
        let there = now + Cycle::from(pipeline.register);
        for reg in entry.live_out.iter() {
            warp.board.write(operands::number(reg.class, reg.index), there);
        }
        warp.role = Role::Plain;
        warp.why = Stall::Offload;
        warp.fetched = now + Cycle::from(pipeline.fetch + pipeline.decode);
        let resident = self.blocks[block].as_mut().expect("its block");
        resident.pending -= 1;
        resident.until = resident.until.max(there);
        let mut visitor = task.warp.expect("a block that is back");
        let home = resident.block.warp_mut(number);
        home.local = std::mem::take(&mut visitor.local);
        for reg in entry.live_out.iter() {
            home.take_register(&visitor, reg, task.lanes);
        }
        if let Err(fault) = resident.block.resume(number, entry.end) {
            return Err(Sm::fault(env, self.number, resident.block.index(), fault));
        }
        self.prepare(scheduler, slot, env);
        self.wake(block, number, now + 1, env);
        self.settle(now, block);
        Ok(())
    }
}

/// What a policy is asked about an instance whose first access reaches a stack.
fn question<'a>(
    tries: &Try,
    entry: &'a Entry,
    stack: usize,
    env: &Env<'_, '_>,
    shared: &Shared<'_, '_>,
) -> Question<'a> {
    let link = &env.machine.link;
    let counts = &shared.candidates[tries.number as usize];
    Question {
        entry,
        tx: shared.links[stack][0],
        rx: shared.links[stack][1],
        pending: shared.pending[stack],
        turn: shared.turns[stack].value,
        capacity: env.machine.stack.warps * env.machine.stack.sms,
        fair: shared.warps * env.machine.stack.sms / env.machine.sms(),
        at_home: shared.at_home(),
        coming: shared.dispatch.total() - shared.dispatch.started(),
        history: counts.did,
        lanes: tries.lanes.count_ones(),
        trips: tries.trips,
        again: tries.again.is_some(),
        misses: shared.misses,
        bandwidth: shared.bandwidth,
        packet: [link.address_bytes, link.acknowledgment_bytes]
            .map(|bytes| bytes + link.header_bytes),
        line_bytes: env.machine.cache.line_bytes,
        number: counts.asked,
        experience: shared.session.experience(tries.number),
        quarters: shared.session.quarters_of(tries.number),
    }
}

/// An instance that stayed is at its end.
fn stayed(stay: &Stay, now: Cycle, shared: &mut Shared<'_, '_>) {
    if let Some(beside) = stay.beside {
        let experience = shared.session.experience_mut(stay.number);
        experience.home.add((now - stay.since) as f64 / stay.trips as f64);
        experience.beside.add(beside.into());
    }
    shared.candidates[stay.number as usize].stayed_cycles += now - stay.since;
    if let (Some(_), Some(learning)) = (stay.instance, &mut shared.learning) {
        learning.over += 1;
    }
}

/// Trips of the loop of a candidate, of the thread that makes most; 1 where that is not known.
fn trips(entry: &Entry, threads: &Threads, lanes: Mask) -> u64 {
    let Some(condition) = &entry.condition else { return 1 };
    let of = |lane: usize| {
        condition.trips(|reg| match reg.class {
            nbcc_isa_simt::RegClass::Wide => threads.wide(reg)[lane],
            _ => threads.word(reg)[lane].into(),
        })
    };
    lanes_of(lanes).map(|lane| of(lane).unwrap_or(1)).max().unwrap_or(1).max(1)
}

/// Whether the condition of a candidate holds for the thread that makes most trips.
fn condition_holds(entry: &Entry, threads: &Threads, lanes: Mask) -> bool {
    let Some(condition) = &entry.condition else { return true };
    lanes_of(lanes).any(|lane| {
        condition.holds(|reg| match reg.class {
            nbcc_isa_simt::RegClass::Wide => threads.wide(reg)[lane],
            _ => threads.word(reg)[lane].into(),
        })
    })
}

/// The warp of a request: live-ins and what the block holds as constants, and nothing else.
fn packed(entry: &Entry, threads: &Threads, lanes: Mask, env: &Env<'_, '_>) -> Threads {
    let mut out = threads.visitor(entry.begin, lanes);
    for reg in entry.live_in.iter() {
        out.take_register(threads, reg, lanes);
    }
    for constant in &entry.constants {
        let bits = match constant.held {
            Held::Bits(bits) => bits,
            Held::Address { object, offset, upper } => {
                let base = env.context.objects[object as usize];
                let address = base.wrapping_add(i64::from(offset) as u64);
                (if upper { address >> 32 } else { address }) as u32
            }
        };
        match constant.reg.class {
            nbcc_isa_simt::RegClass::Pred => {
                let all = if bits & 1 == 1 { Mask::MAX } else { 0 };
                out.set_predicate(constant.reg, Mask::MAX, all);
            }
            _ => out.set_word(constant.reg, Mask::MAX, &[bits; LANES]),
        }
    }
    out
}

impl Sm {
    /// A warp that is there.
    pub fn warp_mut(&mut self, scheduler: usize, slot: usize) -> &mut crate::residents::Warp {
        self.schedulers[scheduler].warps[slot].as_mut().expect("a warp that is there")
    }
}
