//! How a launch can end badly, and where.

use std::fmt;

use crate::barrier::BarrierError;
use crate::memory::AccessError;
use nbcc_isa_simt::operands::Space;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A load, store or atomic operation that memory refuses.
    #[error("{error} {what} of {bytes} bytes at {} address {address:#x}{}", space.name(), hint(.near))]
    Access {
        /// What memory says.
        error: AccessError,
        /// `load`, `store` or `atomic operation`.
        what: &'static str,
        /// The space of the instruction.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u64,
        /// The piece of memory next below: address and size.
        near: Option<(u64, u64)>,
    },
    /// A trap of the program.
    #[error("trap: {0}")]
    Trap(String),
    /// A breakpoint.
    #[error("breakpoint: there is no debugger")]
    Breakpoint,
    /// A failed assertion of the program.
    #[error("{file}:{line}: {function}: assertion `{message}` failed")]
    Assertion {
        /// The condition.
        message: String,
        /// The source file.
        file: String,
        /// Its line.
        line: u32,
        /// The function.
        function: String,
    },
    /// A barrier is used wrongly.
    #[error(transparent)]
    Barrier(#[from] BarrierError),
    /// Threads wait for others that never come.
    #[error(
        "deadlock: {waiting} threads of the block wait here or elsewhere for others that never come"
    )]
    Deadlock {
        /// How many wait.
        waiting: u32,
    },
    /// The launch took too long.
    #[error("the launch was given up after {0} cycles of a core")]
    CycleLimit(u64),
    /// A text that is not to be read, or has no end.
    #[error("the text at generic address {0:#x} is not readable or has no end")]
    Text(u64),
}

fn hint(near: &Option<(u64, u64)>) -> String {
    match near {
        Some((base, size)) => format!(" (nearest below: {size} bytes from {base:#x})"),
        None => String::new(),
    }
}

/// A fault and the thread that met it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The kernel.
    pub kernel: String,
    /// The index of the instruction in `.text`.
    pub instruction: u32,
    /// Source file and line, if known.
    pub line: Option<(String, u32)>,
    /// The block in its grid.
    pub block: [u32; 3],
    /// The thread in its block.
    pub thread: [u32; 3],
    /// What a machine in time knows besides: where the warp is, what it waits for; a line each.
    pub notes: Vec<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(f, "{}\n  in kernel `{}`", self.kind, self.kernel)?;
        match &self.line {
            Some((file, line)) => write!(f, ", {file}:{line}")?,
            None => write!(f, ", instruction {}", self.instruction)?,
        }
        write!(f, ", block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})")?;
        self.notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
    }
}

impl std::error::Error for Fault {}
