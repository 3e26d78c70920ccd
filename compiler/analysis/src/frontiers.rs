//! Dominance frontiers (Cytron, Ferrante, Rosen, Wegman, Zadeck, "Efficiently Computing Static
//! Single Assignment Form and the Control Dependence Graph", TOPLAS 1991), each computed when it is
//! asked for: all together take the square of the depth of a nest of loops.
//!
//! With blocks numbered in preorder of the dominator tree, what a block dominates is a range. An
//! edge from there leads into the frontier where the immediate dominator of its target has a lower
//! number than the block. Of several edges from the range to one target the first counts, the one
//! before which in the order of sources is outside of the range.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Block, Cfg, Dominators, Function, cfg::successors};

use crate::min_tree::MinTree;

/// The dominance frontiers of the reachable blocks.
pub struct Frontiers {
    /// Numbers in preorder of the first and the last block that a block dominates, from 1.
    range: SecondaryMap<Block, (u32, u32)>,
    /// The first edge from the blocks from each number on.
    first: Vec<usize>,
    /// The target of each edge, in the order of sources.
    targets: Vec<Block>,
    /// Of each edge the number of the immediate dominator of its target, or that of the source
    /// before it of the same target where it is larger.
    outside: MinTree,
}

impl Frontiers {
    /// Of a function with this graph and these dominators.
    pub fn new(func: &Function, cfg: &Cfg, dominators: &Dominators) -> Frontiers {
        let preorder: Vec<Block> = dominators.preorder().collect();
        let mut range: SecondaryMap<Block, (u32, u32)> = SecondaryMap::new();
        for (number, &block) in (1..).zip(&preorder) {
            range[block] = (number, number);
        }
        for &block in preorder.iter().rev() {
            if let Some(above) = dominators.immediate(block) {
                range[above].1 = range[above].1.max(range[block].1);
            }
        }
        let mut last_source: SecondaryMap<Block, u32> = SecondaryMap::new();
        let (mut first, mut targets, mut outside) = (vec![0, 0], Vec::new(), Vec::new());
        for &block in &preorder {
            let number = range[block].0;
            for to in successors(func, block) {
                let above = dominators.immediate(to);
                // Most edges lead down the tree.
                if cfg.predecessors(to).len() == 1 && above == Some(block) {
                    continue;
                }
                let above = above.map_or(0, |above| range[above].0);
                let before = std::mem::replace(&mut last_source[to], number);
                targets.push(to);
                outside.push(above.max(before));
            }
            first.push(targets.len());
        }
        Frontiers { range, first, targets, outside: MinTree::new(&outside) }
    }

    /// The frontier of a reachable block: the blocks to which an edge leads from what it dominates,
    /// and which it does not dominate itself but for their being the block. No block twice.
    pub fn of(&self, block: Block) -> impl Iterator<Item = Block> {
        let (number, last) = self.range[block];
        let edges = self.first[number as usize]..self.first[last as usize + 1];
        self.outside.below(edges, number).into_iter().map(|edge| self.targets[edge])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nbcc_testing::{dense_function, graph_function, structured_function};

    use super::*;

    #[test]
    fn frontiers_follow_the_definition() {
        for seed in 0..200 {
            for func in [structured_function(seed), graph_function(seed), dense_function(seed)] {
                let (cfg, dominators) = (Cfg::new(&func), Dominators::new(&func));
                let frontiers = Frontiers::new(&func, &cfg, &dominators);
                for block in cfg.reverse_postorder() {
                    let expected: BTreeSet<Block> = cfg
                        .reverse_postorder()
                        .filter(|&from| dominators.dominates(block, from))
                        .flat_map(|from| successors(&func, from))
                        .filter(|&to| to == block || !dominators.dominates(block, to))
                        .collect();
                    let found: Vec<Block> = frontiers.of(block).collect();
                    assert_eq!(found.len(), expected.len(), "seed {seed}: {block}\n{func}");
                    assert!(found.iter().all(|to| expected.contains(to)), "seed {seed}: {block}");
                }
            }
        }
    }
}
