//! Where accesses go: what an operation of memory takes as its address, and what it adds to that.

use nbcc_ir::{Mem, Scalar};
use nbcc_isa_sdpnm::config::{Memory, Opcode, Options, Width};

use super::body::{Global, Operand};
use super::build::{Builder, Building};
use crate::arrays::facts::access::{Access, Subscript};

impl Builder<'_> {
    /// Where an access goes: in1 and what is added.
    pub(super) fn address(&mut self, access: &Access) -> Building<(Operand, Memory)> {
        let bytes = access.bytes as i32;
        let width = match access.bytes {
            1 => Width::U8,
            2 => Width::U16,
            _ => Width::W32,
        };
        let high = if access.is_high { 4 } else { 0 };
        let mut memory = Memory { width, offset: high, stride: 0 };
        match &access.subscript {
            Subscript::Linear(evolution) => {
                let mut start = evolution.start.clone();
                let constant = std::mem::take(&mut start.constant);
                memory.offset = constant.wrapping_mul(bytes).wrapping_add(high);
                if let Some((walk, constant)) = &evolution.walk {
                    memory.offset = constant.wrapping_mul(bytes).wrapping_add(high);
                    let start = self.evolutions.fixed(walk.start);
                    let at = |form| Global::Address(access.mem, form, access.bytes);
                    return Ok((self.walk(walk, &start, bytes, at)?, memory));
                }
                if let Some(step) = evolution.step.as_constant() {
                    memory.stride = step.wrapping_mul(bytes);
                    let mut address = self.global(Global::Address(access.mem, start, access.bytes));
                    for (&period, &factor) in &evolution.quotients {
                        let part = self.quotient(period, factor.wrapping_mul(bytes))?;
                        address = self.op(Opcode::Add, part, address);
                    }
                    return Ok((address, memory));
                }
                if !evolution.is_linear() {
                    return self.refuse("subscripts of a nest that grow by no constant");
                }
                // A sum that grows by a global register: before the first iteration a step less.
                let before = start.plus(&evolution.step, -1);
                let initial = self.global(Global::Address(access.mem, before, access.bytes));
                let step = self.global(Global::Form(evolution.step.clone(), bytes));
                let known = self.body.nodes.iter().position(|node| {
                    node.op == Opcode::Add && node.in2 == step && matches!((node.initial, initial), (Some(a), Operand::Global(b)) if a == b)
                });
                let node = match known {
                    Some(node) => node,
                    None => {
                        let node =
                            self.fresh(Opcode::Add, Options::default(), Operand::None, step, None);
                        self.body.nodes[node].in1 = Operand::Node { node, distance: 1 };
                        if let Operand::Global(number) = initial {
                            self.body.nodes[node].initial = Some(number);
                        }
                        node
                    }
                };
                Ok((Operand::node(node), memory))
            }
            Subscript::Followed(_) => self.refuse("a load of this kind"),
            Subscript::Inside(value) | Subscript::Limited(value, _) | Subscript::Watched(value) => {
                let index = match access.subscript {
                    Subscript::Watched(_) => self.watched(access, *value)?,
                    _ => self.extended(*value, true)?,
                };
                let scaled = match bytes.trailing_zeros() {
                    0 => index,
                    amount => self.op(Opcode::LSftS, index, Operand::Immediate(amount as i32)),
                };
                let base =
                    self.global(Global::Address(access.mem, Default::default(), access.bytes));
                Ok((self.op(Opcode::Add, scaled, base), memory))
            }
        }
    }

    /// The memory object of an access, where arrays can reach it.
    pub(super) fn reachable(&self, mem: Mem) -> Building<u32> {
        let data = &self.func.mems[mem];
        if data.extents.len() != 1 {
            return Err(format!("`{}` has several dimensions", data.name));
        }
        match data.element {
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::I1 => {
                Ok(data.element.bytes())
            }
            _ => Err(format!("elements of `{}` are no integers of up to 64 bits", data.name)),
        }
    }
}
