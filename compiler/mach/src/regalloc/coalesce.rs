//! Conservative coalescing: the two sides of a copy become one register where they do not
//! interfere and the merged one has fewer neighbours of significant degree than would keep it from
//! being coloured (Briggs, Cooper, Torczon, TOPLAS 1994, section 4).

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use super::bias;
use super::file::{Allocation, RegisterFile};
use super::graph::{Graph, Seen};
use super::merged::Merged;
use super::spill::Spiller;
use crate::{Function, VReg};

/// Registers with more neighbours than this are left alone, to bound the work.
const MAX_NEIGHBOURS: usize = 4096;

/// Merges what can be, rewrites the function, and removes copies of a register to itself.
pub fn coalesce<I, S>(
    func: &mut Function<I>,
    file: &RegisterFile<I::Class>,
    graph: &mut Graph,
    spiller: &S,
    done: &mut Allocation,
) where
    I: Instruction<Reg = VReg>,
    S: Spiller<I>,
{
    let mut merging = Merging::new(func, file, graph);
    for (to, from) in bias::copies(func, file, spiller) {
        merging.try_merge(to, from);
    }
    let Merging { mut merged, any: true, .. } = merging else { return };
    merged.rewrite(func, spiller, done);
    graph.nodes.retain(|&node| merged.find(node) == node);
    let mut seen = Seen::default();
    for &node in &graph.nodes {
        let list = &mut graph.neighbours[node];
        for other in list.iter_mut() {
            *other = merged.find(*other);
        }
        seen.keep_first(list);
    }
}

/// The graph while registers are being merged: lists of neighbours may name merged registers, and
/// some of them twice.
struct Merging<'a> {
    graph: &'a mut Graph,
    merged: Merged,
    /// How many neighbours each register has, those that were merged counted once.
    degree: SecondaryMap<VReg, u32>,
    entries: u32,
    widest: u32,
    /// At which merge a register was last seen beside the first and beside the second.
    beside: [SecondaryMap<VReg, u32>; 2],
    stamp: u32,
    any: bool,
}

impl Merging<'_> {
    fn new<'a, I: Instruction<Reg = VReg>>(
        func: &Function<I>,
        file: &RegisterFile<I::Class>,
        graph: &'a mut Graph,
    ) -> Merging<'a> {
        let mut degree = SecondaryMap::new();
        for &node in &graph.nodes {
            degree[node] = graph.neighbours[node].len() as u32;
        }
        let widest = file.classes.iter().map(|&(_, width)| width).max().unwrap_or(1);
        Merging {
            graph,
            merged: Merged::new(func.vregs.len()),
            degree,
            entries: file.entries.len() as u32,
            widest: widest.into(),
            beside: Default::default(),
            stamp: 0,
            any: false,
        }
    }

    /// Merges two registers of one class if that cannot cost an entry.
    fn try_merge(&mut self, to: VReg, from: VReg) {
        let [a, b] = [to, from].map(|vreg| self.merged.find(vreg));
        let lists = [a, b].map(|vreg| std::mem::take(&mut self.graph.neighbours[vreg]));
        let merge = a != b && lists.iter().all(|list| list.len() <= MAX_NEIGHBOURS);
        let shared = if merge { self.shared([a, b], &lists) } else { None };
        let [mut own, mut other] = lists;
        let Some(shared) = shared else {
            self.graph.neighbours[b] = other;
            // Where both are one, the second list is the empty one that was left behind.
            self.graph.neighbours[a] = own;
            return;
        };
        for &vreg in &shared {
            self.degree[vreg] -= 1;
        }
        let degree = self.degree[a] + self.degree[b] - shared.len() as u32;
        if own.len() < other.len() {
            std::mem::swap(&mut own, &mut other);
        }
        own.extend(other);
        self.merged.unite(a, b);
        let one = self.merged.find(a);
        self.graph.neighbours[one] = own;
        self.degree[one] = degree;
        self.any = true;
    }

    /// The neighbours that two registers share; `None` where they interfere or the merged one might
    /// find no entry.
    fn shared(&mut self, pair: [VReg; 2], lists: &[Vec<VReg>; 2]) -> Option<Vec<VReg>> {
        self.stamp += 1;
        let width = self.graph.width[pair[0]];
        let mut significant = u32::from(width);
        let mut shared = Vec::new();
        for (k, list) in lists.iter().enumerate() {
            for &vreg in list {
                let n = self.merged.find(vreg);
                if n == pair[1 - k] {
                    return None;
                }
                if std::mem::replace(&mut self.beside[k][n], self.stamp) == self.stamp {
                    continue;
                }
                if k == 1 && self.beside[0][n] == self.stamp {
                    shared.push(n);
                } else if self.widest * self.degree[n] >= self.entries {
                    significant += u32::from(self.graph.width[n].max(width));
                }
            }
        }
        (significant <= self.entries).then_some(shared)
    }
}
