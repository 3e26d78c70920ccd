//! Post-dominators of any control-flow graph: several exits, endless loops, irreducible cycles.
//!
//! The tree is the dominator tree of the reversed graph from a virtual exit. Every block without
//! successors leads to the exit. A strongly connected component that nothing leaves (an endless
//! loop) would not reach it: its first block in the layout is given an edge there.

use nbcc_ir::graph::DominatorTree;
use nbcc_ir::{Block, Function, cfg::successors};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

/// The post-dominator tree of a function. A snapshot: it does not follow later changes.
#[derive(Clone, Debug)]
pub struct PostDominators {
    tree: DominatorTree,
    exit: u32,
}

impl PostDominators {
    /// The tree of a function's blocks.
    pub fn new(func: &Function) -> PostDominators {
        let exit = func.blocks.len() as u32;
        let mut reversed = vec![Vec::new(); func.blocks.len() + 1];
        for &block in &func.layout {
            let to = successors(func, block);
            if to.is_empty() {
                reversed[exit as usize].push(block.as_u32());
            }
            for to in to {
                reversed[to.as_u32() as usize].push(block.as_u32());
            }
        }
        let endless = endless_representatives(func);
        reversed[exit as usize].extend(endless.iter().map(|b| b.as_u32()));
        PostDominators { tree: DominatorTree::new(&reversed, exit), exit }
    }

    /// The closest other block on every path from a block to the exit. None where that is the
    /// virtual exit itself.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        let node = self.tree.immediate(block.as_u32()).filter(|&node| node != self.exit);
        node.map(Block::from_u32)
    }

    /// Whether every path from `b` to the exit visits `a`.
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        self.tree.dominates(a.as_u32(), b.as_u32())
    }
}

/// The first block in the layout of each strongly connected component that nothing leaves, but
/// for blocks that end the function.
pub fn endless_representatives(func: &Function) -> Vec<Block> {
    let mut graph = DiGraph::<Block, ()>::new();
    let mut node = vec![None; func.blocks.len()];
    for &block in &func.layout {
        node[block.as_u32() as usize] = Some(graph.add_node(block));
    }
    for &block in &func.layout {
        for to in successors(func, block) {
            if let (Some(a), Some(b)) = (node[block.as_u32() as usize], node[to.as_u32() as usize])
            {
                graph.add_edge(a, b, ());
            }
        }
    }
    let components = kosaraju_scc(&graph);
    let mut component = vec![usize::MAX; graph.node_count()];
    for (number, nodes) in components.iter().enumerate() {
        for node in nodes {
            component[node.index()] = number;
        }
    }
    let mut found = Vec::new();
    for nodes in &components {
        let stays = |&node: &petgraph::graph::NodeIndex| {
            let mut to = graph.neighbors(node).peekable();
            to.peek().is_some() && to.all(|to| component[to.index()] == component[node.index()])
        };
        if nodes.iter().all(stays) {
            // Nodes were added in the order of the layout.
            found.extend(nodes.iter().min().map(|&node| graph[node]));
        }
    }
    found.sort();
    found
}
