//! What attempts at a plan have in common: the pipeline with its inputs where tiles begin, with constants
//! beyond edges as borders and with updates rewritten that are reduced in parts, and its forms.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use nbcc_stages::bounds::{Bounds, Extents};
use nbcc_stages::{Expr, Func, Input, Pipeline};

use super::backwards::turn;
use super::forms::Forms;
use super::modes::{Reduction, reduction};
use super::moved::{Held, move_inputs};
use super::padded::{Padded, pad};
use super::planes::Chosen;
use super::planner::Limits;

/// The most elements that are reduced in parts: each takes an atom of every bank.
const MAX_PARTS: u64 = 1 << 16;

/// A pipeline that a plan can be made of.
pub(super) struct Prepared {
    pub(super) pipeline: Rc<Pipeline>,
    pub(super) bounds: Rc<Bounds>,
    pub(super) forms: Rc<Forms>,
    /// The Funcs that are computed at all.
    pub(super) needed: Vec<Func>,
    /// What is kept of inputs.
    pub(super) held: SecondaryMap<Input, Held>,
    /// What accesses mean that read a constant beyond an edge.
    pub(super) padded: BTreeMap<Expr, Padded>,
    /// The updates that can be reduced in parts.
    pub(super) reductions: BTreeMap<(Func, usize), Reduction>,
    /// The limits it was prepared within.
    within: Within,
}

/// The limits that decide what a pipeline looks like.
#[derive(PartialEq, Eq)]
struct Within {
    by_plane: BTreeSet<Func>,
    unpadded: BTreeSet<Func>,
    single: BTreeSet<Func>,
}

impl Within {
    fn of(limits: &Limits) -> Within {
        Within {
            by_plane: limits.by_plane.clone(),
            unpadded: limits.unpadded.clone(),
            single: limits.single.clone(),
        }
    }
}

impl Prepared {
    /// Prepares a pipeline, or takes what was made of the same one within the same limits.
    pub(super) fn within<'a>(
        kept: &'a mut Option<Prepared>,
        limits: &Limits,
        (pipeline, extents, bounds): (&Pipeline, &Extents, &Bounds),
    ) -> &'a Prepared {
        let within = Within::of(limits);
        if kept.as_ref().is_some_and(|kept| kept.within != within) {
            *kept = None;
        }
        kept.get_or_insert_with(|| Prepared::new(within, pipeline, extents, bounds))
    }

    fn new(within: Within, pipeline: &Pipeline, extents: &Extents, bounds: &Bounds) -> Prepared {
        let (mut pipeline, mut bounds) = (pipeline.clone(), bounds.clone());
        for &func in &within.by_plane {
            if let Some(chosen) = Chosen::of(&pipeline, extents, &bounds, func) {
                chosen.compute_by_plane(&mut pipeline, &mut bounds);
            }
        }
        let needed: Vec<Func> = bounds.needed(&pipeline).map(|(f, _)| f).collect();
        let backwards = turn(&mut pipeline, extents, &mut bounds, &needed);
        let held = move_inputs(&mut pipeline, extents, &mut bounds, &needed, &backwards);
        let reduced = needed.iter().copied().filter(|f| !within.single.contains(f));
        let reductions = reductions(&mut pipeline, &bounds, reduced);
        let mut forms = Forms::new(&pipeline);
        let mut padded = BTreeMap::new();
        for &func in needed.iter().filter(|func| !within.unpadded.contains(func)) {
            padded.extend(pad(&mut pipeline, &forms, func));
        }
        if !padded.is_empty() {
            forms = Forms::new(&pipeline);
        }
        Prepared {
            pipeline: Rc::new(pipeline),
            bounds: Rc::new(bounds),
            forms: Rc::new(forms),
            needed,
            held,
            padded,
            reductions,
            within,
        }
    }
}

/// Whether the points of update `k` are enough to be reduced in parts: all elements have to be
/// cleared and summed up in every engine.
pub(super) fn pays_in_parts(bounds: &Bounds, func: Func, k: usize) -> bool {
    let Some(bounds) = &bounds.funcs[func] else { return false };
    let Some(loops) = &bounds.stages[k + 1] else { return false };
    let elements = nbcc_stages::bounds::points(&bounds.region);
    elements <= MAX_PARTS && elements <= nbcc_stages::bounds::points(&loops.rvars)
}

/// The updates that can be reduced in parts.
pub(super) fn reductions(
    pipeline: &mut Pipeline,
    bounds: &Bounds,
    funcs: impl IntoIterator<Item = Func>,
) -> BTreeMap<(Func, usize), Reduction> {
    let mut all = BTreeMap::new();
    for func in funcs {
        for k in 0..pipeline.funcs[func].updates.len() {
            if pays_in_parts(bounds, func, k)
                && let Some(found) = reduction(pipeline, func, k)
            {
                all.insert((func, k), found);
            }
        }
    }
    all
}
