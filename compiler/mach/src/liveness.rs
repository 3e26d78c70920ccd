//! Liveness by walking from each use back to the definitions (Brandner, Boissinot, Darte, Dupont
//! de Dinechin, Rastello, "Computing Liveness Sets for SSA-Form Programs", 2011, section 5), here
//! for registers with several definitions.

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_isa::Instruction;

use crate::{Block, Function, VReg};

/// The registers that are live at the borders of blocks, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    /// Live at the start of each block.
    pub live_in: SecondaryMap<Block, Vec<VReg>>,
    /// Live at the end of each block.
    pub live_out: SecondaryMap<Block, Vec<VReg>>,
}

impl Liveness {
    /// Computes liveness.
    pub fn new<I: Instruction<Reg = VReg>>(func: &Function<I>) -> Liveness {
        let mut predecessors: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for (block, data) in &func.blocks {
            for &to in &data.successors {
                predecessors[to].push(block);
            }
        }
        // Blocks that read a register before they write it, and that write it, by register.
        let none = u32::MAX;
        let mut written = vec![none; func.vregs.len()];
        let mut exposed: Vec<(VReg, Block)> = Vec::new();
        let mut defined: Vec<(VReg, Block)> = Vec::new();
        let mut read = vec![none; func.vregs.len()];
        for (block, data) in &func.blocks {
            let stamp = block.as_u32();
            for inst in &data.insts {
                inst.inst.for_each_operand(|operand| {
                    let at = operand.reg.index();
                    if operand.role.reads() && written[at] != stamp && read[at] != stamp {
                        read[at] = stamp;
                        exposed.push((*operand.reg, block));
                    }
                });
                inst.inst.for_each_operand(|operand| {
                    let at = operand.reg.index();
                    if operand.role.writes() && written[at] != stamp {
                        written[at] = stamp;
                        defined.push((*operand.reg, block));
                    }
                });
            }
        }
        exposed.sort_unstable();
        defined.sort_unstable();
        let mut live = Liveness::default();
        let mut defines: SecondaryMap<Block, u32> = SecondaryMap::with_default(none);
        let mut is_in: SecondaryMap<Block, u32> = SecondaryMap::with_default(none);
        let mut is_out: SecondaryMap<Block, u32> = SecondaryMap::with_default(none);
        let (mut uses, mut defs) = (exposed.as_slice(), defined.as_slice());
        let mut work = Vec::new();
        while let Some(&(vreg, _)) = uses.first() {
            let stamp = vreg.as_u32();
            let count = uses.partition_point(|&(other, _)| other == vreg);
            let (own, rest) = uses.split_at(count);
            uses = rest;
            defs = &defs[defs.partition_point(|&(other, _)| other < vreg)..];
            for &(_, block) in &defs[..defs.partition_point(|&(other, _)| other == vreg)] {
                defines[block] = stamp;
            }
            work.extend(own.iter().map(|&(_, block)| block));
            while let Some(block) = work.pop() {
                if std::mem::replace(&mut is_in[block], stamp) == stamp {
                    continue;
                }
                live.live_in[block].push(vreg);
                for &from in &predecessors[block] {
                    if std::mem::replace(&mut is_out[from], stamp) != stamp {
                        live.live_out[from].push(vreg);
                    }
                    if defines[from] != stamp {
                        work.push(from);
                    }
                }
            }
        }
        live
    }
}
