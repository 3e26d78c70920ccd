//! Register renaming within blocks, after allocation: of the entries that a value of a block may
//! have, the one that has rested longest, by estimated times. Colouring takes entries in a round, in
//! which those that a slow access still reads come up as soon as those that are free at once; an
//! in-order core waits for them then (iPIM, section V-C: a register that was just used must not be
//! reused). As linear scan does (Poletto, Sarkar, "Linear Scan Register Allocation", TOPLAS 1999),
//! each block is walked in order; values that other blocks see keep what colouring gave them.

use std::collections::BTreeMap;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_isa::Instruction;

use crate::liveness::Liveness;
use crate::regalloc::{Allocation, RegisterFile};
use crate::{Block, Function, InstData, VReg};

/// What renaming asks of a machine.
pub trait Timing<I> {
    /// Cycles from the time at which an instruction is served until it holds its registers no longer.
    fn latency(&self, inst: &I) -> u32;

    /// The unit that serves it, if it serves one after another, and the cycles that it takes for this
    /// one.
    fn served(&self, inst: &I) -> Option<(usize, u32)>;
}

/// How often blocks are walked: the second time it is known what blocks that go back leave in flight.
const ROUNDS: usize = 2;

/// The accesses to a register in a block, by the places of its instructions.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: usize,
    last: usize,
    /// Whether the first access only writes.
    begins: bool,
    /// Whether the last access only reads.
    ends: bool,
}

impl Span {
    /// Whether another value may take the entry at an instruction: it may be one that reads this one.
    fn is_over(&self, at: usize) -> bool {
        self.last < at || self.last == at && self.ends
    }

    /// Whether an entry may be another value's up to this span.
    fn is_behind(&self, other: &Span) -> bool {
        self.first > other.last || self.first == other.last && self.begins && other.ends
    }
}

/// Gives the registers of each block that no other block accesses other entries. Where those are too
/// few for an order of choice, a block keeps what it had, as do files in which some take several
/// entries. Returns how many registers have another entry now.
pub fn rename<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    files: &[RegisterFile<I::Class>],
    timing: &impl Timing<I>,
    allocation: &mut Allocation,
) -> u32 {
    let live = Liveness::new(func);
    let mut accessed: BTreeMap<VReg, Block> = BTreeMap::new();
    let mut shared = EntitySet::new();
    for (block, data) in &func.blocks {
        for inst in &data.insts {
            inst.inst.for_each_operand(|operand| {
                if *accessed.entry(*operand.reg).or_insert(block) != block {
                    shared.insert(*operand.reg);
                }
            });
        }
    }
    let colours = allocation.entries.clone();
    let mut before: SecondaryMap<Block, InFlight> = SecondaryMap::new();
    let mut times: SecondaryMap<Block, Option<Schedule>> = SecondaryMap::new();
    for _ in 0..ROUNDS {
        for (block, data) in &func.blocks {
            let [own, others] = spans(func, block, &live, &shared);
            let mut walk = Walk { func, files, timing, allocation, own, others };
            let again = times[block].as_ref().filter(|_| data.successors.contains(&block));
            let Some(Walked { found, left, schedule }) =
                walk.block(&data.insts, &before[block], again)
            else {
                continue;
            };
            data.successors.iter().for_each(|&next| before[next].join(&left));
            times[block] = Some(schedule);
            for (vreg, entry) in found {
                let class = func.vregs[vreg].class;
                if let Some(file) = files.iter().position(|file| file.width(class).is_some()) {
                    allocation.used[file] = allocation.used[file].max(u32::from(entry) + 1);
                }
                allocation.entries[vreg] = entry;
            }
        }
    }
    let renamed = |&vreg: &VReg| allocation.entries[vreg] != colours[vreg];
    func.vregs.keys().filter(renamed).count() as u32
}

/// Where a block accesses the registers that are its own, and those of others.
fn spans<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    block: Block,
    live: &Liveness,
    shared: &EntitySet<VReg>,
) -> [BTreeMap<VReg, Span>; 2] {
    let data = &func.blocks[block];
    let mut own: BTreeMap<VReg, Span> = BTreeMap::new();
    let mut others: BTreeMap<VReg, Span> = BTreeMap::new();
    for (at, inst) in data.insts.iter().enumerate() {
        inst.inst.for_each_operand(|operand| {
            let (reads, writes) = (operand.role.reads(), operand.role.writes());
            let new = Span { first: at, last: at, begins: !reads, ends: !writes };
            let own = if shared.contains(*operand.reg) { &mut others } else { &mut own };
            let span = own.entry(*operand.reg).or_insert(new);
            // An instruction may name a register several times.
            span.begins &= span.first < at || !reads;
            span.ends = !writes && (span.last < at || span.ends);
            span.last = at;
        });
    }
    let (live_in, live_out) = (&live.live_in[block], &live.live_out[block]);
    for &vreg in live_in.iter().chain(live_out) {
        let known = own.remove(&vreg).or_else(|| others.get(&vreg).copied());
        let mut span = known.unwrap_or(Span { first: 0, last: 0, begins: false, ends: true });
        if live_in.binary_search(&vreg).is_ok() {
            (span.first, span.begins) = (0, false);
        }
        if live_out.binary_search(&vreg).is_ok() {
            (span.last, span.ends) = (data.insts.len(), false);
        }
        others.insert(vreg, span);
    }
    let unwritten: Vec<VReg> =
        own.iter().filter(|(_, span)| !span.begins).map(|(&vreg, _)| vreg).collect();
    for vreg in unwritten {
        others.extend(own.remove(&vreg).map(|span| (vreg, Span { first: 0, ..span })));
    }
    [own, others]
}

/// What is in flight where a block begins or ends, in cycles from there.
#[derive(Clone, Default)]
struct InFlight {
    /// When entries are accessed no longer, by file.
    rests: Vec<Vec<u32>>,
    /// When units have served what they were given.
    units: BTreeMap<usize, u32>,
}

impl InFlight {
    /// Takes the later of the times of both.
    fn join(&mut self, other: &InFlight) {
        self.rests.resize(other.rests.len(), vec![]);
        for (rests, others) in self.rests.iter_mut().zip(&other.rests) {
            rests.resize(others.len(), 0);
            rests.iter_mut().zip(others).for_each(|(rest, &other)| *rest = other.max(*rest));
        }
        for (&unit, &cycles) in &other.units {
            self.units.entry(unit).and_modify(|now| *now = cycles.max(*now)).or_insert(cycles);
        }
    }
}

/// When what a block does is done, in cycles from its start.
#[derive(Clone, Default)]
struct Schedule {
    /// For each instruction, when it holds its registers no longer.
    ends: Vec<u32>,
    /// When the block ends.
    cycles: u32,
}

/// What a walk along a block found.
struct Walked {
    /// The new entries of the registers of its own.
    found: BTreeMap<VReg, u16>,
    left: InFlight,
    schedule: Schedule,
}

struct Walk<'a, I: Instruction<Reg = VReg>, T> {
    func: &'a Function<I>,
    files: &'a [RegisterFile<I::Class>],
    timing: &'a T,
    allocation: &'a Allocation,
    own: BTreeMap<VReg, Span>,
    others: BTreeMap<VReg, Span>,
}

impl<I: Instruction<Reg = VReg>, T: Timing<I>> Walk<'_, I, T> {
    fn file(&self, vreg: VReg) -> Option<usize> {
        let class = self.func.vregs[vreg].class;
        let single = |file: &RegisterFile<I::Class>| file.classes.iter().all(|&(_, n)| n == 1);
        self.files.iter().position(|file| file.width(class).is_some() && single(file))
    }

    /// New entries of the registers of a block's own; `None` if they are too few. `before` is in flight
    /// at its start. Of a block that follows itself, `again` is its schedule in the walk before: what
    /// is in flight at its end is to leave alone the entries with which it begins.
    fn block(
        &mut self,
        insts: &[InstData<I>],
        before: &InFlight,
        again: Option<&Schedule>,
    ) -> Option<Walked> {
        let count = |file: &RegisterFile<I::Class>| usize::from(file.entries.end);
        // Where each entry is taken by registers that keep theirs, and last by one that got it.
        let mut kept: Vec<Vec<Vec<Span>>> =
            self.files.iter().map(|file| vec![Vec::new(); count(file)]).collect();
        let mut given: Vec<Vec<Option<Span>>> = kept.iter().map(|f| vec![None; f.len()]).collect();
        let keeping = self.others.iter().map(|(&vreg, &span)| (vreg, span));
        for (vreg, span) in keeping {
            let entry = self.func.vregs[vreg].fixed.unwrap_or(self.allocation.entries[vreg]);
            if let Some(file) = self.file(vreg)
                && let Some(spans) = kept[file].get_mut(usize::from(entry))
            {
                spans.push(span);
            }
        }
        // When nothing in flight accesses an entry any longer.
        let mut rested: Vec<Vec<u32>> = kept.iter().map(|file| vec![0; file.len()]).collect();
        for (rested, before) in rested.iter_mut().zip(&before.rests) {
            rested.iter_mut().zip(before).for_each(|(rested, &cycles)| *rested = cycles);
        }
        // When the block first gives an entry to a value that is there at once.
        let mut taken: Vec<Vec<Option<u32>>> = kept.iter().map(|f| vec![None; f.len()]).collect();
        let mut ready: BTreeMap<VReg, u32> = BTreeMap::new();
        let mut ends: Vec<u32> = Vec::with_capacity(insts.len());
        let mut units = before.units.clone();
        let mut found: BTreeMap<VReg, u16> = BTreeMap::new();
        let mut now = 0;
        for (at, data) in insts.iter().enumerate() {
            let (uses, defs) = Function::uses_and_defs(&data.inst);
            for vreg in &uses {
                now = now.max(ready.get(vreg).copied().unwrap_or(0));
            }
            for &vreg in &defs {
                let Some(&span) = self.own.get(&vreg).filter(|span| span.first == at) else {
                    continue;
                };
                let Some(file) = self.file(vreg) else { continue };
                if self.func.vregs[vreg].fixed.is_some() || found.contains_key(&vreg) {
                    continue;
                }
                let is_free = |entry: &u16| {
                    let entry = usize::from(*entry);
                    let mut others = kept[file][entry].iter().chain(&given[file][entry]);
                    others.all(|other| other.is_over(at) || other.is_behind(&span))
                };
                // How much later than it is wanted an entry comes free, here and in the next round.
                let late = |entry: &u16| {
                    let entry = usize::from(*entry);
                    let here = i64::from(rested[file][entry]) - i64::from(now);
                    let next = again.zip(taken[file][entry]).map(|(schedule, first)| {
                        let cycles = i64::from(schedule.cycles) + i64::from(first);
                        i64::from(schedule.ends[span.last]) - cycles
                    });
                    here.max(next.unwrap_or(i64::MIN))
                };
                let entries = self.files[file].entries.clone().filter(is_free);
                let entry = entries.min_by_key(late)?;
                let index = usize::from(entry);
                now = now.max(rested[file][index]);
                // What a unit serves waits for that in any case.
                if self.timing.served(&data.inst).is_none() {
                    taken[file][index].get_or_insert(now);
                }
                given[file][index] = Some(span);
                found.insert(vreg, entry);
            }
            let mut start = now;
            if let Some((unit, cycles)) = self.timing.served(&data.inst) {
                let free = units.entry(unit).or_default();
                start = start.max(*free);
                *free = start + cycles;
            }
            let end = start + self.timing.latency(&data.inst);
            ends.push(end);
            for &vreg in uses.iter().chain(&defs) {
                let fixed = self.func.vregs[vreg].fixed.unwrap_or(self.allocation.entries[vreg]);
                let entry = usize::from(found.get(&vreg).copied().unwrap_or(fixed));
                if let Some(file) = self.file(vreg)
                    && let Some(rested) = rested[file].get_mut(entry)
                {
                    *rested = (*rested).max(end);
                }
            }
            for &vreg in &defs {
                ready.insert(vreg, end);
            }
            now += 1;
        }
        let times = rested.iter_mut().flatten().chain(units.values_mut());
        times.for_each(|cycle| *cycle = cycle.saturating_sub(now));
        let left = InFlight { rests: rested, units };
        Some(Walked { found, left, schedule: Schedule { ends, cycles: now } })
    }
}
