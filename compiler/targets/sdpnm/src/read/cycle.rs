//! Cycles of distance 0: what a topological order leaves over (Kahn's algorithm).

use nbcc_isa_sdpnm::Graph;

/// The edges of a cycle in which every edge has the distance 0, in order.
pub(super) fn of_distance_zero(graph: &Graph) -> Option<Vec<usize>> {
    let zero = || graph.edges.iter().enumerate().filter(|(_, e)| e.distance == 0);
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut waiting = vec![0usize; graph.nodes.len()];
    for (_, e) in zero() {
        out[e.from].push(e.to);
        waiting[e.to] += 1;
    }
    let mut ready: Vec<usize> = (0..waiting.len()).filter(|&n| waiting[n] == 0).collect();
    while let Some(node) = ready.pop() {
        for &to in &out[node] {
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    // Each node left has an edge from another node left: going back along them ends in a cycle.
    let mut back = vec![None; graph.nodes.len()];
    for (number, e) in zero() {
        if waiting[e.from] > 0 && waiting[e.to] > 0 {
            back[e.to].get_or_insert(number);
        }
    }
    let mut node = (0..waiting.len()).find(|&n| waiting[n] > 0)?;
    let mut seen = vec![false; graph.nodes.len()];
    while !std::mem::replace(&mut seen[node], true) {
        node = graph.edges[back[node]?].from;
    }
    let (first, mut cycle) = (node, Vec::new());
    loop {
        let edge = back[node]?;
        cycle.push(edge);
        node = graph.edges[edge].from;
        if node == first {
            break;
        }
    }
    cycle.reverse();
    Some(cycle)
}
