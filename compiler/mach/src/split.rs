//! Live-range splitting where registers that are live for long leave too few to the others. An
//! in-order core that waits for anti dependences runs a block no faster than its registers come free:
//! by Little's law, a block whose own values take so many cycles of a register each needs at least
//! their sum over the number of entries left. Values that are live across such a block, but rarely
//! used, are rematerialised at their uses, or kept in another file in between (splitting: Cooper,
//! Simpson, "Live Range Splitting in a Graph Coloring Register Allocator", CC 1998). The one whose
//! absence is worth most goes first, until none is worth its instructions.

use std::collections::{BTreeMap, BinaryHeap};

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use crate::liveness::Liveness;
use crate::{Block, Function, InstData, VReg};

/// A value that was brought to a register serves the reads of so many instructions that follow.
const MAX_DISTANCE: usize = 12;

/// How a value can do without a register between its uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitKind {
    /// It is rematerialised at each use.
    Rematerialised,
    /// It lies in a register of another file, by its number.
    Moved {
        /// The file.
        file: usize,
        /// The register that its only definition copies it from, if that is one of the file.
        source: Option<VReg>,
    },
}

/// What splitting asks of a target.
pub trait Splitter<I: Instruction<Reg = VReg>> {
    /// Cycles from issue until an instruction holds its registers no longer.
    fn latency(&self, inst: &I) -> u32;

    /// The unit that serves an instruction, if it serves one after another, and the cycles that it
    /// takes for this one.
    fn served(&self, inst: &I) -> Option<(usize, u32)>;

    /// How often a block runs, compared with others.
    fn runs(&self, func: &Function<I>, block: Block) -> f64;

    /// How the value of a register can do without it.
    fn split_kind(&self, func: &Function<I>, vreg: VReg) -> Option<SplitKind>;

    /// The instruction that brings the value of `vreg` to a new register: from `home`, where it was
    /// moved.
    fn bring(&mut self, func: &mut Function<I>, vreg: VReg, home: Option<VReg>) -> (I, VReg);

    /// A new register of another file that can hold the value of `vreg`.
    fn home(&mut self, func: &mut Function<I>, vreg: VReg) -> VReg;

    /// The instruction that brings a value from a register to its home.
    fn put(&mut self, home: VReg, from: VReg) -> I;
}

/// What splitting did: for each instruction of each block, its place before, `None` for new ones; how
/// many values are rematerialised, and how many lie in registers of another file.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// Places before.
    pub origins: SecondaryMap<Block, Vec<Option<u32>>>,
    /// Values that are rematerialised.
    pub rematerialised: u32,
    /// Values that lie in another file.
    pub moved: u32,
}

/// Splits live ranges of a function. `files` are the classes of registers and how many entries there
/// are of each.
pub fn split<I, S>(func: &mut Function<I>, files: &[(I::Class, u32)], target: &mut S) -> Split
where
    I: Instruction<Reg = VReg> + Copy,
    S: Splitter<I>,
{
    let ways = choose(func, files, target);
    let mut done = Split::default();
    for way in ways.values() {
        match way {
            SplitKind::Rematerialised => done.rematerialised += 1,
            SplitKind::Moved { .. } => done.moved += 1,
        }
    }
    rewrite(func, &ways, target, &mut done);
    done
}

/// What registers a block needs and has, by file.
#[derive(Clone, Debug, Default)]
struct Need {
    /// How often it runs.
    weight: f64,
    /// Cycles that it takes to issue, or to be served, whichever takes longer.
    issue: f64,
    /// Registers that are live where it begins or ends.
    long: Vec<u32>,
    /// Cycles for which values of its own take a register, summed up.
    cycles: Vec<f64>,
}

impl Need {
    /// Cycles that the block takes by issue and by each file.
    fn time<C>(&self, files: &[(C, u32)]) -> f64 {
        let mut time = self.issue;
        for (k, &(_, entries)) in files.iter().enumerate() {
            time += (self.held(k, entries) - self.issue).max(0.0);
        }
        time * self.weight
    }

    /// Cycles that the block takes by a file of so many entries. Each value too many that is live
    /// across the block costs as much as the last entry does: it has to be worth something to leave
    /// out the first of many.
    fn held(&self, file: usize, entries: u32) -> f64 {
        let left = f64::from(entries) - f64::from(self.long[file]);
        self.cycles[file] * if left >= 1.0 { left.recip() } else { 2.0 - left }
    }
}

/// What leaving out a value changes in a block.
#[derive(Clone, Debug, Default)]
struct Change {
    long: bool,
    /// Instructions that bring or put the value.
    moves: f64,
    /// Cycles for which what they bring takes a register.
    cycles: f64,
}

fn choose<I, S>(
    func: &Function<I>,
    files: &[(I::Class, u32)],
    target: &S,
) -> BTreeMap<VReg, SplitKind>
where
    I: Instruction<Reg = VReg> + Copy,
    S: Splitter<I>,
{
    let live = Liveness::new(func);
    let file_of = |vreg: VReg| files.iter().position(|&(class, _)| class == func.vregs[vreg].class);
    let mut needs: SecondaryMap<Block, Need> = SecondaryMap::new();
    let mut changes: BTreeMap<VReg, BTreeMap<Block, Change>> = BTreeMap::new();
    for (block, data) in &func.blocks {
        let mut need = Need {
            weight: target.runs(func, block),
            long: vec![0; files.len()],
            cycles: vec![0.0; files.len()],
            ..Need::default()
        };
        let mut long: Vec<VReg> = live.live_in[block].clone();
        long.extend(&live.live_out[block]);
        long.sort_unstable();
        long.dedup();
        for &vreg in &long {
            if let (Some(file), None) = (file_of(vreg), func.vregs[vreg].fixed) {
                need.long[file] += 1;
                changes.entry(vreg).or_default().entry(block).or_default().long = true;
            }
        }
        // How long values of the block take a register: while they are made, and while they are read.
        let mut own: BTreeMap<VReg, (u32, u32)> = BTreeMap::new();
        let mut brought: BTreeMap<VReg, usize> = BTreeMap::new();
        let mut units: BTreeMap<usize, u32> = BTreeMap::new();
        for (at, data) in data.insts.iter().enumerate() {
            let latency = target.latency(&data.inst);
            if let Some((unit, cycles)) = target.served(&data.inst) {
                *units.entry(unit).or_default() += cycles;
            }
            data.inst.for_each_operand(|operand| {
                let vreg = *operand.reg;
                if func.vregs[vreg].fixed.is_some() {
                    return;
                }
                if long.binary_search(&vreg).is_err() {
                    let (made, read) = own.entry(vreg).or_default();
                    if operand.role.writes() {
                        *made = (*made).max(latency);
                    }
                    if operand.role.reads() {
                        *read = (*read).max(latency);
                    }
                    return;
                }
                let change = changes.entry(vreg).or_default().entry(block).or_default();
                if operand.role.reads() && brought.get(&vreg).is_none_or(|&b| at > b + MAX_DISTANCE)
                {
                    brought.insert(vreg, at);
                    change.moves += 1.0;
                    change.cycles += f64::from(latency);
                }
                if operand.role.writes() {
                    brought.remove(&vreg);
                    change.moves += 1.0;
                    change.cycles += f64::from(latency);
                }
            });
        }
        let slowest = units.into_values().max().unwrap_or(0);
        need.issue = f64::from(slowest).max(data.insts.len() as f64);
        for (vreg, (made, read)) in own {
            if let Some(file) = file_of(vreg) {
                need.cycles[file] += f64::from(made + read);
            }
        }
        needs[block] = need;
    }
    let short = |file: usize| {
        let blocks = needs.values();
        let mut short = blocks.filter(|need| need.held(file, files[file].1) > need.issue);
        short.next().is_some()
    };
    let short: Vec<bool> = (0..files.len()).map(short).collect();
    let mut ways: BTreeMap<VReg, (usize, SplitKind)> = BTreeMap::new();
    for &vreg in changes.keys() {
        if let Some(file) = file_of(vreg).filter(|&file| short[file])
            && let Some(way) = target.split_kind(func, vreg)
        {
            ways.insert(vreg, (file, way));
        }
    }
    greedy(files, &mut needs, &changes, &ways)
}

/// Takes the value that is worth most as long as one is worth something. What a value is worth only
/// becomes less as others go, so that it is computed anew only for what comes first.
fn greedy<C>(
    files: &[(C, u32)],
    needs: &mut SecondaryMap<Block, Need>,
    changes: &BTreeMap<VReg, BTreeMap<Block, Change>>,
    ways: &BTreeMap<VReg, (usize, SplitKind)>,
) -> BTreeMap<VReg, SplitKind> {
    let changed = |need: &Need, change: &Change, file: usize, way: SplitKind| {
        let mut need = need.clone();
        need.issue += change.moves;
        need.cycles[file] += change.cycles;
        if change.long {
            need.long[file] -= 1;
            if let SplitKind::Moved { file: other, .. } = way {
                need.long[other] += 1;
            }
        }
        need
    };
    let worth = |needs: &SecondaryMap<Block, Need>, vreg: VReg| {
        let (file, way) = ways[&vreg];
        let blocks = changes[&vreg].iter();
        let gain = blocks.map(|(&block, change)| {
            let need = &needs[block];
            need.time(files) - changed(need, change, file, way).time(files)
        });
        gain.sum::<f64>()
    };
    // Positive numbers are in the order of their bits.
    let key = |worth: f64| (worth > 0.0).then(|| worth.to_bits());
    let first = |&vreg: &VReg| Some((key(worth(needs, vreg))?, std::cmp::Reverse(vreg)));
    let mut heap: BinaryHeap<_> = ways.keys().filter_map(first).collect();
    let mut chosen = BTreeMap::new();
    while let Some((_, std::cmp::Reverse(vreg))) = heap.pop() {
        let Some(now) = key(worth(needs, vreg)) else { continue };
        if heap.peek().is_some_and(|&(next, _)| next > now) {
            heap.push((now, std::cmp::Reverse(vreg)));
            continue;
        }
        let (file, way) = ways[&vreg];
        for (&block, change) in &changes[&vreg] {
            needs[block] = changed(&needs[block], change, file, way);
        }
        chosen.insert(vreg, way);
    }
    chosen
}

fn rewrite<I, S>(
    func: &mut Function<I>,
    ways: &BTreeMap<VReg, SplitKind>,
    target: &mut S,
    done: &mut Split,
) where
    I: Instruction<Reg = VReg> + Copy,
    S: Splitter<I>,
{
    let mut homes: BTreeMap<VReg, VReg> = BTreeMap::new();
    for (&vreg, &way) in ways {
        if let SplitKind::Moved { source, .. } = way {
            let home = source.unwrap_or_else(|| target.home(func, vreg));
            homes.insert(vreg, home);
        }
    }
    // The definitions of what is rematerialised go, and the copies of what stays where it was.
    let goes = |vreg: VReg| {
        matches!(
            ways.get(&vreg),
            Some(SplitKind::Rematerialised | SplitKind::Moved { source: Some(_), .. })
        )
    };
    let blocks: Vec<Block> = func.blocks.keys().collect();
    for block in blocks {
        let old = std::mem::take(&mut func.blocks[block].insts);
        let mut insts: Vec<InstData<I>> = Vec::with_capacity(old.len());
        let mut origins = Vec::with_capacity(old.len());
        let mut brought: BTreeMap<VReg, (usize, VReg)> = BTreeMap::new();
        for (at, mut data) in old.into_iter().enumerate() {
            let (uses, defs) = Function::uses_and_defs(&data.inst);
            if defs.iter().any(|&vreg| goes(vreg)) {
                continue;
            }
            let mut here: BTreeMap<VReg, VReg> = BTreeMap::new();
            for &vreg in uses.iter().filter(|vreg| ways.contains_key(vreg)) {
                let near = brought.get(&vreg).filter(|&&(from, _)| at <= from + MAX_DISTANCE);
                let register = match near {
                    Some(&(_, register)) => register,
                    None => {
                        let (inst, to) = target.bring(func, vreg, homes.get(&vreg).copied());
                        insts.push(InstData::new(inst, data.span));
                        origins.push(None);
                        brought.insert(vreg, (at, to));
                        to
                    }
                };
                here.insert(vreg, register);
            }
            let mut puts = Vec::new();
            for &vreg in defs.iter().filter(|vreg| ways.contains_key(vreg)) {
                brought.remove(&vreg);
                let class = func.vregs[vreg].class;
                let register = *here.entry(vreg).or_insert_with(|| func.vreg(class));
                puts.push(InstData::new(target.put(homes[&vreg], register), data.span));
            }
            data.inst.for_each_operand_mut(|operand| {
                if let Some(&register) = here.get(operand.reg) {
                    *operand.reg = register;
                }
            });
            insts.push(data);
            origins.push(Some(at as u32));
            origins.extend(puts.iter().map(|_| None));
            insts.extend(puts);
        }
        func.blocks[block].insts = insts;
        done.origins[block] = origins;
    }
}
