//! Tuples that one engine would compute, for their updates write at one place or at computed ones, but whose
//! values can be reduced in parts by Funcs of their own: values that have nothing to do with each other, and
//! those of the best point of a domain, as `argmax` finds it. Of these the best key is reduced first, then
//! the number of the first point that has it, then what else is taken from there.

use nbcc_base::Span;
use nbcc_stages::bounds::{Bounds, Interval, StageLoops};
use nbcc_stages::{
    BinaryOp, CompareOp, Definition, ElementType, Expr, ExprKind, Func, FuncData, Literal,
    Pipeline, RDom, Schedule, Simplifier, Update, Walker, are_loops_named,
};

use super::maker::Maker;
use super::modes::{combined, is_own, same};
use super::scans::identity;
use super::split::{dims, unchanged};
use super::{Finding, FindingKind};

/// The pipeline with such Tuples reduced by values, its bounds, and what was done. `None` where there is
/// none.
pub fn by_value(pipeline: &Pipeline, bounds: &Bounds) -> Option<(Pipeline, Bounds, Vec<Finding>)> {
    let needed: Vec<Func> = bounds.needed(pipeline).map(|(func, _)| func).collect();
    let forms: Vec<Option<Form>> =
        needed.iter().map(|&func| Form::of(pipeline, bounds, func)).collect();
    if forms.iter().all(Option::is_none) {
        return None;
    }
    let (mut pipeline, mut bounds) = (pipeline.clone(), bounds.clone());
    let (mut order, mut findings) = (Vec::new(), Vec::new());
    for (&func, form) in needed.iter().zip(&forms) {
        if let Some(form) = form {
            let data = &pipeline.funcs[func];
            let kind = FindingKind::ReducedByValue { values: data.types.len() };
            findings.push(Finding { about: data.name.clone(), span: Some(data.span), kind });
            order.extend(form.divide(&mut pipeline, &mut bounds, func));
        }
        order.push(func);
    }
    bounds.order = order;
    Some((pipeline, bounds, findings))
}

/// What the updates of a Tuple are.
enum Form {
    /// Each value is a reduction of its own.
    Apart,
    /// One update takes the values of the first point whose key is better than that of all before.
    Best(Best),
}

impl Form {
    fn of(pipeline: &Pipeline, bounds: &Bounds, func: Func) -> Option<Form> {
        let data = &pipeline.funcs[func];
        let in_one_place = |update: &Update| {
            let tiled = update.args.len().min(2);
            tiled == 0 || (0..tiled).any(|d| !update.is_pure_dim(pipeline, d))
        };
        if data.types.len() < 2
            || data.pure.is_none()
            || !data.updates.iter().any(in_one_place)
            || are_loops_named(pipeline, func)
        {
            return None;
        }
        let apart = |update: &Update| {
            let values: Option<Vec<Expr>> = (0..data.types.len())
                .map(|k| combined(pipeline, func, update, k).map(|(_, value)| value))
                .collect();
            values.is_some_and(|values| is_foreign(pipeline, func, update, &values))
        };
        match data.updates.iter().all(apart) {
            true => Some(Form::Apart),
            false => Best::of(pipeline, bounds, func).map(Form::Best),
        }
    }

    /// Makes Funcs that the Tuple's values are taken from, producers first.
    fn divide(&self, pipeline: &mut Pipeline, bounds: &mut Bounds, func: Func) -> Vec<Func> {
        let span = pipeline.funcs[func].span;
        let (made, values) = match self {
            Form::Apart => {
                let count = pipeline.funcs[func].types.len();
                let made: Vec<Func> =
                    (0..count).map(|k| value_of(pipeline, bounds, func, k)).collect();
                let own = dims(pipeline, func, span);
                let values = made.iter().map(|&part| {
                    let ty = pipeline.funcs[part].types[0];
                    pipeline.expr(ExprKind::Call(part, 0, own.clone()), ty, span)
                });
                let values = values.collect();
                (made, values)
            }
            Form::Best(best) => best.divide(pipeline, bounds, func),
        };
        pipeline.funcs[func].pure = Some(Definition { values, span });
        for k in 0..pipeline.funcs[func].updates.len() {
            let update = pipeline.funcs[func].updates[k].clone();
            pipeline.funcs[func].updates[k] = unchanged(pipeline, &update, func);
        }
        let of_func = bounds.funcs[func].as_mut().expect("it is needed");
        let loops = StageLoops { dims: of_func.region.clone(), rvars: vec![] };
        of_func.stages.fill(None);
        of_func.stages[0] = Some(loops);
        made
    }
}

/// Whether an update has a domain, and neither where it writes nor these values depend on its Func.
fn is_foreign(pipeline: &Pipeline, func: Func, update: &Update, values: &[Expr]) -> bool {
    let Some(rdom) = update.rdom else { return false };
    let roots = update.args.iter().chain(values).chain(&pipeline.rdoms[rdom].predicates);
    !Walker::once(pipeline, roots.copied())
        .iter()
        .any(|&e| matches!(pipeline.exprs[e].kind, ExprKind::Call(callee, ..) if callee == func))
}

/// The Func that is value `k` of a Tuple of reductions.
fn value_of(pipeline: &mut Pipeline, bounds: &mut Bounds, func: Func, k: usize) -> Func {
    let all = pipeline.funcs[func].clone();
    let part = pipeline.funcs.push(FuncData {
        name: format!("{}.value{k}", all.name),
        types: vec![all.types[k]],
        pure: all.pure.map(|pure| Definition { values: vec![pure.values[k]], span: pure.span }),
        updates: vec![],
        schedule: Schedule::default(),
        ..all
    });
    for update in &all.updates {
        let new = pipeline.rewritten([update.values[k]], |_, _, kind, _| match kind {
            ExprKind::Call(callee, _, args) if callee == func => ExprKind::Call(part, 0, args),
            kind => kind,
        });
        let values = vec![new[&update.values[k]]];
        let update = Update { values, schedule: Schedule::default(), ..update.clone() };
        pipeline.funcs[part].updates.push(update);
    }
    bounds.funcs[part] = bounds.funcs[func].clone();
    part
}

/// An update `f = select(e < f[key], new, f)` of all values, with `e` the new value at `key`, or with `>`.
struct Best {
    /// The order of better keys: less or greater.
    op: CompareOp,
    key: usize,
    /// What each value becomes.
    new: Vec<Expr>,
    rdom: RDom,
    /// The intervals of the domain's variables.
    domain: Vec<Interval>,
    span: Span,
}

impl Best {
    fn of(pipeline: &Pipeline, bounds: &Bounds, func: Func) -> Option<Best> {
        let data = &pipeline.funcs[func];
        let [update] = &data.updates[..] else { return None };
        let mut new = Vec::new();
        let mut conditions = Vec::new();
        for (k, &value) in update.values.iter().enumerate() {
            let ExprKind::Select(condition, yes, no) = pipeline.exprs[value].kind else {
                return None;
            };
            if !is_own(pipeline, (func, k), update, no) {
                return None;
            }
            conditions.push(condition);
            new.push(yes);
        }
        if !conditions.iter().all(|&c| same(pipeline, &[c], &conditions[..1]))
            || !is_foreign(pipeline, func, update, &new)
        {
            return None;
        }
        let ExprKind::Compare(op, a, b) = pipeline.exprs[conditions[0]].kind else { return None };
        let turned = match op {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Lt,
            _ => return None,
        };
        let is = |k: usize, own: Expr, other: Expr| {
            is_own(pipeline, (func, k), update, own) && same(pipeline, &[other], &[new[k]])
        };
        let (op, key) = (0..new.len()).find_map(|k| match () {
            () if is(k, b, a) => Some((op, k)),
            () if is(k, a, b) => Some((turned, k)),
            () => None,
        })?;
        let domain = bounds.funcs[func].as_ref()?.stages[1].as_ref()?.rvars.clone();
        let points = nbcc_stages::bounds::points(&domain);
        let is_numbered = points <= i32::MAX as u64;
        let best = Best { op, key, new, rdom: update.rdom?, domain, span: update.span };
        is_numbered.then_some(best)
    }

    /// How keys combine.
    fn combination(&self) -> BinaryOp {
        if self.op == CompareOp::Lt { BinaryOp::Min } else { BinaryOp::Max }
    }

    /// Makes the Funcs of the best key, of the number of its point and of what is read there; and the values
    /// of the Tuple.
    fn divide(
        &self,
        pipeline: &mut Pipeline,
        bounds: &mut Bounds,
        func: Func,
    ) -> (Vec<Func>, Vec<Expr>) {
        let data = pipeline.funcs[func].clone();
        let of_func = bounds.funcs[func].clone().expect("it is needed");
        let args = &data.updates[0].args;
        let point = dims(pipeline, func, self.span);
        let make = &mut Maker { pipeline, simplifier: Simplifier::default(), span: self.span };
        let mut parts = Parts { data: &data, rdom: self.rdom, made: vec![] };

        let (key, ty) = (self.new[self.key], data.types[self.key]);
        let worst = make.make(ExprKind::Literal(worst(self.combination(), ty)), ty);
        let counted = self.comparable(make, key, worst, ty);
        let keys = parts.make(make, "best", worst, (self.combination(), counted));

        let number = self.number(make);
        let nowhere = make.number(i32::MAX.into());
        let best = make.make(ExprKind::Call(keys, 0, args.clone()), ty);
        let has_it = make.compare(CompareOp::Eq, key, best);
        let own = make.make(ExprKind::Select(has_it, number, nowhere), ElementType::I32);
        let places = parts.make(make, "place", nowhere, (BinaryOp::Min, own));

        let place = make.make(ExprKind::Call(places, 0, args.clone()), ElementType::I32);
        let is_there = make.compare(CompareOp::Eq, number, place);
        let [place, best] = [(places, ElementType::I32), (keys, ty)]
            .map(|(func, ty)| make.make(ExprKind::Call(func, 0, point.clone()), ty));
        let init = data.pure.as_ref().expect("updates follow a definition").values.clone();
        let is_better = make.compare(self.op, best, init[self.key]);
        let somewhere = make.compare(CompareOp::Ne, place, nowhere);
        let found = ExprKind::Binary(BinaryOp::And, is_better, somewhere);
        let found = make.make(found, ElementType::Bool);
        let values = self.new.iter().zip(&init).enumerate().map(|(k, (&new, &init))| {
            let ty = data.types[k];
            let taken = if k == self.key && !ty.is_float() {
                best
            } else if is_computed(make.pipeline, new) {
                self.at(make, new, place)
            } else {
                // The bits of the only point that contributes any.
                let bits = if ty.is_float() { ElementType::U32 } else { ty };
                let cast = |make: &mut Maker<'_>, e, to| match ty.is_float() {
                    true => make.make(ExprKind::Reinterpret(e), to),
                    false => e,
                };
                let zero = make.make(ExprKind::Literal(Literal::Int(0)), bits);
                let new = cast(make, new, bits);
                let own = make.make(ExprKind::Select(is_there, new, zero), bits);
                let read = parts.make(make, &format!("value{k}"), zero, (BinaryOp::Or, own));
                let read = make.make(ExprKind::Call(read, 0, point.clone()), bits);
                cast(make, read, ty)
            };
            make.make(ExprKind::Select(found, taken, init), ty)
        });
        let values = values.collect();
        for &part in &parts.made {
            bounds.funcs[part] = Some(of_func.clone());
        }
        (parts.made, values)
    }

    /// A key, or the worst in place of one that is no number: no such key is better than any.
    fn comparable(&self, make: &mut Maker<'_>, key: Expr, worst: Expr, ty: ElementType) -> Expr {
        if !ty.is_float() {
            return key;
        }
        let counts = make.compare(self.op, key, worst);
        make.make(ExprKind::Select(counts, key, worst), ty)
    }

    /// The number of a point in the order in which the domain is gone through, from 0 on.
    fn number(&self, make: &mut Maker<'_>) -> Expr {
        let mut number = make.number(0);
        for (n, interval) in self.domain.iter().enumerate().rev() {
            let variable = make.make(ExprKind::RVar(self.rdom, n as u32), ElementType::I32);
            let first = make.number(-i64::from(interval.min));
            let from_first = make.int(BinaryOp::Add, variable, first);
            let before = make.scaled(number, interval.extent().into(), 0);
            number = make.int(BinaryOp::Add, before, from_first);
        }
        number
    }

    /// An expression at the point with a number.
    fn at(&self, make: &mut Maker<'_>, root: Expr, number: Expr) -> Expr {
        let mut left = number;
        let mut variables = Vec::new();
        for interval in &self.domain {
            let extent = make.number(interval.extent().into());
            let from_first = make.int(BinaryOp::Mod, left, extent);
            variables.push(make.scaled(from_first, 1, interval.min.into()));
            left = make.int(BinaryOp::Div, left, extent);
        }
        make.substituted(root, |kind| match kind {
            ExprKind::RVar(rdom, n) if *rdom == self.rdom => Some(variables[*n as usize]),
            _ => None,
        })
    }
}

/// The key that no other is worse than, where the better of two is what `op` makes of them.
fn worst(op: BinaryOp, ty: ElementType) -> Literal {
    let infinite = if op == BinaryOp::Min { f32::INFINITY } else { f32::NEG_INFINITY };
    identity(op, ty).unwrap_or(Literal::Float(infinite.to_bits()))
}

/// Whether an expression reads no image.
fn is_computed(pipeline: &Pipeline, root: Expr) -> bool {
    Walker::once(pipeline, [root])
        .iter()
        .all(|&e| !matches!(pipeline.exprs[e].kind, ExprKind::Call(..) | ExprKind::Load(..)))
}

/// Reductions over the domain of a Tuple's update that write where it does.
struct Parts<'a> {
    data: &'a FuncData,
    rdom: RDom,
    made: Vec<Func>,
}

impl Parts<'_> {
    /// The Func that starts with `init` and combines it with what each point contributes.
    fn make(
        &mut self,
        make: &mut Maker<'_>,
        name: &str,
        init: Expr,
        (op, own): (BinaryOp, Expr),
    ) -> Func {
        let ty = make.pipeline.ty(own);
        let vars: Vec<&str> = self.data.vars.iter().map(String::as_str).collect();
        let func = make.func(format!("{}.{name}", self.data.name), &vars, ty, init);
        let args = &self.data.updates[0].args;
        let so_far = make.make(ExprKind::Call(func, 0, args.clone()), ty);
        let value = make.make(ExprKind::Binary(op, so_far, own), ty);
        make.update(func, args.clone(), value, self.rdom);
        self.made.push(func);
        func
    }
}
