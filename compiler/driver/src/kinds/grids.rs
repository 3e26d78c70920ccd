//! Kernels: launched on grids of threads over buffers of bytes.

use nbcc_base::Span;
use nbcc_isa::LoadError;

use super::{Measured, RunError, RunOptions};

/// Runs kernels.
pub struct GridRunner {
    /// What a binary says of itself.
    pub describe: fn(&[u8]) -> Result<GridProgram, LoadError>,
    /// Launches kernels of a binary on its machine.
    pub launch: fn(&[u8], GridRequest<'_>) -> GridRan,
}

/// What a binary of kernels says of itself.
#[derive(Clone, Debug)]
pub struct GridProgram {
    /// The name of the machine that it was compiled for.
    pub machine: String,
    /// Its kernels, in their order.
    pub kernels: Vec<KernelSpec>,
}

/// What a program says of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSpec {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<KernelParam>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParam {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u32,
    /// Its type in the words of the language.
    pub type_name: String,
}

/// A launch, checked against its kernel.
#[derive(Clone, Debug)]
pub struct GridLaunch {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared_bytes: u32,
    /// A value for each parameter.
    pub args: Vec<Argument>,
    /// How often it is launched.
    pub repeat: Repeat,
    /// Where a launch file asks for it.
    pub at: Option<Span>,
    /// Where that says until when it comes again.
    pub until_at: Option<Span>,
}

/// How often a launch comes, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// So often at most.
    pub times: u32,
    /// Not again once a word of four bytes is zero: the number of its buffer, and where it stands.
    pub until: Option<(usize, u64)>,
}

impl Repeat {
    /// What is said of launches that do not come to their end.
    pub fn endless(&self, kernel: &str) -> String {
        format!("kernel `{kernel}`: the word of `until` is not zero after {} launches", self.times)
    }
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The bytes of the parameter.
    Bytes(Vec<u8>),
    /// An address in the buffer of that number, so many bytes from its beginning.
    Buffer(usize, u64),
}

/// The contents of a buffer before the first launch.
#[derive(Clone, Debug)]
pub enum Contents {
    /// So many zeros, which take no memory until they are touched.
    Zeros(u64),
    /// These bytes.
    Bytes(Vec<u8>),
}

impl Contents {
    /// How many bytes they are.
    pub fn size(&self) -> u64 {
        match self {
            Contents::Zeros(size) => *size,
            Contents::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

/// Kernels to run one after another.
pub struct GridRequest<'a> {
    /// Initial contents of module variables, by name.
    pub symbols: Vec<(String, Vec<u8>)>,
    /// The contents of the buffers.
    pub buffers: Vec<Contents>,
    /// The launches, in order.
    pub launches: Vec<GridLaunch>,
    /// How; `max_cycles` are those of all launches together.
    pub options: RunOptions<'a>,
}

/// What the launches leave behind, also where one of them failed.
#[derive(Debug, Default)]
pub struct GridRan {
    /// The contents of the buffers.
    pub buffers: Vec<Vec<u8>>,
    /// What the kernels printed.
    pub printed: Vec<u8>,
    /// What is known of all launches together.
    pub measured: Measured,
    /// Why the launches did not come to their end; only what was printed is known then.
    pub failure: Option<RunError>,
}
