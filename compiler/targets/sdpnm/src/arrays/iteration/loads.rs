//! Loads: of an element, or what takes its place where the element is known ([`super::reuse`]). Of an element of 64
//! bits each word has a load of its own.

use nbcc_ir::{Inst, Op, Scalar, Value};
use nbcc_isa_sdpnm::config::{Opcode, Options, Width};

use super::body::{Operand, Part};
use super::build::{Builder, Building, Carried, First};
use super::reuse::Reuse;
use crate::arrays::facts::access::{Access, Subscript};
use crate::narrow::Upper;

impl Builder<'_> {
    /// Builds a load, of the low word where it has two.
    pub(super) fn load(&mut self, inst: Inst, value: Value) -> Building<(Operand, Upper)> {
        let is_it = |access: &Access| access.inst == inst && !access.is_high;
        match self.accesses.iter().position(is_it) {
            Some(number) => self.load_word(number, value),
            None => self.refuse("a load of this kind"),
        }
    }

    /// Builds the load of the high word of an element of 64 bits.
    pub(super) fn load_high(&mut self, inst: Inst, value: Value) -> Building<Operand> {
        let is_it = |access: &Access| access.inst == inst && access.is_high;
        match self.accesses.iter().position(is_it) {
            Some(number) => Ok(self.load_word(number, value)?.0),
            None => self.refuse("a load of this kind"),
        }
    }

    /// Builds the load of an access.
    fn load_word(&mut self, number: usize, value: Value) -> Building<(Operand, Upper)> {
        let is_high = self.accesses[number].is_high;
        match self.reuses.get(&number) {
            Some(&Reuse::Loaded { leader, distance }) => {
                let value = self.func.insts[self.accesses[leader].inst].results[0];
                let (word, upper) = match self.accesses[leader].node {
                    Some(node) => (Operand::node(node), self.above_load(value)),
                    None if is_high => (self.high(value)?, Upper::Both),
                    None => self.word(value)?,
                };
                let Operand::Node { node, .. } = word else { unreachable!("a load is a node") };
                let ahead = &mut self.body.nodes[node].ahead;
                *ahead = distance.max((*ahead).into()) as u16;
                return Ok((Operand::Node { node, distance }, upper));
            }
            Some(&Reuse::Stored { store, distance, is_zero }) => {
                let Op::Store(_, _, stored) = self.func.insts[self.accesses[store].inst].op else {
                    unreachable!("a store stores")
                };
                match (distance, is_high) {
                    (0, false) => return self.word(stored),
                    (0, true) => return Ok((self.high(stored)?, Upper::Both)),
                    _ => {}
                }
                let access = &self.accesses[number];
                let Subscript::Linear(evolution) = &access.subscript else {
                    unreachable!("it meets the store")
                };
                let first = match is_zero {
                    true => First::Zero,
                    false => First::Element(
                        access.mem,
                        evolution.start.clone(),
                        if is_high { Part::High } else { Part::Signed },
                    ),
                };
                let upper =
                    if self.func.ty(value).scalar.bits() < 32 { Upper::Any } else { Upper::Both };
                return Ok((
                    self.carried(Carried { first, next: stored, is_high, distance, element: None }),
                    upper,
                ));
            }
            None => {}
        }
        let access = self.accesses[number].clone();
        if let Subscript::Followed(of) = &access.subscript {
            return Ok(self.at_place(number, of));
        }
        let signed = self.is_signed(value);
        let upper = self.above_load(value);
        if let Some(node) = self.equal_load(number) {
            self.accesses[number].node = Some(node);
            return Ok((Operand::node(node), upper));
        }
        let scalar = self.func.ty(value).scalar;
        let (address, mut memory) = self.address(&access)?;
        memory.width = match (scalar, signed) {
            (Scalar::I8 | Scalar::I1, false) => Width::U8,
            (Scalar::I8 | Scalar::I1, true) => Width::I8,
            (Scalar::I16, false) => Width::U16,
            (Scalar::I16, true) => Width::I16,
            _ => Width::W32,
        };
        let node = self.fresh(Opcode::Load, Options::default(), address, Operand::None, None);
        self.body.nodes[node].memory = memory;
        self.accesses[number].node = Some(node);
        Ok((Operand::node(node), upper))
    }

    /// What stands above a value that is loaded.
    pub(super) fn above_load(&self, value: Value) -> Upper {
        match self.func.ty(value).scalar {
            Scalar::I32 | Scalar::I64 => Upper::Both,
            _ if self.is_signed(value) => Upper::Signs,
            _ => Upper::Zeros,
        }
    }

    /// A load that was built of the same element, of an object that the loop does not change: that they are
    /// equal shows only in how quotients evolve.
    fn equal_load(&self, number: usize) -> Option<usize> {
        let value = |access: &Access| self.func.insts[access.inst].results[0];
        let of = &self.accesses[number];
        let kind = |value: Value| (self.func.ty(value), self.is_signed(value));
        let is_changed = self.accesses.iter().any(|other| other.is_store && other.mem == of.mem);
        let is_equal = |other: &&Access| {
            (other.mem, other.is_high, &other.subscript) == (of.mem, of.is_high, &of.subscript)
                && kind(value(other)) == kind(value(of))
        };
        // Those that are watched are so under their own conditions.
        let is_built = |other: &&Access| {
            let is_watched = matches!(other.subscript, Subscript::Watched(_));
            !other.is_store && other.node.is_some() && !is_watched
        };
        let mut built = self.accesses.iter().filter(is_built);
        built.find(is_equal).filter(|_| !is_changed)?.node
    }
}
