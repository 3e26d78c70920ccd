//! Divergent joins, where threads that part at a branch meet again: labels as in Rosemann, Moll, Hack, "An Abstract
//! Interpretation for SPMD Divergence" (POPL 2021), section 4.
//!
//! A block is a join of a branch where two ways from the branch lead to it that share no block but
//! these, neither passing the branch's immediate post-dominator nor the branch again. Each arm of
//! the branch is a label. It goes from block to block, and blocks that two labels reach are joins
//! with a label of their own. Four things keep walks short where the regions of branches overlap
//! (early exits, long chains of conditions, deep nests):
//!
//! - What a block dominates has its label, so that a walk goes on at its dominance frontier at once
//!   (but for blocks that dominate the branch, which threads come to from behind).
//! - Where one label alone is on its way there is nothing more to meet, unless ways back lead it to
//!   where others have been.
//! - Ways back are gone last, so that labels have mostly met before.
//! - Where all that is on its way stands where the arms of another branch lead, which has been asked
//!   for, what is ahead are joins of that one, too.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_ir::graph::DominatorTree;
use nbcc_ir::{Block, Cfg, Dominators, Function, cfg::successors};

use crate::cycles::Cycles;
use crate::frontiers::Frontiers;
use crate::postdominators::PostDominators;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Arm(usize),
    Join(Block),
}

/// The joins of the branches of one function, each computed when it is asked for.
pub struct Joins<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    post: &'a PostDominators,
    cycles: &'a Cycles,
    dominators: Dominators,
    frontiers: Frontiers,
    /// Whether a cycle has several entries.
    irreducible: bool,
    /// Branches that were asked for.
    asked: SecondaryMap<Block, bool>,
    /// Blocks looked at so far.
    pub steps: u64,
}

/// Where a block stands in the order of a walk: behind the branch in reverse postorder, then before
/// it; so labels are mostly final when they are handed on.
type Place = (bool, Option<u32>, Block);

/// The walk from one branch.
struct Walk<'a> {
    cfg: &'a Cfg,
    branch: Block,
    end: Option<Block>,
    of: BTreeMap<Block, Label>,
    joins: BTreeSet<Block>,
    /// Blocks to go on from.
    work: BTreeSet<Place>,
    /// How many blocks of `work` have each label.
    on_their_way: BTreeMap<Label, usize>,
    /// The labels of blocks that were gone on from, and that ways back may lead to again.
    behind: BTreeSet<Label>,
    /// The ways gone so far, but for those of the branch.
    gone: Vec<(Block, Block)>,
    /// Whether a label changed after it had been handed on.
    late: bool,
}

impl Walk<'_> {
    fn place(&self, block: Block) -> Place {
        let position = self.cfg.position(block);
        (position <= self.cfg.position(self.branch), position, block)
    }

    fn arrive(&mut self, block: Block, label: Label) {
        if block == self.branch {
            return;
        }
        let at = self.place(block);
        let new = match self.of.get(&block) {
            None => label,
            Some(&old) if old == label || !self.joins.insert(block) => return,
            Some(&old) => {
                if self.work.contains(&at) {
                    self.leave(old);
                } else {
                    self.late |= Some(block) != self.end;
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

    /// The joins on the ways that were gone, by definition: the blocks that nothing but the branch
    /// dominates in their graph, and that are reached from two arms or such blocks.
    fn joins_of_ways(&self, arms: &[Block]) -> BTreeSet<Block> {
        let mut number: BTreeMap<Block, u32> = BTreeMap::from([(self.branch, 0)]);
        let mut blocks = vec![self.branch];
        let mut graph: Vec<Vec<u32>> = vec![Vec::new()];
        let from_branch = arms.iter().map(|&arm| (self.branch, arm));
        for (from, to) in from_branch.chain(self.gone.iter().copied()) {
            let [from, to] = [from, to].map(|block| {
                *number.entry(block).or_insert_with(|| {
                    blocks.push(block);
                    graph.push(Vec::new());
                    blocks.len() as u32 - 1
                })
            });
            if to != 0 {
                graph[from as usize].push(to);
            }
        }
        let tree = DominatorTree::new(&graph, 0);
        // The block below the branch that dominates each.
        let mut top: Vec<u32> = (0..blocks.len() as u32).collect();
        for &node in tree.preorder() {
            if let Some(above) = tree.immediate(node).filter(|&above| above != 0) {
                top[node as usize] = top[above as usize];
            }
        }
        let mut label = vec![None; blocks.len()];
        let mut joins = BTreeSet::new();
        for &node in tree.preorder() {
            for (arm, &to) in graph[node as usize].iter().enumerate() {
                let this = if node == 0 {
                    Label::Arm(arm)
                } else {
                    Label::Join(blocks[top[node as usize] as usize])
                };
                let inside = node != 0 && top[node as usize] == to;
                if tree.immediate(to) == Some(0)
                    && !inside
                    && label[to as usize].replace(this).is_some_and(|other| other != this)
                {
                    joins.insert(blocks[to as usize]);
                }
            }
        }
        joins
    }
}

impl<'a> Joins<'a> {
    /// Of a function without blocks under construction.
    pub fn new(
        func: &'a Function,
        cfg: &'a Cfg,
        post: &'a PostDominators,
        cycles: &'a Cycles,
    ) -> Joins<'a> {
        let dominators = Dominators::new(func);
        let irreducible = cfg.reverse_postorder().any(|block| {
            let back = |&&from: &&Block| cfg.position(from) >= cfg.position(block);
            let mut from = cfg.predecessors(block).iter().filter(back);
            from.any(|&from| !dominators.dominates(block, from))
        });
        let frontiers = Frontiers::new(func, cfg, &dominators);
        let asked = SecondaryMap::new();
        Joins { func, cfg, post, cycles, dominators, frontiers, irreducible, asked, steps: 0 }
    }

    /// Whether all that is on its way in a walk stands at arms of another branch or where they lead
    /// at once, with no more labels than that branch's walk has there.
    fn is_at_arms(&self, walk: &Walk<'_>, branch: Block) -> bool {
        let arms = successors(self.func, branch);
        if walk.work.len() > arms.len() {
            return false;
        }
        let mut theirs: BTreeMap<Block, Label> = BTreeMap::new();
        for (arm, &block) in arms.iter().enumerate() {
            let here = walk.work.contains(&walk.place(block));
            let to: Vec<Block> = match !here && self.dominators.dominates(branch, block) {
                true => self.frontiers.of(block).collect(),
                false => vec![block],
            };
            for to in to {
                let label = theirs.entry(to).or_insert(Label::Arm(arm));
                if *label != Label::Arm(arm) {
                    *label = Label::Join(to);
                }
            }
        }
        let mut ours: BTreeMap<Label, Label> = BTreeMap::new();
        walk.work.iter().all(|(.., block)| {
            let label = walk.of[block];
            theirs.get(block).is_some_and(|&their| *ours.entry(their).or_insert(label) == label)
        })
    }

    /// The joins of a reachable branch, but for some that are joins of branches asked for before.
    pub fn of(&mut self, branch: Block) -> BTreeSet<Block> {
        self.asked[branch] = true;
        let end = self.post.immediate(branch);
        let mut walk = Walk {
            cfg: self.cfg,
            branch,
            end,
            of: BTreeMap::new(),
            joins: BTreeSet::new(),
            work: BTreeSet::new(),
            on_their_way: BTreeMap::new(),
            behind: BTreeSet::new(),
            gone: Vec::new(),
            late: false,
        };
        let cyclic = self.irreducible || self.cycles.through(branch).is_some();
        let arms = successors(self.func, branch);
        for (arm, &block) in arms.iter().enumerate() {
            walk.arrive(block, Label::Arm(arm));
        }
        while walk.goes_on() {
            self.steps += 1;
            let (.., block) = walk.work.pop_first().expect("a block to go on from");
            let label = walk.of[&block];
            walk.leave(label);
            // Ways back to what the branch dominates lead through it, where cycles have one entry.
            if cyclic && (self.irreducible || !self.dominators.dominates(branch, block)) {
                walk.behind.insert(label);
            }
            let next = match self.dominators.dominates(block, branch) {
                true => successors(self.func, block),
                false => self.frontiers.of(block).collect(),
            };
            for to in next {
                walk.gone.push((block, to));
                walk.arrive(to, label);
            }
            if !cyclic
                && self.asked[block]
                && self.post.immediate(block) == end
                && self.is_at_arms(&walk, block)
            {
                break;
            }
        }
        // The last label still comes to the post-dominator, unless all its ways lead back.
        let ahead = walk.work.iter().map(|&(.., block)| block);
        let comes: Vec<Block> =
            ahead.filter(|&block| !self.post.post_dominates(branch, block)).collect();
        if let Some(end) = end {
            for from in comes {
                walk.gone.push((from, end));
                walk.arrive(end, walk.of[&from]);
            }
        }
        // Labels that changed late may have made joins too many of what lies ahead of them.
        if walk.late { walk.joins_of_ways(&arms) } else { walk.joins }
    }
}
