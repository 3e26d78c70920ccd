//! Lanes that wait for others of their warp.

use crate::Mask;
use nbcc_isa_simt::operands::{ReduxOp, ShflMode, VoteMode};

/// Lanes of one path at one instruction.
pub type Part = (Mask, u32);

/// Lanes that wait for others.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The lanes that the operation is for.
    pub named: Mask,
    /// What they do.
    pub key: Key,
    /// Those that are there, with their instructions.
    pub parts: Vec<Part>,
}

impl Pending {
    /// The lanes that are there.
    pub fn arrived(&self) -> Mask {
        self.parts.iter().fold(0, |all, (lanes, _)| all | lanes)
    }
}

/// Operations with equal keys go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A shuffle.
    Shuffle(ShflMode),
    /// A vote.
    Vote(VoteMode),
    /// A ballot.
    Ballot,
    /// A match of any, of 32 or 64 bits.
    MatchAny(bool),
    /// A match of all, of 32 or 64 bits.
    MatchAll(bool),
    /// A reduction.
    Reduce(ReduxOp),
    /// A barrier.
    Barrier,
}
