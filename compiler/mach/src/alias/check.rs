//! An independent check of an assignment with classes that alias: runs over the function with what
//! each entry of each file is known to hold, and asks at every read that all entries of the
//! register hold its parts. A copy makes its target and its source one value, until either is
//! written again. Knows nothing of liveness, interference or widths of classes beyond what it is
//! told.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use crate::{Block, Function, VReg};

/// Which parts of which registers' values each entry of each file is known to hold.
type Known = BTreeMap<(u8, u16), Held>;

/// Parts of registers that have one value.
type Held = BTreeSet<(VReg, u16)>;

/// Checks that at each read of a register its entries hold that register's value on every path.
/// `units` gives the file of a class and how many entries a value takes, `copy` target and source of
/// an instruction that only copies.
///
/// # Errors
/// The first read that may see another value, or a register that is not aligned.
pub fn check_units<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    units: impl Fn(I::Class) -> (u8, u16),
    entry_of: impl Fn(VReg) -> u16,
    copy: impl Fn(&I) -> Option<(VReg, VReg)>,
) -> Result<(), String>
where
    I::Class: Copy,
{
    let place = |vreg: VReg| {
        let (file, count) = units(func.vregs[vreg].class);
        (0..count).map(move |part| (file, part)).map({
            let first = entry_of(vreg);
            move |(file, part)| ((file, first + part), part)
        })
    };
    let transfer = |inst: &I, known: &mut Known| {
        let source = copy(inst).map(|(_, source)| source);
        for def in Function::uses_and_defs(inst).1 {
            let mut values: Vec<((u8, u16), Held)> = Vec::new();
            match source {
                Some(source) if source != def => {
                    for ((at, part), (from, _)) in place(def).zip(place(source)) {
                        let mut same = known.get(&from).cloned().unwrap_or_default();
                        same.retain(|(vreg, _)| *vreg != def);
                        same.insert((def, part));
                        values.push((at, same));
                    }
                }
                Some(_) => continue,
                None => {
                    values.extend(place(def).map(|(at, part)| (at, BTreeSet::from([(def, part)]))));
                }
            }
            for held in known.values_mut() {
                held.retain(|(vreg, _)| *vreg != def);
            }
            known.extend(values);
        }
    };
    let mut at_start: SecondaryMap<Block, Option<Known>> = SecondaryMap::new();
    let Some(entry) = func.blocks.keys().next() else { return Ok(()) };
    at_start[entry] = Some(Known::new());
    let mut work = vec![entry];
    while let Some(block) = work.pop() {
        let mut known = at_start[block].clone().unwrap_or_default();
        for data in &func.blocks[block].insts {
            transfer(&data.inst, &mut known);
        }
        for &successor in &func.blocks[block].successors {
            let merged: Known = match &at_start[successor] {
                None => known.clone(),
                Some(old) => {
                    let both = |(at, held): (&(u8, u16), &Held)| {
                        let other = known.get(at)?;
                        let common: Held = held.intersection(other).copied().collect();
                        (!common.is_empty()).then_some((*at, common))
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
    for (block, data) in &func.blocks {
        let Some(mut known) = at_start[block].clone() else { continue };
        for (index, inst) in data.insts.iter().enumerate() {
            let (uses, defs) = Function::uses_and_defs(&inst.inst);
            for &used in uses.iter().chain(&defs) {
                let (_, count) = units(func.vregs[used].class);
                if !entry_of(used).is_multiple_of(count) {
                    return Err(format!("{used} has entry {}, not aligned", entry_of(used)));
                }
            }
            for used in uses {
                for (at, part) in place(used) {
                    let holds = known.get(&at);
                    if !holds.is_some_and(|holds| holds.contains(&(used, part))) {
                        return Err(format!(
                            "{block}, instruction {index} of {}: reads {used} from {at:?}, which holds {holds:?}",
                            func.name
                        ));
                    }
                }
            }
            transfer(&inst.inst, &mut known);
        }
    }
    Ok(())
}
