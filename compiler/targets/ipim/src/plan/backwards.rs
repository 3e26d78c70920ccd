//! Images that all stages read backwards, as a mirrored or turned picture is, are laid out from their last
//! element on, so that what a tile reads lies in its own bank: inputs by the host, Funcs by computing them
//! that way.
//!
//! Coordinates of such an image are counted from its end in a plan: `last - e` stands for each coordinate
//! `e`, with the subtraction drawn in to where `e` subtracts itself. For `in(w - 1 - x, y)` that is `x`.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_stages::bounds::{Bounds, Extents, Interval};
use nbcc_stages::{
    BinaryOp, ElementType, Expr, ExprKind, Func, Input, Literal, Pipeline, Simplifier,
};

use super::access::{Source, accesses};
use super::order;

/// No coordinate is turned that may come to this size on its way, so that none overflows.
const MAX_COORDINATE: i64 = 1 << 28;
/// No variable of a turned coordinate exceeds this size.
const MOST_VAR: i64 = 1 << 24;
/// No coordinate of more operations is turned, one that is used twice counted twice.
const MOST_OPERATIONS: usize = 64;

/// Turns images around that are read backwards along x or y, what reads others before these; says of
/// inputs which.
pub(super) fn turn(
    pipeline: &mut Pipeline,
    extents: &Extents,
    bounds: &mut Bounds,
    needed: &[Func],
) -> SecondaryMap<Input, [bool; 2]> {
    let mut all = SecondaryMap::new();
    let mut turned = BTreeSet::new();
    loop {
        let found = backwards(pipeline, bounds, needed);
        let mut funcs = needed.iter().rev().filter(|func| !turned.contains(*func));
        let next = funcs.find_map(|&func| {
            let ways = *found.get(&Source::Func(func))?;
            let turns = turnable(pipeline, func, ways);
            (turns != [false; 2]).then_some((func, turns))
        });
        let Some((func, which)) = next else {
            let inputs = found.iter().filter_map(|(source, which)| match source {
                Source::Input(input) => Some((*input, *which)),
                Source::Func(_) => None,
            });
            for (input, which) in inputs {
                turn_input(pipeline, extents, bounds, needed, (input, which));
                all[input] = which;
            }
            return all;
        };
        turned.insert(func);
        turn_func(pipeline, bounds, needed, (func, which));
    }
}

/// Along which of x and y a Func can be computed backwards: where every point keeps to itself.
fn turnable(pipeline: &Pipeline, func: Func, which: [bool; 2]) -> [bool; 2] {
    let data = &pipeline.funcs[func];
    let has_conditions = |rdom| !pipeline.rdoms[rdom].predicates.is_empty();
    if pipeline.outputs.contains(&func)
        || data.updates.iter().filter_map(|update| update.rdom).any(has_conditions)
    {
        return [false; 2];
    }
    let free = order::free(pipeline, func);
    [0, 1].map(|k| which[k] && free.get(k) == Some(&true))
}

fn turn_func(
    pipeline: &mut Pipeline,
    bounds: &mut Bounds,
    needed: &[Func],
    (func, which): (Func, [bool; 2]),
) {
    let of = bounds.funcs[func].as_mut().expect("it is needed");
    // Its region stays where it is.
    let ends = |interval: &Interval| i64::from(interval.min) + i64::from(interval.max);
    let sums: Vec<i64> = of.region.iter().take(2).map(ends).collect();
    for loops in of.stages.iter_mut().flatten() {
        for (k, dim) in loops.dims.iter_mut().enumerate().take(2).filter(|(k, _)| which[*k]) {
            let sum = sums[k] as i32;
            *dim = Interval::new(sum - dim.max, sum - dim.min);
        }
    }
    let mut simplifier = Simplifier::default();
    let roots = pipeline.func_roots(func);
    let new = pipeline.rewritten(roots, |pipeline, _, kind, span| match kind {
        ExprKind::Dim(d) if which.get(d as usize) == Some(&true) => {
            let sum = ExprKind::Literal(Literal::Int(sums[d as usize]));
            let [sum, dim] = [sum, kind].map(|kind| pipeline.expr(kind, ElementType::I32, span));
            ExprKind::Binary(BinaryOp::Sub, sum, dim)
        }
        kind => kind,
    });
    let rename = |e: &mut Expr| *e = new[e];
    let data = &mut pipeline.funcs[func];
    data.pure.iter_mut().flat_map(|pure| &mut pure.values).for_each(rename);
    let updates = data.updates.iter_mut();
    updates.flat_map(|u| u.args.iter_mut().chain(&mut u.values)).for_each(rename);
    for update in 0..pipeline.funcs[func].updates.len() {
        for k in (0..2).filter(|&k| which[k]) {
            let arg = pipeline.funcs[func].updates[update].args[k];
            let mut turning = Turning { pipeline, simplifier: &mut simplifier };
            let arg = turning.from(sums[k], arg);
            pipeline.funcs[func].updates[update].args[k] = arg;
        }
    }
    pipeline.rewrite(needed, |pipeline, _, kind, _| match kind {
        ExprKind::Call(callee, value, mut args) if callee == func => {
            for k in (0..2).filter(|&k| which[k]) {
                let mut turning = Turning { pipeline, simplifier: &mut simplifier };
                args[k] = turning.from(sums[k], args[k]);
            }
            ExprKind::Call(callee, value, args)
        }
        kind => kind,
    });
}

fn turn_input(
    pipeline: &mut Pipeline,
    extents: &Extents,
    bounds: &mut Bounds,
    needed: &[Func],
    (input, which): (Input, [bool; 2]),
) {
    let last: Vec<i64> =
        extents.inputs[input].iter().map(|&extent| i64::from(extent) - 1).collect();
    let mut simplifier = Simplifier::default();
    pipeline.rewrite(needed, |pipeline, _, kind, _| match kind {
        ExprKind::Load(of, mut args) if of == input => {
            for k in (0..2).filter(|&k| which[k]) {
                let mut turning = Turning { pipeline, simplifier: &mut simplifier };
                args[k] = turning.from(last[k], args[k]);
            }
            ExprKind::Load(of, args)
        }
        kind => kind,
    });
    let read = bounds.inputs[input].iter_mut().flatten();
    for (k, read) in read.enumerate().take(2).filter(|(k, _)| which[*k]) {
        let last = last[k] as i32;
        *read = Interval::new(last - read.max, last - read.min);
    }
}

/// The images all of whose accesses by others run backwards along x or y, or keep still.
fn backwards(pipeline: &Pipeline, bounds: &Bounds, needed: &[Func]) -> BTreeMap<Source, [bool; 2]> {
    // The ways in which accesses run along x and y; none where one has no way, or runs forwards.
    let mut ways: BTreeMap<Source, [Option<Way>; 2]> = BTreeMap::new();
    for &func in needed {
        for (number, stage) in order::stages(pipeline, func).enumerate() {
            let loops = bounds.funcs[func].as_ref().and_then(|of| of.stages[number].as_ref());
            let Some(loops) = loops else { continue };
            let is_small = |interval: &Interval| {
                [interval.min, interval.max].iter().all(|&end| i64::from(end).abs() <= MOST_VAR)
            };
            let fits = loops.dims.iter().chain(&loops.rvars).all(is_small);
            let all = accesses(pipeline, func, stage).into_iter();
            for access in all.filter(|access| access.source != Source::Func(func)) {
                let known = ways.entry(access.source).or_insert([Some(Way::Still); 2]);
                for (known, &arg) in known.iter_mut().zip(&access.args) {
                    let way = walk(pipeline, arg).filter(|_| fits).map(|walked| walked.way);
                    *known = known.zip(way).and_then(|(known, way)| known.with(way));
                }
            }
        }
    }
    let which = ways
        .into_iter()
        .map(|(source, ways)| (source, ways.map(|way| way == Some(Way::Backwards))));
    which.filter(|(_, which)| *which != [false; 2]).collect()
}

/// How a coordinate changes along the dimensions of the Func that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Still,
    Forwards,
    Backwards,
}

impl Way {
    /// Both ways at once; none where they differ.
    fn with(self, other: Way) -> Option<Way> {
        match (self, other) {
            (Way::Still, way) | (way, Way::Still) => Some(way),
            _ => (self == other).then_some(self),
        }
    }

    fn negated(self) -> Way {
        match self {
            Way::Still => Way::Still,
            Way::Forwards => Way::Backwards,
            Way::Backwards => Way::Forwards,
        }
    }
}

/// A coordinate: its way, and the most that it comes to in size.
struct Walked {
    way: Way,
    most: i64,
}

/// Looks at a coordinate; `None` where it is not made of variables and numbers by sums, products with
/// numbers and limits, of few of these, or may become too large to be turned.
fn walk(pipeline: &Pipeline, expr: Expr) -> Option<Walked> {
    let mut left = MOST_OPERATIONS;
    walk_within(pipeline, expr, &mut left)
}

fn walk_within(pipeline: &Pipeline, expr: Expr, left: &mut usize) -> Option<Walked> {
    *left = left.checked_sub(1)?;
    let walked = match pipeline.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Walked { way: Way::Still, most: value.abs() },
        ExprKind::Dim(_) => Walked { way: Way::Forwards, most: MOST_VAR },
        ExprKind::RVar(..) => Walked { way: Way::Still, most: MOST_VAR },
        ExprKind::Binary(op, a, b) => {
            let factor = pipeline.integer(a).or(pipeline.integer(b));
            let (a, b) = (walk_within(pipeline, a, left)?, walk_within(pipeline, b, left)?);
            match op {
                BinaryOp::Add => Walked { way: a.way.with(b.way)?, most: a.most + b.most },
                BinaryOp::Sub => {
                    Walked { way: a.way.with(b.way.negated())?, most: a.most + b.most }
                }
                BinaryOp::Min | BinaryOp::Max => {
                    Walked { way: a.way.with(b.way)?, most: a.most.max(b.most) }
                }
                BinaryOp::Mul => {
                    let way = a.way.with(b.way)?;
                    let way = if factor? < 0 { way.negated() } else { way };
                    Walked { way, most: a.most.checked_mul(b.most)? }
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    (walked.most <= MAX_COORDINATE).then_some(walked)
}

/// Makes expressions of a pipeline.
struct Turning<'a> {
    pipeline: &'a mut Pipeline,
    simplifier: &'a mut Simplifier,
}

impl Turning<'_> {
    /// `number - expr` of a coordinate that [`walk`] understands.
    fn from(&mut self, number: i64, expr: Expr) -> Expr {
        let ExprKind::Binary(op, a, b) = self.pipeline.exprs[expr].kind else {
            let number = self.integer(number, expr);
            return self.binary(BinaryOp::Sub, number, expr);
        };
        let [left, right] = [a, b].map(|operand| self.pipeline.integer(operand));
        let is_backwards = |turning: &Self, e| {
            walk(turning.pipeline, e).is_some_and(|walked| walked.way == Way::Backwards)
        };
        match (op, left, right) {
            (BinaryOp::Add, Some(left), _) => self.from(number - left, b),
            (BinaryOp::Add, _, Some(right)) => self.from(number - right, a),
            (BinaryOp::Add, ..) => {
                let (turns, stays) = if is_backwards(self, b) { (b, a) } else { (a, b) };
                let turned = self.from(number, turns);
                self.binary(BinaryOp::Sub, turned, stays)
            }
            (BinaryOp::Sub, _, Some(right)) => self.from(number + right, a),
            (BinaryOp::Sub, Some(left), _) => {
                let rest = self.integer(number - left, expr);
                self.binary(BinaryOp::Add, b, rest)
            }
            (BinaryOp::Sub, ..) => {
                let turned = self.from(number, a);
                self.binary(BinaryOp::Add, turned, b)
            }
            (BinaryOp::Mul, ..) => {
                let (factor, other) = left.map_or((right, a), |left| (Some(left), b));
                let factor = self.integer(-factor.expect("a number"), expr);
                let product = self.binary(BinaryOp::Mul, other, factor);
                let number = self.integer(number, expr);
                self.binary(BinaryOp::Add, product, number)
            }
            (BinaryOp::Min, ..) | (BinaryOp::Max, ..) => {
                let op = if op == BinaryOp::Min { BinaryOp::Max } else { BinaryOp::Min };
                let (a, b) = (self.from(number, a), self.from(number, b));
                self.binary(op, a, b)
            }
            _ => unreachable!("a coordinate of sums, products with numbers and limits"),
        }
    }

    fn integer(&mut self, value: i64, like: Expr) -> Expr {
        let span = self.pipeline.exprs[like].span;
        let kind = ExprKind::Literal(Literal::Int(value));
        self.simplifier.make(self.pipeline, kind, ElementType::I32, span)
    }

    fn binary(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let span = self.pipeline.exprs[a].span;
        self.simplifier.make(self.pipeline, ExprKind::Binary(op, a, b), ElementType::I32, span)
    }
}
