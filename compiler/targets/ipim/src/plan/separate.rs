//! Windows that are reduced line by line: `f(x, y) = max(f(x, y), g(x + r.x, y + r.y))` is the maximum of
//! what rows come to, and the window of the next point has all of these rows but one. Where a dimension and a
//! variable of the domain come as one sum only, and contributions may come in any order, a Func reduces the
//! other variables for each value of that sum, and the update reduces what that comes to (separable filters:
//! Gonzalez and Woods, "Digital Image Processing", 3.4). A block of a picture, whose windows share nothing,
//! gains engines that way: its lines are reduced beside each other.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::{
    Affine, AffineVar, Bounds, FuncBounds, IndexForm, Interval, MAX_COORDINATE, Region, StageLoops,
    index_forms, points,
};
use nbcc_stages::{
    BinaryOp, ElementType, Expr, ExprKind, Func, Pipeline, RDom, RDomData, Schedule, Simplifier,
    Update, Walker, are_loops_named, unroll_updates,
};

use super::maker::Maker;
use super::modes::combined;
use super::scans::identity;
use super::split::{at_point, dims};
use super::{Finding, FindingKind};
use crate::front::UNROLLED_UPDATES;

/// Points of a domain that a vector reads in the time in which lines are stored and a kernel begins.
const KERNEL: u64 = 24;

/// How much longer a vector takes to read whose lanes lie apart.
const SCATTERED_COST: u64 = 2;

/// The pipeline with windows reduced line by line, its bounds, and what was done. `None` where there are none
/// for which that pays.
pub fn by_line(
    pipeline: &Pipeline,
    bounds: &Bounds,
    machine: &Machine,
) -> Option<(Pipeline, Bounds, Vec<Finding>)> {
    let mut made: Option<(Pipeline, Bounds)> = None;
    let (mut order, mut findings) = (Vec::new(), Vec::new());
    let mut changed: BTreeSet<Func> = BTreeSet::new();
    for (func, of) in bounds.needed(pipeline) {
        let at = order.len();
        order.push(func);
        for k in 0..pipeline.funcs[func].updates.len() {
            let Some(lines) = Lines::of(pipeline, &of.region, machine, (func, k)) else { continue };
            let data = &pipeline.funcs[func];
            let along = data.vars[lines.dim].clone();
            let kind = FindingKind::ReducedByLine { along };
            findings.push(Finding { about: data.name.clone(), span: Some(data.span), kind });
            let (pipeline, bounds) = made.get_or_insert_with(|| (pipeline.clone(), bounds.clone()));
            let part = lines.divide(pipeline, bounds, (func, k));
            order.insert(at, part);
            changed.extend([func, part]);
        }
    }
    let (pipeline, mut bounds) = made?;
    let (pipeline, unrolled) =
        unroll_updates(&pipeline, UNROLLED_UPDATES, &|func| !changed.contains(&func));
    for of in &unrolled {
        let of = bounds.funcs[of.func].as_mut().expect("it is needed");
        of.stages.truncate(1);
    }
    bounds.order = order;
    Some((pipeline, bounds, findings))
}

/// Whether any update of a Func over a region is reduced line by line.
pub fn is_by_line(pipeline: &Pipeline, region: &[Interval], machine: &Machine, func: Func) -> bool {
    let mut updates = 0..pipeline.funcs[func].updates.len();
    updates.any(|k| Lines::of(pipeline, region, machine, (func, k)).is_some())
}

/// How an update is reduced line by line.
struct Lines {
    /// How contributions are combined.
    op: BinaryOp,
    /// What the points of a line contribute, with dimension `dim` in place of the sum, and variables of
    /// `rdom`.
    value: Expr,
    /// The domain of the update.
    rdom: RDom,
    /// The dimension and the number of the variable, of which `factors` times each make the sum.
    dim: usize,
    variable: u32,
    factors: [i64; 2],
    /// The values of the sum in place of those of the dimension.
    region: Region,
}

impl Lines {
    /// The lines that an update of a Func over a region is reduced by with least work, if that is less than
    /// what its windows are.
    fn of(
        pipeline: &Pipeline,
        region: &[Interval],
        machine: &Machine,
        (func, k): (Func, usize),
    ) -> Option<Lines> {
        let data = &pipeline.funcs[func];
        let update = &data.updates[k];
        let rdom = update.rdom?;
        let RDomData { dims, predicates, .. } = &pipeline.rdoms[rdom];
        let ([ty], Some(_)) = (&data.types[..], &data.pure) else { return None };
        let plain = (0..update.args.len()).all(|d| update.is_pure_dim(pipeline, d));
        if dims.len() < 2
            || !predicates.is_empty()
            || !plain
            || !update.schedule.directives.is_empty()
            || are_loops_named(pipeline, func)
        {
            return None;
        }
        let (op, value) = combined(pipeline, func, update, 0)?;
        identity(op, *ty)?;
        let domain: Option<Vec<Interval>> =
            dims.iter().map(|&(min, extent)| interval(pipeline, min, extent)).collect();
        let domain = domain?;
        let found = Walker::once(pipeline, [value]);
        let calls_own =
            |&e: &Expr| matches!(pipeline.exprs[e].kind, ExprKind::Call(f, ..) if f == func);
        if found.iter().any(calls_own) {
            return None;
        }
        let forms = index_forms(pipeline);
        let mut sums: Vec<(usize, u32, [i64; 2])> = Vec::new();
        for form in found.iter().filter_map(|&e| forms[e].as_ref()?.as_affine()) {
            for dim in 0..region.len() {
                for variable in 0..domain.len() as u32 {
                    let [a, b] = [form.dim(dim as u32), form.rvar(rdom, variable)];
                    if a != 0 && b != 0 {
                        let by = num_integer::gcd(a, b) * a.signum();
                        sums.push((dim, variable, [a / by, b / by]));
                    }
                }
            }
        }
        sums.sort_unstable();
        sums.dedup();
        let all = sums.into_iter().filter_map(|(dim, variable, factors)| {
            let lines = lines(region[dim], domain[variable as usize], factors)?;
            let mut part: Region = region.to_vec();
            part[dim] = lines;
            let one = Lines { op, value, rdom, dim, variable, factors, region: part };
            let [windows, by_line] = one.work(machine, region, &domain);
            let pays = by_line + by_line / 4 + KERNEL <= windows;
            (pays && one.holds(pipeline, &forms, &found)).then_some((by_line, one))
        });
        let all: Vec<(u64, Lines)> = all.collect();
        let least = all.iter().map(|(work, _)| *work).min()?;
        let near = all.into_iter().filter(|(work, _)| *work <= least + least / 2);
        near.max_by_key(|(_, lines)| lines.preference()).map(|(_, lines)| lines)
    }

    /// What is better of lines that are about as much work. Rows of what is in between have as many atoms as
    /// those of the picture, columns more; but where points read columns that lie apart, they come last.
    fn preference(&self) -> u32 {
        match (self.dim, self.factors[0]) {
            (0, 1) => 0,
            (0, _) => 2,
            _ => 1,
        }
    }

    /// Points of domains that the busiest engine goes through, a vector each: of windows, and line by line.
    fn work(&self, machine: &Machine, region: &[Interval], domain: &[Interval]) -> [u64; 2] {
        let engines = u64::from(machine.engines()) * u64::from(machine.vaults());
        let vectors = |region: &[Interval]| points(region).div_ceil(LANES as u64).div_ceil(engines);
        let of_line = (0u32..).zip(domain).filter(|(n, _)| *n != self.variable);
        let of_line = of_line.map(|(_, i)| u64::from(i.extent())).fold(1, u64::saturating_mul);
        let window = u64::from(domain[self.variable as usize].extent());
        let apart = if self.dim == 0 && self.factors[0] > 1 { SCATTERED_COST } else { 1 };
        let own = vectors(region).saturating_mul(window).saturating_mul(apart);
        let lines = vectors(&self.region).saturating_mul(of_line);
        [own.saturating_mul(of_line), lines.saturating_add(own)]
    }

    /// Whether the dimension and the variable come as the sum only.
    fn holds(
        &self,
        pipeline: &Pipeline,
        forms: &SecondaryMap<Expr, Option<IndexForm>>,
        found: &[Expr],
    ) -> bool {
        let mut free: BTreeMap<Expr, bool> = BTreeMap::new();
        for &expr in found {
            let kind = &pipeline.exprs[expr].kind;
            let mut all = !self.is_own(kind);
            kind.each_operand(|operand| all &= free[&operand]);
            free.insert(expr, all || self.multiple(forms[expr].as_ref()).is_some());
        }
        free[&self.value]
    }

    /// Whether an expression is the dimension or the variable.
    fn is_own(&self, kind: &ExprKind) -> bool {
        *kind == ExprKind::Dim(self.dim as u32) || *kind == ExprKind::RVar(self.rdom, self.variable)
    }

    /// How often a form has the sum, and what else it is. `None` where it has the dimension or the variable
    /// in any other way, or neither.
    fn multiple(&self, form: Option<&IndexForm>) -> Option<(i64, Affine)> {
        let form = form?.as_affine()?;
        let [a, b] = self.factors;
        let of = [form.dim(self.dim as u32), form.rvar(self.rdom, self.variable)];
        let times = of[0] / a;
        if times == 0 || of != [times * a, times * b] {
            return None;
        }
        let mut rest = form.clone();
        rest.terms.remove(&AffineVar::Dim(self.dim as u32));
        rest.terms.remove(&AffineVar::RVar(self.rdom, self.variable));
        Some((times, rest))
    }

    /// Makes a Func of the lines, of which the update reduces those of its window.
    fn divide(
        &self,
        pipeline: &mut Pipeline,
        bounds: &mut Bounds,
        (func, k): (Func, usize),
    ) -> Func {
        let forms = index_forms(pipeline);
        let data = pipeline.funcs[func].clone();
        let Update { span, .. } = data.updates[k];
        let mut domain = pipeline.rdoms[self.rdom].clone();
        let of_window = domain.dims.remove(self.variable as usize);
        let name = domain.name.clone();
        let inner = pipeline.rdoms.push(domain);
        let dims_of_window = vec![of_window];
        let outer = RDomData { name, dims: dims_of_window, predicates: vec![], span };
        let outer = pipeline.rdoms.push(outer);
        let ty = data.types[0];
        let mut maker = Maker { pipeline, simplifier: Simplifier::default(), span };
        let value = self.of_lines(&mut maker, &forms, inner);
        let literal = identity(self.op, ty).expect("there is one");
        let begin = maker.make(ExprKind::Literal(literal), ty);
        let vars: Vec<&str> = data.vars.iter().map(String::as_str).collect();
        let part = maker.func(format!("{}.lines{k}", data.name), &vars, ty, begin);
        let own = at_point(maker.pipeline, part, 0, span);
        let sum = maker.make(ExprKind::Binary(self.op, own, value), ty);
        let args = dims(maker.pipeline, part, span);
        maker.update(part, args.clone(), sum, inner);
        // The Func reduces lines of its window.
        let [a, b] = self.factors;
        let variable = maker.make(ExprKind::RVar(outer, 0), ElementType::I32);
        let (along, step) = (maker.scaled(args[self.dim], a, 0), maker.scaled(variable, b, 0));
        let mut line = args.clone();
        line[self.dim] = maker.int(BinaryOp::Add, along, step);
        let line = maker.make(ExprKind::Call(part, 0, line), ty);
        let own = at_point(maker.pipeline, func, 0, span);
        let sum = maker.make(ExprKind::Binary(self.op, own, line), ty);
        let schedule = Schedule::default();
        maker.pipeline.funcs[func].updates[k] =
            Update { args, values: vec![sum], rdom: Some(outer), schedule, span };
        let of_func = bounds.funcs[func].as_mut().expect("it is needed");
        if let Some(loops) = &mut of_func.stages[k + 1] {
            let window = loops.rvars.remove(self.variable as usize);
            let inner = std::mem::replace(&mut loops.rvars, vec![window]);
            let all = |rvars| Some(StageLoops { dims: self.region.clone(), rvars });
            let stages = vec![all(vec![]), all(inner)];
            bounds.funcs[part] = Some(FuncBounds { region: self.region.clone(), stages });
        }
        part
    }

    /// What a line contributes, with variables of `inner`.
    fn of_lines(
        &self,
        maker: &mut Maker<'_>,
        forms: &SecondaryMap<Expr, Option<IndexForm>>,
        inner: RDom,
    ) -> Expr {
        let renamed = |n: u32| ExprKind::RVar(inner, n - u32::from(n > self.variable));
        let mut new: BTreeMap<Expr, Expr> = BTreeMap::new();
        for expr in Walker::once(maker.pipeline, [self.value]) {
            let data = maker.pipeline.exprs[expr].clone();
            let made = match self.multiple(forms[expr].as_ref()) {
                Some((times, rest)) => {
                    let line = maker.dim(self.dim as u32);
                    let line = maker.scaled(line, times, rest.constant);
                    rest.terms.iter().fold(line, |sum, (&var, &factor)| {
                        let kind = match var {
                            AffineVar::Dim(n) => ExprKind::Dim(n),
                            AffineVar::RVar(rdom, n) if rdom == self.rdom => renamed(n),
                            AffineVar::RVar(rdom, n) => ExprKind::RVar(rdom, n),
                        };
                        let var = maker.make(kind, ElementType::I32);
                        let term = maker.scaled(var, factor, 0);
                        maker.int(BinaryOp::Add, sum, term)
                    })
                }
                // What is not used stays.
                None if self.is_own(&data.kind) => expr,
                None => {
                    let kind = match data.kind.map_operands(|operand| new[&operand]) {
                        ExprKind::RVar(rdom, n) if rdom == self.rdom => renamed(n),
                        kind => kind,
                    };
                    maker.simplifier.make(maker.pipeline, kind, data.ty, data.span)
                }
            };
            new.insert(expr, made);
        }
        new[&self.value]
    }
}

/// The values of a variable of a domain, where they are known and few enough for sums not to overflow.
fn interval(pipeline: &Pipeline, min: Expr, extent: Expr) -> Option<Interval> {
    let (min, extent) = (pipeline.integer(min)?, pipeline.integer(extent)?);
    let most = i64::from(MAX_COORDINATE);
    let fits = extent > 0 && -most <= min && min + extent <= most;
    fits.then(|| Interval::new(min as i32, (min + extent - 1) as i32))
}

/// The values of the sum of two multiples, if all are coordinates.
fn lines(of: Interval, variable: Interval, factors: [i64; 2]) -> Option<Interval> {
    let (mut low, mut high) = (0, 0);
    for (interval, factor) in [of, variable].into_iter().zip(factors) {
        let ends = [interval.min, interval.max].map(|end| i64::from(end).checked_mul(factor));
        let [Some(a), Some(b)] = ends else { return None };
        (low, high) = (low + a.min(b), high + a.max(b));
    }
    let most = i64::from(MAX_COORDINATE);
    (-most <= low && high <= most).then(|| Interval::new(low as i32, high as i32))
}
