//! A block on its core: its warps take turns, in their order; a warp that waits lets the others
//! go ahead.

use crate::barrier::{Arrival, Barriers, Completion};
use crate::{LANES, Mask};
use nbcc_isa_simt::operands::{BarrierReduction, Source};
use nbcc_isa_simt::{Op, PhysReg};

use crate::machine::context::{Context, Place, State};
use crate::machine::execute::{Event, Stopped, run_warp};
use crate::machine::fault::FaultKind;
use crate::machine::transfer::load_again;
use crate::machine::warp::{ALL, Warp};

/// Instructions that a warp issues before the next one has its turn.
const TURN: u64 = 1 << 11;
/// The same once a path of the warp had to let others go ahead: the next one that looks at memory in vain
/// is to take less long, which each of the lanes that want a lock does.
const SHORT_TURN: u64 = 1 << 5;
/// Turns after which a path lets others of its warp go ahead even if threads keep parting.
const PATIENCE: u32 = 256;
/// Instructions of a block before other blocks have a turn.
const BLOCK_TURN: u64 = 1 << 18;

/// A block that has been started.
#[derive(Debug)]
pub struct Block {
    index: [u32; 3],
    core: u32,
    shared: Vec<u8>,
    warps: Vec<Warp>,
    turns: Vec<Turns>,
    barriers: Barriers<u32>,
}

/// What is known of a warp's turns.
#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    changes: u64,
    count: u32,
    /// Instructions of the current turn, of warps that are stepped.
    steps: u64,
    /// Whether a path had to let others go ahead.
    gave_way: bool,
}

/// A fault of a block: what stopped which warp.
pub struct BlockFault {
    /// The number of the warp in the block of its threads.
    pub warp: usize,
    /// What stopped it.
    pub stopped: Stopped,
}

impl Block {
    /// A block at the entry of the kernel.
    pub fn new(context: &Context<'_>, index: [u32; 3], core: u32) -> Block {
        let threads: u32 = context.block.iter().product();
        let warps = threads.div_ceil(LANES as u32);
        let shared = context.kernel.shared_bytes + context.dynamic_shared;
        Block {
            index,
            core,
            shared: vec![0; shared as usize],
            warps: (0..warps)
                .map(|number| {
                    let rest = threads - number * LANES as u32;
                    Warp::new(number as usize, context.kernel, rest)
                })
                .collect(),
            turns: vec![Turns::default(); warps as usize],
            barriers: Barriers::new(threads),
        }
    }

    /// A warp of a block that runs apart from it for a while: nothing of the block but its position is
    /// there.
    pub fn of_visitor(index: [u32; 3], core: u32, warp: Warp) -> Block {
        Block {
            index,
            core,
            shared: Vec::new(),
            turns: vec![Turns::default()],
            warps: vec![warp],
            barriers: Barriers::new(LANES as u32),
        }
    }

    /// The warps of a block that is no more.
    pub fn into_warps(self) -> Vec<Warp> {
        self.warps
    }

    /// A warp, to be changed.
    #[inline]
    pub fn warp_mut(&mut self, warp: usize) -> &mut Warp {
        &mut self.warps[warp]
    }

    /// The path of a warp that was held goes on at `pc`.
    ///
    /// # Errors
    /// The fault of the block where all of it waits for ever.
    pub fn resume(&mut self, warp: usize, pc: u32) -> Result<(), BlockFault> {
        let paths = &mut self.warps[warp].paths;
        paths.go(pc);
        paths.let_go();
        self.unless_stuck(warp)
    }

    /// Its position in the grid.
    pub fn index(&self) -> [u32; 3] {
        self.index
    }

    /// Runs the block for a while; tells whether it has ended.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        state: &mut State<'_>,
        max_cycles: u64,
    ) -> Result<bool, BlockFault> {
        let core = self.core as usize;
        let end = state.counters.cores[core].saturating_add(BLOCK_TURN);
        loop {
            let before = state.counters.cores[core];
            for warp in 0..self.warps.len() {
                self.turn(warp, context, state, max_cycles)?;
            }
            if self.is_over() {
                return Ok(true);
            }
            if state.counters.cores[core] == before
                && !self.warps.iter_mut().any(|warp| warp.paths.release())
            {
                return Err(self.deadlock());
            }
            if state.counters.cores[core] >= end {
                return Ok(false);
            }
        }
    }

    /// A turn of a warp.
    fn turn(
        &mut self,
        warp: usize,
        context: &Context<'_>,
        state: &mut State<'_>,
        max_cycles: u64,
    ) -> Result<(), BlockFault> {
        let core = self.core as usize;
        let mut left = TURN;
        loop {
            if self.warps[warp].paths.current().is_none() {
                return Ok(());
            }
            let spent = state.counters.cores[core];
            let allowed = left.min(max_cycles.saturating_sub(spent));
            let mut budget = allowed;
            let result = self.advance(warp, context, state, spent, &mut budget);
            let used = allowed - budget;
            state.counters.cores[core] += used;
            left -= used;
            match result? {
                Event::Idle => return Ok(()),
                Event::Paused if left > 0 => {
                    return Err(self.cycle_limit(warp, max_cycles));
                }
                Event::Paused => {
                    self.give_way(warp);
                    return Ok(());
                }
                Event::Exited | Event::Barrier { .. } => {}
            }
        }
    }

    /// Runs a warp for at most `budget` instructions, and does what its barriers and the end of its
    /// threads mean to the others.
    fn advance(
        &mut self,
        warp: usize,
        context: &Context<'_>,
        state: &mut State<'_>,
        clock: u64,
        budget: &mut u64,
    ) -> Result<Event, BlockFault> {
        let (index, core) = (self.index, self.core);
        let mut place = Place { index, core, clock, shared: &mut self.shared };
        let event = run_warp(&mut self.warps[warp], &mut place, context, state, budget)
            .map_err(|stopped| self.stopped(warp, stopped))?;
        match event {
            Event::Idle | Event::Paused => {}
            Event::Exited => self.after_exit(context),
            Event::Barrier { pc, lanes } => {
                let lane = lanes.trailing_zeros() as usize % LANES;
                self.barrier(warp, pc, lanes, context)
                    .map_err(|kind| self.stopped(warp, Stopped { kind, pc, lane }))?;
            }
        }
        Ok(event)
    }

    /// One instruction of a warp that has a current path, for machines that say when: `clock` is
    /// what the program sees as the time. Tells whether other warps of the block may have been
    /// let go, or have ended with it.
    ///
    /// # Errors
    /// The fault of the warp, or that of the block where all of it waits for ever.
    #[inline]
    pub fn step(
        &mut self,
        warp: usize,
        clock: u64,
        context: &Context<'_>,
        state: &mut State<'_>,
    ) -> Result<bool, BlockFault> {
        let event = self.advance(warp, context, state, clock, &mut 1)?;
        state.counters.cores[self.core as usize] += 1;
        let turns = &mut self.turns[warp];
        turns.steps += 1;
        let turn = if turns.gave_way { SHORT_TURN } else { TURN };
        if turns.steps >= turn && self.warps[warp].paths.current().is_some() {
            turns.steps = 0;
            self.give_way(warp);
        }
        self.unless_stuck(warp)?;
        Ok(matches!(event, Event::Exited | Event::Barrier { .. } | Event::Idle)
            || self.warps[warp].paths.current().is_none())
    }

    /// Does a load of a warp again that it has executed, with the addresses that it had: its registers
    /// get what memory holds now.
    ///
    /// # Errors
    /// The fault of the load.
    pub fn load_again(
        &mut self,
        warp: usize,
        (pc, lanes): (u32, Mask),
        addresses: &[u64; LANES],
        context: &Context<'_>,
        state: &mut State<'_>,
    ) -> Result<(), BlockFault> {
        let op = &context.program.code.text[pc as usize].op;
        let (index, core) = (self.index, self.core);
        let mut place = Place { index, core, clock: 0, shared: &mut self.shared };
        let warps = &mut self.warps[warp];
        load_again(warps, op, lanes, addresses, context, &mut place, state)
            .map_err(|(lane, kind)| self.stopped(warp, Stopped { kind, pc, lane }))
    }

    /// Lets threads go that wait at a meeting point where nothing else of the block can go on; `warp`
    /// is the one that has changed.
    fn unless_stuck(&mut self, warp: usize) -> Result<(), BlockFault> {
        if self.warps[warp].paths.current().is_none()
            && self.warps.iter().all(|warp| warp.paths.current().is_none())
            && !self.is_over()
            && !self.warps.iter_mut().any(|warp| warp.paths.release())
        {
            return Err(self.deadlock());
        }
        Ok(())
    }

    /// What stops a block for which nothing will happen any more: where its first warp is that has not
    /// ended.
    pub fn stalled(&self) -> BlockFault {
        let waiting = self.warps.iter().map(|warp| warp.paths.live().count_ones()).sum();
        let lives = |warp: &Warp| warp.paths.live() != 0;
        let number = self.warps.iter().position(lives).unwrap_or(0);
        let paths = &self.warps[number].paths;
        let (pc, mask) = match paths.current() {
            Some((pc, mask, _)) => (pc, mask),
            None => {
                paths.waiting().next().map_or((0, 1), |(pc, mask)| (pc.saturating_sub(1), mask))
            }
        };
        let lane = mask.trailing_zeros() as usize % LANES;
        let kind = FaultKind::Deadlock { waiting };
        self.stopped(number, Stopped { kind, pc, lane })
    }

    /// A fault of one of its warps: a visitor is not the first warp of its block.
    fn stopped(&self, warp: usize, stopped: Stopped) -> BlockFault {
        BlockFault { warp: self.warps[warp].number, stopped }
    }

    /// What stops a block that has had its cycles: where its first warp is that can go on.
    pub fn out_of_cycles(&self, limit: u64) -> BlockFault {
        let runs = |warp: &Warp| warp.paths.current().is_some();
        self.cycle_limit(self.warps.iter().position(runs).unwrap_or(0), limit)
    }

    fn cycle_limit(&self, warp: usize, limit: u64) -> BlockFault {
        let (pc, mask, _) = self.warps[warp].paths.current().unwrap_or((0, 1, 0));
        let lane = mask.trailing_zeros() as usize % LANES;
        self.stopped(warp, Stopped { kind: FaultKind::CycleLimit(limit), pc, lane })
    }

    /// Whether all its threads have ended.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.warps.iter().all(|warp| warp.paths.live() == 0)
    }

    /// Its warps.
    #[inline]
    pub fn warps(&self) -> &[Warp] {
        &self.warps
    }

    /// A path that went on for a whole turn, looking at memory that others change, while others
    /// of its warp wait for it, may wait for them: they go ahead.
    fn give_way(&mut self, warp: usize) {
        let polls = std::mem::take(&mut self.warps[warp].polls);
        let paths = &mut self.warps[warp].paths;
        let turns = &mut self.turns[warp];
        turns.count += 1;
        let alone = paths.current().is_none_or(|(_, mask, _)| mask == paths.live());
        if polls
            && !alone
            && !paths.is_held()
            && (turns.changes == paths.changes() || turns.count.is_multiple_of(PATIENCE))
        {
            turns.gave_way |= paths.yield_to_others();
        }
        turns.changes = paths.changes();
    }

    fn live(&self) -> Vec<Mask> {
        self.warps.iter().map(|warp| warp.paths.live()).collect()
    }

    fn after_exit(&mut self, context: &Context<'_>) {
        let live = self.live();
        while let Some(completion) = self.barriers.after_exit(|warp| live[warp]) {
            self.complete(&completion, context);
        }
    }

    fn barrier(
        &mut self,
        warp: usize,
        pc: u32,
        lanes: Mask,
        context: &Context<'_>,
    ) -> Result<(), FaultKind> {
        let state = &self.warps[warp];
        let lane = lanes.trailing_zeros() as usize % LANES;
        let number = |source: &Source<PhysReg>| state.source(source)[lane];
        let (id, count, waits, predicate) = match &context.program.code.text[pc as usize].op {
            Op::Bar { id, count, .. } => (id, count, true, None),
            Op::BarArrive { id, count, .. } => (id, count, false, None),
            Op::BarPopc { id, count, src, .. } | Op::BarRed { id, count, src, .. } => {
                (id, count, true, Some(state.predicate(*src)))
            }
            op => panic!("`{op}` is no barrier"),
        };
        let arrival = Arrival {
            id: number(id),
            count: number(count),
            warp,
            lanes,
            waits: waits.then_some(pc),
            predicate,
        };
        let live = self.live();
        let completion = self.barriers.arrive(arrival, |warp| live[warp])?;
        if !waits {
            self.warps[warp].paths.wake(lanes);
        }
        if let Some(completion) = completion {
            self.complete(&completion, context);
        }
        Ok(())
    }

    fn complete(&mut self, completion: &Completion<u32>, context: &Context<'_>) {
        for waiter in &completion.waiters {
            let warp = &mut self.warps[waiter.warp];
            match &context.program.code.text[waiter.tag as usize].op {
                Op::BarPopc { dst, .. } => {
                    warp.set_word(*dst, waiter.lanes, &[completion.holds; LANES]);
                }
                Op::BarRed { op, dst, .. } => {
                    let holds = match op {
                        BarrierReduction::And => completion.holds == completion.predicates,
                        BarrierReduction::Or => completion.holds > 0,
                    };
                    warp.set_predicate(*dst, waiter.lanes, if holds { ALL } else { 0 });
                }
                _ => {}
            }
            warp.paths.wake(waiter.lanes);
        }
    }

    /// The first thread that waits for ever.
    fn deadlock(&self) -> BlockFault {
        let waiting = self.warps.iter().map(|warp| warp.paths.live().count_ones()).sum();
        let kind = FaultKind::Deadlock { waiting };
        for (number, warp) in self.warps.iter().enumerate() {
            if let Some((pc, mask)) = warp.paths.waiting().next() {
                // It would go on behind the instruction that it waits at.
                let lane = mask.trailing_zeros() as usize % LANES;
                return self.stopped(number, Stopped { kind, pc: pc - 1, lane });
            }
        }
        panic!("a block whose threads neither run nor wait nor have ended");
    }
}
