//! Control flow between the instructions of a listing, its basic blocks and natural loops.

use nbcc_ir::graph::DominatorTree;

use super::Listing;

/// Where control goes from instruction to instruction.
#[derive(Debug)]
pub struct Flow {
    /// The instructions that may follow each, by index. One that leaves the function has none.
    pub successors: Vec<Vec<u32>>,
    /// The instructions that each may follow.
    pub predecessors: Vec<Vec<u32>>,
    /// The first instruction of each basic block, ascending, and the number of instructions behind.
    pub starts: Vec<u32>,
    /// The basic block of each instruction.
    pub block: Vec<u32>,
    tree: DominatorTree,
}

/// A natural loop: all that reaches a latch without passing the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalLoop {
    /// The first instruction, which dominates the others.
    pub header: u32,
    /// The instructions that branch back to the header, ascending.
    pub latches: Vec<u32>,
    /// All of its instructions, ascending.
    pub body: Vec<u32>,
}

impl NaturalLoop {
    /// The first and last instruction in the order of the text.
    pub fn extent(&self) -> (u32, u32) {
        (self.body[0], self.body[self.body.len() - 1])
    }

    /// Whether the instructions follow each other in the text, the header first.
    pub fn is_range(&self) -> bool {
        let (first, last) = self.extent();
        first == self.header && (last - first) as usize + 1 == self.body.len()
    }

    /// Whether an instruction belongs to it.
    pub fn contains(&self, at: u32) -> bool {
        self.body.binary_search(&at).is_ok()
    }
}

impl Flow {
    /// The control flow of a listing that has instructions.
    pub fn new(listing: &Listing) -> Flow {
        let count = listing.code.len();
        let mut successors = Vec::with_capacity(count);
        let mut leaders = vec![false; count];
        for (at, line) in listing.code.iter().enumerate() {
            let mut to: Vec<u32> = Vec::new();
            if line.falls && at + 1 < count {
                to.push(at as u32 + 1);
            }
            to.extend(line.targets.iter().filter(|&&target| (target as usize) < count));
            to.sort_unstable();
            to.dedup();
            if to != [at as u32 + 1]
                && let Some(next) = leaders.get_mut(at + 1)
            {
                *next = true;
            }
            for &target in &line.targets {
                if let Some(leader) = leaders.get_mut(target as usize) {
                    *leader = true;
                }
            }
            successors.push(to);
        }
        let mut predecessors = vec![Vec::new(); count];
        for (from, to) in successors.iter().enumerate() {
            to.iter().for_each(|&to| predecessors[to as usize].push(from as u32));
        }
        leaders[0] = true;
        let mut starts: Vec<u32> = (0..count as u32).filter(|&at| leaders[at as usize]).collect();
        let mut block = Vec::with_capacity(count);
        let mut number = 0;
        for leads in &leaders {
            number += u32::from(*leads);
            block.push(number - 1);
        }
        starts.push(count as u32);
        // The first instruction may be a target: the root is a node of its own before it.
        let mut graph = successors.clone();
        graph.push(vec![0]);
        let tree = DominatorTree::new(&graph, count as u32);
        Flow { successors, predecessors, starts, block, tree }
    }

    /// Whether every way to `b` passes `a`.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        self.tree.dominates(a, b)
    }

    /// Whether any way leads to an instruction.
    pub fn is_reachable(&self, at: u32) -> bool {
        self.tree.is_reachable(at)
    }

    /// The instructions of a basic block.
    pub fn range(&self, block: u32) -> std::ops::Range<usize> {
        self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize
    }

    /// How many basic blocks there are.
    pub fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// The natural loops, larger ones first, by header where they are of one size; loops of one
    /// header are one.
    pub fn loops(&self) -> Vec<NaturalLoop> {
        let mut loops: Vec<NaturalLoop> = Vec::new();
        let mut seen = vec![u32::MAX; self.successors.len()];
        for header in 0..self.successors.len() as u32 {
            let back = |&&from: &&u32| self.is_reachable(from) && self.dominates(header, from);
            let latches: Vec<u32> =
                self.predecessors[header as usize].iter().filter(back).copied().collect();
            if latches.is_empty() {
                continue;
            }
            seen[header as usize] = header;
            let (mut body, mut stack) = (vec![header], latches.clone());
            while let Some(at) = stack.pop() {
                if seen[at as usize] == header || !self.is_reachable(at) {
                    continue;
                }
                seen[at as usize] = header;
                body.push(at);
                stack.extend(&self.predecessors[at as usize]);
            }
            body.sort_unstable();
            loops.push(NaturalLoop { header, latches, body });
        }
        loops.sort_by_key(|l| (std::cmp::Reverse(l.body.len()), l.header));
        loops
    }
}
