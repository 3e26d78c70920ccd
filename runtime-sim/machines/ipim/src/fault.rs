//! How a run can end badly: what a program did that the machine cannot do.

use std::fmt;

use nbcc_sim_engine::Cycle;

/// A memory that an address can miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// The bank of an engine.
    Bank,
    /// The scratchpad of a group.
    Pgsm,
    /// The scratchpad of a vault.
    Vsm,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Bank => "bank",
            Unit::Pgsm => "PGSM",
            Unit::Vsm => "VSM",
        })
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// An address is no multiple of what its memory asks for.
    #[error("{unit} address {address:#x}{} is no multiple of {multiple}", of_engine(.engine))]
    Misaligned {
        /// The memory.
        unit: Unit,
        /// The byte address.
        address: u32,
        /// What it must be a multiple of.
        multiple: u32,
        /// The engine of the vault, where engines have addresses of their own.
        engine: Option<u32>,
    },
    /// An access reaches beyond the end of a memory.
    #[error("{unit} address {address:#x}{} is beyond the end at {size:#x}", of_engine(.engine))]
    OutOfRange {
        /// The memory.
        unit: Unit,
        /// The byte address.
        address: u32,
        /// Bytes of the memory.
        size: u32,
        /// The engine of the vault, where engines have addresses of their own.
        engine: Option<u32>,
    },
    /// A register that the machine has not.
    #[error("there is no register {register}: its file has {entries} entries")]
    NoSuchRegister {
        /// As in assembly.
        register: String,
        /// Entries of the file.
        entries: u32,
    },
    /// A write to one of the AddrRF entries that hold ids.
    #[error("A{index} holds an id of the engine and cannot be written")]
    ReservedRegister {
        /// The entry.
        index: u16,
    },
    /// A bit of an engine mask stands for no engine.
    #[error("the engine mask {mask:#x} names engines that the vault has not ({engines} there are)")]
    NoSuchEngine {
        /// The mask.
        mask: u32,
        /// Engines of a vault.
        engines: u32,
    },
    /// A jump to where no instruction is.
    #[error("jump to {target:#x}, where no instruction starts")]
    BadTarget {
        /// The byte address.
        target: u32,
    },
    /// A request to a bank that does not exist.
    #[error("request to chip {chip} vault {vault} group {pg} engine {pe}, which does not exist")]
    NoSuchBank {
        /// Cube.
        chip: u32,
        /// Vault in the cube.
        vault: u32,
        /// Group in the vault.
        pg: u32,
        /// Engine in the group.
        pe: u32,
    },
    /// Vaults wait at different phases.
    #[error("sync {phase}, but vault {other} waits at sync {other_phase}")]
    SyncMismatch {
        /// The phase of this vault.
        phase: u32,
        /// Another vault.
        other: u32,
        /// Its phase.
        other_phase: u32,
    },
    /// A vault ended while others wait for it.
    #[error("deadlock: waits at sync {phase}, but vault {ended} has ended its program")]
    Deadlock {
        /// The phase that is waited for.
        phase: u32,
        /// A vault that will not come.
        ended: u32,
    },
    /// The run takes longer than allowed.
    #[error("the run exceeds {limit} {unit}")]
    Limit {
        /// The bound.
        limit: u64,
        /// `cycles` or `instructions`.
        unit: &'static str,
    },
    /// The host has no more memory.
    #[error("the host has no memory for what banks of the vault hold")]
    HostMemory,
    /// The program touches more memory than the simulator may allocate.
    #[error("banks of the vault hold data in more than {limit} bytes, the simulator's bound")]
    MemoryLimit {
        /// The bound, bytes a vault.
        limit: u64,
    },
}

fn of_engine(engine: &Option<u32>) -> String {
    engine.map(|engine| format!(" of engine {engine}")).unwrap_or_default()
}

/// A run that ended badly, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("vault {vault}, pc {pc:#x}{}: {kind}", .cycle.map(|c| format!(", cycle {c}")).unwrap_or_default())]
pub struct Fault {
    /// Global number of the vault: cube * vaults of a cube + vault.
    pub vault: u32,
    /// Byte address of the instruction in .text.
    pub pc: u32,
    /// When, in a run with timing.
    pub cycle: Option<Cycle>,
    /// What went wrong.
    pub kind: FaultKind,
}
