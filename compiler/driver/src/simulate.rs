//! What the driver asks of a simulator and gets from it, the same for every target.

use std::collections::BTreeMap;

use nbcc_base::Diagnostic;
pub use nbcc_host::{Cost, Profile, ProfileLine};
use nbcc_isa::LoadError;
use nbcc_sim_engine::{Progress, Statistics, Trace};
use nbcc_stages::{ElementType, Image};

use crate::codes;
use crate::data::inputs::InputSpec;
use crate::data::outputs::OutputSpec;

/// Steps that the interpreter may take, to check a run, for each cycle that the machine may take:
/// a few for each lane of all engines or cores of the largest machine.
const STEPS_A_CYCLE: u64 = 1 << 16;

/// Steps that the interpreter may take to check a run of up to `max_cycles` cycles; no more than
/// `most`.
pub fn check_steps(max_cycles: Option<u64>, most: u64) -> u64 {
    max_cycles.map_or(most, |cycles| cycles.saturating_mul(STEPS_A_CYCLE).min(most))
}

/// What to do where memory is short.
pub const LESS_MEMORY: &str = "use smaller images or buffers, or allow more memory (`ulimit -v`)";

/// The system has no memory for something.
pub fn no_memory(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(&codes::NO_MEMORY, message).help(LESS_MEMORY)
}

/// What to do where the interpreter came to its limit.
pub const MORE_STEPS: &str = "give it more with `interp --max-steps N`, or `run --max-cycles N`";

/// The interpreter came to its limit.
pub fn out_of_steps(message: String) -> Diagnostic {
    Diagnostic::error(&codes::OUT_OF_CYCLES, message).help(MORE_STEPS)
}

/// What a binary says of itself.
#[derive(Clone, Debug)]
pub struct Described {
    /// The name of the machine that it was compiled for.
    pub machine: String,
    /// Its inputs, with their extents.
    pub inputs: Vec<InputSpec>,
    /// Its outputs, in their order.
    pub outputs: Vec<OutputSpec>,
    /// Its scalar parameters.
    pub params: Vec<ParamSpec>,
}

/// A scalar parameter of a binary.
#[derive(Clone, Debug)]
pub struct ParamSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ElementType,
    /// Whether a value must be given.
    pub is_required: bool,
}

/// A run.
pub struct RunRequest<'a> {
    /// The inputs, all that the program reads; others are ignored.
    pub inputs: BTreeMap<String, Image>,
    /// Words of the scalar parameters that are set; those that the program lacks are ignored.
    pub params: BTreeMap<String, u32>,
    /// Leave timing out.
    pub fast: bool,
    /// Give up after so many cycles.
    pub max_cycles: Option<u64>,
    /// Keep a timeline.
    pub trace: bool,
    /// Threads to simulate with; results do not depend on it.
    pub threads: usize,
    /// Called now and then.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// What a run leaves behind.
#[derive(Debug)]
pub struct Ran {
    /// The outputs, in the order of [`Described::outputs`].
    pub outputs: Vec<Image>,
    /// Instructions issued, over all control cores.
    pub instructions: u64,
    /// What was measured; `None` without timing.
    pub statistics: Option<Statistics>,
    /// Where cycles went.
    pub profile: Profile,
    /// The timeline.
    pub trace: Option<Trace>,
    /// The length of a cycle in nanoseconds.
    pub cycle_ns: f64,
}

/// Why a run gave no outputs.
#[derive(Debug)]
pub enum RunError {
    /// The binary is damaged.
    Binary(LoadError),
    /// The binary does not fit the data or the simulator.
    Refused(String),
    /// The limit on cycles was reached.
    OutOfCycles(String),
    /// The host has no memory for what it takes.
    Memory(String),
    /// The program did what the machine cannot do.
    Fault(String),
}

/// What a binary of kernels says of itself.
#[derive(Clone, Debug)]
pub struct DescribedGrids {
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
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The bytes of the parameter.
    Bytes(Vec<u8>),
    /// The address of the buffer of that number.
    Buffer(usize),
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
    /// Leave timing out.
    pub fast: bool,
    /// Give up after so many cycles.
    pub max_cycles: Option<u64>,
    /// Threads to simulate with; results do not depend on it.
    pub threads: usize,
    /// Called now and then.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// What the launches leave behind, also where one of them failed.
#[derive(Debug, Default)]
pub struct GridRan {
    /// The contents of the buffers.
    pub buffers: Vec<Vec<u8>>,
    /// What the kernels printed.
    pub printed: Vec<u8>,
    /// Instructions that warps issued.
    pub instructions: u64,
    /// What was measured; `None` without timing.
    pub statistics: Option<Statistics>,
    /// Where instructions were issued.
    pub profile: Profile,
    /// Why the launches did not come to their end; only what was printed is known then.
    pub failure: Option<RunError>,
}
