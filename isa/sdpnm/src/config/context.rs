//! What a PE does in one slot of a loop's initiation interval.

use super::opcode::{Opcode, Options};

/// Where a 32-bit operand comes from (paper, section 2, figure 5b).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Source {
    /// Zero.
    #[default]
    None,
    /// What the PE at this (row, column) offset put out in the cycle before; one of
    /// [`Links::offsets`](crate::Links::offsets).
    Output(i8, i8),
    /// An own register as the iteration `ago` iterations before wrote it: registers rotate, each is a
    /// ring as long as the package says ([`Package::rings`](super::Package::rings)).
    Register {
        /// The number of the ring.
        ring: u8,
        /// How many iterations before, 0 for the same.
        ago: u8,
    },
    /// A global register of the array.
    Global(u8),
    /// A constant in the context.
    Immediate(i32),
}

/// Where a bit comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bit {
    /// Not connected: no carry, in1 of `mux`, no condition.
    #[default]
    None,
    /// The 1-bit output of the PE at this offset, of the cycle before.
    Output(i8, i8),
    /// The 1-bit output that was kept with an own register, see [`Source::Register`].
    Register {
        /// The number of the ring.
        ring: u8,
        /// How many iterations before, 0 for the same.
        ago: u8,
    },
}

/// The element that a load or store moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Width {
    /// A byte, extended with zeros.
    U8,
    /// A byte, extended with its sign.
    I8,
    /// Two bytes, extended with zeros.
    U16,
    /// Two bytes, extended with their sign.
    I16,
    /// Four bytes.
    #[default]
    W32,
}

impl Width {
    /// All of them, with their names in assembly text.
    pub const ALL: [(&'static str, Width); 5] = [
        ("w32", Width::W32),
        ("u8", Width::U8),
        ("i8", Width::I8),
        ("u16", Width::U16),
        ("i16", Width::I16),
    ];

    /// Bytes of the element.
    pub fn bytes(self) -> u32 {
        match self {
            Width::U8 | Width::I8 => 1,
            Width::U16 | Width::I16 => 2,
            Width::W32 => 4,
        }
    }

    /// The word of the element whose bytes are the low ones of `raw`.
    pub fn extend(self, raw: u32) -> u32 {
        match self {
            Width::U8 => u32::from(raw as u8),
            Width::I8 => raw as i8 as u32,
            Width::U16 => u32::from(raw as u16),
            Width::I16 => raw as i16 as u32,
            Width::W32 => raw,
        }
    }
}

/// What a load or store adds to the address in in1. Addresses are those of bytes in the shared memory
/// of the array; they need not be multiples of the element's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// The element.
    pub width: Width,
    /// Bytes.
    pub offset: i32,
    /// Bytes an iteration.
    pub stride: i32,
}

impl Memory {
    /// The address that an iteration reaches, wrapping at 32 bits; the first has the number 0.
    #[inline]
    pub fn address(&self, in1: u32, iteration: i64) -> u32 {
        let stride = i64::from(self.stride).wrapping_mul(iteration) as u32;
        in1.wrapping_add(self.offset as u32).wrapping_add(stride)
    }
}

/// When an operation runs, and what becomes of its result. Where it does not run, it puts out 0 and the
/// bit 0, but for [`Control::initial`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Control {
    /// How many intervals after the start of its iteration: its cycle over the interval.
    pub stage: u16,
    /// Iterations before the first in which it runs as well: a load whose value later iterations
    /// read ahead of their own. At most [`Control::stage`], since nothing runs before the array starts.
    pub ahead: u16,
    /// A global register whose value it puts out, without running, in the iterations before those in
    /// which it runs, with the lowest bit as its bit: the first value of what a loop carries. The ring
    /// that it keeps its results in is full of that value when the array starts, and the output of its
    /// PE has it in the cycle before the first where the operation is in the last slot.
    pub initial: Option<u8>,
    /// The ring of own registers that keeps its result.
    pub keep: Option<u8>,
    /// The global register that takes its result in the last iteration.
    pub export: Option<u8>,
    /// The operation runs only where this bit is 1, where one is connected: a load gives 0 else, a
    /// store does nothing, accumulators and the global register of [`Control::export`] stay as they
    /// are; a ring gets 0.
    pub condition: Bit,
}

/// What a PE does in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Context {
    /// The operation.
    pub op: Opcode,
    /// Its options.
    pub options: Options,
    /// The first operand.
    pub in1: Source,
    /// The second operand.
    pub in2: Source,
    /// The bit: carry, borrow, condition of `mux`.
    pub in3: Bit,
    /// The address of a load or store.
    pub memory: Memory,
    /// When, and what becomes of the result.
    pub control: Control,
}
