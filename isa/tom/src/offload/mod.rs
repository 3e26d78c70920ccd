//! The table of what may run beside memory (TOM paper, section 3.3: the offload metadata table). A
//! candidate is a range of instructions of a kernel; the instruction before it is `region N`, where N
//! is the number of its entry here. Compiler, loader and simulator share what is said in this folder:
//! the form of the table ([`OffloadTable`]), when a condition holds ([`Condition`]), and what the
//! instructions prove of it ([`check`]).

mod check;
mod code;
mod condition;
mod constants;
mod live;
mod record;
mod registers;
mod sums;
mod webs;

use nbcc_isa_simt::Program;

pub use check::{Checker, check};
pub use code::KernelCode;
pub use condition::{Condition, Term, condition};
pub use constants::{Constant, Held};
pub use record::{SECTION, section};
pub use registers::RegisterSet;
pub use webs::Webs;

/// The candidates of a program, by the number that `region` names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffloadTable {
    /// In the order of the text; they share no instruction.
    pub entries: Vec<Entry>,
}

/// A candidate. Places are indices of instructions in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kernel that it belongs to, by its number in the program.
    pub kernel: u32,
    /// The first instruction; the one before it is the marker.
    pub begin: u32,
    /// The instruction behind the last: where the warp goes on.
    pub end: u32,
    /// The registers that a request carries.
    pub live_in: RegisterSet,
    /// The registers that come back.
    pub live_out: RegisterSet,
    /// Registers that hold one constant whenever the begin is reached: the range holds it, nothing is
    /// sent.
    pub constants: Vec<Constant>,
    /// Parameters and special registers that the range reads: each is sent as a register is.
    pub inputs: u32,
    /// Where offloading is expected to save.
    pub tag: Tag,
    /// How often the range is expected to run at least: the trips for which the tag was made.
    pub trips: u64,
    /// What must hold at the begin; `None` for a candidate without a condition.
    pub condition: Option<Condition>,
}

/// On which channel offloading saves (section 3.1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// From the GPU to memory.
    pub tx: bool,
    /// From memory to the GPU.
    pub rx: bool,
}

impl Tag {
    /// The two bits: TX the higher one.
    pub fn bits(self) -> u32 {
        u32::from(self.tx) << 1 | u32::from(self.rx)
    }
}

impl Entry {
    /// The marker before the range.
    pub fn marker(&self) -> u32 {
        self.begin - 1
    }

    /// Whether an instruction lies in the range.
    pub fn contains(&self, at: u32) -> bool {
        (self.begin..self.end).contains(&at)
    }

    /// 32-bit registers and predicates that a request carries, and what else is sent like them.
    pub fn registers_in(&self) -> u32 {
        self.live_in.count() + self.inputs
    }
}

impl OffloadTable {
    /// The table of a program; empty where the program has none. It is checked when the program is
    /// loaded ([`check`]).
    ///
    /// # Errors
    /// A section that is none.
    pub fn of(program: &Program) -> Result<OffloadTable, nbcc_isa::LoadError> {
        record::read(program)
    }
}
