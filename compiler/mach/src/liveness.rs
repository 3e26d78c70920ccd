//! Which virtual registers are live where: the usual backward data flow, one bit set a block.

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_isa::Instruction;

use crate::{Block, Function, VReg};

/// Live registers at the borders of blocks. Fixed registers are never in them.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Live at the start of each block.
    pub live_in: SecondaryMap<Block, EntitySet<VReg>>,
    /// Live at the end of each block.
    pub live_out: SecondaryMap<Block, EntitySet<VReg>>,
}

/// Adds every element of `from` to `to`; whether that changed it.
fn union(to: &mut EntitySet<VReg>, from: &EntitySet<VReg>) -> bool {
    let mut changed = false;
    for vreg in from.iter() {
        changed |= to.insert(vreg);
    }
    changed
}

/// Computes liveness.
pub fn liveness<I: Instruction<Reg = VReg>>(func: &Function<I>) -> Liveness {
    let mut live_in: SecondaryMap<Block, EntitySet<VReg>> = SecondaryMap::new();
    let mut live_out: SecondaryMap<Block, EntitySet<VReg>> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for block in func.blocks.keys().rev() {
            let mut out = EntitySet::new();
            for &successor in &func.blocks[block].successors {
                union(&mut out, &live_in[successor]);
            }
            let mut live = out.clone();
            for data in func.blocks[block].insts.iter().rev() {
                step(func, &mut live, &data.inst);
            }
            union(&mut live_out[block], &out);
            changed |= union(&mut live_in[block], &live);
        }
    }
    Liveness { live_in, live_out }
}

/// Turns what is live after an instruction into what is live before it.
pub fn step<I: Instruction<Reg = VReg>>(func: &Function<I>, live: &mut EntitySet<VReg>, inst: &I) {
    let (uses, defs) = Function::uses_and_defs(inst);
    for def in defs {
        live.remove(def);
    }
    for used in uses {
        if func.vregs[used].fixed.is_none() {
            live.insert(used);
        }
    }
}
