//! Maximum flow by Dinic's algorithm ("Algorithm for solution of a problem of maximum flow in networks
//! with power estimation", 1970): blocking flows in layers of shortest paths, arcs without use left out
//! as they are met. Work is bounded, which libraries' is not: programs can be made for which it takes long.

/// A network of arcs with capacities.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The first arc of each vertex.
    first: Vec<Option<u32>>,
    /// Arcs and their reverses, in pairs.
    arcs: Vec<Arc>,
}

#[derive(Clone, Copy, Debug)]
struct Arc {
    to: u32,
    /// What can still be sent.
    left: u64,
    /// The next arc of the same vertex.
    next: Option<u32>,
}

/// A vertex, by its number.
pub type Vertex = u32;

impl Network {
    /// A new vertex.
    pub fn vertex(&mut self) -> Vertex {
        self.first.push(None);
        self.first.len() as u32 - 1
    }

    /// An arc of a capacity.
    pub fn arc(&mut self, from: Vertex, to: Vertex, capacity: u64) {
        for (from, to, left) in [(from, to, capacity), (to, from, 0)] {
            let next = self.first[from as usize].replace(self.arcs.len() as u32);
            self.arcs.push(Arc { to, left, next });
        }
    }

    /// Sends as much as can be sent; `None` where that takes more than so many steps, of which each looks
    /// at an arc.
    pub fn send(&mut self, source: Vertex, sink: Vertex, mut steps: u64) -> Option<u64> {
        let mut sent = 0u64;
        loop {
            let layers = self.layers(source, &mut steps)?;
            if layers[sink as usize] == u32::MAX {
                return Some(sent);
            }
            let mut current = self.first.clone();
            let mut path: Vec<u32> = Vec::new();
            loop {
                let at = path.last().map_or(source, |&arc| self.arcs[arc as usize].to);
                if at == sink {
                    let least = path.iter().map(|&arc| self.arcs[arc as usize].left).min();
                    let least = least.unwrap_or(0);
                    sent = sent.saturating_add(least);
                    let mut keep = path.len();
                    for (index, &arc) in path.iter().enumerate() {
                        self.arcs[arc as usize].left -= least;
                        let back = &mut self.arcs[arc as usize ^ 1].left;
                        *back = back.saturating_add(least);
                        if self.arcs[arc as usize].left == 0 {
                            keep = keep.min(index);
                        }
                    }
                    steps = steps.checked_sub(path.len() as u64)?;
                    path.truncate(keep);
                    continue;
                }
                match current[at as usize] {
                    Some(number) => {
                        steps = steps.checked_sub(1)?;
                        let arc = self.arcs[number as usize];
                        let onward = layers[arc.to as usize] == layers[at as usize] + 1;
                        if onward && arc.left > 0 {
                            path.push(number);
                        } else {
                            current[at as usize] = arc.next;
                        }
                    }
                    // Nothing goes on from here.
                    None => match path.pop() {
                        Some(number) => {
                            let from = self.arcs[number as usize ^ 1].to;
                            current[from as usize] = self.arcs[number as usize].next;
                        }
                        None => break,
                    },
                }
            }
        }
    }

    /// The distance of each vertex from the source over arcs with capacity left; `u32::MAX` for those
    /// that are not reached.
    fn layers(&self, source: Vertex, steps: &mut u64) -> Option<Vec<u32>> {
        let mut layers = vec![u32::MAX; self.first.len()];
        layers[source as usize] = 0;
        let mut queue = vec![source];
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            let mut arc = self.first[at as usize];
            while let Some(number) = arc {
                *steps = steps.checked_sub(1)?;
                let Arc { to, left, next } = self.arcs[number as usize];
                if left > 0 && layers[to as usize] == u32::MAX {
                    layers[to as usize] = layers[at as usize] + 1;
                    queue.push(to);
                }
                arc = next;
            }
        }
        Some(layers)
    }

    /// The vertices that are reached from the source by arcs with capacity left: once all is sent, the
    /// smallest part of a minimum cut that holds the source.
    pub fn reached(&self, source: Vertex) -> Vec<bool> {
        let mut steps = u64::MAX;
        let layers = self.layers(source, &mut steps).expect("as many steps as it takes");
        layers.into_iter().map(|layer| layer != u32::MAX).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbcc_testing::Rng;
    use petgraph::algo::dinics;
    use petgraph::graph::{DiGraph, NodeIndex};

    /// Against petgraph's, on graphs with cycles, arcs that are parallel, and capacities of zero.
    #[test]
    fn flows_are_the_greatest() {
        let mut rng = Rng::new(3);
        for _ in 0..500 {
            let count = 2 + rng.below(12) as u32;
            let mut network = Network::default();
            let mut graph: DiGraph<(), u64> = DiGraph::new();
            for _ in 0..count {
                network.vertex();
                graph.add_node(());
            }
            for _ in 0..rng.below(40) {
                let mut end = || rng.below(u64::from(count)) as u32;
                let (from, to) = (end(), end());
                let capacity = rng.below(20);
                network.arc(from, to, capacity);
                graph.add_edge(
                    NodeIndex::new(from as usize),
                    NodeIndex::new(to as usize),
                    capacity,
                );
            }
            let (expected, _) = dinics(&graph, NodeIndex::new(0), NodeIndex::new(1));
            let none = network.clone().send(0, 1, 0);
            assert!(none.is_none() || expected == 0);
            assert_eq!(network.send(0, 1, u64::MAX), Some(expected));
            let reached = network.reached(0);
            assert!(reached[0] && !reached[1]);
            // What is cut costs what is sent.
            let edges = graph.edge_indices().map(|edge| {
                let (a, b) = graph.edge_endpoints(edge).expect("an edge");
                (reached[a.index()] && !reached[b.index()]).then_some(graph[edge])
            });
            assert_eq!(edges.flatten().sum::<u64>(), expected);
        }
    }
}
