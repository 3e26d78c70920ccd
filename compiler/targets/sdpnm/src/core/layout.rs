//! The last order of branches: jumps to jumps go to their ends, what nothing reaches goes, jumps to
//! what follows go, and branches over jumps are turned round. Then branches that do not reach become
//! branches over jumps: which do follows from the places of all, so that it is done until none is left
//! (Szymanski, "Assembling Code for Machines with Span-Dependent Instructions", CACM 1978).

use nbcc_isa::{Imm, Instruction};
use nbcc_isa_sdpnm::core::Inst;
use nbcc_mach::{Block, InstData, VReg};

use super::MachFunction;

/// Bytes of an instruction.
pub(super) const BYTES: i64 = 4;

/// The bytes that a branch reaches forwards; backwards it reaches two more.
const MAX_FORWARD: i64 = 4094;

/// Straightens the branches of a function. `zero` is the register that is zero.
pub fn straighten(func: &mut MachFunction, zero: VReg) {
    let count = func.blocks.len() as u32;
    for number in 0..count {
        let block = Block::from_u32(number);
        for at in 0..func.blocks[block].insts.len() {
            let Some(Imm::Label(to)) = func.blocks[block].insts[at].inst.symbolic() else {
                continue;
            };
            let end = end_of(func, to, zero);
            if let Some(imm) = func.blocks[block].insts[at].inst.symbolic_mut() {
                *imm = Imm::Label(end);
            }
        }
    }
    let reached = reached(func);
    for number in (0..count).filter(|&number| !reached[number as usize]) {
        func.blocks[Block::from_u32(number)].insts.clear();
    }
    for number in 0..count {
        let block = Block::from_u32(number);
        let next = (number + 1..count)
            .find(|&next| !func.blocks[Block::from_u32(next)].insts.is_empty())
            .unwrap_or(count);
        let insts = &mut func.blocks[block].insts;
        let is_next = |label: u32| label > number && label <= next;
        let Some(jump) = insts.last().and_then(|last| jump_of(&last.inst, zero)) else { continue };
        if is_next(jump) {
            insts.pop();
            continue;
        }
        let before = insts.len().checked_sub(2);
        let Some(branch) = before.map(|at| insts[at].inst) else { continue };
        if let (Some(Imm::Label(to)), Some(turned)) = (branch.symbolic(), turned(&branch, jump))
            && is_next(to)
        {
            insts.pop();
            let last = insts.len() - 1;
            insts[last].inst = turned;
        }
    }
}

/// Where a jump to a block goes in the end.
fn end_of(func: &MachFunction, label: u32, zero: VReg) -> u32 {
    let (mut at, mut steps) = (label, func.blocks.len());
    loop {
        let insts = &func.blocks[Block::from_u32(at)].insts;
        let next = match &insts[..] {
            [only] => jump_of(&only.inst, zero),
            _ => None,
        };
        match next {
            // Jumps may go round in a circle.
            Some(next) if steps > 0 => (at, steps) = (next, steps - 1),
            _ => return at,
        }
    }
}

/// The blocks that can be reached from the first.
fn reached(func: &MachFunction) -> Vec<bool> {
    let mut reached = vec![false; func.blocks.len()];
    let mut todo = vec![0];
    while let Some(at) = todo.pop() {
        if std::mem::replace(&mut reached[at as usize], true) {
            continue;
        }
        for data in &func.blocks[Block::from_u32(at)].insts {
            if let Some(Imm::Label(to)) = data.inst.symbolic() {
                todo.push(to);
            }
        }
    }
    reached
}

/// The block that a plain jump goes to.
pub(super) fn jump_of(inst: &Inst<VReg>, zero: VReg) -> Option<u32> {
    match *inst {
        Inst::Jal { dst, to: Imm::Label(to) } if dst == zero => Some(to),
        _ => None,
    }
}

/// The branch of the opposite condition to another block; `None` for what is no branch.
fn turned(inst: &Inst<VReg>, to: u32) -> Option<Inst<VReg>> {
    let to = Imm::Label(to);
    opposite(inst, to)
}

fn opposite(inst: &Inst<VReg>, to: Imm) -> Option<Inst<VReg>> {
    Some(match *inst {
        Inst::Beq { a, b, .. } => Inst::Bne { a, b, to },
        Inst::Bne { a, b, .. } => Inst::Beq { a, b, to },
        Inst::Blt { a, b, .. } => Inst::Bge { a, b, to },
        Inst::Bge { a, b, .. } => Inst::Blt { a, b, to },
        Inst::Bltu { a, b, .. } => Inst::Bgeu { a, b, to },
        Inst::Bgeu { a, b, .. } => Inst::Bltu { a, b, to },
        _ => return None,
    })
}

/// Makes branches over jumps of the branches that do not reach; how many there are.
pub fn extend(func: &mut MachFunction, zero: VReg) -> u32 {
    let mut extended = 0;
    loop {
        let mut starts = Vec::with_capacity(func.blocks.len());
        let mut here = 0;
        for data in func.blocks.values() {
            starts.push(here);
            here += data.insts.len() as i64 * BYTES;
        }
        let before = extended;
        let mut here = 0;
        for data in func.blocks.values_mut() {
            let mut at = 0;
            while at < data.insts.len() {
                let InstData { inst, span, .. } = data.insts[at].clone();
                here += BYTES;
                at += 1;
                let Some(Imm::Label(to)) = inst.symbolic() else { continue };
                let distance = starts[to as usize] - (here - BYTES);
                let Some(over) = opposite(&inst, Imm::Value(2 * BYTES as i32)) else { continue };
                if (-MAX_FORWARD - 2..=MAX_FORWARD).contains(&distance) {
                    continue;
                }
                data.insts[at - 1].inst = over;
                let jump = Inst::Jal { dst: zero, to: Imm::Label(to) };
                data.insts.insert(at, InstData::new(jump, span));
                at += 1;
                here += BYTES;
                extended += 1;
            }
        }
        if extended == before {
            return extended;
        }
    }
}
