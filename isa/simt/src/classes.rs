//! What instructions are told apart by: units, latency classes, memories, categories; and the
//! latency classes of operations whose rows hold several.

use crate::operands::{ApproxOp, FloatOp, FloatUnaryOp, Format, IntOp, TernaryOp, WideOp};

/// What executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Fetch, branches, the end of a thread.
    Control,
    /// The vector ALU of a subcore or of a near-bank unit.
    Alu,
    /// The special function unit of a subcore.
    Sfu,
    /// The load-store unit of a subcore, with its extension beside the banks.
    Lsu,
    /// What connects the lanes of a warp.
    Lanes,
    /// Barriers and fences.
    Sync,
    /// The host.
    Host,
}

/// What the time of an instruction depends on; the description of a machine holds the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Latency {
    /// Branches and what ends a thread.
    Control,
    /// Integer, logic, comparison, move, conversion.
    Alu,
    /// Multiplication of integers.
    IntMul,
    /// Division of integers.
    IntDiv,
    /// Remainder of integers.
    IntRem,
    /// Binary32 addition, multiplication and the like.
    Float,
    /// Binary32 division.
    FloatDiv,
    /// Formats of 16 bits.
    Half,
    /// Binary64.
    Double,
    /// Binary64 division, reciprocal, square root.
    DoubleDiv,
    /// Reciprocal.
    Rcp,
    /// Square root.
    Sqrt,
    /// Reciprocal of the square root.
    Rsqrt,
    /// Sine and cosine.
    SinCos,
    /// Logarithm.
    Lg2,
    /// Exponential.
    Ex2,
    /// An access of memory.
    Memory,
    /// Shuffles, votes and their like.
    Lanes,
    /// Until others are there.
    Barrier,
    /// A call of the host.
    Host,
}

/// Memories that instructions read and write. They share no byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    /// Stands in rows for those of the space that a field names.
    Any,
    /// What the host allocated, and variables of the program.
    Global,
    /// That of a block.
    Shared,
    /// That of a thread.
    Local,
    /// Constant data, which nothing writes.
    Const,
    /// The kernel's parameters, which nothing writes.
    Param,
}

/// The categories by which statistics break instructions down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Integer arithmetic, logic, comparison.
    Integer,
    /// Floating point, conversions.
    Float,
    /// Moves, selections, special registers, addresses.
    Move,
    /// Operations on predicates.
    Predicate,
    /// Loads and stores.
    Memory,
    /// Atomic operations.
    Atomic,
    /// Shuffles, votes and their like.
    Lanes,
    /// Barriers and fences.
    Synchronization,
    /// Branches, the end of a thread, calls of the host.
    ControlFlow,
}

impl Category {
    /// Every category.
    pub const ALL: [Category; 9] = [
        Category::Integer,
        Category::Float,
        Category::Move,
        Category::Predicate,
        Category::Memory,
        Category::Atomic,
        Category::Lanes,
        Category::Synchronization,
        Category::ControlFlow,
    ];
}

impl IntOp {
    /// The latency class.
    pub fn latency(self) -> Latency {
        match self {
            IntOp::Mul | IntOp::MulHiS | IntOp::MulHiU => Latency::IntMul,
            IntOp::DivS | IntOp::DivU => Latency::IntDiv,
            IntOp::RemS | IntOp::RemU => Latency::IntRem,
            _ => Latency::Alu,
        }
    }
}

impl WideOp {
    /// The latency class.
    pub fn latency(self) -> Latency {
        match self {
            WideOp::Mul | WideOp::MulHiS | WideOp::MulHiU => Latency::IntMul,
            WideOp::DivS | WideOp::DivU => Latency::IntDiv,
            WideOp::RemS | WideOp::RemU => Latency::IntRem,
            _ => Latency::Alu,
        }
    }
}

impl TernaryOp {
    /// The latency class.
    pub fn latency(self) -> Latency {
        use TernaryOp::*;
        match self {
            SadS | SadU | Add3 | BfeS | BfeU | Fns | PrmtIdx | PrmtF4e | PrmtB4e | PrmtRc8
            | PrmtEcl | PrmtEcr | PrmtRc16 | ShfLClamp | ShfLWrap | ShfRClamp | ShfRWrap => {
                Latency::Alu
            }
            _ => Latency::IntMul,
        }
    }
}

impl Format {
    /// The latency class of an operation that is neither division nor a function.
    pub fn latency(self) -> Latency {
        if self == Format::F32 { Latency::Float } else { Latency::Half }
    }
}

impl FloatOp {
    /// The latency class on 32-bit registers.
    pub fn latency(self, format: Format) -> Latency {
        if self == FloatOp::Div { Latency::FloatDiv } else { format.latency() }
    }
}

impl FloatUnaryOp {
    /// The latency class on 32-bit registers.
    pub fn latency(self, format: Format) -> Latency {
        match self {
            FloatUnaryOp::Rcp => Latency::FloatDiv,
            FloatUnaryOp::Sqrt => Latency::Sqrt,
            FloatUnaryOp::Abs | FloatUnaryOp::Neg => format.latency(),
        }
    }
}

impl ApproxOp {
    /// The latency class.
    pub fn latency(self) -> Latency {
        match self {
            ApproxOp::Rcp => Latency::Rcp,
            ApproxOp::Sqrt => Latency::Sqrt,
            ApproxOp::Rsqrt => Latency::Rsqrt,
            ApproxOp::Sin | ApproxOp::Cos => Latency::SinCos,
            ApproxOp::Lg2 => Latency::Lg2,
            ApproxOp::Ex2 | ApproxOp::Tanh => Latency::Ex2,
        }
    }
}

/// The latency class of an operation on binary64.
pub(crate) fn double(division: bool) -> Latency {
    if division { Latency::DoubleDiv } else { Latency::Double }
}
