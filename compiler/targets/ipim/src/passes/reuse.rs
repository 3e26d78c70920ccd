//! Redundant loads: what a block has read of a bank or of a scratchpad is not read again while nothing
//! can have written there (Muchnick, "Advanced Compiler Design and Implementation", section 12.4).
//! Neighbouring points of an unrolled loop read much of the same.

use std::collections::BTreeMap;

use nbcc_ir::{Effect, IntrinsicCall, Mem, Op, Replacements, Value};

use crate::intrinsics::{LD_PGSM, LD_RF, RD_PGSM, ST_PGSM, ST_RF, WR_PGSM};
use crate::kernel::Kernel;

/// What was read: by which operation, at which address, for which engines, of which object.
type Read = (&'static str, Value, Vec<i64>, Option<Mem>);

/// Replaces reads by the values of those before them.
pub fn run(kernel: &mut Kernel) {
    let mut replacements = Replacements::new();
    for block in kernel.func.layout.clone() {
        let mut known: BTreeMap<Read, Value> = BTreeMap::new();
        let insts = std::mem::take(&mut kernel.func.blocks[block].insts);
        let kept = insts.into_iter().filter(|&inst| {
            let Op::Intrinsic(call) = &kernel.func.insts[inst].op else { return true };
            if [LD_RF, RD_PGSM].contains(&call.name) {
                let Some(value) = kernel.func.result(inst) else { return true };
                let (address, mem) = (replacements.resolve(call.args[0]), call.mems.first());
                let read = (call.name, address, call.imms.clone(), mem.copied());
                return match known.get(&read) {
                    Some(&same) if kernel.func.ty(same) == kernel.func.ty(value) => {
                        replacements.replace(value, same);
                        false
                    }
                    _ => {
                        known.insert(read, value);
                        true
                    }
                };
            }
            if call.effect == Effect::Write {
                known.retain(|(name, _, _, mem), _| !may_change(kernel, call, name, *mem));
            }
            true
        });
        let kept: Vec<_> = kept.collect();
        kernel.func.blocks[block].insts = kept;
    }
    replacements.apply(&mut kernel.func);
}

/// Whether a write may change what a read has seen.
fn may_change(kernel: &Kernel, write: &IntrinsicCall, read: &str, of: Option<Mem>) -> bool {
    // Which of its objects a write changes, if it is in the memory that was read.
    let written = match (write.name, read) {
        (ST_RF | ST_PGSM, LD_RF) => write.mems.first(),
        (LD_PGSM, RD_PGSM) => write.mems.get(1),
        (WR_PGSM, RD_PGSM) => write.mems.first(),
        (ST_RF | ST_PGSM, RD_PGSM) | (LD_PGSM | WR_PGSM, LD_RF) => return false,
        _ => return true,
    };
    let object = |mem: Option<Mem>| mem.and_then(|mem| kernel.objects[mem]);
    match (object(written.copied()), object(of)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}
