//! Natural loops and their nesting: Aho, Lam, Sethi, Ullman, "Compilers", section 9.6.6. The body
//! of a loop is found backwards from its back edges, inner loops first, so that each block is
//! looked at once a nesting level.

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use nbcc_ir::{Block, Cfg, Dominators, Function, cfg::successors};

/// A loop of a [`LoopForest`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

/// What is known of a loop.
#[derive(Clone, Debug)]
pub struct LoopData {
    /// The block that every entry goes through.
    pub header: Block,
    /// The next larger loop around it.
    pub parent: Option<Loop>,
    /// 1 for a loop in no other.
    pub depth: u32,
    /// The blocks that go back to the header, without duplicates.
    pub latches: Vec<Block>,
    /// Its blocks but for those of inner loops, in reverse postorder; the header is the first.
    pub own: Vec<Block>,
    /// The loops right inside it.
    pub inner: Vec<Loop>,
}

/// The loops of a function. A snapshot: it does not follow later changes.
#[derive(Clone, Debug)]
pub struct LoopForest {
    /// The loops, each before those inside it.
    pub loops: PrimaryMap<Loop, LoopData>,
    innermost: SecondaryMap<Block, Option<Loop>>,
    /// Edges that go back in a cycle which is no natural loop: their target does not dominate
    /// their source.
    pub irreducible: Vec<(Block, Block)>,
}

impl LoopForest {
    /// The loops among the reachable blocks. Loops with one header are one loop.
    pub fn new(cfg: &Cfg, dominators: &Dominators) -> LoopForest {
        let order: Vec<Block> = cfg.reverse_postorder().collect();
        let mut irreducible = Vec::new();
        // Inner headers come behind outer ones in reverse postorder.
        let mut found: Vec<(Block, Vec<Block>)> = Vec::new();
        let mut parent: Vec<Option<usize>> = Vec::new();
        let mut innermost: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
        for &header in order.iter().rev() {
            let mut latches = Vec::new();
            for &from in cfg.predecessors(header) {
                if !cfg.is_reachable(from) || cfg.position(from) < cfg.position(header) {
                    continue;
                }
                if dominators.dominates(header, from) {
                    latches.push(from);
                } else {
                    irreducible.push((from, header));
                }
            }
            if latches.is_empty() {
                continue;
            }
            latches.sort();
            latches.dedup();
            let this = found.len();
            let mut work = latches.clone();
            found.push((header, latches));
            parent.push(None);
            while let Some(block) = work.pop() {
                let entry = match innermost[block] {
                    None => {
                        innermost[block] = Some(this);
                        block
                    }
                    Some(mut inner) => {
                        while let Some(outer) = parent[inner] {
                            inner = outer;
                        }
                        if inner == this {
                            continue;
                        }
                        parent[inner] = Some(this);
                        found[inner].0
                    }
                };
                if entry != header {
                    let from = cfg.predecessors(entry).iter();
                    work.extend(from.copied().filter(|&b| cfg.is_reachable(b)));
                }
            }
        }
        irreducible.sort();
        irreducible.dedup();
        // Outer loops were found last.
        let count = found.len();
        let id = |index: usize| Loop::from_u32((count - 1 - index) as u32);
        let mut forest =
            LoopForest { loops: PrimaryMap::new(), innermost: SecondaryMap::new(), irreducible };
        for (index, (header, latches)) in found.into_iter().enumerate().rev() {
            let parent = parent[index].map(id);
            let depth = parent.map_or(0, |p| forest.loops[p].depth) + 1;
            let data =
                LoopData { header, parent, depth, latches, own: Vec::new(), inner: Vec::new() };
            let this = forest.loops.push(data);
            if let Some(parent) = parent {
                forest.loops[parent].inner.push(this);
            }
        }
        for block in order {
            forest.innermost[block] = innermost[block].map(id);
            if let Some(l) = forest.innermost[block] {
                forest.loops[l].own.push(block);
            }
        }
        forest
    }

    /// All blocks of a loop with those of inner loops; the header is the first.
    pub fn blocks(&self, l: Loop) -> Vec<Block> {
        let (mut blocks, mut work) = (Vec::new(), vec![l]);
        while let Some(l) = work.pop() {
            blocks.extend(&self.loops[l].own);
            work.extend(&self.loops[l].inner);
        }
        blocks
    }

    /// The smallest loop around a block.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block]
    }

    /// The number of loops around a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost[block].map_or(0, |l| self.loops[l].depth)
    }

    /// Whether a block is in a loop, or in one inside it.
    pub fn contains(&self, l: Loop, block: Block) -> bool {
        let depth = self.loops[l].depth;
        let mut at = self.innermost[block];
        while let Some(inner) = at {
            if self.loops[inner].depth <= depth {
                return inner == l;
            }
            at = self.loops[inner].parent;
        }
        false
    }

    /// The loop that a block heads.
    pub fn headed_by(&self, block: Block) -> Option<Loop> {
        self.innermost[block].filter(|&l| self.loops[l].header == block)
    }

    /// The edges that leave a loop.
    pub fn exits(&self, func: &Function, l: Loop) -> Vec<(Block, Block)> {
        let mut exits = Vec::new();
        for from in self.blocks(l) {
            let to = successors(func, from).into_iter().filter(|&to| !self.contains(l, to));
            exits.extend(to.map(|to| (from, to)));
        }
        exits
    }
}
