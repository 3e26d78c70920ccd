//! `i32` values as linear forms over values that are none: block parameters, loaded values, and
//! so on. The arithmetic is modulo 2^32, as that of the IR is, so a form is exact for all inputs.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{BinaryOp, Cfg, Function, Op, Type, UnaryOp, Value};

/// Longer forms are not followed: their value stands for itself. It keeps the analysis linear.
pub const MAX_TERMS: usize = 8;

/// `constant + sum of coefficient * value`, modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affine {
    /// Values in order with coefficients other than 0.
    pub terms: Vec<(Value, i32)>,
    /// What is added.
    pub constant: i32,
}

impl Affine {
    /// A constant.
    pub fn constant(constant: i32) -> Affine {
        Affine { terms: Vec::new(), constant }
    }

    /// A value that stands for itself.
    pub fn symbol(value: Value) -> Affine {
        Affine { terms: vec![(value, 1)], constant: 0 }
    }

    /// The constant, where nothing else is in the form.
    pub fn as_constant(&self) -> Option<i32> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The coefficient of a value; 0 where it is not in the form.
    pub fn coefficient(&self, value: Value) -> i32 {
        match self.terms.binary_search_by_key(&value, |&(v, _)| v) {
            Ok(at) => self.terms[at].1,
            Err(_) => 0,
        }
    }

    /// The form without the term of a value.
    pub fn without(&self, value: Value) -> Affine {
        let terms = self.terms.iter().copied().filter(|&(v, _)| v != value).collect();
        Affine { terms, constant: self.constant }
    }

    /// `self + factor * other`.
    pub fn plus(&self, other: &Affine, factor: i32) -> Affine {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let term = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(&&(x, m)), Some(&&(y, n))) if x == y => {
                    a.next();
                    b.next();
                    (x, m.wrapping_add(n.wrapping_mul(factor)))
                }
                (Some(&&(x, m)), other) if other.is_none_or(|&&(y, _)| x < y) => {
                    a.next();
                    (x, m)
                }
                (_, Some(&&(y, n))) => {
                    b.next();
                    (y, n.wrapping_mul(factor))
                }
                (Some(_), None) => unreachable!("the first of two lists comes before nothing"),
            };
            if term.1 != 0 {
                terms.push(term);
            }
        }
        let constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        Affine { terms, constant }
    }

    /// The form times a constant.
    pub fn times(&self, factor: i32) -> Affine {
        Affine::default().plus(self, factor)
    }

    /// Its value, given those of its symbols.
    pub fn evaluate(&self, value: impl Fn(Value) -> i32) -> i32 {
        let add = |sum: i32, &(v, n): &(Value, i32)| sum.wrapping_add(value(v).wrapping_mul(n));
        self.terms.iter().fold(self.constant, add)
    }
}

/// The forms of all `i32` scalars of a function. A snapshot: it does not follow later changes.
#[derive(Clone, Debug)]
pub struct AffineForms {
    forms: SecondaryMap<Value, Option<Affine>>,
}

impl AffineForms {
    /// The forms of the values of reachable blocks.
    pub fn new(func: &Function, cfg: &Cfg) -> AffineForms {
        let mut forms = AffineForms { forms: SecondaryMap::new() };
        for block in cfg.reverse_postorder() {
            for &inst in &func.blocks[block].insts {
                let Some(value) = func.result(inst).filter(|&v| func.ty(v) == Type::I32) else {
                    continue;
                };
                let form = forms.of_op(func, &func.insts[inst].op);
                forms.forms[value] = form.filter(|form| form.terms.len() <= MAX_TERMS);
            }
        }
        forms
    }

    /// The form of an `i32` scalar.
    pub fn get(&self, value: Value) -> Affine {
        self.forms[value].clone().unwrap_or_else(|| Affine::symbol(value))
    }

    fn of_op(&self, func: &Function, op: &Op) -> Option<Affine> {
        Some(match op {
            Op::Const(..) => Affine::constant(constant_of(op)?),
            Op::Unary(UnaryOp::Ineg, a) => self.get(*a).times(-1),
            Op::Binary(BinaryOp::Iadd, a, b) => self.get(*a).plus(&self.get(*b), 1),
            Op::Binary(BinaryOp::Isub, a, b) => self.get(*a).plus(&self.get(*b), -1),
            Op::Binary(BinaryOp::Imul, a, b) => {
                let (a, b) = (self.get(*a), self.get(*b));
                match (a.as_constant(), b.as_constant()) {
                    (_, Some(factor)) => a.times(factor),
                    (Some(factor), _) => b.times(factor),
                    _ => return None,
                }
            }
            Op::Binary(BinaryOp::Shl, a, b) => {
                let amount = func.splat_constant(*b).filter(|&amount| amount < 32)?;
                self.get(*a).times(1i32 << amount)
            }
            _ => return None,
        })
    }
}

fn constant_of(op: &Op) -> Option<i32> {
    match op {
        Op::Const(ty, constant) => Some(crate::Lanes::constant(*ty, constant).as_i64() as i32),
        _ => None,
    }
}
