//! Kernels in the shared IR, and their calls, which are a program: what lowering makes, what the
//! passes on IR transform and what instructions are selected for.

use cranelift_entity::SecondaryMap;
use nbcc_base::Span;
use nbcc_ir::{Function, Mem};

/// The most merged constant parameters of a kernel: engines find each in an atom of their banks.
pub const MAX_CONSTANTS: usize = 64;

/// A kernel: a function and where its memory objects are.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The function.
    pub func: Function,
    /// Byte address of each memory object in its memory.
    pub mem_base: SecondaryMap<Mem, u32>,
    /// The engines of a vault that run it.
    pub mask: u32,
    /// The barrier before it.
    pub sync: Option<u32>,
    /// Where it is called, the bank objects whose addresses are its arguments; `None` where it
    /// stands in the program where it runs.
    pub args: Option<Vec<Mem>>,
    /// The step of the plan that it belongs to.
    pub step: usize,
    /// The source that its instructions come from where they do not say.
    pub place: Option<Span>,
    /// What each engine has of the group's scratchpad for itself, once addresses are explicit: slots,
    /// each of all engines.
    pub scratch: Vec<Mem>,
    /// Of each row of a memory object, the bytes behind it that are of objects beside it.
    pub beside: SecondaryMap<Mem, u32>,
    /// Which memory objects share no byte: those of different numbers, once that is known.
    pub objects: SecondaryMap<Mem, Option<u32>>,
    /// Which memory objects lie beside each other: those of one number, once that is known.
    pub neighbours: SecondaryMap<Mem, Option<u32>>,
}

/// A call of a kernel: one of the steps that a program consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCall {
    /// The name of what runs.
    pub name: String,
    /// The number of the kernel.
    pub kernel: usize,
    /// The step of the plan that it belongs to.
    pub step: usize,
    /// The barrier before it.
    pub sync: Option<u32>,
    /// The source that it belongs to.
    pub place: Option<Span>,
    /// The addresses that are its arguments.
    pub bases: Vec<u32>,
    /// The constants that are its arguments, in every lane.
    pub constants: Vec<[u32; 4]>,
    /// Where kernels were merged, the operations that this one ran, and those of the kernel that is
    /// called, as far as it is known how often its loops run.
    pub merged: Option<(u64, u64)>,
}

/// A call of every kernel in order, none of them shared.
pub fn calls_in_order(kernels: &[Kernel]) -> Vec<KernelCall> {
    let call = |(kernel, k): (usize, &Kernel)| KernelCall {
        name: k.func.name.clone(),
        kernel,
        sync: k.sync,
        step: k.step,
        place: k.place,
        bases: vec![],
        constants: vec![],
        merged: None,
    };
    kernels.iter().enumerate().map(call).collect()
}

/// How small code is to be, at the cost of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// As large as it pays.
    #[default]
    Fast,
    /// Kernels that differ in constants only are one, of which they are parameters.
    Merged,
    /// Loops over tiles and their elements are written as loops, and little is exchanged at once, too.
    Rolled,
    /// Little is requested at once, too.
    Compact,
    /// Requests to other vaults are loops, too.
    Smallest,
}

impl Size {
    /// The next smaller size.
    pub fn smaller(self) -> Option<Size> {
        match self {
            Size::Fast => Some(Size::Merged),
            Size::Merged => Some(Size::Rolled),
            Size::Rolled => Some(Size::Compact),
            Size::Compact => Some(Size::Smallest),
            Size::Smallest => None,
        }
    }
}
