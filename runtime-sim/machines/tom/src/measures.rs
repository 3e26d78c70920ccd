//! What is counted of a timed launch, beside what the functional machine counts.

use nbcc_sim_dram::Stats;
use nbcc_sim_engine::Cycle;

use crate::clock::Time;
use crate::sm::Sm;
use crate::stall::Stall;
use crate::task::CandidateCounts;

macro_rules! counts {
    ($(#[$about:meta])* $type:ident { $( $(#[$meta:meta])* $name:ident ),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $type { $( $(#[$meta])* pub $name: u64 ),+ }

        impl $type {
            /// Adds others.
            pub fn add(&mut self, other: &$type) {
                $( self.$name += other.$name; )+
            }
        }
    };
}

counts! {
    /// What multiprocessors count.
    SmCounts {
        /// Cycles of a scheduler in which it issued.
        issue_cycles,
        /// Warps that were there, times cycles.
        warp_cycles,
        /// Accesses of global or local memory.
        accesses,
        /// Lines that they touched.
        lines,
        /// Of those, lines that atomic operations changed.
        atomic_lines,
        /// Lines that ordered loads asked for, past the private cache.
        ordered_lines,
        /// Lines of loads and stores that the private cache held.
        l1_hits,
        /// Lines of loads and stores that it did not hold.
        l1_misses,
        /// Accesses of shared memory.
        shared,
        /// Times that its banks were asked for them.
        shared_passes,
        /// Registers of warps that memory answered.
        loaded,
    }
}

counts! {
    /// What all behind the multiprocessors counts, DRAM aside.
    Flow {
        /// Bytes from clusters to the shared cache.
        interconnect_up,
        /// Bytes back.
        interconnect_down,
        /// Lines of loads and stores that the shared cache held.
        l2_hits,
        /// Lines that it did not hold.
        l2_misses,
        /// Bytes from the GPU to stacks.
        tx_bytes,
        /// Bytes from stacks to the GPU.
        rx_bytes,
        /// Bytes from stack to stack.
        cross_bytes,
        /// Packets from the GPU to stacks.
        tx_packets,
        /// Packets from stacks to the GPU.
        rx_packets,
        /// Packets from stack to stack.
        cross_packets,
        /// Femtoseconds in which links to stacks were in use.
        tx_busy,
        /// The same, to the GPU.
        rx_busy,
        /// Bytes over the vias of vaults.
        tsv_bytes,
        /// Cycles in which they moved something.
        tsv_cycles,
        /// Lanes of atomic operations.
        atomic_lanes,
        /// Bytes over the way to the host.
        host_bytes,
    }
}

/// What all behind the multiprocessors counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Caches, links, vias.
    pub flow: Flow,
    /// The banks of all vaults.
    pub dram: Stats,
}

/// What is counted of each instruction of the program, over all multiprocessors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// How often it executed for a thread at least.
    pub executed: Vec<u64>,
    /// Cycles for which schedulers waited to issue it.
    pub stalled: Vec<u64>,
}

impl Profile {
    /// Zeros for a program.
    pub fn new(instructions: usize) -> Profile {
        Profile { executed: vec![0; instructions], stalled: vec![0; instructions] }
    }
}

/// What is counted of one launch, or of several of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Cycles of all launches.
    pub cycles: Cycle,
    /// Femtoseconds of all launches.
    pub time: Time,
    /// All multiprocessors.
    pub sm: SmCounts,
    /// Cycles in which schedulers issued nothing, by [`Stall`].
    pub stalls: [u64; Stall::ALL.len()],
    /// All behind them.
    pub memory: MemoryCounts,
    /// By instruction.
    pub profile: Profile,
    /// By candidate, in the order of the table.
    pub candidates: Vec<CandidateCounts>,
    /// Instructions that multiprocessors in stacks issued.
    pub stack_instructions: u64,
    /// Cycles until the mapping was learnt.
    pub learn_cycles: Cycle,
    /// The bits that choose the stack of what candidates access, after the last launch.
    pub bits: Option<[u32; 2]>,
    /// Blocks that a multiprocessor holds, and what keeps it from holding more, of the last launch.
    pub occupancy: (u32, &'static str),
}

impl Measures {
    /// Zeros for a program.
    pub fn new(instructions: usize) -> Measures {
        Measures { profile: Profile::new(instructions), ..Measures::default() }
    }

    /// The length of a cycle of the multiprocessors in nanoseconds.
    pub fn cycle_ns(&self) -> f64 {
        if self.cycles == 0 { 1.0 } else { self.time as f64 / self.cycles as f64 / 1e6 }
    }

    /// Takes what a multiprocessor counted.
    pub fn take_sm(&mut self, sm: &Sm) {
        self.sm.add(&sm.counts);
        add(&mut self.stalls, &sm.stalls);
    }

    /// Adds those of another launch of the same program.
    pub fn add(&mut self, other: &Measures) {
        self.cycles += other.cycles;
        self.time += other.time;
        self.sm.add(&other.sm);
        add(&mut self.stalls, &other.stalls);
        self.memory.flow.add(&other.memory.flow);
        self.memory.dram.add(&other.memory.dram);
        add(&mut self.profile.executed, &other.profile.executed);
        add(&mut self.profile.stalled, &other.profile.stalled);
        self.candidates.resize_with(other.candidates.len(), CandidateCounts::default);
        self.candidates.iter_mut().zip(&other.candidates).for_each(|(a, b)| a.add(b));
        self.stack_instructions += other.stack_instructions;
        self.learn_cycles += other.learn_cycles;
        self.bits = other.bits;
        self.occupancy = other.occupancy;
    }

    /// All candidates together.
    pub fn offload(&self) -> CandidateCounts {
        let mut sum = CandidateCounts::default();
        self.candidates.iter().for_each(|counts| sum.add(counts));
        sum
    }
}

fn add(into: &mut [u64], from: &[u64]) {
    into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}
