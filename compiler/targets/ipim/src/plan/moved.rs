//! Inputs that all stages read at some distance, as a crop or a shift does: the host lays them out so that
//! what a tile reads begins with its own tile.
//!
//! Coordinates of such an input are counted from there in a plan: what is added to them is taken off
//! again, and the layout tells the host where they begin.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_stages::bounds::{AffineVar, Bounds, Extents, Interval, Region};
use nbcc_stages::{BinaryOp, ElementType, ExprKind, Func, Input, Literal, Pipeline};

use super::Stage;
use super::access::{Access, Source, accesses};
use super::forms::Forms;
use super::order;
use super::reads::TiledIndex;

/// No input is moved further, so that coordinates of tiles stay far from the ends of their type.
const MAX_MOVE: i64 = 1 << 24;

/// An input as a plan has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// What is to be added to coordinates along x and y for those of the image.
    pub moved: [i32; 2],
    /// Whether coordinates along x and y, before that, are counted from the last of the image.
    pub backwards: [bool; 2],
    /// The coordinates that are kept: along those that are moved what is read, else all up to the last
    /// that is read.
    pub region: Region,
}

impl Held {
    fn new(extents: &[u32], read: Option<&Region>, moved: [i32; 2], backwards: [bool; 2]) -> Held {
        let along = |(k, &extent): (usize, &u32)| {
            let all = Interval::from_extent(0, extent);
            let Some(read) = read.map(|read| read[k]) else { return all };
            let [first, last] = [read.min, read.max].map(|end| end.clamp(all.min, all.max));
            match moved.get(k) {
                Some(&by) if by != 0 => Interval::new(first, last).moved(-by),
                _ => Interval::new(all.min, last),
            }
        };
        Held { moved, backwards, region: extents.iter().enumerate().map(along).collect() }
    }
}

/// Moves inputs that are read at a distance, and says what is kept of all. `backwards` says which are
/// turned around already.
pub(super) fn move_inputs(
    pipeline: &mut Pipeline,
    extents: &Extents,
    bounds: &mut Bounds,
    funcs: &[Func],
    backwards: &SecondaryMap<Input, [bool; 2]>,
) -> SecondaryMap<Input, Held> {
    let moved = distances(pipeline, bounds, funcs);
    let mut all = SecondaryMap::new();
    for input in pipeline.inputs.keys() {
        let by = moved.get(&input).copied().unwrap_or_default();
        let read = bounds.inputs[input].as_ref();
        all[input] = Held::new(&extents.inputs[input], read, by, backwards[input]);
    }
    if moved.is_empty() {
        return all;
    }
    pipeline.rewrite(funcs, |pipeline, _, kind, span| match kind {
        ExprKind::Load(input, mut args) => {
            let by = moved.get(&input).copied().unwrap_or_default();
            for (arg, by) in args.iter_mut().zip(by).filter(|(_, by)| *by != 0) {
                let ty = ElementType::I32;
                let by = pipeline.expr(ExprKind::Literal(Literal::Int((-by).into())), ty, span);
                *arg = pipeline.expr(ExprKind::Binary(BinaryOp::Add, *arg, by), ty, span);
            }
            ExprKind::Load(input, args)
        }
        kind => kind,
    });
    for (&input, by) in &moved {
        let read = bounds.inputs[input].iter_mut().flatten();
        read.zip(by).for_each(|(read, by)| *read = read.moved(-by));
    }
    all
}

/// How far from a tile all accesses of an input read, the nearest of them.
fn distances(pipeline: &Pipeline, bounds: &Bounds, funcs: &[Func]) -> BTreeMap<Input, [i32; 2]> {
    let forms = Forms::new(pipeline);
    // Least and greatest distance along x and y; none where one access has no tile.
    let mut found: BTreeMap<Input, [Option<(i64, i64)>; 2]> = BTreeMap::new();
    for &func in funcs {
        for stage in order::stages(pipeline, func) {
            let number = if let Stage::Update(k) = stage { k + 1 } else { 0 };
            let loops = bounds.funcs[func].as_ref().and_then(|of| of.stages[number].as_ref());
            let Some(loops) = loops else { continue };
            let interval = |var: AffineVar| match var {
                AffineVar::Dim(n) => loops.dims[n as usize],
                AffineVar::RVar(_, n) => loops.rvars[n as usize],
            };
            let distance = |access: &Access, k: usize| {
                let &arg = access.args.get(k).filter(|_| k < pipeline.funcs[func].vars.len())?;
                let index = forms.tiled(pipeline, arg, k as u32)?;
                is_straight(&index).then(|| index.reach(1, &interval))
            };
            for access in accesses(pipeline, func, stage) {
                let Source::Input(input) = access.source else { continue };
                let hulls = found.entry(input).or_insert([Some((i64::MAX, i64::MIN)); 2]);
                *hulls = [0, 1].map(|k| {
                    let ((low, high), (first, last)) = hulls[k].zip(distance(&access, k))?;
                    Some((low.min(first), high.max(last)))
                });
            }
        }
    }
    let nearest = |hull: Option<(i64, i64)>| match hull {
        Some((low, high)) if low <= high && (1..=MAX_MOVE).contains(&low) => low as i32,
        Some((low, high)) if low <= high && (-MAX_MOVE..0).contains(&high) => high as i32,
        _ => 0,
    };
    let all = found.into_iter().map(|(input, hulls)| (input, hulls.map(nearest)));
    all.filter(|(_, by)| *by != [0, 0]).collect()
}

/// Whether coordinates beyond limits are those at the limits, and do not come back.
fn is_straight(index: &TiledIndex) -> bool {
    index.around.is_none() && index.limits.is_none_or(|limits| limits.sums().is_none())
}
