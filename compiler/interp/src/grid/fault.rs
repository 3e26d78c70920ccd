//! Why a launch ended without a result, and where.

use nbcc_base::Span;
use nbcc_ir::Space;

/// A launch that ended with an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("@{kernel}, block {block:?}, thread {thread:?}: {kind}")]
pub struct Fault {
    /// What happened.
    pub kind: Box<FaultKind>,
    /// The kernel.
    pub kernel: String,
    /// The block's position in the grid.
    pub block: [u32; 3],
    /// The thread's position in the block.
    pub thread: [u32; 3],
    /// The source of the instruction.
    pub span: Option<Span>,
}

/// What ends a launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Bytes where the space has none.
    #[error("{bytes} bytes at {address:#x} are outside of the {space} memory")]
    OutOfBounds {
        /// The space.
        space: Space,
        /// The first byte.
        address: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// An address that is no multiple of the size of what is accessed.
    #[error("the address {address:#x} in {space} memory is no multiple of {bytes}")]
    Misaligned {
        /// The space.
        space: Space,
        /// The address.
        address: u64,
        /// The size of the access.
        bytes: u64,
    },
    /// A store to memory that is only read.
    #[error("the memory at {address:#x} is only read")]
    ReadOnly {
        /// The address.
        address: u64,
    },
    /// A trap, or a division that has no result.
    #[error("{0}")]
    Trap(String),
    /// A breakpoint.
    #[error("a breakpoint")]
    Breakpoint,
    /// A failed assertion.
    #[error("assertion `{message}` failed in {function} at {file}:{line}")]
    Assertion {
        /// What should have been true.
        message: String,
        /// Its source file.
        file: String,
        /// Its line.
        line: u32,
        /// Its function.
        function: String,
    },
    /// No thread of a block can go on.
    #[error("no thread of the block can go on: this one waits for others at {0}")]
    Deadlock(String),
    /// A barrier or an operation of a warp that cannot be.
    #[error("{0}")]
    Synchronization(String),
    /// The launch took more steps than the options allow.
    #[error("more than {0} steps")]
    StepLimit(u64),
    /// Calls nested too deeply.
    #[error("calls nested deeper than {0}")]
    CallDepth(usize),
    /// The launch does not fit the kernel.
    #[error("{0}")]
    Launch(String),
}
