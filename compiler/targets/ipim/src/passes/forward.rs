//! Values that a block has read or written are not read again, and what is written over before anything
//! reads it is not written (forwarding of stores and removal of dead ones, Muchnick, "Advanced
//! Compiler Design and Implementation", sections 12.4 and 18.10; scalar replacement, Callahan, Carr,
//! Kennedy, "Improving Register Allocation for Subscripted Variables", PLDI 1990).
//!
//! Of banks only, and of whole atoms: addresses are compared as sums of values, so that elements of a
//! row which is written do not hide those of the row before it.

use nbcc_ir::{Builder, ConvertOp, Effect, Inst, IntrinsicCall, Op, Replacements, Value};
use nbcc_isa_ipim::Memory;
use nbcc_mach::MemoryAccess;

use crate::backend::provenance::access;
use crate::intrinsics::{LD_CONST, LD_PGSM, LD_RF, RD_PGSM, ST_PGSM, ST_RF, WR_PGSM};
use crate::kernel::Kernel;

/// An atom that is known.
struct Known {
    access: MemoryAccess<Memory>,
    /// The engines that read or wrote it.
    mask: Vec<i64>,
    value: Value,
    /// Where it was written, while nothing can have read it since.
    unread: Option<Inst>,
}

/// Forwards values within each block.
pub fn run(kernel: &mut Kernel) {
    let mut replacements = Replacements::new();
    for block in kernel.func.layout.clone() {
        let mut known: Vec<Known> = Vec::new();
        let insts = std::mem::take(&mut kernel.func.blocks[block].insts);
        for inst in insts {
            let Op::Intrinsic(call) = &kernel.func.insts[inst].op else {
                kernel.func.blocks[block].insts.push(inst);
                continue;
            };
            let call = call.clone();
            let atom = match call.name {
                LD_RF | ST_RF => Some(of_bank(kernel, &call, &mut replacements)),
                _ => None,
            };
            let same = |k: &Known, atom: &MemoryAccess<Memory>| is_same(&k.access, atom);
            match (call.name, atom) {
                (LD_RF, Some(atom)) => {
                    let loaded = kernel.func.result(inst).expect("loads have a result");
                    let found = known.iter().find(|k| same(k, &atom) && k.mask == call.imms);
                    if let Some(value) = found.map(|k| k.value) {
                        let (ty, old) = (kernel.func.ty(loaded), kernel.func.ty(value));
                        if ty == old {
                            replacements.replace(loaded, value);
                            continue;
                        }
                        if ty.lanes == old.lanes {
                            let mut b = Builder::at(&mut kernel.func, block);
                            let value = b.convert(ConvertOp::Bitcast, value, ty);
                            replacements.replace(loaded, value);
                            continue;
                        }
                    }
                    for k in &mut known {
                        if !k.access.is_disjoint_from(&atom) {
                            k.unread = None;
                        }
                    }
                    if found_none(&known, &atom) {
                        let mask = call.imms.clone();
                        known.push(Known { access: atom, mask, value: loaded, unread: None });
                    }
                }
                (ST_RF, Some(atom)) => {
                    let over = known.iter().find(|k| same(k, &atom) && k.mask == call.imms);
                    if let Some(dead) = over.and_then(|k| k.unread) {
                        kernel.func.blocks[block].insts.retain(|&other| other != dead);
                    }
                    known.retain(|k| k.access.is_disjoint_from(&atom));
                    let value = replacements.resolve(call.args[1]);
                    let mask = call.imms.clone();
                    known.push(Known { access: atom, mask, value, unread: Some(inst) });
                }
                // These reach scratchpads, or what never changes.
                (RD_PGSM | WR_PGSM | LD_CONST, _) => {}
                (LD_PGSM, _) => known.iter_mut().for_each(|k| k.unread = None),
                (ST_PGSM, _) => known.clear(),
                _ if call.effect == Effect::Pure => {}
                _ => known.clear(),
            }
            kernel.func.blocks[block].insts.push(inst);
        }
    }
    replacements.apply(&mut kernel.func);
}

fn of_bank(
    kernel: &Kernel,
    call: &IntrinsicCall,
    replacements: &mut Replacements,
) -> MemoryAccess<Memory> {
    let address = replacements.resolve(call.args[0]);
    access(kernel, Memory::Bank, call.mems.first().copied(), address)
}

/// Whether two accesses of a block are certainly of one atom.
fn is_same(a: &MemoryAccess<Memory>, b: &MemoryAccess<Memory>) -> bool {
    a.address.is_some() && a.address == b.address && a.object == b.object
}

fn found_none(known: &[Known], atom: &MemoryAccess<Memory>) -> bool {
    !known.iter().any(|k| is_same(&k.access, atom))
}
