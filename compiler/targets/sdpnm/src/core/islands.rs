//! Jumps that do not reach: they go to islands on the way, jumps of their own that stand where control
//! never falls in, so that no register is needed for an address. An island serves all jumps to one block
//! that reach it; one that does not reach the block itself goes to another.

use std::collections::BTreeMap;

use nbcc_base::Span;
use nbcc_isa::{Imm, Instruction};
use nbcc_isa_sdpnm::core::Inst;
use nbcc_mach::{Block, BlockData, InstData, VReg};

use super::MachFunction;
use super::layout::{BYTES, jump_of};

/// The bytes that a jump reaches forwards; backwards it reaches two more.
pub const MAX_FORWARD: i64 = (1 << 20) - 2;

/// The part of its reach that a jump to an island has left for the code that grows in between.
const ROOM: i64 = 16;

/// A jump that is to be made: before that block, to that one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Island {
    before: u32,
    to: u32,
}

/// Gives jumps that reach less than `reach` bytes islands, once each. What blocks are called afterwards, by
/// their old numbers, where something changed.
///
/// # Errors
/// A jump with no place for an island on its way, by where it comes from in the source.
pub fn put(
    func: &mut MachFunction,
    zero: VReg,
    reach: i64,
) -> Result<Option<Vec<u32>>, Option<Span>> {
    let count = func.blocks.len() as u32;
    let mut starts = Vec::with_capacity(func.blocks.len());
    let (mut here, mut falls) = (0, true);
    // Where islands may stand: their blocks with what these begin at.
    let mut shores: Vec<(i64, u32)> = Vec::new();
    for (block, data) in func.blocks.iter() {
        starts.push(here);
        if !falls {
            shores.push((here, block.as_u32()));
        }
        here += data.insts.len() as i64 * BYTES;
        if let Some(last) = data.insts.last() {
            falls = jump_of(&last.inst, zero).is_none();
        }
    }
    let near = reach - reach / ROOM;
    // Each island is to be nearer by as much, so that there is an end.
    let least = reach / ROOM;
    let mut islands: BTreeMap<Island, Option<Span>> = BTreeMap::new();
    // The jumps that go to islands, by block and place in it.
    let mut sent: Vec<(Block, usize, Island)> = Vec::new();
    for (block, data) in func.blocks.iter() {
        let start = starts[block.as_u32() as usize];
        for (at, InstData { inst, span, .. }) in data.insts.iter().enumerate() {
            let Some(to) = jump_of(inst, zero) else { continue };
            let here = start + at as i64 * BYTES;
            let distance = starts[to as usize] - here;
            if distance.abs() <= reach {
                continue;
            }
            // The farthest shore on the way that is surely reached.
            let before = if distance > 0 {
                let end = shores.partition_point(|&(place, _)| place <= here + near);
                shores[..end].last().filter(|(place, _)| *place > here + least)
            } else {
                let begin = shores.partition_point(|&(place, _)| place < here - near);
                shores[begin..].first().filter(|(place, _)| *place < here - least)
            };
            let &(_, before) = before.ok_or(*span)?;
            let island = Island { before, to };
            islands.entry(island).or_insert(*span);
            sent.push((block, at, island));
        }
    }
    if sent.is_empty() {
        return Ok(None);
    }
    let islands: Vec<(Island, Option<Span>)> = islands.into_iter().collect();
    let before =
        |number: u32| islands.partition_point(|(island, _)| island.before <= number) as u32;
    let names: Vec<u32> = (0..count).map(|number| number + before(number)).collect();
    let mut targets = BTreeMap::new();
    for (number, (island, _)) in islands.iter().enumerate() {
        let own = island.before + number as u32;
        targets.insert(*island, own);
    }
    let mut old = std::mem::take(&mut func.blocks);
    let renamed = |label: u32| Imm::Label(names[label as usize]);
    for data in old.values_mut() {
        for data in &mut data.insts {
            if let Some(imm) = data.inst.symbolic_mut()
                && let Imm::Label(to) = *imm
            {
                *imm = renamed(to);
            }
        }
        for successor in &mut data.successors {
            *successor = Block::from_u32(names[successor.as_u32() as usize]);
        }
    }
    for (block, at, island) in sent {
        if let Some(imm) = old[block].insts[at].inst.symbolic_mut() {
            *imm = Imm::Label(targets[&island]);
        }
    }
    let mut next = islands.iter().peekable();
    for (block, data) in old {
        while let Some((island, span)) = next.next_if(|(i, _)| i.before == block.as_u32()) {
            let jump = Inst::Jal { dst: zero, to: renamed(island.to) };
            let insts = vec![InstData::new(jump, *span)];
            let successors = vec![Block::from_u32(names[island.to as usize])];
            func.blocks.push(BlockData { insts, successors, loop_depth: 0 });
        }
        func.blocks.push(data);
    }
    Ok(Some(names))
}

#[cfg(test)]
mod tests {
    use nbcc_isa_sdpnm::core::Class;

    use super::*;

    /// Blocks of so many instructions each, of which the last goes to another block.
    fn function(blocks: &[(usize, u32)]) -> (MachFunction, VReg) {
        let mut func = MachFunction::new("f");
        let zero = func.fixed(Class::X, 0);
        for &(count, to) in blocks {
            let mut insts = vec![InstData::new(Inst::Fence {}, None); count];
            insts.push(InstData::new(Inst::Jal { dst: zero, to: Imm::Label(to) }, None));
            func.blocks.push(BlockData {
                insts,
                successors: vec![Block::from_u32(to)],
                loop_depth: 0,
            });
        }
        (func, zero)
    }

    /// The blocks that are not islands, from one to the one that it goes to in the end.
    fn ways(func: &MachFunction, zero: VReg, reach: i64) -> Vec<usize> {
        let mut starts = vec![0];
        for data in func.blocks.values() {
            starts.push(starts[starts.len() - 1] + data.insts.len() as i64 * BYTES);
        }
        let jump = |block: usize| {
            let insts = &func.blocks[Block::from_u32(block as u32)].insts;
            jump_of(&insts[insts.len() - 1].inst, zero).expect("a jump") as usize
        };
        let size = |block: usize| func.blocks[Block::from_u32(block as u32)].insts.len();
        let real: Vec<usize> = (0..func.blocks.len()).filter(|&block| size(block) > 1).collect();
        for block in 0..func.blocks.len() {
            let distance = starts[jump(block)] - (starts[block + 1] - BYTES);
            assert!(distance.abs() <= reach, "{distance} bytes");
        }
        let end = |&block: &usize| {
            let mut at = jump(block);
            while size(at) == 1 {
                at = jump(at);
            }
            real.iter().position(|&block| block == at).expect("a block")
        };
        real.iter().map(end).collect()
    }

    #[test]
    fn far_jumps_go_by_islands_and_arrive() {
        // Each block is 80 bytes; forwards and backwards, several to one block, several islands away.
        let to = [19, 19, 3, 19, 0, 0, 18, 19, 2, 9, 0, 1, 12, 5, 19, 0, 1, 19, 0, 0];
        let blocks: Vec<(usize, u32)> = to.iter().map(|&to| (19, to)).collect();
        for reach in [254, 510, 1022, 4094] {
            let (mut func, zero) = function(&blocks);
            let mut rounds = 0;
            while put(&mut func, zero, reach).expect("shores").is_some() {
                rounds += 1;
                assert!(rounds < 100);
            }
            let ends = ways(&func, zero, reach);
            assert_eq!(ends, to.map(|to| to as usize), "reach {reach}");
            assert_eq!(rounds > 0, reach < 4094);
        }
    }

    #[test]
    fn a_block_longer_than_the_reach_is_refused() {
        let (mut func, zero) = function(&[(5, 2), (400, 0), (5, 0)]);
        assert!(put(&mut func, zero, 1022).is_err());
    }
}
