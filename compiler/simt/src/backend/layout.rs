//! The last form of control flow, once registers are known: branches lead past blocks that only go
//! on elsewhere, blocks that nothing reaches go, and so do branches to the next block.

use std::collections::BTreeSet;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use nbcc_isa::{Imm, Instruction};
use nbcc_isa_simt::Op;
use nbcc_mach::Block;

use super::select::MachFunction;

/// Straightens the blocks of a function. Every block ends in an unguarded branch, an exit or a
/// trap; afterwards a block may also go on with the next one.
pub fn run(func: &mut MachFunction) {
    let ends = ends(func);
    for data in func.blocks.values_mut() {
        for inst in &mut data.insts {
            inst.inst.for_each_symbolic_mut(|imm| {
                if let Imm::Label(label) = imm {
                    *label = ends[Block::from_u32(*label)];
                }
            });
        }
        for to in &mut data.successors {
            *to = Block::from_u32(ends[*to]);
        }
        let mut seen = BTreeSet::new();
        data.successors.retain(|to| seen.insert(*to));
    }
    let kept = reachable(func);
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::new();
    for (at, &block) in kept.iter().enumerate() {
        number[block] = at as u32;
    }
    let present: BTreeSet<Block> = kept.iter().copied().collect();
    let mut blocks = PrimaryMap::new();
    for (at, &block) in kept.iter().enumerate() {
        let data = &func.blocks[block];
        let mut data = nbcc_mach::BlockData {
            insts: data.insts.clone(),
            successors: data.successors.clone(),
            loop_depth: data.loop_depth,
        };
        for to in &mut data.successors {
            *to = Block::from_u32(number[*to]);
        }
        for inst in &mut data.insts {
            inst.inst.for_each_symbolic_mut(|imm| {
                if let Imm::Label(label) = imm {
                    let to = Block::from_u32(*label);
                    // Where nobody comes, nobody meets.
                    *imm = match present.contains(&to) {
                        true => Imm::Label(number[to]),
                        false => Imm::Value(nbcc_isa_simt::NO_RECONVERGENCE),
                    };
                }
            });
        }
        drop_needless(&mut data.insts, Imm::Label(at as u32 + 1));
        blocks.push(data);
    }
    func.blocks = blocks;
}

/// Where a block that only goes on elsewhere leads in the end; itself for others.
fn ends(func: &MachFunction) -> SecondaryMap<Block, u32> {
    let mut ends = SecondaryMap::new();
    for start in func.blocks.keys() {
        let mut at = start;
        // A cycle of such blocks is an endless loop.
        for _ in 0..16 {
            match func.blocks[at].insts[..] {
                [ref only] if only.inst.guard.is_none() => match only.inst.op {
                    Op::Bra { target: Imm::Label(to), .. } if to != at.as_u32() => {
                        at = Block::from_u32(to);
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        ends[start] = at.as_u32();
    }
    ends
}

fn reachable(func: &MachFunction) -> Vec<Block> {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    let entry = Block::from_u32(0);
    let mut work = vec![entry];
    seen[entry] = true;
    while let Some(block) = work.pop() {
        for &to in &func.blocks[block].successors {
            if !std::mem::replace(&mut seen[to], true) {
                work.push(to);
            }
        }
    }
    func.blocks.keys().filter(|&block| seen[block]).collect()
}

/// Leaves out a branch to the next block at the end, turning the one before it round where that
/// makes it possible.
fn drop_needless(
    insts: &mut Vec<nbcc_mach::InstData<nbcc_isa_simt::Inst<nbcc_mach::VReg>>>,
    next: Imm,
) {
    let Some(last) = insts.last() else { return };
    let Op::Bra { target: other, .. } = last.inst.op else { return };
    if last.inst.guard.is_some() {
        return;
    }
    if other == next {
        insts.pop();
        return;
    }
    let count = insts.len();
    if count < 2 {
        return;
    }
    let before = &mut insts[count - 2].inst;
    if let (Op::Bra { target, .. }, Some(guard)) = (&mut before.op, &mut before.guard)
        && *target == next
    {
        *target = other;
        guard.negated = !guard.negated;
        insts.pop();
    }
}
