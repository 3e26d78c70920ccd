//! A loop with one loop inside, as far as one loop can be made of both: what each of them carries, and
//! which blocks stand before the inner one and behind it.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{AffineForms, LoopForest};
use nbcc_ir::{
    Block, BlockCall, Cfg, Dominators, Effect, Function, Inst, IntCond, Mem, Op, Storage,
    Terminator, Type, Value,
};

use super::flatten::trips;
use crate::arrays::facts::evolution::{Evolutions, reciprocal};
use crate::arrays::facts::shape::Shape;
use crate::arrays::iteration::turns::{FIRST, called};
use crate::arrays::versions::version;

/// Iterations of a nest at most: numbers of 16 bits.
pub const MAX_ITERATIONS: u64 = 1 << 15;

/// What a loop does with a parameter of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Adds so much in each iteration.
    Grows(i32),
    /// It is the same in both loops: the inner parameter, or the outer one, of that number.
    Through(usize),
    /// Of the outer loop: what an iteration leaves, the next one takes. Of the inner one: it begins
    /// anew each time.
    Own,
    /// Of the inner loop: nobody looks at it before the first iteration has given it a value.
    Unseen,
}

/// How often loops run whose trips are values.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Of the loops that the inner one was made of, the innermost first, and of the outer one.
    pub lists: [Vec<Value>; 2],
    /// Their product.
    pub total: Value,
}

/// A loop and the one inside it.
#[derive(Clone, Debug)]
pub struct Nest {
    /// The loop.
    pub outer: Shape,
    /// The one inside.
    pub inner: Shape,
    /// How often the outer one runs, and the inner one each time; 0 where that is known at run time only.
    pub trips: [u64; 2],
    /// The same at run time.
    pub counts: Option<Counts>,
    /// By the parameters of the outer header.
    pub outside: Vec<Carried>,
    /// By those of the inner one.
    pub within: Vec<Carried>,
    /// The blocks before the inner loop.
    pub there: Vec<Block>,
    /// Those behind it.
    pub back: Vec<Block>,
    /// Values of the blocks behind it that are used behind the outer loop.
    pub results: Vec<Value>,
}

impl Nest {
    /// The loop of that header and the one inside it, where one can be made of both.
    pub fn new(func: &Function, header: Block) -> Option<Nest> {
        Nest::with(func, header, None)
    }

    /// The same of loops whose trips are values.
    pub fn counted(func: &Function, header: Block, counts: Counts) -> Option<Nest> {
        Nest::with(func, header, Some(counts))
    }

    fn with(func: &Function, header: Block, counts: Option<Counts>) -> Option<Nest> {
        let cfg = Cfg::new(func);
        let forest = LoopForest::new(&cfg, &Dominators::new(func));
        let l = forest.headed_by(header)?;
        let outer = Shape::around(func, &cfg, &forest, l).ok()?;
        let inner = Shape::new(func, &cfg, &forest, *forest.loops[l].inner.first()?).ok()?;
        let forms = AffineForms::new(func, &cfg);
        let trips = match counts {
            Some(_) => [0, 0],
            None => [trips(func, &outer, &forms)?, trips(func, &inner, &forms)?],
        };
        if counts.is_none() {
            let total = trips.iter().product::<u64>();
            if total == 0 || total > MAX_ITERATIONS {
                return None;
            }
            reciprocal(trips[1] as u32, total as u32)?;
        }
        let there = region(func, &outer, header, inner.header)?;
        let back = region(func, &outer, inner.exit.block, header)?;
        let is_split = !there.iter().any(|block| back.contains(block))
            && there.len() + back.len() == outer.blocks.len()
            && there.contains(&inner.preheader)
            && back.contains(&outer.latch);
        if !is_split || !is_repeatable(func, &inner, &there, &back) {
            return None;
        }
        // What is handed to a block that is entered in one place.
        let mut names: BTreeMap<Value, Value> = BTreeMap::new();
        let handed = func.blocks[inner.exit.block].params.iter().copied();
        names.extend(handed.zip(inner.exit.args.clone()));
        for &block in there.iter().chain(&back) {
            for to in func.terminator(block).successors() {
                if to.block != header
                    && to.block != inner.header
                    && cfg.predecessors(to.block).len() == 1
                {
                    names.extend(func.blocks[to.block].params.iter().copied().zip(to.args.clone()));
                }
            }
        }
        let grows = |shape: &Shape, number: usize| {
            let param = func.blocks[shape.header].params[number];
            let step = shape.growth(func, number);
            let is_number = matches!(func.ty(param), Type::I32 | Type::I64);
            step.filter(|_| is_number).map(Carried::Grows)
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
        let of_outer =
            |number| grows(&outer, number).or_else(|| through(number)).unwrap_or(Carried::Own);
        let outside: Vec<Carried> = (0..count).map(of_outer).collect();
        let of =
            |number: usize| outside.iter().position(|carried| *carried == Carried::Through(number));
        let evolutions = Evolutions::new(func, &inner, &forms);
        let within: Vec<Carried> = (0..inner.entry_args.len())
            .map(|number| match of(number) {
                Some(outer) => Carried::Through(outer),
                None => grows(&inner, number).unwrap_or_else(|| {
                    match is_unseen(func, &inner, &evolutions, number) {
                        true => Carried::Unseen,
                        false => Carried::Own,
                    }
                }),
            })
            .collect();
        let is_back = |value: &Value| match func.values[*value].def {
            nbcc_ir::ValueDef::Param(block, _) => back.contains(&block),
            nbcc_ir::ValueDef::Result(inst, _) => {
                back.iter().any(|&block| func.blocks[block].insts.contains(&inst))
            }
        };
        let results = version::results(func, &outer).into_iter().filter(is_back).collect();
        Some(Nest { outer, inner, trips, counts, outside, within, there, back, results })
    }

    /// Whether what stands behind the inner loop runs each time, and not only at the end.
    pub fn returns(&self, func: &Function) -> bool {
        self.outside.contains(&Carried::Own)
            || insts(func, &self.back).any(|inst| func.insts[inst].op.effect() != Effect::Pure)
    }

    /// Whether the inner loop begins anew each time with what it carries.
    pub fn resets(&self) -> bool {
        self.within.contains(&Carried::Own)
    }

    /// Iterations of the one loop from one to the next that does not see what iterations before left, given
    /// the same of the inner loop.
    pub fn rows(&self, inner: Option<u32>) -> Option<u32> {
        let grows = |carried: &Carried| matches!(carried, Carried::Grows(_));
        if !self.outside.iter().all(grows) {
            None
        } else if self.resets() {
            u32::try_from(self.trips[1]).ok()
        } else if self.within.iter().all(grows) {
            Some(inner.unwrap_or(1))
        } else {
            inner
        }
    }

    /// Whether iterations of the outer loop may be done at a time: nothing goes from one to the next,
    /// and nobody sees what is stored, behind the inner loop only.
    pub fn is_parallel(&self, func: &Function) -> bool {
        let grows = |carried: &Carried| matches!(carried, Carried::Grows(_));
        let inside = || insts(func, &self.inner.blocks).chain(insts(func, &self.there));
        let stored = stores(func, &self.back);
        self.outside.iter().all(grows)
            && inside().all(|inst| match &func.insts[inst].op {
                Op::Store(..) => false,
                Op::Load(_, mem, _) => !is_among(func, *mem, &stored),
                _ => true,
            })
    }
}

fn insts(func: &Function, blocks: &[Block]) -> impl Iterator<Item = Inst> {
    blocks.iter().flat_map(|&block| func.blocks[block].insts.clone())
}

/// Whether the first iteration of a loop does not look at a parameter of its header: it is only chosen
/// where a word is not what it begins with.
fn is_unseen(func: &Function, inner: &Shape, evolutions: &Evolutions<'_>, number: usize) -> bool {
    let param = func.blocks[inner.header].params[number];
    let is_other = |op: &Op| match *op {
        Op::Select(cond, first, other) if called(func, cond, FIRST).is_some() => {
            other == param && first != param
        }
        Op::Select(cond, first, other) => {
            let Some(&Op::Icmp(IntCond::Eq, word, by)) = func.def_op(cond) else { return false };
            let begins = evolutions.in_nest(word).and_then(|of| of.start.as_constant());
            let by = func.splat_constant(by).filter(|_| func.ty(word) == Type::I32);
            other == param && first != param && begins.is_some() && begins == by.map(|by| by as i32)
        }
        _ => false,
    };
    let is_read = |op: &Op| op.args().contains(&param);
    func.layout.iter().all(|&block| {
        let mut handed = false;
        func.terminator(block).for_each_arg(|arg| handed |= arg == param);
        let ops = func.blocks[block].insts.iter().map(|&inst| &func.insts[inst].op);
        !handed && ops.filter(|op| is_read(op)).all(is_other)
    })
}

/// The blocks of a loop of its own that are reached from one without passing another one.
fn region(func: &Function, outer: &Shape, from: Block, to: Block) -> Option<Vec<Block>> {
    let mut blocks = vec![from];
    let mut next = 0;
    while let Some(&at) = blocks.get(next) {
        next += 1;
        if !outer.blocks.contains(&at) {
            return None;
        }
        if at == outer.latch {
            continue;
        }
        for block in nbcc_ir::cfg::successors(func, at) {
            if block != to && !blocks.contains(&block) {
                blocks.push(block);
            }
        }
    }
    Some(blocks)
}

/// The objects that blocks store to.
fn stores(func: &Function, blocks: &[Block]) -> Vec<Mem> {
    let stored = |inst| match &func.insts[inst].op {
        Op::Store(mem, ..) => Some(*mem),
        _ => None,
    };
    insts(func, blocks).filter_map(stored).collect()
}

fn is_among(func: &Function, mem: Mem, stored: &[Mem]) -> bool {
    let storage = func.mems[mem].storage;
    let is_object = matches!(storage, Storage::Object(_));
    stored.iter().any(|&other| other == mem || is_object && func.mems[other].storage == storage)
}

/// Whether what stands before the inner loop may run in each iteration, but for its stores, which run in
/// the first: of what is loaded nothing is stored until the inner loop is over.
fn is_repeatable(func: &Function, inner: &Shape, there: &[Block], back: &[Block]) -> bool {
    let is_access = |inst: Inst| matches!(&func.insts[inst].op, Op::Store(..) | Op::Load(..));
    let is_fine = |inst: Inst| is_access(inst) || func.insts[inst].op.effect() == Effect::Pure;
    let stored: Vec<Mem> =
        stores(func, &inner.blocks).into_iter().chain(stores(func, there)).collect();
    let is_steady = |inst: Inst| match &func.insts[inst].op {
        Op::Load(_, mem, _) => !is_among(func, *mem, &stored),
        _ => true,
    };
    insts(func, &inner.blocks).chain(insts(func, there)).chain(insts(func, back)).all(is_fine)
        && insts(func, there).all(is_steady)
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

/// The stores of blocks, by block.
pub fn has_stores(func: &Function, blocks: &[Block]) -> bool {
    let blocks: BTreeSet<Block> = blocks.iter().copied().collect();
    blocks.into_iter().any(|block| !stores(func, &[block]).is_empty())
}
