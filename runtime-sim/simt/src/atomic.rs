//! What an atomic operation leaves in memory (PTX ISA, section 9.7.13.5, `atom`).

use crate::float::binary;
use crate::format::{Format, Rounding};
use crate::operation::{Binary, Mode};

/// Atomic operations without comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The operand.
    Exchange,
    /// Sum.
    Add,
    /// Plus one, zero from the operand on (unsigned).
    Increment,
    /// Minus one, the operand from zero or from above the operand (unsigned).
    Decrement,
    /// Lesser.
    Min,
    /// Greater.
    Max,
}

/// What memory is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// An unsigned integer.
    Unsigned {
        /// 16, 32 or 64.
        bits: u32,
    },
    /// A signed integer.
    Signed {
        /// 32 or 64.
        bits: u32,
    },
    /// A float.
    Float(Format),
    /// Two floats of 16 bits.
    Packed(Format),
}

/// The new contents of memory that held `old`. With `flush` subnormal binary32 become zeros.
pub fn apply(operation: Operation, ty: Type, flush: bool, old: u64, operand: u64) -> u64 {
    match ty {
        Type::Unsigned { bits } => {
            let mask = u64::MAX >> (64 - bits);
            mask & match operation {
                Operation::And => old & operand,
                Operation::Or => old | operand,
                Operation::Xor => old ^ operand,
                Operation::Exchange => operand,
                Operation::Add => old.wrapping_add(operand),
                Operation::Increment => {
                    if old >= operand {
                        0
                    } else {
                        old + 1
                    }
                }
                Operation::Decrement => {
                    if old == 0 || old > operand {
                        operand
                    } else {
                        old - 1
                    }
                }
                Operation::Min => old.min(operand),
                Operation::Max => old.max(operand),
            }
        }
        Type::Signed { bits } => {
            let up = 64 - bits;
            let signed = |x: u64| (x << up) as i64 >> up;
            match operation {
                Operation::Min if signed(operand) < signed(old) => operand,
                Operation::Max if signed(operand) > signed(old) => operand,
                Operation::Min | Operation::Max => old,
                _ => apply(operation, Type::Unsigned { bits }, flush, old, operand),
            }
        }
        Type::Float(format) => {
            let op = match operation {
                Operation::Add => Binary::Add,
                Operation::Min => Binary::Min,
                Operation::Max => Binary::Max,
                _ => {
                    let bits = match format {
                        Format::F64 => 64,
                        Format::F16 | Format::Bf16 => 16,
                        Format::F32 | Format::Tf32 => 32,
                    };
                    return apply(operation, Type::Unsigned { bits }, flush, old, operand);
                }
            };
            let mode = Mode { ftz: flush, ..Mode::plain(Rounding::Nearest) };
            binary(format, op, mode, old, operand)
        }
        Type::Packed(format) => {
            let half = |shift: u32| {
                let (a, b) = (old >> shift & 0xffff, operand >> shift & 0xffff);
                apply(operation, Type::Float(format), flush, a, b) << shift
            };
            half(0) | half(16)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const U32: Type = Type::Unsigned { bits: 32 };

    #[test]
    fn integers() {
        let run = |op, ty, old, operand| apply(op, ty, false, old, operand);
        assert_eq!(run(Operation::Add, U32, 0xffff_ffff, 2), 1);
        assert_eq!(run(Operation::Increment, U32, 5, 5), 0);
        assert_eq!(run(Operation::Increment, U32, 4, 5), 5);
        assert_eq!(run(Operation::Decrement, U32, 0, 5), 5);
        assert_eq!(run(Operation::Decrement, U32, 6, 5), 5);
        assert_eq!(run(Operation::Decrement, U32, 5, 5), 4);
        let s32 = Type::Signed { bits: 32 };
        assert_eq!(run(Operation::Min, s32, 1, 0xffff_ffff), 0xffff_ffff);
        assert_eq!(run(Operation::Max, s32, 1, 0xffff_ffff), 1);
        assert_eq!(run(Operation::Min, U32, 1, 0xffff_ffff), 1);
    }

    #[test]
    fn floats() {
        let f32 = Type::Float(Format::F32);
        assert_eq!(apply(Operation::Add, f32, false, 1, 1), 2);
        assert_eq!(apply(Operation::Add, f32, true, 1, 1), 0);
        let pair = Type::Packed(Format::F16);
        assert_eq!(apply(Operation::Add, pair, false, 0x3c00_4000, 0x3c00_3c00), 0x4000_4200);
        assert_eq!(apply(Operation::Exchange, f32, true, 7, 1), 1);
    }
}
