//! The order of dimensions: of a Func that updates run along, or write at computed places of, those
//! dimensions come first along which every point keeps to itself.
//!
//! The first two dimensions are distributed, the others lie whole in each bank. `hist(b, y) += 1`
//! keeps to itself along `y`, a scan `f(x, r) = g(f(x, r - 1))` along `x`: with that dimension first,
//! in place of one that is not there a dimension of one element, every engine has rows or columns of
//! its own. Inputs and Funcs without updates take the order of what they are read by or read, so that
//! they meet tile for tile; the host knows the order of what it writes and reads
//! ([`nbcc_isa_ipim::Buffer`]).

use std::collections::{BTreeMap, BTreeSet};

use nbcc_base::Span;
use nbcc_isa_ipim::Machine;
use nbcc_stages::bounds::{Bounds, Extents, Interval};
use nbcc_stages::{ElementType, Expr, ExprKind, Func, Literal, Pipeline, RDom, Walker};

use super::access::{Access, Source, accesses, stage_roots};
use super::modes::{elements, foreign_accesses};
use super::narrow::{longest_first, of_reductions};
use super::{Finding, FindingKind, Plan, Stage, Step};

/// The dimension at each place; `None` for a place of one element that is no dimension.
pub type Order = Vec<Option<usize>>;

/// The orders of the inputs and Funcs that have another than the source's.
pub type Orders = BTreeMap<Source, Order>;

/// The name of the Var of a place that is no dimension.
pub const NOWHERE: &str = "_";

/// Distributing fewer points than this over engines does not pay.
const FEWEST: u64 = 2;

/// The stages of a Func.
pub(super) fn stages(pipeline: &Pipeline, func: Func) -> impl Iterator<Item = Stage> {
    std::iter::once(Stage::Pure).chain((0..pipeline.funcs[func].updates.len()).map(Stage::Update))
}

/// The dimensions of a Func along which every point keeps to itself.
pub(super) fn free(pipeline: &Pipeline, func: Func) -> Vec<bool> {
    let data = &pipeline.funcs[func];
    let all = vec![true; data.vars.len()];
    (0..data.updates.len()).fold(all, |free, k| both(&free, &free_in(pipeline, func, k)))
}

/// The dimensions of a Func along which every point keeps to itself in update `k`.
pub fn free_in(pipeline: &Pipeline, func: Func, k: usize) -> Vec<bool> {
    let update = &pipeline.funcs[func].updates[k];
    let own = accesses(pipeline, func, Stage::Update(k));
    let own = own.iter().filter(|a| a.source == Source::Func(func)).map(|a| &a.args);
    let is_free = |d: usize| {
        let stays = |args: &Vec<Expr>| pipeline.exprs[args[d]].kind == ExprKind::Dim(d as u32);
        std::iter::once(&update.args).chain(own.clone()).all(stays)
    };
    (0..update.args.len()).map(is_free).collect()
}

/// What is free in both.
pub fn both(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(&a, &b)| a && b).collect()
}

/// The order that distributes a Func which is not distributed in the source's.
fn constrained(pipeline: &Pipeline, bounds: &Bounds, func: Func) -> Option<Order> {
    let free = free(pipeline, func);
    let region = bounds.region(func)?;
    if free.iter().take(2).all(|&free| free) {
        return None;
    }
    let mut first: Vec<usize> = (0..free.len()).filter(|&d| free[d]).collect();
    first.sort_by_key(|&d| std::cmp::Reverse(region[d].extent()));
    first.truncate(2);
    first.sort_unstable();
    let points: u64 = first.iter().map(|&d| u64::from(region[d].extent())).product();
    (!first.is_empty() && points >= FEWEST).then(|| with_first(&first, free.len()))
}

/// All of `dims` dimensions, these first.
pub fn with_first(first: &[usize], dims: usize) -> Order {
    let rest = (0..dims).filter(|d| !first.contains(d)).map(Some);
    let unit = (first.len() == 1).then_some(None);
    first.iter().copied().map(Some).chain(unit).chain(rest).collect()
}

/// The coordinate of an access that runs along a dimension, and along no other that is tiled.
fn along(pipeline: &Pipeline, access: &Access, dim: usize) -> Option<usize> {
    let runs = |arg: Expr| {
        let mut other = false;
        let mut found = false;
        for e in Walker::once(pipeline, [arg]) {
            match pipeline.exprs[e].kind {
                ExprKind::Dim(d) if d as usize == dim => found = true,
                ExprKind::Dim(_) | ExprKind::Load(..) | ExprKind::Call(..) => other = true,
                _ => {}
            }
        }
        found && !other
    };
    access.args.iter().position(|&arg| runs(arg))
}

/// The order in which what is read meets a consumer of that order.
pub(super) fn asked(pipeline: &Pipeline, access: &Access, consumer: &Order) -> Option<Order> {
    let places = consumer.iter().take(2);
    let first: Option<Vec<usize>> =
        places.flatten().map(|&dim| along(pipeline, access, dim)).collect();
    let Some(first) = first else { return lines_along(pipeline, access, consumer) };
    let unit = consumer.get(1) == Some(&None);
    let apart = first.iter().collect::<BTreeSet<_>>().len() == first.len();
    // A consumer of two tiled dimensions meets a producer of two.
    let meets = apart && (unit || first.len() == 2);
    meets.then(|| with_first(&first, access.args.len()))
}

/// The order in which what is read has rows along the first place of a consumer, or columns along the
/// second, where it does not change along the other one, as the factors of a product of matrices.
fn lines_along(pipeline: &Pipeline, access: &Access, consumer: &Order) -> Option<Order> {
    let is_plain = is_plain(consumer) && consumer.len() > 1;
    let runs = |&at: &usize| along(pipeline, access, at).map(|place| (at, place));
    let (at, place) = [0, 1].iter().filter(|_| is_plain).find_map(runs)?;
    let is_dim = |e: &Expr| matches!(pipeline.exprs[*e].kind, ExprKind::Dim(_));
    let still = |arg: Expr| !Walker::once(pipeline, [arg]).iter().any(is_dim);
    let mut order: Vec<usize> = (0..access.args.len()).filter(|&k| k != place).collect();
    if order.len() < at || !order.iter().all(|&k| still(access.args[k])) {
        return None;
    }
    order.insert(at, place);
    Some(order.into_iter().map(Some).collect())
}

/// The order of what a pointwise consumer of a producer of that order has.
fn offered(pipeline: &Pipeline, access: &Access, producer: &Order, dims: usize) -> Option<Order> {
    let dim_of = |&place: &usize| (0..dims).find(|&d| along(pipeline, access, d) == Some(place));
    let first: Option<Vec<usize>> = producer.iter().take(2).flatten().map(dim_of).collect();
    let first = first?;
    let apart = first.iter().collect::<BTreeSet<_>>().len() == first.len();
    apart.then(|| with_first(&first, dims))
}

/// The order that distributes the two largest of the dimensions along which every point keeps to itself
/// and follows the largest of what it reads, as `x` and `y` of an image with channels first.
fn largest(pipeline: &Pipeline, bounds: &Bounds, func: Func) -> Option<Order> {
    let mut first = largest_two(pipeline, bounds, func)?;
    first.sort_unstable();
    let dims = pipeline.funcs[func].vars.len();
    Some(with_first(&first, dims)).filter(|order| !is_plain(order))
}

/// These two dimensions, the larger one first.
pub(super) fn largest_two(pipeline: &Pipeline, bounds: &Bounds, func: Func) -> Option<[usize; 2]> {
    let free = free(pipeline, func);
    let region = bounds.region(func)?;
    let all = stages(pipeline, func).flat_map(|stage| foreign_accesses(pipeline, func, stage));
    let read = all.max_by_key(|access| elements(bounds, access.source));
    let args = read.map_or(vec![], |access| access.args);
    let exprs = Walker::once(pipeline, args);
    let follows =
        |d: &usize| exprs.iter().any(|&e| pipeline.exprs[e].kind == ExprKind::Dim(*d as u32));
    let candidates: Vec<usize> = (0..free.len()).filter(|&d| free[d]).collect();
    let mut first: Vec<usize> = candidates.iter().copied().filter(follows).collect();
    if first.len() < 2 {
        first = candidates;
    }
    first.sort_by_key(|&d| std::cmp::Reverse(region[d].extent()));
    first.truncate(2);
    first.try_into().ok()
}

/// Whether a Func of one dimension reads images of more, as sums of rows or columns do.
fn is_of_lines(pipeline: &Pipeline, func: Func) -> bool {
    let mut all = stages(pipeline, func).flat_map(|stage| foreign_accesses(pipeline, func, stage));
    pipeline.funcs[func].vars.len() == 1
        && all.any(|access| access.args.len() > 1 && along(pipeline, &access, 0).is_some())
}

/// The order that distributes the largest dimension of a Func along which it reads an image whose place along
/// another one data decides on, as `in(x, rows(y))`: lines along that one are whole in a bank then.
fn across_data(pipeline: &Pipeline, bounds: &Bounds, func: Func) -> Option<Order> {
    let region = bounds.region(func)?;
    let is_data = |&arg: &Expr| {
        let all = Walker::once(pipeline, [arg]);
        all.iter()
            .any(|&e| matches!(pipeline.exprs[e].kind, ExprKind::Load(..) | ExprKind::Call(..)))
    };
    let reads = stages(pipeline, func).flat_map(|stage| foreign_accesses(pipeline, func, stage));
    // Planes are whole in a bank as they are.
    let picks = |access: &Access| access.args.iter().take(2).any(is_data);
    let reads: Vec<Access> = reads.filter(picks).collect();
    let free = free(pipeline, func);
    let runs =
        |&d: &usize| free[d] && reads.iter().all(|access| along(pipeline, access, d).is_some());
    let dims = (0..free.len()).filter(|_| free.len() > 1 && !reads.is_empty());
    let first = dims.filter(runs).max_by_key(|&d| (region[d].extent(), std::cmp::Reverse(d)))?;
    Some(with_first(&[first], free.len()))
}

/// What an order has to gain, as times are estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gain {
    /// Nothing: some Func has to be in another order than the source's. One that readers ask for saves what
    /// is not estimated, where rows are read along columns.
    Any,
    /// A third.
    Third,
    /// Three quarters: of loops that are unrolled the estimate of plans is several times too long.
    Most,
}

impl Gain {
    /// What it has to gain over a plan: no more than a third where that reduces in parts, too.
    pub fn over(self, plan: Option<&Plan>) -> Gain {
        let in_parts = |step: &Step| matches!(step, Step::Reduce(_));
        let reduces = plan.is_some_and(|plan| plan.steps.iter().any(in_parts));
        if reduces { self.min(Gain::Third) } else { self }
    }

    /// The cycles that a plan has to stay below in place of one that takes so many.
    pub fn below(self, cycles: u64) -> u64 {
        match self {
            Gain::Any => cycles.saturating_add(1),
            Gain::Third => cycles - cycles / 3,
            Gain::Most => cycles / 4,
        }
    }
}

/// Orders to choose from: those of what is read by Funcs that need one, and the same with those of what
/// reads them, also where all others have their largest dimensions first, where the lines are whole that
/// a Func of lines reads or data picks from, where what is reduced in parts meets the parts, or where the longest
/// dimension comes first of what is long and narrow; each with what it has to gain over the source's. None
/// where that serves.
pub fn choices(pipeline: &Pipeline, bounds: &Bounds, machine: &Machine) -> Vec<(Orders, Gain)> {
    let needed: Vec<Func> = bounds.needed(pipeline).map(|(func, _)| func).collect();
    let mut constrained_ones = Orders::new();
    let mut largest_first = Orders::new();
    let mut lines = Orders::new();
    let (mut reduced, mut of_reduced) = (Orders::new(), Gain::Third);
    for &func in &needed {
        let source = Source::Func(func);
        let order = constrained(pipeline, bounds, func);
        constrained_ones.extend(order.clone().map(|order| (source, order)));
        let of_lines = || is_of_lines(pipeline, func).then(|| with_first(&[0], 1));
        let of_lines = of_lines().or_else(|| across_data(pipeline, bounds, func));
        lines.extend(of_lines.map(|order| (source, order)));
        let order = order.or_else(|| largest(pipeline, bounds, func));
        largest_first.extend(order.map(|order| (source, order)));
        for (source, order, gain) in of_reductions(pipeline, bounds, machine, func) {
            of_reduced = of_reduced.max(gain);
            reduced.entry(source).or_insert(order);
        }
    }
    let all_free = |func: &Func| free(pipeline, *func).into_iter().all(|free| free);
    let open: BTreeSet<Func> = needed.iter().copied().filter(all_free).collect();
    let follows = |source: Source| match source {
        Source::Input(_) => true,
        Source::Func(func) => open.contains(&func),
    };
    let mut all: Vec<(Orders, Gain)> = Vec::new();
    if !lines.is_empty() {
        lines.extend(constrained_ones.clone());
    }
    reduced.retain(|&source, order| follows(source) && !is_plain(order));
    if !reduced.is_empty() {
        let others = largest_first.iter().filter(|(source, _)| !reduced.contains_key(source));
        let others: Vec<_> = others.map(|(&source, order)| (source, order.clone())).collect();
        reduced.extend(others);
    }
    // What reads it, and what it reads, follows.
    let longest = longest_first(pipeline, bounds, machine).into_iter().map(|(func, order)| {
        let mut orders = constrained_ones.clone();
        orders.insert(Source::Func(func), order);
        (orders, Gain::Third)
    });
    let longest: Vec<_> = longest.collect();
    let mut seeds = vec![
        (constrained_ones, Gain::Any),
        (largest_first, Gain::Third),
        (lines, Gain::Third),
        (reduced, of_reduced),
    ];
    seeds.extend(longest);
    for (mut orders, gain) in seeds {
        ask(pipeline, &needed, &follows, &mut orders);
        let mut handed_on = orders.clone();
        hand_on(pipeline, &needed, &follows, &mut handed_on);
        for mut orders in [handed_on, orders] {
            agree(pipeline, &needed, &follows, &mut orders);
            orders.retain(|_, order| !is_plain(order));
            if !orders.is_empty() && all.iter().all(|(other, _)| *other != orders) {
                all.push((orders, gain));
            }
        }
    }
    all
}

/// Whether dimensions stand in the order of the image.
pub fn is_plain(order: &Order) -> bool {
    order.iter().enumerate().all(|(k, dim)| *dim == Some(k))
}

/// What Funcs with orders read takes those.
fn ask(
    pipeline: &Pipeline,
    needed: &[Func],
    follows: &dyn Fn(Source) -> bool,
    orders: &mut Orders,
) {
    // Consumers come first; the first that reads a source decides.
    let mut decided: BTreeSet<Source> = orders.keys().copied().collect();
    for &func in needed.iter().rev() {
        let Some(order) = orders.get(&Source::Func(func)).cloned() else { continue };
        for access in stages(pipeline, func).flat_map(|stage| accesses(pipeline, func, stage)) {
            if !follows(access.source) || !decided.insert(access.source) {
                continue;
            }
            if let Some(order) = asked(pipeline, &access, &order) {
                orders.insert(access.source, order);
            }
        }
    }
}

/// What reads Funcs with orders takes those.
fn hand_on(
    pipeline: &Pipeline,
    needed: &[Func],
    follows: &dyn Fn(Source) -> bool,
    orders: &mut Orders,
) {
    for &func in needed {
        let source = Source::Func(func);
        if !follows(source) || orders.contains_key(&source) {
            continue;
        }
        let dims = pipeline.funcs[func].vars.len();
        let mut all = stages(pipeline, func).flat_map(|stage| accesses(pipeline, func, stage));
        let found =
            all.find_map(|access| offered(pipeline, &access, orders.get(&access.source)?, dims));
        orders.extend(found.map(|order| (source, order)));
    }
}

/// What all its consumers read in one order that is not its own is kept in it, as a transposed image.
fn agree(
    pipeline: &Pipeline,
    needed: &[Func],
    follows: &dyn Fn(Source) -> bool,
    orders: &mut Orders,
) {
    // By source: what those read that were looked at.
    let mut asks: BTreeMap<Source, Option<Order>> = BTreeMap::new();
    let decide = |source: Source, asks: &BTreeMap<_, Option<Order>>, orders: &mut Orders| {
        let asked = asks.get(&source).cloned().flatten().filter(|order| !is_plain(order));
        if let Some(order) = asked.filter(|_| follows(source)) {
            orders.entry(source).or_insert(order);
        }
    };
    for &func in needed.iter().rev() {
        decide(Source::Func(func), &asks, orders);
        let plain = || (0..pipeline.funcs[func].vars.len()).map(Some).collect();
        let own = orders.get(&Source::Func(func)).cloned().unwrap_or_else(plain);
        for access in stages(pipeline, func).flat_map(|stage| accesses(pipeline, func, stage)) {
            let asked = asked(pipeline, &access, &own);
            let all = asks.entry(access.source).or_insert_with(|| asked.clone());
            if *all != asked {
                *all = None;
            }
        }
    }
    for input in pipeline.inputs.keys() {
        decide(Source::Input(input), &asks, orders);
    }
}

/// Values by dimension, by place instead.
pub fn placed<T: Clone>(order: &Order, by_dim: &[T], nowhere: T) -> Vec<T> {
    order.iter().map(|dim| dim.map_or(nowhere.clone(), |d| by_dim[d].clone())).collect()
}

/// The dimension at each place of a copy in an order of the places of what has an order itself.
pub fn compose(of: &Order, order: &Order) -> Order {
    match (of.is_empty(), order.is_empty()) {
        (true, _) => order.clone(),
        (_, true) => of.clone(),
        _ => placed(order, of, None),
    }
}

/// Values by place, by dimension instead.
pub fn by_dimension<T: Clone>(order: &Order, placed: &[T]) -> Vec<T> {
    let dims = order.iter().flatten().count();
    let place = |d: usize| order.iter().position(|&dim| dim == Some(d)).expect("every dimension");
    (0..dims).map(|d| placed[place(d)].clone()).collect()
}

/// Whether the conditions of a domain are those of several updates.
fn is_shared(pipeline: &Pipeline, rdom: RDom) -> bool {
    let updates = pipeline.funcs.values().flat_map(|data| &data.updates);
    updates.filter(|update| update.rdom == Some(rdom)).count() > 1
}

/// What is planned where dimensions stand in other orders.
pub struct Reordered {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Its extents.
    pub extents: Extents,
    /// Its bounds.
    pub bounds: Bounds,
    /// The Funcs that were not distributed otherwise.
    pub findings: Vec<Finding>,
}

/// Puts the dimensions of everything in its order. `None` where conditions of a domain have a
/// meaning of their own in two Funcs.
pub fn reorder(
    pipeline: &Pipeline,
    extents: &Extents,
    bounds: &Bounds,
    orders: &Orders,
) -> Option<Reordered> {
    let (mut extents, mut bounds) = (extents.clone(), bounds.clone());
    let nowhere = Interval::new(0, 0);
    let mut findings = Vec::new();
    for (&source, order) in orders {
        match source {
            Source::Input(input) => {
                extents.inputs[input] = placed(order, &extents.inputs[input], 1);
                if let Some(region) = &mut bounds.inputs[input] {
                    *region = placed(order, region, nowhere);
                }
            }
            Source::Func(func) => {
                let data = &pipeline.funcs[func];
                let names = order.iter().take(2).flatten().map(|&d| format!("`{}`", data.vars[d]));
                let kind = FindingKind::Reordered { func, along: names.collect() };
                findings.push(Finding { about: data.name.clone(), span: Some(data.span), kind });
                let Some(func) = &mut bounds.funcs[func] else { continue };
                func.region = placed(order, &func.region, nowhere);
                for loops in func.stages.iter_mut().flatten() {
                    loops.dims = placed(order, &loops.dims, nowhere);
                }
            }
        }
    }
    let pipeline = Rewriting::new(pipeline, orders).run()?;
    Some(Reordered { pipeline, extents, bounds, findings })
}

struct Rewriting<'a> {
    orders: &'a Orders,
    pipeline: Pipeline,
}

impl<'a> Rewriting<'a> {
    fn new(pipeline: &Pipeline, orders: &'a Orders) -> Rewriting<'a> {
        Rewriting { orders, pipeline: pipeline.clone() }
    }

    fn run(mut self) -> Option<Pipeline> {
        let funcs: Vec<Func> = self.pipeline.funcs.keys().collect();
        for func in funcs {
            for stage in stages(&self.pipeline, func).collect::<Vec<_>>() {
                self.stage(func, stage)?;
            }
            if let Some(order) = self.orders.get(&Source::Func(func)) {
                let data = &mut self.pipeline.funcs[func];
                data.vars = placed(order, &data.vars, NOWHERE.to_string());
            }
        }
        for (&source, order) in self.orders {
            if let Source::Input(input) = source {
                let data = &mut self.pipeline.inputs[input];
                data.dims = order.len() as u32;
                data.estimates.clear();
                data.fixed.clear();
            }
        }
        Some(self.pipeline)
    }

    fn stage(&mut self, func: Func, stage: Stage) -> Option<()> {
        let roots = stage_roots(&self.pipeline, func, stage);
        let reachable = Walker::once(&self.pipeline, roots);
        let touched = self.orders.contains_key(&Source::Func(func))
            || reachable.iter().any(|&e| match &self.pipeline.exprs[e].kind {
                ExprKind::Load(input, _) => self.orders.contains_key(&Source::Input(*input)),
                ExprKind::Call(func, ..) => self.orders.contains_key(&Source::Func(*func)),
                _ => false,
            });
        if !touched {
            return Some(());
        }
        let orders = self.orders;
        let roots = stage_roots(&self.pipeline, func, stage);
        let new = self.pipeline.rewritten(roots, |pipeline, _, kind, span| {
            in_order(pipeline, orders, func, kind, span)
        });
        let order = self.orders.get(&Source::Func(func)).cloned();
        let renamed = |list: &mut Vec<Expr>| list.iter_mut().for_each(|e| *e = new[e]);
        match stage {
            Stage::Pure => {
                let pure = self.pipeline.funcs[func].pure.as_mut();
                renamed(&mut pure.expect("a stage with roots").values);
            }
            Stage::Update(k) => {
                let rdom = self.pipeline.funcs[func].updates[k].rdom;
                if let Some(rdom) = rdom {
                    // A domain of several updates would need conditions for each.
                    let conditions = !self.pipeline.rdoms[rdom].predicates.is_empty();
                    if conditions && is_shared(&self.pipeline, rdom) {
                        return None;
                    }
                    renamed(&mut self.pipeline.rdoms[rdom].predicates);
                }
                let update = &mut self.pipeline.funcs[func].updates[k];
                renamed(&mut update.values);
                renamed(&mut update.args);
                let span = update.span;
                if let Some(order) = order {
                    let unit = self.pipeline.expr(ExprKind::Dim(1), ElementType::I32, span);
                    let update = &mut self.pipeline.funcs[func].updates[k];
                    update.args = placed(&order, &update.args, unit);
                }
            }
        }
        Some(())
    }
}

/// An expression of a Func, operands done, with dimensions and coordinates in their places.
fn in_order(
    pipeline: &mut Pipeline,
    orders: &Orders,
    func: Func,
    kind: ExprKind,
    span: Span,
) -> ExprKind {
    let own = orders.get(&Source::Func(func));
    let mut coordinates = |source: Source, args: Vec<Expr>| {
        let Some(order) = orders.get(&source) else { return args };
        // What has one place of that kind meets what has one, too.
        let nowhere = match own.is_some_and(|own| own.get(1) == Some(&None)) {
            true => ExprKind::Dim(1),
            false => ExprKind::Literal(Literal::Int(0)),
        };
        let nowhere = pipeline.expr(nowhere, ElementType::I32, span);
        placed(order, &args, nowhere)
    };
    match kind {
        ExprKind::Dim(d) => {
            let place = own.map(|order| order.iter().position(|&dim| dim == Some(d as usize)));
            ExprKind::Dim(place.map_or(d, |k| k.expect("every dimension has a place") as u32))
        }
        ExprKind::Load(input, args) => {
            ExprKind::Load(input, coordinates(Source::Input(input), args))
        }
        ExprKind::Call(callee, value, args) => {
            ExprKind::Call(callee, value, coordinates(Source::Func(callee), args))
        }
        other => other,
    }
}
