//! Where SSA form needs block parameters.
//!
//! Variables are numbered; a register, the carry flag and a scalar in `.param` space are one each.
//! A variable gets parameters at the iterated dominance frontier of its definitions, computed for
//! each variable on the dominator tree with join edges (Sreedhar and Gao, "A Linear Time Algorithm
//! for Placing phi-Nodes", POPL 1995), without ever building the frontiers, which may be quadratic.
//! Variables whose one definition dominates all uses, by far the most, need none. Every variable is
//! defined as zero at the entry. Parameters that nothing uses are dropped when functions are
//! finished.

use nbcc_ir::graph::DominatorTree;

/// The control-flow graph of a function with what its blocks do to variables.
#[derive(Debug, Default)]
pub struct Accesses {
    /// Blocks that define a variable: variable, block. A pair may stand here only once.
    pub definitions: Vec<(u32, u32)>,
    /// Blocks that use a variable before they define it: variable, block.
    pub exposed: Vec<(u32, u32)>,
}

/// Nodes visited and parameters made before a function counts as too large.
const BUDGET: usize = 1 << 28;
const PARAMETERS: usize = 1 << 23;

/// Which variables each block takes as parameters, in ascending order; none where the function is
/// too large.
pub fn place(
    successors: &[Vec<u32>],
    tree: &DominatorTree,
    root: u32,
    variables: usize,
    accesses: &Accesses,
) -> Option<Vec<Vec<u32>>> {
    let mut definitions: Vec<Vec<u32>> = vec![Vec::new(); variables];
    for &(variable, block) in &accesses.definitions {
        definitions[variable as usize].push(block);
    }
    let mut needed = vec![false; variables];
    for &(variable, block) in &accesses.exposed {
        let from = &definitions[variable as usize];
        let one_dominates = match from.as_slice() {
            [] => true,
            &[only] => only != block && tree.dominates(only, block),
            _ => false,
        };
        needed[variable as usize] |= !one_dominates;
    }
    let mut placement = Placement::new(successors, tree, root);
    let mut params = vec![Vec::new(); successors.len()];
    let mut made = 0;
    for (variable, blocks) in definitions.iter().enumerate() {
        if !needed[variable] {
            continue;
        }
        for &block in placement.frontier(blocks)? {
            params[block as usize].push(variable as u32);
            made += 1;
        }
        if made > PARAMETERS {
            return None;
        }
    }
    Some(params)
}

struct Placement<'a> {
    successors: &'a [Vec<u32>],
    tree: &'a DominatorTree,
    children: Vec<Vec<u32>>,
    level: Vec<u32>,
    /// The number of the query in which a node was visited, put into the result, or is a
    /// definition.
    visited: Vec<u32>,
    placed: Vec<u32>,
    defined: Vec<u32>,
    query: u32,
    /// Roots to be processed, by level.
    bank: Vec<Vec<u32>>,
    result: Vec<u32>,
    stack: Vec<u32>,
    budget: usize,
}

impl<'a> Placement<'a> {
    fn new(successors: &'a [Vec<u32>], tree: &'a DominatorTree, root: u32) -> Placement<'a> {
        let count = successors.len();
        let mut children = vec![Vec::new(); count];
        let mut level = vec![0; count];
        let mut depth = 0;
        for &node in tree.preorder() {
            if let Some(parent) = tree.immediate(node) {
                children[parent as usize].push(node);
                level[node as usize] = level[parent as usize] + 1;
                depth = depth.max(level[node as usize]);
            }
        }
        debug_assert!(tree.is_reachable(root));
        Placement {
            successors,
            tree,
            children,
            level,
            visited: vec![0; count],
            placed: vec![0; count],
            defined: vec![0; count],
            query: 0,
            bank: vec![Vec::new(); depth as usize + 1],
            result: Vec::new(),
            stack: Vec::new(),
            budget: BUDGET,
        }
    }

    /// The iterated dominance frontier of some blocks.
    fn frontier(&mut self, blocks: &[u32]) -> Option<&[u32]> {
        self.query += 1;
        self.result.clear();
        let mut deepest = 0;
        for &block in blocks {
            if self.tree.is_reachable(block) {
                self.defined[block as usize] = self.query;
                let level = self.level[block as usize];
                self.bank[level as usize].push(block);
                deepest = deepest.max(level);
            }
        }
        // Nodes found later are never deeper than the one they are found from.
        for level in (0..=deepest).rev() {
            while let Some(root) = self.bank[level as usize].pop() {
                self.visit(root, level)?;
            }
        }
        Some(&self.result)
    }

    /// Walks the subtree of a node that was not walked yet, and collects the targets of its join
    /// edges that are not below `level`.
    fn visit(&mut self, root: u32, level: u32) -> Option<()> {
        self.visited[root as usize] = self.query;
        self.stack.push(root);
        while let Some(node) = self.stack.pop() {
            let work = self.successors[node as usize].len() + self.children[node as usize].len();
            self.budget = self.budget.checked_sub(1 + work)?;
            for &to in &self.successors[node as usize] {
                let at = to as usize;
                let joins = self.tree.immediate(to) != Some(node);
                if joins && self.level[at] <= level && self.placed[at] != self.query {
                    self.placed[at] = self.query;
                    self.result.push(to);
                    if self.defined[at] != self.query {
                        self.bank[self.level[at] as usize].push(to);
                    }
                }
            }
            for &child in &self.children[node as usize] {
                if self.visited[child as usize] != self.query {
                    self.visited[child as usize] = self.query;
                    self.stack.push(child);
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frontier(successors: &[Vec<u32>], blocks: &[u32]) -> Vec<u32> {
        let tree = DominatorTree::new(successors, 0);
        let mut found =
            Placement::new(successors, &tree, 0).frontier(blocks).expect("small").to_vec();
        found.sort_unstable();
        found
    }

    /// By definition: joins where a node is dominated by no definition but one of its predecessors
    /// is, until nothing changes.
    fn by_definition(successors: &[Vec<u32>], blocks: &[u32]) -> Vec<u32> {
        let tree = DominatorTree::new(successors, 0);
        let mut set: Vec<u32> = blocks.iter().copied().filter(|&b| tree.is_reachable(b)).collect();
        let mut found = Vec::new();
        loop {
            let mut new = Vec::new();
            for (from, edges) in successors.iter().enumerate() {
                let from = from as u32;
                for &to in edges.iter().filter(|_| tree.is_reachable(from)) {
                    for &x in &set {
                        let strict = x != to && tree.dominates(x, to);
                        if tree.dominates(x, from) && !strict && !found.contains(&to) {
                            found.push(to);
                            new.push(to);
                        }
                    }
                }
            }
            if new.is_empty() {
                found.sort_unstable();
                return found;
            }
            set.extend(new);
        }
    }

    #[test]
    fn frontiers_are_those_of_the_definition() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..2000 {
            let count = 2 + random(9);
            let successors: Vec<Vec<u32>> = (0..count)
                .map(|_| (0..random(4)).map(|_| 1 + random(count - 1) as u32).collect())
                .collect();
            let mut blocks: Vec<u32> = (0..1 + random(3)).map(|_| random(count) as u32).collect();
            blocks.sort_unstable();
            blocks.dedup();
            let wanted = by_definition(&successors, &blocks);
            assert_eq!(frontier(&successors, &blocks), wanted, "{successors:?} {blocks:?}");
        }
    }
}
