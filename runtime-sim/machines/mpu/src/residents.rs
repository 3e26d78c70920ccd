//! What a core holds: subcores with their warps and units, and the blocks that these are of.

use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::machine::block::Block;
use nbcc_sim_simt::timing::calendar::Calendar;
use nbcc_sim_simt::timing::pool::Pool;
use nbcc_sim_simt::timing::schedule;
use nbcc_sim_simt::timing::scoreboard::Scoreboard;

use nbcc_isa_mpu::Machine;

use crate::access::Reach;
use crate::stall::Stall;
use crate::tracks::Tracks;

/// A warp in its place of a subcore.
#[derive(Debug)]
pub struct Warp {
    /// The block's place in the core.
    pub block: usize,
    /// Its number in the block.
    pub number: usize,
    /// Its next instruction.
    pub pc: u32,
    /// From when the front end offers that.
    pub fetched: Cycle,
    /// Why it does not issue yet.
    pub why: Stall,
    /// Registers that are on their way.
    pub board: Scoreboard,
    /// Where registers are valid.
    pub tracks: Tracks,
    /// Accesses of memory that are not over.
    pub pending: u32,
    /// Whether it waits for a place in a table.
    pub parked: bool,
    /// What its next instruction reaches, once it has found a table full.
    pub reach: Option<Reach>,
}

/// A subcore with its near-bank unit.
#[derive(Debug)]
pub struct Subcore {
    /// Warps by place.
    pub warps: Box<[Option<Warp>]>,
    /// From when each can issue.
    pub ready: Box<[Cycle]>,
    /// The place that issued last.
    pub last: usize,
    /// From when it can issue at all.
    pub free: Cycle,
    /// The last cycle in which it issued, and how many instructions.
    pub issued: (Cycle, u32),
    /// Cycles before this one are accounted for.
    pub accounted: Cycle,
    /// ALUs, by side.
    pub alu: [Calendar; 2],
    /// Operand collectors of ALUs, by side.
    pub collectors: [Calendar; 2],
    /// Operand collectors of load-store units, by side.
    pub lsu_collectors: [Calendar; 2],
    /// The special function unit.
    pub special: Calendar,
    /// Its operand collectors.
    pub special_collectors: Calendar,
    /// Instructions that wait for their operands, by side.
    pub buffers: [Pool; 2],
    /// Instructions on their way to the near side.
    pub offload: Pool,
    /// From when the register move engines are free, by the side that they move to.
    pub engines: [Cycle; 2],
    /// Pending requests to banks of the core, and of the near-bank unit.
    pub local: Pool,
    /// The same.
    pub near: Pool,
}

impl Subcore {
    /// An empty one.
    pub fn new(machine: &Machine) -> Subcore {
        let c = &machine.core;
        let warps = c.subcore_warps as usize;
        let both = |rate: u32| [Calendar::new(rate), Calendar::new(rate)];
        Subcore {
            warps: (0..warps).map(|_| None).collect(),
            ready: vec![NEVER; warps].into(),
            last: 0,
            free: 0,
            issued: (NEVER, 0),
            accounted: 0,
            alu: both(1),
            collectors: both(c.alu_collectors),
            lsu_collectors: both(c.lsu_collectors),
            special: Calendar::new(1),
            special_collectors: Calendar::new(c.sfu_collectors),
            buffers: [Pool::new(c.execute_buffer), Pool::new(c.execute_buffer)],
            offload: Pool::new(c.offload_engines),
            engines: [0; 2],
            local: Pool::new(c.local_requests),
            near: Pool::new(c.near_requests),
        }
    }

    /// When it issues next, and the place of the warp.
    #[inline]
    pub fn next_issue(&self) -> (Cycle, usize) {
        schedule::next(&self.ready, self.last, self.free).unwrap_or((NEVER, 0))
    }

    /// Forgets what its calendars hold before a cycle.
    pub fn forget(&mut self, before: Cycle) {
        let calendars =
            [&mut self.alu, &mut self.collectors, &mut self.lsu_collectors].into_iter().flatten();
        calendars.for_each(|calendar| calendar.forget(before));
        self.special.forget(before);
        self.special_collectors.forget(before);
    }
}

/// A block on a core.
#[derive(Debug)]
pub struct Resident {
    /// The block.
    pub block: Block,
    /// Subcore and place of each of its warps.
    pub places: Vec<(u32, u32)>,
    /// Accesses of memory that are not over.
    pub pending: u32,
    /// The last cycle that is known to be needed for it.
    pub until: Cycle,
    /// When it came.
    pub since: Cycle,
    /// Whether its end is already scheduled.
    pub leaving: bool,
}
