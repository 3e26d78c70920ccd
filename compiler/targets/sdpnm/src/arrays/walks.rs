//! What the loops of a nest count, as walks: sums that an array makes with an adder and a choice.

use std::collections::BTreeMap;

use nbcc_analysis::LoopForest;
use nbcc_ir::{
    BinaryOp, Block, Builder, Cfg, ConvertOp, Dominators, Function, Inst, Op, Replacements, Scalar,
    Type, UnaryOp, Value, ValueDef,
};
use nbcc_opt::dce;

use super::poly::Poly;
use super::shape::Shape;
use super::turns::{DIGIT, FIRST, LAST, Walk};
use super::version::MOST;

/// Low bits of strides that are looked at.
const MOST_ZEROS: u32 = 16;

/// How deep operands are followed.
const DEPTH: u32 = 24;

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
/// [`MOST`] times.
fn reach(sum: &Sum) -> Option<(i64, i64)> {
    let start = i64::from(sum.start.as_constant()?);
    let mut ends = (start, start);
    for stride in &sum.strides {
        let way = i64::from(stride.as_constant()?) * MOST as i64;
        ends = (ends.0 + way.min(0), ends.1 + way.max(0));
    }
    Some(ends)
}

/// Makes walks of the subscripts of a loop that was made of several, and of what those count; `counts` say how
/// often they run, `marks` belong to [`Walk::marks`]. Nothing where something is no walk.
pub fn settle(func: &mut Function, header: Block, counts: &[Value], marks: &[Value]) -> Option<()> {
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
    let mut sums = Sums { func, shape: &shape, iteration, counts: vec![], known: BTreeMap::new() };
    for &count in counts {
        let of = sums.of(count, DEPTH)?.start;
        sums.counts.push(of);
        sums.known.clear();
    }
    let found: Vec<(Value, Sum, Vec<Poly>)> = wanted
        .iter()
        .filter_map(|&value| {
            let sum = sums.of(value, DEPTH)?;
            let turns = sums.turns(&sum)?;
            Some((value, sum, turns))
        })
        .collect();

    let mut made: BTreeMap<Poly, Value> = BTreeMap::new();
    let mut names = Replacements::new();
    for (value, sum, turns) in found {
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
