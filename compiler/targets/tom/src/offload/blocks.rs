//! The ranges outside of loops that together save most: of all sets of ranges that do not overlap,
//! those with the largest sum, by dynamic programming over their ends (weighted interval scheduling).
//!
//! A range has any begin and any end, so there are as many as pairs of instructions. Yet from one end
//! to the next only few begins change what they cost, and those that do lie together: a register
//! counts for a begin from the first access behind it on if it is live there, and counts as a result
//! for all begins up to its last write. So all begins are kept in a tree to which ranges of them are
//! added, and each step asks it for the best.

use nbcc_analysis::listing::{Effect, Facts, Reg};
use nbcc_isa_tom::cost;
use nbcc_isa_tom::machine::Cost;

use super::found::Range;
use super::tree::Tree;

/// Savings are counted in units of this part of a word, so that sums do not depend on their order.
const UNITS: f64 = 1024.0;
/// What a unit saved counts for against the number of ranges, and a range against instructions.
const SAVED: i128 = 1 << 48;
const A_RANGE: i128 = 1 << 24;
/// More than all savings together: what is taken from begins that are none for the current end.
const NEVER: i128 = 1 << 100;

/// The ranges, in order. Instructions that are `barred` are in none.
pub fn find(facts: &Facts<'_>, cost: &Cost, barred: &[bool]) -> Vec<Range> {
    let count = barred.len();
    let units = |words: f64| (words * UNITS).round() as i128 * SAVED;
    let (load, store) = (units(cost::load(cost).total()), units(cost::store(cost).total()));
    let register = units(f64::from(cost.warp_words));
    let mut sweep = Sweep::new(facts, register);
    // The best sum of ranges before each instruction, and the range that ends there, if one does.
    let mut best: Vec<i128> = vec![0];
    let mut ends: Vec<Option<u32>> = Vec::with_capacity(count);
    let mut first = 0;
    for at in 0..count {
        sweep.begins.add(at, at, best[at] - A_RANGE);
        sweep.step(
            at,
            match facts.listing.code[at].effect {
                Effect::Load => load,
                Effect::Store => store,
                _ => 0,
            },
        );
        if barred[at] {
            first = at + 1;
        }
        let (mut sum, mut begin) = (best[at], None);
        if let Some((with, from)) = sweep.begins.greatest(first, at)
            && with > sum
        {
            (sum, begin) = (with, Some(from as u32));
        }
        best.push(sum);
        ends.push(begin);
    }
    let mut ranges = Vec::new();
    let mut at = count;
    while at > 0 {
        match ends[at - 1] {
            Some(first) => {
                ranges.push(Range { first, last: at as u32 - 1 });
                at = first as usize;
            }
            None => at -= 1,
        }
    }
    ranges.reverse();
    ranges
}

/// All begins, with what their ranges save up to the current end.
struct Sweep<'a> {
    facts: &'a Facts<'a>,
    register: i128,
    begins: Tree,
    /// The last access and the last write of each register, from 1.
    accessed: Vec<usize>,
    written: Vec<usize>,
    /// The last read of each input, from 1.
    inputs: Vec<usize>,
    /// Begins for which a register holds a constant: it counts from the next write on.
    constant: Vec<Vec<(usize, usize)>>,
    /// Registers that are live behind the current instruction, of those written, and where from.
    results: Vec<Option<usize>>,
    live: Vec<Reg>,
    /// For each instruction, the registers that it accesses and whether they are live behind it.
    behind: Vec<Vec<(Reg, bool)>>,
    /// Branches to each instruction from before.
    entered: Vec<Vec<usize>>,
    /// Whether a branch from behind leads to each instruction.
    entered_from_behind: Vec<bool>,
    /// Branches forward that the range may hold once it goes up to here.
    landed: Vec<Vec<usize>>,
}

impl<'a> Sweep<'a> {
    fn new(facts: &'a Facts<'a>, register: i128) -> Sweep<'a> {
        let code = &facts.listing.code;
        let registers = facts.listing.registers as usize;
        let mut entered = vec![Vec::new(); code.len()];
        let mut entered_from_behind = vec![false; code.len()];
        let mut landed = vec![Vec::new(); code.len()];
        for (from, line) in code.iter().enumerate() {
            for to in line.targets.iter().map(|&to| to as usize).filter(|&to| to < code.len()) {
                match to {
                    to if to <= from => entered_from_behind[to] = true,
                    to if to > from + 1 => {
                        entered[to].push(from);
                        landed[to - 1].push(from);
                    }
                    _ => {}
                }
            }
        }
        Sweep {
            facts,
            register,
            begins: Tree::new(code.len(), 0),
            accessed: vec![0; registers],
            written: vec![0; registers],
            inputs: vec![0; facts.listing.inputs as usize],
            constant: vec![Vec::new(); registers],
            results: vec![None; registers],
            live: Vec::new(),
            behind: live_behind(facts),
            entered,
            entered_from_behind,
            landed,
        }
    }

    /// Adds an instruction to the end of all ranges.
    fn step(&mut self, at: usize, saved: i128) {
        let line = &self.facts.listing.code[at];
        // Of two ranges that save the same, that of fewer instructions.
        self.begins.add(0, at, saved - 1);
        for &input in &line.inputs {
            let last = &mut self.inputs[input.as_u32() as usize];
            self.begins.add(*last, at, -self.register);
            *last = at + 1;
        }
        self.registers_in(at);
        self.registers_out(at);
        self.confine(at);
    }

    /// Registers that count from this instruction on for begins behind their last access.
    fn registers_in(&mut self, at: usize) {
        let facts = self.facts;
        let line = &facts.listing.code[at];
        for number in 0..self.behind[at].len() {
            let (reg, live_behind) = self.behind[at][number];
            let index = reg.as_u32() as usize;
            let is_written = line.writes.contains(&reg);
            if is_written {
                for (from, to) in std::mem::take(&mut self.constant[index]) {
                    self.begins.add(from, to, -self.register);
                }
            }
            let from = std::mem::replace(&mut self.accessed[index], at + 1);
            let is_read = line.reads.contains(&reg);
            let block = facts.flow.block[at];
            // In this block the register is live from the last access on if it is here; in those
            // before it, if it is where they end.
            let own = facts.flow.starts[block as usize] as usize;
            let mut parts: Vec<(usize, usize)> = Vec::new();
            if is_read || line.keeps && live_behind {
                parts.push((from.max(own), at));
            }
            let ends = &facts.live.ends[index];
            let before = ends.partition_point(|&end| end < block);
            for &end in ends[..before].iter().rev() {
                let (start, behind) = (
                    facts.flow.starts[end as usize] as usize,
                    facts.flow.starts[end as usize + 1] as usize,
                );
                if behind <= from {
                    break;
                }
                parts.push((start.max(from), behind - 1));
            }
            for (from, to) in parts {
                // Nothing in this part accesses the register: what it holds is the same throughout.
                if from > to || !facts.may_be_written(reg, from as u32) {
                    continue;
                }
                let is_constant = !is_written && facts.holds_constant(reg, from as u32);
                if is_constant {
                    self.constant[index].push((from, to));
                } else {
                    self.begins.add(from, to, -self.register);
                }
            }
        }
    }

    /// Registers that are results of ranges that end here.
    fn registers_out(&mut self, at: usize) {
        let facts = self.facts;
        let block = facts.flow.block[at] as usize;
        for &reg in &facts.listing.code[at].writes {
            self.written[reg.as_u32() as usize] = at + 1;
        }
        if at + 1 == facts.flow.starts[block + 1] as usize {
            // Behind the end of a block other registers live.
            let next: &[Reg] = facts.live.at_start.get(block + 1).map_or(&[], |live| live);
            for reg in std::mem::take(&mut self.live) {
                if next.binary_search(&reg).is_err() {
                    self.set_result(reg, false);
                }
            }
            next.iter().for_each(|&reg| self.set_result(reg, true));
            self.live = next.to_vec();
            return;
        }
        for number in 0..self.behind[at].len() {
            let (reg, live) = self.behind[at][number];
            if live {
                self.live.push(reg);
            }
            self.set_result(reg, live);
        }
    }

    /// Lets a register be a result, or not, of ranges that hold its last write.
    fn set_result(&mut self, reg: Reg, live: bool) {
        let index = reg.as_u32() as usize;
        let now = (live && self.written[index] > 0).then(|| self.written[index] - 1);
        let before = std::mem::replace(&mut self.results[index], now);
        if before == now {
            return;
        }
        if let Some(last) = before {
            self.begins.add(0, last, self.register);
        }
        if let Some(last) = now {
            self.begins.add(0, last, -self.register);
        }
    }

    /// Bars begins whose ranges would be entered or left in their midst.
    fn confine(&mut self, at: usize) {
        let line = &self.facts.listing.code[at];
        // A branch from here leaves the range until it goes up to its target.
        for &to in &line.targets {
            if to as usize > at + 1 {
                self.begins.add(0, at, -NEVER);
            }
        }
        for from in std::mem::take(&mut self.landed[at]) {
            self.begins.add(0, from, NEVER);
        }
        // A branch to here enters ranges that begin behind it.
        for from in std::mem::take(&mut self.entered[at]) {
            if from + 1 < at {
                self.begins.add(from + 1, at - 1, -NEVER);
            }
        }
        if self.entered_from_behind[at] && at > 0 {
            self.begins.add(0, at - 1, -NEVER);
        }
    }
}

/// For each instruction, the registers that it accesses and whether they are live behind it.
fn live_behind(facts: &Facts<'_>) -> Vec<Vec<(Reg, bool)>> {
    let code = &facts.listing.code;
    let mut behind = vec![Vec::new(); code.len()];
    let mut live = vec![false; facts.listing.registers as usize];
    for block in 0..facts.flow.blocks() as u32 {
        let range = facts.flow.range(block);
        let accessed = |at: usize| code[at].reads.iter().chain(&code[at].writes).copied();
        // Only registers that the block accesses are asked for.
        for at in range.clone() {
            for reg in accessed(at) {
                live[reg.as_u32() as usize] = facts.live.at_end(reg, block);
            }
        }
        for at in range.rev() {
            for reg in accessed(at) {
                if !behind[at].iter().any(|&(known, _)| known == reg) {
                    behind[at].push((reg, live[reg.as_u32() as usize]));
                }
            }
            if !code[at].keeps {
                code[at].writes.iter().for_each(|reg| live[reg.as_u32() as usize] = false);
            }
            code[at].reads.iter().for_each(|reg| live[reg.as_u32() as usize] = true);
        }
    }
    behind
}
