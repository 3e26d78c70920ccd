//! Where threads that part at a branch meet again, and the cycles in which they part: labels as in
//! Rosemann, Moll, Hack, "An Abstract Interpretation for SPMD Divergence" (POPL 2021), section 4.
//!
//! Each arm of the branch is a label. It goes from block to block up to the branch's immediate
//! post-dominator, and blocks that two labels reach are joins with a label of their own. What a
//! block dominates has its label, so that a walk goes on at its dominance frontier at once (but for
//! blocks that dominate the branch, which threads come to from behind). Where one label alone is on
//! its way there is nothing more to meet, unless ways back lead it to where others have been. Both
//! keep the walks of early exits, of long chains of conditions and of deep nests short, where the
//! regions of branches overlap.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use nbcc_ir::{Block, Cfg, Dominators, Function, cfg::successors};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::postdominators::PostDominators;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Arm(usize),
    Join(Block),
}

/// Answers questions about the branches of one function.
pub struct Meetings<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    post: PostDominators,
    dominators: Dominators,
    /// The blocks to which an edge leads from what a block dominates, and which it does not
    /// dominate itself but for their being the block.
    frontier: SecondaryMap<Block, Vec<Block>>,
    /// The strongly connected component of a block; none where no path leads back to it.
    component: SecondaryMap<Block, Option<u32>>,
    /// Whether a cycle has several entries.
    irreducible: bool,
    /// Blocks of cycles that were handed out, with the block that those avoid.
    handed_out: BTreeSet<(Option<Block>, Block)>,
    /// Blocks looked at so far.
    pub steps: u64,
}

/// The walk from one branch.
struct Walk {
    branch: Block,
    end: Option<Block>,
    of: BTreeMap<Block, Label>,
    joins: BTreeSet<Block>,
    /// Blocks to go on from, in reverse postorder, so that labels are mostly final when they are
    /// handed on; one that changes later makes a join too many, never one too few.
    work: BTreeSet<(Option<u32>, Block)>,
    /// How many blocks of `work` have each label.
    on_their_way: BTreeMap<Label, usize>,
    /// The labels of blocks that were gone on from, and that ways back may lead to again.
    behind: BTreeSet<Label>,
}

impl Walk {
    fn arrive(&mut self, cfg: &Cfg, block: Block, label: Label) {
        if block == self.branch {
            return;
        }
        let at = (cfg.position(block), block);
        let new = match self.of.get(&block) {
            None => label,
            Some(&old) if old == label || !self.joins.insert(block) => return,
            Some(&old) => {
                if self.work.contains(&at) {
                    self.leave(old);
                }
                Label::Join(block)
            }
        };
        self.of.insert(block, new);
        if Some(block) != self.end {
            self.work.insert(at);
            *self.on_their_way.entry(new).or_default() += 1;
        }
    }

    /// Whether labels may still meet elsewhere than at the end.
    fn goes_on(&self) -> bool {
        let mut labels = self.on_their_way.keys();
        match (labels.next(), labels.next()) {
            (None, _) => false,
            (Some(last), None) => self.behind.iter().any(|label| label != last),
            _ => true,
        }
    }

    fn leave(&mut self, label: Label) {
        let count = self.on_their_way.get_mut(&label).expect("a label on its way");
        *count -= 1;
        if *count == 0 {
            self.on_their_way.remove(&label);
        }
    }
}

impl<'a> Meetings<'a> {
    /// Of a function without blocks under construction.
    pub fn new(func: &'a Function, cfg: &'a Cfg) -> Meetings<'a> {
        let dominators = Dominators::new(func);
        let frontier = frontiers(cfg, &dominators);
        let irreducible = cfg.reverse_postorder().any(|block| {
            let back = |&&from: &&Block| cfg.position(from) >= cfg.position(block);
            let mut from = cfg.predecessors(block).iter().filter(back);
            from.any(|&from| !dominators.dominates(block, from))
        });
        Meetings {
            func,
            cfg,
            post: PostDominators::new(func),
            dominators,
            frontier,
            component: components(func),
            irreducible,
            handed_out: BTreeSet::new(),
            steps: 0,
        }
    }

    /// The blocks at which paths from different arms of a reachable branch meet first, before its
    /// immediate post-dominator or there.
    pub fn joins(&mut self, branch: Block) -> BTreeSet<Block> {
        let mut walk = Walk {
            branch,
            end: self.post.immediate(branch),
            of: BTreeMap::new(),
            joins: BTreeSet::new(),
            work: BTreeSet::new(),
            on_their_way: BTreeMap::new(),
            behind: BTreeSet::new(),
        };
        let cyclic = self.irreducible || self.component[branch].is_some();
        for (arm, block) in successors(self.func, branch).into_iter().enumerate() {
            walk.arrive(self.cfg, block, Label::Arm(arm));
        }
        while walk.goes_on() {
            self.steps += 1;
            let (_, block) = walk.work.pop_first().expect("a block to go on from");
            let label = walk.of[&block];
            walk.leave(label);
            // Ways back to what the branch dominates lead through it, where cycles have one entry.
            if cyclic && (self.irreducible || !self.dominators.dominates(branch, block)) {
                walk.behind.insert(label);
            }
            if self.dominators.dominates(block, branch) {
                for to in successors(self.func, block) {
                    walk.arrive(self.cfg, to, label);
                }
            } else {
                for &to in &self.frontier[block] {
                    walk.arrive(self.cfg, to, label);
                }
            }
        }
        // The last label still comes to the post-dominator, unless all its ways lead back.
        if let Some(end) = walk.end
            && let (Some(there), Some(last)) = (walk.of.get(&end), walk.on_their_way.keys().next())
            && there != last
            && walk.work.iter().any(|&(_, block)| !self.post.post_dominates(branch, block))
        {
            walk.joins.insert(end);
        }
        walk.joins
    }

    /// The blocks on cycles through a reachable branch that avoid its immediate post-dominator:
    /// threads may leave them after different numbers of iterations. None where there are none, or
    /// where they were handed out for another branch.
    pub fn cycle(&mut self, branch: Block) -> Option<EntitySet<Block>> {
        let end = self.post.immediate(branch);
        if self.handed_out.contains(&(end, branch)) || !self.comes_back(branch, end) {
            return None;
        }
        let component = self.component[branch];
        let mut ahead = EntitySet::new();
        let mut work = successors(self.func, branch);
        while let Some(block) = work.pop() {
            let inside = self.component[block] == component && Some(block) != end;
            if inside && block != branch && ahead.insert(block) {
                self.steps += 1;
                work.extend(successors(self.func, block));
            }
        }
        let mut cycle = EntitySet::new();
        cycle.insert(branch);
        let mut work = vec![branch];
        while let Some(block) = work.pop() {
            for &from in self.cfg.predecessors(block) {
                if ahead.contains(from) && cycle.insert(from) {
                    work.push(from);
                }
            }
        }
        self.handed_out.extend(cycle.iter().map(|block| (end, block)));
        Some(cycle)
    }

    /// Whether a path leads from a branch back to it that avoids another block, which
    /// post-dominates it.
    fn comes_back(&mut self, branch: Block, end: Option<Block>) -> bool {
        if self.component[branch].is_none() {
            return false;
        }
        let mut seen = BTreeSet::new();
        let mut work = successors(self.func, branch);
        while let Some(block) = work.pop() {
            if block == branch {
                return true;
            }
            if Some(block) == end || !seen.insert(block) {
                continue;
            }
            self.steps += 1;
            if self.dominators.dominates(block, branch) {
                // A way leads down to the branch, through the other block where that is between.
                let between = |end| {
                    self.dominators.dominates(end, branch) && self.dominators.dominates(block, end)
                };
                if !end.is_some_and(between) {
                    return true;
                }
            } else {
                work.extend(&self.frontier[block]);
            }
        }
        false
    }
}

/// Dominance frontiers: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001),
/// figure 5. A way up ends where another edge into the same block has come before.
fn frontiers(cfg: &Cfg, dominators: &Dominators) -> SecondaryMap<Block, Vec<Block>> {
    let mut frontier: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for block in cfg.reverse_postorder() {
        let top = dominators.immediate(block);
        for &from in cfg.predecessors(block) {
            let mut at = Some(from).filter(|&from| cfg.is_reachable(from));
            while let Some(below) = at.filter(|_| at != top) {
                if frontier[below].last() == Some(&block) {
                    break;
                }
                frontier[below].push(block);
                at = dominators.immediate(below);
            }
        }
    }
    frontier
}

fn components(func: &Function) -> SecondaryMap<Block, Option<u32>> {
    let mut graph = DiGraph::<(), ()>::new();
    for _ in 0..func.blocks.len() {
        graph.add_node(());
    }
    for &block in &func.layout {
        for to in successors(func, block) {
            graph.add_edge(NodeIndex::new(block.index()), NodeIndex::new(to.index()), ());
        }
    }
    let mut component = SecondaryMap::new();
    for (number, nodes) in tarjan_scc(&graph).into_iter().enumerate() {
        let alone = nodes.len() == 1 && !graph.contains_edge(nodes[0], nodes[0]);
        if !alone {
            for node in nodes {
                component[Block::new(node.index())] = Some(number as u32);
            }
        }
    }
    component
}
