//! What the rows of the core's instructions name: registers, units, latency classes, immediates.

use std::fmt;

use nbcc_isa::table::Distance;
use nbcc_isa::text::Cursor;
use nbcc_isa::{Field, LabelNames, RegisterClass, SyntaxError};

/// There is one register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// 32 registers of 32 bits; the first is zero.
    X,
}

impl RegisterClass for Class {
    const ALL: &'static [Class] = &[Class::X];
    fn name(self) -> &'static str {
        "the core"
    }
    fn prefix(self) -> &'static str {
        "x"
    }
}

/// What executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Adder, logic, shifter.
    Alu,
    /// Products.
    Multiplier,
    /// Quotients and remainders.
    Divider,
    /// Loads and stores.
    LoadStore,
    /// Jumps, branches, calls of the environment.
    Control,
}

/// How long an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// A cycle.
    Single,
    /// As long as a load.
    Load,
    /// As long as a product.
    Multiply,
    /// As long as a quotient.
    Divide,
    /// A cycle where it falls through, as long as a taken branch where not.
    Branch,
    /// As long as a taken branch.
    Jump,
}

/// What instructions read and write beside registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The memory.
    Data,
}

/// What statistics count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Sums, logic, shifts, comparisons.
    Integer,
    /// Products, quotients, remainders.
    Multiplication,
    /// Loads and stores.
    MemoryAccess,
    /// Jumps and branches.
    ControlFlow,
    /// Calls of the environment.
    System,
}

/// A signed number of 12 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct I12(pub i32);

impl I12 {
    /// The least and the greatest.
    pub const RANGE: std::ops::RangeInclusive<i32> = -2048..=2047;

    /// The number, if it has 12 bits.
    pub fn new(value: i32) -> Option<I12> {
        I12::RANGE.contains(&value).then_some(I12(value))
    }
}

impl Field for I12 {
    fn to_bits(&self) -> Option<u64> {
        // What is out of range does not fit the field.
        Some(match I12::RANGE.contains(&self.0) {
            true => self.0 as u64 & 0xfff,
            false => u64::from(self.0 as u32) | 1 << 32,
        })
    }
    fn from_bits(bits: u64) -> Option<I12> {
        Some(I12(sign_extended(bits, 12)))
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "{}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<I12, SyntaxError> {
        Ok(I12(cursor.number_in("the value", -2048, 2047)? as i32))
    }
}

/// The distance of a branch: even, 13 bits, bit 11 and bits 1 to 4 first, then 5 to 10 and 12 (the
/// RISC-V manual's B-type).
#[derive(Clone, Copy, Debug)]
pub struct Branch;

/// The distance of a jump: even, 21 bits, bits 12 to 19, 11, 1 to 10, 20 (the J-type).
#[derive(Clone, Copy, Debug)]
pub struct Jump;

/// Bit fields of a distance in the order of the encoding, lowest first: from which bit, how many.
type Order = &'static [(u32, u32)];

const BRANCH: Order = &[(11, 1), (1, 4), (5, 6), (12, 1)];
const JUMP: Order = &[(12, 8), (11, 1), (1, 10), (20, 1)];

fn pack(distance: i32, order: Order, width: u32) -> Option<u64> {
    let fits = sign_extended(distance as u64, width) == distance && distance % 2 == 0;
    let (mut bits, mut at) = (0, 0);
    for &(from, count) in order {
        bits |= (distance as u64 >> from & ((1 << count) - 1)) << at;
        at += count;
    }
    fits.then_some(bits)
}

fn unpack(bits: u64, order: Order, width: u32) -> i32 {
    let (mut distance, mut at) = (0, 0);
    for &(from, count) in order {
        distance |= (bits >> at & ((1 << count) - 1)) << from;
        at += count;
    }
    sign_extended(distance, width)
}

/// The number that the low bits say.
fn sign_extended(bits: u64, width: u32) -> i32 {
    ((bits << (64 - width)) as i64 >> (64 - width)) as i32
}

impl Distance for Branch {
    fn to_bits(distance: i32) -> Option<u64> {
        pack(distance, BRANCH, 13)
    }
    fn from_bits(bits: u64) -> i32 {
        unpack(bits, BRANCH, 13)
    }
}

impl Distance for Jump {
    fn to_bits(distance: i32) -> Option<u64> {
        pack(distance, JUMP, 21)
    }
    fn from_bits(bits: u64) -> i32 {
        unpack(bits, JUMP, 21)
    }
}
