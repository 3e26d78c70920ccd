//! Dominators of the blocks and instructions of a function.

use cranelift_entity::SecondaryMap;

use crate::cfg::successors;
use crate::graph::DominatorTree;
use crate::{Block, Function, Inst, Value, ValueDef};

/// The dominator tree of a function. A snapshot: it does not follow later changes.
#[derive(Clone, Debug)]
pub struct Dominators {
    tree: DominatorTree,
}

impl Dominators {
    /// The tree of a function. Blocks under construction have no successors.
    pub fn new(func: &Function) -> Dominators {
        let edges = |block| successors(func, block).iter().map(|b| b.as_u32()).collect();
        let graph: Vec<Vec<u32>> = func.blocks.keys().map(edges).collect();
        Dominators { tree: DominatorTree::new(&graph, func.entry().as_u32()) }
    }

    /// The closest other block on every path from the entry. None for the entry and unreachable
    /// blocks.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.tree.immediate(block.as_u32()).map(Block::from_u32)
    }

    /// Whether every path from the entry to `b` visits `a`. Everything dominates an unreachable
    /// block.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        self.tree.dominates(a.as_u32(), b.as_u32())
    }

    /// Whether the entry reaches the block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.tree.is_reachable(block.as_u32())
    }

    /// The reachable blocks, each behind its immediate dominator and before what is outside the
    /// subtree.
    pub fn preorder(&self) -> impl Iterator<Item = Block> {
        self.tree.preorder().iter().map(|&node| Block::from_u32(node))
    }
}

/// Where each instruction stands.
#[derive(Clone, Debug)]
pub struct Positions {
    at: SecondaryMap<Inst, Option<(Block, u32)>>,
}

impl Positions {
    /// The instructions of a function's layout.
    pub fn new(func: &Function) -> Positions {
        let mut at = SecondaryMap::with_capacity(func.insts.len());
        for &block in &func.layout {
            for (number, &inst) in func.blocks[block].insts.iter().enumerate() {
                at[inst] = Some((block, number as u32));
            }
        }
        Positions { at }
    }

    /// The block of an instruction and its number there; none where it is in no block.
    pub fn of(&self, inst: Inst) -> Option<(Block, u32)> {
        self.at[inst]
    }

    /// The block that defines a value; none where its instruction is in no block.
    pub fn defining_block(&self, func: &Function, value: Value) -> Option<Block> {
        match func.values[value].def {
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst, _) => self.at[inst].map(|(block, _)| block),
        }
    }

    /// Whether a value is defined wherever `user` runs: before it in its block, or in a block that
    /// dominates it.
    pub fn is_available(
        &self,
        func: &Function,
        dominators: &Dominators,
        value: Value,
        user: (Block, u32),
    ) -> bool {
        match func.values[value].def {
            ValueDef::Param(block, _) => dominators.dominates(block, user.0),
            ValueDef::Result(inst, _) => match self.at[inst] {
                Some((block, number)) if block == user.0 => {
                    number < user.1 || !dominators.is_reachable(block)
                }
                Some((block, _)) => dominators.dominates(block, user.0),
                None => false,
            },
        }
    }
}
