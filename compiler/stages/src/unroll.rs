//! Unrolling of reductions: updates of every point by itself, over domains of few points, and of the
//! points at one place along some dimensions become part of the definition, point after point in the
//! domain's order; so do updates that reach each point of a box once, as `f(r.x, r.y) += ...` or
//! `f(9 - r.x, 2 * r.y) = ...`, in whatever order. What is left is a pure Func, which can be computed at each
//! use, keeps its value in a register and shares what neighbouring points read.

use foldhash::{HashMap, HashMapExt};
use nbcc_base::Span;

use crate::progression::{MAX_COORDINATE, Progression};
use crate::simplify::Simplifier;
use crate::{
    BinaryOp, CompareOp, Definition, DirectiveKind, ElementType, Expr, ExprKind, Func, Literal,
    Pipeline, RDom, Update, Walker,
};

/// The most expressions of an update that is for the points at one place only: all others compute it, too.
const AT_ONE_PLACE: usize = 40;

/// The points of a box for which an update of more expressions is evaluated everywhere.
const LARGE_BOX: i64 = 1024;

/// Where the points of a domain share nothing with those of neighbours, fewer of them are unrolled.
const APART: usize = 16;

/// A Func whose updates have become part of its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unrolled {
    /// The Func.
    pub func: Func,
    /// Updates that are gone.
    pub updates: usize,
    /// Points of their domains in all.
    pub points: u64,
}

/// A copy of a pipeline, extents known, in which the updates of Funcs are unrolled that come to no more than
/// `limit` expressions, and which those are. The updates of a Func stay where the left side of one is neither
/// every point nor those at one place nor a box of the domain's points, where one reads its Func elsewhere,
/// where conditions of its domain are not constants (but for a box), and where something else is computed
/// in its loops or made of them (`rfactor`), and of Funcs that `stays` is true of. Other directives of updates
/// have no loops left.
pub fn unroll_updates(
    pipeline: &Pipeline,
    limit: u64,
    stays: &dyn Fn(Func) -> bool,
) -> (Pipeline, Vec<Unrolled>) {
    let mut unroller = Unroller {
        pipeline: pipeline.clone(),
        simplifier: Simplifier::default(),
        walker: Walker::default(),
    };
    let mut done = Vec::new();
    for func in pipeline.funcs.keys() {
        if !are_loops_named(pipeline, func) && !stays(func) {
            done.extend(unroller.func(func, limit));
        }
    }
    (unroller.pipeline, done)
}

/// Whether something is computed or stored inside of loops of a Func.
pub fn are_loops_named(pipeline: &Pipeline, func: Func) -> bool {
    let mut directives = pipeline.funcs.values().flat_map(|data| {
        let of_updates = data.updates.iter().flat_map(|update| &update.schedule.directives);
        data.schedule.directives.iter().chain(of_updates)
    });
    directives.any(|directive| match directive.kind {
        DirectiveKind::ComputeAt { func: of, .. } | DirectiveKind::StoreAt { func: of, .. } => {
            of == func
        }
        _ => false,
    })
}

struct Unroller {
    pipeline: Pipeline,
    simplifier: Simplifier,
    walker: Walker,
}

impl Unroller {
    /// Unrolls the updates of a Func, if all can be.
    fn func(&mut self, func: Func, limit: u64) -> Option<Unrolled> {
        let data = self.pipeline.funcs[func].clone();
        let pure = data.pure?;
        let mut values = pure.values;
        let (mut done, mut left) = (Unrolled { func, updates: 0, points: 0 }, limit);
        for update in &data.updates {
            if let Some(sides) = self.sides(update) {
                let (after, size) = self.in_box(func, update, &sides, &values)?;
                values = after;
                left = left.checked_sub(size)?;
                done.updates += 1;
                done.points += sides.iter().map(|side| side.extent as u64).product::<u64>();
                continue;
            }
            let body = self.body(func, update)?;
            let points = self.points(update.rdom, left / body.len().max(1) as u64)?;
            if points.len() >= APART && self.reads_apart(func, &body) {
                return None;
            }
            let conditions = self.conditions(update, &points)?;
            left -= points.len() as u64 * body.len() as u64;
            let before = values.clone();
            for (point, _) in points.iter().zip(conditions).filter(|&(_, counts)| counts) {
                values = self.at(func, &body, &update.values, &values, point);
            }
            if let Some(here) = self.is_at_place(update) {
                values = self.select(here, &values, &before);
            }
            done.updates += 1;
            done.points += points.len() as u64;
        }
        if done.updates == 0 {
            return None;
        }
        let data = &mut self.pipeline.funcs[func];
        data.pure = Some(Definition { values, span: pure.span });
        data.updates.clear();
        Some(done)
    }

    /// Whether all that an update reads of other images at places which move with the domain moves along
    /// coordinates of its own, as both factors of a product of matrices do: what one point has read is of no
    /// use to its neighbours then, and loops keep code small.
    fn reads_apart(&mut self, func: Func, body: &[Expr]) -> bool {
        let mut any = false;
        for &expr in body {
            let args = match &self.pipeline.exprs[expr].kind {
                ExprKind::Load(_, args) => args,
                ExprKind::Call(callee, _, args) if *callee != func => args,
                _ => continue,
            };
            for &arg in args {
                let found = self.walker.reachable(&self.pipeline, [arg]);
                let of = |kind: fn(&ExprKind) -> bool| {
                    found.iter().any(|&e| kind(&self.pipeline.exprs[e].kind))
                };
                if of(|kind| matches!(kind, ExprKind::RVar(..))) {
                    any = true;
                    if of(|kind| matches!(kind, ExprKind::Dim(_))) {
                        return false;
                    }
                }
            }
        }
        any
    }

    /// The sides of the box of points that an update reaches once each: the left side names each variable
    /// of the domain at one place, times and plus a number, and dimensions elsewhere. `None` for others.
    fn sides(&self, update: &Update) -> Option<Vec<Side>> {
        let (pipeline, rdom) = (&self.pipeline, update.rdom?);
        let number = |expr: Expr| i32::try_from(pipeline.integer(expr)?).ok();
        let mut sides: Vec<Side> = Vec::new();
        for (d, &arg) in update.args.iter().enumerate() {
            if update.is_pure_dim(pipeline, d) {
                continue;
            }
            let Progression { variable, factor, offset } = Progression::of(pipeline, rdom, arg)?;
            let (min, extent) = pipeline.rdoms[rdom].dims[variable as usize];
            let (min, extent) = (number(min)?.into(), i64::from(number(extent)?.max(0)));
            if sides.iter().any(|side| side.variable == variable) {
                return None;
            }
            let ends: [i64; 2] = [min, min + extent.max(1) - 1];
            if ends.iter().any(|end| factor.abs().saturating_mul(end.abs()) > MAX_COORDINATE) {
                return None;
            }
            sides.push(Side { dim: d as u32, variable, min, extent, factor, offset });
        }
        (sides.len() == pipeline.rdoms[rdom].dims.len()).then_some(sides)
    }

    /// The values of a Func after an update that reaches each point of a box once, of those before it, and
    /// how many expressions that takes.
    fn in_box(
        &mut self,
        func: Func,
        update: &Update,
        sides: &[Side],
        before: &[Expr],
    ) -> Option<(Vec<Expr>, u64)> {
        let rdom = update.rdom?;
        let predicates = self.pipeline.rdoms[rdom].predicates.clone();
        let roots: Vec<Expr> = update.values.iter().chain(&predicates).copied().collect();
        let body = self.walker.reachable(&self.pipeline, roots.iter().copied());
        let kind = |expr: Expr| &self.pipeline.exprs[expr].kind;
        let is_own = |args: &[Expr]| {
            args.iter().zip(&update.args).all(|(&one, &own)| kind(one) == kind(own))
        };
        let elsewhere = body.iter().any(|&expr| match kind(expr) {
            ExprKind::Call(callee, _, args) => *callee == func && !is_own(args),
            _ => false,
        });
        let makes_funcs = |of: &DirectiveKind| matches!(of, DirectiveKind::Rfactor(_));
        let rfactored = update.schedule.directives.iter().any(|of| makes_funcs(&of.kind));
        let extents = sides.iter().map(|side| side.extent);
        let points = extents.fold(1, i64::saturating_mul);
        if elsewhere || rfactored || body.len() > AT_ONE_PLACE && points < LARGE_BOX {
            return None;
        }
        let span = update.span;
        let int = |this: &mut Self, kind| this.make(kind, ElementType::I32, span);
        let mut coordinates = vec![None; sides.len()];
        let mut conditions = Vec::new();
        for side in sides {
            let literal = |this: &mut Self, n| int(this, ExprKind::Literal(Literal::Int(n)));
            let (factor, ends) = (side.factor.abs(), [side.min, side.min + side.extent.max(1) - 1]);
            let [min, last] = ends.map(|n| literal(self, n));
            let [first_there, last_there] = ends.map(|n| literal(self, n * factor));
            let dim = int(self, ExprKind::Dim(side.dim));
            let offset = literal(self, side.offset);
            // The variable, times the factor's size.
            let [a, b] = if side.factor > 0 { [dim, offset] } else { [offset, dim] };
            let at = int(self, ExprKind::Binary(BinaryOp::Sub, a, b));
            for (op, a, b) in [(CompareOp::Le, first_there, at), (CompareOp::Le, at, last_there)] {
                conditions.push(self.make(ExprKind::Compare(op, a, b), ElementType::Bool, span));
            }
            let mut variable = at;
            if factor > 1 {
                let factor = literal(self, factor);
                variable = int(self, ExprKind::Binary(BinaryOp::Div, at, factor));
                let (rest, zero) =
                    (int(self, ExprKind::Binary(BinaryOp::Mod, at, factor)), literal(self, 0));
                let on = ExprKind::Compare(CompareOp::Eq, rest, zero);
                conditions.push(self.make(on, ElementType::Bool, span));
            }
            // Elsewhere the value is not used, but what is read for it must be there.
            let low = int(self, ExprKind::Binary(BinaryOp::Min, variable, last));
            let inside = int(self, ExprKind::Binary(BinaryOp::Max, low, min));
            coordinates[side.variable as usize] = Some(inside);
        }
        let instead = |kind: &ExprKind| match kind {
            ExprKind::Call(callee, value, _) if *callee == func => Some(before[*value as usize]),
            ExprKind::RVar(r, n) if *r == rdom => coordinates[*n as usize],
            _ => None,
        };
        let new = self.substituted(&body, &roots, &Point::default(), instead);
        let (after, holds) = new.split_at(update.values.len());
        conditions.extend(holds);
        let both = |this: &mut Self, a, b| {
            this.make(ExprKind::Binary(BinaryOp::And, a, b), ElementType::Bool, span)
        };
        let here = conditions.into_iter().reduce(|a, b| both(self, a, b))?;
        let size = body.len() as u64;
        match points {
            0 => Some((before.to_vec(), size)),
            _ => Some((self.select(here, after, before), size)),
        }
    }

    /// What an update evaluates at each point, operands first. `None` where it is not unrolled.
    fn body(&mut self, func: Func, update: &Update) -> Option<Vec<Expr>> {
        let pipeline = &self.pipeline;
        let kind = |expr: Expr| &pipeline.exprs[expr].kind;
        let is_own = |args: &[Expr]| {
            args.iter().zip(&update.args).all(|(&one, &own)| kind(one) == kind(own))
        };
        let is_dim = |d: &usize| update.is_pure_dim(pipeline, *d);
        let others: Vec<usize> = (0..update.args.len()).filter(|d| !is_dim(d)).collect();
        let is_constant = |&d: &usize| matches!(kind(update.args[d]), ExprKind::Literal(_));
        let (every_point, one_place) = (others.is_empty(), others.iter().all(is_constant));
        let asked = update.schedule.directives.iter();
        let makes_funcs = |kind: &DirectiveKind| matches!(kind, DirectiveKind::Rfactor(_));
        if !one_place || asked.map(|directive| &directive.kind).any(makes_funcs) {
            return None;
        }
        let body = self.walker.reachable(pipeline, update.values.iter().copied());
        let elsewhere = |&expr: &Expr| match &pipeline.exprs[expr].kind {
            ExprKind::Call(callee, _, args) => *callee == func && !is_own(args),
            _ => false,
        };
        let most = if every_point { usize::MAX } else { AT_ONE_PLACE };
        (body.len() <= most && !body.iter().any(elsewhere)).then_some(body)
    }

    /// Whether the point is one that an update is for; `None` where it is for all.
    fn is_at_place(&mut self, update: &Update) -> Option<Expr> {
        let mut all: Option<Expr> = None;
        for (d, &place) in update.args.iter().enumerate() {
            if update.is_pure_dim(&self.pipeline, d) {
                continue;
            }
            let data = self.pipeline.exprs[place].clone();
            let dim = self.make(ExprKind::Dim(d as u32), ElementType::I32, data.span);
            let place = self.make(data.kind, ElementType::I32, data.span);
            let equal = ExprKind::Compare(CompareOp::Eq, dim, place);
            let equal = self.make(equal, ElementType::Bool, data.span);
            all = Some(match all {
                Some(all) => {
                    let both = ExprKind::Binary(BinaryOp::And, all, equal);
                    self.make(both, ElementType::Bool, data.span)
                }
                None => equal,
            });
        }
        all
    }

    /// One list of values or the other, by a condition.
    fn select(&mut self, condition: Expr, then: &[Expr], other: &[Expr]) -> Vec<Expr> {
        let both = then.iter().zip(other);
        let selected = both.map(|(&a, &b)| {
            let data = self.pipeline.exprs[a].clone();
            self.make(ExprKind::Select(condition, a, b), data.ty, data.span)
        });
        selected.collect()
    }

    fn make(&mut self, kind: ExprKind, ty: ElementType, span: Span) -> Expr {
        self.simplifier.make(&mut self.pipeline, kind, ty, span)
    }

    /// The points of a domain, the first dimension fastest, each with its coordinates; one where there
    /// is no domain. `None` where they are not known or more than `most`.
    fn points(&self, rdom: Option<RDom>, most: u64) -> Option<Vec<Point>> {
        let Some(rdom) = rdom else { return (most > 0).then(|| vec![Point::default()]) };
        let constant = |expr: Expr| self.pipeline.integer(expr);
        let mut points = vec![Point { rdom: Some(rdom), at: vec![] }];
        for &(min, extent) in &self.pipeline.rdoms[rdom].dims {
            let (min, extent) = (constant(min)?, constant(extent)?.max(0));
            if extent.checked_mul(points.len() as i64)? as u64 > most {
                return None;
            }
            let along = |n| points.iter().map(move |point: &Point| point.and(min + n));
            points = (0..extent).flat_map(along).collect();
        }
        Some(points)
    }

    /// Whether each point counts. `None` where that is not known for all.
    fn conditions(&mut self, update: &Update, points: &[Point]) -> Option<Vec<bool>> {
        let Some(rdom) = update.rdom else { return Some(vec![true; points.len()]) };
        let conditions = self.pipeline.rdoms[rdom].predicates.clone();
        let body = self.walker.reachable(&self.pipeline, conditions.iter().copied());
        let only_coordinates = |&e: &Expr| {
            let kind = &self.pipeline.exprs[e].kind;
            !matches!(
                kind,
                ExprKind::Dim(_) | ExprKind::Param(_) | ExprKind::Load(..) | ExprKind::Call(..)
            )
        };
        if !body.iter().all(only_coordinates) {
            return None;
        }
        let holds = |pipeline: &Pipeline, condition: Expr| match pipeline.exprs[condition].kind {
            ExprKind::Literal(Literal::Int(holds)) => Some(holds != 0),
            _ => None,
        };
        let all_hold = |point: &Point| {
            let values = self.substituted(&body, &conditions, point, |_| None);
            let each: Option<Vec<bool>> =
                values.into_iter().map(|value| holds(&self.pipeline, value)).collect();
            each.map(|each| each.iter().all(|&holds| holds))
        };
        points.iter().map(all_hold).collect()
    }

    /// The values of a Func after a point, of those before it.
    fn at(
        &mut self,
        func: Func,
        body: &[Expr],
        values: &[Expr],
        before: &[Expr],
        point: &Point,
    ) -> Vec<Expr> {
        let own = |kind: &ExprKind| match kind {
            ExprKind::Call(callee, value, _) if *callee == func => Some(before[*value as usize]),
            _ => None,
        };
        self.substituted(body, values, point, own)
    }

    /// Expressions with the coordinates of a point in place of the domain's variables, and others as
    /// `instead` says.
    fn substituted(
        &mut self,
        body: &[Expr],
        roots: &[Expr],
        point: &Point,
        instead: impl Fn(&ExprKind) -> Option<Expr>,
    ) -> Vec<Expr> {
        let mut new: HashMap<Expr, Expr> = HashMap::with_capacity(body.len());
        for &expr in body {
            let data = self.pipeline.exprs[expr].clone();
            let made = instead(&data.kind).unwrap_or_else(|| {
                let kind = match data.kind {
                    ExprKind::RVar(rdom, n) if point.rdom == Some(rdom) => {
                        ExprKind::Literal(Literal::Int(point.at[n as usize]))
                    }
                    kind => kind.map_operands(|operand| new[&operand]),
                };
                self.make(kind, data.ty, data.span)
            });
            new.insert(expr, made);
        }
        roots.iter().map(|root| new[root]).collect()
    }
}

/// A side of a box: the dimension of the Func and the variable of the domain that run along it, where the
/// coordinate is `factor` times the variable, plus `offset`.
#[derive(Clone, Debug)]
struct Side {
    dim: u32,
    variable: u32,
    min: i64,
    extent: i64,
    factor: i64,
    offset: i64,
}

/// A point of a reduction domain.
#[derive(Clone, Debug, Default)]
struct Point {
    rdom: Option<RDom>,
    at: Vec<i64>,
}

impl Point {
    /// With one more coordinate.
    fn and(&self, next: i64) -> Point {
        let at = self.at.iter().copied().chain([next]).collect();
        Point { rdom: self.rdom, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Build;

    /// `f(x) = 0`, then `f(x) = f(x + shift) - in(x + r)` for `r` in `-1..=1`.
    fn sum(shift: i32) -> (Build, Func) {
        let mut b = Build::new();
        let input = b.input("in", 1);
        let (x, zero) = (b.dim(0), b.float(0.0));
        let f = b.func("f", &["x"], zero);
        let rdom = b.rdom("r", &[(-1, 3)]);
        let (r, shift) = (b.rvar(rdom, 0), b.int(shift));
        let own = match b.pipeline.exprs[shift].kind {
            ExprKind::Literal(Literal::Int(0)) => x,
            _ => b.add(x, shift),
        };
        let (own, at) = (b.call(f, &[own]), b.add(x, r));
        let loaded = b.load(input, &[at]);
        let value = b.binary(BinaryOp::Sub, own, loaded);
        b.update(f, &[x], &[value], Some(rdom));
        (b, f)
    }

    /// The constant parts of the coordinates that a value reads its input at, in the order in which it
    /// subtracts what is there.
    fn subtracted(p: &Pipeline, value: Expr) -> Vec<i64> {
        let mut offsets = Vec::new();
        let mut at = value;
        while let ExprKind::Binary(BinaryOp::Sub, before, loaded) = p.exprs[at].kind {
            let ExprKind::Load(_, args) = &p.exprs[loaded].kind else { panic!("{loaded} loads") };
            offsets.push(match p.exprs[args[0]].kind {
                ExprKind::Dim(0) => 0,
                ExprKind::Binary(op, _, c) => match p.exprs[c].kind {
                    ExprKind::Literal(Literal::Int(n)) if op == BinaryOp::Sub => -n,
                    ExprKind::Literal(Literal::Int(n)) => n,
                    _ => panic!("{c} is a number"),
                },
                _ => panic!("{loaded} reads near the point"),
            });
            at = before;
        }
        offsets.reverse();
        offsets
    }

    #[test]
    fn points_come_in_the_order_of_the_domain() {
        let (b, f) = sum(0);
        let (p, done) = unroll_updates(&b.pipeline, 100, &|_| false);
        assert_eq!(done, [Unrolled { func: f, updates: 1, points: 3 }]);
        assert!(p.funcs[f].updates.is_empty());
        let value = p.funcs[f].pure.as_ref().unwrap().values[0];
        assert_eq!(subtracted(&p, value), [-1, 0, 1]);
    }

    /// `f(x, y) = 7`, then `f(r.x, y) = f(r.x, y) + r.x` with `own` as the place that is read.
    fn box_of(own: impl Fn(&mut Build, Expr) -> Expr) -> (Build, Func) {
        let mut b = Build::new();
        let (seven, y) = (b.int(7), b.dim(1));
        let f = b.func("f", &["x", "y"], seven);
        let rdom = b.rdom("r", &[(2, 5)]);
        let r = b.rvar(rdom, 0);
        let at = own(&mut b, r);
        let before = b.call(f, &[at, y]);
        let value = b.add(before, r);
        b.update(f, &[r, y], &[value], Some(rdom));
        (b, f)
    }

    #[test]
    fn a_box_is_selected() {
        let (b, f) = box_of(|_, r| r);
        let (p, done) = unroll_updates(&b.pipeline, 100, &|_| false);
        assert_eq!(done, [Unrolled { func: f, updates: 1, points: 5 }]);
        let value = p.funcs[f].pure.as_ref().unwrap().values[0];
        assert!(matches!(p.exprs[value].kind, ExprKind::Select(..)));
        let all = Walker::once(&p, [value]);
        assert!(!all.iter().any(|&e| matches!(p.exprs[e].kind, ExprKind::RVar(..))));
        // What another point of the box holds depends on the order.
        let (b, _) = box_of(|b, r| {
            let one = b.int(1);
            b.add(r, one)
        });
        assert!(unroll_updates(&b.pipeline, 100, &|_| false).1.is_empty());
    }

    #[test]
    fn a_row_of_its_own_is_selected_where_no_loop_is_left() {
        for is_scanned in [false, true] {
            let mut b = Build::new();
            let (x, y) = (b.dim(0), b.dim(1));
            let f = b.func("f", &["x", "y"], x);
            let (row, seven) = (b.int(2), b.int(7));
            b.update(f, &[x, row], &[seven], None);
            if is_scanned {
                let below = b.add(y, row);
                let own = b.call(f, &[x, below]);
                b.update(f, &[x, y], &[own], None);
            }
            let (p, done) = unroll_updates(&b.pipeline, 100, &|_| false);
            let value = p.funcs[f].pure.as_ref().unwrap().values[0];
            if is_scanned {
                assert_eq!((done.len(), p.funcs[f].updates.len()), (0, 2));
                continue;
            }
            assert_eq!(done, [Unrolled { func: f, updates: 1, points: 1 }]);
            let ExprKind::Select(condition, ..) = p.exprs[value].kind else { panic!("{value}") };
            assert!(matches!(p.exprs[condition].kind, ExprKind::Compare(CompareOp::Eq, ..)));
        }
    }

    #[test]
    fn points_without_their_condition_do_not_count() {
        let (mut b, f) = sum(0);
        let rdom = b.pipeline.funcs[f].updates[0].rdom.unwrap();
        let (r, one) = (b.rvar(rdom, 0), b.int(1));
        let holds = b.compare(CompareOp::Ne, r, one);
        b.pipeline.rdoms[rdom].predicates.push(holds);
        let (p, _) = unroll_updates(&b.pipeline, 100, &|_| false);
        let value = p.funcs[f].pure.as_ref().unwrap().values[0];
        assert_eq!(subtracted(&p, value), [-1, 0]);
    }

    #[test]
    fn what_depends_on_other_points_stays() {
        for (shift, limit) in [(1, 100), (0, 5)] {
            let (b, f) = sum(shift);
            let (p, done) = unroll_updates(&b.pipeline, limit, &|_| false);
            assert_eq!((p.funcs[f].updates.len(), done.len()), (1, 0), "{shift}, {limit}");
        }
    }

    #[test]
    fn an_update_of_which_others_are_made_stays() {
        let (mut b, f) = sum(0);
        let kind = DirectiveKind::Rfactor(vec![("r$x".to_string(), "u".to_string())]);
        let directive = crate::Directive { kind, span: Default::default() };
        b.pipeline.funcs[f].updates[0].schedule.directives.push(directive);
        assert!(unroll_updates(&b.pipeline, 100, &|_| false).1.is_empty());
    }

    #[test]
    fn conditions_on_the_point_keep_the_loop() {
        let (mut b, f) = sum(0);
        let rdom = b.pipeline.funcs[f].updates[0].rdom.unwrap();
        let (x, one) = (b.dim(0), b.int(1));
        let holds = b.compare(CompareOp::Lt, x, one);
        b.pipeline.rdoms[rdom].predicates.push(holds);
        assert!(unroll_updates(&b.pipeline, 100, &|_| false).1.is_empty());
    }
}
