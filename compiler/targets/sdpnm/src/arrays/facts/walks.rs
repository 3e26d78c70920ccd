//! What the loops of a nest count, as walks: sums that an array makes with an adder and a choice.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::LoopForest;
use nbcc_ir::{
    BinaryOp, Block, Builder, Cfg, ConvertOp, Dominators, Effect, Function, Inst, IntCond,
    IntrinsicCall, Op, Replacements, Scalar, Type, UnaryOp, Value, ValueDef,
};
use nbcc_opt::dce;

use super::evolution::{self, bounds};
use super::poly::{Poly, long};
use super::shape::Shape;
use crate::arrays::iteration::turns::{BANDS, DIGIT, FIRST, LAST, REQUIRED, Walk, called, tag};
use crate::arrays::versions::forms::is_word;
use crate::arrays::versions::version::MAX_ITERATIONS;

/// Low bits of strides that are looked at.
const MOST_ZEROS: u32 = 16;

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 24;

/// A word as a sum: what it begins with, and what an iteration of each loop adds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    start: Poly,
    strides: Vec<Poly>,
}

/// What sums of words of a loop are found with.
struct Sums<'a> {
    func: &'a Function,
    shape: &'a Shape,
    iteration: Value,
    /// How often the loops run, the innermost first.
    counts: Vec<Poly>,
    known: BTreeMap<Value, Option<Sum>>,
    limits: Vec<Limit>,
}

/// A value that is a sum, and what is known of it.
struct Found {
    value: Value,
    sum: Sum,
    turns: Vec<Poly>,
    lead: i32,
    is_apart: bool,
}

/// A sum that in 64 bits is no other than in words, and stays within limits, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Limit {
    of: Sum,
    least: i32,
    most: i32,
}

impl Sums<'_> {
    fn fixed(&self, start: Poly) -> Sum {
        Sum { start, strides: vec![Poly::default(); self.counts.len()] }
    }

    fn of(&mut self, value: Value, depth: u32) -> Option<Sum> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let found = self.find(value, depth);
        self.known.insert(value, found.clone());
        found
    }

    fn find(&mut self, value: Value, depth: u32) -> Option<Sum> {
        let func = self.func;
        if !matches!(func.ty(value), Type::I32 | Type::I64) || depth == 0 {
            return None;
        }
        if value == self.iteration {
            return self.digits(&self.counts.clone(), 0, &Poly::constant(1));
        }
        let is_fixed = !self.shape.defines(func, value);
        let symbol = |this: &Self| is_fixed.then(|| this.fixed(Poly::symbol(value)));
        if let ValueDef::Param(block, number) = func.values[value].def {
            if block != self.shape.header {
                return symbol(self);
            }
            let number = number as usize;
            let step = self.shape.growth(func, number)?;
            let first = self.of(self.shape.entry_args[number], depth - 1)?;
            let counts = self.counts.clone();
            return self.plus(&first, &self.digits(&counts, 0, &Poly::constant(step))?, 1);
        }
        let inst = func.def_inst(value)?;
        let op = func.insts[inst].op.clone();
        self.operation(&op, value, depth - 1).or_else(|| symbol(self))
    }

    fn operation(&mut self, op: &Op, value: Value, depth: u32) -> Option<Sum> {
        let func = self.func;
        match *op {
            Op::Const(..) => {
                let bits = func.splat_constant(value)?;
                Some(self.fixed(Poly::constant(bits as u32 as i32)))
            }
            Op::Unary(UnaryOp::Ineg, a) => {
                let a = self.of(a, depth)?;
                self.plus(&self.fixed(Poly::default()), &a, -1)
            }
            Op::Binary(BinaryOp::Iadd, a, b) => {
                let (a, b) = (self.of(a, depth)?, self.of(b, depth)?);
                self.plus(&a, &b, 1)
            }
            Op::Binary(BinaryOp::Isub, a, b) => {
                let (a, b) = (self.of(a, depth)?, self.of(b, depth)?);
                self.plus(&a, &b, -1)
            }
            Op::Binary(BinaryOp::Imul, a, b) => {
                let (a, b) = (self.of(a, depth)?, self.of(b, depth)?);
                self.times(&a, &b)
            }
            Op::Binary(BinaryOp::Shl, a, b) => {
                let amount = func.splat_constant(b).filter(|&amount| amount < 32)?;
                let (a, by) = (self.of(a, depth)?, Poly::constant(1i32 << amount));
                self.times(&a, &self.fixed(by))
            }
            // A frontend may keep subscripts from wrapping in that way.
            Op::Binary(op @ (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin), a, b)
                if func.ty(value) == Type::I32 =>
            {
                let bound = func.splat_constant(b)? as u32 as i32;
                let of = self.of(a, depth)?;
                let (least, most) = reach(&of)?;
                let bound = i64::from(bound);
                let keeps = match op {
                    BinaryOp::Smin => most <= bound,
                    BinaryOp::Smax => least >= bound,
                    _ => least >= 0 && (bound < 0 || most <= bound),
                };
                keeps.then_some(of)
            }
            Op::Binary(op @ (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin), a, b)
                if func.ty(value) == Type::I64 =>
            {
                let (least, most) = bounds(op, func.splat_constant(b)? as i64)?;
                self.is_exact(a, depth).then_some(())?;
                let of = self.of(a, depth)?;
                self.limit(&of, least, most)?;
                Some(of)
            }
            Op::Convert(ConvertOp::Truncate, a, Type::I32) => self.of(a, depth),
            Op::Convert(ConvertOp::SignExtend | ConvertOp::ZeroExtend, a, Type::I64)
                if func.ty(a).scalar == Scalar::I32 =>
            {
                self.of(a, depth)
            }
            Op::Intrinsic(ref call) if call.name == DIGIT => {
                let below = *call.imms.first()? as usize;
                let count = call.args.len() - 1 - below;
                let counts = self.counts.get(below..below + count)?.to_vec();
                self.digits(&counts, below, &Poly::constant(1))
            }
            _ => None,
        }
    }

    /// Whether a value of 64 bits is a sum of what the loop does not change, of what its loops count, and of
    /// words that are exact: notes what these hold under.
    fn is_exact(&mut self, value: Value, depth: u32) -> bool {
        let func = self.func;
        if depth == 0 {
            return false;
        }
        let is_fixed = !self.shape.defines(func, value);
        let Some(op) = func.def_op(value) else {
            return is_fixed || self.counts(value, depth);
        };
        match *op {
            Op::Const(..) => evolution::is_word(func, value),
            Op::Unary(UnaryOp::Ineg, a) => self.is_exact(a, depth - 1),
            Op::Binary(BinaryOp::Iadd | BinaryOp::Isub | BinaryOp::Imul, a, b) => {
                self.is_exact(a, depth - 1) && self.is_exact(b, depth - 1)
            }
            Op::Binary(BinaryOp::Shl, a, b) => {
                func.splat_constant(b).is_some() && self.is_exact(a, depth - 1)
            }
            Op::Convert(extend @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), a, _)
                if func.ty(a) == Type::I32 =>
            {
                if a == self.iteration || called(func, a, DIGIT).is_some() {
                    return true;
                }
                let least = if extend == ConvertOp::SignExtend { i32::MIN } else { 0 };
                let of = self.of(a, depth - 1);
                of.and_then(|of| self.limit(&of, least, i32::MAX)).is_some()
            }
            _ => is_fixed,
        }
    }

    /// Whether a value grows by a constant from what is exact on.
    fn counts(&mut self, value: Value, depth: u32) -> bool {
        let ValueDef::Param(block, number) = self.func.values[value].def else { return false };
        block == self.shape.header
            && self.of(value, depth).is_some()
            && self.is_exact(self.shape.entry_args[number as usize], depth - 1)
    }

    fn limit(&mut self, of: &Sum, least: i32, most: i32) -> Option<()> {
        [&of.start]
            .into_iter()
            .chain(&of.strides)
            .try_for_each(|poly| poly.symbols().map(|_| ()))?;
        let limit = Limit { of: of.clone(), least, most };
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
        Some(())
    }

    /// What some loops count together, times a factor.
    fn digits(&self, counts: &[Poly], below: usize, factor: &Poly) -> Option<Sum> {
        let mut sum = self.fixed(Poly::default());
        let mut each = factor.clone();
        for (number, count) in counts.iter().enumerate() {
            sum.strides[below + number] = each.clone();
            if number + 1 < counts.len() {
                each = each.times(count)?;
            }
        }
        Some(sum)
    }

    fn plus(&self, a: &Sum, b: &Sum, factor: i32) -> Option<Sum> {
        let strides = a.strides.iter().zip(&b.strides);
        Some(Sum {
            start: a.start.plus(&b.start, factor),
            strides: strides.map(|(a, b)| a.plus(b, factor)).collect(),
        })
    }

    fn times(&self, a: &Sum, b: &Sum) -> Option<Sum> {
        let is_fixed = |sum: &Sum| sum.strides.iter().all(|s| s.as_constant() == Some(0));
        let (moving, by) = match (is_fixed(a), is_fixed(b)) {
            (_, true) => (a, &b.start),
            (true, false) => (b, &a.start),
            _ => return None,
        };
        let strides = moving.strides.iter().map(|stride| stride.times(by));
        Some(Sum { start: moving.start.times(by)?, strides: strides.collect::<Option<_>>()? })
    }

    /// The least stride where sums lead through all elements, as of [`Walk::lead`].
    fn lead(&self, sum: &Sum) -> Option<i32> {
        let mut lead = None;
        let mut next: Option<Poly> = None;
        for (stride, count) in sum.strides.iter().zip(&self.counts) {
            if stride.as_constant() == Some(0) {
                continue;
            }
            match &next {
                None => lead = Some(stride.as_constant().filter(|&stride| stride > 0)?),
                Some(next) if next != stride => return None,
                Some(_) => {}
            }
            next = Some(stride.times(count)?);
        }
        lead.filter(|_| sum.strides.last().is_some_and(|last| last.as_constant() != Some(0)))
    }

    /// Whether sums come back to a word only after as many iterations as the innermost loop has: from one
    /// of its runs to the next they begin with the same word, or behind all of them.
    fn is_apart(&self, sum: &Sum) -> bool {
        let (Some(first), Some(count)) = (sum.strides.first(), self.counts.first()) else {
            return false;
        };
        let Some(all) = first.times(count).filter(|_| first.as_constant().is_some_and(|s| s != 0))
        else {
            return false;
        };
        let mut ended = Poly::default();
        sum.strides.iter().zip(&self.counts).skip(1).all(|(stride, count)| {
            let moved = stride.plus(&ended, -1);
            let last = count.plus(&Poly::constant(1), -1);
            let Some(way) = stride.times(&last) else { return false };
            ended = ended.plus(&way, 1);
            moved == Poly::default() || moved == all || moved == Poly::default().plus(&all, -1)
        })
    }

    /// What is added where each loop goes on and all inside it begin again.
    fn turns(&self, sum: &Sum) -> Option<Vec<Poly>> {
        let mut ended = Poly::default();
        let mut turns = Vec::new();
        for (stride, count) in sum.strides.iter().zip(&self.counts) {
            turns.push(stride.plus(&ended, -1));
            let last = count.plus(&Poly::constant(1), -1);
            ended = ended.plus(&stride.times(&last)?, 1);
        }
        Some(turns)
    }
}

/// The least and the greatest that a sum may be, where all is constant but how often loops run: less than
/// [`MAX_ITERATIONS`] times.
fn reach(sum: &Sum) -> Option<(i64, i64)> {
    let start = i64::from(sum.start.as_constant()?);
    let mut ends = (start, start);
    for stride in &sum.strides {
        let way = i64::from(stride.as_constant()?) * MAX_ITERATIONS as i64;
        ends = (ends.0 + way.min(0), ends.1 + way.max(0));
    }
    Some(ends)
}

/// Lets an array run a loop only where sums stay within limits: each of their values, which have 25 bits
/// then, and each of their polynomials, which are words.
fn require(b: &mut Builder<'_>, header: Block, counts: &[Value], limits: &[Limit]) {
    let constant = |b: &mut Builder<'_>, value: i64| b.constant(Type::I64, value as u64);
    let mut conditions = Vec::new();
    let mut small = BTreeSet::new();
    for Limit { of, least, most } in limits {
        let polys = || [&of.start].into_iter().chain(&of.strides);
        for symbol in polys().filter_map(Poly::symbols).flatten() {
            if small.insert(symbol) {
                let (value, half) = (long(b, symbol), constant(b, MAX_ITERATIONS as i64));
                let (above, all) = (b.iadd(value, half), constant(b, 2 * MAX_ITERATIONS as i64));
                conditions.push(b.value(Op::Icmp(IntCond::Ult, above, all)));
            }
        }
        for poly in polys().filter(|poly| poly.as_constant().is_none()) {
            let value = poly.make_long(b);
            conditions.push(is_word(b, value));
        }
        let start = of.start.make_long(b);
        let (mut low, mut high) = (start, start);
        let zero = constant(b, 0);
        for (&count, stride) in counts.iter().zip(&of.strides) {
            if stride.as_constant() == Some(0) {
                continue;
            }
            let last = b.iadd_imm(count, -1);
            let (last, by) = (long(b, last), stride.make_long(b));
            let way = b.imul(by, last);
            let falls = b.value(Op::Icmp(IntCond::Slt, way, zero));
            let (down, up) =
                (b.value(Op::Select(falls, way, zero)), b.value(Op::Select(falls, zero, way)));
            (low, high) = (b.iadd(low, down), b.iadd(high, up));
        }
        let (least, most) = (constant(b, (*least).into()), constant(b, (*most).into()));
        conditions.push(b.value(Op::Icmp(IntCond::Sge, low, least)));
        conditions.push(b.value(Op::Icmp(IntCond::Sle, high, most)));
    }
    let all = conditions.into_iter().reduce(|all, more| b.binary(BinaryOp::And, all, more));
    let args = all.into_iter().collect();
    let (mems, imms, effect) = (vec![], vec![tag(header)], Effect::Write);
    b.op(Op::Intrinsic(IntrinsicCall { name: REQUIRED, effect, args, mems, imms, result: None }));
}

/// Makes walks of the subscripts of a loop that was made of several, and of what those count; `counts` say how
/// often they run, `marks` belong to [`Walk::marks`], `is_parallel` says whether iterations of the outermost
/// one do not look at each other. Nothing where something is no walk.
pub fn settle(
    func: &mut Function,
    header: Block,
    (counts, marks): (&[Value], &[Value]),
    is_parallel: bool,
) -> Option<()> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let shape = Shape::new(func, &cfg, &forest, forest.headed_by(header)?).ok()?;
    let iteration = func.blocks[header].loop_info.as_ref()?.counter?.value;
    let insts: Vec<(Block, Inst)> = shape
        .blocks
        .iter()
        .flat_map(|&block| func.blocks[block].insts.iter().map(move |&inst| (block, inst)))
        .collect();
    let mut wanted: Vec<Value> = Vec::new();
    for &(_, inst) in &insts {
        match &func.insts[inst].op {
            Op::Load(_, _, subscripts) | Op::Store(_, subscripts, _) => wanted.extend(subscripts),
            Op::Intrinsic(call) if call.name == DIGIT => wanted.extend(func.result(inst)),
            _ => {}
        }
    }
    wanted.retain(|&value| {
        shape.defines(func, value) && value != iteration && func.ty(value) == Type::I32
    });
    wanted.sort();
    wanted.dedup();
    let (counted, known, limits) = Default::default();
    let mut sums = Sums { func, shape: &shape, iteration, counts: counted, known, limits };
    for &count in counts {
        let of = sums.of(count, MAX_FOLLOWED)?.start;
        sums.counts.push(of);
        sums.known.clear();
    }
    sums.limits.clear();
    let found: Vec<Found> = wanted
        .iter()
        .filter_map(|&value| {
            let sum = sums.of(value, MAX_FOLLOWED)?;
            let turns = sums.turns(&sum)?;
            let (lead, is_apart) = (sums.lead(&sum).unwrap_or(0), sums.is_apart(&sum));
            Some(Found { value, sum, turns, lead, is_apart })
        })
        .collect();

    let limits = sums.limits;
    if !limits.is_empty() {
        let mut b = Builder::at(func, shape.preheader);
        b.set_span(shape.span);
        require(&mut b, header, counts, &limits);
    }
    if is_parallel && let Some((&rows, inside)) = counts.split_last() {
        let mut b = Builder::at(func, shape.preheader);
        b.set_span(shape.span);
        let period = inside.iter().copied().reduce(|all, count| b.imul(all, count));
        let (args, mems, imms) =
            ([rows].into_iter().chain(period).collect(), vec![], vec![tag(header)]);
        let effect = Effect::Write;
        b.op(Op::Intrinsic(IntrinsicCall { name: BANDS, effect, args, mems, imms, result: None }));
    }
    let mut made: BTreeMap<Poly, Value> = BTreeMap::new();
    let mut names = Replacements::new();
    for Found { value, sum, turns, lead, is_apart } in found {
        let mut b = Builder::at(func, shape.preheader);
        b.set_span(shape.span);
        let (start, constant) = sum.start.split_constant();
        let mut word = |b: &mut Builder<'_>, poly: &Poly| {
            *made.entry(poly.clone()).or_insert_with(|| poly.make(b))
        };
        let start = word(&mut b, &start);
        let walk = Walk {
            start,
            counts: counts.to_vec(),
            strides: sum.strides.iter().map(|stride| word(&mut b, stride)).collect(),
            turns: turns.iter().map(|turn| word(&mut b, turn)).collect(),
            marks: marks.to_vec(),
            unit: 1 << sum.strides.iter().map(Poly::zeros).min().unwrap_or(0).min(MOST_ZEROS),
            lead,
            is_apart,
        };
        let mut b = Builder::at(func, header);
        b.set_span(shape.span);
        let at = b.func.blocks[header].insts.len();
        let new = match turns.iter().all(|turn| *turn == turns[0]) {
            true => {
                let way = b.imul(iteration, walk.turns[0]);
                let sum = b.iadd(way, start);
                b.iadd_imm(sum, constant)
            }
            false => walk.make(&mut b, iteration, constant),
        };
        // In front of all that reads it.
        let made = func.blocks[header].insts.split_off(at);
        func.blocks[header].insts.splice(0..0, made);
        names.replace(value, new);
    }
    names.apply(func);
    dce::run(func);

    // Where loops begin and end.
    for &block in &shape.blocks {
        for inst in func.blocks[block].insts.clone() {
            let Op::Intrinsic(call) = &mut func.insts[inst].op else { continue };
            match call.name {
                FIRST | LAST => {
                    let level = call.args.len() - 1;
                    call.args.truncate(1);
                    call.args.push(*marks.get(level.checked_sub(1)?)?);
                }
                DIGIT => return None,
                _ => {}
            }
        }
    }
    Some(())
}
