//! Why a run ended without a result.

use nbcc_base::Span;
use nbcc_ir::{Function, Space};

/// A run that ended with an error, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("@{function}: {kind}")]
pub struct Trap {
    /// What happened.
    pub kind: Box<TrapKind>,
    /// The function it happened in.
    pub function: String,
    /// The source of the instruction.
    pub span: Option<Span>,
}

impl Trap {
    /// Before the first instruction of a function.
    pub(super) fn at_start(func: &Function, kind: TrapKind) -> Trap {
        Trap { kind: Box::new(kind), function: func.name.clone(), span: None }
    }
}

/// What ends a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrapKind {
    /// An element outside a memory object.
    #[error("%{mem}{subscripts:?} is outside of {extents:?}")]
    OutOfBounds {
        /// The memory object.
        mem: String,
        /// The subscripts of the element, the fastest dimension first.
        subscripts: Vec<i64>,
        /// The extents of the object.
        extents: Vec<u32>,
    },
    /// Bytes outside of a space.
    #[error("bytes {address}..{address}+{bytes} are outside of the {space} memory")]
    OutOfSpace {
        /// The space.
        space: Space,
        /// The first byte.
        address: i128,
        /// The number of bytes.
        bytes: u32,
    },
    /// A read of an element that nothing has written, where the options ask for a trap.
    #[error("%{mem}{subscripts:?} is read but was never written")]
    Uninitialised {
        /// The memory object.
        mem: String,
        /// The subscripts of the element.
        subscripts: Vec<i64>,
    },
    /// A division by zero, or of the least integer by -1.
    #[error("a division has no result")]
    Division,
    /// A trap terminator.
    #[error("{0}")]
    Explicit(String),
    /// The run took more steps than the options allow.
    #[error("more than {0} steps")]
    StepLimit(u64),
    /// Calls are nested deeper than the options allow.
    #[error("calls nested deeper than {0}")]
    CallDepth(usize),
    /// A call outside of a module.
    #[error("a call needs a module")]
    NoModule,
    /// The memory that was given lacks an object that the function names.
    #[error("there is no memory object %{0}")]
    NoObject(String),
    /// The memory object that was given is not of the declared form.
    #[error("%{0} is not what the function declares")]
    WrongObject(String),
    /// Local memory objects larger than the options allow.
    #[error("local memory objects of more than {0} elements")]
    LocalSize(u64),
    /// Arrays larger than the options allow.
    #[error("the arrays take {bytes} bytes, and the interpreter takes {most}")]
    ArraySize {
        /// The bytes of all of them.
        bytes: u64,
        /// The bytes allowed.
        most: u64,
    },
    /// The system has no memory for an array.
    #[error("there is no memory for the {elements} elements of %{mem}")]
    NoMemory {
        /// The array.
        mem: String,
        /// Its elements.
        elements: u64,
    },
    /// Arguments of another number or of other types than the parameters.
    #[error("the arguments do not fit the parameters")]
    Arguments,
    /// An operation of a thread of a grid, outside of a grid.
    #[error("{0} needs a grid")]
    Grid(String),
    /// An element that is stored to is reached under a pointer's promise, and otherwise.
    #[error(
        "an element is reached through a pointer that promises to be the only way to it, and otherwise"
    )]
    Promise {
        /// The memory object and the number of the element, where that is known.
        element: Option<(String, usize)>,
        /// Whether it is reached here under the promise, and was reached otherwise before.
        is_under: bool,
        /// Where it was reached the other way.
        other: Option<Span>,
        /// Where the promise began to hold.
        promise: Option<Span>,
    },
    /// An intrinsic that the callback does not know, or refuses.
    #[error("intrinsic \"{name}\": {message}")]
    Intrinsic {
        /// Its name.
        name: String,
        /// What is wrong.
        message: String,
    },
}
