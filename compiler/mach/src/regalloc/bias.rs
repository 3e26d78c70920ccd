//! Biased colouring: a register takes the entry of one that it is copied from or to where that is
//! free, so that the copy goes away (Briggs, Cooper, Torczon, "Rematerialization", PLDI 1992). That costs
//! nothing, unlike coalescing, which has to prove first that the merged register finds an entry.

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use super::file::RegisterFile;
use super::spill::Spiller;
use crate::{Function, VReg};

/// The copies whose sides may share an entry of a file, target first, those in the deepest loops
/// first.
pub fn copies<I, S>(
    func: &Function<I>,
    file: &RegisterFile<I::Class>,
    spiller: &S,
) -> Vec<(VReg, VReg)>
where
    I: Instruction<Reg = VReg>,
    S: Spiller<I>,
{
    let mut copies: Vec<(u32, VReg, VReg)> = Vec::new();
    for data in func.blocks.values() {
        for inst in &data.insts {
            let Some((to, from)) = spiller.copy(&inst.inst) else { continue };
            let kind = |vreg| (func.vregs[vreg].class, func.vregs[vreg].bank);
            let same = kind(to) == kind(from);
            let chosen = [to, from].iter().all(|&vreg| func.vregs[vreg].fixed.is_none());
            let ours = file.width_of(func, to).is_some();
            if same && chosen && ours && spiller.coalesces(to, from) {
                copies.push((data.loop_depth, to, from));
            }
        }
    }
    copies.sort_by_key(|(depth, ..)| std::cmp::Reverse(*depth));
    copies.into_iter().map(|(_, to, from)| (to, from)).collect()
}

/// What each register is copied from and to, in the order of the copies.
pub fn partners(copies: &[(VReg, VReg)]) -> SecondaryMap<VReg, Vec<VReg>> {
    let mut partners: SecondaryMap<VReg, Vec<VReg>> = SecondaryMap::new();
    for &(to, from) in copies {
        partners[to].push(from);
        partners[from].push(to);
    }
    partners
}
