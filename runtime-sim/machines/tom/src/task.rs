//! Blocks on their way: what a request brings to a stack and what its acknowledgment brings back
//! (section 4.2), and what is counted of the decisions.

use nbcc_isa_tom::offload::{Entry, RegisterSet};
use nbcc_sim_engine::Cycle;
use nbcc_sim_simt::machine::warp::Warp;
use nbcc_sim_simt::{LANES, Mask};

use crate::policy::History;

/// A block that was offloaded, from its request to its acknowledgment.
#[derive(Debug)]
pub struct Task {
    /// The candidate.
    pub number: u32,
    /// The stack that it runs in.
    pub stack: u32,
    /// The lanes that run it.
    pub lanes: Mask,
    /// The multiprocessor that asked.
    pub sm: u32,
    /// The warp's place there.
    pub place: (usize, usize),
    /// The position of its block in the grid.
    pub index: [u32; 3],
    /// Where its words of local memory lie.
    pub home: u64,
    /// What runs, unless it is on a multiprocessor of the stack.
    pub warp: Option<Warp>,
    /// When it was asked for.
    pub since: Cycle,
    /// Requests that were pending then at its stack, this one with them.
    pub ahead: u32,
    /// Trips of its loop, 1 where that is not known.
    pub trips: u64,
    /// When it came to the stack.
    pub arrived: Cycle,
    /// When it found a place there.
    pub begun: Cycle,
    /// How long it held that.
    pub held: Cycle,
    /// Lines that it has written, for the requester to invalidate.
    pub written: Vec<u64>,
    /// The stacks that it accessed, a bit each.
    pub stacks: u64,
    /// What it did.
    pub did: History,
}

impl Task {
    /// Adds a line that is written.
    pub fn wrote(&mut self, line: u64) {
        if !self.written.contains(&line) {
            self.written.push(line);
        }
    }
}

/// Bytes of an address of an instruction.
const PC_BYTES: u32 = 4;
/// Bytes of a mask of lanes, and of a predicate of a warp.
const MASK_BYTES: u32 = LANES as u32 / 8;

/// Bytes of registers: a word a lane, a bit a lane of predicates.
fn register_bytes(registers: &RegisterSet, lanes: Mask) -> u32 {
    let words: u32 = registers.words().iter().map(|word| word.count_ones()).sum();
    4 * lanes.count_ones() * words + MASK_BYTES * registers.predicates().count_ones()
}

/// Bytes of a request: live-ins, with them what is read of parameters and special registers, begin, end
/// and mask.
pub fn request_bytes(entry: &Entry, lanes: Mask) -> u32 {
    let inputs = 4 * lanes.count_ones() * entry.inputs;
    register_bytes(&entry.live_in, lanes) + inputs + 2 * PC_BYTES + MASK_BYTES
}

/// Bytes of an acknowledgment: live-outs and the addresses of lines written.
pub fn answer_bytes(entry: &Entry, lanes: Mask, written: usize, address: u32) -> u32 {
    register_bytes(&entry.live_out, lanes) + written as u32 * address
}

/// Why an instance was not offloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The mapping was still being learnt.
    Learning,
    /// Its loop makes too few trips, or it accessed no memory.
    Condition,
    /// It would use a busy channel more.
    Channel,
    /// The stack has enough to do.
    Warps,
}

impl Refusal {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Refusal; 4] =
        [Refusal::Learning, Refusal::Condition, Refusal::Channel, Refusal::Warps];

    /// Its key among the statistics.
    pub fn key(self) -> &'static str {
        match self {
            Refusal::Learning => "offload.refused_learning",
            Refusal::Condition => "offload.refused_condition",
            Refusal::Channel => "offload.refused_channel",
            Refusal::Warps => "offload.refused_warps",
        }
    }
}

/// What is counted of a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CandidateCounts {
    /// Instances.
    pub considered: u64,
    /// Those of which the policy was asked.
    pub asked: u64,
    /// Those that were offloaded.
    pub instances: u64,
    /// Those that were not, by [`Refusal`].
    pub refused: [u64; Refusal::ALL.len()],
    /// Those that were offloaded and accessed one stack only.
    pub one_stack: u64,
    /// Cycles from request to acknowledgment of those that were.
    pub away_cycles: u64,
    /// Of these, cycles in which they waited for what they wrote before.
    pub flush_cycles: u64,
    /// Cycles from begin to end of those that stayed.
    pub stayed_cycles: u64,
    /// Lines that were invalidated for them.
    pub invalidated: u64,
    /// What those in stacks did.
    pub did: History,
}

impl CandidateCounts {
    /// Adds others.
    pub fn add(&mut self, other: &CandidateCounts) {
        self.considered += other.considered;
        self.asked += other.asked;
        self.instances += other.instances;
        self.refused.iter_mut().zip(other.refused).for_each(|(a, b)| *a += b);
        self.one_stack += other.one_stack;
        self.away_cycles += other.away_cycles;
        self.flush_cycles += other.flush_cycles;
        self.stayed_cycles += other.stayed_cycles;
        self.invalidated += other.invalidated;
        self.did.add(&other.did);
    }
}

impl History {
    /// Adds others.
    pub fn add(&mut self, other: &History) {
        self.instances += other.instances;
        self.trips += other.trips;
        self.instructions += other.instructions;
        self.accesses += other.accesses;
        self.lines += other.lines;
        self.remote_lines += other.remote_lines;
        self.bytes += other.bytes;
        self.request_bytes += other.request_bytes;
        self.loads += other.loads;
        self.stores += other.stores;
        self.written += other.written;
    }
}
