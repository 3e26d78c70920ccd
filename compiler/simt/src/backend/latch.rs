//! Lets a loop go back by the branch that may leave it. Values that go round a loop in other registers
//! than those in which they are made are moved on the way back, in a block of their own, which takes a
//! branch to it and one from it. Where nothing needs the old values behind the loop, they are moved
//! before the branch instead: the loop is a branch shorter, and its latch is a conditional branch, which
//! tells how often it runs.

use std::collections::BTreeSet;
use std::ops::Range;

use nbcc_isa::{Imm, Instruction};
use nbcc_isa_simt::operands::{Access, Base, Space};
use nbcc_isa_simt::{Inst, Op, RegClass};
use nbcc_mach::liveness::Liveness;
use nbcc_mach::{Block, VReg};

use super::regalloc::Registers;
use super::select::MachFunction;

/// Does so in a kernel that has its registers. What lies from `spilled` on in local memory are spilled
/// values.
pub fn run(func: &mut MachFunction, registers: &Registers, spilled: u64) {
    let live = Liveness::new(func);
    let mut entered = vec![0; func.blocks.len()];
    for data in func.blocks.values() {
        data.successors.iter().for_each(|to| entered[to.as_u32() as usize] += 1);
    }
    for block in func.blocks.keys().collect::<Vec<_>>() {
        let Some((leaves, between)) = way_back(func, block) else { continue };
        let moves = &func.blocks[between].insts;
        let (last, moves) = moves.split_last().expect("a block ends in a branch");
        let Op::Bra { target: Imm::Label(header), .. } = last.inst.op else { continue };
        let alone = last.inst.guard.is_none() && entered[between.as_u32() as usize] == 1;
        if !alone || header > block.as_u32() || moves.is_empty() {
            continue;
        }
        // What is needed behind the loop, and by the branch itself.
        let mut needed: BTreeSet<(RegClass, u16)> = BTreeSet::new();
        let parts = |vreg: VReg| parts(func, registers, vreg);
        live.live_in[leaves].iter().for_each(|&vreg| needed.extend(parts(vreg)));
        let insts = &func.blocks[block].insts;
        let branches = insts.len() - 2;
        needed.extend(insts[branches].inst.guard.iter().flat_map(|guard| parts(guard.reg)));
        let harmless = |inst: &Inst<VReg>| {
            let is_move = matches!(
                inst.op,
                Op::Mov { .. } | Op::MovWide { .. } | Op::MovBits { .. } | Op::PredMov { .. }
            );
            let (_, writes) = MachFunction::uses_and_defs(inst);
            let overwrites = writes.into_iter().flat_map(parts).any(|part| needed.contains(&part));
            let is_harmless = match slot(&inst.op, spilled) {
                Some((Spilled::Loads, _)) => true,
                Some((Spilled::Stores, bytes)) => !is_needed(func, leaves, &bytes, spilled),
                None => is_move,
            };
            is_harmless && inst.guard.is_none() && !overwrites
        };
        if !moves.iter().all(|inst| harmless(&inst.inst)) {
            continue;
        }
        let moves = moves.to_vec();
        let back = Block::from_u32(header);
        let data = &mut func.blocks[block];
        data.insts.splice(branches..branches, moves);
        for inst in &mut data.insts[branches..] {
            inst.inst.for_each_symbolic_mut(|imm| {
                if *imm == Imm::Label(between.as_u32()) {
                    *imm = Imm::Label(header);
                }
            });
        }
        for to in &mut data.successors {
            if *to == between {
                *to = back;
            }
        }
    }
}

/// Of a block that ends in a branch for some threads and one for the others: the block behind the loop
/// and the one with the moves, if one of the two only moves values and goes on.
fn way_back(func: &MachFunction, block: Block) -> Option<(Block, Block)> {
    let [.., some, others] = &func.blocks[block].insts[..] else { return None };
    let target = |op: &Op<VReg>| match *op {
        Op::Bra { target: Imm::Label(to), .. } => Some(Block::from_u32(to)),
        _ => None,
    };
    let (first, second) = (target(&some.inst.op)?, target(&others.inst.op)?);
    if some.inst.guard.is_none() || others.inst.guard.is_some() || first == second {
        return None;
    }
    let only_goes_back = |between: Block| {
        let last = func.blocks[between].insts.last();
        last.and_then(|last| target(&last.inst.op)).is_some_and(|to| to.as_u32() <= block.as_u32())
    };
    if only_goes_back(second) {
        Some((first, second))
    } else {
        only_goes_back(first).then_some((second, first))
    }
}

/// What an instruction does to a spilled value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spilled {
    Loads,
    Stores,
}

/// The bytes of local memory of a spilled value that an instruction loads or stores, if it does nothing
/// else.
fn slot(op: &Op<VReg>, spilled: u64) -> Option<(Spilled, Range<u64>)> {
    let (what, space, base, offset, bytes) = match *op {
        Op::Ld { space, access: Access::B32, base, offset, .. } => {
            (Spilled::Loads, space, base, offset, 4)
        }
        Op::LdWide { space, base, offset, .. } => (Spilled::Loads, space, base, offset, 8),
        Op::St { space, access: Access::B32, base, offset, .. } => {
            (Spilled::Stores, space, base, offset, 4)
        }
        Op::StWide { space, base, offset, .. } => (Spilled::Stores, space, base, offset, 8),
        _ => return None,
    };
    let from = u64::try_from(offset.0).ok()?;
    let is_slot = space == Space::Local && base == Base::Imm(0) && from >= spilled;
    is_slot.then_some((what, from..from + bytes))
}

/// Whether something loads a spilled value of those bytes from the start of a block on before another one
/// is stored there.
fn is_needed(func: &MachFunction, from: Block, bytes: &Range<u64>, spilled: u64) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut work = vec![from];
    'blocks: while let Some(block) = work.pop() {
        for data in &func.blocks[block].insts {
            match slot(&data.inst.op, spilled) {
                Some((Spilled::Loads, loaded))
                    if loaded.start < bytes.end && bytes.start < loaded.end =>
                {
                    return true;
                }
                Some((Spilled::Stores, stored))
                    if data.inst.guard.is_none()
                        && stored.start <= bytes.start
                        && bytes.end <= stored.end =>
                {
                    continue 'blocks;
                }
                _ => {}
            }
        }
        work.extend(func.blocks[block].successors.iter().filter(|&&to| seen.insert(to)));
    }
    false
}

/// The entries that a value is in, each by itself.
fn parts(
    func: &MachFunction,
    registers: &Registers,
    vreg: VReg,
) -> impl Iterator<Item = (RegClass, u16)> + use<> {
    let entry = registers.allocation.entries[vreg];
    let (class, count) = match func.vregs[vreg].class {
        RegClass::Wide => (RegClass::Word, 2),
        class => (class, 1),
    };
    (entry..entry + count).map(move |entry| (class, entry))
}
