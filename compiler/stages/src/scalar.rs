//! What each operation computes, on single elements.
//!
//! An element is one 32-bit word: integers sign- or zero-extended from their type, Bool as 0 or 1,
//! floats as their bits. The semantics are those of Halide under `StrictFloat` (`IROperator.h` and
//! the simplifier's rules for division): the interpreter and constant folding both use them.

use crate::{BinaryOp, CompareOp, ElementType, Intrinsic, Literal, UnaryOp};

/// The low bits of `word` as an element of `ty`, extended to a word again.
pub fn normalize(ty: ElementType, word: u32) -> u32 {
    match ty {
        ElementType::Bool => word & 1,
        ElementType::U8 => word as u8 as u32,
        ElementType::U16 => word as u16 as u32,
        ElementType::I8 => word as i8 as i32 as u32,
        ElementType::I16 => word as i16 as i32 as u32,
        ElementType::U32 | ElementType::I32 | ElementType::F32 => word,
    }
}

/// The word of a literal of type `ty`.
pub fn literal_word(ty: ElementType, literal: Literal) -> u32 {
    match literal {
        Literal::Int(value) => normalize(ty, value as u32),
        Literal::Float(bits) => bits,
    }
}

/// The literal that a word of type `ty` stands for.
pub fn word_literal(ty: ElementType, word: u32) -> Literal {
    if ty.is_float() { Literal::Float(word) } else { Literal::Int(to_i64(ty, word)) }
}

/// The value of a word of an integer type.
pub fn to_i64(ty: ElementType, word: u32) -> i64 {
    if ty.is_signed() { word as i32 as i64 } else { word as i64 }
}

/// Euclidean quotient; by zero it is zero, and `i32::MIN / -1` is `i32::MIN`.
#[inline]
pub fn div_signed(a: i32, b: i32) -> i32 {
    if b == 0 { 0 } else { a.wrapping_div_euclid(b) }
}

/// Euclidean remainder, never negative; by zero it is zero.
#[inline]
pub fn mod_signed(a: i32, b: i32) -> i32 {
    if b == 0 { 0 } else { a.wrapping_rem_euclid(b) }
}

/// Quotient toward zero; by zero it is zero.
#[inline]
pub fn div_unsigned(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(0)
}

/// Remainder; by zero it is zero.
#[inline]
pub fn mod_unsigned(a: u32, b: u32) -> u32 {
    a.checked_rem(b).unwrap_or(0)
}

/// `a` where it is less, else `b`: of two zeros the second, and the second where one is no number.
#[inline]
pub fn min_float(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// `a` where it is greater, else `b`: of two zeros the second, and the second where one is no
/// number.
#[inline]
pub fn max_float(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `word`, an element of `ty`, shifted left by `amount`, or right by a negative one. As if the
/// element stood in an endless row of bits: a shift by the width or more leaves zeros or signs.
#[inline]
pub fn shift_left(ty: ElementType, word: u32, amount: i64) -> u32 {
    if amount < 0 {
        return shift_right(ty, word, -amount);
    }
    if amount >= 32 { 0 } else { normalize(ty, word << amount) }
}

/// `word`, an element of `ty`, shifted right by `amount` (arithmetic where `ty` is signed), or
/// left by a negative one.
#[inline]
pub fn shift_right(ty: ElementType, word: u32, amount: i64) -> u32 {
    if amount < 0 {
        return shift_left(ty, word, -amount);
    }
    if ty.is_signed() {
        ((word as i32) >> amount.min(31)) as u32
    } else if amount >= 32 {
        0
    } else {
        word >> amount
    }
}

/// One operand of type `from`, result of type `ty`.
pub fn unary(op: UnaryOp, ty: ElementType, from: ElementType, a: u32) -> u32 {
    match op {
        // Halide negates by subtracting from zero, so that no zero becomes negative.
        UnaryOp::Neg if ty.is_float() => (0.0 - f32::from_bits(a)).to_bits(),
        UnaryOp::Neg => normalize(ty, a.wrapping_neg()),
        UnaryOp::Not => normalize(ElementType::Bool, a ^ 1),
        UnaryOp::BitNot => normalize(ty, !a),
        UnaryOp::Abs if from.is_float() => f32::from_bits(a).abs().to_bits(),
        UnaryOp::Abs if from.is_signed() => normalize(ty, (a as i32).unsigned_abs()),
        UnaryOp::Abs => a,
    }
}

/// Two operands of type `ty`; the second of a shift has type `amount`.
pub fn binary(op: BinaryOp, ty: ElementType, amount: ElementType, a: u32, b: u32) -> u32 {
    if ty.is_float() {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let value = match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x * y,
            BinaryOp::Div => x / y,
            // x - y * floor(x / y), as Halide expands it.
            BinaryOp::Mod => x - y * (x / y).floor(),
            BinaryOp::Min => min_float(x, y),
            BinaryOp::Max => max_float(x, y),
            BinaryOp::And => return a & b,
            BinaryOp::Or => return a | b,
            BinaryOp::Xor => return a ^ b,
            BinaryOp::Shl | BinaryOp::Shr => panic!("a float cannot be shifted"),
        };
        return value.to_bits();
    }
    let signed = ty.is_signed();
    let word = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div if signed => div_signed(a as i32, b as i32) as u32,
        BinaryOp::Div => div_unsigned(a, b),
        BinaryOp::Mod if signed => mod_signed(a as i32, b as i32) as u32,
        BinaryOp::Mod => mod_unsigned(a, b),
        BinaryOp::Min if signed => (a as i32).min(b as i32) as u32,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max if signed => (a as i32).max(b as i32) as u32,
        BinaryOp::Max => a.max(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => shift_left(ty, a, to_i64(amount, b)),
        BinaryOp::Shr => shift_right(ty, a, to_i64(amount, b)),
    };
    normalize(ty, word)
}

/// Compares two elements of type `ty`. As in Halide `a <= b` is the opposite of `b < a`, also where
/// one is no number: it holds then.
pub fn compare(op: CompareOp, ty: ElementType, a: u32, b: u32) -> bool {
    fn of<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
        let (less, greater) = (a < b, a > b);
        match op {
            CompareOp::Eq => a == b,
            CompareOp::Ne => a != b,
            CompareOp::Lt => less,
            CompareOp::Le => !greater,
            CompareOp::Gt => greater,
            CompareOp::Ge => !less,
        }
    }
    if ty.is_float() {
        of(op, f32::from_bits(a), f32::from_bits(b))
    } else if ty.is_signed() {
        of(op, a as i32, b as i32)
    } else {
        of(op, a, b)
    }
}

/// Converts an element. A float is cut off toward zero. It becomes an `I32` first, the least one
/// where it is out of range or no number, of which narrower types keep the low bits; as a `U32` it
/// wraps, and what is not finite is 0. This is what Halide's code for x86-64 without vectors does.
/// Bool is an unsigned integer of one bit: a conversion keeps the lowest bit.
#[inline]
pub fn cast(to: ElementType, from: ElementType, word: u32) -> u32 {
    if to == from {
        return word;
    }
    if from.is_float() {
        let value = f32::from_bits(word);
        return match to {
            ElementType::F32 => word,
            // The remainder of what is not finite is no number, which becomes 0.
            ElementType::U32 => (f64::from(value) % 4294967296.0) as i64 as u32,
            _ if (-2147483648.0..2147483648.0).contains(&value) => {
                normalize(to, value as i32 as u32)
            }
            _ => normalize(to, i32::MIN as u32),
        };
    }
    match to {
        ElementType::F32 if from.is_signed() => (word as i32 as f32).to_bits(),
        ElementType::F32 => (word as f32).to_bits(),
        _ => normalize(to, word),
    }
}

/// A function of one or two floats. Transcendental functions are computed in 64 bits and rounded
/// once; the `fast_` ones as their exact counterparts.
pub fn intrinsic(op: Intrinsic, a: f32, b: f32) -> f32 {
    let (x, y) = (f64::from(a), f64::from(b));
    let wide = match op {
        Intrinsic::Floor => return a.floor(),
        Intrinsic::Ceil => return a.ceil(),
        Intrinsic::Round => return a.round_ties_even(),
        Intrinsic::Trunc => return a.trunc(),
        Intrinsic::Sqrt => return a.sqrt(),
        Intrinsic::FastInverse => return 1.0 / a,
        Intrinsic::FastInverseSqrt => return 1.0 / a.sqrt(),
        Intrinsic::Exp | Intrinsic::FastExp => x.exp(),
        Intrinsic::Log | Intrinsic::FastLog => x.ln(),
        Intrinsic::Pow | Intrinsic::FastPow => x.powf(y),
        Intrinsic::Sin => x.sin(),
        Intrinsic::Cos => x.cos(),
        Intrinsic::Tan => x.tan(),
        Intrinsic::Asin => x.asin(),
        Intrinsic::Acos => x.acos(),
        Intrinsic::Atan => x.atan(),
        Intrinsic::Atan2 => x.atan2(y),
        Intrinsic::Sinh => x.sinh(),
        Intrinsic::Cosh => x.cosh(),
        Intrinsic::Tanh => x.tanh(),
    };
    wide as f32
}

/// How many operands a function takes.
pub fn intrinsic_arity(op: Intrinsic) -> usize {
    match op {
        Intrinsic::Pow | Intrinsic::FastPow | Intrinsic::Atan2 => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_division_is_euclidean_and_total() {
        let i32s = |op, a: i32, b: i32| {
            binary(op, ElementType::I32, ElementType::I32, a as u32, b as u32) as i32
        };
        let rows = [
            (-7, 2, -4, 1),
            (-7, -2, 4, 1),
            (7, -2, -3, 1),
            (7, 2, 3, 1),
            (i32::MIN, -1, i32::MIN, 0),
            (5, 0, 0, 0),
            (-8, -3, 3, 1),
        ];
        for (a, b, quotient, remainder) in rows {
            assert_eq!(i32s(BinaryOp::Div, a, b), quotient, "{a} / {b}");
            assert_eq!(i32s(BinaryOp::Mod, a, b), remainder, "{a} % {b}");
        }
    }

    #[test]
    fn narrow_integers_wrap() {
        let minus_one = normalize(ElementType::I8, 0xff);
        assert_eq!(minus_one, u32::MAX);
        assert_eq!(unary(UnaryOp::Abs, ElementType::U8, ElementType::I8, -128i32 as u32), 128);
        assert_eq!(binary(BinaryOp::Add, ElementType::U8, ElementType::U8, 200, 100), 44);
        assert_eq!(
            binary(BinaryOp::Div, ElementType::I8, ElementType::I8, -128i32 as u32, minus_one),
            -128i32 as u32
        );
    }

    #[test]
    fn shifts_reverse_and_run_out() {
        let shift = |op, a: i32, b: i32| {
            binary(op, ElementType::I32, ElementType::I32, a as u32, b as u32) as i32
        };
        assert_eq!(shift(BinaryOp::Shl, -7, 2), -28);
        assert_eq!(shift(BinaryOp::Shl, -7, -2), -2);
        assert_eq!(shift(BinaryOp::Shr, 7, -2), 28);
        assert_eq!(shift(BinaryOp::Shr, -7, 40), -1);
        assert_eq!(shift(BinaryOp::Shl, 1, 40), 0);
    }

    #[test]
    fn floats_out_of_range_become_what_x86_gives() {
        use ElementType::{Bool, F32, I8, I16, I32, U8, U16, U32};
        let least = i32::MIN as u32;
        for (x, wide, unsigned) in [
            (2147483520.0f32, 2147483520, 2147483520),
            (2147483648.0, least, least),
            (3e9, least, 3_000_000_000),
            (-3e9, least, 1_294_967_296),
            (5e9, least, 705_032_704),
            (-1.5, u32::MAX, u32::MAX),
            (-0.5, 0, 0),
            (1e30, least, 0),
            (f32::INFINITY, least, 0),
            (f32::NAN, least, 0),
        ] {
            let cast = |to| cast(to, F32, x.to_bits());
            assert_eq!(cast(I32), wide, "{x}");
            assert_eq!(cast(U32), unsigned, "{x}");
            for narrow in [I8, I16, U8, U16, Bool] {
                assert_eq!(cast(narrow), normalize(narrow, wide), "{x} as {narrow}");
            }
        }
    }

    #[test]
    fn comparisons_with_nan_follow_halide() {
        let nan = f32::NAN.to_bits();
        let holds = |op| compare(op, ElementType::F32, nan, 0);
        for op in [CompareOp::Le, CompareOp::Ge, CompareOp::Ne] {
            assert!(holds(op));
        }
        for op in [CompareOp::Lt, CompareOp::Gt, CompareOp::Eq] {
            assert!(!holds(op));
        }
    }

    #[test]
    fn signs_of_zero_follow_halide() {
        let neg = |x: f32| unary(UnaryOp::Neg, ElementType::F32, ElementType::F32, x.to_bits());
        assert_eq!(neg(0.0), 0);
        assert_eq!(neg(-0.0), 0);
        assert_eq!(min_float(0.0, -0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(max_float(-0.0, 0.0).to_bits(), 0);
    }
}
