//! The registers of the code that runs as a source would name them: a web is a value with all that is
//! written where the same reads find it (Muchnick, "Advanced Compiler Design and Implementation",
//! section 16.3.3). A machine register is many webs one after the other, and a register of 64 bits that
//! is named as one is one web. Rules that count registers count these.

use std::collections::BTreeSet;

use nbcc_isa::{Instruction, Role};
use nbcc_isa_simt::{PhysReg, RegClass};

use super::code::KernelCode;
use super::live::Registers;
use super::registers::{RegisterSet, SLOTS, slots};

/// The webs of a kernel, by numbers.
#[derive(Clone, Debug)]
pub struct Webs {
    entry: u32,
    /// For each instruction, what it reads and what it writes: a slot and its web.
    reads: Vec<Vec<(u16, u32)>>,
    writes: Vec<Vec<(u16, u32)>>,
    /// The first instruction of each basic block with the webs that are live there, by slot.
    starts: Vec<(u32, Vec<(u16, u32)>)>,
    /// Whether each web is a register of 64 bits somewhere.
    wide: Vec<bool>,
}

impl Webs {
    /// Of a kernel.
    pub fn new(code: &KernelCode<'_>, registers: &Registers<'_>) -> Webs {
        let mut sets = Sets::default();
        let starts: Vec<(u32, Vec<(u16, u32)>)> = registers
            .starts()
            .map(|at| {
                let live = registers.live_before(at);
                let slots = (0..SLOTS).filter(|&slot| live.has_slot(slot));
                (at, slots.map(|slot| (slot, sets.add())).collect())
            })
            .collect();
        let mut webs = Webs {
            entry: code.entry,
            reads: Vec::new(),
            writes: Vec::new(),
            starts,
            wide: Vec::new(),
        };
        let mut pairs: Vec<u32> = Vec::new();
        for block in 0..webs.starts.len() {
            let end = webs.starts.get(block + 1).map_or(code.end, |(at, _)| *at);
            let mut now: Vec<Option<u32>> = vec![None; usize::from(SLOTS)];
            for &(slot, node) in &webs.starts[block].1 {
                now[usize::from(slot)] = Some(node);
            }
            for at in webs.starts[block].0..end {
                let inst = code.at(at);
                let mut reads: Vec<(u16, u32)> = Vec::new();
                let mut writes: Vec<(u16, u32)> = Vec::new();
                inst.for_each_operand(|operand| {
                    if operand.role != Role::Def {
                        let node = joined(&mut sets, &mut now, *operand.reg);
                        reads.extend(slots(*operand.reg).map(|slot| (slot, node)));
                        if operand.reg.class == RegClass::Wide {
                            pairs.push(node);
                        }
                    }
                });
                inst.for_each_operand(|operand| {
                    if operand.role == Role::Use {
                        return;
                    }
                    // What keeps its old value in some threads is one value with it.
                    let node = match operand.role {
                        Role::UseDef => joined(&mut sets, &mut now, *operand.reg),
                        _ => sets.add(),
                    };
                    for slot in slots(*operand.reg) {
                        now[usize::from(slot)] = Some(node);
                        writes.push((slot, node));
                    }
                    if operand.reg.class == RegClass::Wide {
                        pairs.push(node);
                    }
                });
                webs.reads.push(reads);
                webs.writes.push(writes);
            }
            for to in code.successors(end - 1) {
                let to = webs.starts.partition_point(|(at, _)| *at <= to) - 1;
                for &(slot, node) in &webs.starts[to].1 {
                    if let Some(here) = now[usize::from(slot)] {
                        sets.join(here, node);
                    }
                }
            }
        }
        webs.number(&mut sets, &pairs);
        webs
    }

    /// Gives the sets numbers from 0.
    fn number(&mut self, sets: &mut Sets, pairs: &[u32]) {
        let mut numbers: Vec<Option<u32>> = vec![None; sets.parent.len()];
        let mut count = 0;
        let mut number = |node: &mut u32| {
            let root = sets.find(*node) as usize;
            *node = *numbers[root].get_or_insert_with(|| {
                count += 1;
                count - 1
            });
        };
        let lists = self.reads.iter_mut().chain(&mut self.writes);
        let lists = lists.chain(self.starts.iter_mut().map(|(_, live)| live));
        lists.flatten().for_each(|(_, node)| number(node));
        let mut pairs = pairs.to_vec();
        pairs.iter_mut().for_each(number);
        self.wide = vec![false; count as usize];
        pairs.iter().for_each(|&web| self.wide[web as usize] = true);
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.wide.len() as u32
    }

    /// Whether a web is a register of 64 bits somewhere.
    pub fn is_wide(&self, web: u32) -> bool {
        self.wide[web as usize]
    }

    /// The webs that an instruction writes.
    pub fn writes(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        self.writes[(at - self.entry) as usize].iter().map(|(_, web)| *web)
    }

    /// The web of a register that an instruction reads.
    pub fn read(&self, at: u32, reg: PhysReg) -> Option<u32> {
        let slot = slots(reg).next()?;
        let reads = &self.reads[(at - self.entry) as usize];
        reads.iter().find(|(known, _)| *known == slot).map(|(_, web)| *web)
    }

    /// The web of a register that an instruction writes.
    pub fn written(&self, at: u32, reg: PhysReg) -> Option<u32> {
        let slot = slots(reg).next()?;
        let writes = &self.writes[(at - self.entry) as usize];
        writes.iter().find(|(known, _)| *known == slot).map(|(_, web)| *web)
    }

    /// The registers that hold some webs before an instruction.
    pub fn registers(&self, is_wanted: impl Fn(u32) -> bool, at: u32) -> RegisterSet {
        let mut set = RegisterSet::default();
        for (slot, web) in self.before(at).into_iter().enumerate() {
            if web.is_some_and(&is_wanted) {
                set.insert_slot(slot as u16);
            }
        }
        set
    }

    /// The web of each slot before an instruction, if it is read there or later.
    fn before(&self, at: u32) -> Vec<Option<u32>> {
        let block = self.starts.partition_point(|(start, _)| *start <= at) - 1;
        let (start, live) = &self.starts[block];
        let mut now = vec![None; usize::from(SLOTS)];
        for &(slot, web) in live {
            now[usize::from(slot)] = Some(web);
        }
        for at in *start..at {
            for &(slot, web) in &self.writes[(at - self.entry) as usize] {
                now[usize::from(slot)] = Some(web);
            }
        }
        now
    }

    /// The registers of a set with the web that each holds before an instruction, where it is one that
    /// is read there or later.
    pub fn held_before(&self, set: &RegisterSet, at: u32) -> Vec<(PhysReg, u32)> {
        let before = self.before(at);
        let web = |reg: PhysReg| before[usize::from(slots(reg).start)];
        set.iter().filter_map(|reg| Some((reg, web(reg)?))).collect()
    }

    /// How many webs a set of registers is before an instruction.
    pub fn count_of(&self, set: &RegisterSet, at: u32) -> u64 {
        let held = self.held_before(set, at);
        held.into_iter().map(|(_, web)| web).collect::<BTreeSet<u32>>().len() as u64
    }
}

/// The node of a register, whose slots are one from here on.
fn joined(sets: &mut Sets, now: &mut [Option<u32>], reg: PhysReg) -> u32 {
    let mut node = None;
    for slot in slots(reg) {
        let here = *now[usize::from(slot)].get_or_insert_with(|| sets.add());
        match node {
            None => node = Some(here),
            Some(first) => sets.join(first, here),
        }
    }
    node.expect("a register has a slot")
}

/// Disjoint sets (Tarjan).
#[derive(Default)]
struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    fn add(&mut self) -> u32 {
        let node = self.parent.len() as u32;
        self.parent.push(node);
        node
    }

    fn find(&mut self, node: u32) -> u32 {
        let mut at = node;
        while self.parent[at as usize] != at {
            let up = self.parent[at as usize];
            self.parent[at as usize] = self.parent[up as usize];
            at = up;
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        // The older one stays, so that numbers do not depend on the order of joins.
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
