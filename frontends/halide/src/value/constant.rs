//! Arithmetic of the compile-time language: C's, on `int`, `float`, `double` and `bool`.

use crate::syntax::ast::Op;
use crate::value::Value;

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An integer division by zero.
    DivisionByZero,
    /// A result outside the range of `int`.
    Overflow,
    /// A shift by a negative amount or by 32 or more.
    Shift,
    /// An operator that is not defined on floats.
    NotOnFloats,
}

/// `a op b` for two numbers.
pub(crate) fn binary(op: Op, a: &Value, b: &Value) -> Result<Value, Fault> {
    match op {
        Op::LogicalAnd => return Ok(Value::Bool(truth(a) && truth(b))),
        Op::LogicalOr => return Ok(Value::Bool(truth(a) || truth(b))),
        _ => {}
    }
    match (a, b) {
        (Value::Double(_), _) | (_, Value::Double(_)) => {
            let (a, b) = (double(a), double(b));
            Ok(match op {
                Op::Add => Value::Double(a + b),
                Op::Sub => Value::Double(a - b),
                Op::Mul => Value::Double(a * b),
                Op::Div => Value::Double(a / b),
                _ => return compare(op, a.partial_cmp(&b)),
            })
        }
        (Value::Float(_), _) | (_, Value::Float(_)) => {
            let (a, b) = (float(a), float(b));
            Ok(match op {
                Op::Add => Value::Float(a + b),
                Op::Sub => Value::Float(a - b),
                Op::Mul => Value::Float(a * b),
                Op::Div => Value::Float(a / b),
                _ => return compare(op, a.partial_cmp(&b)),
            })
        }
        _ => integers(op, integer(a), integer(b)),
    }
}

fn compare(op: Op, order: Option<std::cmp::Ordering>) -> Result<Value, Fault> {
    let is = |f: fn(std::cmp::Ordering) -> bool| Ok(Value::Bool(order.is_some_and(f)));
    match op {
        Op::Lt => is(|o| o.is_lt()),
        Op::Le => is(|o| o.is_le()),
        Op::Gt => is(|o| o.is_gt()),
        Op::Ge => is(|o| o.is_ge()),
        Op::Eq => is(|o| o.is_eq()),
        Op::Ne => Ok(Value::Bool(order.is_none_or(|o| o.is_ne()))),
        _ => Err(Fault::NotOnFloats),
    }
}

/// Whether an integer fits an `int`.
pub(crate) fn is_int(n: i64) -> bool {
    i32::try_from(n).is_ok()
}

fn integers(op: Op, a: i64, b: i64) -> Result<Value, Fault> {
    let shift = |f: fn(i64, u32) -> i64| {
        if (0..32).contains(&b) { Ok(f(a, b as u32)) } else { Err(Fault::Shift) }
    };
    if matches!(op, Op::Div | Op::Mod) && b == 0 {
        return Err(Fault::DivisionByZero);
    }
    let result = match op {
        Op::Mul => a.checked_mul(b),
        Op::Div => a.checked_div(b),
        Op::Mod => a.checked_rem(b),
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Shl => Some(shift(|a, b| a << b)?),
        Op::Shr => Some(shift(|a, b| a >> b)?),
        Op::And => Some(a & b),
        Op::Xor => Some(a ^ b),
        Op::Or => Some(a | b),
        Op::LogicalAnd | Op::LogicalOr | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => {
            return compare(op, Some(a.cmp(&b)));
        }
    };
    // Between ints the result is an int; a literal that is too large for one makes it a long.
    let long = !is_int(a) || !is_int(b);
    result.filter(|&n| long || is_int(n)).map(Value::Int).ok_or(Fault::Overflow)
}

/// A number as an integer; floats are cut off toward zero.
pub(crate) fn integer(value: &Value) -> i64 {
    match value {
        Value::Int(n) => *n,
        Value::Bool(b) => i64::from(*b),
        Value::Float(f) => *f as i64,
        Value::Double(d) => *d as i64,
        _ => 0,
    }
}

/// A number as a `float`.
pub(crate) fn float(value: &Value) -> f32 {
    match value {
        Value::Float(f) => *f,
        Value::Double(d) => *d as f32,
        other => integer(other) as f32,
    }
}

/// A number as a `double`.
pub(crate) fn double(value: &Value) -> f64 {
    match value {
        Value::Float(f) => f64::from(*f),
        Value::Double(d) => *d,
        other => integer(other) as f64,
    }
}

/// A number as a condition.
pub(crate) fn truth(value: &Value) -> bool {
    match value {
        Value::Float(f) => *f != 0.0,
        Value::Double(d) => *d != 0.0,
        other => integer(other) != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_divide_as_in_c() {
        let int = |op, a, b| binary(op, &Value::Int(a), &Value::Int(b)).map(|v| integer(&v));
        assert_eq!(int(Op::Div, -7, 2), Ok(-3));
        assert_eq!(int(Op::Mod, -7, 2), Ok(-1));
        assert_eq!(int(Op::Div, 1, 0), Err(Fault::DivisionByZero));
        assert_eq!(int(Op::Div, i64::from(i32::MIN), -1), Err(Fault::Overflow));
        assert_eq!(int(Op::Shl, 1, 32), Err(Fault::Shift));
        let float = binary(Op::Div, &Value::Float(1.0), &Value::Int(4)).unwrap();
        assert!(matches!(float, Value::Float(0.25)));
    }
}
