//! Unrolling of reductions: updates of every point by itself, over domains of few points, and of the
//! points at one place along some dimensions become part of the definition, point after point in the
//! domain's order. What is left is a pure Func, which can be computed at each use, keeps its value in a
//! register and shares what neighbouring points read.

use foldhash::{HashMap, HashMapExt};
use nbcc_base::Span;

use crate::simplify::Simplifier;
use crate::{
    BinaryOp, CompareOp, Definition, DirectiveKind, ElementType, Expr, ExprKind, Func, Literal,
    Pipeline, RDom, Update, Walker,
};

/// The most expressions of an update that is for the points at one place only: all others compute it, too.
const AT_ONE_PLACE: usize = 40;

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
/// every point nor those at one place, where one reads its Func elsewhere, where conditions of its domain
/// are not constants, and where something else is computed in its loops or made of them (`rfactor`). Other
/// directives of updates have no loops left.
pub fn unroll_updates(pipeline: &Pipeline, limit: u64) -> (Pipeline, Vec<Unrolled>) {
    let mut unroller = Unroller {
        pipeline: pipeline.clone(),
        simplifier: Simplifier::default(),
        walker: Walker::default(),
    };
    let mut done = Vec::new();
    for func in pipeline.funcs.keys() {
        if !are_loops_named(pipeline, func) {
            done.extend(unroller.func(func, limit));
        }
    }
    (unroller.pipeline, done)
}

/// Whether something is computed or stored inside of loops of a Func.
fn are_loops_named(pipeline: &Pipeline, func: Func) -> bool {
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
            let body = self.body(func, update)?;
            let points = self.points(update.rdom, left / body.len().max(1) as u64)?;
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
        let constant = |expr: Expr| match self.pipeline.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(n)) => Some(n),
            _ => None,
        };
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
        let (p, done) = unroll_updates(&b.pipeline, 100);
        assert_eq!(done, [Unrolled { func: f, updates: 1, points: 3 }]);
        assert!(p.funcs[f].updates.is_empty());
        let value = p.funcs[f].pure.as_ref().unwrap().values[0];
        assert_eq!(subtracted(&p, value), [-1, 0, 1]);
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
            let (p, done) = unroll_updates(&b.pipeline, 100);
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
        let (p, _) = unroll_updates(&b.pipeline, 100);
        let value = p.funcs[f].pure.as_ref().unwrap().values[0];
        assert_eq!(subtracted(&p, value), [-1, 0]);
    }

    #[test]
    fn what_depends_on_other_points_stays() {
        for (shift, limit) in [(1, 100), (0, 5)] {
            let (b, f) = sum(shift);
            let (p, done) = unroll_updates(&b.pipeline, limit);
            assert_eq!((p.funcs[f].updates.len(), done.len()), (1, 0), "{shift}, {limit}");
        }
    }

    #[test]
    fn an_update_of_which_others_are_made_stays() {
        let (mut b, f) = sum(0);
        let kind = DirectiveKind::Rfactor(vec![("r$x".to_string(), "u".to_string())]);
        let directive = crate::Directive { kind, span: Default::default() };
        b.pipeline.funcs[f].updates[0].schedule.directives.push(directive);
        assert!(unroll_updates(&b.pipeline, 100).1.is_empty());
    }

    #[test]
    fn conditions_on_the_point_keep_the_loop() {
        let (mut b, f) = sum(0);
        let rdom = b.pipeline.funcs[f].updates[0].rdom.unwrap();
        let (x, one) = (b.dim(0), b.int(1));
        let holds = b.compare(CompareOp::Lt, x, one);
        b.pipeline.rdoms[rdom].predicates.push(holds);
        assert!(unroll_updates(&b.pipeline, 100).1.is_empty());
    }
}
