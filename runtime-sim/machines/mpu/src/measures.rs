//! What is counted of a timed launch, beside what the functional machine counts.

use nbcc_sim_dram::{Command, Stats};
use nbcc_sim_engine::Cycle;
use nbcc_sim_network::mesh::NetworkStats;

use crate::core::Core;
use crate::stall::Stall;

/// Why bytes cross the TSVs of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Instructions to near-bank units.
    Offload,
    /// Their return.
    Commit,
    /// Requests for registers, and registers that move to the base die.
    MoveFar,
    /// Registers that move to a near-bank unit.
    MoveNear,
    /// Requests for bank words, with what is stored.
    Request,
    /// What bank words answer.
    Answer,
    /// Loaded registers to near-bank units.
    WriteBack,
    /// Requests of other cores, and answers to them.
    Remote,
}

impl Cause {
    /// Every cause, in the order of their numbers.
    pub const ALL: [Cause; 8] = [
        Cause::Offload,
        Cause::Commit,
        Cause::MoveFar,
        Cause::MoveNear,
        Cause::Request,
        Cause::Answer,
        Cause::WriteBack,
        Cause::Remote,
    ];

    /// Its key among the statistics.
    pub fn key(self) -> &'static str {
        match self {
            Cause::Offload => "tsv.offload_bytes",
            Cause::Commit => "tsv.commit_bytes",
            Cause::MoveFar => "tsv.move_far_bytes",
            Cause::MoveNear => "tsv.move_near_bytes",
            Cause::Request => "tsv.request_bytes",
            Cause::Answer => "tsv.answer_bytes",
            Cause::WriteBack => "tsv.write_back_bytes",
            Cause::Remote => "tsv.remote_bytes",
        }
    }
}

macro_rules! counts {
    ($( $(#[$meta:meta])* $name:ident ),+ $(,)?) => {
        /// Numbers that are summed over cores and launches.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts { $( $(#[$meta])* pub $name: u64 ),+ }

        impl Counts {
            /// Adds others.
            pub fn add(&mut self, other: &Counts) {
                $( self.$name += other.$name; )+
            }
        }
    };
}

counts! {
    /// Cycles of a subcore in which it issued.
    issue_cycles,
    /// Warps that were there, times cycles.
    warp_cycles,
    /// 32-bit registers of a warp that moved to the base die.
    words_far,
    /// The same to a near-bank unit.
    words_near,
    /// Predicates that moved to the base die.
    predicates_far,
    /// The same to a near-bank unit.
    predicates_near,
    /// Accesses of global or local memory.
    accesses,
    /// Of them, those that were offloaded whole.
    whole,
    /// Bank words that they were made of.
    words,
    /// Of them, words of the warp's own core that crossed the TSVs by themselves.
    words_local,
    /// Of them, words of other cores.
    words_remote,
    /// Of the loaded words of other cores, those that the cache held.
    cache_hits,
    /// Of the loaded words of other cores, those that another access had asked for already.
    words_awaited,
    /// Words that atomic operations changed.
    words_atomic,
    /// Lanes of atomic operations on global or local memory.
    atomic_lanes,
    /// Accesses of shared memory.
    shared,
    /// Times that shared memory was asked for them.
    shared_passes,
    /// Register lines written at once by answers of memory, far.
    written_far,
    /// The same, near.
    written_near,
    /// Uses of tables of pending requests.
    tables,
    /// Ticks in which the TSVs carried something down.
    ticks_down,
    /// The same, up.
    ticks_up,
}

/// Counts of the banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramCounts {
    /// Requests, reads and writes.
    pub requests: [u64; 3],
    /// Hits, misses and conflicts.
    pub found: [u64; 3],
    /// Activates, closed rows, refreshes, column reads, column writes, all commands.
    pub commands: [u64; 6],
    /// Cycles in which a request waited for a command, over all controllers.
    pub busy_cycles: u64,
}

impl DramCounts {
    /// Adds those of a controller.
    pub fn count(&mut self, stats: &Stats) {
        let commands = [
            stats.commands.of(Command::Activate),
            stats.rows_closed,
            stats.commands.of(Command::Refresh),
            stats.column_reads(),
            stats.column_writes(),
            stats.commands.total(),
        ];
        self.add(&DramCounts {
            requests: [stats.requests, stats.reads, stats.writes],
            found: [stats.hits, stats.misses, stats.conflicts],
            commands,
            busy_cycles: stats.busy_cycles,
        });
    }

    /// Adds others.
    pub fn add(&mut self, other: &DramCounts) {
        let add = |into: &mut [u64], from: &[u64]| {
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        };
        add(&mut self.requests, &other.requests);
        add(&mut self.found, &other.found);
        add(&mut self.commands, &other.commands);
        self.busy_cycles += other.busy_cycles;
    }
}

/// What is counted of each instruction of the program, over all cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// How often it executed for a thread at least.
    pub executed: Vec<u64>,
    /// Of these, on the near side.
    pub near: Vec<u64>,
    /// Cycles for which subcores waited to issue it.
    pub stalled: Vec<u64>,
}

impl Profile {
    /// Zeros for a program.
    pub fn new(instructions: usize) -> Profile {
        let zeros = || vec![0; instructions];
        Profile { executed: zeros(), near: zeros(), stalled: zeros() }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Profile) {
        let add = |into: &mut [u64], from: &[u64]| {
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        };
        add(&mut self.executed, &other.executed);
        add(&mut self.near, &other.near);
        add(&mut self.stalled, &other.stalled);
    }
}

/// What is counted of one launch, or of several of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Cycles of all launches.
    pub cycles: Cycle,
    /// Numbers of all cores.
    pub counts: Counts,
    /// Cycles in which subcores issued nothing, by [`Stall`].
    pub stalls: [u64; Stall::ALL.len()],
    /// Bytes over TSVs, by [`Cause`].
    pub tsv: [u64; Cause::ALL.len()],
    /// The banks.
    pub dram: DramCounts,
    /// Bytes times hops: on chip, off chip.
    pub byte_hops: [u64; 2],
    /// Packets between cores.
    pub packets: u64,
    /// Sum over packets of the cycles that they took.
    pub packet_cycles: u64,
    /// By instruction.
    pub profile: Profile,
    /// Blocks that a core holds, and what keeps it from holding more, of the last launch.
    pub occupancy: (u32, &'static str),
}

impl Measures {
    /// Zeros for a program.
    pub fn new(instructions: usize) -> Measures {
        Measures { profile: Profile::new(instructions), ..Measures::default() }
    }

    /// Takes what a core counted.
    pub fn take_core(&mut self, core: &Core) {
        let add = |into: &mut [u64], from: &[u64]| {
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        };
        self.counts.add(&core.counts);
        add(&mut self.stalls, &core.stalls);
        add(&mut self.tsv, &core.tsv);
        core.banks.iter().for_each(|bank| self.dram.count(bank.stats()));
    }

    /// Takes what the network counted, whose time has `rate` ticks a cycle.
    pub fn take_network(&mut self, stats: NetworkStats, rate: u32) {
        self.byte_hops = [stats.mesh_byte_hops, stats.serial_byte_hops];
        self.packets = stats.packets;
        self.packet_cycles = stats.latency / u64::from(rate);
    }

    /// Adds those of another launch of the same program.
    pub fn add(&mut self, other: &Measures) {
        let add = |into: &mut [u64], from: &[u64]| {
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        };
        self.cycles += other.cycles;
        self.counts.add(&other.counts);
        add(&mut self.stalls, &other.stalls);
        add(&mut self.tsv, &other.tsv);
        self.dram.add(&other.dram);
        add(&mut self.byte_hops, &other.byte_hops);
        self.packets += other.packets;
        self.packet_cycles += other.packet_cycles;
        self.profile.add(&other.profile);
        self.occupancy = other.occupancy;
    }
}
