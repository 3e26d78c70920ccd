//! How words of a loop grow: as `start + step * iteration`, modulo 2^32, with forms over values that
//! the loop does not change (Bachmann, Wang, Zima, "Chains of Recurrences", ISSAC 1994, first order
//! only). Values of 64 bits have the evolution of their low word.

use std::cell::RefCell;
use std::collections::BTreeMap;

use nbcc_analysis::{Affine, AffineForms};
use nbcc_ir::{BinaryOp, ConvertOp, Function, Op, Scalar, Type, UnaryOp, Value, ValueDef};

use super::shape::Shape;

/// `start + step * iteration`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evolution {
    /// The value in the first iteration.
    pub start: Affine,
    /// What each iteration adds.
    pub step: Affine,
}

impl Evolution {
    fn fixed(start: Affine) -> Evolution {
        Evolution { start, step: Affine::default() }
    }

    fn plus(&self, other: &Evolution, factor: i32) -> Evolution {
        Evolution {
            start: self.start.plus(&other.start, factor),
            step: self.step.plus(&other.step, factor),
        }
    }

    fn times(&self, factor: i32) -> Evolution {
        Evolution { start: self.start.times(factor), step: self.step.times(factor) }
    }
}

/// What was assumed of an evolution: that it stays within limits, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What stays.
    pub of: Evolution,
    /// The lower limit, if there is one.
    pub least: Option<i32>,
    /// The upper limit.
    pub most: i32,
}

/// How deep operands are followed.
const DEPTH: u32 = 40;

/// The evolutions of the values of one loop.
#[derive(Debug)]
pub struct Evolutions<'a> {
    func: &'a Function,
    shape: &'a Shape,
    forms: &'a AffineForms,
    limits: RefCell<Vec<Limit>>,
    known: RefCell<BTreeMap<Value, Option<Evolution>>>,
}

impl<'a> Evolutions<'a> {
    /// Those of a loop.
    pub fn new(func: &'a Function, shape: &'a Shape, forms: &'a AffineForms) -> Evolutions<'a> {
        Evolutions { func, shape, forms, limits: RefCell::default(), known: RefCell::default() }
    }

    /// What the evolutions that were given hold under.
    pub fn limits(&self) -> Vec<Limit> {
        self.limits.borrow().clone()
    }

    /// How a value evolves, if it does so linearly.
    pub fn of(&self, value: Value) -> Option<Evolution> {
        self.within(value, DEPTH)
    }

    /// A value that the loop does not change, as a form.
    pub fn fixed(&self, value: Value) -> Affine {
        if self.func.ty(value) == Type::I32 {
            return self.forms.get(value);
        }
        match self.func.def_op(value) {
            Some(Op::Const(..)) => {
                Affine::constant(self.func.splat_constant(value).unwrap_or(0) as u32 as i32)
            }
            Some(Op::Convert(ConvertOp::SignExtend | ConvertOp::ZeroExtend, from, _))
                if self.func.ty(*from) == Type::I32 =>
            {
                self.forms.get(*from)
            }
            _ => Affine::symbol(value),
        }
    }

    fn within(&self, value: Value, depth: u32) -> Option<Evolution> {
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        let found = self.find(value, depth);
        self.known.borrow_mut().insert(value, found.clone());
        found
    }

    fn find(&self, value: Value, depth: u32) -> Option<Evolution> {
        let func = self.func;
        if !matches!(func.ty(value), Type::I32 | Type::I64) || depth == 0 {
            return None;
        }
        if !self.shape.defines(func, value) {
            return Some(Evolution::fixed(self.fixed(value)));
        }
        let inst = match func.values[value].def {
            ValueDef::Param(block, number) => {
                if block != self.shape.header {
                    return None;
                }
                let first = self.shape.entry_args[number as usize];
                let next = self.shape.back_args[number as usize];
                let step = self.growth(next, value, depth - 1)?;
                let start = self.within(first, depth - 1)?.start;
                return Some(Evolution { start, step });
            }
            ValueDef::Result(inst, _) => inst,
        };
        let of = |value: Value| self.within(value, depth - 1);
        match func.insts[inst].op {
            Op::Const(..) => Some(Evolution::fixed(self.fixed(value))),
            Op::Unary(UnaryOp::Ineg, a) => Some(of(a)?.times(-1)),
            Op::Binary(BinaryOp::Iadd, a, b) => Some(of(a)?.plus(&of(b)?, 1)),
            Op::Binary(BinaryOp::Isub, a, b) => Some(of(a)?.plus(&of(b)?, -1)),
            Op::Binary(BinaryOp::Imul, a, b) => product(&of(a)?, &of(b)?),
            Op::Binary(BinaryOp::Shl, a, b) => {
                let amount = func.splat_constant(b).filter(|&amount| amount < 32)?;
                Some(of(a)?.times(1i32 << amount))
            }
            // A frontend may keep subscripts from wrapping in that way.
            Op::Binary(op @ (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin), a, b)
                if func.ty(value) == Type::I32 =>
            {
                let bound = func.splat_constant(b)? as u32 as i32;
                let of = of(a)?;
                let (least, most) = match op {
                    BinaryOp::Smax => (Some(bound), i32::MAX),
                    BinaryOp::Umin if bound >= 0 => (Some(0), bound),
                    BinaryOp::Smin => (None, bound),
                    _ => return None,
                };
                self.limit(Limit { of: of.clone(), least, most });
                Some(of)
            }
            Op::Convert(ConvertOp::Truncate, a, Type::I32) => of(a),
            Op::Convert(ConvertOp::SignExtend | ConvertOp::ZeroExtend, a, Type::I64)
                if func.ty(a).scalar == Scalar::I32 =>
            {
                of(a)
            }
            _ => None,
        }
    }

    /// Notes what an evolution holds under.
    fn limit(&self, limit: Limit) {
        let mut limits = self.limits.borrow_mut();
        match limits.iter_mut().find(|other| other.of == limit.of) {
            Some(known) => {
                known.least = known.least.max(limit.least);
                known.most = known.most.min(limit.most);
            }
            None => limits.push(limit),
        }
    }

    /// What is added to a parameter of the header to get this value.
    fn growth(&self, value: Value, param: Value, depth: u32) -> Option<Affine> {
        if value == param {
            return Some(Affine::default());
        }
        if depth == 0 || !self.shape.defines(self.func, value) {
            return None;
        }
        let fixed = |value: Value| {
            let is_constant = matches!(self.func.def_op(value), Some(Op::Const(..)));
            let fixed = is_constant || !self.shape.defines(self.func, value);
            fixed.then(|| self.fixed(value))
        };
        match *self.func.def_op(value)? {
            Op::Binary(BinaryOp::Iadd, a, b) => match (fixed(a), fixed(b)) {
                (_, Some(more)) => Some(self.growth(a, param, depth - 1)?.plus(&more, 1)),
                (Some(more), _) => Some(self.growth(b, param, depth - 1)?.plus(&more, 1)),
                _ => None,
            },
            Op::Binary(BinaryOp::Isub, a, b) => {
                Some(self.growth(a, param, depth - 1)?.plus(&fixed(b)?, -1))
            }
            _ => None,
        }
    }
}

/// A product, where one factor is fixed: a constant, or a single value where the other starts and
/// grows by constants.
fn product(a: &Evolution, b: &Evolution) -> Option<Evolution> {
    let (moving, fixed) = match (a.step == Affine::default(), b.step == Affine::default()) {
        (_, true) => (a, &b.start),
        (true, false) => (b, &a.start),
        _ => return None,
    };
    if let Some(factor) = fixed.as_constant() {
        return Some(moving.times(factor));
    }
    match (moving.start.as_constant(), moving.step.as_constant()) {
        (Some(start), Some(step)) => {
            Some(Evolution { start: fixed.times(start), step: fixed.times(step) })
        }
        _ => None,
    }
}
