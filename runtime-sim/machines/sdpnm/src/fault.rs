//! Why a run came to no end.

use nbcc_isa::SourceLine;

/// What ended a run, and the index of the instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The program says so, in its table of traps.
    #[error("the run ends at instruction {at}")]
    Trap {
        /// The instruction.
        at: u32,
        /// What it says.
        what: Stopped,
    },
    /// The run took more cycles than it may.
    #[error("more than {limit} cycles")]
    Cycles {
        /// The most.
        limit: u64,
        /// The instruction that was next.
        at: u32,
    },
    /// An access to what is no memory of data.
    #[error("an access of {bytes} bytes at {address:#x}, where there is no memory of data")]
    Access {
        /// The instruction.
        at: u32,
        /// The address.
        address: u32,
        /// How many bytes.
        bytes: u32,
    },
    /// A jump to where no instruction is.
    #[error("there is no instruction at {address:#x}")]
    Jump {
        /// The instruction.
        at: u32,
        /// The address.
        address: u32,
    },
    /// A call of the environment that the table of traps does not have, or a stop for a debugger.
    #[error("a call of the environment that means nothing")]
    Environment {
        /// The instruction.
        at: u32,
    },
    /// A package that there is not, or that is for another array.
    #[error("there is no package {number} for the array that is to start it")]
    Package {
        /// The instruction.
        at: u32,
        /// The number that was written.
        number: u32,
    },
    /// An access of an array outside of its shared memory.
    #[error(
        "an access of {bytes} bytes at {address:#x}, outside of the shared memory of {array}, by PE \
         {pe} in cycle {cycle} of `{package}`"
    )]
    Array {
        /// The array.
        array: String,
        /// The package that it ran.
        package: String,
        /// The PE.
        pe: u16,
        /// The cycle, counted from the start of the package, without stalls.
        cycle: u64,
        /// The address in the shared memory.
        address: u32,
        /// How many bytes.
        bytes: u32,
        /// The source line of the access.
        line: Option<SourceLine>,
    },
    /// Data needs more memory than the machine has.
    #[error("the arrays take more than the {bytes} bytes of the memory")]
    Full {
        /// The bytes of the memory.
        bytes: u64,
    },
    /// Banks that the DRAM model does not take.
    #[error("the banks of the memory: {what}")]
    Banks {
        /// Why.
        what: String,
    },
    /// Data needs more memory than the host has.
    #[error("the machine's memory takes {bytes} bytes, for which the host has no memory")]
    HostMemory {
        /// The bytes.
        bytes: u64,
    },
}

impl Fault {
    /// The instruction where it happened.
    pub fn at(&self) -> Option<u32> {
        match *self {
            Fault::Trap { at, .. }
            | Fault::Cycles { at, .. }
            | Fault::Access { at, .. }
            | Fault::Jump { at, .. }
            | Fault::Environment { at }
            | Fault::Package { at, .. } => Some(at),
            Fault::Array { .. }
            | Fault::Full { .. }
            | Fault::Banks { .. }
            | Fault::HostMemory { .. } => None,
        }
    }
}

/// What a trap says, with the values that the run gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// What the source says.
    Message(String),
    /// An element outside of an array.
    Outside {
        /// The array.
        name: String,
        /// The subscripts, the fastest dimension first.
        subscripts: Vec<i64>,
        /// The extents, the fastest first.
        extents: Vec<u32>,
    },
    /// A division without a result.
    Division,
}
