//! One loop made of a nest: the rewriting.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, ConvertOp, Counter, Function, IntCond, LoopInfo, Op,
    Replacements, Terminator, Type, Value,
};
use nbcc_opt::clone_blocks::ClonedBlocks;

use super::nest::{Carried, Counts, Nest, has_stores};
use crate::arrays::facts::evolution::reciprocal;
use crate::arrays::facts::shape::Shape;
use crate::arrays::iteration::turns::{DIGIT, FIRST, LAST, call};
use crate::arrays::versions::version::results;

/// What counts the loops of a nest, in the header of the one that is made.
struct Counters {
    row: Value,
    column: Value,
    /// Whether the inner loop begins, or ends.
    first: Value,
    last: Value,
}

/// One iteration of the outer loop among several at a time: the blocks and values that stand for those of
/// the nest.
struct Lane(Option<ClonedBlocks>);

impl Lane {
    fn block(&self, block: Block) -> Block {
        self.0.as_ref().and_then(|copy| copy.blocks.get(&block).copied()).unwrap_or(block)
    }

    fn value(&self, value: Value) -> Value {
        self.0.as_ref().and_then(|copy| copy.values[value]).unwrap_or(value)
    }

    fn values(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|&value| self.value(value)).collect()
    }
}

/// Makes one loop of a nest, of which it does `times` iterations of the outer loop at a time, a divisor
/// of their number; its header.
pub fn coalesce(func: &mut Function, nest: &Nest, times: u64) -> Block {
    let Nest { outer, inner, trips, outside, within, .. } = nest;
    let total = (trips[0] / times * trips[1]) as u32;
    let returns = nest.returns(func) || nest.resets() || times > 1;
    let all: Vec<Block> =
        nest.there.iter().chain(&inner.blocks).chain(&nest.back).copied().collect();
    let has_early_stores = has_stores(func, &nest.there);
    let used_behind = results(func, outer);
    let copies = (1..times).map(|_| Lane(Some(ClonedBlocks::before(func, &all, outer.header))));
    let mut lanes = vec![Lane(None)];
    lanes.extend(copies.collect::<Vec<_>>());

    let header = func.add_block();
    func.layout.pop();
    let at =
        func.layout.iter().position(|&block| block == lanes[lanes.len() - 1].block(outer.header));
    func.layout.insert(at.unwrap_or(func.layout.len()), header);
    let iteration = func.add_param(header, Type::I32);
    let params = func.blocks[outer.header].params.clone();
    let mut first = vec![Builder::at(func, outer.preheader).i32(0)];
    let mut words = add_words(func, nest, header, &lanes, &mut first);
    let mut names = Replacements::new();
    for (number, carried) in outside.iter().enumerate() {
        if let Carried::Through(other) = carried {
            names.replace(params[number], words.through[other]);
        }
    }
    func.blocks[outer.preheader].terminator =
        Some(Terminator::Jump(BlockCall { block: header, args: first }));
    let mut b = Builder::at(func, header);
    b.set_span(inner.span);
    let counters = match &nest.counts {
        Some(counts) => counted(&mut b, iteration, counts),
        None => counters(&mut b, iteration, trips[1] as u32, total),
    };
    let behind: Vec<Value> =
        used_behind.iter().copied().filter(|v| nest.results.contains(v)).collect();
    let nothing: Vec<Value> = match returns {
        true => behind.iter().map(|&value| b.constant(b.func.ty(value), 0)).collect(),
        false => vec![],
    };
    // What counts an inner loop that was made of several is read where trips of loops are asked for, of
    // which all that it turns over with are known there.
    let inner_iteration = match &nest.counts {
        Some(counts) if counts.lists[0].len() > 1 => iteration_of(b.func, inner.header),
        _ => None,
    };
    let (mut before, mut handed) = (header, Vec::new());
    for (number, lane) in lanes.iter().enumerate() {
        func.blocks[before].terminator =
            Some(Terminator::Jump(BlockCall { block: lane.block(outer.header), args: vec![] }));
        let mut b = Builder::at(func, before);
        b.set_span(inner.span);
        // The iteration of the outer loop.
        let turn = match times {
            1 => counters.row,
            times => {
                let rows = b.imul_imm(counters.row, times as i32);
                b.iadd_imm(rows, number as i32)
            }
        };
        for (of, carried) in outside.iter().enumerate() {
            match *carried {
                Carried::Grows(step) => {
                    let value = grown(&mut b, outer.entry_args[of], turn, step);
                    names.replace(lane.value(params[of]), value);
                }
                Carried::Own => names.replace(lane.value(params[of]), words.own[&of]),
                Carried::Through(_) | Carried::Unseen => {}
            }
        }
        let mut b = Builder::at(func, lane.block(inner.preheader));
        b.set_span(inner.span);
        for (of, carried) in within.iter().enumerate() {
            let param = lane.value(b.func.blocks[inner.header].params[of]);
            let entry = lane.value(inner.entry_args[of]);
            let new = match *carried {
                _ if inner_iteration == Some(param) => iteration,
                Carried::Grows(step) => grown(&mut b, entry, counters.column, step),
                Carried::Through(_) => words.through[&of],
                Carried::Own => b.value(Op::Select(counters.first, entry, words.anew[number][&of])),
                Carried::Unseen => words.anew[number][&of],
            };
            names.replace(param, new);
        }
        let to = BlockCall { block: lane.block(inner.header), args: vec![] };
        func.blocks[lane.block(inner.preheader)].terminator = Some(Terminator::Jump(to));
        before = lane.block(inner.latch);
        if !returns {
            continue;
        }
        let is_last = number + 1 == lanes.len();
        let results = is_last.then_some((&nothing[..], &behind[..]));
        (before, handed) = end_row(func, nest, lane, counters.last, &mut words.own, results);
    }
    let last = &lanes[lanes.len() - 1];
    let rename: BTreeMap<Value, Value> = match returns {
        true => {
            let direct = used_behind.iter().map(|&value| (value, last.value(value)));
            let joined = behind.iter().copied().zip(handed);
            direct.chain(joined).collect()
        }
        false => BTreeMap::new(),
    };
    let mut b = Builder::at(func, before);
    b.set_span(inner.span);
    let more = b.iadd_imm(iteration, 1);
    let end = match &nest.counts {
        Some(counts) => counts.total,
        None => b.i32(total as i32),
    };
    let again = b.value(Op::Icmp(IntCond::Slt, more, end));
    let next = [vec![more], next_words(nest, &lanes, &words)].concat();
    let back = BlockCall { block: header, args: next };
    let mut exit = outer.exit.clone();
    if returns {
        let blocks = lanes.iter().flat_map(|lane| all.iter().map(|&block| lane.block(block)));
        let inside = blocks.chain([header]).collect();
        rename_outside(func, &inside, &mut exit, &rename);
    }
    let leave = if returns { exit } else { inner.exit.clone() };
    func.blocks[before].terminator = Some(Terminator::Branch(again, back, leave));
    if !returns {
        func.blocks[outer.latch].terminator = Some(Terminator::Jump(outer.exit.clone()));
    }
    let name = name_of(func, nest);
    for lane in &lanes {
        for block in [outer.header, inner.header] {
            func.blocks[lane.block(block)].params.clear();
            func.blocks[lane.block(block)].loop_info = None;
        }
    }
    func.blocks[header].loop_info = Some(LoopInfo {
        name,
        trips: nest.counts.is_none().then_some(total.into()),
        counter: Some(Counter { value: iteration, step: 1 }),
    });
    func.blocks[header].span = func.blocks[outer.header].span;
    if has_early_stores {
        for &block in &nest.there {
            guard_stores(func, block, counters.first);
        }
    }
    names.apply(func);
    header
}

/// Parameters of the header of the loop that is made, by the numbers of those of the loops of the nest.
struct Words {
    /// What goes through both loops, by the numbers of the inner one.
    through: BTreeMap<usize, Value>,
    /// What the outer loop hands from one of its iterations to the next.
    own: BTreeMap<usize, Value>,
    /// What the inner loop carries of its own, lane by lane.
    anew: Vec<BTreeMap<usize, Value>>,
}

/// Adds the parameters of the header for what the loops of a nest carry, and to `first` what they begin with.
fn add_words(
    func: &mut Function,
    nest: &Nest,
    header: Block,
    lanes: &[Lane],
    first: &mut Vec<Value>,
) -> Words {
    let Nest { outer, inner, outside, within, .. } = nest;
    let mut words = Words { through: BTreeMap::new(), own: BTreeMap::new(), anew: Vec::new() };
    for (number, carried) in outside.iter().enumerate() {
        let entry = outer.entry_args[number];
        let known = match *carried {
            Carried::Through(other) => words.through.entry(other),
            Carried::Own => words.own.entry(number),
            Carried::Grows(_) | Carried::Unseen => continue,
        };
        known.or_insert(func.add_param(header, func.ty(entry)));
        first.push(entry);
    }
    for _ in lanes {
        let mut anew = BTreeMap::new();
        for (number, carried) in within.iter().enumerate() {
            if matches!(carried, Carried::Own | Carried::Unseen) {
                let ty = func.ty(inner.entry_args[number]);
                anew.insert(number, func.add_param(header, ty));
                // Nobody looks at it.
                first.push(Builder::at(func, outer.preheader).constant(ty, 0));
            }
        }
        words.anew.push(anew);
    }
    words
}

/// Behind the inner loop what follows it in the outer one runs where a row ends, or does not, and both meet in
/// a new block, with what the outer loop hands on. `results`: with what is read behind the nest as well, and
/// what that is as long as no row has ended. The block, and its parameters for those.
fn end_row(
    func: &mut Function,
    nest: &Nest,
    lane: &Lane,
    ends: Value,
    own: &mut BTreeMap<usize, Value>,
    results: Option<(&[Value], &[Value])>,
) -> (Block, Vec<Value>) {
    let Nest { outer, inner, .. } = nest;
    let join = func.add_block();
    func.blocks[join].span = inner.span;
    let ended =
        BlockCall { block: lane.block(inner.exit.block), args: lane.values(&inner.exit.args) };
    let mut skipped: Vec<Value> = own.values().copied().collect();
    let mut left: Vec<Value> = own.keys().map(|&of| lane.value(outer.back_args[of])).collect();
    for value in own.values_mut() {
        *value = func.add_param(join, func.ty(*value));
    }
    let mut handed = Vec::new();
    if let Some((nothing, behind)) = results {
        skipped.extend(nothing);
        left.extend(lane.values(behind));
        handed.extend(behind.iter().map(|&value| func.add_param(join, func.ty(value))));
    }
    let skip = BlockCall { block: join, args: skipped };
    func.blocks[lane.block(inner.latch)].terminator = Some(Terminator::Branch(ends, ended, skip));
    func.blocks[lane.block(outer.latch)].terminator =
        Some(Terminator::Jump(BlockCall { block: join, args: left }));
    (join, handed)
}

/// What the loop that is made hands to its next iteration, beside what counts.
fn next_words(nest: &Nest, lanes: &[Lane], words: &Words) -> Vec<Value> {
    let back_args = &nest.inner.back_args;
    let mut next = Vec::new();
    for (number, carried) in nest.outside.iter().enumerate() {
        match *carried {
            Carried::Own => next.push(words.own[&number]),
            Carried::Through(other) => next.push(back_args[other]),
            Carried::Grows(_) | Carried::Unseen => {}
        }
    }
    for (lane, anew) in lanes.iter().zip(&words.anew) {
        next.extend(anew.keys().map(|&of| lane.value(back_args[of])));
    }
    next
}

/// What the source calls the inner loop, or the outer one.
fn name_of(func: &Function, nest: &Nest) -> String {
    let name = |header: Block| func.blocks[header].loop_info.as_ref().map(|info| info.name.clone());
    name(nest.inner.header).or_else(|| name(nest.outer.header)).unwrap_or_default()
}

/// Lets a loop of these blocks and its copy leave to one block, a new one, which hands on the values
/// `used` behind them.
pub(super) fn meet_behind(
    func: &mut Function,
    shape: &Shape,
    blocks: &[Block],
    copy: &ClonedBlocks,
    used: Vec<Value>,
) {
    let behind = func.add_block();
    func.blocks[behind].span = shape.span;
    let handed: BTreeMap<Value, Value> =
        used.iter().map(|&value| (value, func.add_param(behind, func.ty(value)))).collect();
    let mut exit = shape.exit.clone();
    let own: BTreeSet<Block> = blocks.iter().flat_map(|&b| [b, copy.blocks[&b]]).collect();
    rename_outside(func, &own, &mut exit, &handed);
    func.blocks[behind].terminator = Some(Terminator::Jump(exit));
    let copies: Vec<Value> =
        used.iter().map(|&value| copy.values[value].unwrap_or(value)).collect();
    for (latch, header, values) in [
        (shape.latch, shape.header, used),
        (copy.blocks[&shape.latch], copy.blocks[&shape.header], copies),
    ] {
        let Some(terminator) = &mut func.blocks[latch].terminator else { continue };
        for to in terminator.successors_mut() {
            if to.block != header {
                *to = BlockCall { block: behind, args: values.clone() };
            }
        }
    }
}

/// Gives what is read outside of some blocks, and where the loop leaves to, other names.
pub(super) fn rename_outside(
    func: &mut Function,
    inside: &BTreeSet<Block>,
    exit: &mut BlockCall,
    names: &BTreeMap<Value, Value>,
) {
    let rename = |value: &mut Value| {
        if let Some(&other) = names.get(value) {
            *value = other;
        }
    };
    exit.args.iter_mut().for_each(rename);
    for block in func.layout.clone().into_iter().filter(|block| !inside.contains(block)) {
        func.rename_in(block, rename);
    }
}

fn grown(b: &mut Builder<'_>, first: Value, by: Value, step: i32) -> Value {
    if b.func.ty(first) == Type::I64 {
        let by = b.convert(ConvertOp::ZeroExtend, by, Type::I64);
        let step = b.constant(Type::I64, i64::from(step) as u64);
        let more = b.imul(by, step);
        return b.iadd(first, more);
    }
    let more = b.imul_imm(by, step);
    b.iadd(first, more)
}

/// Makes what counts both loops of a nest, of which the inner one runs `period` times each.
fn counters(b: &mut Builder<'_>, iteration: Value, period: u32, total: u32) -> Counters {
    let (row, column) = if period == 1 {
        (iteration, b.i32(0))
    } else if period == total {
        (b.i32(0), iteration)
    } else {
        let (by, amount) = reciprocal(period, total).expect("a nest that was looked at");
        let scaled = b.imul_imm(iteration, by as i32);
        let amount = b.i32(amount as i32);
        let row = b.binary(BinaryOp::Lshr, scaled, amount);
        let before = b.imul_imm(row, period as i32);
        (row, b.binary(BinaryOp::Isub, iteration, before))
    };
    let (zero, end) = (b.i32(0), b.i32(period as i32 - 1));
    let first = b.value(Op::Icmp(IntCond::Eq, column, zero));
    let last = b.value(Op::Icmp(IntCond::Eq, column, end));
    Counters { row, column, first, last }
}

/// What counts the iterations of a loop that was made.
fn iteration_of(func: &Function, header: Block) -> Option<Value> {
    func.blocks[header].loop_info.as_ref()?.counter.map(|counter| counter.value)
}

/// The same of loops whose trips are values.
fn counted(b: &mut Builder<'_>, iteration: Value, counts: &Counts) -> Counters {
    let [inner, outer] = &counts.lists;
    let args = |lists: &[&Vec<Value>]| {
        let all = lists.iter().flat_map(|list| list.iter().copied());
        [iteration].into_iter().chain(all).collect::<Vec<Value>>()
    };
    Counters {
        row: call(b, DIGIT, args(&[inner, outer]), vec![inner.len() as i64]),
        column: call(b, DIGIT, args(&[inner]), vec![0]),
        first: call(b, FIRST, args(&[inner]), vec![]),
        last: call(b, LAST, args(&[inner]), vec![]),
    }
}

/// Lets the stores of a block run only where `first` holds.
fn guard_stores(func: &mut Function, block: Block, first: Value) {
    let mut block = block;
    loop {
        let insts = func.blocks[block].insts.clone();
        let is_store = |inst: &nbcc_ir::Inst| matches!(func.insts[*inst].op, Op::Store(..));
        let Some(at) = insts.iter().position(is_store) else { return };
        let span = func.insts[insts[at]].span;
        let (store, rest) = (func.add_block(), func.add_block());
        for new in [store, rest] {
            func.blocks[new].span = span;
        }
        func.blocks[rest].terminator = func.blocks[block].terminator.take();
        func.blocks[rest].insts = insts[at + 1..].to_vec();
        func.blocks[store].insts = vec![insts[at]];
        func.blocks[store].terminator =
            Some(Terminator::Jump(BlockCall { block: rest, args: vec![] }));
        func.blocks[block].insts.truncate(at);
        let to = |block| BlockCall { block, args: vec![] };
        func.blocks[block].terminator = Some(Terminator::Branch(first, to(store), to(rest)));
        block = rest;
    }
}
