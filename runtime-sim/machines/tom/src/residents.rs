//! What a multiprocessor holds: warps in the places of its schedulers, and the blocks that they are of.

use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::Mask;
use nbcc_sim_simt::machine::block::Block;
use nbcc_sim_simt::machine::warp::Warp as Threads;
use nbcc_sim_simt::paths::Paths;
use nbcc_sim_simt::timing::scoreboard::Scoreboard;
use nbcc_sim_simt::timing::{operands, schedule};

use crate::sm::Env;
use crate::stall::Stall;
use crate::task::Refusal;

/// A warp in its place.
#[derive(Debug)]
pub struct Warp {
    /// The block's place in the multiprocessor.
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
    /// Accesses of memory that are not over.
    pub pending: u32,
    /// Whether it waits for the load-store unit.
    pub parked: bool,
    /// Where its words of local memory lie, in units of those of a warp.
    pub home: u64,
    /// What it has to do with offloading.
    pub role: Role,
}

impl Warp {
    /// A warp that comes at `now` and begins at `pc`: the number of its block's place and its own there.
    pub fn new(
        env: &Env<'_, '_>,
        now: Cycle,
        (block, number): (usize, usize),
        pc: u32,
        home: u64,
        role: Role,
    ) -> Warp {
        let pipeline = &env.machine.pipeline;
        Warp {
            block,
            number,
            pc,
            fetched: now + Cycle::from(pipeline.fetch + pipeline.decode),
            why: Stall::Empty,
            board: Scoreboard::new(operands::count(env.context.kernel.registers)),
            pending: 0,
            parked: false,
            home,
            role,
        }
    }
}

/// What a warp has to do with offloading.
#[derive(Debug)]
pub enum Role {
    /// Nothing.
    Plain,
    /// In a candidate that it runs here.
    Stays(Stay),
    /// In a candidate, up to the first access of memory, which decides.
    Tries(Box<Try>),
    /// It will be offloaded once what it wrote and what it takes along is there.
    Leaves(Box<Departure>),
    /// Its block runs in a stack.
    Away,
    /// It runs a block of another multiprocessor.
    Visits {
        /// Where that ends.
        end: u32,
    },
}

/// An instance that runs where it came to its begin.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// The candidate.
    pub number: u32,
    /// The lanes.
    pub lanes: Mask,
    /// From when.
    pub since: Cycle,
    /// Trips of its loop that were left then, 1 where that is not known.
    pub trips: u64,
    /// Why it stays.
    pub why: Refusal,
    /// Whether it has left the begin of the candidate since that was looked at.
    pub moved: bool,
    /// Its number among the instances that are watched.
    pub instance: Option<u64>,
    /// Warps that were not away when it was decided that it stays; none if it could not have been offloaded.
    pub beside: Option<u32>,
}

/// An instance that is about to be decided on.
#[derive(Debug)]
pub struct Try {
    /// The candidate.
    pub number: u32,
    /// The lanes.
    pub lanes: Mask,
    /// From when.
    pub since: Cycle,
    /// Trips of its loop, 1 where that is not known.
    pub trips: u64,
    /// What it is if it stays after all, where it is in its loop already.
    pub again: Option<Stay>,
    /// Where the warp's threads were at the begin.
    pub paths: Paths,
    /// What is sent, kept from before the first instruction; until one runs the warp itself has it.
    pub packed: Option<Threads>,
}

/// An instance that will be offloaded.
#[derive(Debug)]
pub struct Departure {
    /// The candidate.
    pub number: u32,
    /// The lanes.
    pub lanes: Mask,
    /// From when.
    pub since: Cycle,
    /// Trips of its loop, 1 where that is not known.
    pub trips: u64,
    /// From when it only waits for what was written.
    pub decided: Cycle,
    /// The stack.
    pub stack: u32,
    /// Requests for it that are pending, this one with them.
    pub ahead: u32,
    /// What is sent.
    pub packed: Threads,
    /// The last store of its multiprocessor that must be over.
    pub stores: u64,
}

/// A warp scheduler with its places and units.
#[derive(Debug)]
pub struct Scheduler {
    /// Warps by place.
    pub warps: Box<[Option<Warp>]>,
    /// From when each can issue.
    pub ready: Box<[Cycle]>,
    /// The place that issued last.
    pub last: usize,
    /// From when it can issue at all.
    pub free: Cycle,
    /// When it issues next, and the place of the warp; to be found out again where it is none.
    pub next: Option<(Cycle, usize)>,
    /// Cycles before this one are accounted for.
    pub accounted: Cycle,
    /// From when its units can begin an instruction.
    pub units: Cycle,
}

impl Scheduler {
    /// One without warps.
    pub fn new(places: usize) -> Scheduler {
        Scheduler {
            warps: (0..places).map(|_| None).collect(),
            ready: vec![NEVER; places].into(),
            last: 0,
            free: 0,
            next: None,
            accounted: 0,
            units: 0,
        }
    }

    /// From when a warp can issue.
    #[inline]
    pub fn set_ready(&mut self, place: usize, at: Cycle) {
        self.ready[place] = at;
        // What is known stands where another warp comes behind it.
        self.next = self.next.filter(|&(cycle, next)| next != place && at > cycle);
    }

    /// When it issues next, and the place of the warp.
    #[inline]
    pub fn next_issue(&mut self) -> (Cycle, usize) {
        if let Some(next) = self.next {
            return next;
        }
        let next = schedule::next(&self.ready, self.last, self.free).unwrap_or((NEVER, 0));
        self.next = Some(next);
        next
    }
}

/// A block on a multiprocessor.
#[derive(Debug)]
pub struct Resident {
    /// The block.
    pub block: Block,
    /// Scheduler and place of each of its warps.
    pub places: Vec<(u32, u32)>,
    /// Accesses of memory that are not over.
    pub pending: u32,
    /// The last cycle that is known to be needed for it.
    pub until: Cycle,
    /// When it came.
    pub since: Cycle,
    /// Whether its end is already scheduled.
    pub leaving: bool,
    /// Stores and atomic operations that are not over, by their numbers.
    pub stores: Vec<u64>,
    /// Warps that wait to be offloaded.
    pub departures: Vec<(u32, u32)>,
    /// The task that a visitor is of.
    pub task: Option<u32>,
    /// Whether that has run to its end.
    pub done: bool,
}

impl Resident {
    /// A block that comes at `now`, with its warps in these places; `task` is that of a visitor.
    pub fn new(now: Cycle, block: Block, places: Vec<(u32, u32)>, task: Option<u32>) -> Resident {
        Resident {
            block,
            places,
            pending: 0,
            until: now,
            since: now,
            leaving: false,
            stores: Vec::new(),
            departures: Vec::new(),
            task,
            done: false,
        }
    }
}
