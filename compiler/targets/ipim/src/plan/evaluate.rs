//! The values that a coordinate has over a part of a nest, found by evaluating it.
//!
//! Only coordinates that nothing but loop counters decides have such values, computed in integers
//! and in floats whose operations round once on the machine as well.

mod runs;

use nbcc_stages::bounds::{AffineVar, Interval};
use nbcc_stages::{BinaryOp, Expr, ExprKind, Intrinsic, Pipeline, Walker, word_of};

pub(super) use runs::Run;

/// No coordinate is evaluated at more points.
const MOST_POINTS: u64 = 1 << 18;
/// No larger expression is evaluated.
const MOST_EXPRS: usize = 64;

/// A coordinate that can be evaluated.
pub(super) struct Coordinate<'a> {
    pipeline: &'a Pipeline,
    /// What it consists of, operands first.
    order: Vec<Expr>,
    /// The variables that it depends on.
    pub vars: Vec<AffineVar>,
}

impl<'a> Coordinate<'a> {
    /// A coordinate; `None` where more than loop counters decides it, or it is too large.
    pub fn new(pipeline: &'a Pipeline, index: Expr) -> Option<Coordinate<'a>> {
        let order = Walker::once(pipeline, [index]);
        if order.len() > MOST_EXPRS {
            return None;
        }
        let mut vars = Vec::new();
        for &expr in &order {
            let data = &pipeline.exprs[expr];
            match &data.kind {
                ExprKind::Dim(n) => vars.push(AffineVar::Dim(*n)),
                ExprKind::RVar(rdom, n) => vars.push(AffineVar::RVar(*rdom, *n)),
                ExprKind::Load(..)
                | ExprKind::Call(..)
                | ExprKind::Param(_)
                | ExprKind::InputExtent(..) => return None,
                ExprKind::Intrinsic(op, _) => match op {
                    Intrinsic::Floor | Intrinsic::Ceil | Intrinsic::Round | Intrinsic::Trunc => {}
                    _ => return None,
                },
                // Divisions of floats may differ from the machine's in the last place.
                ExprKind::Binary(BinaryOp::Div | BinaryOp::Mod, ..) if data.ty.is_float() => {
                    return None;
                }
                _ => {}
            }
        }
        vars.sort_unstable();
        vars.dedup();
        Some(Coordinate { pipeline, order, vars })
    }

    /// Calls `visit` with runs of all values over the points of intervals. `false` where there are
    /// too many points; then nothing is visited.
    pub fn each(
        &self,
        interval: impl Fn(AffineVar) -> Interval,
        mut visit: impl FnMut(Run),
    ) -> bool {
        let intervals: Vec<Interval> = self.vars.iter().map(|&var| interval(var)).collect();
        if intervals.iter().any(|i| i.is_empty()) {
            return true;
        }
        let points = intervals.iter().map(|i| u64::from(i.extent()));
        if points.fold(1u64, u64::saturating_mul) > MOST_POINTS {
            return false;
        }
        let mut at: Vec<i32> = intervals.iter().map(|i| i.min).collect();
        // The longest interval is looked at as a whole, at each point of the others.
        let longest = (0..at.len()).max_by_key(|&k| intervals[k].extent());
        let Some(swept) = longest else {
            let none = Interval::new(0, 0);
            self.sweep(&mut at, None, none, &mut visit);
            return true;
        };
        loop {
            self.sweep(&mut at, Some(swept), intervals[swept], &mut visit);
            let others = || (0..intervals.len()).filter(|&k| k != swept);
            let next = others().find(|&k| at[k] < intervals[k].max);
            let Some(k) = next else { return true };
            at[k] += 1;
            others().filter(|&j| j < k).for_each(|j| at[j] = intervals[j].min);
        }
    }

    fn slot(&self, expr: Expr) -> usize {
        self.order.binary_search(&expr).expect("an expression consists of its operands")
    }

    fn word(&self, expr: Expr, words: &[u32], at: &[i32]) -> u32 {
        let counter = |var: AffineVar| {
            let k = self.vars.binary_search(&var).expect("every variable was collected");
            at[k] as u32
        };
        word_of(self.pipeline, expr, |e| words[self.slot(*e)], counter)
    }
}

/// The tiled dimensions of a nest that a coordinate depends on, where it can be evaluated.
pub(super) fn tiled_dims(coordinate: &Coordinate<'_>) -> Vec<usize> {
    let dims = coordinate.vars.iter().filter_map(|var| match var {
        AffineVar::Dim(n) if *n < 2 => Some(*n as usize),
        _ => None,
    });
    dims.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nbcc_stages::CompareOp;
    use nbcc_stages::build::Build;

    use super::*;

    #[test]
    fn every_value_of_a_coordinate_is_visited() {
        let mut build = Build::new();
        let rdom = build.rdom("r", &[(-1, 3)]);
        let (x, r) = (build.dim(0), build.rvar(rdom, 0));
        let nine = build.int(9);
        let sum = build.add(x, r);
        let inside = build.compare(CompareOp::Lt, sum, nine);
        let back = build.binary(BinaryOp::Sub, nine, sum);
        let folded = build.expr(ExprKind::Select(inside, sum, back), nbcc_stages::ElementType::I32);
        let coordinate = Coordinate::new(&build.pipeline, folded).expect("loop counters decide it");
        assert_eq!(tiled_dims(&coordinate), [0]);
        let over = |last: i32| {
            move |var: AffineVar| match var {
                AffineVar::Dim(_) => Interval::new(5, last),
                AffineVar::RVar(..) => Interval::new(-1, 1),
            }
        };
        let mut found = BTreeSet::new();
        assert!(coordinate.each(over(8), |run| found.extend(run.values())));
        let expected =
            (-1..=1).flat_map(|r| (5..=8).map(move |x| if x + r < 9 { x + r } else { 9 - x - r }));
        assert_eq!(found, expected.collect());
        assert!(!coordinate.each(over(1 << 20), |_| panic!("too many points are not visited")));
    }

    #[test]
    fn what_data_decides_has_no_places() {
        let mut build = Build::new();
        let input = build.input("in", 1);
        let x = build.dim(0);
        let element = build.load(input, &[x]);
        let index = build.cast(nbcc_stages::ElementType::I32, element);
        assert!(Coordinate::new(&build.pipeline, index).is_none());
    }
}
