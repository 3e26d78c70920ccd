//! Code over registers in the order of its text: what a source wrote, or what a machine runs. Both
//! are asked the same questions (which registers does a range take and leave, which loops are there,
//! how often do they run), so both become a [`Listing`] and the facts are computed once.
//!
//! Unlike the SSA form a listing keeps registers, their number and the order of instructions.

mod constants;
mod flow;
mod live;
mod ranges;
mod trips;

use cranelift_entity::entity_impl;
use nbcc_base::Span;

pub use constants::Constants;
pub use flow::{Flow, NaturalLoop};
pub use live::Live;
pub use ranges::{Facts, LiveSets};
pub use trips::{Trips, trips};

/// A register of a listing, of whatever width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(u32);
entity_impl!(Reg, "r");

/// What an instruction takes that no register holds: a parameter at an offset, or a special
/// register, by a number of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(u32);
entity_impl!(Input, "input");

/// The code of a function.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The name of the function.
    pub name: String,
    /// The instructions in order. Control leaves the function behind the last.
    pub code: Vec<Line>,
    /// How many registers there are.
    pub registers: u32,
    /// How many inputs there are.
    pub inputs: u32,
}

/// An instruction of a listing.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Where it stands.
    pub span: Option<Span>,
    /// The registers that it reads, its guard included.
    pub reads: Vec<Reg>,
    /// The registers that it writes.
    pub writes: Vec<Reg>,
    /// Whether what it writes may keep its old value, in part or in some threads.
    pub keeps: bool,
    /// What else it takes.
    pub inputs: Vec<Input>,
    /// The instructions that it may branch to, by index.
    pub targets: Vec<u32>,
    /// Whether the next instruction may follow.
    pub falls: bool,
    /// What it does to the rest of the world.
    pub effect: Effect,
    /// What it computes, where that matters to loops.
    pub meaning: Meaning,
}

/// What an instruction does besides writing registers. Of several the first counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It ends the function, or goes on where its text does not say.
    Leave,
    /// It accesses memory that the threads of a block share, or may do so.
    Shared,
    /// It reads and writes memory in one step.
    Atomic,
    /// It waits for other threads, or orders accesses among them.
    Synchronisation,
    /// A load or store with an order of its own.
    Ordered,
    /// It calls a function.
    Call,
    /// It reads what differs from processor to processor, or from time to time.
    ProcessorState,
    /// It loads from memory.
    Load,
    /// It stores to memory.
    Store,
    /// None.
    #[default]
    None,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// Bits, zero above the width of their type.
    Bits(u64),
    /// The address of a thing of that number, plus an offset.
    Address(u32, i64),
}

/// An operand of what loops are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant.
    Number(Number),
}

/// How bits are read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// Two's complement of that many bits, 64 at most.
    Signed(u32),
    /// Without a sign, 64 bits at most.
    Unsigned(u32),
    /// IEEE binary32.
    F32,
    /// The same whose subnormal numbers count as zero.
    FlushedF32,
    /// IEEE binary64.
    F64,
    /// Another format, with which nothing is computed here.
    Other,
}

/// A relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// What an instruction computes.
#[derive(Clone, Debug, Default)]
pub enum Meaning {
    /// Something else.
    #[default]
    Other,
    /// It copies an operand into the register that it writes.
    Copy(Operand),
    /// It adds the operands, or subtracts the second.
    Add {
        /// What from, and what.
        operands: [Operand; 2],
        /// Whether it subtracts.
        subtracts: bool,
        /// Of which type.
        ty: NumberType,
    },
    /// It compares the operands: the first register that it writes says whether the relation holds,
    /// the second, if there is one, whether it does not.
    Compare {
        /// The operands.
        operands: [Operand; 2],
        /// The relation; `None` for one that [`Relation`] has not.
        relation: Option<Relation>,
        /// Of which type.
        ty: NumberType,
    },
    /// It branches where a predicate holds, or where it does not.
    Branch {
        /// The predicate.
        predicate: Reg,
        /// Whether it branches where the predicate does not hold.
        negated: bool,
    },
}

#[cfg(test)]
mod tests;
