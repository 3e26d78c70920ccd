//! Float arithmetic, comparisons and properties of the grid operations, on bits of one format.

use std::cmp::Ordering;

use nbcc_ir::{ApproxOp, FloatArith, FloatFormat, FloatOp, FloatProperty, FloatTest, Rounding};

use super::exact::{
    Exact, Layout, Mode, Number, layout, product, quotient, round, square_root, sum, unpack,
};

/// One result of an arithmetic operation on operands of a format that is not packed.
pub(super) fn arithmetic(arith: &FloatArith, format: FloatFormat, args: [u64; 3]) -> u64 {
    let layout = layout(format);
    let args = if arith.ftz { args.map(|bits| layout.flush(bits)) } else { args };
    let bits = match arith.op {
        FloatOp::Abs => return args[0] & !layout.sign(),
        FloatOp::Neg => return args[0] ^ layout.sign(),
        FloatOp::Min | FloatOp::Max => return extremum(arith, layout, args[0], args[1]),
        op => compute(op, layout, arith, args),
    };
    finish(layout, bits, arith.ftz, arith.sat, arith.relu)
}

/// What comes behind rounding.
pub(super) fn finish(layout: Layout, bits: u64, ftz: bool, sat: bool, relu: bool) -> u64 {
    let bits = if ftz { layout.flush(bits) } else { bits };
    let negative = bits & layout.sign() != 0;
    if layout.is_nan(bits) {
        if sat { 0 } else { layout.nan }
    } else if negative && (sat || relu) {
        0
    } else if sat {
        bits.min(layout.one())
    } else {
        bits
    }
}

fn compute(op: FloatOp, layout: Layout, arith: &FloatArith, args: [u64; 3]) -> u64 {
    let [a, b, c] = args.map(|bits| unpack(layout, bits));
    let negate = |x: Number| match x {
        Number::Infinite(negative) => Number::Infinite(!negative),
        Number::Finite(x) => Number::Finite(Exact { negative: !x.negative, ..x }),
        Number::Nan => Number::Nan,
    };
    let one = Number::Finite(Exact { negative: false, mantissa: 1, exponent: 0 });
    let down = arith.rounding == Rounding::Rm;
    let result = match op {
        FloatOp::Add => add(a, b, down),
        FloatOp::Sub => add(a, negate(b), down),
        FloatOp::Mul => multiply(a, b),
        FloatOp::Fma => add(multiply(a, b), c, down),
        FloatOp::Div => divide(a, b),
        FloatOp::Rcp => divide(one, a),
        FloatOp::Sqrt => match a {
            Number::Finite(x) if x.negative && x.mantissa != 0 => Number::Nan,
            Number::Finite(x) => Number::Finite(square_root(x)),
            Number::Infinite(false) => a,
            Number::Infinite(true) | Number::Nan => Number::Nan,
        },
        FloatOp::Min | FloatOp::Max | FloatOp::Abs | FloatOp::Neg => {
            unreachable!("{op:?} does not round")
        }
    };
    pack(layout, Mode::Directed(arith.rounding), arith.ftz, result)
}

/// The bits of a number in a format. What is flushed is what NVIDIA's devices flush: a number that is less
/// than the least normal one once it is rounded as if exponents went on below that.
pub(super) fn pack(layout: Layout, mode: Mode, ftz: bool, x: Number) -> u64 {
    match x {
        Number::Nan => layout.nan,
        Number::Infinite(negative) => layout.infinity() | if negative { layout.sign() } else { 0 },
        Number::Finite(x) if ftz && is_tiny(layout, mode, x) => {
            if x.negative {
                layout.sign()
            } else {
                0
            }
        }
        Number::Finite(x) => round(layout, mode, x),
    }
}

/// Whether a number is less than the least normal one once it has the precision of a normal one.
fn is_tiny(layout: Layout, mode: Mode, x: Exact) -> bool {
    // Doubled, it is rounded at the place where its last bit would be.
    let doubled = round(layout, mode, Exact { exponent: x.exponent + 1, ..x });
    doubled & !layout.sign() < 2 << (layout.precision - 1)
}

fn add(a: Number, b: Number, down: bool) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(x), Number::Infinite(y)) if x != y => Number::Nan,
        (Number::Infinite(_), _) => a,
        (_, Number::Infinite(_)) => b,
        (Number::Finite(x), Number::Finite(y)) => Number::Finite(sum(x, y, down)),
    }
}

fn multiply(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Finite(x), Number::Finite(y)) => Number::Finite(product(x, y)),
        (Number::Infinite(x), Number::Infinite(y)) => Number::Infinite(x != y),
        (Number::Infinite(sign), Number::Finite(x))
        | (Number::Finite(x), Number::Infinite(sign)) => match x.mantissa {
            0 => Number::Nan,
            _ => Number::Infinite(sign != x.negative),
        },
    }
}

fn divide(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) | (Number::Infinite(_), Number::Infinite(_)) => {
            Number::Nan
        }
        (Number::Infinite(sign), Number::Finite(y)) => Number::Infinite(sign != y.negative),
        (Number::Finite(x), Number::Infinite(sign)) => {
            Number::Finite(Exact { negative: x.negative != sign, mantissa: 0, exponent: 0 })
        }
        (Number::Finite(x), Number::Finite(y)) => match (x.mantissa, y.mantissa) {
            (0, 0) => Number::Nan,
            (_, 0) => Number::Infinite(x.negative != y.negative),
            _ => Number::Finite(quotient(x, y)),
        },
    }
}

/// Integers in the order of the floats, -0 before +0.
fn order(layout: Layout, bits: u64) -> i128 {
    let magnitude = i128::from(bits & !layout.sign());
    if bits & layout.sign() != 0 { -1 - magnitude } else { magnitude }
}

fn extremum(arith: &FloatArith, layout: Layout, a: u64, b: u64) -> u64 {
    let (a_nan, b_nan) = (layout.is_nan(a), layout.is_nan(b));
    if (a_nan && b_nan) || (arith.nan && (a_nan || b_nan)) {
        return layout.nan;
    }
    let sign = (a ^ b) & layout.sign();
    let (x, y) = if arith.xorsign_abs { (a & !layout.sign(), b & !layout.sign()) } else { (a, b) };
    let second = match (a_nan, b_nan) {
        (true, _) => true,
        (_, true) => false,
        _ if arith.op == FloatOp::Min => order(layout, y) < order(layout, x),
        _ => order(layout, y) > order(layout, x),
    };
    let chosen = if second { y } else { x };
    if arith.xorsign_abs { chosen | sign } else { chosen }
}

/// An operation that may be approximate: the right result of binary64, rounded to nearest.
pub(super) fn approximate(op: ApproxOp, format: FloatFormat, ftz: bool, args: [u64; 2]) -> u64 {
    let target = layout(format);
    let wide = layout(FloatFormat::F64);
    if format == FloatFormat::F64 {
        // With `.ftz` only the upper half of operand and result takes part.
        let part = |bits: u64| if ftz { target.flush(bits) >> 32 << 32 } else { bits };
        let x = f64::from_bits(part(args[0]));
        let y = if op == ApproxOp::Rcp { 1.0 / x } else { 1.0 / x.sqrt() };
        return if y.is_nan() { target.nan } else { part(y.to_bits()) };
    }
    let args = if ftz { args.map(|bits| target.flush(bits)) } else { args };
    let [x, y] = args.map(|bits| {
        f64::from_bits(pack(wide, Mode::Directed(Rounding::Rn), false, unpack(target, bits)))
    });
    let result = match op {
        // Beyond 2^126 the reciprocal that the hardware multiplies with is flushed.
        ApproxOp::Div if y.abs() > f64::from_bits((1023 + 126) << 52) && y.is_finite() => {
            x * 0f64.copysign(y)
        }
        ApproxOp::Div | ApproxOp::DivFull => x / y,
        ApproxOp::Rcp => 1.0 / x,
        ApproxOp::Sqrt => x.sqrt(),
        ApproxOp::Rsqrt => 1.0 / x.sqrt(),
        ApproxOp::Sin => x.sin(),
        ApproxOp::Cos => x.cos(),
        ApproxOp::Lg2 => x.log2(),
        ApproxOp::Ex2 => x.exp2(),
        ApproxOp::Tanh => x.tanh(),
    };
    let rounded = pack(target, Mode::Directed(Rounding::Rn), false, unpack(wide, result.to_bits()));
    finish(target, rounded, ftz, false, false)
}

/// A comparison.
pub(super) fn compare(test: FloatTest, format: FloatFormat, ftz: bool, a: u64, b: u64) -> bool {
    use FloatTest::*;
    let layout = layout(format);
    let [a, b] = if ftz { [layout.flush(a), layout.flush(b)] } else { [a, b] };
    let unordered = layout.is_nan(a) || layout.is_nan(b);
    let zeros = (a | b) & !layout.sign() == 0;
    let order = if zeros { Ordering::Equal } else { order(layout, a).cmp(&order(layout, b)) };
    match test {
        Num => !unordered,
        Nan => unordered,
        Equ | Neu | Ltu | Leu | Gtu | Geu if unordered => true,
        _ if unordered => false,
        Eq | Equ => order.is_eq(),
        Ne | Neu => order.is_ne(),
        Lt | Ltu => order.is_lt(),
        Le | Leu => order.is_le(),
        Gt | Gtu => order.is_gt(),
        Ge | Geu => order.is_ge(),
    }
}

/// Whether a float has a property.
pub(super) fn property(property: FloatProperty, format: FloatFormat, bits: u64) -> bool {
    let layout = layout(format);
    let magnitude = bits & !layout.sign();
    match property {
        FloatProperty::Finite => magnitude < layout.infinity(),
        FloatProperty::Infinite => magnitude == layout.infinity(),
        FloatProperty::Number => magnitude <= layout.infinity(),
        FloatProperty::NotANumber => magnitude > layout.infinity(),
        FloatProperty::Normal => !layout.is_subnormal(bits) && magnitude < layout.infinity(),
        FloatProperty::Subnormal => layout.is_subnormal(bits),
    }
}
