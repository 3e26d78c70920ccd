//! What the fields of a load, store or atomic operation say of its access: the space, from which
//! follow the memories that it may reach, and the order.

use crate::classes::Memory;
use crate::operands::{Base, Offset, Order, Space};
use crate::ops::Op;

impl<R> Op<R> {
    /// The space of a load, store or atomic operation; `None` for others.
    pub fn space(&self) -> Option<Space> {
        match self {
            Op::Ld { space, .. }
            | Op::Ld2 { space, .. }
            | Op::Ld4 { space, .. }
            | Op::Ld8 { space, .. }
            | Op::LdWide { space, .. }
            | Op::LdWide2 { space, .. }
            | Op::LdWide4 { space, .. }
            | Op::St { space, .. }
            | Op::St2 { space, .. }
            | Op::St4 { space, .. }
            | Op::St8 { space, .. }
            | Op::StWide { space, .. }
            | Op::StWide2 { space, .. }
            | Op::StWide4 { space, .. }
            | Op::Atom { space, .. }
            | Op::AtomWide { space, .. }
            | Op::AtomCas { space, .. }
            | Op::AtomCasWide { space, .. }
            | Op::Red { space, .. }
            | Op::RedWide { space, .. } => Some(*space),
            _ => None,
        }
    }

    /// What the address of a load, store or atomic operation is made of; `None` for others.
    pub fn address(&self) -> Option<(&Base<R>, Offset)> {
        match self {
            Op::Ld { base, offset, .. }
            | Op::Ld2 { base, offset, .. }
            | Op::Ld4 { base, offset, .. }
            | Op::Ld8 { base, offset, .. }
            | Op::LdWide { base, offset, .. }
            | Op::LdWide2 { base, offset, .. }
            | Op::LdWide4 { base, offset, .. }
            | Op::St { base, offset, .. }
            | Op::St2 { base, offset, .. }
            | Op::St4 { base, offset, .. }
            | Op::St8 { base, offset, .. }
            | Op::StWide { base, offset, .. }
            | Op::StWide2 { base, offset, .. }
            | Op::StWide4 { base, offset, .. }
            | Op::Atom { base, offset, .. }
            | Op::AtomWide { base, offset, .. }
            | Op::AtomCas { base, offset, .. }
            | Op::AtomCasWide { base, offset, .. }
            | Op::Red { base, offset, .. }
            | Op::RedWide { base, offset, .. } => Some((base, *offset)),
            _ => None,
        }
    }

    /// The bytes of memory that a thread's load, store or atomic operation is for; 0 for others.
    pub fn access_bytes(&self) -> u32 {
        match self {
            Op::Ld { access, .. } | Op::St { access, .. } => access.bytes(),
            Op::Ld2 { access, .. } | Op::St2 { access, .. } => 2 * access.bytes(),
            Op::Ld4 { access, .. } | Op::St4 { access, .. } => 4 * access.bytes(),
            Op::Ld8 { access, .. } | Op::St8 { access, .. } => 8 * access.bytes(),
            Op::LdWide { .. } | Op::StWide { .. } => 8,
            Op::LdWide2 { .. } | Op::StWide2 { .. } => 16,
            Op::LdWide4 { .. } | Op::StWide4 { .. } => 32,
            Op::Atom { ty, .. } | Op::Red { ty, .. } | Op::AtomCas { ty, .. } => ty.bytes(),
            Op::AtomWide { .. } | Op::RedWide { .. } | Op::AtomCasWide { .. } => 8,
            _ => 0,
        }
    }

    /// The order of a load, store or atomic operation; `None` for others.
    pub fn order(&self) -> Option<Order> {
        match self {
            Op::Ld { order, .. }
            | Op::Ld2 { order, .. }
            | Op::Ld4 { order, .. }
            | Op::LdWide { order, .. }
            | Op::LdWide2 { order, .. }
            | Op::LdWide4 { order, .. }
            | Op::St { order, .. }
            | Op::St2 { order, .. }
            | Op::St4 { order, .. }
            | Op::StWide { order, .. }
            | Op::StWide2 { order, .. }
            | Op::StWide4 { order, .. }
            | Op::Atom { order, .. }
            | Op::AtomWide { order, .. }
            | Op::AtomCas { order, .. }
            | Op::AtomCasWide { order, .. }
            | Op::Red { order, .. }
            | Op::RedWide { order, .. } => Some(*order),
            Op::Ld8 { .. } | Op::St8 { .. } => Some(Order::Weak),
            _ => None,
        }
    }

    /// The memories among which an instruction's row leaves the choice to its space.
    pub(crate) fn memories(&self, row: &'static [Memory]) -> &'static [Memory] {
        if row.is_empty() { row } else { self.space().unwrap_or(Space::Generic).memories() }
    }
}

impl Space {
    /// The memories that an address of the space may lie in. Constant data and parameters at addresses
    /// of other spaces are left out: nothing writes them, so that no order depends on it.
    pub fn memories(self) -> &'static [Memory] {
        match self {
            Space::Generic => &[Memory::Global, Memory::Shared, Memory::Local],
            Space::Global => &[Memory::Global],
            Space::Shared => &[Memory::Shared],
            Space::Local => &[Memory::Local],
            Space::Const => &[Memory::Const],
            Space::Param => &[Memory::Param],
        }
    }
}
