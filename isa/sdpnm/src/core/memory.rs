//! The memory of the core: which addresses hold what. The compiler decides, the host and the machine
//! apply it. Code lies in the first bank and has addresses of its own from 0 on; everything else
//! follows from [`DATA`] on: data and variables of the module, the frame, arrays of the host.

use nbcc_isa::Signature;
use serde::{Deserialize, Serialize};

/// The first address of data.
pub const DATA: u32 = 0x0100_0000;

/// What the address of an object is a multiple of.
pub const ALIGNMENT: u32 = 8;

/// How far the register that points to the frame stands behind its first byte, so that offsets of 12
/// bits reach as much of it as they can.
pub const BIAS: u32 = 2048;

/// The bytes of a frame that offsets reach.
pub const PAGE: u32 = 4096;

/// The most bytes that a frame has.
pub const MAX_FRAME: u32 = 1 << 24;

/// Bytes at the start of a frame for the result of the call.
pub const RESULT_BYTES: u32 = 8;

/// Addresses in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// The first.
    pub address: u32,
    /// How many.
    pub bytes: u32,
}

impl Area {
    /// The address behind the last, if there is one.
    pub fn end(self) -> Option<u32> {
        self.address.checked_add(self.bytes)
    }
}

/// What a program keeps beside its code and its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Variables that start as zeros.
    pub zeroed: Area,
    /// The result of the call, its arguments ([`argument_offsets`]), what traps say, spilled values.
    /// Register x2 points [`BIAS`] behind its first byte.
    pub frame: Area,
}

impl Frame {
    /// The first address that is free for the arrays of the host.
    pub fn free(&self) -> Option<u32> {
        let end = self.zeroed.end()?.max(self.frame.end()?).max(DATA);
        end.checked_next_multiple_of(ALIGNMENT)
    }
}

/// Where in the frame the words of each parameter of a signature stand, and the end of all. A scalar
/// has 8 bytes, little endian. An array has the address of its first element, the number of its
/// elements, and its extents, the slowest first, in 4 bytes each.
pub fn argument_offsets(signature: &Signature) -> (Vec<u32>, u32) {
    let mut at = RESULT_BYTES;
    let mut offsets = Vec::new();
    for param in &signature.params {
        offsets.push(at);
        let words = match &param.array {
            None => 2,
            Some(array) => 2 + array.extents.len() as u32,
        };
        at = at.saturating_add(words.saturating_mul(4)).saturating_add(7) & !7;
    }
    (offsets, at)
}
