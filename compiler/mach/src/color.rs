//! Graph colouring by simplification and optimistic selection (Chaitin; Briggs et al., "Improvements
//! to graph coloring register allocation", TOPLAS 1994), with two ways to choose among free
//! entries: the lowest, or the one used longest ago (iPIM, section V-C: registers are spread so
//! that reuse does not stall an in-order core).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::VReg;
use crate::interference::Interference;

/// How an entry is chosen among those that are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The lowest, so that as few as possible are used.
    Min,
    /// The next one in a round, so that a register is reused as late as possible.
    Spread,
}

/// The outcome of colouring.
#[derive(Clone, Debug)]
pub enum Coloring {
    /// An entry for every register.
    Colored(SecondaryMap<VReg, u16>),
    /// Registers that found none and must be kept elsewhere, cheapest first.
    Spill(Vec<VReg>),
}

/// Colours `vregs` with the entries `allowed`. `spillable` says which may be kept elsewhere; the
/// others are chosen for spilling only if nothing else is left.
pub fn color(
    vregs: &[VReg],
    graph: &Interference,
    allowed: &[u16],
    policy: Policy,
    spillable: impl Fn(VReg) -> bool,
) -> Coloring {
    let order = simplify(vregs, graph, allowed.len(), &spillable);
    let mut entry: SecondaryMap<VReg, u16> = SecondaryMap::new();
    let mut colored = EntitySet::new();
    let mut spilled = Vec::new();
    let mut next = 0;
    for &vreg in order.iter().rev() {
        let mut taken = vec![false; allowed.iter().max().map_or(0, |&m| usize::from(m) + 1)];
        for &other in &graph.neighbours[vreg] {
            if colored.contains(other) {
                taken[usize::from(entry[other])] = true;
            }
        }
        let start = if policy == Policy::Spread { next } else { 0 };
        let free = (0..allowed.len())
            .map(|k| (start + k) % allowed.len())
            .find(|&k| !taken[usize::from(allowed[k])]);
        match free {
            Some(k) => {
                entry[vreg] = allowed[k];
                colored.insert(vreg);
                next = k + 1;
            }
            None => spilled.push(vreg),
        }
    }
    if spilled.is_empty() { Coloring::Colored(entry) } else { Coloring::Spill(spilled) }
}

/// The order in which registers leave the graph: those with fewer neighbours than entries first;
/// when none is left, the one whose spilling costs least a neighbour.
fn simplify(
    vregs: &[VReg],
    graph: &Interference,
    entries: usize,
    spillable: &impl Fn(VReg) -> bool,
) -> Vec<VReg> {
    let mut degree: SecondaryMap<VReg, usize> = SecondaryMap::new();
    let mut in_graph = EntitySet::new();
    for &v in vregs {
        in_graph.insert(v);
        degree[v] = graph.neighbours[v].len();
    }
    // Low degrees leave in the reverse of program order, so that selection sees program order.
    let mut easy: BinaryHeap<VReg> =
        vregs.iter().copied().filter(|&v| degree[v] < entries).collect();
    let mut queued: EntitySet<VReg> = EntitySet::new();
    easy.iter().for_each(|&v| {
        queued.insert(v);
    });
    let priority = |v: VReg, degree: usize| {
        let keep = if spillable(v) { 0.0 } else { f64::INFINITY };
        (keep + graph.cost[v]) / (degree.max(1) as f64)
    };
    let mut hard: BinaryHeap<Reverse<(u64, VReg)>> = vregs
        .iter()
        .filter(|&&v| degree[v] >= entries)
        .map(|&v| Reverse((priority(v, degree[v]).to_bits(), v)))
        .collect();
    let mut order = Vec::with_capacity(vregs.len());
    loop {
        let vreg = match easy.pop() {
            Some(v) => v,
            None => match hard.pop() {
                Some(Reverse((_, v))) if in_graph.contains(v) && !queued.contains(v) => v,
                Some(_) => continue,
                None => break,
            },
        };
        if !in_graph.remove(vreg) {
            continue;
        }
        order.push(vreg);
        for &other in &graph.neighbours[vreg] {
            if in_graph.contains(other) {
                degree[other] -= 1;
                if degree[other] < entries && queued.insert(other) {
                    easy.push(other);
                }
            }
        }
    }
    order
}
