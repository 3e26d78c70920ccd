//! The load-store unit: an access of a warp becomes lines, which are looked up one a cycle in the
//! private cache. It is written through and takes no line for a store; a bounded number of lines may be
//! asked for at a time, and loads of one that was asked for wait with the first. Accesses go in their
//! order: one that finds no place keeps those behind it waiting.

use nbcc_isa_simt::operands::Space;
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::machine::access::resolve_all;
use nbcc_sim_simt::memory::FIRST_ADDRESS;
use nbcc_sim_simt::timing::coalesce::pieces;
use nbcc_sim_simt::timing::{conflicts, operands};
use nbcc_sim_simt::{LANES, Mask, lanes_of};

use crate::issue::Issue;
use crate::message::{Ask, Request};
use crate::plan::Plan;
use crate::sm::{Env, Event, Shared, Sm};
use crate::stall::Stall;

/// What an instruction reaches beside registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing that takes time of its own.
    None,
    /// Shared memory, so many times.
    Shared(u32),
    /// The lines in the multiprocessor's `lines`.
    Memory,
}

/// An access of a warp that is not over.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// The instruction.
    pub go: Issue,
    /// Lines that have not been answered, and one more while not all were looked up.
    pub left: u32,
    /// The last cycle of those that have.
    pub latest: Cycle,
    /// The number of a store or atomic operation.
    pub store: Option<u64>,
}

/// A line that was asked for.
#[derive(Clone, Debug)]
pub struct Miss {
    /// Its number.
    pub line: u64,
    /// The accesses that wait for it.
    pub flights: Vec<u32>,
    /// Whether it goes to the private cache.
    pub fills: bool,
}

/// A line of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its number.
    pub line: u64,
    /// The lanes.
    pub lanes: Mask,
    /// The parts of the line, each an access of the banks, the first one in the lowest bit.
    pub bursts: u32,
}

/// An access whose lines are still to be looked up.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its number.
    pub flight: u32,
    lines: Vec<Touched>,
    next: usize,
    at: Cycle,
}

/// Lines of local memory have numbers from here on: those of a warp lie in its own multiprocessor's
/// part, the same word of all its threads in one line.
const LOCAL_LINES: u64 = 1 << 48;

impl Sm {
    /// Finds out what an access reaches; its lines are in `lines` then.
    pub fn reach(
        &mut self,
        go: &Issue,
        plan: &Plan,
        space: Space,
        addresses: [u64; LANES],
        env: &Env<'_, '_>,
    ) -> Reach {
        let (seen, addresses) = resolve_all(space, go.lanes, addresses);
        let machine = env.machine;
        let banks = machine.pipeline.shared_banks;
        match seen {
            Space::Param => Reach::None,
            Space::Shared => Reach::Shared(conflicts::passes(
                &addresses,
                go.lanes,
                plan.bytes,
                banks,
                plan.atomic,
            )),
            Space::Local => {
                self.local_lines(go, plan, &addresses, env);
                Reach::Memory
            }
            Space::Generic | Space::Global | Space::Const => {
                let addresses = addresses.map(|address| address.wrapping_sub(FIRST_ADDRESS));
                self.global_lines(go, plan, &addresses, env);
                Reach::Memory
            }
        }
    }

    /// The lines of an access of global memory, in the order of lanes.
    fn global_lines(
        &mut self,
        go: &Issue,
        plan: &Plan,
        addresses: &[u64; LANES],
        env: &Env<'_, '_>,
    ) {
        let machine = env.machine;
        self.bursts.clear();
        pieces(addresses, go.lanes, plan.bytes, machine.burst_bytes(), &mut self.bursts);
        let each = u64::from(machine.line_bursts());
        self.lines.clear();
        for burst in &self.bursts {
            touch(&mut self.lines, burst.number / each, burst.lanes, 1 << (burst.number % each));
        }
    }

    /// The lines of an access of local memory: equal words of all lanes are neighbours.
    fn local_lines(
        &mut self,
        go: &Issue,
        plan: &Plan,
        addresses: &[u64; LANES],
        env: &Env<'_, '_>,
    ) {
        self.lines.clear();
        let burst_words = (env.machine.burst_bytes() / 4).max(1) as usize;
        let line_words = (env.machine.cache.line_bytes / 4).max(1) as usize;
        let burst = |lane: usize| 1 << (lane % line_words / burst_words);
        let home =
            self.schedulers[go.scheduler].warps[go.slot].as_ref().map_or(0, |warp| warp.home);
        for lane in lanes_of(go.lanes) {
            let first = addresses[lane] / 4;
            let last = addresses[lane].saturating_add(u64::from(plan.bytes).max(1) - 1) / 4;
            for word in first..=last.min(first + 7) {
                let number = Sm::local_line(home, word, lane, env);
                touch(&mut self.lines, number, 1 << lane, burst(lane));
            }
        }
    }

    /// The line of a word of a lane's local memory; `home` is that of its warp.
    pub fn local_line(home: u64, word: u64, lane: usize, env: &Env<'_, '_>) -> u64 {
        let words = u64::from(env.context.kernel.local_bytes / 4);
        // The words of all lanes fill this many lines.
        let per_line = (env.machine.cache.line_bytes / 4).max(1) as usize;
        let each = LANES.div_ceil(per_line) as u64;
        let word = home.wrapping_mul(words).wrapping_add(word);
        let line = word.wrapping_mul(each).wrapping_add((lane / per_line) as u64);
        LOCAL_LINES + line % LOCAL_LINES
    }

    /// Whether a line is one of local memory.
    pub fn is_local(line: u64) -> bool {
        line >= LOCAL_LINES
    }

    /// A load, store or atomic operation of global or local memory.
    pub fn memory_access(
        &mut self,
        go: &Issue,
        plan: &Plan,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let begin = go.now + Cycle::from(plan.collect);
        self.counts.accesses += 1;
        self.counts.lines += self.lines.len() as u64;
        let mut store = None;
        if plan.store || plan.atomic {
            self.store_number += 1;
            store = Some(self.store_number);
        }
        let flight = self.flights.insert(Flight { go: *go, left: 1, latest: begin, store });
        let resident = self.blocks[go.block].as_mut().expect("its block");
        resident.pending += 1;
        resident.stores.extend(store);
        let sched = &mut self.schedulers[go.scheduler];
        sched.warps[go.slot].as_mut().expect("the warp").pending += 1;
        self.write(go, plan, NEVER);
        let mut access =
            Waiting { flight, lines: std::mem::take(&mut self.lines), next: 0, at: begin };
        let starts = begin.max(self.lsu);
        if self.waiting.is_empty() && self.look_up(&mut access, env, shared) {
            self.collectors.hold(starts);
            self.lines = access.lines;
            // What issues looks at its warp again by itself.
            self.part_over(flight, go.now, env, shared);
        } else {
            self.collectors.hold(NEVER);
            self.waiting.push_back(access);
        }
    }

    /// Looks lines of an access up until one finds no place; tells whether all did.
    fn look_up(
        &mut self,
        access: &mut Waiting,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> bool {
        let go = self.flights.get(access.flight).expect("an access").go;
        let plan = env.plan(go.pc);
        let machine = env.machine;
        let whole = u32::MAX >> (32 - machine.line_bursts());
        let mut at = access.at.max(self.lsu);
        let visitor = self.blocks[go.block].as_ref().and_then(|resident| resident.task);
        let mut did =
            visitor.and_then(|token| shared.tasks.get_mut(token)).map(|task| &mut task.did);
        while let Some(&Touched { line, lanes, bursts }) = access.lines.get(access.next) {
            let count = lanes.count_ones();
            if plan.store || plan.atomic {
                if self.stores >= machine.pipeline.stores {
                    break;
                }
                self.stores += 1;
                let bytes = (count * plan.bytes).min(machine.cache.line_bytes);
                if let Some(did) = &mut did {
                    did.stores += 1;
                    did.written += u64::from(bytes);
                }
                let (ask, answer) = match plan.atomic {
                    true => {
                        self.drop_line(line, shared.copies.as_deref_mut());
                        self.counts.atomic_lines += 1;
                        let wanted = !plan.registers.destinations.is_empty();
                        (Ask::Atomic, if wanted { bytes } else { 0 })
                    }
                    false => {
                        // A line that is there stays, with what is written.
                        match self.cache.holds(line) {
                            true => self.counts.l1_hits += 1,
                            false => self.counts.l1_misses += 1,
                        }
                        (Ask::Store, 0)
                    }
                };
                self.send(at, access.flight, ask, line, [bytes, answer, count, bursts], env);
                self.add_part(access.flight);
            } else if plan.weak && self.cache.holds(line) {
                self.counts.l1_hits += 1;
                let flight = self.flights.get_mut(access.flight).expect("an access");
                flight.latest = flight.latest.max(at + Cycle::from(machine.l1.latency));
            } else {
                let pending = self.missing.get(&line).filter(|_| plan.weak).copied();
                if pending.is_none() && self.misses.len() >= machine.l1.misses as usize {
                    break;
                }
                match plan.weak {
                    true => self.counts.l1_misses += 1,
                    false => self.counts.ordered_lines += 1,
                }
                if let Some(number) = pending {
                    let miss = self.misses.get_mut(number).expect("a line that was asked for");
                    miss.flights.push(access.flight);
                } else {
                    let mut flights = self.spare.pop().unwrap_or_default();
                    flights.push(access.flight);
                    let number = self.misses.insert(Miss { line, flights, fills: plan.weak });
                    match plan.weak {
                        true => drop(self.missing.insert(line, number)),
                        false => self.drop_line(line, shared.copies.as_deref_mut()),
                    }
                    if let Some(did) = &mut did {
                        did.loads += 1;
                    }
                    self.send(at, number, Ask::Load, line, [0, 0, 0, whole], env);
                }
                self.add_part(access.flight);
            }
            at += 1;
            access.next += 1;
        }
        self.lsu = self.lsu.max(at);
        access.next == access.lines.len()
    }

    fn add_part(&mut self, flight: u32) {
        self.flights.get_mut(flight).expect("an access").left += 1;
    }

    fn send(
        &mut self,
        at: Cycle,
        token: u32,
        ask: Ask,
        line: u64,
        [bytes, answer, lanes, bursts]: [u32; 4],
        env: &Env<'_, '_>,
    ) {
        let time = env.clock.time(at + 1);
        let sm = self.number;
        self.out.push(Request { time, sm, token, ask, line, bytes, answer, lanes, bursts });
    }

    /// Accesses that wait go on once there is a place.
    fn go_on(&mut self, now: Cycle, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        while let Some(mut access) = self.waiting.pop_front() {
            access.at = access.at.max(now);
            if !self.look_up(&mut access, env, shared) {
                self.waiting.push_front(access);
                return;
            }
            self.collectors.release(now);
            self.unpark(now);
            self.answered(now, access.flight, env, shared);
        }
    }

    /// A line has come.
    pub fn line_came(
        &mut self,
        now: Cycle,
        number: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let miss = self.misses.remove(number);
        if miss.fills {
            self.fill_line(miss.line, shared.copies.as_deref_mut());
            self.missing.remove(&miss.line).expect("a line that was asked for");
        }
        let mut flights = miss.flights;
        for flight in flights.drain(..) {
            self.answered(now, flight, env, shared);
        }
        self.spare.push(flights);
        self.go_on(now, env, shared);
    }

    /// A store or atomic operation of a line is over.
    pub fn store_over(
        &mut self,
        now: Cycle,
        flight: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        self.stores -= 1;
        self.answered(now, flight, env, shared);
        self.go_on(now, env, shared);
    }

    fn answered(
        &mut self,
        now: Cycle,
        flight: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        if let Some(go) = self.part_over(flight, now, env, shared) {
            self.look_again(now, &go, env);
        }
    }

    /// A part of an access is over; with the last one, all of it: its instruction.
    fn part_over(
        &mut self,
        number: u32,
        now: Cycle,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Option<Issue> {
        let flight = self.flights.get_mut(number).expect("an access");
        flight.left -= 1;
        flight.latest = flight.latest.max(now);
        if flight.left > 0 {
            return None;
        }
        let Flight { go, latest, store, .. } = self.flights.remove(number);
        let plan = env.plan(go.pc);
        let destinations = &plan.registers.destinations;
        let mut at = latest;
        if !destinations.is_empty() {
            at += Cycle::from(env.machine.pipeline.register);
            let words = destinations.iter().filter(|r| !operands::is_predicate(**r));
            self.counts.loaded += words.count() as u64;
        }
        self.write(&go, plan, at);
        self.needed(&go, at);
        let sched = &mut self.schedulers[go.scheduler];
        sched.warps[go.slot].as_mut().expect("a warp whose access ends").pending -= 1;
        let resident = self.blocks[go.block].as_mut().expect("its block");
        resident.pending -= 1;
        if let Some(at) = store.and_then(|store| resident.stores.iter().position(|s| *s == store)) {
            let store = resident.stores.swap_remove(at);
            if let Some(copies) = &mut shared.copies {
                copies.store_over(self.number, store, shared.state.memory.whole());
            }
        }
        for at in 0..resident.departures.len() {
            let resident = self.blocks[go.block].as_ref().expect("its block");
            let (scheduler, slot) = resident.departures[at];
            self.schedule(now, Event::Depart(scheduler, slot));
        }
        Some(go)
    }

    /// A warp whose access is over may go on, and its block may leave.
    fn look_again(&mut self, now: Cycle, go: &Issue, env: &Env<'_, '_>) {
        let sched = &mut self.schedulers[go.scheduler];
        let warp = sched.warps[go.slot].as_mut().expect("a warp whose access ends");
        if !warp.parked {
            let waited = warp.why == Stall::Memory;
            self.prepare(go.scheduler, go.slot, env);
            let sched = &mut self.schedulers[go.scheduler];
            if sched.ready[go.slot] != NEVER {
                sched.set_ready(go.slot, sched.ready[go.slot].max(now));
            }
            let warp = sched.warps[go.slot].as_mut().expect("the warp");
            if waited && warp.fetched <= now {
                warp.why = Stall::Memory;
            }
        }
        self.settle(now, go.block);
    }
}

/// Lanes touch parts of a line.
fn touch(lines: &mut Vec<Touched>, line: u64, lanes: Mask, bursts: u32) {
    match lines.iter_mut().rev().find(|touched| touched.line == line) {
        Some(touched) => {
            touched.lanes |= lanes;
            touched.bursts |= bursts;
        }
        None => lines.push(Touched { line, lanes, bursts }),
    }
}
