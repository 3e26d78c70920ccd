//! A nest whose trips are known at run time only, on several arrays at a time: each takes some of the
//! iterations of its outermost loop, as many as the core says. What is stored in those is a stretch of
//! elements, which is copied to the home when both arrays have ended, as in [`super::split`]. What an
//! iteration changes, as `c[i][j] += ...` does, each array has as it was before the call, and what it leaves
//! out, as the borders of a picture.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_ir::{
    BinaryOp, Block, Builder, Cfg, Function, IntCond, Mem, Op, Storage, Terminator, Type, Value,
};
use nbcc_isa_sdpnm::config::Opcode;
use nbcc_isa_sdpnm::core::arrays::{
    COPY, COPY_AT, COPY_BYTES, FIRST as FIRST_ITERATION, GLOBALS, GROUP, ITERATIONS, MEMBERS, START,
};

use super::split::{is_never_stored, is_same_object};
use crate::arrays::facts::access::{Access, Subscript};
use crate::arrays::facts::evolution::Evolution;
use crate::arrays::facts::shape::Shape;
use crate::arrays::iteration::body::{Body, Global, Node, Operand, Order, Port};
use crate::arrays::iteration::build::{Built, Outcome};
use crate::arrays::iteration::turns::{BANDS, FIRST, LAST, Walk, called, tag};
use crate::arrays::versions::version::{Use, address, control, global, spill, write};

/// What an iteration of the outermost loop leaves in an object: elements one behind the other, or some of those.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    mem: Mem,
    /// The first element of the first iteration: a value and a constant.
    start: (Option<Value>, i32),
    /// How many, and whether an iteration of the nest leaves that many.
    count: Count,
    /// Where some are left out, which are left.
    left: Option<Left>,
    bytes: i32,
}

/// Elements of a stretch that are left in an iteration: up to how many behind the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Left {
    last: i32,
    /// Strides of the loops inside the outermost one that lead farther, and how often these run.
    strides: Vec<(Value, Value)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// With each iteration of the outermost loop.
    OfRow(Value),
    /// With each iteration of all loops.
    OfIteration(i32),
}

/// How a nest is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bands {
    /// How often the outermost loop runs.
    rows: Value,
    /// Iterations of all loops inside it.
    period: Value,
    /// Global registers with what words begin from that grow by as much in each iteration, and by what.
    counters: BTreeMap<usize, Operand>,
    /// Those of words that grow by so much with each iteration of the outermost loop, in as many bytes.
    walks: BTreeMap<usize, (Value, i32)>,
    stretches: Vec<Stretch>,
    /// Objects that iterations change: what they held before the call is in each array.
    pub changed: BTreeSet<Mem>,
    /// Iterations from which on it is shared.
    least: u32,
}

/// How often the outermost loop of a nest runs, and all inside it, if its iterations do not depend on each other.
pub fn of(func: &Function, shape: &Shape) -> Option<(Value, Value)> {
    let mut ops = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    ops.find_map(|&inst| match &func.insts[inst].op {
        Op::Intrinsic(call) if call.name == BANDS && call.imms == [tag(shape.header)] => {
            Some((call.args[0], call.args[1]))
        }
        _ => None,
    })
}

/// Cycles of all arrays together from which on a nest is shared: what starts others takes a hundred or two.
const WORTH: u32 = 800;

impl Bands {
    /// How a nest is shared, if no iteration of its outermost loop looks at what another one left.
    pub fn new(func: &Function, shape: &Shape, built: &Built, ii: u32) -> Option<Bands> {
        let (rows, period) = of(func, shape)?;
        let walks: BTreeMap<usize, (Value, i32)> = built.walks.iter().copied().collect();
        let is_one = built.walks.iter().all(|(number, of)| walks.get(number) == Some(of));
        let counters = counters(&built.body, &walks)?;
        let is_known = |(_, outcome): &(Value, Outcome)| matches!(outcome, Outcome::Last(_));
        if !is_one || !built.results.iter().all(is_known) {
            return None;
        }
        let stretches = stretches(func, shape, built)?;
        // What an iteration of the outermost loop leaves no other one touches.
        let of = |node: usize| built.accesses.iter().find(|access| access.node == Some(node));
        let is_apart = |order: &Order| {
            let mem = of(order.from).map(|access| access.mem);
            order.distance == 0 || stretches.iter().any(|stretch| Some(stretch.mem) == mem)
        };
        if !built.body.orders.iter().all(is_apart) {
            return None;
        }
        let reads = built.accesses.iter().filter(|access| !access.is_store);
        let changed = reads.map(|access| access.mem).filter(|&mem| !is_never_stored(func, mem));
        // What is left out is copied as well.
        let partly = stretches.iter().filter(|stretch| stretch.left.is_some());
        let changed: BTreeSet<Mem> = changed.chain(partly.map(|stretch| stretch.mem)).collect();
        let is_own = |mem: &Mem| stretches.iter().any(|stretch| stretch.mem == *mem);
        if !changed.iter().all(|mem| is_own(mem) && is_as_before(func, shape, *mem)) {
            return None;
        }
        let least = WORTH.div_ceil(ii);
        Some(Bands { rows, period, counters, walks, stretches, changed, least })
    }

    /// Whether it is worth to share so many iterations among as many arrays.
    pub fn is_worth(&self, b: &mut Builder<'_>, trips: Value, arrays: usize) -> Value {
        let (count, least) = (b.i32(arrays as i32), b.i32(self.least as i32));
        let rows = b.value(Op::Icmp(IntCond::Sge, self.rows, count));
        let all = b.value(Op::Icmp(IntCond::Sge, trips, least));
        let mut worth = b.binary(BinaryOp::And, rows, all);
        for stretch in &self.stretches {
            let (Some(left), Count::OfRow(stride)) = (&stretch.left, stretch.count) else {
                continue;
            };
            // What iterations of the outermost loop leave stands one behind the other.
            let zero = b.i32(0);
            for &(stride, _) in &left.strides {
                let goes_up = b.value(Op::Icmp(IntCond::Sge, stride, zero));
                worth = b.binary(BinaryOp::And, worth, goes_up);
            }
            let last = left.last(b);
            let is_apart = b.value(Op::Icmp(IntCond::Slt, last, stride));
            worth = b.binary(BinaryOp::And, worth, is_apart);
        }
        worth
    }
}

impl Left {
    /// How many elements the last one that an iteration of the outermost loop leaves is behind the first: all
    /// are inside of the object, so that this does not wrap where no stride is negative.
    fn last(&self, b: &mut Builder<'_>) -> Value {
        let last = b.i32(self.last);
        self.strides.iter().fold(last, |last, &(stride, count)| {
            let more = b.iadd_imm(count, -1);
            let way = b.imul(more, stride);
            b.iadd(last, way)
        })
    }
}

/// Whether an object is as it was before the call where a loop is entered, and the loop is entered once.
fn is_as_before(func: &Function, shape: &Shape, mem: Mem) -> bool {
    let cfg = Cfg::new(func);
    let mut before = BTreeSet::from([shape.preheader]);
    let mut work = vec![shape.preheader];
    while let Some(block) = work.pop() {
        for &pred in cfg.predecessors(block) {
            if before.insert(pred) {
                work.push(pred);
            }
        }
    }
    let mut insts = before.iter().flat_map(|&block| &func.blocks[block].insts);
    func.mems[mem].storage != Storage::Own
        && !before.contains(&shape.header)
        && !insts.any(|&inst| match &func.insts[inst].op {
            Op::Store(other, ..) => is_same_object(func, *other, mem),
            Op::Load(..) | Op::Binary(..) | Op::Intrinsic(_) => false,
            op => op.effect() != nbcc_ir::Effect::Pure,
        })
}

/// The registers with first values of sums that grow by what does not change. What else goes from iteration
/// to iteration begins anew in each of the outermost loop.
fn counters(
    body: &Body,
    walks: &BTreeMap<usize, (Value, i32)>,
) -> Option<BTreeMap<usize, Operand>> {
    let mut counters = BTreeMap::new();
    for (number, node) in body.nodes.iter().enumerate() {
        // Words that turn over with loops do so anew.
        let grows = |initial: &usize| {
            let of = &body.globals[*initial];
            matches!(of, Global::Address(..) | Global::Form(..)) && !walks.contains_key(initial)
        };
        let Some(initial) = node.initial.filter(grows) else { continue };
        let own = Operand::Node { node: number, distance: 1 };
        let step = match (node.op, node.in1, node.in2) {
            (Opcode::Add, word, step) | (Opcode::Add, step, word) if word == own => step,
            _ => continue,
        };
        let is_plain = node.ahead == 0 && node.condition.is_none() && node.in3.is_none();
        match step {
            Operand::Immediate(_) | Operand::Global(_) | Operand::None if is_plain => {
                let known = counters.insert(initial, step);
                if known.is_some_and(|known| known != step) {
                    return None;
                }
            }
            _ => {}
        }
    }
    // What else begins with one of these registers.
    let is_counter = |number: &usize| counters.contains_key(number) || walks.contains_key(number);
    let is_read = |word: Operand| matches!(word, Operand::Global(number) if is_counter(&number));
    let begins = |(number, node): (usize, &Node)| {
        let Some(initial) = node.initial.filter(is_counter) else { return true };
        let own = Operand::Node { node: number, distance: 1 };
        let step = if node.in1 == own { node.in2 } else { node.in1 };
        let is_sum = node.op == Opcode::Add && (node.in1 == own || node.in2 == own);
        is_sum && (walks.contains_key(&initial) || counters.get(&initial) == Some(&step))
    };
    let is_free = body.edges().into_iter().all(|edge| {
        let from = &body.nodes[edge.from];
        edge.distance == 0
            || edge.port == Port::Order
            || from.initial.is_some()
            || u32::from(from.ahead) >= edge.distance
    });
    let fine = is_free
        && body.nodes.iter().enumerate().all(begins)
        && !body.nodes.iter().any(|node| is_read(node.in1) || is_read(node.in2));
    fine.then_some(counters)
}

/// Which loops a block waits for: those that end, or begin, in the iterations that run it, the innermost first;
/// how many. `None` where it depends on anything else.
fn waits(func: &Function, shape: &Shape, block: Block) -> Option<Vec<Value>> {
    let leads = |from| shape.leads(func, from, block, shape.header);
    let mut marks = Vec::new();
    let mut names = BTreeSet::new();
    for &from in shape.blocks.iter().filter(|&&from| from != shape.latch) {
        match func.terminator(from) {
            Terminator::Branch(cond, then, other) if leads(then.block) != leads(other.block) => {
                let call = called(func, *cond, FIRST).or(called(func, *cond, LAST))?;
                if !leads(then.block) {
                    return None;
                }
                names.insert(call.name);
                marks.push(call.args[1]);
            }
            Terminator::Switch(..) => return None,
            _ => {}
        }
    }
    (names.len() <= 1).then_some(marks)
}

/// By which constant a subscript is more than another one in each iteration.
fn apart(one: &Evolution, other: &Evolution) -> Option<i32> {
    let is_same = match (&one.walk, &other.walk) {
        (Some((one, _)), Some((other, _))) => one == other,
        (None, None) => other.is_linear() && one.step == other.step,
        _ => false,
    };
    other.start.plus(&one.start, -1).as_constant().filter(|_| is_same)
}

/// What is stored, if each iteration of the outermost loop leaves a stretch of elements of each object.
fn stretches(func: &Function, shape: &Shape, built: &Built) -> Option<Vec<Stretch>> {
    let stores = || built.accesses.iter().filter(|access| access.is_store && access.node.is_some());
    let of_body = built.body.nodes.iter().filter(|node| node.op == Opcode::Store);
    if of_body.count() != stores().count() {
        return None;
    }
    let mut groups: BTreeMap<Mem, Vec<&Access>> = BTreeMap::new();
    for store in stores() {
        groups.entry(store.mem).or_default().push(store);
    }
    let mut found = Vec::new();
    for (mem, group) in groups {
        let first = group[0];
        let Subscript::Linear(of) = &first.subscript else { return None };
        let mut constants = BTreeSet::new();
        let mut is_all = true;
        for store in &group {
            let Subscript::Linear(other) = &store.subscript else { return None };
            constants.insert(apart(of, other)?);
            is_all &= match (waits(func, shape, store.block), &other.walk) {
                // No loop that a store waits for leads to another element.
                (Some(marks), Some((walk, _))) => is_whole(func, walk, &marks),
                (Some(marks), None) => marks.is_empty(),
                (None, _) => false,
            };
        }
        let (least, most) = (*constants.first()?, *constants.last()?);
        let last = most.checked_sub(least)?;
        let is_dense = constants.len() as i64 == i64::from(last) + 1;
        let (start, lead, count) = match &of.walk {
            Some((walk, constant)) => {
                let start = (Some(walk.start), constant.wrapping_add(least));
                (start, walk.lead, Count::OfRow(*walk.strides.last()?))
            }
            None => {
                let step = of.step.as_constant()?;
                let start = match of.start.terms[..] {
                    [] => None,
                    [(value, 1)] if func.ty(value) == Type::I32 => Some(value),
                    _ => return None,
                };
                let start = (start, of.start.constant.wrapping_add(least));
                (start, step, Count::OfIteration(step))
            }
        };
        let reads = built.accesses.iter().filter(|access| !access.is_store && access.mem == mem);
        let is_within = |access: &Access| {
            let Subscript::Linear(other) = &access.subscript else { return false };
            apart(of, other).is_some_and(|apart| (least..=most).contains(&apart))
        };
        if !reads.into_iter().all(is_within) {
            return None;
        }
        let is_all = is_all && is_dense && lead == constants.len() as i32;
        let left = match (&of.walk, is_all) {
            (_, true) => None,
            (Some((walk, _)), _) => {
                let inside = walk.strides.len() - 1;
                let strides = walk.strides.iter().copied().zip(walk.counts.iter().copied());
                let moves = |of: &(Value, Value)| func.splat_constant(of.0) != Some(0);
                Some(Left { last, strides: strides.take(inside).filter(moves).collect() })
            }
            (None, _) if last < lead => Some(Left { last, strides: vec![] }),
            (None, _) => return None,
        };
        found.push(Stretch { mem, start, count, left, bytes: first.bytes as i32 });
    }
    (!found.is_empty()).then_some(found)
}

/// Whether loops that are waited for do not move a walk: the first ones, up to one of the marks.
fn is_whole(func: &Function, walk: &Walk, marks: &[Value]) -> bool {
    marks.iter().all(|mark| {
        let Some(level) = walk.marks.iter().position(|other| other == mark) else { return false };
        walk.strides[..=level].iter().all(|&stride| func.splat_constant(stride) == Some(0))
    })
}

/// Starts the nest on several arrays, each with its part, and copies what they store to its home.
pub(crate) fn share(b: &mut Builder<'_>, built: &Built, used: &Use, bands: &Bands, trips: Value) {
    let nothing = BTreeSet::new();
    spill(b, &nothing, built, used, &used.arrays);
    let members = used.arrays.iter().fold(0, |mask, &array| mask | 1 << array);
    let members = b.i32(members);
    write(b, i64::from(GROUP + MEMBERS), members);
    // The first row and the first iteration of each array, and how many.
    let count = b.i32(used.arrays.len() as i32);
    let each = b.binary(BinaryOp::Udiv, bands.rows, count);
    let whole = b.imul(each, bands.period);
    let firsts: Vec<(Value, Value)> = (0..used.arrays.len())
        .map(|number| (b.imul_imm(each, number as i32), b.imul_imm(whole, number as i32)))
        .collect();
    let others = b.imul_imm(whole, used.arrays.len() as i32 - 1);
    let last = b.binary(BinaryOp::Isub, trips, others);
    for (number, of) in built.body.globals.iter().enumerate() {
        let Some(value) = global(b, &nothing, used, of) else { continue };
        let offset = GLOBALS + 4 * number as u32;
        let step = match (bands.counters.get(&number), bands.walks.get(&number)) {
            (Some(Operand::Immediate(step)), _) => b.i32(*step),
            (Some(Operand::Global(of)), _) => {
                let step = global(b, &nothing, used, &built.body.globals[*of]);
                step.unwrap_or_else(|| b.i32(0))
            }
            (None, Some(&(stride, bytes))) => b.imul_imm(stride, bytes),
            _ => {
                write(b, i64::from(GROUP + offset), value);
                continue;
            }
        };
        let is_walk = bands.walks.contains_key(&number);
        for (&array, &(row, iteration)) in used.arrays.iter().zip(&firsts) {
            let way = b.imul(step, if is_walk { row } else { iteration });
            let own = b.iadd(value, way);
            write(b, control(array, offset), own);
        }
    }
    for (number, (&array, &(_, iteration))) in used.arrays.iter().zip(&firsts).enumerate() {
        let is_last = number + 1 == used.arrays.len();
        let package = b.i32((used.package + number as u32) as i32);
        write(b, control(array, FIRST_ITERATION), iteration);
        write(b, control(array, ITERATIONS), if is_last { last } else { whole });
        write(b, control(array, START), package);
    }
    for (number, (&array, &(row, iteration))) in used.arrays.iter().zip(&firsts).enumerate().skip(1)
    {
        let is_last = number + 1 == used.arrays.len();
        for stretch in &bands.stretches {
            let base = address(b, used, stretch.mem, &Default::default());
            let (before, all) = match stretch.count {
                Count::OfRow(stride) => {
                    let rows =
                        if is_last { b.binary(BinaryOp::Isub, bands.rows, row) } else { each };
                    (b.imul(row, stride), b.imul(rows, stride))
                }
                Count::OfIteration(step) => {
                    let all = if is_last { last } else { whole };
                    (b.imul_imm(iteration, step), b.imul_imm(all, step))
                }
            };
            // What stands behind the last one may be outside of the object.
            let all = match (&stretch.left, is_last) {
                (Some(left), true) => {
                    let whole = match stretch.count {
                        Count::OfRow(stride) => stride,
                        Count::OfIteration(step) => b.i32(step),
                    };
                    let last = left.last(b);
                    let behind = b.binary(BinaryOp::Isub, whole, last);
                    let more = b.iadd_imm(behind, -1);
                    b.binary(BinaryOp::Isub, all, more)
                }
                _ => all,
            };
            let element = b.iadd_imm(before, stretch.start.1);
            let element = match stretch.start.0 {
                Some(start) => b.iadd(element, start),
                None => element,
            };
            let way = b.imul_imm(element, stretch.bytes);
            let (at, bytes) = (b.iadd(base, way), b.imul_imm(all, stretch.bytes));
            let from = b.i32(array.into());
            for (offset, word) in [(COPY_AT, at), (COPY_BYTES, bytes), (COPY, from)] {
                write(b, control(used.array, offset), word);
            }
        }
    }
}
