//! What a range of instructions takes from its surroundings and leaves to them.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;

use super::live::step_back;
use super::{Constants, Flow, Input, Listing, Live, Number, Reg};

/// Everything that is known of a listing.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The listing.
    pub listing: &'a Listing,
    /// Its control flow.
    pub flow: Flow,
    /// Where its registers are live.
    pub live: Live,
    /// What they hold.
    pub constants: Constants,
    /// For each register that may be read where nothing wrote it, where some write may have happened.
    written: BTreeMap<Reg, BehindWrites>,
}

/// The live-ins and live-outs of a range, and the inputs that it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveSets {
    /// Registers whose values it needs, ascending.
    pub registers_in: Vec<Reg>,
    /// Registers that it writes and that are live behind it, ascending.
    pub registers_out: Vec<Reg>,
    /// Inputs that it reads, ascending.
    pub inputs: Vec<Input>,
}

impl<'a> Facts<'a> {
    /// The facts of a listing that has instructions.
    pub fn new(listing: &'a Listing) -> Facts<'a> {
        let flow = Flow::new(listing);
        let live = Live::new(listing, &flow);
        let constants = Constants::new(listing, &flow, &live);
        // A register that is live where nothing wrote it is so where the function begins.
        let mut writers: BTreeMap<Reg, Vec<u32>> =
            live.at_start[0].iter().map(|&reg| (reg, vec![])).collect();
        for (at, line) in listing.code.iter().enumerate() {
            for reg in &line.writes {
                if let Some(writers) = writers.get_mut(reg) {
                    writers.push(at as u32);
                }
            }
        }
        let behind = |(reg, writers)| (reg, BehindWrites::new(&flow, writers));
        let written = writers.into_iter().map(behind).collect();
        Facts { listing, flow, live, constants, written }
    }

    /// Whether some write of a register reaches an instruction.
    pub fn may_be_written(&self, reg: Reg, at: u32) -> bool {
        self.written.get(&reg).is_none_or(|behind| behind.contains(&self.flow, at))
    }

    /// Whether a register holds one and the same constant on every way to an instruction.
    pub fn holds_constant(&self, reg: Reg, at: u32) -> bool {
        self.constants.number(self.listing, &self.flow, reg, at).is_some()
    }

    /// What the instructions from `first` to `last` take and leave; they are entered at `first` only
    /// and left to the instruction behind `last` only.
    ///
    /// A register is needed if its value before the range is live there and the range accesses it:
    /// one that the range does not write cannot be among those it leaves, so only reads need it; one
    /// that it writes is needed if a way through the range reads it first or leaves it as it was,
    /// which is to say if it is live. What is written on ways that never leave the range is left to
    /// nobody. A constant that the range does not write stands in the range.
    pub fn live_sets(&self, first: u32, last: u32) -> LiveSets {
        let lines = &self.listing.code[first as usize..=last as usize];
        let reads: BTreeSet<Reg> =
            lines.iter().flat_map(|line| line.reads.iter().copied()).collect();
        let writes: BTreeSet<Reg> =
            lines.iter().flat_map(|line| line.writes.iter().copied()).collect();
        let known: BTreeMap<Reg, Number> = self.constants.before(self.listing, &self.flow, first);
        let leaving = self.leaving(first, last);
        let left: BTreeSet<Reg> = lines
            .iter()
            .zip(&leaving)
            .filter(|(_, leaves)| **leaves)
            .flat_map(|(line, _)| line.writes.iter().copied())
            .collect();
        let behind = self.live.before(self.listing, &self.flow, last + 1);
        let registers_out: Vec<Reg> = behind.into_iter().filter(|reg| left.contains(reg)).collect();
        let before = match leaving.contains(&false) {
            true => self.needed(first, last, &registers_out),
            false => self.live.before(self.listing, &self.flow, first),
        };
        let is_needed = |reg: &Reg| {
            let is_written = writes.contains(reg);
            (is_written || reads.contains(reg) && !known.contains_key(reg))
                && self.may_be_written(*reg, first)
        };
        let inputs: BTreeSet<Input> =
            lines.iter().flat_map(|line| line.inputs.iter().copied()).collect();
        LiveSets {
            registers_in: before.into_iter().filter(is_needed).collect(),
            registers_out,
            inputs: inputs.into_iter().collect(),
        }
    }

    /// For each instruction of a range whether some way from it leaves the range to what is behind.
    fn leaving(&self, first: u32, last: u32) -> Vec<bool> {
        let mut leaves = vec![false; (last - first) as usize + 1];
        loop {
            let before = leaves.clone();
            for at in (first..=last).rev() {
                let leads_out = |&to: &u32| {
                    to == last + 1 || (first..=last).contains(&to) && leaves[(to - first) as usize]
                };
                let out = self.flow.successors[at as usize].iter().any(leads_out);
                leaves[(at - first) as usize] = out;
            }
            if leaves == before {
                return leaves;
            }
        }
    }

    /// The registers that a range needs so that those of `out` are right behind it: liveness within
    /// the range alone. It differs from liveness where ways in the range never end.
    fn needed(&self, first: u32, last: u32, out: &[Reg]) -> Vec<Reg> {
        let mut live = vec![BTreeSet::new(); (last - first) as usize + 2];
        live[(last - first) as usize + 1].extend(out);
        loop {
            let before = live.clone();
            for at in (first..=last).rev() {
                let inside = |to: &&u32| (first..=last + 1).contains(*to);
                let next = self.flow.successors[at as usize].iter().filter(inside);
                let mut here: BTreeSet<Reg> =
                    next.flat_map(|to| live[(to - first) as usize].iter().copied()).collect();
                step_back(&self.listing.code[at as usize], &mut here);
                live[(at - first) as usize] = here;
            }
            if live == before {
                return live.swap_remove(0).into_iter().collect();
            }
        }
    }
}

/// The instructions that a way from some write of a register leads to.
#[derive(Debug)]
struct BehindWrites {
    /// The instructions that write it, ascending.
    writers: Vec<u32>,
    /// The blocks to whose beginning a way leads.
    blocks: FixedBitSet,
}

impl BehindWrites {
    fn new(flow: &Flow, writers: Vec<u32>) -> BehindWrites {
        let mut blocks = FixedBitSet::with_capacity(flow.blocks());
        let mut stack: Vec<u32> = writers.iter().map(|&at| flow.block[at as usize]).collect();
        while let Some(block) = stack.pop() {
            for &next in &flow.successors[flow.range(block).end - 1] {
                let next = flow.block[next as usize];
                if !blocks.put(next as usize) {
                    stack.push(next);
                }
            }
        }
        BehindWrites { writers, blocks }
    }

    fn contains(&self, flow: &Flow, at: u32) -> bool {
        let block = flow.block[at as usize];
        let first = flow.range(block).start as u32;
        let before = self.writers.partition_point(|&writer| writer < at);
        self.blocks.contains(block as usize)
            || before.checked_sub(1).is_some_and(|last| self.writers[last] >= first)
    }
}
