//! Where accesses to memory come from: which objects of a kernel share no byte, and addresses as
//! sums of values, each of which is one while a block runs once. Instructions carry it (`nbcc_mach::MemoryAccess`), so that
//! a scheduler knows which of them may pass each other.
//!
//! Addresses tell accesses apart where each engine reaches only what is its own: in its bank, and in
//! its scratch in the scratchpad of the group. Elsewhere an engine may read what another wrote.

use cranelift_entity::SecondaryMap;
use nbcc_analysis::sum::sum_of;
use nbcc_ir::{Mem, Value};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, Memory};
use nbcc_mach::{AffineAddress, MemoryAccess};

use crate::intrinsics::extents;
use crate::kernel::{Kernel, KernelCall};

/// The number of what spilled values are kept in, behind those of memory objects.
const SLOTS: u32 = u32::MAX;

/// The most operations that an address is looked through.
const BUDGET: u32 = 128;

/// Numbers the objects of a kernel: those that share bytes in one of its calls have one number.
pub fn objects(kernel: &Kernel, calls: &[&KernelCall]) -> SecondaryMap<Mem, Option<u32>> {
    let args = kernel.args.as_deref().unwrap_or_default();
    let range = |call: Option<&KernelCall>, mem: Mem| {
        let data = &kernel.func.mems[mem];
        let arg = args.iter().position(|&arg| arg == mem);
        let passed = arg.zip(call).and_then(|(arg, call)| call.bases.get(arg).copied());
        let start = u64::from(passed.unwrap_or(kernel.mem_base[mem]));
        let bytes: u64 = extents(data).into_iter().map(u64::from).product();
        start..(start + bytes * u64::from(ELEMENT_BYTES)).next_multiple_of(ATOM_BYTES.into())
    };
    let meet = |call: Option<&KernelCall>, a: Mem, b: Mem| {
        let (x, y) = (range(call, a), range(call, b));
        let same = kernel.func.mems[a].space == kernel.func.mems[b].space;
        same && x.start < y.end && y.start < x.end
    };
    let share = |a: Mem, b: Mem| match calls {
        [] => meet(None, a, b),
        _ => calls.iter().any(|call| meet(Some(call), a, b)),
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
            let sum = sum_of(&kernel.func, address, BUDGET, |_| None);
            AffineAddress::new(sum.terms.iter().map(|&(v, n)| (v.as_u32(), n)), sum.constant)
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
