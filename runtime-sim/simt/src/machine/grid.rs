//! A launch: block i goes to core i modulo the number of cores. Blocks are started in their
//! order; a block that takes long lets others go ahead, so that blocks may wait for each other
//! as far as the cores hold them together.

use std::collections::VecDeque;

use crate::LANES;
use nbcc_sim_engine::Progress;

use crate::machine::block::{Block, BlockFault};
use crate::machine::context::{Context, State};
use crate::machine::fault::Fault;

/// The blocks of a grid, one after another.
pub struct InOrder {
    shape: [u32; 3],
    total: u64,
    cores: u64,
    /// Blocks that all cores hold together.
    together: u64,
    started: u64,
    running: VecDeque<Block>,
    /// Blocks that have had a turn since one ended.
    waiting: usize,
}

impl InOrder {
    /// None has begun.
    pub fn new(context: &Context<'_>) -> InOrder {
        let [x, y, z] = context.grid.map(u64::from);
        let cores = u64::from(context.program.machine.limits.cores);
        InOrder {
            shape: context.grid,
            total: x * y * z,
            cores,
            together: cores * u64::from(resident(context)),
            started: 0,
            running: VecDeque::new(),
            waiting: 0,
        }
    }

    /// Blocks of the grid.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Blocks that have begun; outside of [`InOrder::run`] all these have ended.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// So many blocks have begun and ended elsewhere.
    pub fn skip(&mut self, count: u64) {
        self.started += count;
    }

    /// A block at its begin.
    pub fn block(&self, number: u64, context: &Context<'_>) -> Block {
        let [x, y, _] = self.shape.map(u64::from);
        let index = [number % x, number / x % y, number / x / y].map(|i| i as u32);
        Block::new(context, index, (number % self.cores) as u32)
    }

    /// Runs the blocks below a number, and with them those that they may wait for. `progress` is called
    /// whenever a block ends or waits.
    ///
    /// # Errors
    /// The first fault.
    pub fn run(
        &mut self,
        until: u64,
        context: &Context<'_>,
        state: &mut State<'_>,
        max_cycles: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Box<Fault>> {
        while self.started < until || !self.running.is_empty() {
            // A whole round in which no block ended: another one may be what they wait for.
            let count = self.running.len();
            let room = (count as u64) < self.together;
            if self.started < self.total && (count == 0 || (self.waiting >= count && room)) {
                self.running.push_front(self.block(self.started, context));
                self.started += 1;
                self.waiting = 0;
            }
            let Some(mut block) = self.running.pop_front() else { break };
            let ended = block
                .run(context, state, max_cycles)
                .map_err(|stopped| fault(context, block.index(), stopped))?;
            if ended {
                self.waiting = 0;
            } else {
                self.running.push_back(block);
                self.waiting += 1;
            }
            self.report(state, progress);
        }
        Ok(())
    }

    /// Says how far it has come.
    pub fn report(&self, state: &State<'_>, progress: &mut dyn FnMut(Progress)) {
        progress(Progress {
            cycles: state.counters.cores.iter().copied().max().unwrap_or(0),
            instructions: state.counters.cores.iter().sum(),
            blocks: Some((self.started - self.running.len() as u64, self.total)),
        });
    }
}

/// What a user is told of the fault of a block.
pub fn fault(context: &Context<'_>, block: [u32; 3], fault: BlockFault) -> Box<Fault> {
    let pc = fault.stopped.pc;
    let thread = (fault.warp * LANES + fault.stopped.lane) as u32;
    let [x, y, _] = context.block;
    let line = context.program.code.lines.line(pc as usize);
    Box::new(Fault {
        kind: fault.stopped.kind,
        kernel: context.kernel.name.clone(),
        instruction: pc,
        line: line.map(|(file, at)| (file.to_owned(), at.line)),
        block,
        thread: [thread % x, thread / x % y, thread / x / y],
        notes: Vec::new(),
    })
}

/// Blocks of the kernel that a core holds: as many as there are warps, shared memory and places
/// for, and one at least.
fn resident(context: &Context<'_>) -> u32 {
    let limits = &context.program.machine.limits;
    let threads: u32 = context.block.iter().product();
    let warps = threads.div_ceil(LANES as u32);
    let shared = context.kernel.shared_bytes + context.dynamic_shared;
    let by_shared = limits.shared_bytes.checked_div(shared).unwrap_or(u32::MAX);
    (limits.core_warps / warps).min(by_shared).min(limits.core_blocks).max(1)
}
