//! The least and the greatest value that a word can have, as a signed number: intervals (Harrison,
//! "Compiler Analysis of the Value Ranges for Variables", TSE 1977) without those of loops.

use std::cell::RefCell;
use std::collections::BTreeMap;

use nbcc_ir::{BinaryOp, ConvertOp, Function, Op, Scalar, UnaryOp, Value};

/// Ranges of the values of a function, as they are asked for.
#[derive(Debug)]
pub struct Ranges<'a> {
    func: &'a Function,
    known: RefCell<BTreeMap<Value, (i64, i64)>>,
}

type Range = (i64, i64);

/// How deep operands are followed.
const DEPTH: u32 = 48;

fn all(scalar: Scalar) -> Range {
    match scalar.bits() {
        64.. => (i64::MIN, i64::MAX),
        bits => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

impl<'a> Ranges<'a> {
    /// Nothing is known yet.
    pub fn new(func: &'a Function) -> Ranges<'a> {
        Ranges { func, known: RefCell::default() }
    }

    /// The range of an integer that is no truth value.
    pub fn of(&self, value: Value) -> Range {
        self.within(value, DEPTH)
    }

    /// Whether a value is within limits.
    pub fn fits(&self, value: Value, least: i64, most: i64) -> bool {
        let (low, high) = self.of(value);
        low >= least && high <= most
    }

    fn within(&self, value: Value, depth: u32) -> Range {
        if let Some(&known) = self.known.borrow().get(&value) {
            return known;
        }
        let whole = all(self.func.ty(value).scalar);
        if depth == 0 {
            return whole;
        }
        let range = self.compute(value, depth - 1);
        let range = range.filter(|r| r.0 >= whole.0 && r.1 <= whole.1).unwrap_or(whole);
        self.known.borrow_mut().insert(value, range);
        range
    }

    fn compute(&self, value: Value, depth: u32) -> Option<Range> {
        let func = self.func;
        let scalar = func.ty(value).scalar;
        let of = |value: Value| self.within(value, depth);
        Some(match func.def_op(value)? {
            Op::Const(..) => {
                let number = nbcc_analysis::sign_extend(scalar, func.splat_constant(value)?);
                (number, number)
            }
            &Op::Unary(UnaryOp::Ineg, a) => {
                let (low, high) = of(a);
                (high.checked_neg()?, low.checked_neg()?)
            }
            &Op::Convert(ConvertOp::SignExtend, a, _) if func.ty(a).scalar != Scalar::I1 => of(a),
            &Op::Convert(ConvertOp::ZeroExtend, a, _) => match func.ty(a).scalar {
                Scalar::I1 => (0, 1),
                from => {
                    let (low, high) = of(a);
                    let most = (1i64 << from.bits().min(62)) - 1;
                    if low >= 0 { (low, high) } else { (0, most) }
                }
            },
            &Op::Convert(ConvertOp::Truncate, a, _) => of(a),
            &Op::Select(_, a, b) => {
                let (a, b) = (of(a), of(b));
                (a.0.min(b.0), a.1.max(b.1))
            }
            &Op::Binary(op, a, b) => {
                let constant = func.splat_constant(b);
                let (a, b) = (of(a), of(b));
                match op {
                    BinaryOp::Iadd => (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?),
                    BinaryOp::Isub => (a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?),
                    BinaryOp::Imul => {
                        let corners = [
                            a.0.checked_mul(b.0)?,
                            a.0.checked_mul(b.1)?,
                            a.1.checked_mul(b.0)?,
                            a.1.checked_mul(b.1)?,
                        ];
                        let least = corners.iter().copied().fold(i64::MAX, i64::min);
                        (least, corners.iter().copied().fold(i64::MIN, i64::max))
                    }
                    BinaryOp::And if b.0 >= 0 => (0, b.1),
                    BinaryOp::And if a.0 >= 0 => (0, a.1),
                    BinaryOp::Or | BinaryOp::Xor if a.0 >= 0 && b.0 >= 0 => {
                        (0, up(a.1).max(up(b.1)))
                    }
                    BinaryOp::Ashr => {
                        let amount = constant?.min(u64::from(scalar.bits()) - 1);
                        (a.0 >> amount, a.1 >> amount)
                    }
                    BinaryOp::Lshr => {
                        let amount = constant.filter(|&n| n < u64::from(scalar.bits()))?;
                        match a.0 >= 0 {
                            true => (a.0 >> amount, a.1 >> amount),
                            false if amount > 0 && scalar.bits() < 64 => {
                                (0, ((1i64 << scalar.bits()) - 1) >> amount)
                            }
                            false => return None,
                        }
                    }
                    BinaryOp::Shl => {
                        let amount = constant.filter(|&n| n < 32)?;
                        let by = 1i64 << amount;
                        (a.0.checked_mul(by)?, a.1.checked_mul(by)?)
                    }
                    BinaryOp::Smin => (a.0.min(b.0), a.1.min(b.1)),
                    BinaryOp::Smax => (a.0.max(b.0), a.1.max(b.1)),
                    BinaryOp::Umin if a.0 >= 0 && b.0 >= 0 => (a.0.min(b.0), a.1.min(b.1)),
                    BinaryOp::Umin if b.0 >= 0 => (0, b.1),
                    BinaryOp::Umin if a.0 >= 0 => (0, a.1),
                    BinaryOp::Umax if a.0 >= 0 && b.0 >= 0 => (a.0.max(b.0), a.1.max(b.1)),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}

/// The greatest number of as many bits.
fn up(number: i64) -> i64 {
    let bits = 64 - number.leading_zeros();
    if bits >= 63 { i64::MAX } else { (1 << bits) - 1 }
}
