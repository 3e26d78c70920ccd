//! Colouring a file by simplification and optimistic selection (Briggs et al. 1994) with degrees
//! weighted by what a neighbour takes away (Smith, Ramsey, Holloway 2004).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cranelift_entity::SecondaryMap;

use super::Graph;
use crate::VReg;

/// The outcome of colouring.
#[derive(Clone, Debug)]
pub enum Colors {
    /// The first entry of every register.
    Found(SecondaryMap<VReg, u16>),
    /// Registers that found none.
    Spill(Vec<VReg>),
}

/// Colours the nodes with `entries` entries. `spillable` says which may be kept elsewhere; others
/// leave the graph last.
pub fn color(graph: &Graph, entries: u16, spillable: impl Fn(VReg) -> bool) -> Colors {
    let order = simplify(graph, u32::from(entries), &spillable);
    let mut entry: SecondaryMap<VReg, u16> = SecondaryMap::new();
    let mut colored: SecondaryMap<VReg, bool> = SecondaryMap::new();
    let mut spilled = Vec::new();
    for &node in order.iter().rev() {
        let mut taken = [0u64; 4];
        for &other in graph.neighbours[node].iter().filter(|&&other| colored[other]) {
            for at in entry[other]..entry[other] + graph.width[other] {
                taken[usize::from(at / 64)] |= 1 << (at % 64);
            }
        }
        let width = graph.width[node];
        // Groups are aligned, so that none crosses a word.
        let mask = (1u64 << width) - 1;
        let free = (0..entries / width)
            .map(|n| n * width)
            .find(|&at| taken[usize::from(at / 64)] >> (at % 64) & mask == 0);
        match free {
            Some(at) => {
                entry[node] = at;
                colored[node] = true;
            }
            None => spilled.push(node),
        }
    }
    if spilled.is_empty() { Colors::Found(entry) } else { Colors::Spill(spilled) }
}

/// The order in which registers leave the graph: those that will find entries whatever their
/// neighbours get first; where there is none, the one whose spilling costs least a neighbour.
fn simplify(graph: &Graph, entries: u32, spillable: &impl Fn(VReg) -> bool) -> Vec<VReg> {
    // What a neighbour takes away: at least one group of one's own width.
    let takes = |of: VReg, other: VReg| u32::from(graph.width[other].max(graph.width[of]));
    let room = |of: VReg| entries.saturating_sub(u32::from(graph.width[of]));
    let mut degree: SecondaryMap<VReg, u32> = SecondaryMap::new();
    let mut present: SecondaryMap<VReg, bool> = SecondaryMap::new();
    let mut queued: SecondaryMap<VReg, bool> = SecondaryMap::new();
    // Low degrees leave in the reverse of program order, so that selection sees program order.
    let mut easy = BinaryHeap::new();
    let mut hard = BinaryHeap::new();
    for &node in &graph.nodes {
        present[node] = true;
        degree[node] = graph.neighbours[node].iter().map(|&other| takes(node, other)).sum();
        if degree[node] <= room(node) {
            queued[node] = true;
            easy.push(node);
        } else {
            let cost = if spillable(node) { graph.cost[node] } else { f64::INFINITY };
            hard.push(Reverse(((cost / f64::from(degree[node])).to_bits(), node)));
        }
    }
    let mut order = Vec::with_capacity(graph.nodes.len());
    loop {
        let node = match easy.pop() {
            Some(node) => node,
            None => match hard.pop() {
                Some(Reverse((_, node))) if present[node] && !queued[node] => node,
                Some(_) => continue,
                None => break,
            },
        };
        if !std::mem::replace(&mut present[node], false) {
            continue;
        }
        order.push(node);
        for &other in graph.neighbours[node].iter().filter(|&&other| present[other]) {
            degree[other] -= takes(other, node);
            if degree[other] <= room(other) && !std::mem::replace(&mut queued[other], true) {
                easy.push(other);
            }
        }
    }
    order
}
