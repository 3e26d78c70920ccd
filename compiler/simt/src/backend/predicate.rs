//! Predication: a branch around a few instructions with loads among them becomes these instructions, the
//! loads and what others see guarded by the condition (Park, Schlansker, "On Predicated Execution", 1991).
//! What has no effect is computed for all threads. It is done to selected instructions because only these
//! have guards; `passes/ifconvert.rs` has converted what needs none. A loop without branches inside is one
//! block, in which loads may come before what waits for others.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use nbcc_isa::{Imm, Instruction};
use nbcc_isa_simt::operands::{Base, Bits64, Order, Source, Space};
use nbcc_isa_simt::{Guard, Inst, NO_RECONVERGENCE, Op, Unit};
use nbcc_mach::liveness::Liveness;
use nbcc_mach::{Block, InstData, VReg};

use super::select::MachFunction;

/// The most instructions of an arm.
const LIMIT: usize = 6;

/// What follows a block becomes part of it at once where it has so many instructions at most. Others wait
/// until all branches are converted: each instruction of a long row of them then moves once.
const MAX_JOINED: usize = 64;

type Insts = Vec<InstData<Inst<VReg>>>;

/// Converts what can be; how many branches went.
pub fn run(func: &mut MachFunction) -> usize {
    let mut facts = Facts { live: Liveness::new(func), mentions: SecondaryMap::new() };
    for data in func.blocks.values() {
        data.insts.iter().for_each(|data| facts.count(&data.inst, 1));
    }
    let mut count = 0;
    let mut converted = BTreeSet::new();
    // Inner ones come later in the text than what is around them.
    for block in func.blocks.keys().rev().collect::<Vec<_>>() {
        while let Some(meeting) = convert(func, block, &mut facts) {
            count += 1;
            converted.insert(block);
            if func.blocks[meeting].insts.len() <= MAX_JOINED {
                join(func, block, meeting, &mut facts);
            }
        }
    }
    for &block in &converted {
        let mut last = block;
        while converted.contains(&last)
            && let Some(next) = way_on(func, block)
            && join(func, block, next, &mut facts)
        {
            last = next;
        }
    }
    count
}

struct Facts {
    /// As it was: what is needed behind a place stays the same.
    live: Liveness,
    /// How often the label of a block stands in instructions.
    mentions: SecondaryMap<Block, i32>,
}

impl Facts {
    fn count(&mut self, inst: &Inst<VReg>, change: i32) {
        let mut inst = *inst;
        inst.for_each_symbolic_mut(|imm| {
            if let Imm::Label(label) = *imm {
                self.mentions[Block::from_u32(label)] += change;
            }
        });
    }
}

/// A branch of a block to one of two arms.
struct Fork {
    condition: VReg,
    negated: bool,
    /// Where threads go for which the condition holds, and the others.
    ways: [Block; 2],
}

fn fork(func: &MachFunction, block: Block) -> Option<Fork> {
    let insts = &func.blocks[block].insts;
    let [.., first, second] = &insts[..] else { return None };
    let (Some(guard), None) = (first.inst.guard, second.inst.guard) else { return None };
    let (Op::Bra { target: Imm::Label(then), .. }, Op::Bra { target: Imm::Label(other), .. }) =
        (first.inst.op, second.inst.op)
    else {
        return None;
    };
    let ways = [then, other].map(Block::from_u32);
    (ways[0] != ways[1]).then_some(Fork { condition: guard.reg, negated: guard.negated, ways })
}

/// Where a block goes on that ends in a branch and has no other.
fn way_on(func: &MachFunction, block: Block) -> Option<Block> {
    let (last, before) = func.blocks[block].insts.split_last()?;
    match last.inst.op {
        Op::Bra { target: Imm::Label(to), .. }
            if last.inst.guard.is_none() && !before.iter().any(|inst| inst.inst.is_branch()) =>
        {
            Some(Block::from_u32(to))
        }
        _ => None,
    }
}

/// Converts the branch at the end of a block, if it can be: where its arms meet.
fn convert(func: &mut MachFunction, block: Block, facts: &mut Facts) -> Option<Block> {
    let Fork { condition, negated, ways } = fork(func, block)?;
    let arm = |way: Block| {
        let fits = func.blocks[way].insts.len() <= LIMIT + 1;
        way_on(func, way).filter(|to| fits && *to != way && facts.mentions[way] == 1)
    };
    let (meeting, arms) = match ways.map(arm) {
        [Some(a), Some(b)] if a == b => (a, [true, true]),
        [Some(a), _] if a == ways[1] => (a, [true, false]),
        [_, Some(b)] if b == ways[0] => (b, [false, true]),
        _ => return None,
    };
    if meeting == block || ways.contains(&block) {
        return None;
    }
    // What the second arm reads, and what it writes, unless there is none.
    let mut second = [BTreeSet::new(), BTreeSet::new()];
    if arms == [true, true] {
        for data in &func.blocks[ways[1]].insts {
            let (uses, defs) = MachFunction::uses_and_defs(&data.inst);
            second[0].extend(uses);
            second[1].extend(defs);
        }
    }
    let mut made: Insts = Vec::new();
    for (number, way) in ways.into_iter().enumerate().filter(|(number, _)| arms[*number]) {
        let guard = Guard { reg: condition, negated: negated != (number == 1) };
        let insts = &func.blocks[way].insts;
        for data in &insts[..insts.len() - 1] {
            let (_, defs) = MachFunction::uses_and_defs(&data.inst);
            // Whether other threads may get something else than they had.
            let may = |def: &VReg| {
                let is_needed = facts.live.live_in[meeting].binary_search(def).is_ok();
                let first = number == 0;
                !(first && second[0].contains(def))
                    && (!is_needed || first && second[1].contains(def))
            };
            let is_free = defs.iter().all(may);
            let mut data = data.clone();
            match kind_of(&data.inst) {
                None => return None,
                Some(_) if defs.contains(&condition) => return None,
                Some(Kind::Pure) => data.inst.guard = (!is_free).then_some(guard),
                Some(Kind::Load(zero)) => {
                    if is_free {
                        made.push(InstData::new(zero.into(), data.span));
                    }
                    data.inst.guard = Some(guard);
                }
            }
            made.push(data);
        }
    }
    if !made.iter().any(|data| data.inst.guard.is_some() && data.inst.unit() == Unit::Lsu) {
        return None;
    }
    let branches = func.blocks[block].insts.len() - 2;
    let old = func.blocks[block].insts.split_off(branches);
    old.iter().for_each(|data| facts.count(&data.inst, -1));
    for way in ways.into_iter().enumerate().filter_map(|(number, way)| arms[number].then_some(way))
    {
        abandon(func, way, facts);
    }
    let on =
        Op::Bra { target: Imm::Label(meeting.as_u32()), reconverge: Imm::Value(NO_RECONVERGENCE) };
    let on: Inst<VReg> = on.into();
    facts.count(&on, 1);
    let data = &mut func.blocks[block];
    data.insts.extend(made);
    data.insts.push(InstData::new(on, None));
    data.successors = vec![meeting];
    Some(meeting)
}

/// What is made of an instruction of an arm.
enum Kind {
    /// All threads may compute it.
    Pure,
    /// Only its own threads may; others have what this gives.
    Load(Op<VReg>),
}

fn kind_of(inst: &Inst<VReg>) -> Option<Kind> {
    if inst.guard.is_some() || super::dependence::is_fixed(inst) {
        return None;
    }
    match inst.op {
        Op::Ld { space: Space::Param, base: Base::Imm(_), .. }
        | Op::LdWide { space: Space::Param, base: Base::Imm(_), .. } => Some(Kind::Pure),
        Op::Ld { dst, order: Order::Weak, .. } => {
            Some(Kind::Load(Op::Mov { dst, src: Source::Imm(0) }))
        }
        Op::LdWide { dst, order: Order::Weak, .. } => {
            Some(Kind::Load(Op::MovBits { dst, bits: Bits64(0) }))
        }
        _ if matches!(inst.op.unit(), Unit::Alu | Unit::Sfu) => Some(Kind::Pure),
        _ => None,
    }
}

/// Nothing comes to a block any more.
fn abandon(func: &mut MachFunction, block: Block, facts: &mut Facts) {
    for data in empty(func, block) {
        facts.count(&data.inst, -1);
    }
}

/// Leaves of a block only its end; what it was.
fn empty(func: &mut MachFunction, block: Block) -> Insts {
    let data = &mut func.blocks[block];
    data.successors.clear();
    std::mem::replace(&mut data.insts, vec![InstData::new(Op::Exit {}.into(), None)])
}

/// What follows a block becomes part of it, where nothing else leads there: whether it does.
fn join(func: &mut MachFunction, block: Block, next: Block, facts: &mut Facts) -> bool {
    if facts.mentions[next] != 1 || next.as_u32() == 0 || next == block {
        return false;
    }
    let successors = func.blocks[next].successors.clone();
    let insts = empty(func, next);
    let data = &mut func.blocks[block];
    if let Some(last) = data.insts.pop() {
        facts.count(&last.inst, -1);
    }
    data.insts.extend(insts);
    data.successors = successors;
    true
}
