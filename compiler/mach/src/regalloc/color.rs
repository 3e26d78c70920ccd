//! Colouring a file by simplification and optimistic selection (Briggs et al. 1994) with degrees
//! weighted by what a neighbour takes away (Smith, Ramsey, Holloway, "A Generalized Algorithm for
//! Graph-Coloring Register Allocation", PLDI 2004).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use super::file::{Policy, RegisterFile};
use super::graph::Graph;
use crate::{Function, VReg};

/// The outcome of colouring.
pub enum Colors {
    /// The first entry of every register.
    Found(SecondaryMap<VReg, u16>),
    /// Registers that found none.
    Spill(Vec<VReg>),
}

/// Colours the nodes. `may` says which may be spilled, at which `cost`; others leave the graph
/// last. Registers that are fixed to an entry have it from the start; others take that of one of
/// their `partners` where they can.
pub fn color<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    file: &RegisterFile<I::Class>,
    graph: &Graph,
    partners: &SecondaryMap<VReg, Vec<VReg>>,
    cost: &SecondaryMap<VReg, f64>,
    may: impl Fn(VReg) -> bool,
) -> Colors {
    let mut entry: SecondaryMap<VReg, Option<u16>> = SecondaryMap::new();
    for &node in &graph.nodes {
        entry[node] = func.vregs[node].fixed;
    }
    let ranks = match file.policy {
        Policy::Min => SecondaryMap::new(),
        Policy::Spread => first_places(func),
    };
    let rank = |v| (ranks[v], v);
    let fixed = |v: VReg| func.vregs[v].fixed.is_some();
    let order = simplify(file, graph, rank, fixed, |v| may(v).then(|| cost[v]));
    let mut taken = Taken(vec![0; usize::from(file.entries.end).div_ceil(64)]);
    let mut spilled = Vec::new();
    let mut next = file.entries.start;
    for &node in order.iter().rev() {
        taken.0.fill(0);
        for &other in &graph.neighbours[node] {
            if let Some(at) = entry[other] {
                taken.take(at, graph.width[other]);
            }
        }
        let width = graph.width[node];
        let free = |from: u16| {
            let mut groups = file.groups(width).filter(|&at| at >= from);
            groups.find(|&at| taken.is_free(at, width))
        };
        let of_partner = partners[node].iter().filter_map(|&other| entry[other]);
        if let Some(at) = of_partner.into_iter().find(|&at| taken.is_free(at, width)) {
            entry[node] = Some(at);
            continue;
        }
        let found = match file.policy {
            Policy::Min => free(0),
            Policy::Spread => free(next).or_else(|| free(0)),
        };
        match found {
            Some(at) => {
                entry[node] = Some(at);
                next = at + width;
            }
            None => spilled.push(node),
        }
    }
    if spilled.is_empty() {
        let mut found = SecondaryMap::new();
        for &node in &graph.nodes {
            found[node] = entry[node].unwrap_or_default();
        }
        Colors::Found(found)
    } else {
        Colors::Spill(spilled)
    }
}

/// Where each register comes first in the program: those that follow each other there take entries that
/// do, so that one is reused late.
fn first_places<I: Instruction<Reg = VReg>>(func: &Function<I>) -> SecondaryMap<VReg, u32> {
    let mut places = SecondaryMap::new();
    let mut next = 0;
    for inst in func.blocks.values().flat_map(|block| &block.insts) {
        inst.inst.for_each_operand(|operand| {
            if places[*operand.reg] == 0 {
                next += 1;
                places[*operand.reg] = next;
            }
        });
    }
    places
}

/// A bit for each entry. Groups are aligned to a width of 8 at most, so that none crosses a word.
struct Taken(Vec<u64>);

impl Taken {
    fn take(&mut self, at: u16, width: u16) {
        for at in at..at + width {
            if let Some(word) = self.0.get_mut(usize::from(at / 64)) {
                *word |= 1 << (at % 64);
            }
        }
    }

    fn is_free(&self, at: u16, width: u16) -> bool {
        self.0[usize::from(at / 64)] >> (at % 64) & ((1 << width) - 1) == 0
    }
}

/// The order in which registers leave the graph: those that will find entries whatever their
/// neighbours get first; where there is none, the one whose spilling costs least a neighbour.
/// Fixed registers stay. `cost` is `None` for what must not be spilled.
fn simplify<C: Copy + PartialEq>(
    file: &RegisterFile<C>,
    graph: &Graph,
    rank: impl Fn(VReg) -> (u32, VReg),
    fixed: impl Fn(VReg) -> bool,
    cost: impl Fn(VReg) -> Option<f64>,
) -> Vec<VReg> {
    // What a neighbour takes away: at least one group of one's own width.
    let takes = |of: VReg, other: VReg| u32::from(graph.width[other].max(graph.width[of]));
    let rooms = [1u16, 2, 4, 8].map(|width| {
        let groups = file.groups(width).count() as u32;
        (groups * u32::from(width)).saturating_sub(u32::from(width))
    });
    let room = |of: VReg| rooms[graph.width[of].trailing_zeros() as usize];
    let mut degree: SecondaryMap<VReg, u32> = SecondaryMap::new();
    let mut present: SecondaryMap<VReg, bool> = SecondaryMap::new();
    let mut queued: SecondaryMap<VReg, bool> = SecondaryMap::new();
    // Low degrees leave in the reverse of program order, so that selection sees program order.
    let mut easy = BinaryHeap::new();
    let mut hard = BinaryHeap::new();
    for &node in graph.nodes.iter().filter(|&&node| !fixed(node)) {
        present[node] = true;
        degree[node] = graph.neighbours[node].iter().map(|&other| takes(node, other)).sum();
        if degree[node] <= room(node) {
            queued[node] = true;
            easy.push(rank(node));
        } else {
            let cost = cost(node).unwrap_or(f64::INFINITY);
            hard.push(Reverse(((cost / f64::from(degree[node])).to_bits(), node)));
        }
    }
    let mut order = Vec::with_capacity(graph.nodes.len());
    loop {
        let node = match easy.pop() {
            Some((_, node)) => node,
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
                easy.push(rank(other));
            }
        }
    }
    order
}
