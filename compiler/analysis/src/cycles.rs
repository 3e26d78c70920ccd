//! The cycles in which threads may part for good: of a branch, the blocks on ways that come back to
//! it without passing its immediate post-dominator.
//!
//! Such a cycle is a strongly connected component of the graph without that post-dominator. All its
//! blocks lie below the post-dominator in the post-dominator tree, and cycles of different
//! post-dominators lie inside one another or apart, so that they form a forest. It is built bottom
//! up, as loop nesting forests are: Ramalingam, "Identifying Loops in Almost Linear Time" (TOPLAS
//! 1999), with inner cycles contracted by union-find (Tarjan).
//!
//! An edge from a block leads below the block's immediate post-dominator or to it. Below a
//! post-dominator `p` the subtrees of its children are hence left only by edges of the children,
//! and each of their blocks reaches its child: the components are those of the graph of the
//! children, where an edge to any block of a subtree leads to the child above it, together with
//! what is reached from such edges inside subtrees.

use std::ops::Range;

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_ir::{Block, Function, cfg::successors};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::postdominators::PostDominators;

/// A cycle of [`Cycles`], by number: inner ones before outer ones.
pub type Cycle = usize;

struct Data {
    parent: Option<Cycle>,
    /// 1 for a cycle in no other.
    depth: u32,
    /// A cycle around it some levels further out, itself where there is none: Myers, "An
    /// Applicative Random-Access Stack" (1983).
    jump: Cycle,
    /// The places of its blocks, inner cycles' included.
    places: Range<usize>,
}

/// The forest of a function's cycles. A snapshot: it does not follow later changes.
pub struct Cycles {
    data: Vec<Data>,
    innermost: SecondaryMap<Block, Option<Cycle>>,
    through: SecondaryMap<Block, Option<Cycle>>,
    /// An order of the blocks in cycles in which the blocks of each stand together.
    place: SecondaryMap<Block, usize>,
    /// Edges looked at: a measure of the time.
    pub steps: u64,
}

/// Links from numbers to what they are below, shortened by each search (path halving). Not petgraph's
/// union-find: that chooses a representative by rank, and here it is the one above.
struct Union(Vec<usize>);

impl Union {
    fn top(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }
}

/// Moves a place on; returns where it was.
fn advance(place: &mut usize, by: usize) -> usize {
    *place += by;
    *place - by
}

/// The forest while it is built.
struct Builder<'a> {
    func: &'a Function,
    /// The post-dominator whose children are looked at for each block below one of them: that
    /// child. The virtual exit has the number behind the last block's.
    below: Union,
    parent: Vec<Option<Cycle>>,
    outermost: Union,
    /// Where edges lead from each cycle that is in no other yet.
    ways_out: Vec<Vec<Block>>,
    innermost: SecondaryMap<Block, Option<Cycle>>,
    through: SecondaryMap<Block, Option<Cycle>>,
    steps: u64,
}

impl Builder<'_> {
    /// The cycles of the children of a post-dominator, those further below being known.
    fn level(&mut self, post: Option<Block>, children: &[Block], index: &mut [u32]) {
        for (number, child) in children.iter().enumerate() {
            index[child.index()] = number as u32;
        }
        let mut graph = DiGraph::<(), ()>::with_capacity(children.len(), children.len());
        children.iter().for_each(|_| _ = graph.add_node(()));
        for (number, &child) in children.iter().enumerate() {
            for to in successors(self.func, child).into_iter().filter(|&to| Some(to) != post) {
                self.steps += 1;
                let above = self.below.top(to.index());
                graph.add_edge(NodeIndex::new(number), NodeIndex::new(index[above] as usize), ());
            }
        }
        if graph.edge_count() == 0 {
            return;
        }
        let components = kosaraju_scc(&graph);
        let mut component = vec![0; children.len()];
        for (number, nodes) in components.iter().enumerate() {
            nodes.iter().for_each(|node| component[node.index()] = number);
        }
        for (number, nodes) in components.iter().enumerate() {
            if nodes.len() == 1 && !graph.contains_edge(nodes[0], nodes[0]) {
                continue;
            }
            let cycle = self.parent.len();
            self.parent.push(None);
            self.outermost.0.push(cycle);
            let (mut inside, mut out) = (Vec::new(), Vec::new());
            for node in nodes {
                let child = children[node.index()];
                self.innermost[child] = Some(cycle);
                self.through[child] = Some(cycle);
                for to in successors(self.func, child) {
                    let stays = Some(to) != post && {
                        let above = self.below.top(to.index());
                        component[index[above] as usize] == number
                    };
                    if stays { inside.push(to) } else { out.push(to) }
                }
            }
            self.ways_out.push(out);
            self.absorb(cycle, inside);
        }
    }

    /// Takes what is reached from some blocks below their children into a cycle.
    fn absorb(&mut self, cycle: Cycle, mut work: Vec<Block>) {
        while let Some(block) = work.pop() {
            self.steps += 1;
            match self.innermost[block] {
                None => {
                    self.innermost[block] = Some(cycle);
                    work.extend(successors(self.func, block));
                }
                Some(inner) => {
                    let inner = self.outermost.top(inner);
                    if inner != cycle {
                        self.parent[inner] = Some(cycle);
                        self.outermost.0[inner] = cycle;
                        work.append(&mut self.ways_out[inner]);
                    }
                }
            }
        }
    }
}

impl Cycles {
    /// The cycles of a function without blocks under construction.
    pub fn new(func: &Function, post: &PostDominators) -> Cycles {
        let exit = func.blocks.len();
        let above = |block: Block| post.immediate(block).map_or(exit, |block| block.index());
        let mut children = vec![Vec::new(); exit + 1];
        for &block in &func.layout {
            children[above(block)].push(block);
        }
        let mut builder = Builder {
            func,
            below: Union((0..=exit).collect()),
            parent: Vec::new(),
            outermost: Union(Vec::new()),
            ways_out: Vec::new(),
            innermost: SecondaryMap::new(),
            through: SecondaryMap::new(),
            steps: 0,
        };
        // Each post-dominator behind all those below it.
        let mut order = vec![exit];
        for next in 0.. {
            let Some(&node) = order.get(next) else { break };
            order.extend(children[node].iter().map(|child| child.index()));
        }
        let mut index = vec![0; exit];
        for &node in order.iter().rev() {
            let block = (node != exit).then(|| Block::new(node));
            builder.level(block, &children[node], &mut index);
            for child in &children[node] {
                builder.below.0[child.index()] = node;
            }
        }
        let Builder { parent, innermost, through, steps, .. } = builder;
        Cycles::numbered(func, &parent, innermost, through, steps)
    }

    fn numbered(
        func: &Function,
        parent: &[Option<Cycle>],
        innermost: SecondaryMap<Block, Option<Cycle>>,
        through: SecondaryMap<Block, Option<Cycle>>,
        steps: u64,
    ) -> Cycles {
        let mut sizes = vec![0; parent.len()];
        for &block in &func.layout {
            if let Some(cycle) = innermost[block] {
                sizes[cycle] += 1;
            }
        }
        // Outer cycles have higher numbers.
        for cycle in 0..parent.len() {
            if let Some(outer) = parent[cycle] {
                sizes[outer] += sizes[cycle];
            }
        }
        let mut data: Vec<Data> = (0..parent.len())
            .map(|jump| Data { parent: parent[jump], depth: 1, jump, places: 0..0 })
            .collect();
        // Where the next block or inner cycle stands.
        let (mut next, mut end) = (vec![0; parent.len()], 0);
        for cycle in (0..parent.len()).rev() {
            let size = sizes[cycle];
            let start = match parent[cycle] {
                None => advance(&mut end, size),
                Some(outer) => {
                    data[cycle].depth = data[outer].depth + 1;
                    let far = data[outer].jump;
                    let (near, further) = (data[outer].depth, data[data[far].jump].depth);
                    let even = near - data[far].depth == data[far].depth - further;
                    data[cycle].jump = if even { data[far].jump } else { outer };
                    advance(&mut next[outer], size)
                }
            };
            next[cycle] = start;
            data[cycle].places = start..start + size;
        }
        let mut place = SecondaryMap::new();
        for &block in &func.layout {
            if let Some(cycle) = innermost[block] {
                place[block] = advance(&mut next[cycle], 1);
            }
        }
        Cycles { data, innermost, through, place, steps }
    }

    /// The cycle of a branch: the blocks on ways that come back to it without its immediate
    /// post-dominator. None where no way does.
    pub fn through(&self, branch: Block) -> Option<Cycle> {
        self.through[branch]
    }

    /// The number of cycles around one, itself included.
    pub fn depth(&self, cycle: Cycle) -> u32 {
        self.data[cycle].depth
    }

    /// The number of cycles around a block.
    pub fn depth_of(&self, block: Block) -> u32 {
        self.innermost[block].map_or(0, |cycle| self.data[cycle].depth)
    }

    /// The place of a block that is in a cycle in an order in which those of each cycle stand
    /// together.
    pub fn place(&self, block: Block) -> usize {
        self.place[block]
    }

    /// The places of a cycle's blocks.
    pub fn places(&self, cycle: Cycle) -> Range<usize> {
        self.data[cycle].places.clone()
    }

    /// Whether a block is in a cycle.
    pub fn contains(&self, cycle: Cycle, block: Block) -> bool {
        self.innermost[block].is_some() && self.data[cycle].places.contains(&self.place[block])
    }

    /// The number of cycles that are around both blocks.
    pub fn common_depth(&self, a: Block, b: Block) -> u32 {
        let mut at = self.innermost[a];
        while let Some(cycle) = at {
            if self.contains(cycle, b) {
                return self.data[cycle].depth;
            }
            let jump = self.data[cycle].jump;
            let far = jump != cycle && !self.contains(jump, b);
            at = if far { Some(jump) } else { self.data[cycle].parent };
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nbcc_ir::Cfg;
    use nbcc_testing::{dense_function, graph_function, structured_function};

    use super::*;

    /// What is reached from blocks without passing another one.
    fn reached(func: &Function, from: Vec<Block>, without: Option<Block>) -> BTreeSet<Block> {
        let (mut found, mut work) = (BTreeSet::new(), from);
        while let Some(block) = work.pop() {
            if Some(block) != without && found.insert(block) {
                work.extend(successors(func, block));
            }
        }
        found
    }

    #[test]
    fn cycles_follow_the_definition() {
        let mut count = 0;
        for seed in 0..300 {
            for func in [structured_function(seed), graph_function(seed), dense_function(seed)] {
                let (cfg, post) = (Cfg::new(&func), PostDominators::new(&func));
                let cycles = Cycles::new(&func, &post);
                for branch in cfg.reverse_postorder() {
                    let end = post.immediate(branch);
                    let ahead = reached(&func, successors(&func, branch), end);
                    let on_cycle = |block: &Block| {
                        let behind = reached(&func, successors(&func, *block), end);
                        ahead.contains(block) && behind.contains(&branch)
                    };
                    let expected: BTreeSet<Block> =
                        func.layout.iter().copied().filter(on_cycle).collect();
                    let found: BTreeSet<Block> = match cycles.through(branch) {
                        None => BTreeSet::new(),
                        Some(cycle) => {
                            let inside = |block: &Block| cycles.contains(cycle, *block);
                            func.layout.iter().copied().filter(inside).collect()
                        }
                    };
                    assert_eq!(found, expected, "seed {seed}: {branch} up to {end:?}\n{func}");
                    count += usize::from(!found.is_empty());
                }
                for &a in &func.layout {
                    for &b in &func.layout {
                        let around = |cycle: &Cycle| {
                            cycles.contains(*cycle, a) && cycles.contains(*cycle, b)
                        };
                        let both = (0..cycles.data.len()).filter(around).count();
                        assert_eq!(
                            cycles.common_depth(a, b) as usize,
                            both,
                            "seed {seed}: {a} {b}"
                        );
                    }
                }
            }
        }
        assert!(count > 1000, "{count}");
    }
}
