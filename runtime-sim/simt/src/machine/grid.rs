//! A launch: block i goes to core i modulo the number of cores. Blocks are started in their
//! order; a block that takes long lets others go ahead, so that blocks may wait for each other
//! as far as the cores hold them together.

use std::collections::VecDeque;

use crate::LANES;
use nbcc_sim_engine::Progress;

use crate::machine::block::{Block, BlockFault};
use crate::machine::context::{Context, State};
use crate::machine::fault::Fault;

/// Runs all blocks of a grid. `progress` is called whenever a block ends or waits.
///
/// # Errors
/// The first fault.
pub fn run(
    context: &Context<'_>,
    state: &mut State<'_>,
    max_cycles: u64,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Box<Fault>> {
    let [x, y, z] = context.grid.map(u64::from);
    let total = x * y * z;
    let cores = u64::from(context.program.machine.limits.cores);
    let together = cores * u64::from(resident(context));
    let mut started = 0;
    let mut running: VecDeque<Block> = VecDeque::new();
    let mut waiting = 0;
    while started < total || !running.is_empty() {
        // A whole round in which no block ended: another one may be what they wait for.
        let room = (running.len() as u64) < together;
        if started < total && (running.is_empty() || (waiting >= running.len() && room)) {
            let index = [started % x, started / x % y, started / x / y].map(|i| i as u32);
            running.push_front(Block::new(context, index, (started % cores) as u32));
            started += 1;
            waiting = 0;
        }
        let Some(mut block) = running.pop_front() else { break };
        let ended = block
            .run(context, state, max_cycles)
            .map_err(|stopped| fault(context, block.index(), stopped))?;
        if ended {
            waiting = 0;
        } else {
            running.push_back(block);
            waiting += 1;
        }
        progress(Progress {
            cycles: state.counters.cores.iter().copied().max().unwrap_or(0),
            instructions: state.counters.cores.iter().sum(),
            blocks: Some((started - running.len() as u64, total)),
        });
    }
    Ok(())
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
