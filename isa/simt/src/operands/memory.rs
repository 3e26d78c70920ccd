//! Loads, stores, atomic operations and fences: spaces, what is accessed, orders, scopes.

use std::fmt::{self, Write};

use nbcc_isa::text::Cursor;
use nbcc_isa::{Field, LabelNames, SyntaxError, named_field};

named_field! {
    /// Where a load, store or atomic operation goes.
    pub enum Space as "space" {
        /// Any of the others, by the window that the address lies in.
        Generic = 0 "generic",
        /// Memory of the machine, allocated by the host or by the program's data.
        Global = 1 "global",
        /// Memory of the block.
        Shared = 2 "shared",
        /// Memory of the thread.
        Local = 3 "local",
        /// Data of the program that no thread may write; addresses are those of `global`.
        Const = 4 "const",
        /// Parameters of the kernel.
        Param = 5 "param",
    }
}

named_field! {
    /// What one register of a load or store holds of memory.
    pub enum Access as "access" {
        /// A byte, zero-extended.
        U8 = 0 "u8",
        /// A byte, sign-extended.
        S8 = 1 "s8",
        /// Two bytes, zero-extended.
        U16 = 2 "u16",
        /// Two bytes, sign-extended.
        S16 = 3 "s16",
        /// Four bytes.
        B32 = 4 "b32",
    }
}

impl Access {
    /// Bytes of memory.
    pub fn bytes(self) -> u32 {
        match self {
            Access::U8 | Access::S8 => 1,
            Access::U16 | Access::S16 => 2,
            Access::B32 => 4,
        }
    }
}

named_field! {
    /// What an access promises to other threads beside its value.
    pub enum Order as "order" {
        /// Nothing.
        Weak = 0 "weak",
        /// It happens as often and in the order as written.
        Volatile = 1 "volatile",
        /// It is atomic.
        Relaxed = 2 "relaxed",
        /// Later accesses of the thread come behind it.
        Acquire = 3 "acquire",
        /// Earlier accesses of the thread come before it.
        Release = 4 "release",
        /// Both.
        AcqRel = 5 "acq_rel",
    }
}

named_field! {
    /// What memory holds after an atomic operation, of what it held and the operand.
    pub enum AtomOp as "atomic operation" {
        /// Bitwise and.
        And = 0 "and",
        /// Bitwise or.
        Or = 1 "or",
        /// Bitwise exclusive or.
        Xor = 2 "xor",
        /// The operand.
        Exch = 3 "exch",
        /// Sum.
        Add = 4 "add",
        /// Plus one, zero from the operand on (unsigned).
        Inc = 5 "inc",
        /// Minus one, the operand from zero or from above the operand (unsigned).
        Dec = 6 "dec",
        /// Lesser.
        Min = 7 "min",
        /// Greater.
        Max = 8 "max",
    }
}

named_field! {
    /// What an atomic operation takes memory for. Which operations a type has:
    /// bits `and` to `exch`; unsigned also `add` to `max`; signed `add`, `min`, `max`;
    /// floats `add`, those of 16 bits `min` and `max` too.
    pub enum AtomType as "type" {
        /// 32 bits, unsigned.
        U32 = 0 "u32",
        /// 32 bits, signed.
        S32 = 1 "s32",
        /// IEEE binary32; `add` flushes subnormals in global memory.
        F32 = 2 "f32",
        /// IEEE binary16.
        F16 = 3 "f16",
        /// The upper half of a binary32.
        Bf16 = 4 "bf16",
        /// Two binary16.
        F16x2 = 5 "f16x2",
        /// Two bf16.
        Bf16x2 = 6 "bf16x2",
        /// 16 bits.
        B16 = 7 "b16",
    }
}

impl AtomType {
    /// Bytes of memory.
    pub fn bytes(self) -> u32 {
        match self {
            AtomType::F16 | AtomType::Bf16 | AtomType::B16 => 2,
            _ => 4,
        }
    }
}

named_field! {
    /// What a 64-bit atomic operation takes memory for.
    pub enum AtomWideType as "type" {
        /// 64 bits, unsigned.
        U64 = 0 "u64",
        /// 64 bits, signed.
        S64 = 1 "s64",
        /// IEEE binary64.
        F64 = 2 "f64",
    }
}

named_field! {
    /// Whose accesses a fence orders.
    pub enum Scope as "scope" {
        /// The block's.
        Cta = 0 "cta",
        /// The machine's.
        Gpu = 1 "gpu",
        /// The host's as well.
        Sys = 2 "sys",
    }
}

/// A signed number of bytes that is added to an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offset(pub i32);

impl Field for Offset {
    fn to_bits(&self) -> Option<u64> {
        Some(u64::from(self.0 as u32))
    }
    fn from_bits(bits: u64) -> Option<Self> {
        u32::try_from(bits).ok().map(|bits| Offset(bits as i32))
    }
    fn write(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "{}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        Ok(Offset(cursor.number_in("the offset", i32::MIN.into(), i32::MAX.into())? as i32))
    }
}
