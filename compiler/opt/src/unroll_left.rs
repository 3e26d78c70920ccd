//! Loops that are left in their middle, by `break` or a second condition, unrolled wholly where they run a few times
//! at most: the body stands as often as it can run, and what leaves it early leaves each of the copies (Muchnick,
//! "Advanced Compiler Design and Implementation", section 17.4.2, for loops with several exits).
//!
//! How often that is at most is known where a test that each iteration passes compares with a constant what counts
//! from a constant on, or asks for zero of what is halved, divided, or loses its lowest one in each iteration.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Loop, LoopForest, ValueRanges, icmp, sign_extend};
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Cfg, ConvertOp, Dominators, Function, IntCond, Op, Terminator,
    Value, ValueDef,
};

use crate::clone_blocks::ClonedBlocks;
use crate::simplify_cfg;
use crate::unreachable;
use crate::unroll::Candidate;

/// Iterations at most.
const MAX_TRIPS: u64 = 32;

/// Unrolls such loops of eight iterations at most.
pub fn run(func: &mut Function) -> bool {
    run_where(func, |_, candidate| candidate.trips <= 8)
}

/// Unrolls such loops, without loops inside, for which `fits` holds.
pub fn run_where(
    func: &mut Function,
    mut fits: impl FnMut(&Function, Candidate<'_>) -> bool,
) -> bool {
    let mut changed = false;
    let mut done: BTreeSet<Block> = BTreeSet::new();
    loop {
        let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
        let forest = LoopForest::new(&cfg, &dominators);
        let found = forest.loops.keys().find_map(|l| {
            let is_new = forest.loops[l].inner.is_empty() && done.insert(forest.loops[l].header);
            let left = is_new.then(|| left(func, &forest, &dominators, l)).flatten()?;
            let candidate = Candidate { blocks: &forest.loops[l].own, trips: left.trips };
            fits(func, candidate).then_some((forest.loops[l].own.clone(), left))
        });
        let Some((blocks, left)) = found else { break };
        if !close(func, &blocks) {
            simplify_cfg::run(func);
            continue;
        }
        apart(func, &blocks, &left);
        unreachable::run(func);
        simplify_cfg::run(func);
        changed = true;
    }
    changed
}

/// Lets as many iterations of a loop as there may be stand one behind the other.
fn apart(func: &mut Function, blocks: &[Block], left: &Left) {
    let header = blocks[0];
    let inside: BTreeSet<Block> = blocks.iter().copied().collect();
    let outside: Vec<Block> =
        func.layout.iter().copied().filter(|block| !inside.contains(block)).collect();
    let copies: Vec<ClonedBlocks> =
        (1..left.trips).map(|_| ClonedBlocks::before(func, blocks, header)).collect();
    let headers: Vec<Block> =
        copies.iter().map(|copy| copy.blocks[&header]).chain([header]).collect();
    let mut lead = |from: Block, to: Block, other: Block| {
        let Some(terminator) = func.blocks[from].terminator.as_mut() else { return };
        for way in terminator.successors_mut().into_iter().filter(|way| way.block == to) {
            way.block = other;
        }
    };
    for block in outside {
        lead(block, header, headers[0]);
    }
    for (copy, &next) in copies.iter().zip(&headers[1..]) {
        lead(copy.blocks[&left.latch], copy.blocks[&header], next);
    }
    for header in headers {
        func.blocks[header].loop_info = None;
    }
    // The last iteration, for which the loop itself stands, always leaves here, and nothing comes back to it.
    let mut ends = func.terminator(left.test).successors().into_iter();
    let ends = ends.find(|to| !inside.contains(&to.block)).cloned();
    func.blocks[left.test].terminator = ends.map(Terminator::Jump);
}

/// A loop that is left in its middle.
struct Left {
    latch: Block,
    /// The block whose test always leaves in the last iteration.
    test: Block,
    /// Iterations at most.
    trips: u64,
}

fn left(func: &Function, forest: &LoopForest, dominators: &Dominators, l: Loop) -> Option<Left> {
    let data = &forest.loops[l];
    let &[latch] = &data.latches[..] else { return None };
    let backs = func.terminator(latch).successors();
    let is_once = backs.iter().filter(|to| to.block == data.header).count() == 1;
    if !is_once || data.header == func.entry() {
        return None;
    }
    let tests = data.own.iter().filter(|&&block| dominators.dominates(block, latch));
    let bounds = tests.filter_map(|&test| Some((bound(func, forest, l, (test, latch))?, test)));
    let ((trips, is_counted), test) = bounds.min()?;
    // What is left where it counts only is a loop for others.
    let is_counted = is_counted && forest.exits(func, l).len() == 1;
    (trips >= 2 && !is_counted).then_some(Left { latch, test, trips })
}

/// The constant that a value is, with its sign.
fn constant(func: &Function, value: Value) -> Option<i64> {
    let bits = func.splat_constant(value)?;
    Some(sign_extend(func.ty(value).scalar, bits))
}

/// In which iteration a test leaves at the latest, and whether it never leaves before.
fn bound(
    func: &Function,
    forest: &LoopForest,
    l: Loop,
    (test, latch): (Block, Block),
) -> Option<(u64, bool)> {
    let Terminator::Branch(asked, then, other) = func.terminator(test) else { return None };
    let leaves = match [then, other].map(|to| forest.contains(l, to.block)) {
        [true, false] => false,
        [false, true] => true,
        _ => return None,
    };
    let &Op::Icmp(cond, a, b) = func.def_op(*asked)? else { return None };
    let constant = |value: Value| constant(func, value);
    let (cond, value, limit) = match (constant(a), constant(b)) {
        (None, Some(limit)) => (cond, a, limit),
        (Some(limit), None) => (cond.swapped(), b, limit),
        _ => return None,
    };
    let cond = if leaves { cond } else { cond.negated() };
    let header = forest.loops[l].header;
    let counted = |value: Value| match func.values[value].def {
        ValueDef::Param(block, number) if block == header => Some(number as usize),
        _ => None,
    };
    // What is asked is the parameter, or what the next iteration begins with.
    let is_next = counted(value).is_none();
    let back = func.terminator(latch).successors().into_iter().find(|to| to.block == header)?;
    let number = match counted(value) {
        Some(number) => number,
        None => back.args.iter().position(|&arg| arg == value)?,
    };
    let param = func.blocks[header].params[number];
    let step = step(func, param, back.args[number])?;
    let scalar = func.ty(param).scalar;
    let bits = |number: i64| number as u64 & (u64::MAX >> (64 - scalar.bits()));
    let mut now = first(func, forest, l, number, step)?;
    for iteration in 1..=MAX_TRIPS {
        let next = step.after(now);
        let asked = if is_next { next } else { now };
        let asked = sign_extend(scalar, asked as u64);
        let is_over = match step {
            Step::Sum(_) => icmp(cond, scalar, bits(asked), bits(limit)),
            // At most as much as that: the test is over for sure where nothing is left.
            _ => {
                limit == 0
                    && asked == 0
                    && matches!(cond, IntCond::Eq | IntCond::Ule | IntCond::Sle)
            }
        };
        if is_over {
            return Some((iteration, matches!(step, Step::Sum(_))));
        }
        now = sign_extend(scalar, next as u64);
    }
    None
}

/// What an iteration does to what counts.
#[derive(Clone, Copy, Debug)]
enum Step {
    Sum(i64),
    Shift(u32),
    Quotient(i64),
    /// The lowest one becomes zero.
    LowestOne,
}

impl Step {
    /// What is left of a value, or of the greatest that it may be.
    fn after(self, now: i64) -> i64 {
        match self {
            Step::Sum(step) => now.wrapping_add(step),
            Step::Shift(amount) => now >> amount,
            Step::Quotient(by) => now / by,
            // A number without one of the ones of a mask.
            Step::LowestOne => now >> 1,
        }
    }
}

fn step(func: &Function, param: Value, next: Value) -> Option<Step> {
    // A narrow number is a wide one in between, with zeros above; what keeps a sign never comes to an end.
    let (param, next) = match *func.def_op(next)? {
        Op::Convert(ConvertOp::Truncate, wide, _) => (wide_of(func, param, wide)?, wide),
        _ => (param, next),
    };
    let &Op::Binary(op, a, b) = func.def_op(next)? else { return None };
    let constant = |value: Value| constant(func, value);
    let keeps_sign = matches!(op, BinaryOp::Ashr | BinaryOp::Sdiv);
    if keeps_sign && func.ty(next).scalar.bits() < 32 {
        return None;
    }
    match (op, a == param, b == param) {
        (BinaryOp::Iadd, true, _) => constant(b).map(Step::Sum),
        (BinaryOp::Iadd, _, true) => constant(a).map(Step::Sum),
        (BinaryOp::Isub, true, _) => constant(b).map(|step| Step::Sum(step.wrapping_neg())),
        (BinaryOp::Lshr | BinaryOp::Ashr, true, _) => {
            let amount = constant(b).filter(|amount| (1..32).contains(amount))?;
            Some(Step::Shift(amount as u32))
        }
        (BinaryOp::Udiv | BinaryOp::Sdiv, true, _) => {
            constant(b).filter(|&by| by >= 2).map(Step::Quotient)
        }
        (BinaryOp::And, ..) => {
            let less = if a == param { b } else { a };
            let is_less = match *func.def_op(less)? {
                Op::Binary(BinaryOp::Iadd, x, y) => x == param && constant(y) == Some(-1),
                Op::Binary(BinaryOp::Isub, x, y) => x == param && constant(y) == Some(1),
                _ => false,
            };
            (is_less && (a == param || b == param)).then_some(Step::LowestOne)
        }
        _ => None,
    }
}

/// The operand of an operation that is a value with zeros above.
fn wide_of(func: &Function, narrow: Value, of: Value) -> Option<Value> {
    let is_it = |&value: &Value| matches!(func.def_op(value), Some(Op::Convert(ConvertOp::ZeroExtend, from, _)) if *from == narrow);
    func.def_op(of)?.args().into_iter().find(is_it)
}

/// What counts begins with, or the most that it may.
fn first(func: &Function, forest: &LoopForest, l: Loop, number: usize, step: Step) -> Option<i64> {
    let header = forest.loops[l].header;
    let outside = func.layout.iter().filter(|&&block| !forest.contains(l, block));
    let entries = outside.flat_map(|&block| func.terminator(block).successors());
    let mut args = entries.filter(|to| to.block == header).map(|to| to.args[number]);
    let (only, None) = (args.next()?, args.next()) else { return None };
    if let Step::Sum(_) = step {
        // What wraps at a narrow type is a sum of wide ones.
        let bits = func.splat_constant(only).filter(|_| func.ty(only).scalar.bits() >= 32)?;
        return Some(sign_extend(func.ty(only).scalar, bits));
    }
    let bits = func.ty(only).scalar.bits();
    let (low, high) = match bits {
        1..=16 => (0, (1 << bits) - 1),
        _ => ValueRanges::new(func).of(only),
    };
    // As many ones as the greatest value has digits.
    let most = |high: i64| (1_i64 << (64 - high.leading_zeros())) - 1;
    (low >= 0 && high < 1 << MAX_TRIPS).then(|| most(high))
}

/// Lets values of a loop that are used behind it be handed over on the ways out, so that its blocks can be copied
/// (loop-closed form). False where some are used where several ways out meet that do not all hand them over.
fn close(func: &mut Function, blocks: &[Block]) -> bool {
    let inside: BTreeSet<Block> = blocks.iter().copied().collect();
    let mut homes: BTreeMap<Value, Block> = BTreeMap::new();
    for &block in blocks {
        let results = func.blocks[block].insts.iter().flat_map(|&inst| &func.insts[inst].results);
        homes.extend(results.chain(&func.blocks[block].params).map(|&value| (value, block)));
    }
    // Each way out goes through a block of its own target.
    let mut doors: BTreeMap<Block, Block> = BTreeMap::new();
    for &block in blocks {
        for to in
            func.terminator(block).successors().into_iter().map(|to| to.block).collect::<Vec<_>>()
        {
            if inside.contains(&to) || doors.contains_key(&to) {
                continue;
            }
            let door = func.add_block();
            let params: Vec<Value> = func.blocks[to].params.clone();
            let args = params.iter().map(|&value| func.add_param(door, func.ty(value))).collect();
            func.blocks[door].terminator = Some(Terminator::Jump(BlockCall { block: to, args }));
            func.blocks[door].span = func.blocks[block].span;
            doors.insert(to, door);
        }
        let Some(terminator) = func.blocks[block].terminator.as_mut() else { continue };
        for to in terminator.successors_mut() {
            to.block = doors.get(&to.block).copied().unwrap_or(to.block);
        }
    }
    // Where each value is used behind the loop.
    let mut uses: BTreeMap<Value, BTreeSet<Block>> = BTreeMap::new();
    for &block in func.layout.iter().filter(|block| !inside.contains(block)) {
        let mut note = |value: Value| {
            if homes.contains_key(&value) {
                uses.entry(value).or_default().insert(block);
            }
        };
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(&mut note);
        }
        func.terminator(block).for_each_arg(&mut note);
    }
    let dominators = Dominators::new(func);
    let mut handed: Vec<(Block, Value)> = Vec::new();
    for (&value, places) in &uses {
        let mut through: BTreeSet<Block> = BTreeSet::new();
        for &place in places {
            let door = doors.values().find(|&&door| dominators.dominates(door, place));
            let Some(&door) = door else { return false };
            through.insert(door);
        }
        for door in through {
            let ways = blocks.iter().filter(|&&block| {
                func.terminator(block).successors().iter().any(|to| to.block == door)
            });
            if !ways.clone().all(|&from| dominators.dominates(homes[&value], from)) {
                return false;
            }
            handed.push((door, value));
        }
    }
    for (door, value) in handed {
        let param = func.add_param(door, func.ty(value));
        for &block in blocks {
            let Some(terminator) = func.blocks[block].terminator.as_mut() else { continue };
            for to in terminator.successors_mut().into_iter().filter(|to| to.block == door) {
                to.args.push(value);
            }
        }
        let rename = |used: &mut Value| {
            if *used == value {
                *used = param;
            }
        };
        for place in uses[&value].iter().copied().filter(|&place| dominators.dominates(door, place))
        {
            func.rename_in(place, rename);
        }
    }
    true
}
