//! An independent check of a register assignment: runs over the function with what each entry is
//! known to hold, and asks at every read that the entry holds the register read. Knows nothing of
//! liveness or interference.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use crate::{Block, Function, VReg};

/// Which register's value each entry is known to hold.
type Known<C> = BTreeMap<(C, u16), VReg>;

/// Checks that at each read of a register its entry holds that register's value on every path.
///
/// # Errors
/// The first read that may see another value.
pub fn check_assignment<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    entry_of: impl Fn(VReg) -> u16,
) -> Result<(), String> {
    let mut at_start: SecondaryMap<Block, Option<Known<I::Class>>> = SecondaryMap::new();
    let Some(entry) = func.blocks.keys().next() else { return Ok(()) };
    at_start[entry] = Some(Known::new());
    let mut work = vec![entry];
    while let Some(block) = work.pop() {
        let mut known = at_start[block].clone().expect("only reached blocks are queued");
        for data in &func.blocks[block].insts {
            transfer(func, &data.inst, &entry_of, &mut known);
        }
        for &successor in &func.blocks[block].successors {
            let merged = match &at_start[successor] {
                None => known.clone(),
                Some(old) => {
                    let both = |(k, v): (&(I::Class, u16), &VReg)| {
                        (known.get(k) == Some(v)).then_some((*k, *v))
                    };
                    old.iter().filter_map(both).collect()
                }
            };
            if at_start[successor].as_ref() != Some(&merged) {
                at_start[successor] = Some(merged);
                work.push(successor);
            }
        }
    }
    for (block, data) in func.blocks.iter() {
        let Some(mut known) = at_start[block].clone() else { continue };
        for (index, inst) in data.insts.iter().enumerate() {
            for used in Function::uses_and_defs(&inst.inst).0 {
                let reg = &func.vregs[used];
                if reg.fixed.is_some() {
                    continue;
                }
                let holds = known.get(&(reg.class, entry_of(used)));
                if holds != Some(&used) {
                    return Err(format!(
                        "{block}, instruction {index} of {}: reads {used} from {}{}, which holds {holds:?}",
                        func.name,
                        nbcc_isa::RegisterClass::prefix(reg.class),
                        entry_of(used),
                    ));
                }
            }
            transfer(func, &inst.inst, &entry_of, &mut known);
        }
    }
    Ok(())
}

fn transfer<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    inst: &I,
    entry_of: &impl Fn(VReg) -> u16,
    known: &mut Known<I::Class>,
) {
    for def in Function::uses_and_defs(inst).1 {
        known.insert((func.vregs[def].class, entry_of(def)), def);
    }
}
