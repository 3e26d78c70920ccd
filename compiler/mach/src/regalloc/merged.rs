//! Registers that have become one.

use nbcc_isa::Instruction;
use petgraph::unionfind::UnionFind;

use super::file::Allocation;
use super::spill::Spiller;
use crate::{Function, VReg};

/// Which registers have become one.
pub struct Merged(UnionFind<u32>);

impl Merged {
    /// `count` registers, each by itself.
    pub fn new(count: usize) -> Merged {
        Merged(UnionFind::new(count))
    }

    /// The register that stands for those that one has become one with.
    pub fn find(&mut self, vreg: VReg) -> VReg {
        VReg::from_u32(self.0.find_mut(vreg.as_u32()))
    }

    /// Makes two registers one.
    pub fn unite(&mut self, a: VReg, b: VReg) {
        self.0.union(a.as_u32(), b.as_u32());
    }

    /// Names what has become one alike in a function, and removes copies of a register to itself.
    pub fn rewrite<I, S>(&mut self, func: &mut Function<I>, spiller: &S, done: &mut Allocation)
    where
        I: Instruction<Reg = VReg>,
        S: Spiller<I>,
    {
        for (block, data) in func.blocks.iter_mut() {
            for inst in &mut data.insts {
                inst.inst.for_each_operand_mut(|operand| *operand.reg = self.find(*operand.reg));
            }
            let itself = |inst: &I| spiller.copy(inst).is_some_and(|(to, from)| to == from);
            let stays: Vec<bool> = data.insts.iter().map(|inst| !itself(&inst.inst)).collect();
            let mut stay = stays.iter();
            data.insts.retain(|_| *stay.next().unwrap_or(&true));
            let mut stay = stays.iter();
            done.origins[block].retain(|_| *stay.next().unwrap_or(&true));
            done.coalesced += stays.iter().filter(|stays| !**stays).count() as u32;
        }
    }
}
