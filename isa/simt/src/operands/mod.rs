//! Operands of instructions: the register files and sources, and by subject the operations,
//! formats, spaces and modifiers. Names are PTX's where it has one.

use std::fmt::{self, Write};

use nbcc_isa::text::Cursor;
use nbcc_isa::{Field, LabelNames, RegisterClass, SyntaxError, reg_or_imm};

mod float;
mod integer;
mod memory;
mod thread;

pub use float::*;
pub use integer::*;
pub use memory::*;
pub use thread::*;

/// The register files of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegClass {
    /// 32 bits; `R0` to `R255`.
    Word,
    /// 64 bits: the pair of `R` registers that begins with this even one, low half first.
    Wide,
    /// 1 bit; `P0` to `P6`.
    Pred,
}

impl RegisterClass for RegClass {
    const ALL: &'static [RegClass] = &[RegClass::Word, RegClass::Wide, RegClass::Pred];

    fn name(self) -> &'static str {
        match self {
            RegClass::Word => "Word",
            RegClass::Wide => "Wide",
            RegClass::Pred => "Pred",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            RegClass::Word => "R",
            RegClass::Wide => "D",
            RegClass::Pred => "P",
        }
    }
}

/// A register of a thread.
pub type PhysReg = nbcc_isa::PhysReg<RegClass>;

/// Predicate registers of a thread: P0 to P6.
pub const PREDICATES: u16 = 7;

reg_or_imm! {
    /// A source: a number, or a register. A number takes the place of a 64-bit integer
    /// sign-extended from 32 bits, of a binary64 as its upper half, of a 16-bit format as its
    /// low 16 bits.
    pub enum Source<R> in ["", ""] {
        /// The number itself.
        Imm(u32),
        /// The register that holds it.
        Reg(R),
    }
}

reg_or_imm! {
    /// What an address is counted from: the value of a register, or a number (0 for an address
    /// that is the offset alone). Written `[D4]` or `[0x0]`.
    pub enum Base<R> in ["[", "]"] {
        /// The number itself.
        Imm(u32),
        /// The register that holds it.
        Reg(R),
    }
}

/// 64 bits, written `x` and 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits64(pub u64);

impl Field for Bits64 {
    fn to_bits(&self) -> Option<u64> {
        Some(self.0)
    }
    fn from_bits(bits: u64) -> Option<Self> {
        Some(Bits64(bits))
    }
    fn write(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "x{:016x}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        let start = cursor.position();
        let word = cursor.expect_name("64 bits in hexadecimal")?;
        let digits = word.strip_prefix('x').filter(|d| !d.is_empty() && !d.starts_with('+'));
        digits.and_then(|d| u64::from_str_radix(d, 16).ok()).map(Bits64).ok_or_else(|| {
            SyntaxError::new("expected 64 bits in hexadecimal", start..start + word.len())
                .with_help("64 bits are written `x` and up to 16 hexadecimal digits")
        })
    }
}

/// Where a branch's paths meet again: the immediate post-dominator.
pub const NO_RECONVERGENCE: i32 = -1;
