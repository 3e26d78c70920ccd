//! What ends a run before the function returns: the table of traps, by instruction.

use serde::{Deserialize, Serialize};

/// An `ecall` and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trap {
    /// The index of the instruction.
    pub at: u32,
    /// What happened.
    pub kind: TrapKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum TrapKind {
    /// What the source says: a failed assertion, a division by zero.
    Message(String),
    /// An element outside of an array.
    Outside {
        /// Its name in the source.
        name: String,
        /// The subscripts of the element, the fastest dimension first: where they lie in the frame.
        subscripts: Vec<u32>,
        /// The extents of the array, the fastest first.
        extents: Vec<TrapExtent>,
    },
    /// A division without a result.
    Division,
}

/// An extent of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrapExtent {
    /// This.
    Known(u32),
    /// What lies there in the frame.
    At(u32),
}

impl Trap {
    /// The places in the frame that it reads, each a word.
    pub fn places(&self) -> Vec<u32> {
        let TrapKind::Outside { subscripts, extents, .. } = &self.kind else { return Vec::new() };
        let at = |extent: &TrapExtent| match extent {
            TrapExtent::Known(_) => None,
            TrapExtent::At(at) => Some(*at),
        };
        subscripts.iter().copied().chain(extents.iter().filter_map(at)).collect()
    }
}
