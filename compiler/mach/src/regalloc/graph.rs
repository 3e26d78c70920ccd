//! The interference graph of a file.

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_isa::Instruction;

use super::file::RegisterFile;
use crate::liveness::Liveness;
use crate::{Function, VReg};

/// A set of registers with constant-time changes that is listed in time of its size.
pub struct LiveSet {
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

/// What an instruction reads and writes, each register once.
#[derive(Default)]
pub struct Accesses {
    pub uses: Vec<VReg>,
    pub defs: Vec<VReg>,
}

impl Accesses {
    /// Takes those of an instruction that are `ours`.
    pub fn of<I: Instruction<Reg = VReg>>(&mut self, inst: &I, ours: impl Fn(VReg) -> bool) {
        self.uses.clear();
        self.defs.clear();
        inst.for_each_operand(|operand| {
            if !ours(*operand.reg) {
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
pub struct Seen {
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
    /// Those that must not share an entry with it, each once.
    pub neighbours: SecondaryMap<VReg, Vec<VReg>>,
}

impl Graph {
    /// Builds the graph. `copy` gives target and source of an instruction that only copies: these
    /// two do not interfere by it.
    pub fn new<I: Instruction<Reg = VReg>>(
        func: &Function<I>,
        file: &RegisterFile<I::Class>,
        live: &Liveness,
        copy: impl Fn(&I) -> Option<(VReg, VReg)>,
    ) -> Graph {
        let mut graph = Graph::default();
        let mut set = LiveSet::new(func.vregs.len());
        let mut accesses = Accesses::default();
        let width = |vreg| file.width_of(func, vreg);
        for (block, data) in &func.blocks {
            set.clear();
            for &vreg in live.live_out[block].iter().filter(|&&vreg| width(vreg).is_some()) {
                set.insert(vreg);
            }
            for inst in data.insts.iter().rev() {
                accesses.of(&inst.inst, |vreg| width(vreg).is_some());
                for &vreg in accesses.uses.iter().chain(&accesses.defs) {
                    if graph.width[vreg] == 0 {
                        graph.width[vreg] = width(vreg).unwrap_or(1);
                        graph.nodes.push(vreg);
                    }
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
        // Registers that are written at several places have met some others more than once.
        let mut seen = Seen::default();
        for &vreg in &graph.nodes {
            seen.keep_first(&mut graph.neighbours[vreg]);
        }
        graph
    }
}
