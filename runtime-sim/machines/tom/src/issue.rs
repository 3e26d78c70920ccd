//! An instruction issues: it is executed, and what it takes of the pipeline is decided. Schedulers issue
//! in the order of each warp, once its registers are there and its unit has room.

use nbcc_isa_simt::operands::Space;
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::Mask;
use nbcc_sim_simt::machine::fault::Fault;

use crate::access::Reach;
use crate::plan::{Kind, Plan};
use crate::residents::{Role, Stay};
use crate::sm::{Env, Shared, Sm};
use crate::stall::Stall;

/// An instruction of a warp that issues.
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    /// The cycle.
    pub now: Cycle,
    /// The scheduler.
    pub scheduler: usize,
    /// The warp's place there.
    pub slot: usize,
    /// The place of its block.
    pub block: usize,
    /// The warp's number in its block.
    pub warp: usize,
    /// The instruction.
    pub pc: u32,
    /// The threads that are at it.
    pub mask: Mask,
    /// The threads that it is for.
    pub lanes: Mask,
}

/// Cycles for which an instruction may wait in front of its unit: collecting operands takes as long.
const SLACK: Cycle = 2;

impl Sm {
    /// Issues the next instruction of a warp, unless its unit has no room for it.
    pub fn issue(
        &mut self,
        now: Cycle,
        scheduler: usize,
        slot: usize,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Result<(), Box<Fault>> {
        let warp = self.schedulers[scheduler].warps[slot].as_ref().expect("a warp that is ready");
        let (block, number, pc) = (warp.block, warp.number, warp.pc);
        let plan = env.plan(pc);
        let threads = &self.blocks[block].as_ref().expect("its block").block.warps()[number];
        let mask = threads.paths.current().expect("a path that is ready").1;
        let inst = &env.context.program.code.text[pc as usize];
        let lanes = threads.guarded(&inst.guard, mask);
        let go = Issue { now, scheduler, slot, block, warp: number, pc, mask, lanes };
        if !matches!(warp.role, Role::Plain | Role::Visits { .. })
            && self.in_candidate(&go, plan, env, shared)
        {
            return Ok(());
        }

        if lanes != 0
            && let Some((at, why)) = self.hindrance(&go, plan)
        {
            let sched = &mut self.schedulers[scheduler];
            let warp = sched.warps[slot].as_mut().expect("the warp");
            (warp.why, warp.parked) = (why, at == NEVER);
            sched.set_ready(slot, at);
            if at == NEVER {
                self.parked.push((scheduler, slot));
            }
            return Ok(());
        }
        let mut reach = Reach::None;
        let mut copies = None;
        if lanes != 0
            && let Kind::Access(space) = plan.kind
            && let Some((base, offset)) = inst.op.address()
        {
            let resident = self.blocks[block].as_ref().expect("its block");
            let addresses = resident.block.warps()[number].addresses(base, offset.0);
            reach = self.reach(&go, plan, space, addresses, env);
            if reach == Reach::Memory {
                if let Some(learning) = &mut shared.learning {
                    learning.reach(self.lines.iter().map(|touched| touched.line));
                }
                self.observe(&go, plan, shared);
                copies = shared.copies.take();
                if let Some(copies) = &mut copies {
                    copies.before(self, &go, plan, &addresses, shared.state.memory.whole());
                }
            }
        }

        self.enter(&go, plan, shared);
        let resident = self.blocks[block].as_mut().expect("its block");
        if let Some(token) = resident.task {
            shared.tasks.get_mut(token).expect("a task").did.instructions += 1;
        }
        let stepped = resident.block.step(number, now, env.context, shared.state);
        if let Some(mut copies) = copies {
            copies.after(self.number, plan, self.store_number + 1, shared.state.memory.whole());
            shared.copies = Some(copies);
        }
        let others = match stepped {
            Ok(others) => others,
            Err(fault) => return Err(Sm::fault(env, self.number, resident.block.index(), fault)),
        };
        if lanes != 0 {
            shared.profile.executed[pc as usize] += 1;
            if plan.kind == Kind::Fence {
                // What others wrote before is to be seen behind it.
                self.clear_cache(shared.copies.as_deref_mut());
            }
            self.execute(&go, plan, reach, env, shared);
        }
        let mut next = now + 1;
        let resident = self.blocks[block].as_ref().expect("its block");
        let current = resident.block.warps()[number].paths.current().map(|(pc, ..)| pc);
        if current != Some(pc + 1) {
            next += Cycle::from(env.machine.pipeline.fetch + env.machine.pipeline.decode);
        }
        let warp = self.schedulers[scheduler].warps[slot].as_mut().expect("the warp");
        (warp.fetched, warp.why) = (next, Stall::Fetch);
        if let Kind::Region(number) = plan.kind {
            self.marked(&go, number, env, shared);
        }
        self.prepare(scheduler, slot, env);
        if others || self.blocks[block].as_ref().is_some_and(|resident| resident.done) {
            self.wake(block, number, next + Cycle::from(env.machine.latency.alu), env);
            self.settle(now, block);
        }
        Ok(())
    }

    /// Notes the lines of an access, which are in `lines`, where they are those of a candidate.
    fn observe(&mut self, go: &Issue, plan: &Plan, shared: &mut Shared<'_, '_>) {
        let resident = self.blocks[go.block].as_ref().expect("its block");
        if let Some(token) = resident.task {
            let task = shared.tasks.get_mut(token).expect("a task");
            task.did.accesses += 1;
            for touched in &self.lines {
                let stack = shared.map.stack(touched.line);
                task.stacks |= 1 << (stack % 64);
                task.did.lines += 1;
                task.did.remote_lines += u64::from(stack != task.stack);
                if plan.store {
                    task.wrote(touched.line);
                }
            }
        } else if let Some(learning) = &mut shared.learning
            && let Some(warp) = &self.schedulers[go.scheduler].warps[go.slot]
            && let Role::Stays(Stay { instance: Some(instance), lanes, .. }) = warp.role
            && go.lanes & lanes != 0
        {
            for touched in self.lines.iter().filter(|touched| !Sm::is_local(touched.line)) {
                let address = shared.map.address(touched.line);
                learning.access(instance, address, shared.state.memory.whole());
            }
        }
    }

    /// What keeps an instruction from issuing: until when, never where that is not known, and why.
    fn hindrance(&self, go: &Issue, plan: &Plan) -> Option<(Cycle, Stall)> {
        let (free, why) = match plan.kind {
            Kind::Compute | Kind::Branch | Kind::Barrier | Kind::Fence | Kind::Region(_) => {
                (self.schedulers[go.scheduler].units, Stall::Units)
            }
            Kind::Special => (self.special, Stall::Units),
            Kind::Access(Space::Param) => return None,
            Kind::Access(_) => {
                let at = self.collectors.available();
                return (at > go.now).then_some((at, Stall::Requests));
            }
        };
        (free > go.now + SLACK).then(|| (free - SLACK, why))
    }

    /// Notes that a scheduler issues.
    fn enter(&mut self, go: &Issue, plan: &Plan, shared: &mut Shared<'_, '_>) {
        let sched = &mut self.schedulers[go.scheduler];
        (sched.last, sched.next) = (go.slot, None);
        sched.free = go.now + 1;
        let why = sched.warps[go.slot].as_ref().map_or(Stall::Empty, |warp| warp.why);
        let gap = self.account(go.scheduler, go.now, why);
        self.schedulers[go.scheduler].accounted = go.now + 1;
        self.counts.issue_cycles += 1;
        shared.profile.stalled[go.pc as usize] += gap;
        if let Some(timeline) = &mut shared.timeline {
            timeline.issue(self.number, plan.mnemonic, go.now, go.pc);
        }
    }

    /// Takes what the instruction needs.
    fn execute(
        &mut self,
        go: &Issue,
        plan: &Plan,
        reach: Reach,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        match reach {
            Reach::None => {
                self.compute(go, plan, env);
            }
            Reach::Shared(passes) => self.shared_access(go, plan, passes, env),
            Reach::Memory => self.memory_access(go, plan, env, shared),
        }
    }

    /// The block is not over before a cycle.
    pub fn needed(&mut self, go: &Issue, until: Cycle) {
        let resident = self.blocks[go.block].as_mut().expect("its block");
        resident.until = resident.until.max(until);
    }

    /// Destinations are there at a cycle, [`NEVER`] where that is not known.
    pub fn write(&mut self, go: &Issue, plan: &Plan, at: Cycle) {
        let sched = &mut self.schedulers[go.scheduler];
        let warp = sched.warps[go.slot].as_mut().expect("the warp");
        for &register in &plan.registers.destinations {
            warp.board.write(register, at);
        }
    }

    /// An instruction that needs nothing but registers and a unit.
    fn compute(&mut self, go: &Issue, plan: &Plan, env: &Env<'_, '_>) {
        let collected = go.now + Cycle::from(plan.collect);
        let unit = match plan.kind {
            Kind::Special => &mut self.special,
            _ => &mut self.schedulers[go.scheduler].units,
        };
        let begin = collected.max(*unit);
        *unit = begin + Cycle::from(plan.interval);
        let done = begin + Cycle::from(plan.latency + env.machine.pipeline.register);
        self.write(go, plan, done);
        self.needed(go, done);
    }

    /// A load, store or atomic operation of shared memory.
    fn shared_access(&mut self, go: &Issue, plan: &Plan, passes: u32, env: &Env<'_, '_>) {
        let pipeline = &env.machine.pipeline;
        let begin = (go.now + Cycle::from(plan.collect)).max(self.lsu);
        self.lsu = begin + Cycle::from(passes.max(1));
        self.collectors.hold(begin);
        let done = self.lsu - 1 + Cycle::from(pipeline.shared + pipeline.register);
        self.counts.shared += 1;
        self.counts.shared_passes += u64::from(passes);
        self.write(go, plan, done);
        self.needed(go, done);
    }

    /// Warps of a block that waited for the one that has just issued.
    pub fn wake(&mut self, block: usize, but: usize, at: Cycle, env: &Env<'_, '_>) {
        let count = self.blocks[block].as_ref().map_or(0, |resident| resident.places.len());
        for number in (0..count).filter(|number| *number != but) {
            let resident = self.blocks[block].as_ref().expect("its block");
            let (scheduler, slot) = resident.places[number];
            let is_ready = resident.block.warps()[number].paths.current().is_some();
            let (scheduler, slot) = (scheduler as usize, slot as usize);
            let sched = &mut self.schedulers[scheduler];
            let waits = sched.ready[slot] == NEVER;
            let Some(warp) = &mut sched.warps[slot] else { continue };
            if is_ready && waits && warp.why == Stall::Barrier {
                warp.fetched = warp.fetched.max(at);
                self.prepare(scheduler, slot, env);
            }
        }
    }
}
