//! Ranges of expressions over intervals of their variables.
//!
//! Interval arithmetic over the expression DAG in arena order, each node once. Beside its range an
//! `I32` node carries its linear form ([`super::forms`]), whose range is exact where the same
//! variable occurs several times. Values of Funcs are evaluated over the region of the call, as Halide's
//! `compute_function_value_bounds` does symbolically, within a budget; beyond it, over everything.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cranelift_entity::{EntityRef, SecondaryMap};

use crate::scalar::literal_word;
use crate::{
    BinaryOp, CompareOp, ElementType, Expr, ExprKind, Func, Input, Param, Pipeline, UnaryOp, Walker,
};

use super::affine::AffineVar;
use super::env::Env;
use super::forms::{Form, Term};
use super::interval::{self, Interval, Range, Region};
use super::narrow::narrow;
use super::values::Values;

/// The words of scalar parameters, where they are known.
pub type ParamValues = SecondaryMap<Param, Option<u32>>;

/// The defaults of a pipeline's scalar parameters.
pub fn default_params(pipeline: &Pipeline) -> ParamValues {
    let mut values = ParamValues::new();
    for (param, data) in &pipeline.params {
        values[param] = data.default.map(|literal| literal_word(data.ty, literal));
    }
    values
}

/// Nodes evaluated for the values of Funcs that serve as indices, in one evaluator's life.
const BUDGET: usize = 1 << 18;

/// Calls within calls that are evaluated over the region of the call.
const MAX_DEPTH: u32 = 32;

/// Evaluates ranges in a pipeline of known extents.
pub struct Evaluator<'a> {
    pipeline: &'a Pipeline,
    extents: &'a SecondaryMap<Input, Vec<u32>>,
    params: &'a ParamValues,
    walker: Walker,
    /// The value of each Func over all coordinates, filled in order on first use.
    anywhere: Vec<Vec<Range>>,
    calls: BTreeMap<(Func, u32, Region), Range>,
    bodies: BTreeMap<(Func, u32), Vec<Expr>>,
    /// Whether each value of each Func depends on where it is, filled in order on first use.
    varies: Vec<Vec<bool>>,
    /// The first expression that is equal to each; empty where none were compared.
    numbers: Vec<Expr>,
    budget: usize,
}

impl<'a> Evaluator<'a> {
    /// An evaluator. Inputs without extents may have any.
    pub fn new(
        pipeline: &'a Pipeline,
        extents: &'a SecondaryMap<Input, Vec<u32>>,
        params: &'a ParamValues,
    ) -> Evaluator<'a> {
        Evaluator {
            pipeline,
            extents,
            params,
            walker: Walker::default(),
            anywhere: Vec::new(),
            calls: BTreeMap::new(),
            bodies: BTreeMap::new(),
            varies: Vec::new(),
            numbers: Vec::new(),
            budget: BUDGET,
        }
    }

    /// Finds equal expressions first, so that written twice they still cancel out. Worth it where
    /// much is evaluated: it takes time in the size of the arena.
    pub fn with_equal_expressions(mut self) -> Evaluator<'a> {
        let mut first: HashMap<(ExprKind, ElementType), Expr> = HashMap::new();
        for (expr, data) in &self.pipeline.exprs {
            let kind = data.kind.map_operands(|operand| self.numbers[operand.index()]);
            let number = *first.entry((kind, data.ty)).or_insert(expr);
            self.numbers.push(number);
        }
        self
    }

    /// Nodes evaluated for the values of Funcs so far.
    pub(super) fn spent(&self) -> usize {
        BUDGET - self.budget
    }

    fn number(&self, expr: Expr) -> Expr {
        self.numbers.get(expr.index()).copied().unwrap_or(expr)
    }

    /// The range of one expression.
    pub fn range(&mut self, expr: Expr, env: &Env) -> Range {
        self.ranges([expr], env).range(expr)
    }

    /// The ranges of expressions and of all they consist of.
    pub fn ranges(&mut self, roots: impl IntoIterator<Item = Expr>, env: &Env) -> Values {
        let order = self.walker.reachable(self.pipeline, roots);
        self.evaluate(order, env, 0)
    }

    fn evaluate(&mut self, order: Vec<Expr>, env: &Env, depth: u32) -> Values {
        let count = order.len();
        let mut values = Values::new(order);
        for slot in 0..count {
            let expr = values.order[slot];
            let mut range = self.node(expr, env, &values, depth);
            let mut form = None;
            if self.pipeline.ty(expr) == ElementType::I32 {
                let made = match range.single() {
                    Some(constant) => Form::constant(constant),
                    None => match linear_node(self.pipeline, expr, &mut values, env) {
                        Some(form) if form.terms.len() <= MAX_TERMS => form,
                        _ => values.opaque(self.number(expr), range),
                    },
                };
                if let Some((low, high)) = values.form_range(&made, env) {
                    let (least, greatest) = range.ints();
                    range = Range::Int(low.max(least), high.min(greatest));
                }
                form = Some(made);
            }
            values.push(range, form);
        }
        values
    }

    /// The value of a parameter, where it has one.
    pub(super) fn param(&self, param: Param) -> Option<u32> {
        self.params[param]
    }

    fn node(&mut self, expr: Expr, env: &Env, values: &Values, depth: u32) -> Range {
        let pipeline = self.pipeline;
        let data = &pipeline.exprs[expr];
        let ty = data.ty;
        let of = |e: Expr| values.range(e);
        match &data.kind {
            ExprKind::Literal(literal) => Range::point(ty, literal_word(ty, *literal)),
            ExprKind::Dim(n) => from_interval(env.interval(AffineVar::Dim(*n))),
            ExprKind::RVar(rdom, n) => from_interval(env.interval(AffineVar::RVar(*rdom, *n))),
            ExprKind::Param(param) => match self.params[*param] {
                Some(word) => Range::point(ty, word),
                None => Range::full(ty),
            },
            ExprKind::InputExtent(input, d) => match self.extents[*input].get(*d as usize) {
                Some(&extent) => Range::Int(extent.into(), extent.into()),
                None => Range::Int(0, i32::MAX.into()),
            },
            ExprKind::Load(..) => Range::full(ty),
            ExprKind::Call(func, k, args) => {
                let region = args.iter().map(|&a| to_interval(of(a))).collect();
                self.call(*func, *k, region, depth)
            }
            ExprKind::Unary(op, a) => interval::unary(*op, ty, of(*a)),
            ExprKind::Binary(op, a, b) => interval::binary(*op, ty, of(*a), of(*b)),
            ExprKind::Compare(op, a, b) => match values.difference(*a, *b, env) {
                Some(difference) => interval::compare(*op, difference, Range::Int(0, 0)),
                None => interval::compare(*op, of(*a), of(*b)),
            },
            ExprKind::Select(condition, a, b) => match of(*condition).single() {
                Some(0) => of(*b),
                Some(_) => of(*a),
                None => self.select(*condition, *a, *b, env, values),
            },
            ExprKind::Cast(a) => interval::cast(ty, pipeline.ty(*a), of(*a)),
            ExprKind::Reinterpret(a) => interval::reinterpret(ty, pipeline.ty(*a), of(*a)),
            ExprKind::Intrinsic(op, args) => {
                let args: Vec<Range> = args.iter().map(|&a| of(a)).collect();
                interval::intrinsic(*op, &args)
            }
        }
    }

    /// A selection that may go either way: as the minimum or maximum that it is, else each value
    /// where the condition lets it be chosen.
    fn select(&self, condition: Expr, a: Expr, b: Expr, env: &Env, values: &Values) -> Range {
        let pipeline = self.pipeline;
        if let ExprKind::Compare(op, p, q) = pipeline.exprs[condition].kind
            && pipeline.ty(p) == pipeline.ty(a)
        {
            let same = |x: Expr, y: Expr| {
                self.number(x) == self.number(y)
                    || values.form(x).is_some_and(|form| Some(form) == values.form(y))
            };
            let straight = same(p, a) && same(q, b);
            let crossed = same(p, b) && same(q, a);
            let least = match op {
                CompareOp::Lt | CompareOp::Le => Some(straight),
                CompareOp::Gt | CompareOp::Ge => Some(crossed),
                _ => None,
            };
            if let Some(least) = least.filter(|_| straight || crossed) {
                let op = if least { BinaryOp::Min } else { BinaryOp::Max };
                return interval::binary(op, pipeline.ty(a), values.range(a), values.range(b));
            }
        }
        let chosen = |value: Expr, holds: bool| {
            let range = values.range(value);
            let Some(form) = values.form(value) else { return Some(range) };
            let mut env = env.clone();
            narrow(pipeline, condition, holds, values, &mut env);
            if env.is_empty() {
                return None;
            }
            let (low, high) = range.ints();
            let Some((least, greatest)) = values.form_range(form, &env) else { return Some(range) };
            let (low, high) = (low.max(least), high.min(greatest));
            (low <= high).then_some(Range::Int(low, high))
        };
        match (chosen(a, true), chosen(b, false)) {
            (Some(a), Some(b)) => a.union(b),
            (one, other) => one.or(other).unwrap_or_else(|| values.range(a).union(values.range(b))),
        }
    }

    fn call(&mut self, func: Func, k: u32, region: Region, depth: u32) -> Range {
        let data = &self.pipeline.funcs[func];
        let ty = data.types[k as usize];
        let Some(pure) = data.pure.as_ref().filter(|_| data.updates.is_empty()) else {
            return Range::full(ty);
        };
        // What is the same everywhere is evaluated once, over all coordinates.
        let key = (func, k, if self.varies(func, k) { region } else { Region::new() });
        if let Some(&known) = self.calls.get(&key) {
            return known;
        }
        let value = pure.values[k as usize];
        let body = match self.bodies.get(&(func, k)) {
            Some(body) => body.clone(),
            None => {
                let body = self.walker.reachable(self.pipeline, [value]);
                self.bodies.insert((func, k), body.clone());
                body
            }
        };
        if depth >= MAX_DEPTH || body.len() > self.budget {
            return self.value_anywhere(func, k);
        }
        self.budget -= body.len();
        let range = self.evaluate(body, &Env::over(&key.2), depth + 1).range(value);
        self.calls.insert(key, range);
        range
    }

    /// Whether what is known of value `k` of a Func depends on its coordinates: they are part of
    /// the value itself, not only of indices into inputs, of whose elements nothing is known.
    fn varies(&mut self, func: Func, k: u32) -> bool {
        while self.varies.len() <= func.index() {
            let data = &self.pipeline.funcs[Func::new(self.varies.len())];
            let varies = match &data.pure {
                Some(pure) if data.updates.is_empty() => {
                    pure.values.iter().map(|&value| self.depends_on_place(value)).collect()
                }
                _ => vec![false; data.types.len()],
            };
            self.varies.push(varies);
        }
        self.varies[func.index()][k as usize]
    }

    fn depends_on_place(&self, value: Expr) -> bool {
        let mut seen = BTreeSet::from([value]);
        let mut stack = vec![value];
        while let Some(expr) = stack.pop() {
            match &self.pipeline.exprs[expr].kind {
                ExprKind::Dim(_) | ExprKind::RVar(..) => return true,
                // Callees come first and are known by now.
                ExprKind::Call(func, k, _) if self.varies[func.index()][*k as usize] => {
                    return true;
                }
                ExprKind::Call(..) | ExprKind::Load(..) => {}
                kind => kind.each_operand(|operand| {
                    if seen.insert(operand) {
                        stack.push(operand);
                    }
                }),
            }
        }
        false
    }

    fn value_anywhere(&mut self, func: Func, k: u32) -> Range {
        while self.anywhere.len() <= func.index() {
            let next = Func::new(self.anywhere.len());
            let data = &self.pipeline.funcs[next];
            let ranges = match &data.pure {
                Some(pure) if data.updates.is_empty() => {
                    let order = self.walker.reachable(self.pipeline, pure.values.iter().copied());
                    // Callees come first and are known by now, so this goes no deeper.
                    let values = self.evaluate_anywhere(order);
                    pure.values.iter().map(|&v| values.range(v)).collect()
                }
                _ => data.types.iter().map(|&ty| Range::full(ty)).collect(),
            };
            self.anywhere.push(ranges);
        }
        self.anywhere[func.index()][k as usize]
    }

    fn evaluate_anywhere(&mut self, order: Vec<Expr>) -> Values {
        let count = order.len();
        let mut values = Values::new(order);
        let env = Env::default();
        for slot in 0..count {
            let expr = values.order[slot];
            let range = match self.pipeline.exprs[expr].kind {
                ExprKind::Call(func, k, _) => self.anywhere[func.index()][k as usize],
                _ => self.node(expr, &env, &values, MAX_DEPTH),
            };
            values.push(range, None);
        }
        values
    }
}

fn from_interval(interval: Interval) -> Range {
    Range::Int(interval.min.into(), interval.max.into())
}

/// The interval of an index of range `range`.
pub(super) fn to_interval(range: Range) -> Interval {
    let (low, high) = range.ints();
    let fit = |v: i64| v.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    Interval { min: fit(low), max: fit(high) }
}

/// A form of more terms than this counts as one value.
const MAX_TERMS: usize = 12;

/// The form of an `I32` node, equal to its value modulo 2^32.
fn linear_node(pipeline: &Pipeline, expr: Expr, values: &mut Values, env: &Env) -> Option<Form> {
    let constant = |e: Expr| values.range(e).single();
    match &pipeline.exprs[expr].kind {
        ExprKind::Dim(n) => Some(Form::var(Term::Var(AffineVar::Dim(*n)))),
        ExprKind::RVar(rdom, n) => Some(Form::var(Term::Var(AffineVar::RVar(*rdom, *n)))),
        ExprKind::Unary(UnaryOp::Neg, a) => values.form(*a)?.scale(-1),
        ExprKind::Cast(a) => values.form(*a).cloned(),
        ExprKind::Binary(op, a, b) => match op {
            BinaryOp::Add => values.form(*a)?.combine(1, values.form(*b)?, 1),
            BinaryOp::Sub => values.form(*a)?.combine(1, values.form(*b)?, -1),
            BinaryOp::Mul => match (constant(*a), constant(*b)) {
                (_, Some(c)) => values.form(*a)?.scale(c),
                (Some(c), _) => values.form(*b)?.scale(c),
                _ => None,
            },
            BinaryOp::Shl => match constant(*b)? {
                amount @ 0..=30 => values.form(*a)?.scale(1 << amount),
                _ => None,
            },
            BinaryOp::Div => values.quotient(*a, constant(*b)?, env),
            BinaryOp::Shr => match constant(*b)? {
                amount @ 0..=30 => values.quotient(*a, 1 << amount, env),
                _ => None,
            },
            BinaryOp::Mod => {
                let divisor = constant(*b)?;
                let quotient = values.quotient(*a, divisor, env)?;
                values.form(*a)?.combine(1, &quotient, -divisor)
            }
            BinaryOp::Min | BinaryOp::Max => {
                let (low, high) = values.difference(*a, *b, env)?.ints();
                let (least, greatest) = if *op == BinaryOp::Min { (a, b) } else { (b, a) };
                if high <= 0 {
                    values.form(*least).cloned()
                } else if low >= 0 {
                    values.form(*greatest).cloned()
                } else {
                    None
                }
            }
            _ => None,
        },
        ExprKind::Select(condition, a, b) => match constant(*condition)? {
            0 => values.form(*b).cloned(),
            _ => values.form(*a).cloned(),
        },
        _ => None,
    }
}
