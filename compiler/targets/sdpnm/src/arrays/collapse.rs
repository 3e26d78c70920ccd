//! A loop with one loop inside becomes one loop (loop collapsing: Polychronopoulos, "Loop coalescing: a
//! compiler transformation for parallel machines", ICPP 1987), so that an array is started once for
//! the whole nest. What the outer loop counts becomes a quotient of the iteration, what the inner one
//! counts the rest of it; what the outer loop computes on its way to the inner one is computed in each
//! iteration.
//!
//! Both run a known number of times. What they carry either grows by constants or goes through both.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{AffineForms, LoopForest};
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, Cfg, Counter, Dominators, Effect, Function, Inst, IntCond,
    LoopInfo, Mem, Op, Replacements, Storage, Terminator, Type, Value,
};
use nbcc_opt::{cse, dce, fold, licm, params, simplify_cfg};

use super::evolution::reciprocal;
use super::flatten::trips;
use super::merge::enter_by_jump;
use super::shape::Shape;

/// Iterations of a nest at most: numbers of 16 bits.
const MOST: u64 = (1 << 15) - 1;

/// Blocks on the way to the inner loop, or back from it, at most.
const MAX_BLOCKS: usize = 16;

/// Makes one loop of nests, from the inside out, where `is_worth` says so of the function before and
/// after, the header of the inner loop before, that of the new one, and the iterations of the outer
/// loop. `refused` are headers of outer loops that stay. Gives the headers of the new loops, each
/// with those of all the loops around that it was made of.
pub fn run(
    func: &mut Function,
    refused: &BTreeSet<Block>,
    is_worth: impl Fn((&Function, Block), (&Function, Block), u64) -> bool,
) -> Vec<(Block, Vec<Block>)> {
    let mut made: Vec<(Block, Vec<Block>)> = Vec::new();
    let mut refused = refused.clone();
    'again: loop {
        for (outer, inner) in pairs(func) {
            if refused.contains(&outer) {
                continue;
            }
            enter_by_jump(func, outer);
            enter_by_jump(func, inner);
            refused.insert(outer);
            let Some(nest) = Nest::new(func, outer) else { continue };
            let mut trial = func.clone();
            let header = collapse(&mut trial, &nest);
            for clean in [fold::run, cse::run, licm::run, simplify_cfg::run, dce::run, params::run]
            {
                clean(&mut trial);
            }
            dce::run(&mut trial);
            if is_worth((func, inner), (&trial, header), nest.trips[0]) {
                *func = trial;
                let known = made.iter().position(|(other, _)| *other == inner);
                let mut around = known.map_or(vec![], |known| made.swap_remove(known).1);
                around.push(outer);
                made.push((header, around));
                continue 'again;
            }
        }
        return made;
    }
}

/// The headers of loops that have one loop inside, which has none, with that of the inner one.
fn pairs(func: &Function) -> Vec<(Block, Block)> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let pair = |data: &nbcc_analysis::LoopData| match data.inner[..] {
        [inner] if forest.loops[inner].inner.is_empty() => {
            Some((data.header, forest.loops[inner].header))
        }
        _ => None,
    };
    forest.loops.values().filter_map(pair).collect()
}

/// What a loop does with a parameter of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    /// Adds so much in each iteration.
    Grows(i32),
    /// It is the same in both loops: the inner parameter, or the outer one, of that number.
    Through(usize),
}

/// A loop and the one inside it.
struct Nest {
    outer: Shape,
    inner: Shape,
    /// How often the outer one runs, and the inner one each time.
    trips: [u64; 2],
    /// By the parameters of the outer header.
    outside: Vec<Carried>,
    /// By those of the inner one.
    within: Vec<Carried>,
}

impl Nest {
    /// The loop of that header and the one inside it, where one can be made of both.
    fn new(func: &Function, header: Block) -> Option<Nest> {
        let cfg = Cfg::new(func);
        let forest = LoopForest::new(&cfg, &Dominators::new(func));
        let l = forest.headed_by(header)?;
        let outer = Shape::around(func, &cfg, &forest, l).ok()?;
        let inner = Shape::new(func, &cfg, &forest, *forest.loops[l].inner.first()?).ok()?;
        let forms = AffineForms::new(func, &cfg);
        let trips = [trips(func, &outer, &forms)?, trips(func, &inner, &forms)?];
        if trips.contains(&0) || trips.iter().product::<u64>() > MOST {
            return None;
        }
        reciprocal(trips[1] as u32, trips.iter().product::<u64>() as u32)?;
        let mut names = BTreeMap::new();
        let there = chain(func, header, inner.preheader, &mut names)?;
        let handed = func.blocks[inner.exit.block].params.iter().copied();
        names.extend(handed.zip(inner.exit.args.clone()));
        let back = chain(func, inner.exit.block, outer.latch, &mut names)?;
        if there.len() + back.len() != outer.blocks.len()
            || !is_repeatable(func, &inner, &there, &back)
        {
            return None;
        }
        let grows = |shape: &Shape, number: usize| {
            let param = func.blocks[shape.header].params[number];
            let step = shape.growth(func, number);
            step.filter(|_| func.ty(param) == Type::I32).map(Carried::Grows)
        };
        let named = |mut value: Value| {
            while let Some(&name) = names.get(&value) {
                value = name;
            }
            value
        };
        let through = |number: usize| {
            let param = func.blocks[header].params[number];
            let is_it = |&other: &usize| {
                named(inner.entry_args[other]) == param
                    && named(outer.back_args[number]) == named(inner.back_args[other])
            };
            let mut found = (0..inner.entry_args.len()).filter(is_it);
            let only = found.next().filter(|_| found.next().is_none());
            // The outer one is in the first inner iteration only what the inner one is.
            only.filter(|_| is_handed_only(func, param, named, &there, inner.header))
                .map(Carried::Through)
        };
        let count = func.blocks[header].params.len();
        let outside: Option<Vec<Carried>> =
            (0..count).map(|number| grows(&outer, number).or_else(|| through(number))).collect();
        let outside = outside?;
        let of =
            |number: usize| outside.iter().position(|carried| *carried == Carried::Through(number));
        let within: Option<Vec<Carried>> = (0..inner.entry_args.len())
            .map(|number| match of(number) {
                Some(outer) => Some(Carried::Through(outer)),
                None => grows(&inner, number),
            })
            .collect();
        Some(Nest { outer, inner, trips, outside, within: within? })
    }
}

/// The blocks from one to another, both included, that jumps lead through. What is handed to the
/// parameters of those behind the first is noted.
fn chain(
    func: &Function,
    from: Block,
    to: Block,
    names: &mut BTreeMap<Value, Value>,
) -> Option<Vec<Block>> {
    let mut blocks = vec![from];
    while let Some(&last) = blocks.last().filter(|&&last| last != to) {
        let Terminator::Jump(call) = func.terminator(last) else { return None };
        if blocks.len() == MAX_BLOCKS {
            return None;
        }
        names.extend(func.blocks[call.block].params.iter().copied().zip(call.args.clone()));
        blocks.push(call.block);
    }
    Some(blocks)
}

/// Whether what stands before the inner loop may run in each iteration, and what stands behind it only
/// once: it is pure, and of what is loaded before nothing is stored inside.
fn is_repeatable(func: &Function, inner: &Shape, there: &[Block], back: &[Block]) -> bool {
    let insts = |blocks: &[Block]| -> Vec<Inst> {
        blocks.iter().flat_map(|&block| func.blocks[block].insts.clone()).collect()
    };
    let mut stored: Vec<Mem> = Vec::new();
    for inst in insts(&inner.blocks) {
        match &func.insts[inst].op {
            Op::Store(mem, ..) => stored.push(*mem),
            Op::Load(..) => {}
            op if op.effect() == Effect::Pure => {}
            _ => return false,
        }
    }
    let is_stored = |mem: Mem| {
        let storage = func.mems[mem].storage;
        let is_object = matches!(storage, Storage::Object(_));
        stored.iter().any(|&other| other == mem || is_object && func.mems[other].storage == storage)
    };
    let is_pure = |inst: &Inst| func.insts[*inst].op.effect() == Effect::Pure;
    insts(back).iter().all(is_pure)
        && insts(there).iter().all(|inst| match &func.insts[*inst].op {
            Op::Load(_, mem, _) => !is_stored(*mem),
            _ => is_pure(inst),
        })
}

/// Whether a value is only handed to blocks that lead to a loop.
fn is_handed_only(
    func: &Function,
    value: Value,
    named: impl Fn(Value) -> Value,
    there: &[Block],
    header: Block,
) -> bool {
    let is_it = |&other: &Value| named(other) == value;
    func.layout.iter().all(|&block| {
        let mut insts = func.blocks[block].insts.iter();
        let terminator = func.terminator(block);
        let mut is_read = insts.any(|&inst| func.insts[inst].op.args().iter().any(is_it));
        if let Terminator::Branch(cond, ..) = terminator {
            is_read |= is_it(cond);
        }
        let successors = terminator.successors();
        let handed: usize =
            successors.iter().map(|to| to.args.iter().filter(|v| is_it(v)).count()).sum();
        let mut all = 0;
        terminator.for_each_arg(|arg| all += usize::from(is_it(&arg)));
        let is_way = |to: &BlockCall| to.block == header || there[1..].contains(&to.block);
        let is_fine = successors.iter().all(|to| is_way(to) || !to.args.iter().any(is_it));
        !is_read && handed == all && is_fine
    })
}

/// Makes one loop of a nest; its header.
fn collapse(func: &mut Function, nest: &Nest) -> Block {
    let Nest { outer, inner, trips, outside, within } = nest;
    let total = (trips[0] * trips[1]) as u32;
    let mut names = Replacements::new();
    let header = func.add_block();
    func.layout.pop();
    let at = func.layout.iter().position(|&block| block == outer.header);
    func.layout.insert(at.unwrap_or(func.layout.len()), header);
    let iteration = func.add_param(header, Type::I32);
    let (params, ours) = (func.blocks[outer.header].params.clone(), outer.entry_args.clone());
    let mut first = vec![Builder::at(func, outer.preheader).i32(0)];
    let mut next = Vec::new();
    let mut through = BTreeMap::new();
    for (number, carried) in outside.iter().enumerate() {
        if let Carried::Through(other) = *carried {
            let param = func.add_param(header, func.ty(params[number]));
            names.replace(params[number], param);
            through.insert(other, param);
            first.push(ours[number]);
            next.push(inner.back_args[other]);
        }
    }
    func.blocks[outer.preheader].terminator =
        Some(Terminator::Jump(BlockCall { block: header, args: first }));
    // What both loops count.
    let mut b = Builder::at(func, header);
    b.set_span(inner.span);
    let (by, amount) = reciprocal(trips[1] as u32, total).expect("a nest that was looked at");
    let scaled = b.imul_imm(iteration, by as i32);
    let amount = b.i32(amount as i32);
    let row = b.binary(BinaryOp::Lshr, scaled, amount);
    let before = b.imul_imm(row, trips[1] as i32);
    let column = b.binary(BinaryOp::Isub, iteration, before);
    let grown = |b: &mut Builder<'_>, first: Value, by: Value, step: i32| {
        let more = b.imul_imm(by, step);
        b.iadd(first, more)
    };
    for (number, carried) in outside.iter().enumerate() {
        if let Carried::Grows(step) = *carried {
            names.replace(params[number], grown(&mut b, ours[number], row, step));
        }
    }
    b.jump(outer.header, vec![]);
    let mut b = Builder::at(func, inner.preheader);
    b.set_span(inner.span);
    for (number, carried) in within.iter().enumerate() {
        let param = b.func.blocks[inner.header].params[number];
        let new = match *carried {
            Carried::Grows(step) => grown(&mut b, inner.entry_args[number], column, step),
            Carried::Through(_) => through[&number],
        };
        names.replace(param, new);
    }
    let to = BlockCall { block: inner.header, args: vec![] };
    func.blocks[inner.preheader].terminator = Some(Terminator::Jump(to));
    let mut b = Builder::at(func, inner.latch);
    b.set_span(inner.span);
    let more = b.iadd_imm(iteration, 1);
    let end = b.i32(total as i32);
    let again = b.value(Op::Icmp(IntCond::Slt, more, end));
    let args = [more].into_iter().chain(next).collect();
    let back = BlockCall { block: header, args };
    func.blocks[inner.latch].terminator = Some(Terminator::Branch(again, back, inner.exit.clone()));
    func.blocks[outer.latch].terminator = Some(Terminator::Jump(outer.exit.clone()));
    for block in [outer.header, inner.header] {
        func.blocks[block].params.clear();
    }
    let info = func.blocks[outer.header].loop_info.take();
    let own = func.blocks[inner.header].loop_info.take();
    let name = own.or(info).map_or(String::new(), |info| info.name);
    func.blocks[header].loop_info = Some(LoopInfo {
        name,
        trips: Some(total.into()),
        counter: Some(Counter { value: iteration, step: 1 }),
    });
    func.blocks[header].span = func.blocks[outer.header].span;
    names.apply(func);
    header
}
