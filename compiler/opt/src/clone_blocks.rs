//! Copies of blocks, as transforms make them that write a loop several times: unrolled, or in a version of its own.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Block, Counter, Function, Value};

/// Copies of some blocks: edges among these lead from copy to copy.
#[derive(Debug)]
pub struct ClonedBlocks {
    /// Blocks by those that they are copies of.
    pub blocks: BTreeMap<Block, Block>,
    /// Values by those that they are copies of.
    pub values: SecondaryMap<Value, Option<Value>>,
}

impl ClonedBlocks {
    /// Copies blocks, and puts the copies before `header` in the layout.
    pub fn before(func: &mut Function, blocks: &[Block], header: Block) -> ClonedBlocks {
        let mut cloned = ClonedBlocks { blocks: BTreeMap::new(), values: SecondaryMap::new() };
        let order: Vec<Block> =
            func.layout.iter().copied().filter(|block| blocks.contains(block)).collect();
        for &block in &order {
            let new = func.add_block();
            cloned.blocks.insert(block, new);
            for param in func.blocks[block].params.clone() {
                cloned.values[param] = Some(func.add_param(new, func.ty(param)));
            }
            for inst in func.blocks[block].insts.clone() {
                let data = func.insts[inst].clone();
                let types: Vec<_> = data.results.iter().map(|&value| func.ty(value)).collect();
                let made = func.make_inst(data.op, &types, data.span);
                for (&old, &new) in data.results.iter().zip(&func.insts[made].results) {
                    cloned.values[old] = Some(new);
                }
                func.blocks[new].insts.push(made);
            }
            func.blocks[new].terminator = func.blocks[block].terminator.clone();
            func.blocks[new].loop_info = func.blocks[block].loop_info.clone();
            if let Some(info) = &mut func.blocks[new].loop_info {
                let count =
                    |Counter { value, step }| Some(Counter { value: cloned.values[value]?, step });
                info.counter = info.counter.and_then(count);
            }
            func.blocks[new].cold = func.blocks[block].cold;
            func.blocks[new].span = func.blocks[block].span;
        }
        for &new in cloned.blocks.values() {
            func.rename_in(new, |value| {
                if let Some(new) = cloned.values[*value] {
                    *value = new;
                }
            });
            let Some(terminator) = &mut func.blocks[new].terminator else { continue };
            for to in terminator.successors_mut() {
                if let Some(&block) = cloned.blocks.get(&to.block) {
                    to.block = block;
                }
            }
        }
        let made = func.layout.split_off(func.layout.len() - order.len());
        let at = func.layout.iter().position(|&b| b == header).unwrap_or(func.layout.len());
        func.layout.splice(at..at, made);
        cloned
    }
}
