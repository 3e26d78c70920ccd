//! Code sinking past the fill of windows (Muchnick, "Advanced Compiler Design and Implementation",
//! section 13.5, where the place behind is one that both ways of a branch lead to): what a round of a
//! loop computes of values that it has read stands behind the code that fills the windows of the next
//! round, and so is issued while those loads are under way.
//!
//! A scratchpad is read when all that was written to it has arrived (docs/machine-ipim.md), so every
//! read has to come before that code. Values that are read wait in registers: as much of what is
//! computed of them stays before it as makes them fit half of a register file.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_analysis::loops::LoopForest;
use nbcc_analysis::postdominators::PostDominators;
use nbcc_ir::cfg::successors;
use nbcc_ir::{Block, Cfg, Dominators, Effect, Function, Inst, Mem, Op, Value};

use crate::intrinsics::{LD_PGSM, LD_RF, RD_PGSM, ST_PGSM, ST_RF, WR_PGSM};
use crate::kernel::Kernel;

/// Moves instructions of blocks behind the code that fills windows for the next round, where so many
/// registers hold vectors; returns how many.
pub fn run(kernel: &mut Kernel, registers: usize) -> usize {
    let cfg = Cfg::new(&kernel.func);
    let dominators = Dominators::new(&kernel.func);
    let post_dominators = PostDominators::new(&kernel.func);
    let forest = LoopForest::new(&cfg, &dominators);
    let mut sunk = 0;
    for block in kernel.func.layout.clone() {
        let Some(join) = post_dominators.immediate(block) else { continue };
        // The target runs when, and as often as, the block runs.
        let once = cfg.is_reachable(block)
            && dominators.dominates(block, join)
            && forest.innermost(block) == forest.innermost(join)
            && forest.innermost(block).is_none_or(|l| forest.loops[l].header != join);
        if !once || !reads_window(&kernel.func, block) {
            continue;
        }
        let Some(between) = Between::new(kernel, block, join) else { continue };
        let mut sinking = sinkable(kernel, block, &between);
        leave(&kernel.func, block, &mut sinking, registers / 2);
        sunk += sinking.len();
        let sinks = |inst: &Inst| sinking.contains(inst);
        let insts = std::mem::take(&mut kernel.func.blocks[block].insts);
        let (mut behind, before): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(sinks);
        kernel.func.blocks[block].insts = before;
        behind.append(&mut kernel.func.blocks[join].insts);
        kernel.func.blocks[join].insts = behind;
    }
    sunk
}

fn intrinsic(func: &Function, inst: Inst) -> Option<&'static str> {
    match &func.insts[inst].op {
        Op::Intrinsic(call) => Some(call.name),
        _ => None,
    }
}

fn reads_window(func: &Function, block: Block) -> bool {
    func.blocks[block].insts.iter().any(|&inst| intrinsic(func, inst) == Some(RD_PGSM))
}

/// The code from a block to where it is joined.
struct Between {
    /// The values that it uses, with the terminator of the block.
    used: BTreeSet<Value>,
    banks: Banks,
}

/// The objects of banks that are accessed: by their numbers, `None` for any.
#[derive(Default)]
struct Banks(BTreeSet<Option<u32>>);

impl Banks {
    fn add(&mut self, kernel: &Kernel, inst: Inst) {
        if let Some(object) = accessed(kernel, inst) {
            self.0.insert(object);
        }
    }

    fn share(&self, object: Option<u32>) -> bool {
        match object {
            None => !self.0.is_empty(),
            Some(_) => self.0.contains(&None) || self.0.contains(&object),
        }
    }
}

/// The object of a bank that an instruction accesses, if it accesses a bank.
fn accessed(kernel: &Kernel, inst: Inst) -> Option<Option<u32>> {
    let op = &kernel.func.insts[inst].op;
    let object = |mem: Option<&Mem>| mem.and_then(|&mem| kernel.objects[mem]);
    match op {
        Op::Intrinsic(call) => match call.name {
            LD_PGSM | ST_PGSM | LD_RF | ST_RF => Some(object(call.mems.first())),
            RD_PGSM | WR_PGSM => None,
            _ if call.effect == Effect::Pure => None,
            _ => Some(None),
        },
        _ => (op.effect() != Effect::Pure).then_some(None),
    }
}

impl Between {
    /// The code from a block to its join; `None` where it fills no window.
    fn new(kernel: &Kernel, block: Block, join: Block) -> Option<Between> {
        let func = &kernel.func;
        let mut between = Between { used: BTreeSet::new(), banks: Banks::default() };
        func.terminator(block).for_each_arg(|value| _ = between.used.insert(value));
        let (mut seen, mut next) = (BTreeSet::new(), successors(func, block));
        let mut fills = false;
        while let Some(at) = next.pop() {
            if at == join || !seen.insert(at) {
                continue;
            }
            for &inst in &func.blocks[at].insts {
                fills |= intrinsic(func, inst) == Some(LD_PGSM);
                func.insts[inst].op.for_each_arg(|value| _ = between.used.insert(value));
                between.banks.add(kernel, inst);
            }
            func.terminator(at).for_each_arg(|value| _ = between.used.insert(value));
            next.extend(successors(func, at));
        }
        fills.then_some(between)
    }
}

/// What may stand behind the join: nothing before it uses its results, and memory is the same there.
fn sinkable(kernel: &Kernel, block: Block, between: &Between) -> BTreeSet<Inst> {
    let func = &kernel.func;
    let mut sinking = BTreeSet::new();
    // What is used and accessed before the join by what stays.
    let mut used = between.used.clone();
    let mut banks = Banks(between.banks.0.clone());
    for &inst in func.blocks[block].insts.iter().rev() {
        let data = &func.insts[inst];
        let moves = match data.op.effect() {
            Effect::Pure => true,
            _ => {
                intrinsic(func, inst) == Some(ST_RF)
                    && accessed(kernel, inst).is_some_and(|object| !banks.share(object))
            }
        };
        if moves && !data.results.iter().any(|value| used.contains(value)) {
            sinking.insert(inst);
            continue;
        }
        data.op.for_each_arg(|value| _ = used.insert(value));
        banks.add(kernel, inst);
    }
    sinking
}

/// Leaves some of what could sink where it stands: what makes less of vectors, and as much, in the
/// order of the block, as it takes for `most` vectors to be left.
fn leave(func: &Function, block: Block, sinking: &mut BTreeSet<Inst>, most: usize) {
    let insts = &func.blocks[block].insts;
    let mut cut = Cut::new(func, insts, sinking);
    loop {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &inst in insts {
                if cut.shrinks_without(inst) {
                    cut.leave(inst);
                    changed = true;
                }
            }
        }
        match insts.iter().find(|inst| cut.sinking.contains(inst)) {
            Some(&first) if cut.waiting() > most => cut.leave(first),
            _ => return,
        }
    }
}

/// What sinks, and what that needs of the rest.
struct Cut<'a> {
    func: &'a Function,
    sinking: &'a mut BTreeSet<Inst>,
    /// The values of the block that each of its instructions uses.
    operands: BTreeMap<Inst, BTreeSet<Value>>,
    /// How many instructions that sink use a value of the block.
    users: BTreeMap<Value, usize>,
    /// What is made by what stays.
    stays: SecondaryMap<Value, bool>,
}

impl<'a> Cut<'a> {
    fn new(func: &'a Function, insts: &[Inst], sinking: &'a mut BTreeSet<Inst>) -> Cut<'a> {
        let results = |&inst: &Inst| func.insts[inst].results.iter().copied();
        let made: BTreeSet<Value> = insts.iter().flat_map(results).collect();
        let operands_of = |&inst: &Inst| {
            let mut all = BTreeSet::new();
            func.insts[inst].op.for_each_arg(|value| _ = all.insert(value));
            all.retain(|value| made.contains(value));
            (inst, all)
        };
        let operands: BTreeMap<Inst, BTreeSet<Value>> = insts.iter().map(operands_of).collect();
        let mut users: BTreeMap<Value, usize> = BTreeMap::new();
        for &value in sinking.iter().flat_map(|inst| &operands[inst]) {
            *users.entry(value).or_default() += 1;
        }
        let mut stays: SecondaryMap<Value, bool> = SecondaryMap::new();
        let staying = insts.iter().filter(|inst| !sinking.contains(inst));
        staying.flat_map(results).for_each(|value| stays[value] = true);
        Cut { func, sinking, operands, users, stays }
    }

    fn is_vector(&self, value: Value) -> bool {
        self.func.ty(value).lanes > 1
    }

    /// Whether an instruction that sinks could stay, and fewer vectors would wait then.
    fn shrinks_without(&self, inst: Inst) -> bool {
        let operands = &self.operands[&inst];
        if !self.sinking.contains(&inst) || operands.iter().any(|&value| !self.stays[value]) {
            return false;
        }
        let is_last = |value: &&Value| self.is_vector(**value) && self.users[value] == 1;
        let results = &self.func.insts[inst].results;
        let begin = results.iter().filter(|&&value| self.is_vector(value)).count();
        operands.iter().filter(is_last).count() > begin
    }

    /// How many vectors wait for what sinks.
    fn waiting(&self) -> usize {
        let waits = |&(&value, &users): &(&Value, &usize)| {
            users > 0 && self.is_vector(value) && self.stays[value]
        };
        self.users.iter().filter(waits).count()
    }

    fn leave(&mut self, inst: Inst) {
        self.sinking.remove(&inst);
        for value in &self.operands[&inst] {
            self.users.entry(*value).and_modify(|users| *users -= 1);
        }
        self.func.insts[inst].results.iter().for_each(|&value| self.stays[value] = true);
    }
}
