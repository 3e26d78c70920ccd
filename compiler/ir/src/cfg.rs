//! The control-flow graph of a function: predecessors, and the reachable blocks in reverse
//! postorder. A snapshot: it does not follow later changes of the function.

use cranelift_entity::{EntityRef, SecondaryMap};

use crate::{Block, Function};

/// Predecessors and an order of the blocks.
#[derive(Clone, Debug)]
pub struct Cfg {
    predecessors: SecondaryMap<Block, Vec<Block>>,
    postorder: Vec<Block>,
    /// Position in reverse postorder, from 1; 0 for unreachable blocks.
    number: SecondaryMap<Block, u32>,
}

impl Cfg {
    /// The graph of a function. Blocks under construction have no successors.
    pub fn new(func: &Function) -> Cfg {
        let mut cfg = Cfg {
            predecessors: SecondaryMap::new(),
            postorder: Vec::new(),
            number: SecondaryMap::new(),
        };
        for &block in &func.layout {
            for to in successors(func, block) {
                cfg.predecessors[to].push(block);
            }
        }
        let mut seen = vec![false; func.blocks.len()];
        let mut stack = Vec::new();
        let open = |block: Block| (block, successors(func, block));
        if let Some(&entry) = func.layout.first() {
            seen[entry.index()] = true;
            stack.push(open(entry));
        }
        // Successors are taken from the last to the first, so that in reverse postorder the first
        // comes first.
        while let Some((block, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(to) if seen[to.index()] => {}
                Some(to) => {
                    seen[to.index()] = true;
                    stack.push(open(to));
                }
                None => {
                    cfg.postorder.push(*block);
                    stack.pop();
                }
            }
        }
        for (number, &block) in cfg.postorder.iter().rev().enumerate() {
            cfg.number[block] = number as u32 + 1;
        }
        cfg
    }

    /// Where the edges into a block come from: a block that has several edges there stands there
    /// several times. Unreachable blocks count.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        &self.predecessors[block]
    }

    /// The reachable blocks: the entry first, each block before its successors but for edges that
    /// go back in a cycle.
    pub fn reverse_postorder(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator {
        self.postorder.iter().rev().copied()
    }

    /// A block's position in reverse postorder; none where it is unreachable.
    pub fn position(&self, block: Block) -> Option<u32> {
        self.number[block].checked_sub(1)
    }

    /// Whether the entry reaches the block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.number[block] != 0
    }
}

/// The blocks that may follow a block, an entry an edge. None while it is under construction.
pub fn successors(func: &Function, block: Block) -> Vec<Block> {
    let terminator = func.blocks[block].terminator.as_ref();
    terminator.map_or(Vec::new(), |t| t.successors().iter().map(|to| to.block).collect())
}
