//! Loads at a place that goes from one element that an iteration loads to another, as `a[best]` does where the
//! greatest element is looked for: the element goes from iteration to iteration beside the place, so that no
//! iteration waits for an address that the one before has computed.

use nbcc_analysis::Affine;
use nbcc_ir::{BinaryOp, Block, Op, Type, Value, ValueDef};

use super::body::{Operand, Part};
use super::build::{Builder, Building, Carried, First};
use super::collect::LONG_BYTES;
use crate::arrays::facts::access::{Access, Subscript};
use crate::arrays::facts::evolution::Evolution;
use crate::narrow::Upper;

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 12;

/// A place that elements are followed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The parameter of the header that says where it is.
    param: u32,
    /// What is added to it.
    more: Affine,
    /// Where it is in the first iteration.
    pub first: Evolution,
}

impl Builder<'_> {
    /// How a load follows a place: of what nobody stores to meanwhile.
    pub(super) fn followed(&self, number: usize) -> Option<Followed> {
        let access = &self.accesses[number];
        let is_changed =
            self.accesses.iter().any(|other| other.is_store && other.mem == access.mem);
        if access.is_store || access.bytes == LONG_BYTES || is_changed {
            return None;
        }
        let Op::Load(_, _, subscripts) = &self.func.insts[access.inst].op else { return None };
        let index = *subscripts.first()?;
        // Where loops count, a place needs no element, and may be outside where it is not asked for.
        if self.evolutions.in_nest(index).is_some() {
            return None;
        }
        let (param, more) = self.place(index)?;
        let first = self.evolutions.fixed(self.shape.entry_args[param as usize]).plus(&more, 1);
        let of = Followed { param, more, first: Evolution::fixed(first) };
        let next = self.shape.back_args[param as usize];
        self.is_loaded(next, (&of, number), MAX_FOLLOWED).then_some(of)
    }

    /// The parameter of the header that a subscript is, and what the loop does not change that is added to it.
    fn place(&self, index: Value) -> Option<(u32, Affine)> {
        let param = |value: Value| match self.func.values[value].def {
            ValueDef::Param(block, number) if block == self.shape.header => Some(number),
            _ => None,
        };
        let fixed = |value: Value| {
            let is_fixed = !self.shape.defines(self.func, value);
            is_fixed.then(|| self.evolutions.fixed(value))
        };
        if self.func.ty(index) != Type::I32 {
            return None;
        }
        match self.func.def_op(index) {
            Some(&Op::Binary(BinaryOp::Iadd, a, b)) => match (param(a), param(b)) {
                (Some(number), _) => Some((number, fixed(b)?)),
                (_, Some(number)) => Some((number, fixed(a)?)),
                _ => None,
            },
            _ => Some((param(index)?, Affine::default())),
        }
    }

    /// Whether a parameter of a block is the place that an iteration begins with.
    fn is_place(&self, block: Block, number: u32, of: &Followed) -> bool {
        block == self.shape.header && number == of.param
    }

    /// Whether ways of an iteration meet in a block.
    fn meets(&self, block: Block) -> bool {
        block != self.shape.header && self.shape.contains(block)
    }

    /// Whether the elements of all places that a value may be are loaded.
    fn is_loaded(&self, value: Value, of: (&Followed, usize), depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        match self.func.values[value].def {
            ValueDef::Param(block, number) if self.is_place(block, number, of.0) => true,
            ValueDef::Param(block, number) if self.meets(block) => {
                self.args(block, number).into_iter().all(|arg| self.is_loaded(arg, of, depth - 1))
            }
            _ => match self.func.def_op(value) {
                Some(&Op::Select(_, a, b)) if self.shape.defines(self.func, value) => {
                    self.is_loaded(a, of, depth - 1) && self.is_loaded(b, of, depth - 1)
                }
                _ => self.load_at(value, of).is_some(),
            },
        }
    }

    /// The load of the element at a place that a value is.
    fn load_at(&self, value: Value, (of, number): (&Followed, usize)) -> Option<Value> {
        let at = self.evolutions.of(value)?.plus(&Evolution::fixed(of.more.clone()), 1);
        let own = &self.accesses[number];
        let result = |access: &Access| self.func.insts[access.inst].results[0];
        let ty = self.func.ty(result(own));
        let is_it = |other: &&Access| {
            let is_there = matches!(&other.subscript, Subscript::Linear(of) if *of == at);
            !other.is_store && other.mem == own.mem && is_there && self.func.ty(result(other)) == ty
        };
        self.accesses.iter().find(is_it).map(result)
    }

    /// What stands at a place that an iteration begins with.
    pub(super) fn at_place(&mut self, number: usize, of: &Followed) -> (Operand, Upper) {
        let access = &self.accesses[number];
        let value = self.func.insts[access.inst].results[0];
        let upper = self.above_load(value);
        let part = if upper == Upper::Zeros { Part::Unsigned } else { Part::Signed };
        let first = First::Element(access.mem, of.first.start.clone(), part);
        let next = self.shape.back_args[of.param as usize];
        let carried = Carried { first, next, is_high: false, distance: 1, element: Some(number) };
        (self.carried(carried), upper)
    }

    /// What stands at the place that a value is.
    pub(super) fn element_at(&mut self, number: usize, value: Value) -> Building<Operand> {
        let Subscript::Followed(of) = self.accesses[number].subscript.clone() else {
            unreachable!("it follows a place")
        };
        match self.func.values[value].def {
            ValueDef::Param(block, param) if self.is_place(block, param, &of) => {
                Ok(self.at_place(number, &of).0)
            }
            ValueDef::Param(block, param) if self.meets(block) => {
                let args = self.args(block, param);
                let mut words = Vec::new();
                for &arg in &args {
                    words.push(self.element_at(number, arg)?);
                }
                self.meeting(block, param, &args, &words)
            }
            _ => match self.load_at(value, (&of, number)) {
                Some(load) => Ok(self.word(load)?.0),
                None => match self.func.def_op(value) {
                    Some(&Op::Select(cond, a, b)) => {
                        let truth = self.truth(cond)?;
                        let (a, b) = (self.element_at(number, a)?, self.element_at(number, b)?);
                        Ok(self.choose(truth, a, b))
                    }
                    _ => self.refuse("a load of this kind"),
                },
            },
        }
    }
}
