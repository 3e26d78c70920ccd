//! Coordinates that are made of floats, as `cast<int>(floor(x * 0.5f))`, in integers.
//!
//! What depends on nothing but one loop counter is evaluated, as the interpreter does it, at each point that
//! the counter comes to. Where the integers that come of it are a quotient of that counter
//! ([`crate::Quotient`]), the quotient takes their place, so that whoever looks at coordinates finds a form.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_base::Span;

use crate::bounds::{AffineVar, Bounds, Interval};
use crate::evaluate::word_of;
use crate::{
    BinaryOp, ElementType, Expr, ExprKind, Func, Literal, Pipeline, Quotient, Simplifier, Walker,
};

/// No coordinate is evaluated at more points: images are hardly ever wider.
const MOST_POINTS: u32 = 1 << 15;
/// No larger expression is evaluated.
const MOST_EXPRS: usize = 64;
/// All coordinates of a pipeline take no more operations.
const MOST_OPERATIONS: u64 = 1 << 24;

/// A Func with coordinates that are quotients now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinates {
    /// The Func.
    pub func: Func,
    /// How many there were.
    pub count: usize,
}

/// A copy of a pipeline in which coordinates that are made of floats are made of integers, wherever those are
/// the same at all points that `bounds` says are computed.
pub fn integer_coordinates(pipeline: &Pipeline, bounds: &Bounds) -> (Pipeline, Vec<Coordinates>) {
    let mut result = pipeline.clone();
    let mut simplifier = Simplifier::default();
    let mut room = MOST_OPERATIONS;
    let mut done = Vec::new();
    for func in pipeline.funcs.keys() {
        let intervals = intervals(pipeline, bounds, func);
        let roots: Vec<Expr> = evaluated(pipeline, func).collect();
        let order = Walker::once(pipeline, roots);
        let decided = deciding_variables(pipeline, &order);
        let mut found = BTreeMap::new();
        for &expr in &order {
            let Some(var) = coordinate_of(pipeline, &decided, expr) else { continue };
            let interval = match var {
                None => Some(Interval::new(0, 0)),
                Some(var) => intervals.get(&var).copied(),
            };
            let Some(interval) = interval else { continue };
            let Some(values) = tabulate(pipeline, expr, interval, &mut room) else { continue };
            if let Some(quotient) = Quotient::of(interval.min.into(), &values) {
                found.insert(expr, (var, quotient));
            }
        }
        if found.is_empty() {
            continue;
        }
        let mut new: BTreeMap<Expr, Expr> = BTreeMap::new();
        for expr in order {
            let data = pipeline.exprs[expr].clone();
            let changed = match found.get(&expr) {
                Some(&of) => write(&mut result, &mut simplifier, of, data.span),
                None => match data.kind.map_operands(|operand| new[&operand]) {
                    same if same == data.kind => expr,
                    kind => simplifier.make(&mut result, kind, data.ty, data.span),
                },
            };
            new.insert(expr, changed);
        }
        let data = &mut result.funcs[func];
        let pure = data.pure.iter_mut().flat_map(|pure| &mut pure.values);
        let updates = data.updates.iter_mut().flat_map(|u| u.args.iter_mut().chain(&mut u.values));
        pure.chain(updates).for_each(|e| *e = new[e]);
        done.push(Coordinates { func, count: found.len() });
    }
    (result, done)
}

/// What the stages of a Func evaluate, without the conditions of domains, which other Funcs may share.
fn evaluated(pipeline: &Pipeline, func: Func) -> impl Iterator<Item = Expr> + '_ {
    let data = &pipeline.funcs[func];
    let pure = data.pure.iter().flat_map(|pure| pure.values.iter());
    let updates = data.updates.iter().flat_map(|update| update.args.iter().chain(&update.values));
    pure.chain(updates).copied()
}

/// Where the loop counters of a Func's stages lie.
fn intervals(pipeline: &Pipeline, bounds: &Bounds, func: Func) -> BTreeMap<AffineVar, Interval> {
    let mut all: BTreeMap<AffineVar, Interval> = BTreeMap::new();
    let Some(of) = &bounds.funcs[func] else { return all };
    let mut widen = |var: AffineVar, by: Interval| {
        let known = all.entry(var).or_insert(by);
        *known = known.union(by);
    };
    for (number, loops) in of.stages.iter().enumerate() {
        let Some(loops) = loops else { continue };
        for (n, &interval) in (0..).zip(&loops.dims) {
            widen(AffineVar::Dim(n), interval);
        }
        let update = number.checked_sub(1).map(|k| &pipeline.funcs[func].updates[k]);
        let Some(rdom) = update.and_then(|update| update.rdom) else { continue };
        for (n, &interval) in (0..).zip(&loops.rvars) {
            widen(AffineVar::RVar(rdom, n), interval);
        }
    }
    all
}

/// What decides on a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Decides {
    /// Constants.
    #[default]
    Nothing,
    /// One loop counter.
    One(AffineVar),
    /// More.
    More,
}

impl Decides {
    fn and(self, other: Decides) -> Decides {
        match (self, other) {
            (Decides::Nothing, one) | (one, Decides::Nothing) => one,
            (one, other) if one == other => one,
            _ => Decides::More,
        }
    }
}

/// What decides on each of some expressions, operands first.
fn deciding_variables(pipeline: &Pipeline, order: &[Expr]) -> SecondaryMap<Expr, Decides> {
    let mut decided = SecondaryMap::new();
    for &expr in order {
        let kind = &pipeline.exprs[expr].kind;
        decided[expr] = match *kind {
            ExprKind::Dim(n) => Decides::One(AffineVar::Dim(n)),
            ExprKind::RVar(rdom, n) => Decides::One(AffineVar::RVar(rdom, n)),
            ExprKind::Load(..)
            | ExprKind::Call(..)
            | ExprKind::Param(_)
            | ExprKind::InputExtent(..) => Decides::More,
            _ => {
                let mut all = Decides::Nothing;
                kind.each_operand(|operand| all = all.and(decided[operand]));
                all
            }
        };
    }
    decided
}

/// The loop counter that decides on a coordinate which is made of another type, if any does; `None` where it
/// is no such coordinate.
fn coordinate_of(
    pipeline: &Pipeline,
    decided: &SecondaryMap<Expr, Decides>,
    expr: Expr,
) -> Option<Option<AffineVar>> {
    let data = &pipeline.exprs[expr];
    let ExprKind::Cast(of) = data.kind else { return None };
    if data.ty != ElementType::I32 || pipeline.ty(of) == ElementType::I32 {
        return None;
    }
    match decided[expr] {
        Decides::Nothing => Some(None),
        Decides::One(var) => Some(Some(var)),
        Decides::More => None,
    }
}

/// The values of an expression while the variable that decides on it goes over an interval; `None` where
/// finding out takes too long.
fn tabulate(
    pipeline: &Pipeline,
    expr: Expr,
    interval: Interval,
    room: &mut u64,
) -> Option<Vec<i64>> {
    let order = Walker::once(pipeline, [expr]);
    let points = interval.extent();
    if order.len() > MOST_EXPRS || points > MOST_POINTS {
        return None;
    }
    *room = room.checked_sub(u64::from(points) * order.len() as u64)?;
    let mut words = vec![0; order.len()];
    let values = (interval.min..=interval.max).map(|at| {
        for (slot, &expr) in order.iter().enumerate() {
            let of = |e: &Expr| words[order.binary_search(e).expect("operands come first")];
            words[slot] = word_of(pipeline, expr, of, |_| at as u32);
        }
        i64::from(*words.last().expect("an expression consists of itself") as i32)
    });
    Some(values.collect())
}

/// Writes a quotient of a variable.
fn write(
    pipeline: &mut Pipeline,
    simplifier: &mut Simplifier,
    (var, Quotient { a, b, d, low, high }): (Option<AffineVar>, Quotient),
    span: Span,
) -> Expr {
    let ty = ElementType::I32;
    let mut make = |kind: ExprKind| simplifier.make(pipeline, kind, ty, span);
    let Some(var) = var.filter(|_| a != 0) else {
        return make(ExprKind::Literal(Literal::Int(b)));
    };
    let variable = make(match var {
        AffineVar::Dim(n) => ExprKind::Dim(n),
        AffineVar::RVar(rdom, n) => ExprKind::RVar(rdom, n),
    });
    let mut with = |op: BinaryOp, e: Expr, number: i64| {
        let number = make(ExprKind::Literal(Literal::Int(number)));
        make(ExprKind::Binary(op, e, number))
    };
    let product = with(BinaryOp::Mul, variable, a);
    let sum = match b < 0 {
        true => with(BinaryOp::Sub, product, -b),
        false => with(BinaryOp::Add, product, b),
    };
    let quotient = with(BinaryOp::Div, sum, d);
    let most = high.map_or(quotient, |high| with(BinaryOp::Min, quotient, high));
    low.map_or(most, |low| with(BinaryOp::Max, most, low))
}
