//! An instruction issues: the offload engine decides where it executes and where its registers have
//! to be, the register move engines bring them there, and what it takes of the pipeline is entered
//! into calendars (section IV-B1, Fig. 3).

use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::location::Side;
use nbcc_isa_simt::operands::Space;
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::machine::view::View;
use nbcc_sim_simt::timing::operands::is_predicate;
use nbcc_sim_simt::{LANES, Mask};

use crate::access::Reach;
use crate::core::{Core, Env, Loaded, Shared};
use crate::measures::Cause;
use crate::plan::{Kind, Plan};
use crate::residents::Warp;
use crate::stall::Stall;
use crate::tracks::Tracks;

/// An instruction of a warp that issues.
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    /// The cycle.
    pub now: Cycle,
    /// The subcore.
    pub subcore: usize,
    /// The warp's place there.
    pub slot: usize,
    /// The place of its block.
    pub block: usize,
    /// The instruction.
    pub pc: u32,
    /// The threads that it is for.
    pub lanes: Mask,
    /// Whether other threads of the warp keep what destinations held.
    pub partial: bool,
}

/// The three policies of section IV-B1 in their order: the operation, the compiler's hint, and where
/// all sources are valid; far if none decides.
pub fn side(plan: &Plan, tracks: &Tracks) -> Side {
    if let Some(side) = plan.fixed.or(plan.hint) {
        return side;
    }
    let near = |register: &u16| tracks.holds(Side::Near, *register);
    match !plan.registers.sources.is_empty() && plan.registers.sources.iter().all(near) {
        true => Side::Near,
        false => Side::Far,
    }
}

/// Bytes of a register of a warp on the TSVs.
fn register_bytes(machine: &Machine, register: u16) -> u32 {
    if is_predicate(register) { machine.network.predicate_bytes } else { 4 * LANES as u32 }
}

impl Core {
    /// Issues the next instruction of a warp, unless a buffer or table has no place for it. False, and
    /// nothing is done, where it needs more of memory than is there.
    pub fn issue(
        &mut self,
        now: Cycle,
        subcore: usize,
        slot: usize,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Result<bool, Box<Fault>> {
        let sub = &self.subcores[subcore];
        let warp = sub.warps[slot].as_ref().expect("a warp that is ready");
        let (block, number, pc) = (warp.block, warp.number, warp.pc);
        let plan = env.plan(pc);
        let threads = &self.blocks[block].as_ref().expect("its block").block.warps()[number];
        let mask = threads.paths.current().expect("a path that is ready").1;
        let inst = &env.context.program.code.text[pc as usize];
        let lanes = threads.guarded(&inst.guard, mask);
        let partial = lanes != threads.paths.live();
        let go = Issue { now, subcore, slot, block, pc, lanes, partial };

        let place = side(plan, &warp.tracks);
        if let Some(reach) = warp.reach
            && let Some((at, (why, parked))) = self.hindrance(&go, place, &reach)
        {
            // Still the same.
            self.hinder(&go, at, why, parked);
            return Ok(true);
        }
        let mut reach = Reach::None;
        if lanes != 0
            && let Kind::Access(space) = plan.kind
            && let Some((base, offset)) = inst.op.address()
        {
            let addresses = threads.addresses(base, offset.0);
            reach = self.reach(&go, plan, space, addresses, env);
        }
        if lanes != 0
            && let Some((at, (why, parked))) = self.hindrance(&go, place, &reach)
        {
            let warp = self.hinder(&go, at, why, parked);
            warp.reach = matches!(reach, Reach::Memory(_)).then_some(reach);
            return Ok(true);
        }
        if lanes != 0
            && let View::Before(_, log) = &shared.state.memory
        {
            let loads =
                matches!(plan.kind, Kind::Access(Space::Global | Space::Const)) && !plan.store;
            if plan.alone || (loads && !log.is_empty()) {
                return Ok(false);
            }
            if loads && let Some((base, offset)) = inst.op.address() {
                let resident = self.blocks[block].as_ref().expect("its block");
                let addresses = resident.block.warps()[number].addresses(base, offset.0);
                self.loaded.push(Loaded::new((block, number), (pc, lanes), plan.bytes, addresses));
            }
        }

        self.enter(&go, plan, env.machine.core.issue_ports, shared);
        let resident = self.blocks[block].as_mut().expect("its block");
        let others = match resident.block.step(number, now, env.context, &mut shared.state) {
            Ok(others) => others,
            Err(fault) => return Err(Core::fault(env, resident.block.index(), fault)),
        };
        let mut next = now + 1;
        if lanes != 0 {
            shared.profile.executed[pc as usize] += 1;
            next = self.execute(&go, plan, place, reach, env, shared);
        }
        let resident = self.blocks[block].as_ref().expect("its block");
        let current = resident.block.warps()[number].paths.current().map(|(pc, ..)| pc);
        if current != Some(pc + 1) {
            next += Cycle::from(env.machine.latency.fetch + env.machine.latency.decode);
        }
        let warp = self.subcores[subcore].warps[slot].as_mut().expect("the warp");
        (warp.fetched, warp.why, warp.reach) = (next, Stall::Fetch, None);
        self.prepare(subcore, slot, env);
        if others {
            let at = next + Cycle::from(env.machine.latency.alu);
            self.wake(block, number, at, env);
            self.settle(now, block);
        }
        Ok(true)
    }

    /// Makes a warp wait until a cycle, or for a place that is given back.
    fn hinder(&mut self, go: &Issue, at: Cycle, why: Stall, parked: bool) -> &mut Warp {
        if parked {
            self.parked.push((go.subcore as u32, go.slot as u32));
        }
        self.set_ready(go.subcore, go.slot, at);
        let sub = &mut self.subcores[go.subcore];
        let warp = sub.warps[go.slot].as_mut().expect("the warp");
        (warp.why, warp.parked) = (why, parked);
        warp
    }

    /// What keeps an instruction from issuing: until when, why, and whether it waits for a place
    /// that is given back at a time not known yet.
    fn hindrance(&self, go: &Issue, place: Side, reach: &Reach) -> Option<(Cycle, (Stall, bool))> {
        let sub = &self.subcores[go.subcore];
        if let Reach::Memory(spread) = reach {
            let mut at = 0;
            if spread.whole {
                at = at.max(sub.near.available());
            } else {
                at = if spread.local > 0 { sub.local.available() } else { 0 };
                at = at.max(if spread.remote > 0 { self.remote.available() } else { 0 });
            }
            if at > go.now {
                return Some((at, (Stall::Requests, at == NEVER)));
            }
        }
        let near = place == Side::Near || matches!(reach, Reach::Memory(spread) if spread.whole);
        let mut at = sub.buffers[place as usize].available();
        if near {
            at = at.max(sub.offload.available());
        }
        (at > go.now).then_some((at, (Stall::Buffers, false)))
    }

    /// Notes that a subcore issues.
    fn enter(&mut self, go: &Issue, plan: &Plan, ports: u32, shared: &mut Shared<'_, '_>) {
        self.issues(go.subcore, go.slot);
        let sub = &mut self.subcores[go.subcore];
        let why = sub.warps[go.slot].as_ref().map_or(Stall::Empty, |warp| warp.why);
        if sub.issued.0 == go.now {
            sub.issued.1 += 1;
        } else {
            sub.issued = (go.now, 1);
            self.counts.issue_cycles += 1;
            let gap = self.account(go.subcore, go.now, why);
            shared.profile.stalled[go.pc as usize] += gap;
            self.subcores[go.subcore].accounted = go.now + 1;
        }
        let sub = &mut self.subcores[go.subcore];
        if sub.issued.1 >= ports {
            sub.free = go.now + 1;
        }
        if let Some((trace, lanes)) = &mut shared.trace {
            let lane = lanes[self.number as usize * self.subcores.len() + go.subcore];
            trace.push(lane, plan.mnemonic, go.now, 1, go.pc.into());
        }
    }

    /// Takes what the instruction needs; the first cycle at which the next one of the warp may issue.
    fn execute(
        &mut self,
        go: &Issue,
        plan: &Plan,
        place: Side,
        reach: Reach,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Cycle {
        let latency = &env.machine.latency;
        let masked = self.bring(go, plan.registers.guard.as_slice(), Side::Far, env.machine);
        match plan.kind {
            Kind::Branch => {
                // The mask is known where there is no guard.
                let known = plan.registers.guard.map_or(0, |_| latency.register + latency.alu);
                return masked + Cycle::from(known);
            }
            Kind::Fence => self.cache.clear(),
            _ => {}
        }
        match reach {
            Reach::None => {
                let start = self.begin(go, plan, place, masked, env, shared);
                self.compute(go, plan, place, start, env.machine);
            }
            Reach::Shared(passes) => {
                // A generic access goes to where shared memory is as well.
                let is_near = env.machine.memory.near_shared;
                let side = match is_near && !env.machine.features.process_on_base_die {
                    true => Side::Near,
                    false => place,
                };
                let start = self.begin(go, plan, side, masked, env, shared);
                self.shared_access(go, plan, side, start, passes, env.machine);
            }
            Reach::Memory(spread) => self.memory_access(go, plan, spread, masked, env, shared),
        }
        // Where a barrier lets nobody wait, the next instruction comes as behind any other.
        go.now + 1
    }

    /// Moves registers that are not valid on a side there; the cycle from which all are.
    pub fn bring(&mut self, go: &Issue, registers: &[u16], to: Side, machine: &Machine) -> Cycle {
        let mut there = go.now + 1;
        for &register in registers {
            let warp = self.subcores[go.subcore].warps[go.slot].as_ref().expect("the warp");
            if warp.tracks.is_elsewhere(to, register) {
                there = there.max(self.move_register(go, register, to, machine));
            }
        }
        there
    }

    /// The register move engines (Fig. 3): that of the far side asks or sends, that of the near side
    /// answers or takes.
    fn move_register(&mut self, go: &Issue, register: u16, to: Side, machine: &Machine) -> Cycle {
        let bytes = register_bytes(machine, register);
        let line = Cycle::from(machine.latency.register);
        let engine = self.subcores[go.subcore].engines[to as usize];
        let start = engine.max(go.now + 1);
        let there = match to {
            Side::Far => {
                let request = machine.network.request_bytes;
                let asked = self.tsv(false, Cause::MoveFar, start, request, machine);
                self.tsv(true, Cause::MoveFar, asked + line, bytes, machine) + line
            }
            Side::Near => self.tsv(false, Cause::MoveNear, start + line, bytes, machine) + line,
        };
        let counter = match (to, is_predicate(register)) {
            (Side::Far, false) => &mut self.counts.words_far,
            (Side::Far, true) => &mut self.counts.predicates_far,
            (Side::Near, false) => &mut self.counts.words_near,
            (Side::Near, true) => &mut self.counts.predicates_near,
        };
        *counter += 1;
        let sub = &mut self.subcores[go.subcore];
        sub.engines[to as usize] = there;
        let warp = sub.warps[go.slot].as_mut().expect("the warp");
        warp.tracks.copy(to, register);
        // Nobody reads it on its way.
        warp.board.delay(register, there);
        self.needed(go, there);
        there
    }

    /// Destinations that keep a part of what they held have to be where they are written.
    pub fn bring_destinations(
        &mut self,
        go: &Issue,
        plan: &Plan,
        side: Side,
        machine: &Machine,
    ) -> Cycle {
        match go.partial {
            true => self.bring(go, &plan.registers.destinations, side, machine),
            false => go.now + 1,
        }
    }

    /// The block is not over before a cycle.
    pub fn needed(&mut self, go: &Issue, until: Cycle) {
        let resident = self.blocks[go.block].as_mut().expect("its block");
        resident.until = resident.until.max(until);
    }

    /// Sources are read until a cycle; destinations come at another one.
    pub fn registers(&mut self, go: &Issue, sources: &[u16], read: Cycle) {
        let sub = &mut self.subcores[go.subcore];
        let warp = sub.warps[go.slot].as_mut().expect("the warp");
        sources.iter().for_each(|register| warp.board.read(*register, read));
    }

    /// Destinations are written on a side at a cycle, [`NEVER`] where that is not known.
    pub fn write(&mut self, go: &Issue, plan: &Plan, side: Side, at: Cycle) {
        let sub = &mut self.subcores[go.subcore];
        let warp = sub.warps[go.slot].as_mut().expect("the warp");
        for &register in &plan.registers.destinations {
            warp.board.write(register, at);
            warp.tracks.write(side, register);
        }
    }

    /// Sends an instruction to the near side; when it is there.
    pub fn offload(&mut self, go: &Issue, from: Cycle, machine: &Machine) -> Cycle {
        let sent = self.tsv(false, Cause::Offload, from, machine.network.request_bytes, machine);
        self.subcores[go.subcore].offload.hold(sent);
        sent
    }

    /// When an instruction begins on a side: its registers are there by then, and the near side knows of it.
    fn begin(
        &mut self,
        go: &Issue,
        plan: &Plan,
        side: Side,
        masked: Cycle,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Cycle {
        let machine = env.machine;
        let there = masked.max(self.bring(go, &plan.registers.sources, side, machine));
        let start = there.max(self.bring_destinations(go, plan, side, machine));
        if side == Side::Far {
            return start;
        }
        shared.profile.near[go.pc as usize] += 1;
        self.offload(go, start, machine)
    }

    /// An instruction that has read its sources by a cycle has computed its results at another one: they are
    /// written, and the far side hears of it.
    fn retire(
        &mut self,
        go: &Issue,
        plan: &Plan,
        side: Side,
        read: Cycle,
        computed: Cycle,
        machine: &Machine,
    ) {
        let mut done = computed;
        if !plan.registers.destinations.is_empty() {
            done += Cycle::from(machine.latency.register);
        }
        if side == Side::Near {
            done = self.tsv(true, Cause::Commit, done, machine.network.request_bytes, machine);
        }
        self.registers(go, &plan.registers.sources, read);
        self.write(go, plan, side, done);
        self.needed(go, done);
    }

    /// An instruction that needs nothing but registers and a unit.
    fn compute(&mut self, go: &Issue, plan: &Plan, side: Side, start: Cycle, machine: &Machine) {
        let sub = &mut self.subcores[go.subcore];
        let (collectors, unit) = match plan.kind {
            Kind::Special => (&mut sub.special_collectors, &mut sub.special),
            _ => (&mut sub.collectors[side as usize], &mut sub.alu[side as usize]),
        };
        let cycles = plan.collect[0];
        let collected = collectors.take(start, cycles).max(start + Cycle::from(cycles));
        let begun = unit.take(collected, 1) - 1;
        sub.buffers[side as usize].hold(collected);
        let computed = begun + Cycle::from(plan.latency);
        self.retire(go, plan, side, collected, computed, machine);
    }

    /// A load, store or atomic operation of shared memory.
    fn shared_access(
        &mut self,
        go: &Issue,
        plan: &Plan,
        side: Side,
        start: Cycle,
        passes: u32,
        machine: &Machine,
    ) {
        let sub = &mut self.subcores[go.subcore];
        let cycles = plan.collect[0];
        let collected =
            sub.lsu_collectors[side as usize].take(start, cycles).max(start + Cycle::from(cycles));
        sub.buffers[side as usize].hold(collected);
        let gap = machine.latency.shared_gap;
        let served = self.smem.take(collected, gap * passes);
        let computed = served - Cycle::from(gap) + Cycle::from(machine.latency.shared);
        self.counts.shared += 1;
        self.counts.shared_passes += u64::from(passes);
        self.retire(go, plan, side, collected, computed, machine);
    }

    /// Warps of a block that waited for the one that has just issued.
    fn wake(&mut self, block: usize, but: usize, at: Cycle, env: &Env<'_, '_>) {
        let count = self.blocks[block].as_ref().map_or(0, |resident| resident.places.len());
        for number in (0..count).filter(|number| *number != but) {
            let resident = self.blocks[block].as_ref().expect("its block");
            let (subcore, slot) = resident.places[number];
            let is_ready = resident.block.warps()[number].paths.current().is_some();
            let (subcore, slot) = (subcore as usize, slot as usize);
            let sub = &mut self.subcores[subcore];
            let waits = sub.ready[slot] == NEVER;
            let Some(warp) = &mut sub.warps[slot] else { continue };
            if is_ready && waits && warp.why == Stall::Barrier {
                warp.fetched = warp.fetched.max(at);
                self.prepare(subcore, slot, env);
            }
        }
    }
}
