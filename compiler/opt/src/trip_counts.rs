//! How often loops run that begin with constants: what decides whether a loop goes on is computed,
//! iteration by iteration up to a limit, and nothing else of it. So counters may be shifted, multiplied
//! or anything else that is made of themselves ("loop execution analysis" of the scalar evolution of
//! LLVM does the same where it finds no closed form).
//!
//! Only loops that are left by their one way back.

use std::collections::BTreeMap;

use nbcc_analysis::{Lanes, Loop, LoopForest, evaluate, sign_extend};
use nbcc_ir::{
    BinaryOp, Block, Cfg, Counter, Dominators, Effect, Function, Inst, Op, Positions, Terminator,
    Value, ValueDef,
};

/// Operations that are computed for a loop at most, in all iterations.
const MAX_STEPS: u64 = 1 << 16;

/// Instructions that decide whether a loop goes on, at most.
const MAX_SLICE: usize = 32;

/// Notes how often loops run, of which that was not known, and what counts them by constants.
pub fn run(func: &mut Function) -> bool {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    let positions = Positions::new(func);
    let mut found = Vec::new();
    for l in forest.loops.keys() {
        let header = forest.loops[l].header;
        let info = func.blocks[header].loop_info.as_ref();
        if info.is_none_or(|info| info.trips.is_some()) {
            continue;
        }
        if let Some((trips, counter)) = count(func, &cfg, &forest, &positions, l) {
            found.push((header, trips, counter));
        }
    }
    for &(header, trips, counter) in &found {
        if let Some(info) = &mut func.blocks[header].loop_info {
            info.trips = Some(trips);
            info.counter = info.counter.or(counter);
        }
    }
    !found.is_empty()
}

/// What decides whether a loop goes on.
struct Slice<'a> {
    func: &'a Function,
    header: Block,
    is_inside: &'a dyn Fn(Value) -> bool,
    /// What parameters of the header are in the next iteration.
    back: &'a [Value],
    /// What is computed in an iteration, in order.
    insts: Vec<Inst>,
    /// The parameters of the header that it is made of, by their numbers.
    params: Vec<usize>,
    /// Values that are known before the loop.
    fixed: BTreeMap<Value, Lanes>,
}

fn count(
    func: &Function,
    cfg: &Cfg,
    forest: &LoopForest,
    positions: &Positions,
    l: Loop,
) -> Option<(u64, Option<Counter>)> {
    let data = &forest.loops[l];
    let (&[latch], header) = (&data.latches[..], data.header) else { return None };
    let exits = forest.exits(func, l);
    let &[(from, _)] = &exits[..] else { return None };
    let Terminator::Branch(cond, then, other) = func.terminator(latch) else { return None };
    let (back, again) = match [then, other].map(|to| to.block == header) {
        [true, false] => (then, true),
        [false, true] => (other, false),
        _ => return None,
    };
    let outside: Vec<Block> =
        cfg.predecessors(header).iter().copied().filter(|&block| block != latch).collect();
    let &[entering] = &outside[..] else { return None };
    let entries = func.terminator(entering).successors().into_iter();
    let mut entries = entries.filter(|to| to.block == header);
    let (entry, None) = (entries.next()?, entries.next()) else { return None };
    if from != latch {
        return None;
    }
    let is_inside = |value: Value| {
        let home = positions.defining_block(func, value);
        home.is_none_or(|block| forest.contains(l, block))
    };
    let mut slice = Slice {
        func,
        header,
        is_inside: &is_inside,
        back: &back.args,
        insts: vec![],
        params: vec![],
        fixed: BTreeMap::new(),
    };
    slice.add(*cond)?;
    let mut next = 0;
    while let Some(&param) = slice.params.get(next) {
        slice.add(back.args[param])?;
        next += 1;
    }
    Some((slice.run(&entry.args, *cond, again)?, slice.counter()))
}

impl Slice<'_> {
    /// Adds what a value is made of, inside of the loop; `None` where that is too much, or no constants.
    fn add(&mut self, value: Value) -> Option<()> {
        if self.fixed.contains_key(&value) {
            return Some(());
        }
        if let ValueDef::Param(block, number) = self.func.values[value].def {
            if block != self.header {
                return None;
            }
            if !self.params.contains(&(number as usize)) {
                self.params.push(number as usize);
            }
            return Some(());
        }
        let inst = self.func.def_inst(value)?;
        if self.insts.contains(&inst) {
            return Some(());
        }
        let op = &self.func.insts[inst].op;
        if let Op::Const(ty, constant) = op {
            self.fixed.insert(value, Lanes::constant(*ty, constant));
            return Some(());
        }
        // A division that would end the run is not evaluated.
        let is_division = matches!(
            op,
            Op::Binary(BinaryOp::Sdiv | BinaryOp::Udiv | BinaryOp::Srem | BinaryOp::Urem, ..)
        );
        let is_simple = (op.effect() == Effect::Pure || is_division)
            && self.func.insts[inst].results.len() == 1;
        if !(self.is_inside)(value) || !is_simple || self.insts.len() >= MAX_SLICE {
            return None;
        }
        for arg in op.args() {
            self.add(arg)?;
        }
        self.insts.push(inst);
        Some(())
    }

    /// The one parameter that decides, if each iteration adds a constant to it.
    fn counter(&self) -> Option<Counter> {
        let &[param] = &self.params[..] else { return None };
        let value = self.func.blocks[self.header].params[param];
        let Op::Binary(BinaryOp::Iadd, a, b) = *self.func.def_op(self.back[param])? else {
            return None;
        };
        let step = self.func.splat_constant(b).filter(|_| a == value)?;
        Some(Counter { value, step: sign_extend(self.func.ty(b).scalar, step) })
    }

    /// Counts iterations from what the header's parameters are in the first.
    fn run(&self, entry: &[Value], cond: Value, again: bool) -> Option<u64> {
        let params = &self.func.blocks[self.header].params;
        let mut values = self.fixed.clone();
        for &param in &self.params {
            let Op::Const(ty, constant) = self.func.def_op(entry[param])? else { return None };
            values.insert(params[param], Lanes::constant(*ty, constant));
        }
        let most = MAX_STEPS / (self.insts.len() as u64 + 1);
        for trips in 1..=most {
            for &inst in &self.insts {
                let data = &self.func.insts[inst];
                let result = evaluate(&data.op, |value| values[&value])?.ok()?;
                values.insert(data.results[0], result);
            }
            if (values[&cond].lane(0) != 0) != again {
                return Some(trips);
            }
            let next: Vec<Lanes> =
                self.params.iter().map(|&param| values[&self.back[param]]).collect();
            for (&param, value) in self.params.iter().zip(next) {
                values.insert(params[param], value);
            }
        }
        None
    }
}
