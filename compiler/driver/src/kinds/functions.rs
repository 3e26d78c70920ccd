//! Sequential functions: one call on arrays and scalars.

use nbcc_host::function::Bound;
use nbcc_isa::{LoadError, Signature};

use super::{Measured, RunError, RunOptions};

/// Runs functions.
pub struct FunctionRunner {
    /// What a binary says of itself.
    pub describe: fn(&[u8]) -> Result<FunctionProgram, LoadError>,
    /// Calls the function of a binary on its machine.
    pub call: fn(&[u8], FunctionRequest<'_, '_>) -> Result<FunctionRan, RunError>,
}

/// What a binary says of itself.
#[derive(Clone, Debug)]
pub struct FunctionProgram {
    /// The name of the machine that it was compiled for.
    pub machine: String,
    /// What the function takes and gives.
    pub signature: Signature,
}

/// A call.
pub struct FunctionRequest<'a, 'o> {
    /// What it is called on.
    pub arguments: &'a Bound,
    /// How.
    pub options: RunOptions<'o>,
}

/// What a call leaves behind.
#[derive(Debug)]
pub struct FunctionRan {
    /// The contents of the arrays, in the order of the parameters.
    pub arrays: Vec<Vec<u8>>,
    /// The bits of the result, if the function has one.
    pub result: Option<u64>,
    /// What is known of the run.
    pub measured: Measured,
}

/// Why a program ended its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trap {
    /// What the source says: an assertion that fails, a null pointer.
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
