//! Dominator trees of graphs with numbered nodes: the Semi-NCA algorithm of Georgiadis, Tarjan and
//! Werneck, "Finding Dominators in Practice" (JGAA 10, 2006), section 2.3. Dominators and
//! post-dominators of functions are this tree of their graph and of its reverse.

/// The dominator tree of the nodes that a root reaches.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    idom: Vec<u32>,
    /// First and last preorder number in each node's subtree; `NONE` and 0 where unreachable.
    range: Vec<(u32, u32)>,
    preorder: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl DominatorTree {
    /// The tree of the graph with these successors, a list a node.
    pub fn new(successors: &[Vec<u32>], root: u32) -> DominatorTree {
        let idom = immediate_dominators(successors, root);
        let (range, preorder) = number(&idom, root);
        DominatorTree { idom, range, preorder }
    }

    /// The closest other node on every path from the root. None for the root and for nodes that
    /// it does not reach.
    pub fn immediate(&self, node: u32) -> Option<u32> {
        Some(self.idom[node as usize]).filter(|&idom| idom != NONE)
    }

    /// Whether the root reaches the node.
    pub fn is_reachable(&self, node: u32) -> bool {
        self.range[node as usize].0 != NONE
    }

    /// Whether every path from the root to `b` visits `a`, in constant time. Everything dominates
    /// an unreachable node.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.range[a as usize], self.range[b as usize]);
        b.0 == NONE || (a.0 <= b.0 && b.0 <= a.1)
    }

    /// The reachable nodes, each behind its immediate dominator.
    pub fn preorder(&self) -> &[u32] {
        &self.preorder
    }
}

/// Immediate dominators, `NONE` for the root and for unreachable nodes.
fn immediate_dominators(successors: &[Vec<u32>], root: u32) -> Vec<u32> {
    // Depth-first search; from here on nodes are called by their preorder number.
    let mut number = vec![NONE; successors.len()];
    let (mut nodes, mut parent) = (vec![root], vec![0u32]);
    number[root as usize] = 0;
    let mut stack = vec![(root, 0usize)];
    while let Some((node, next)) = stack.last_mut() {
        let Some(&to) = successors[*node as usize].get(*next) else {
            stack.pop();
            continue;
        };
        *next += 1;
        if number[to as usize] == NONE {
            parent.push(number[*node as usize]);
            number[to as usize] = nodes.len() as u32;
            nodes.push(to);
            stack.push((to, 0));
        }
    }
    let mut predecessors = vec![Vec::new(); nodes.len()];
    for (from, &node) in nodes.iter().enumerate() {
        for &to in &successors[node as usize] {
            predecessors[number[to as usize] as usize].push(from as u32);
        }
    }

    let count = nodes.len() as u32;
    let mut forest = Forest {
        ancestor: parent.clone(),
        semi: (0..count).collect(),
        label: (0..count).collect(),
        path: Vec::new(),
    };
    for w in (1..count).rev() {
        let mut semi = parent[w as usize];
        for &v in &predecessors[w as usize] {
            let u = forest.eval(v, w + 1);
            semi = semi.min(forest.semi[u as usize]);
        }
        forest.semi[w as usize] = semi;
    }
    let mut idom = parent;
    for w in 1..count as usize {
        while idom[w] > forest.semi[w] {
            idom[w] = idom[idom[w] as usize];
        }
    }
    let mut result = vec![NONE; successors.len()];
    for w in 1..count as usize {
        result[nodes[w] as usize] = nodes[idom[w] as usize];
    }
    result
}

/// The nodes whose semidominator is known, as a forest with path compression.
struct Forest {
    ancestor: Vec<u32>,
    semi: Vec<u32>,
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node of least semidominator between `v` and the root of its tree in the forest of the
    /// nodes from `linked` on.
    fn eval(&mut self, v: u32, linked: u32) -> u32 {
        let mut top = v;
        while self.ancestor[top as usize] >= linked {
            self.path.push(top);
            top = self.ancestor[top as usize];
        }
        let root = self.ancestor[top as usize];
        let mut best = self.label[top as usize];
        while let Some(node) = self.path.pop() {
            let label = &mut self.label[node as usize];
            if self.semi[best as usize] < self.semi[*label as usize] {
                *label = best;
            } else {
                best = *label;
            }
            self.ancestor[node as usize] = root;
        }
        self.label[v as usize]
    }
}

/// Preorder numbers of each subtree, and the nodes in preorder.
fn number(idom: &[u32], root: u32) -> (Vec<(u32, u32)>, Vec<u32>) {
    let mut children = vec![Vec::new(); idom.len()];
    for (node, &parent) in idom.iter().enumerate() {
        if parent != NONE {
            children[parent as usize].push(node as u32);
        }
    }
    let mut range = vec![(NONE, 0); idom.len()];
    let mut preorder = Vec::new();
    let mut stack = vec![(root, false)];
    while let Some((node, done)) = stack.pop() {
        if done {
            range[node as usize].1 = preorder.len() as u32 - 1;
            continue;
        }
        range[node as usize].0 = preorder.len() as u32;
        preorder.push(node);
        stack.push((node, true));
        stack.extend(children[node as usize].iter().rev().map(|&child| (child, false)));
    }
    (range, preorder)
}

#[cfg(test)]
mod tests {
    use nbcc_testing::Rng;

    use super::*;

    /// The definition: `a` dominates `b` where `b` is out of reach without `a`.
    fn reachable_without(successors: &[Vec<u32>], root: u32, without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; successors.len()];
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if Some(node) != without && !std::mem::replace(&mut seen[node as usize], true) {
                stack.extend(&successors[node as usize]);
            }
        }
        seen
    }

    #[test]
    fn trees_of_random_graphs_follow_the_definition() {
        for seed in 0..2000 {
            let mut rng = Rng::new(seed);
            let nodes = 1 + rng.below(14) as usize;
            let edges = rng.below(1 + 3 * nodes as u64);
            let mut successors = vec![Vec::new(); nodes];
            for _ in 0..edges {
                let from = rng.below(nodes as u64) as usize;
                successors[from].push(rng.below(nodes as u64) as u32);
            }
            let tree = DominatorTree::new(&successors, 0);
            let reachable = reachable_without(&successors, 0, None);
            let mut strict = vec![vec![false; nodes]; nodes];
            for a in 0..nodes {
                let without = reachable_without(&successors, 0, Some(a as u32));
                for b in 0..nodes {
                    let dominates = !without[b];
                    strict[a][b] = dominates && a != b && reachable[a] && reachable[b];
                    if reachable[a] || !reachable[b] {
                        assert_eq!(tree.dominates(a as u32, b as u32), dominates, "seed {seed}");
                    }
                }
            }
            for b in 0..nodes {
                // The strict dominator that all others dominate.
                let expected = (0..nodes).find(|&a| {
                    strict[a][b] && (0..nodes).all(|c| !strict[c][b] || c == a || strict[c][a])
                });
                let found = tree.immediate(b as u32).map(|a| a as usize);
                assert_eq!(found, expected, "seed {seed}, node {b}");
                assert_eq!(tree.is_reachable(b as u32), reachable[b]);
            }
        }
    }

    #[test]
    fn a_long_chain_with_back_edges_needs_no_recursion() {
        let nodes = 200_000u32;
        let successors: Vec<_> = (0..nodes).map(|n| vec![(n + 1).min(nodes - 1), n / 2]).collect();
        let tree = DominatorTree::new(&successors, 0);
        assert!((1..nodes).all(|n| tree.immediate(n) == Some(n - 1)));
    }
}
