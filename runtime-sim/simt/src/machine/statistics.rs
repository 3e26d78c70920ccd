//! What is counted of a launch. A warp counts how often it issues each instruction and for how
//! many threads; everything else is made of that afterwards.

use crate::{LANES, Mask};
use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{Category, Op, PhysReg, Program};
use nbcc_sim_engine::statistics::{Value, concat, ratio, row};
use nbcc_sim_engine::{Definition, Statistics};

use crate::machine::launch::Launch;

/// The version of the names and meanings below.
pub const SCHEMA_VERSION: u64 = 1;

/// Every statistic of a functional run.
pub const DEFINITIONS: &[Definition] =
    &concat::<{ HEAD.len() + COUNTED.len() + CORES.len() }>(&[HEAD, COUNTED, CORES]);

#[rustfmt::skip]
const HEAD: &[Definition] = &[
    row("schema_version", "-", "Version of the names and meanings in this table."),
    row("target", "-", "The target."),
    row("machine.name", "-", "Name in the machine file."),
    row("machine.hash", "-", "Identifies all values of the machine file."),
    row("timing", "-", "`functional`: cycles are one a warp instruction of a core, nothing waits."),
    row("cycles", "cycles", "Warp instructions of the core that issued most, summed over launches."),
    row("instructions", "instructions", "Issued by warps."),
    row("ipc", "instructions/cycle", "Instructions over `cycles`, on average over the active cores."),
    row("energy_pj", "pJ", "0: the functional machine has no energy model."),
];

/// What is counted of a program that runs on any SIMT machine, timed or not.
#[rustfmt::skip]
pub const COUNTED: &[Definition] = &[
    row("launches", "launches", "Kernels that ran to their end."),
    row("blocks", "blocks", "Blocks of all launches."),
    row("warps", "warps", "Warps of all blocks."),
    row("threads", "threads", "Threads of all blocks."),
    row("thread_instructions", "instructions", "Instructions times the threads that they were for."),

    row("category.integer", "instructions", "Integer arithmetic, logic, comparison."),
    row("category.float", "instructions", "Floating point, conversions."),
    row("category.move", "instructions", "Moves, selections, special registers, addresses."),
    row("category.predicate", "instructions", "Operations on predicates."),
    row("category.memory", "instructions", "Loads and stores."),
    row("category.atomic", "instructions", "Atomic operations."),
    row("category.lanes", "instructions", "Shuffles, votes and their like."),
    row("category.synchronization", "instructions", "Barriers and fences."),
    row("category.control_flow", "instructions", "Branches, the end of a thread, calls of the host."),

    row("divergence.branches", "instructions", "Branches with a guard."),
    row("divergence.divergent", "instructions", "Branches at which threads parted."),
    row("divergence.lanes", "-", "Threads of an instruction, on average, over 32."),

    row("bytes.global_read", "bytes", "Loaded by threads from global memory."),
    row("bytes.global_written", "bytes", "Stored by threads to global memory."),
    row("bytes.shared_read", "bytes", "Loaded from shared memory."),
    row("bytes.shared_written", "bytes", "Stored to shared memory."),
    row("bytes.local_read", "bytes", "Loaded from local memory."),
    row("bytes.local_written", "bytes", "Stored to local memory."),
    row("bytes.const_read", "bytes", "Loaded from constant data."),
    row("bytes.param_read", "bytes", "Loaded from parameters."),
    row("bytes.generic_read", "bytes", "Loaded at generic addresses, wherever they point to."),
    row("bytes.generic_written", "bytes", "Stored at generic addresses."),
    row("bytes.atomic", "bytes", "Changed by atomic operations, in any space."),
];

#[rustfmt::skip]
const CORES: &[Definition] = &[
    row("core.count", "cores", "Cores of the machine."),
    row("core.active", "cores", "Cores that issued an instruction."),
    row("core.instructions", "instructions", "Issued, a core."),
];

/// Counts of one launch, or of several of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// How often each instruction was issued.
    pub issued: Vec<u64>,
    /// The threads that it was for, all together.
    pub threads: Vec<u64>,
    /// Instructions issued by each core.
    pub cores: Vec<u64>,
    /// Branches at which threads parted.
    pub divergent: u64,
    /// The cycles of all launches.
    pub cycles: u64,
    launches: u64,
    blocks: u64,
    block_warps: u64,
    block_threads: u64,
}

impl Counters {
    /// Zeros for a launch.
    pub(crate) fn new(program: &Program, launch: &Launch<'_>) -> Counters {
        let product =
            |sizes: &[u32; 3]| sizes.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
        let (blocks, threads) = (product(&launch.grid), product(&launch.block));
        Counters {
            issued: vec![0; program.code.text.len()],
            threads: vec![0; program.code.text.len()],
            cores: vec![0; program.machine.limits.cores as usize],
            divergent: 0,
            cycles: 0,
            launches: 0,
            blocks,
            block_warps: blocks.saturating_mul(threads.div_ceil(LANES as u64)),
            block_threads: blocks.saturating_mul(threads),
        }
    }

    /// Zeros for a part of the same launch.
    pub(crate) fn zeros(&self) -> Counters {
        let mut zeros = self.clone();
        zeros.clear();
        zeros
    }

    /// Forgets what a part of a launch has counted.
    pub(crate) fn clear(&mut self) {
        self.issued.fill(0);
        self.threads.fill(0);
        self.cores.fill(0);
        self.divergent = 0;
    }

    /// An instruction is issued for some threads.
    #[inline(always)]
    pub(crate) fn issue(&mut self, pc: u32, lanes: Mask) {
        self.issued[pc as usize] += 1;
        self.threads[pc as usize] += u64::from(lanes.count_ones());
    }

    /// The launch has come to its end, so many cycles after its begin.
    pub fn finish(&mut self, cycles: u64) {
        self.launches = 1;
        self.cycles = cycles;
    }

    /// Adds what was counted of a part of the same launch by itself.
    pub fn take_part(&mut self, part: &Counters) {
        let add = |into: &mut [u64], from: &[u64]| {
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        };
        add(&mut self.issued, &part.issued);
        add(&mut self.threads, &part.threads);
        add(&mut self.cores, &part.cores);
        self.divergent += part.divergent;
    }

    /// Adds the counts of another launch of the same program.
    ///
    /// # Panics
    /// The other one is of another program.
    pub fn add(&mut self, other: &Counters) {
        assert_eq!(self.issued.len(), other.issued.len(), "counts of two programs");
        self.take_part(other);
        self.cycles += other.cycles;
        self.launches += other.launches;
        self.blocks += other.blocks;
        self.block_warps += other.block_warps;
        self.block_threads += other.block_threads;
    }

    /// Instructions issued.
    pub fn instructions(&self) -> u64 {
        self.issued.iter().sum()
    }

    /// The statistics of the program that was counted.
    pub fn statistics(&self, program: &Program) -> Statistics {
        let mut out = Statistics::new(DEFINITIONS);
        self.head(program, SCHEMA_VERSION, "functional", self.cycles, &mut out);
        out.set("energy_pj", 0.0);
        out
    }

    /// Cores that issued an instruction.
    pub fn active(&self) -> u64 {
        self.cores.iter().filter(|core| **core > 0).count() as u64
    }

    /// Sets what the table of a SIMT machine begins with, and what [`COUNTED`] names: a version of the table,
    /// the kind of timing, and how many cycles the launches took.
    pub fn head(
        &self,
        program: &Program,
        version: u64,
        timing: &'static str,
        cycles: u64,
        out: &mut Statistics,
    ) {
        let machine = &program.machine;
        let (instructions, active) = (self.instructions(), self.active());
        out.set("schema_version", version);
        out.set("target", machine.isa.name);
        out.set("machine.name", machine.name.as_str());
        out.set("machine.hash", machine.hash());
        out.set("timing", timing);
        out.set("cycles", cycles);
        out.set("instructions", instructions);
        out.set("ipc", ratio(instructions, cycles * active));
        self.count(program, out);
        out.set("core.count", self.cores.len() as u64);
        out.set("core.active", active);
        out.set("core.instructions", Value::List(self.cores.iter().map(|n| (*n).into()).collect()));
    }

    /// Sets what [`COUNTED`] names.
    fn count(&self, program: &Program, out: &mut Statistics) {
        let instructions = self.instructions();
        out.set("launches", self.launches);
        out.set("blocks", self.blocks);
        out.set("warps", self.block_warps);
        out.set("threads", self.block_threads);
        let threads: u64 = self.threads.iter().sum();
        out.set("thread_instructions", threads);

        let mut categories = [0; Category::ALL.len()];
        let mut bytes: [(&'static str, u64); 11] = BYTES.map(|key| (key, 0));
        let mut branches = 0;
        for ((inst, issued), threads) in
            program.code.text.iter().zip(&self.issued).zip(&self.threads)
        {
            categories[inst.category() as usize] += issued;
            if matches!(inst.op, Op::Bra { .. }) && inst.guard.is_some() {
                branches += issued;
            }
            if let Some((key, size)) = traffic(&inst.op)
                && let Some((_, sum)) = bytes.iter_mut().find(|(name, _)| *name == key)
            {
                *sum += threads * size;
            }
        }
        for (category, count) in Category::ALL.iter().zip(categories) {
            out.set(category_key(*category), count);
        }
        out.set("divergence.branches", branches);
        out.set("divergence.divergent", self.divergent);
        out.set("divergence.lanes", threads as f64 / (instructions * LANES as u64) as f64);
        for (key, count) in bytes {
            out.set(key, count);
        }
    }
}

const BYTES: [&str; 11] = [
    "bytes.global_read",
    "bytes.global_written",
    "bytes.shared_read",
    "bytes.shared_written",
    "bytes.local_read",
    "bytes.local_written",
    "bytes.const_read",
    "bytes.param_read",
    "bytes.generic_read",
    "bytes.generic_written",
    "bytes.atomic",
];

fn category_key(category: Category) -> &'static str {
    match category {
        Category::Integer => "category.integer",
        Category::Float => "category.float",
        Category::Move => "category.move",
        Category::Predicate => "category.predicate",
        Category::Memory => "category.memory",
        Category::Atomic => "category.atomic",
        Category::Lanes => "category.lanes",
        Category::Synchronization => "category.synchronization",
        Category::ControlFlow => "category.control_flow",
    }
}

/// The statistic that an access counts for, and its bytes of a thread.
fn traffic(op: &Op<PhysReg>) -> Option<(&'static str, u64)> {
    let space = op.space()?;
    let key = match (op.category(), op.memory_writes().is_empty()) {
        (Category::Atomic, _) => "bytes.atomic",
        (_, true) => match space {
            Space::Generic => "bytes.generic_read",
            Space::Global => "bytes.global_read",
            Space::Shared => "bytes.shared_read",
            Space::Local => "bytes.local_read",
            Space::Const => "bytes.const_read",
            Space::Param => "bytes.param_read",
        },
        (_, false) => match space {
            Space::Shared => "bytes.shared_written",
            Space::Local => "bytes.local_written",
            Space::Generic => "bytes.generic_written",
            Space::Global | Space::Const | Space::Param => "bytes.global_written",
        },
    };
    Some((key, op.access_bytes().into()))
}
