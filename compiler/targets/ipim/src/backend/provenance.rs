//! Where accesses to memory come from: which objects of a kernel share no byte, and addresses as
//! sums of values, each of which is one while a block runs once. Instructions carry it (`nbcc_mach::MemoryAccess`), so that
//! a scheduler knows which of them may pass each other.
//!
//! Addresses tell accesses apart where each engine reaches only what is its own: in its bank, and in
//! its scratch in the scratchpad of the group. Elsewhere an engine may read what another wrote.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{BinaryOp, Function, Mem, Op, Value};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, Memory};
use nbcc_mach::{AffineAddress, MemoryAccess};

use crate::intrinsics::extents;
use crate::lower::Kernel;
use crate::lower::share::Turn;

/// The number of what spilled values are kept in, behind those of memory objects.
const SLOTS: u32 = u32::MAX;

/// The most operations that an address is looked through.
const BUDGET: u32 = 64;

/// Numbers the objects of a kernel: those that share bytes in one of its turns have one number.
pub fn objects(kernel: &Kernel, turns: &[&Turn]) -> SecondaryMap<Mem, Option<u32>> {
    let args = kernel.args.as_deref().unwrap_or_default();
    let range = |turn: Option<&Turn>, mem: Mem| {
        let data = &kernel.func.mems[mem];
        let arg = args.iter().position(|&arg| arg == mem);
        let passed = arg.zip(turn).and_then(|(arg, turn)| turn.bases.get(arg).copied());
        let start = u64::from(passed.unwrap_or(kernel.mem_base[mem]));
        let bytes: u64 = extents(data).into_iter().map(u64::from).product();
        start..(start + bytes * u64::from(ELEMENT_BYTES)).next_multiple_of(ATOM_BYTES.into())
    };
    let meet = |turn: Option<&Turn>, a: Mem, b: Mem| {
        let (x, y) = (range(turn, a), range(turn, b));
        let same = kernel.func.mems[a].space == kernel.func.mems[b].space;
        same && x.start < y.end && y.start < x.end
    };
    let share = |a: Mem, b: Mem| match turns {
        [] => meet(None, a, b),
        _ => turns.iter().any(|turn| meet(Some(turn), a, b)),
    };
    let mut objects: SecondaryMap<Mem, Option<u32>> = SecondaryMap::new();
    for mem in kernel.func.mems.keys() {
        objects[mem] = Some(mem.as_u32());
        for other in kernel.func.mems.keys().take_while(|&other| other != mem) {
            if share(mem, other) {
                let (from, to) = (objects[mem], objects[other]);
                let own = kernel.func.mems.keys().take_while(|&m| m <= mem);
                own.for_each(|m| {
                    if objects[m] == from {
                        objects[m] = to;
                    }
                });
            }
        }
    }
    objects
}

/// What is known of an access to `memory` at `address`, if it is one of `mem`.
pub fn access(
    kernel: &Kernel,
    memory: Memory,
    mem: Option<Mem>,
    address: Value,
) -> MemoryAccess<Memory> {
    let own = memory == Memory::Bank || (mem.is_some() && mem == kernel.scratch);
    MemoryAccess {
        memory,
        object: mem.and_then(|mem| kernel.objects[mem]),
        address: own.then(|| {
            let mut budget = BUDGET;
            affine(&kernel.func, address, &mut budget)
        }),
        bytes: ATOM_BYTES,
    }
}

/// What is known of a read of an atom of the bank that does not change while a kernel runs.
pub fn invariant() -> MemoryAccess<Memory> {
    MemoryAccess { memory: Memory::Bank, object: None, address: None, bytes: 0 }
}

/// What is known of an access to where a spilled value is kept.
pub fn slot(address: u32) -> MemoryAccess<Memory> {
    MemoryAccess {
        memory: Memory::Bank,
        object: Some(SLOTS),
        address: Some(AffineAddress::constant(address)),
        bytes: ATOM_BYTES,
    }
}

/// A value as a sum. Operations are looked through until the budget is used up.
fn affine(func: &Function, value: Value, budget: &mut u32) -> AffineAddress {
    if let Some(bits) = func.splat_constant(value) {
        return AffineAddress::constant(bits as u32);
    }
    let unknown = AffineAddress::unknown(value.as_u32());
    let Some(Op::Binary(op, x, y)) = func.def_op(value) else { return unknown };
    let Some(rest) = budget.checked_sub(1) else { return unknown };
    *budget = rest;
    let constant = |value: Value| func.splat_constant(value).map(|bits| bits as u32);
    let zero = AffineAddress::default();
    match (op, constant(*x), constant(*y)) {
        (BinaryOp::Iadd, ..) => affine(func, *x, budget).plus(&affine(func, *y, budget), 1),
        (BinaryOp::Isub, ..) => affine(func, *x, budget).plus(&affine(func, *y, budget), u32::MAX),
        (BinaryOp::Imul, _, Some(factor)) => zero.plus(&affine(func, *x, budget), factor),
        (BinaryOp::Imul, Some(factor), _) => zero.plus(&affine(func, *y, budget), factor),
        (BinaryOp::Shl, _, Some(bits @ 0..32)) => zero.plus(&affine(func, *x, budget), 1 << bits),
        _ => unknown,
    }
}
