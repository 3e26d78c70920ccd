//! The dependence graph of a block: which instructions must stay in order, and why. Schedulers read
//! it; any order that keeps its edges computes the same.
//!
//! Dependences of registers follow from the roles of operands (true, anti, output: Allen, Kennedy,
//! "Optimizing Compilers for Modern Architectures", section 2.2), those of memory from the memories
//! that an instruction's row names and from what its accesses are known to reach.

use std::collections::BTreeMap;
use std::ops::Range;

use fixedbitset::FixedBitSet;
use nbcc_isa::{Instruction, Role};

use crate::{InstData, VReg};

/// Why an instruction must stay behind another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependence {
    /// It reads a register that the other one writes.
    True,
    /// It writes a register that the other one reads.
    Anti,
    /// It writes a register that the other one writes.
    Output,
    /// They may access the same bytes, and one of them writes.
    Memory,
    /// They are to stay in the order of the program, for what that is worth.
    Order,
    /// One of them ends the block, or nothing may move over it.
    Control,
}

/// An edge to a later instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The later instruction, by its place in the block.
    pub to: usize,
    /// Why it is later.
    pub kind: Dependence,
}

/// The dependence graph of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependenceGraph {
    /// Edges from each instruction, ascending, each once.
    pub successors: Vec<Vec<Edge>>,
}

impl DependenceGraph {
    /// The graph of the instructions of a block. `units` gives what a register takes of the files:
    /// registers that share a unit are one as far as they overlap. Nothing moves over what is
    /// `fixed`: branches, barriers.
    pub fn new<I: Instruction<Reg = VReg>>(
        insts: &[InstData<I>],
        units: impl Fn(VReg) -> Range<u32>,
        fixed: impl Fn(&I) -> bool,
    ) -> DependenceGraph {
        DependenceGraph::reduced(insts, units, fixed, |_| None)
    }

    /// The same without edges of memory that others imply, also as to the time that they ask for. `kind`
    /// numbers instructions that make all which depend on them by memory wait equally long: no edge leads
    /// from one to an instruction that is behind a later one of its kind, which it is behind itself.
    pub fn reduced<I: Instruction<Reg = VReg>>(
        insts: &[InstData<I>],
        units: impl Fn(VReg) -> Range<u32>,
        fixed: impl Fn(&I) -> bool,
        kind: impl Fn(&I) -> Option<u8>,
    ) -> DependenceGraph {
        let mut graph = DependenceGraph { successors: vec![Vec::new(); insts.len()] };
        graph.registers(insts, units);
        graph.memory(insts, kind);
        graph.control(insts, fixed);
        for edges in &mut graph.successors {
            edges.sort_unstable();
            edges.dedup();
        }
        graph
    }

    fn add(&mut self, from: usize, to: usize, kind: Dependence) {
        if from != to {
            self.successors[from].push(Edge { to, kind });
        }
    }

    fn registers<I: Instruction<Reg = VReg>>(
        &mut self,
        insts: &[InstData<I>],
        units: impl Fn(VReg) -> Range<u32>,
    ) {
        /// The last instruction that wrote a unit, and those that have read it since.
        #[derive(Default)]
        struct Unit {
            writer: Option<usize>,
            readers: Vec<usize>,
        }
        let mut held: BTreeMap<u32, Unit> = BTreeMap::new();
        for (at, data) in insts.iter().enumerate() {
            let mut operands: Vec<(Role, Range<u32>)> = Vec::new();
            data.inst.for_each_operand(|o| operands.push((o.role, units(*o.reg))));
            let accesses = |reads: bool| {
                let some = operands.iter().filter(move |(role, _)| match reads {
                    true => role.reads(),
                    false => role.writes(),
                });
                some.flat_map(|(_, units)| units.clone())
            };
            for unit in accesses(true) {
                let unit = held.entry(unit).or_default();
                if let Some(writer) = unit.writer {
                    self.add(writer, at, Dependence::True);
                }
                unit.readers.push(at);
            }
            for unit in accesses(false) {
                let unit = held.entry(unit).or_default();
                for reader in unit.readers.drain(..) {
                    self.add(reader, at, Dependence::Anti);
                }
                if let Some(writer) = unit.writer.replace(at) {
                    self.add(writer, at, Dependence::Output);
                }
            }
        }
    }

    fn memory<I: Instruction<Reg = VReg>>(
        &mut self,
        insts: &[InstData<I>],
        kind: impl Fn(&I) -> Option<u8>,
    ) {
        let all: Vec<(usize, Reached<'_, I>)> =
            insts.iter().map(Reached::new).enumerate().filter(|(_, r)| r.touches()).collect();
        let kinds: Vec<Option<u8>> = all
            .iter()
            .map(|&(at, _)| kind(&insts[at].inst).filter(|_| all.len() <= MAX_REDUCED))
            .collect();
        // Of each access, itself and those that it is behind.
        let mut behind: Vec<FixedBitSet> = Vec::new();
        for (number, (later, next)) in all.iter().enumerate() {
            let mut of_next = FixedBitSet::new();
            let mut implied: BTreeMap<u8, FixedBitSet> = BTreeMap::new();
            for (before, (earlier, access)) in all[..number].iter().enumerate().rev() {
                let kind = kinds[before];
                let is_implied = kind
                    .and_then(|kind| implied.get(&kind))
                    .is_some_and(|set| set.contains(before));
                if is_implied || !access.collides(next) {
                    continue;
                }
                self.add(*earlier, *later, Dependence::Memory);
                if let Some(kind) = kind {
                    of_next.union_with(&behind[before]);
                    implied.entry(kind).or_default().union_with(&behind[before]);
                }
            }
            of_next.grow_and_insert(number);
            behind.push(of_next);
        }
    }

    fn control<I: Instruction<Reg = VReg>>(
        &mut self,
        insts: &[InstData<I>],
        fixed: impl Fn(&I) -> bool,
    ) {
        let mut last = None;
        for (at, data) in insts.iter().enumerate() {
            if fixed(&data.inst) {
                for before in last.unwrap_or(0)..at {
                    self.add(before, at, Dependence::Control);
                }
                last = Some(at);
            } else if let Some(last) = last {
                self.add(last, at, Dependence::Control);
            }
        }
    }

    /// Keeps some instructions, given in their order, in that order.
    pub fn keep_order(&mut self, insts: impl Iterator<Item = usize>) {
        let mut last = None;
        for at in insts {
            if let Some(last) = last.replace(at) {
                self.add(last, at, Dependence::Order);
            }
        }
    }

    /// How many edges lead to each instruction.
    pub fn in_degrees(&self) -> Vec<usize> {
        let mut degrees = vec![0; self.successors.len()];
        for edge in self.successors.iter().flatten() {
            degrees[edge.to] += 1;
        }
        degrees
    }
}

/// Of blocks with more accesses all edges are kept, since sets of accesses are kept for each.
const MAX_REDUCED: usize = 1 << 14;

/// What an instruction does with memories, looked up once for all pairs.
struct Reached<'a, I: Instruction> {
    data: &'a InstData<I>,
    reads: &'static [I::Memory],
    writes: &'static [I::Memory],
}

impl<'a, I: Instruction<Reg = VReg>> Reached<'a, I> {
    fn new(data: &'a InstData<I>) -> Reached<'a, I> {
        Reached { data, reads: data.inst.memory_reads(), writes: data.inst.memory_writes() }
    }

    fn touches(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// Whether two may access the same bytes of a memory, and one writes them.
    fn collides(&self, other: &Reached<'_, I>) -> bool {
        let pairs =
            [(self.writes, other.reads), (self.writes, other.writes), (self.reads, other.writes)];
        pairs.iter().any(|(of_a, of_b)| {
            let mut shared = of_a.iter().filter(|memory| of_b.contains(memory));
            shared.any(|&memory| {
                let [a, b] = [self.data, other.data].map(|data| data.access_of(memory));
                !matches!((a, b), (Some(a), Some(b)) if a.is_disjoint_from(b))
            })
        })
    }
}
