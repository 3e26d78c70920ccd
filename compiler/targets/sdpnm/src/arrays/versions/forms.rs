//! Forms over values, and words, as the core computes them in front of a loop.

use nbcc_analysis::Affine;
use nbcc_ir::{Builder, ConvertOp, IntCond, Op, Scalar, Type, Value};

/// A form in 64 bits, which none of its values leaves, if each of them is a word.
pub fn long_form(b: &mut Builder<'_>, form: &Affine, conditions: &mut Vec<Value>) -> Value {
    let mut sum = b.constant(Type::I64, i64::from(form.constant) as u64);
    for &(value, factor) in &form.terms {
        let long = match b.func.ty(value) {
            Type::I64 => {
                conditions.push(is_word(b, value));
                value
            }
            _ => {
                let word = word(b, value);
                b.convert(ConvertOp::SignExtend, word, Type::I64)
            }
        };
        let factor = b.constant(Type::I64, i64::from(factor) as u64);
        let term = b.imul(long, factor);
        sum = b.iadd(sum, term);
    }
    sum
}

/// Whether a value of 64 bits is a word with its sign.
pub fn is_word(b: &mut Builder<'_>, value: Value) -> Value {
    let word = b.convert(ConvertOp::Truncate, value, Type::I32);
    let long = b.convert(ConvertOp::SignExtend, word, Type::I64);
    b.value(Op::Icmp(IntCond::Eq, value, long))
}

/// A form as a value.
pub fn form(b: &mut Builder<'_>, form: &Affine) -> Value {
    let mut sum = None;
    for &(value, factor) in &form.terms {
        let word = word(b, value);
        let term = b.imul_imm(word, factor);
        sum = Some(match sum {
            None => term,
            Some(sum) => b.iadd(sum, term),
        });
    }
    match sum {
        None => b.i32(form.constant),
        Some(sum) => b.iadd_imm(sum, form.constant),
    }
}

/// A value as a word with its sign above it; of 64 bits the low word.
pub fn word(b: &mut Builder<'_>, value: Value) -> Value {
    match b.func.ty(value).scalar {
        Scalar::I32 => value,
        Scalar::I64 => b.convert(ConvertOp::Truncate, value, Type::I32),
        Scalar::I1 => b.convert(ConvertOp::ZeroExtend, value, Type::I32),
        _ => b.convert(ConvertOp::SignExtend, value, Type::I32),
    }
}
