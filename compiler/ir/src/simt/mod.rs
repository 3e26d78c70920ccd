//! The operations of a thread of a grid that the core operations do not mean exactly: float
//! arithmetic by format with rounding, flushing and saturation; integer oddities; accesses to
//! memory that are guarded, ordered or atomic; what the threads of a warp or a block do together.
//! Their meaning is that of the PTX ISA manual, section 9.7.
//!
//! `signature` says which operands and results an operation has, `text` how it is written.

mod signature;
mod special;
mod text;
mod words;

pub use signature::Signature;
pub use special::SpecialReg;
pub use text::UnknownSimtOp;
pub use words::{
    ApproxOp, AtomOp, BarrierKind, ConvertRounding, Direction, EdgeMode, FloatFormat, FloatOp,
    FloatProperty, FloatTest, IntType, NumType, Ordering, PrmtMode, ReduxOp, Rounding, Scope,
    ShflMode, SimdOp, VoteMode, Width,
};

use crate::{Effect, Object, Space, Type};

/// Float arithmetic with one right result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FloatArith {
    /// The operation.
    pub op: FloatOp,
    /// The format of operands and result; packed formats compute both halves.
    pub format: FloatFormat,
    /// Rounding; `Rn` for operations that do not round.
    pub rounding: Rounding,
    /// Whether subnormal operands and results become zeros of their sign.
    pub ftz: bool,
    /// Whether the result is clamped to between 0 and 1, a NaN becoming 0.
    pub sat: bool,
    /// `min` and `max`: whether a NaN among the operands gives a NaN.
    pub nan: bool,
    /// `min` and `max`: of the magnitudes, with the product of the signs.
    pub xorsign_abs: bool,
    /// `fma`: whether negative results become zero (a NaN stays one).
    pub relu: bool,
}

impl FloatArith {
    /// The operation without modifiers, rounded to nearest.
    pub fn new(op: FloatOp, format: FloatFormat) -> FloatArith {
        let (ftz, sat, nan, xorsign_abs, relu) = (false, false, false, false, false);
        FloatArith { op, format, rounding: Rounding::Rn, ftz, sat, nan, xorsign_abs, relu }
    }
}

/// A conversion. Packed destinations take two operands: the upper half, then the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conversion {
    /// The type of the result.
    pub dst: NumType,
    /// The type of the operand, or operands.
    pub src: NumType,
    /// Rounding. Those to integers keep a float where the destination is one.
    pub rounding: ConvertRounding,
    /// Whether subnormal `f32` operands and results become zeros of their sign.
    pub ftz: bool,
    /// Whether integers are clamped to the range of the destination, floats to between 0 and 1.
    /// (Floats that become integers are always clamped.)
    pub sat: bool,
    /// Whether negative results become zero.
    pub relu: bool,
}

/// A float comparison; packed formats have two results, the first for the low halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FloatCompare {
    /// The condition.
    pub test: FloatTest,
    /// The format of both operands.
    pub format: FloatFormat,
    /// Whether subnormal operands count as zeros.
    pub ftz: bool,
}

/// An operation on 2 or 4 integers in a register. Operands: a, b, c.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Simd {
    /// The operation.
    pub op: SimdOp,
    /// 2 or 4.
    pub lanes: u8,
    /// Whether the lanes of the result are signed.
    pub dst_signed: bool,
    /// Whether the lanes of a are signed.
    pub a_signed: bool,
    /// Whether the lanes of b are signed.
    pub b_signed: bool,
    /// Whether lanes are clamped to their range.
    pub sat: bool,
    /// Whether the result is the sum of the lanes and c.
    pub add: bool,
    /// Which lanes are computed, bit 0 for the least: others are those of c, or not summed.
    pub mask: u8,
}

/// A load or store that `LoadRaw` and `StoreRaw` do not mean. Operands of a load: the address, and
/// with a guard the guard (`i1`) and the value where it is false. Operands of a store: the address,
/// the value, and with a guard the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// What is loaded or stored.
    pub ty: Type,
    /// The space that the address belongs to.
    pub space: Space,
    /// Bytes added to the address.
    pub offset: i64,
    /// What it promises to other threads.
    pub ordering: Ordering,
    /// Whether it happens only where a guard is true.
    pub guarded: bool,
}

/// An atomic operation. Operands: the address, the operand (two for `cas`: the value compared with,
/// the new one), and with a guard the guard (`i1`) and, where there is a result, the value where it
/// is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atomic {
    /// The operation.
    pub op: AtomOp,
    /// The type in memory.
    pub ty: NumType,
    /// The space that the address belongs to.
    pub space: Space,
    /// Bytes added to the address.
    pub offset: i64,
    /// Whether it happens only where a guard is true.
    pub guarded: bool,
}

/// A barrier of a block. Operands: its number (`i32`), the number of threads that take part
/// (`i32`) where `counted`, the predicate (`i1`) of reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Barrier {
    /// What it does.
    pub kind: BarrierKind,
    /// Whether all threads of a warp execute it together.
    pub aligned: bool,
    /// Whether the number of threads is given; else all threads of the block take part.
    pub counted: bool,
}

/// An operation of a thread of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimtOp {
    /// Float arithmetic with one right result.
    Float(FloatArith),
    /// Float arithmetic within an error bound; the flag flushes subnormals.
    Approx(ApproxOp, FloatFormat, bool),
    /// A conversion.
    Convert(Conversion),
    /// A float comparison: `i1`.
    Compare(FloatCompare),
    /// The second operand with the sign of the first.
    Copysign(FloatFormat),
    /// A property of a float: `i1`.
    Testp(FloatProperty, FloatFormat),
    /// The upper half of a product.
    MulHigh(IntType),
    /// Quotient. By zero it is all ones; the least by -1 is itself.
    IntDiv(IntType),
    /// Remainder. By zero it is all ones; of the least by -1 it is zero.
    IntRem(IntType),
    /// Signed 32-bit sum, clamped.
    AddSat,
    /// Signed 32-bit difference, clamped.
    SubSat,
    /// The upper half of a signed 32-bit product plus the third operand, clamped.
    MadHighSat,
    /// How many bits are set: `i32`.
    Popc(Width),
    /// How many zeros are above the highest set bit: `i32`.
    Clz(Width),
    /// Position of the highest bit that differs from the sign (that is set, unsigned), all ones
    /// where there is none: `i32`. With the flag, the shift that would bring it to the top.
    Bfind(IntType, bool),
    /// Bits in reverse order.
    Brev(Width),
    /// Position of the n-th set bit. Operands: mask, base, offset.
    Fns,
    /// Extracts a bit field. Operands: value, position, length.
    Bfe(IntType),
    /// Inserts a bit field. Operands: the field, the value it goes into, position, length.
    Bfi(Width),
    /// A mask of bits. Operands: position, length.
    Bmsk(EdgeMode),
    /// Extends the low bits, with the sign where the flag says so. Operands: value, length.
    Szext(bool, EdgeMode),
    /// Picks bytes. Operands: a, b, selector.
    Prmt(PrmtMode),
    /// The function of three bits with this truth table, bit by bit.
    Lop3(u8),
    /// Shifts a double register. Operands: low half, high half, amount.
    Shf(Direction, EdgeMode),
    /// Dot product of 4 bytes each plus the third operand; whether a and b are signed.
    Dp4a(bool, bool),
    /// Dot product of 2 halves of a and 2 bytes of b plus the third operand; whether a and b are
    /// signed, and whether the upper bytes of b are taken.
    Dp2a(bool, bool, bool),
    /// An operation on 2 or 4 integers in a register.
    Simd(Simd),

    /// A special register.
    Special(SpecialReg),
    /// A load that is guarded or ordered.
    Load(Access),
    /// A store that is guarded or ordered.
    Store(Access),
    /// An atomic operation; the result is what memory held before.
    Atom(Atomic),
    /// An atomic operation without a result.
    Red(Atomic),
    /// A value of another lane, and whether that lane was in range. Operands: value, lane operand,
    /// clamp and segment mask (all `i32`), and the mask of lanes unless it is the old form (flag).
    Shfl(ShflMode, bool),
    /// A vote. Operands: predicate (`i1`), and the mask of lanes unless it is the old form (flag).
    Vote(VoteMode, bool),
    /// The lanes with the same value; with the flag, all lanes or none, and whether (`i1`).
    /// Operands: value, mask of lanes.
    Match(bool, Width),
    /// A reduction over lanes. Operands: value, mask of lanes.
    Redux(ReduxOp, IntType),
    /// The mask of the lanes that execute it.
    Activemask,
    /// A barrier of the block.
    Barrier(Barrier),
    /// A barrier of the lanes of a mask (the operand).
    WarpBarrier,
    /// Orders accesses of the thread before those behind it.
    Fence(Scope),
    /// The generic address of an address of a space.
    ToGeneric(Space),
    /// The address in a space of a generic address.
    FromGeneric(Space),
    /// Whether a generic address points to a space: `i1`.
    IsSpace(Space),
    /// The address of a data object in its own space.
    Address(Object),
    /// Prints. Operands: generic addresses of the format and of the arguments; gives `i32`.
    Vprintf,
    /// Ends the run with an assertion. Operands: generic addresses of message and file, line
    /// (`i32`), generic address of the function, size of a character.
    AssertFail,
    /// Waits about that many nanoseconds.
    Nanosleep,
    /// A breakpoint: stops the run with a message.
    Brkpt,
}

impl SimtOp {
    /// What it does beside its results. What threads do together counts as a write: it stays where
    /// it stands.
    pub fn effect(&self) -> Effect {
        use SimtOp::*;
        match self {
            Float(_) | Approx(..) | Convert(_) | Compare(_) | Copysign(_) | Testp(..)
            | MulHigh(_) | IntDiv(_) | IntRem(_) | AddSat | SubSat | MadHighSat | Popc(_)
            | Clz(_) | Bfind(..) | Brev(_) | Fns | Bfe(_) | Bfi(_) | Bmsk(_) | Szext(..)
            | Prmt(_) | Lop3(_) | Shf(..) | Dp4a(..) | Dp2a(..) | Simd(_) | ToGeneric(_)
            | FromGeneric(_) | IsSpace(_) | Address(_) => Effect::Pure,
            Special(reg) if !reg.is_volatile() => Effect::Pure,
            Load(access) if access.ordering == Ordering::Weak => Effect::Read,
            Special(_) | Load(_) | Store(_) | Atom(_) | Red(_) | Shfl(..) | Vote(..)
            | Match(..) | Redux(..) | Activemask | Barrier(_) | WarpBarrier | Fence(_)
            | Vprintf | AssertFail | Nanosleep | Brkpt => Effect::Write,
        }
    }

    /// Whether it is a function of its operands alone, the same in every thread.
    pub fn is_arithmetic(&self) -> bool {
        use SimtOp::*;
        self.effect() == Effect::Pure
            && !matches!(self, Special(_) | ToGeneric(_) | FromGeneric(_) | IsSpace(_) | Address(_))
    }
}
