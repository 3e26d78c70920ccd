//! Indices along inner dimensions (2 and up of the producer), which are the same in all lanes: what
//! loop counters decide, brought inside of limits.

use nbcc_stages::bounds::{Affine, AffineVar, IndexForm, Interval, MAX_COORDINATE};
use nbcc_stages::{Expr, Pipeline};

use super::forms::Forms;
use super::limits::{Limits, clamped, mirrored};
use super::periodic::{Periodic, Separable, separable};
use super::{Plan, Source, inner_index};

/// An index along an inner dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerIndex {
    /// A form of inner dimensions and variables of a reduction domain.
    pub of: Affine,
    /// What is added to it: repeating functions of those, as in `c / 2`.
    pub others: Vec<(AffineVar, Periodic)>,
    /// The limits that it is brought into.
    pub limits: Option<Limits>,
}

impl InnerIndex {
    /// Reads an index. `None` where it has another form.
    pub fn of(pipeline: &Pipeline, forms: &Forms, index: Expr) -> Option<InnerIndex> {
        let plain = |form: &IndexForm, limits: Option<Limits>| {
            Some(InnerIndex { of: inner_index(form)?.clone(), others: vec![], limits })
        };
        let known = match &forms[index] {
            Some(IndexForm::Clamp { of, low, high }) => plain(of, Some(Limits::clamp(*low, *high))),
            Some(form) => plain(form, None),
            None => mirrored(pipeline, forms, index).and_then(|(coordinate, limits)| {
                let mut read = plain(forms[coordinate].as_ref()?, Some(limits))?;
                read.of.constant = read.of.constant.checked_add(limits.low)?;
                Some(read)
            }),
        };
        known.or_else(|| {
            let (coordinate, added, limits) = clamped(pipeline, forms, index);
            InnerIndex::of_sum(separable(pipeline, coordinate)?.plus(added), limits)
        })
    }

    fn of_sum(sum: Separable, limits: Option<Limits>) -> Option<InnerIndex> {
        let mut of = Affine::constant(sum.constant);
        let mut others = Vec::new();
        for (var, term) in sum.terms {
            match (var, &term.table[..]) {
                (AffineVar::Dim(0 | 1), _) => return None,
                (_, [_]) => {
                    of.terms.insert(var, term.step);
                }
                _ => others.push((var, term)),
            }
        }
        Some(InnerIndex { of, others, limits })
    }

    /// The index, clamped to `0..extent` after all else.
    fn repeated(self, extent: u32) -> Option<InnerIndex> {
        let last = i64::from(extent) - 1;
        let limits = match self.limits {
            None => Limits::clamp(0, last),
            Some(of) if of.sums().is_none() => {
                Limits::clamp(of.low.clamp(0, last), of.high.clamp(0, last))
            }
            Some(of) if 0 <= of.low && of.high <= last => of,
            Some(_) => return None,
        };
        Some(InnerIndex { limits: Some(limits), ..self })
    }

    /// The index where its variables lie in intervals: limits that change nothing go away. `None`
    /// where it is not what its form says: sums that are too large wrap, and what is mirrored may be
    /// mirrored once only.
    pub fn over(mut self, interval: &dyn Fn(AffineVar) -> Interval) -> Option<InnerIndex> {
        let Some(limits) = self.limits else { return Some(self) };
        let (low, high) = self.unlimited(interval);
        if limits.low <= low && high <= limits.high {
            self.limits = None;
            return Some(self);
        }
        let most = i64::from(MAX_COORDINATE);
        if low < -most || high > most {
            return None;
        }
        let once = |[least, greatest]: [i64; 2]| {
            least - low <= limits.high && limits.low <= greatest - high
        };
        limits.sums().is_none_or(once).then_some(self)
    }

    /// Least and greatest value before it is brought inside of limits.
    fn unlimited(&self, interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        let ends = |i: Interval| (i64::from(i.min), i64::from(i.max));
        let mut range = self.of.range(|var| ends(interval(var)));
        for (var, of) in &self.others {
            let (least, greatest) = of.range(interval(*var));
            range = (range.0 + i128::from(least), range.1 + i128::from(greatest));
        }
        let (low, high) = range;
        let within = |at: i128| at.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        (within(low), within(high))
    }

    /// Least and greatest value.
    pub fn range(&self, interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        let (low, high) = self.unlimited(interval);
        match self.limits {
            None => (low, high),
            Some(of) if of.sums().is_none() => {
                (low.clamp(of.low, of.high), high.clamp(of.low, of.high))
            }
            Some(of) => (of.low, of.high),
        }
    }

    /// The terms in the dimensions of the nest.
    pub fn terms(&self) -> Vec<(AffineVar, i64)> {
        let dims = self.of.terms.iter().filter(|(var, _)| matches!(var, AffineVar::Dim(_)));
        dims.map(|(&var, &c)| (var, c)).collect()
    }
}

/// The parts of the inner indices of accesses.
#[derive(Clone, Debug, Default)]
pub struct InnerParts {
    /// What stays the same in a tile.
    pub base: Vec<Affine>,
    /// Least and greatest element relative to that.
    pub reach: Vec<(i64, i64)>,
    /// The limits beyond which a window repeats or mirrors planes.
    pub limits: Vec<Option<Limits>>,
}

/// Splits the inner indices of each access into the part that all share and the reach around it:
/// every plane where an index is not known, or where more lie in reach than there are.
pub fn inner_parts(
    members: &[&[Option<InnerIndex>]],
    planes: &[Interval],
    interval: &dyn Fn(AffineVar) -> Interval,
) -> InnerParts {
    let mut parts = InnerParts::default();
    for (d, &all) in planes.iter().enumerate() {
        let known: Option<Vec<&InnerIndex>> =
            members.iter().map(|inner| inner[d].as_ref()).collect();
        let shared = known.map(|known| around(&known, interval));
        let limited = |(_, _, limits): &(Affine, (i64, i64), Option<Limits>)| limits.is_some();
        let every = || (Affine::default(), (i64::from(all.min), i64::from(all.max)), None);
        let (base, reach, limits) = match shared {
            Some(of) if limited(&of) && of.1.1 - of.1.0 >= i64::from(all.extent()) => every(),
            Some(of) => of,
            None => every(),
        };
        parts.base.push(base);
        parts.reach.push(reach);
        parts.limits.push(limits);
    }
    parts
}

/// What indices along one dimension share, and the reach around it.
fn around(
    known: &[&InnerIndex],
    interval: &dyn Fn(AffineVar) -> Interval,
) -> (Affine, (i64, i64), Option<Limits>) {
    let mut base = known[0].of.clone();
    base.terms.retain(|var, _| matches!(var, AffineVar::Dim(_)));
    base.constant = 0;
    let mut reach = (i64::MAX, i64::MIN);
    for index in known {
        let of = index.of.combine(1, &base, -1).unwrap_or_default();
        let others = index.others.clone();
        let range = InnerIndex { of, others, limits: None }.unlimited(interval);
        reach = (reach.0.min(range.0), reach.1.max(range.1));
    }
    (base, reach, known.iter().find_map(|index| index.limits))
}

impl Plan {
    /// The index of an access to a source along its dimension `k`, an inner one, as an expression
    /// says it and the edges of inputs are repeated. `None` where it has another form.
    pub fn inner(&self, source: Source, k: usize, index: Expr) -> Option<InnerIndex> {
        let read = InnerIndex::of(&self.pipeline, &self.forms, index)?;
        match source {
            Source::Input(input) => match self.repeated(input, k) {
                Some(all) => read.repeated(all.extent()),
                None => Some(read),
            },
            Source::Func(_) => Some(read),
        }
    }
}
