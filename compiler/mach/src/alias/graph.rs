//! What is live at each instruction, and the interference graph of a file.

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_isa::Instruction;

use super::{File, LiveLists};
use crate::{Function, VReg};

/// A set of registers with constant-time changes that is listed in time of its size.
pub(super) struct LiveSet {
    list: Vec<VReg>,
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl LiveSet {
    pub fn new(count: usize) -> LiveSet {
        LiveSet { list: Vec::new(), place: vec![ABSENT; count] }
    }

    pub fn insert(&mut self, vreg: VReg) -> bool {
        let new = self.place[vreg.index()] == ABSENT;
        if new {
            self.place[vreg.index()] = self.list.len() as u32;
            self.list.push(vreg);
        }
        new
    }

    pub fn remove(&mut self, vreg: VReg) -> bool {
        let at = std::mem::replace(&mut self.place[vreg.index()], ABSENT);
        if at == ABSENT {
            return false;
        }
        self.list.swap_remove(at as usize);
        if let Some(&moved) = self.list.get(at as usize) {
            self.place[moved.index()] = at;
        }
        true
    }

    pub fn clear(&mut self) {
        for vreg in self.list.drain(..) {
            self.place[vreg.index()] = ABSENT;
        }
    }

    pub fn list(&self) -> &[VReg] {
        &self.list
    }
}

/// What an instruction reads and writes in a file, each register once.
#[derive(Default)]
pub(super) struct Accesses {
    pub uses: Vec<VReg>,
    pub defs: Vec<VReg>,
}

impl Accesses {
    pub fn of<I: Instruction<Reg = VReg>>(&mut self, inst: &I, file: &File<I::Class>)
    where
        I::Class: Copy + PartialEq,
    {
        self.uses.clear();
        self.defs.clear();
        inst.for_each_operand(|operand| {
            if file.width(operand.class).is_none() {
                return;
            }
            if operand.role.reads() && !self.uses.contains(operand.reg) {
                self.uses.push(*operand.reg);
            }
            if operand.role.writes() && !self.defs.contains(operand.reg) {
                self.defs.push(*operand.reg);
            }
        });
    }
}

/// Removes what stands in a list twice, in time of its length.
#[derive(Default)]
pub(super) struct Seen {
    stamps: SecondaryMap<VReg, u32>,
    stamp: u32,
}

impl Seen {
    /// Keeps the first of equal registers.
    pub fn keep_first(&mut self, list: &mut Vec<VReg>) {
        self.stamp += 1;
        list.retain(|&vreg| std::mem::replace(&mut self.stamps[vreg], self.stamp) != self.stamp);
    }
}

/// The interference graph of the registers of a file.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The registers that have a place in the file and are read or written.
    pub nodes: Vec<VReg>,
    /// Entries that each takes.
    pub width: SecondaryMap<VReg, u16>,
    /// Those that must not share an entry with it. After coalescing, names of merged registers may
    /// stand for those they were merged into.
    pub neighbours: SecondaryMap<VReg, Vec<VReg>>,
    /// Accesses, weighted by ten for every loop around them.
    pub cost: SecondaryMap<VReg, f64>,
}

impl Graph {
    /// Builds the graph. `copy` gives target and source of an instruction that only copies: these
    /// two do not interfere by it.
    pub fn new<I: Instruction<Reg = VReg>>(
        func: &Function<I>,
        file: &File<I::Class>,
        live: &LiveLists,
        copy: impl Fn(&I) -> Option<(VReg, VReg)>,
    ) -> Graph
    where
        I::Class: Copy + PartialEq,
    {
        let mut graph = Graph::default();
        let mut set = LiveSet::new(func.vregs.len());
        let mut accesses = Accesses::default();
        let ours = |v: VReg| file.width(func.vregs[v].class).is_some();
        for (block, data) in &func.blocks {
            let weight = 10f64.powi(data.loop_depth.min(8) as i32);
            set.clear();
            for &vreg in live.live_out[block].iter().filter(|&&v| ours(v)) {
                set.insert(vreg);
            }
            for inst in data.insts.iter().rev() {
                accesses.of(&inst.inst, file);
                for &vreg in accesses.uses.iter().chain(&accesses.defs) {
                    if graph.cost[vreg] == 0.0 {
                        graph.nodes.push(vreg);
                    }
                    graph.cost[vreg] += weight;
                }
                for &def in &accesses.defs {
                    set.insert(def);
                }
                let source = copy(&inst.inst).map(|(_, source)| source);
                for &def in &accesses.defs {
                    for &other in set.list() {
                        if other != def && Some(other) != source {
                            graph.neighbours[def].push(other);
                            graph.neighbours[other].push(def);
                        }
                    }
                }
                for &def in &accesses.defs {
                    set.remove(def);
                }
                for &used in &accesses.uses {
                    set.insert(used);
                }
            }
        }
        graph.nodes.sort_unstable();
        for &vreg in &graph.nodes {
            graph.width[vreg] = file.width(func.vregs[vreg].class).unwrap_or(1);
        }
        // Registers that are written at several places have met some others more than once.
        let mut seen = Seen::default();
        for &vreg in &graph.nodes {
            seen.keep_first(&mut graph.neighbours[vreg]);
        }
        graph
    }
}
