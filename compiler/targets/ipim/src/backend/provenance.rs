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

/// A number for each object of a kernel.
type Numbers = SecondaryMap<Mem, Option<u32>>;

/// Numbers the objects of a kernel: those that share bytes in one of its calls have one number, and
/// those that lie beside each other.
pub fn objects(kernel: &Kernel, calls: &[&KernelCall]) -> (Numbers, Numbers) {
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
    // Whether rows of both are as far apart, and each has a part of them that the other has not.
    let interleaved = |call: Option<&KernelCall>, a: Mem, b: Mem| {
        let pitch = |mem: Mem| u64::from(extents(&kernel.func.mems[mem])[0] * ELEMENT_BYTES);
        let own = |mem: Mem| pitch(mem) - u64::from(kernel.beside[mem]);
        let [x, y] = [a, b].map(|mem| range(call, mem).start % pitch(a));
        let behind = |from: u64, to: u64| (to + pitch(a) - from) % pitch(a);
        pitch(a) == pitch(b) && behind(x, y) >= own(a) && behind(y, x) >= own(b)
    };
    let any = |is: &dyn Fn(Option<&KernelCall>) -> bool| match calls {
        [] => is(None),
        _ => calls.iter().any(|&call| is(Some(call))),
    };
    let share = |a: Mem, b: Mem| any(&|call| meet(call, a, b) && !interleaved(call, a, b));
    let beside = |a: Mem, b: Mem| any(&|call| meet(call, a, b));
    (numbers(kernel, share), numbers(kernel, beside))
}

/// Numbers the objects of a kernel, those alike of which it holds that they belong together.
fn numbers(kernel: &Kernel, together: impl Fn(Mem, Mem) -> bool) -> Numbers {
    let mut numbers = Numbers::new();
    for mem in kernel.func.mems.keys() {
        numbers[mem] = Some(mem.as_u32());
        for other in kernel.func.mems.keys().take_while(|&other| other != mem) {
            if together(mem, other) {
                let (from, to) = (numbers[mem], numbers[other]);
                let own = kernel.func.mems.keys().take_while(|&m| m <= mem);
                own.for_each(|m| {
                    if numbers[m] == from {
                        numbers[m] = to;
                    }
                });
            }
        }
    }
    numbers
}

/// What is known of an access to `memory` at `address`, if it is one of `mem`.
pub fn access(
    kernel: &Kernel,
    memory: Memory,
    mem: Option<Mem>,
    address: Value,
) -> MemoryAccess<Memory> {
    let own = memory == Memory::Bank || mem.is_some_and(|mem| kernel.scratch.contains(&mem));
    MemoryAccess {
        memory,
        object: mem.and_then(|mem| kernel.objects[mem]),
        rows: mem.and_then(|mem| kernel.neighbours[mem]),
        address: own.then(|| {
            let sum = sum_of(&kernel.func, address, BUDGET, |_| None);
            AffineAddress::new(sum.terms.iter().map(|&(v, n)| (v.as_u32(), n)), sum.constant)
        }),
        bytes: ATOM_BYTES,
    }
}

/// What is known of a read of an atom of the bank that does not change while a kernel runs.
pub fn invariant() -> MemoryAccess<Memory> {
    MemoryAccess { memory: Memory::Bank, object: None, rows: None, address: None, bytes: 0 }
}

/// What is known of an access to where a spilled value is kept.
pub fn slot(address: u32) -> MemoryAccess<Memory> {
    MemoryAccess {
        memory: Memory::Bank,
        object: Some(SLOTS),
        rows: Some(SLOTS),
        address: Some(AffineAddress::constant(address)),
        bytes: ATOM_BYTES,
    }
}
