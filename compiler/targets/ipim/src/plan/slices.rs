//! Tables that are too large for a scratchpad, a few planes at a time: where a loop over an inner dimension of
//! a nest decides on the plane of the copy, as the channel that is computed on the weights of a convolution,
//! those of its rounds follow each other in the table (strip mining of that loop).

use std::collections::BTreeMap;

use nbcc_isa_ipim::LANES;
use nbcc_stages::bounds::{AffineVar, IndexForm, Interval};
use nbcc_stages::{Expr, ExprKind};

use super::planner::NestShape;
use super::{BufferId, Plan};

/// What of a copy is in its table during some rounds of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The dimension of the nest that the loop is along, from 2 on.
    pub dim: usize,
    /// The rounds.
    pub planes: u32,
    /// The number in the copy of the first element, in the first rounds: a multiple of an atom.
    pub first: u32,
    /// Elements by which it is further in each round.
    pub stride: u32,
    /// Elements.
    pub words: u32,
}

/// The planes of a copy of which each round of a loop reads one.
pub(super) struct Planes {
    /// The dimension of the nest that the loop is along, from 2 on.
    pub dim: usize,
    /// Rounds of that loop.
    rounds: u32,
    /// The number in the copy of the first element of the first plane.
    first: u32,
    /// Elements of a plane.
    stride: u32,
    /// Elements of a plane that are read, in whole atoms.
    read: Interval,
}

impl Planes {
    /// How many planes a slice can have, most first, all of them aside.
    pub fn counts(&self) -> Vec<u32> {
        let divides = |count: &u32| self.rounds.is_multiple_of(*count);
        (1..self.rounds).rev().filter(divides).collect()
    }

    /// A slice of so many planes.
    pub fn slice(&self, planes: u32) -> Slice {
        let Planes { dim, stride, read, .. } = *self;
        // What is not read of the planes in between is there as well.
        let words = (planes - 1) * stride + read.extent();
        Slice { dim, planes, first: self.first + read.min as u32, stride, words }
    }
}

/// The planes of a copy along its last dimension, if all accesses of a nest take theirs from the same loop
/// over an inner dimension.
pub(super) fn planes(
    plan: &Plan,
    copy_of: &BTreeMap<Expr, BufferId>,
    shape: &NestShape,
    id: BufferId,
) -> Option<Planes> {
    let region = &plan.buffers[id].region;
    let (last, within) = region.split_last().filter(|(_, within)| !within.is_empty())?;
    let mut extents: Vec<u32> = within.iter().map(|interval| interval.extent()).collect();
    extents[0] = extents[0].next_multiple_of(LANES as u32);
    let stride = extents.iter().try_fold(1u32, |n, extent| n.checked_mul(*extent))?;
    let mut found: Option<(usize, i64, Interval)> = None;
    for (&expr, _) in copy_of.iter().filter(|(_, of)| **of == id) {
        let (ExprKind::Load(_, args) | ExprKind::Call(_, _, args)) =
            &plan.pipeline.exprs[expr].kind
        else {
            return None;
        };
        let (&plane, args) = args.split_last()?;
        let (dim, ahead) = along_one(plan.forms[plane].as_ref()?)?;
        let mut read = Interval::new(0, 0);
        let mut factor = 1;
        for ((&arg, &held), extent) in args.iter().zip(within).zip(&extents) {
            let (low, high) = match &plan.forms[arg] {
                Some(form) => form.range(|var| shape.interval(var)),
                None => (held.min.into(), held.max.into()),
            };
            let at = |value: i128| {
                (value.clamp(held.min.into(), held.max.into()) as i32 - held.min) * factor
            };
            read = Interval::new(read.min + at(low), read.max + at(high));
            factor *= *extent as i32;
        }
        found = match found {
            None => Some((dim, ahead, read)),
            Some(of) if (of.0, of.1) == (dim, ahead) => Some((dim, ahead, of.2.union(read))),
            Some(_) => return None,
        };
    }
    let (dim, ahead, read) = found?;
    let rounds = shape.region.get(dim)?;
    let from = i64::from(rounds.min) + ahead - i64::from(last.min);
    let inside = 0 <= from && from + i64::from(rounds.extent()) <= i64::from(last.extent());
    let lanes = LANES as i32;
    let atoms = Interval::new(
        read.min.div_euclid(lanes) * lanes,
        read.max.div_euclid(lanes) * lanes + lanes - 1,
    );
    // What lies beyond the copy has no number in it.
    (inside && rounds.extent() > 1).then(|| Planes {
        dim,
        rounds: rounds.extent(),
        first: from as u32 * stride,
        stride,
        read: atoms,
    })
}

/// The inner dimension that a coordinate runs along, and how far ahead of it.
fn along_one(form: &IndexForm) -> Option<(usize, i64)> {
    let form = form.as_affine()?;
    let mut terms = form.terms.iter();
    match (terms.next()?, terms.next()) {
        ((&AffineVar::Dim(dim), 1), None) if dim >= 2 => Some((dim as usize, form.constant)),
        _ => None,
    }
}
