//! Patches: what each tile of a nest reads of an image whose tiles do not follow it, as a mirrored,
//! turned or sheared one, one resized by any ratio, or one that data displaces within limits.
//!
//! The coordinates of a tile's points lie in a box, found by interval arithmetic. The corners of boxes
//! follow the tiles along straight lines, as far as the image's borders; each engine keeps the boxes of
//! its own tiles, a tile of a copy each, and finds elements in a window on the box.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use nbcc_isa_ipim::layout::{Layout, Tiled};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};
use nbcc_stages::bounds::{
    Affine, AffineVar, Env, Evaluator, IndexForm, Interval, MAX_COORDINATE, ParamValues,
};
use nbcc_stages::{Expr, ExprKind, Func, Walker};

use super::access::{Access, Source, Spread, spread, varies_along_x};
use super::copies::{Follows, finds_owners, follows};
use super::corner::{Corner, Ends, Units, fit};
use super::forms::Asked;
use super::grid::used;
use super::inner::{InnerIndex, InnerParts, inner_parts};
use super::modes::TiledAccess;
use super::order::Order;
use super::planner::{Failure, NestShape, Planner};
use super::reads::{Ratio, Read, TiledIndex, inner_index};
use super::steps::Holding;
use super::windows::{MARGIN, window_bytes};
use super::{BufferId, BufferPlan, Plan, Stage};
use crate::memory;

/// Where the boxes lie that the tiles of a copy hold of its source. The box of a tile is as large as the
/// tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The coordinate that atom 0 of a row begins with.
    pub origin: i64,
    /// The first atom of its rows, counted as the source's are, and its first row.
    pub corner: [Corner; 2],
    /// Columns and rows of tiles that have one.
    pub tiles: [u32; 2],
}

impl Patch {
    /// Whether the rows of each box, `height` of them, lie one behind the other in a bank of the source.
    pub fn in_blocks(&self, from: &BufferPlan, height: u32) -> bool {
        let (first, rows) = from.block_of_rows();
        let inside = |y: i64| (y - first).rem_euclid(rows) + i64::from(height) <= rows;
        self.corner[1].all(self.tiles, inside)
    }

    /// How many banks of the source have to be found for the `atoms` atoms of a row of a box.
    pub fn owners(&self, from: &BufferPlan, atoms: u32) -> u32 {
        let Layout::Tiled(tiled) = &from.layout else { return 1 };
        let Corner { first, steps, shift, limited, .. } = &self.corner[0];
        let width = tiled.tile[0] / LANES as u32;
        let whole = |step: &i64| step % i64::from(width.max(1)) == 0;
        match *shift == 0 && !limited && width > 0 && steps.iter().all(whole) {
            true => (first.rem_euclid(width.into()) as u32 + atoms).div_ceil(width),
            false => atoms,
        }
    }
}

/// No coordinate is looked at over more tiles.
const MOST_TILES: usize = 1 << 17;

/// The tile that is looked at before tiles are chosen.
const TYPICAL: [i32; 2] = [8, 8];

/// Of a nest with more accesses that tiles do not serve, none is looked at.
const MOST_ACCESSES: usize = 64;

/// Copies in every bank, or what a vault reads in each of its banks, have so many times the words for
/// patches to pay: each engine's atoms are requested by themselves.
const PAYS: u64 = 4;

/// Accesses that patches of one copy serve.
struct Group<'a> {
    members: Vec<(&'a Access, TiledAccess)>,
    along: [Ends; 2],
    corner: [Corner; 2],
    /// Atoms of a row, and rows.
    size: [u32; 2],
}

impl Group<'_> {
    fn area(&self) -> u64 {
        self.size.iter().map(|&n| u64::from(n)).product()
    }

    fn width(&self) -> u32 {
        self.size[0] * LANES as u32
    }
}

/// Accesses that one copy may serve: the same source, and the same terms of the planes of it.
type Key = (Source, u32, Vec<Vec<(AffineVar, i64)>>);

/// A read that patches serve, its tiles, and its accesses.
pub(super) type Patched = (Read, Tiled, Vec<Expr>);

impl Planner<'_> {
    /// The reads of a nest that patches serve, and the accesses that remain.
    pub(super) fn patches<'a>(
        &mut self,
        func: Func,
        shape: &NestShape,
        accesses: Vec<&'a Access>,
    ) -> Result<(Vec<Patched>, Vec<&'a Access>), Failure> {
        if accesses.len() > MOST_ACCESSES {
            return Ok((vec![], accesses));
        }
        let (accesses, mut rest): (Vec<&Access>, Vec<&Access>) =
            accesses.into_iter().partition(|access| self.may_patch(func, access));
        // A tile in the middle tells whether it is worth while to look at all.
        let middle = tiles_of(shape).map(|count| count / 2);
        let sample = self.ends(shape, &accesses, Some(middle));
        let mut promising = Vec::new();
        for access in accesses {
            let home = self.homes[&(access.source, access.value)];
            let group = self.patch_of(shape, access, &sample);
            match group.filter(|group| self.pays(home, shape, group)) {
                Some(group) if !self.fits(home, shape, &group) => {
                    return Err(too_large(func, access.source));
                }
                Some(_) => promising.push(access),
                None => rest.push(access),
            }
        }
        let accesses = promising;
        let known = self.ends(shape, &accesses, None);
        let mut groups = BTreeMap::<Key, Vec<Group<'a>>>::new();
        for access in accesses {
            let Some(group) = self.patch_of(shape, access, &known) else {
                rest.push(access);
                continue;
            };
            let inner = group.members[0].1.inner.iter();
            let inner = inner.map(|i| i.as_ref().map_or(vec![], InnerIndex::terms)).collect();
            let list = groups.entry((access.source, access.value, inner)).or_default();
            let home = self.homes[&(access.source, access.value)];
            let together = list.iter_mut().find_map(|other| {
                let both = self.together(home, shape, other, &group)?;
                (both.area() <= other.area() + group.area()).then_some((other, both))
            });
            match together {
                Some((other, both)) => *other = both,
                None => list.push(group),
            }
        }
        let mut reads = Vec::new();
        for ((source, value, _), list) in groups {
            for group in list {
                let home = self.homes[&(source, value)];
                if !self.pays(home, shape, &group) {
                    rest.extend(group.members.into_iter().map(|(access, _)| access));
                    continue;
                }
                if !self.fits(home, shape, &group) {
                    return Err(too_large(func, source));
                }
                reads.push(self.patched((source, value), shape, group));
            }
        }
        Ok((reads, rest))
    }

    /// Whether what a tile in the middle of a stage reads lies in a box that windows have room for.
    pub(super) fn follows_tiles(&self, func: Func, stage: Stage, access: &Access) -> bool {
        let plan = &self.plan;
        let Some(loops) = self.loops(func, stage).filter(|_| self.may_patch(func, access)) else {
            return false;
        };
        let mut env = Env::over(&loops.dims);
        for (interval, size) in env.dims.iter_mut().zip(TYPICAL) {
            let middle = interval.min + (interval.extent() / 2) as i32;
            *interval = Interval::new(middle, middle.saturating_add(size - 1).min(interval.max));
        }
        if let Stage::Update(k) = stage
            && let Some(rdom) = plan.pipeline.funcs[func].updates[k].rdom
        {
            env.rvars.extend((0u32..).zip(&loops.rvars).map(|(n, &i)| ((rdom, n), i)));
        }
        let params = ParamValues::new();
        let mut evaluator = Evaluator::new(&plan.pipeline, &plan.extents.inputs, &params);
        let along = access.args.iter().take(2).map(|&arg| {
            let (low, high) = evaluator.range(arg, &env).ints();
            (high - low + 1) as u64
        });
        let most = u64::from(window_bytes(self.machine) / ELEMENT_BYTES);
        along.fold(1, u64::saturating_mul) <= most
    }

    /// Whether an access of a Func may be served by patches at all.
    fn may_patch(&self, func: Func, access: &Access) -> bool {
        // Only coordinates along x and y are limited on the way to a box.
        let limited =
            |input| (2..access.args.len()).any(|k| self.plan.repeated(input, k).is_some());
        finds_owners(self.machine)
            && !self.limits.ways.unpatched
            && !access.args.is_empty()
            && !matches!(access.source, Source::Input(input) if limited(input))
            && !self.limits.unpatched.contains(&(func, access.source))
    }

    /// The ends of the coordinates of accesses over the tiles of a nest, or over one of them for all, where
    /// they can be found.
    fn ends(
        &self,
        shape: &NestShape,
        accesses: &[&Access],
        only: Option<[u32; 2]>,
    ) -> BTreeMap<Expr, Ends> {
        let plan = &self.plan;
        let tiles = tiles_of(shape);
        // Those that depend on the same axes are evaluated together: they have much in common.
        let mut alike: BTreeMap<[bool; 2], BTreeSet<Expr>> = BTreeMap::new();
        for &arg in accesses.iter().flat_map(|access| access.args.iter().take(2)) {
            let reachable = Walker::once(&plan.pipeline, [arg]);
            let kinds = || reachable.iter().map(|&e| &plan.pipeline.exprs[e].kind);
            let varies = [0, 1].map(|k| kinds().any(|kind| *kind == ExprKind::Dim(k)));
            let is_data = |kind| matches!(kind, &ExprKind::Load(..) | &ExprKind::Call(..));
            let count = [0, 1].map(|k| if varies[k] { tiles[k] as usize } else { 1 });
            // What data alone decides may be anywhere.
            if count[0] * count[1] <= MOST_TILES && (varies != [false; 2] || !kinds().any(is_data))
            {
                alike.entry(varies).or_default().insert(arg);
            }
        }
        let mut found = BTreeMap::new();
        for (varies, args) in alike {
            let args: Vec<Expr> = args.into_iter().collect();
            let asked = Asked {
                region: shape.region.clone(),
                origin: shape.tiles.origin,
                tile: shape.tiles.tile.map(i64::from),
                rdom: shape.rdom.clone(),
                args: args.clone(),
                only,
            };
            let differ = if only.is_some() { [false; 2] } else { varies };
            let known =
                plan.forms.ends(asked, || self.ends_of(shape, &args, (varies, differ), only));
            found.extend(args.into_iter().zip(known.iter().cloned()));
        }
        found
    }

    /// The ends of coordinates that depend on the same axes.
    fn ends_of(
        &self,
        shape: &NestShape,
        args: &[Expr],
        (varies, differ): ([bool; 2], [bool; 2]),
        only: Option<[u32; 2]>,
    ) -> Vec<Ends> {
        let plan = &self.plan;
        let params = ParamValues::new();
        let mut evaluator = Evaluator::new(&plan.pipeline, &plan.extents.inputs, &params);
        let mut rvars = BTreeMap::new();
        if let Some((rdom, intervals)) = &shape.rdom {
            rvars.extend((0u32..).zip(intervals).map(|(n, &i)| ((*rdom, n), i)));
        }
        let mut list: Vec<Vec<Option<(i64, i64)>>> = vec![vec![]; args.len()];
        let all = Ends::over(tiles_of(shape), differ, |tile| {
            let tile = only.unwrap_or(tile);
            let mut env = Env { dims: shape.region.clone(), rvars: rvars.clone() };
            for k in (0..2.min(env.dims.len())).filter(|&k| varies[k]) {
                env.dims[k] = shape.of_tile(k, tile[k]);
            }
            let empty = env.dims.iter().any(|interval| interval.is_empty());
            let forms = args.iter().map(|&arg| form_ends(plan.forms[arg].as_ref()?, &env));
            let forms: Vec<_> = forms.collect();
            let unknown = || args.iter().zip(&forms).filter(|(_, form)| form.is_none());
            let values = evaluator.ranges(unknown().map(|(&arg, _)| arg), &env);
            for ((list, &arg), form) in list.iter_mut().zip(args).zip(forms) {
                let ends = form.unwrap_or_else(|| values.range(arg).ints());
                list.push((!empty).then_some(ends));
            }
            None
        });
        list.into_iter().map(|ends| Ends { ends, ..all.clone() }).collect()
    }

    /// The boxes in which tiles read what an access does, alone in its group.
    fn patch_of<'a>(
        &self,
        shape: &NestShape,
        access: &'a Access,
        known: &BTreeMap<Expr, Ends>,
    ) -> Option<Group<'a>> {
        let plan = &self.plan;
        let buffer = &plan.buffers[self.homes[&(access.source, access.value)]];
        if matches!(buffer.layout, Layout::Replicated) {
            return None;
        }
        let along = |k: usize| {
            let held = buffer.span(k);
            let held = (i64::from(held.min), i64::from(held.max));
            match access.args.get(k) {
                Some(arg) => Some(known.get(arg)?.within(held)),
                None => Some(Ends { strides: [0, 0], ends: vec![Some(held)] }),
            }
        };
        let along = [along(0)?, along(1)?];
        let inner = access.args.iter().skip(2);
        let inner = inner.map(|&arg| {
            let of = plan.forms[arg].as_ref().and_then(inner_index).cloned()?;
            Some(InnerIndex { of, others: vec![], limits: None })
        });
        let index = [TiledIndex::one_to_one(), TiledIndex::one_to_one()];
        let tiled =
            TiledAccess { index: index.map(Rc::new), inner: inner.collect(), order: Order::new() };
        group(buffer, shape, vec![(access, tiled)], along)
    }

    /// One copy for two groups.
    fn together<'a>(
        &self,
        home: BufferId,
        shape: &NestShape,
        one: &Group<'a>,
        other: &Group<'a>,
    ) -> Option<Group<'a>> {
        let along = [0, 1].map(|k| one.along[k].union(&other.along[k], tiles_of(shape)));
        let members = [&one.members[..], &other.members].concat();
        group(&self.plan.buffers[home], shape, members, along)
    }

    /// Whether patches take less than what else serves accesses.
    fn pays(&self, home: BufferId, shape: &NestShape, group: &Group<'_>) -> bool {
        let buffer = &self.plan.buffers[home];
        let grid = &shape.tiles.grid;
        let planes: u64 = buffer.inner_extents().iter().map(|&n| u64::from(n)).product();
        let of_box = group.area() * LANES as u64;
        let words = of_box * u64::from(grid.strips) * u64::from(grid.rows) * planes;
        let pipeline = &self.plan.pipeline;
        let axes = group.members.iter().flat_map(|(access, _)| access.args.iter().take(2));
        let in_parts = axes.filter_map(|&arg| match follows(pipeline, arg) {
            Follows::Axis(axis) => Some(axis),
            _ => None,
        });
        let axes: BTreeSet<usize> = in_parts.collect();
        let parts: u64 = axes.into_iter().map(|axis| u64::from(shape.busy()[axis])).product();
        let otherwise = nbcc_stages::bounds::points(&buffer.region) / parts.max(1);
        words.saturating_mul(PAYS) <= otherwise
    }

    /// Whether a window on the boxes of a strip fits the scratchpad of a group, and a row of the boxes of
    /// all engines that of a vault.
    fn fits(&self, home: BufferId, shape: &NestShape, group: &Group<'_>) -> bool {
        let grid = &shape.tiles.grid;
        let inner = self.planes_of(&self.plan.buffers[home], shape, &group.members);
        let planes = inner.reach.iter().map(|(a, b)| (b - a + 1) as u64).product::<u64>();
        let pitch = u64::from(group.width() * grid.engines + 2 * MARGIN);
        let window = (pitch * u64::from(group.size[1]))
            .saturating_mul(planes)
            .saturating_mul(ELEMENT_BYTES.into());
        let row = group.size[0] * ATOM_BYTES * grid.engines * self.machine.hierarchy.pgs;
        let tile = [group.width(), group.size[1]];
        let extents = [0, 1].map(|k| i64::from(tiles_of(shape)[k]) * i64::from(tile[k]));
        extents.iter().all(|&extent| extent <= MAX_COORDINATE.into())
            && window <= u64::from(window_bytes(self.machine))
            && row <= memory::data_bytes(self.machine)
    }

    /// The part of the indices of planes that is the same in a tile, and the reach around it.
    fn planes_of(
        &self,
        buffer: &BufferPlan,
        shape: &NestShape,
        members: &[(&Access, TiledAccess)],
    ) -> InnerParts {
        let planes = &buffer.region[2.min(buffer.region.len())..];
        let members: Vec<_> = members.iter().map(|(_, tiled)| &tiled.inner[..]).collect();
        inner_parts(&members, planes, &|var| shape.interval(var))
    }

    /// The read of a group of accesses through a copy in patches.
    fn patched(
        &mut self,
        (source, value): (Source, u32),
        shape: &NestShape,
        group: Group<'_>,
    ) -> Patched {
        let home = self.homes[&(source, value)];
        let buffer = &self.plan.buffers[home];
        let inner = self.planes_of(buffer, shape, &group.members);
        let tile = [group.width(), group.size[1]];
        let used = tiles_of(shape);
        let mut region = buffer.region.clone();
        region.resize(region.len().max(2), Interval::new(0, 0));
        for k in 0..2 {
            region[k] = Interval::from_extent(0, used[k] * tile[k]);
        }
        let grid = shape.tiles.grid;
        let tiled = Tiled {
            grid,
            tile,
            origin: [0, 0],
            ghost_columns: [0, 0],
            ghost_rows: [0, 0],
            beside: 0,
        };
        let Group { members, corner, .. } = group;
        let (origin, _) = self.plan.buffers[home].atoms();
        let patch = Patch { origin, corner, tiles: all_tiles(shape) };
        let all = Holding::all(Layout::Tiled(tiled.clone()), region);
        let copy = self.copy(home, Holding { patch: Some(patch), ..all });
        let ratio = [0, 1].map(|k| Ratio::new(tile[k].into(), shape.tiles.tile[k].into()));
        let read = Read {
            source,
            value,
            buffer: copy,
            order: Order::new(),
            ratio,
            period: [1, 1],
            reach: tile.map(|n| (0, i64::from(n) - 1)),
            limits: [None, None],
            beyond_x: [0, 0],
            border: None,
            inner_reach: inner.reach,
            inner_base: inner.base,
            inner_limits: inner.limits,
            patched: true,
            window: None,
        };
        (read, tiled, members.into_iter().map(|(access, _)| access.expr).collect())
    }
}

/// Windows on patches do not fit.
fn too_large(func: Func, source: Source) -> Failure {
    let (sources, patched) = (vec![source], vec![source]);
    Failure::Windows { func, sources, permuted: vec![], patched, given_up: false }
}

/// The ends of the range of a form, where nothing on the way to it wraps: cheaper than to evaluate it.
fn form_ends(form: &IndexForm, env: &Env) -> Option<(i64, i64)> {
    let ends = |affine: &Affine| {
        let ends = |interval: Interval| (i64::from(interval.min), i64::from(interval.max));
        let (low, high) = affine.range(|var| ends(env.interval(var)));
        let most = i128::from(MAX_COORDINATE);
        (-most <= low && high <= most).then_some((low as i64, high as i64))
    };
    match form {
        IndexForm::Affine(affine) => ends(affine),
        IndexForm::FloorDiv { numerator, divisor } => {
            let (low, high) = ends(numerator)?;
            Some((low.div_euclid(*divisor), high.div_euclid(*divisor)))
        }
        IndexForm::Clamp { of, low, high } => {
            let (first, last) = form_ends(of, env)?;
            Some((first.clamp(*low, *high), last.clamp(*low, *high)))
        }
    }
}

/// Columns and rows of tiles up to the last with points.
fn tiles_of(shape: &NestShape) -> [u32; 2] {
    [0, 1].map(|k| {
        let last = shape.region.get(k).map_or(shape.tiles.origin[k], |i| i.max);
        used(shape.tiles.origin[k].into(), shape.tiles.tile[k].into(), last.into())
    })
}

/// Columns and rows of tiles of the vaults that hold points.
fn all_tiles(shape: &NestShape) -> [u32; 2] {
    let grid = &shape.tiles.grid;
    let of_group = [grid.strips * grid.engines, grid.rows];
    let busy = shape.busy();
    [0, 1].map(|k| busy[k] * grid.groups[k] * of_group[k])
}

fn group<'a>(
    buffer: &BufferPlan,
    shape: &NestShape,
    members: Vec<(&'a Access, TiledAccess)>,
    along: [Ends; 2],
) -> Option<Group<'a>> {
    let (tiles, all) = (tiles_of(shape), all_tiles(shape));
    let (origin, atoms) = buffer.atoms();
    let rows = buffer.span(1);
    let ends = |i: Interval| (i64::from(i.min), i64::from(i.max));
    let columns = Units { origin, size: LANES as i64, whole: ends(atoms) };
    let rows = Units { origin: 0, size: 1, whole: ends(rows) };
    let (x, width) = fit(&along[0], tiles, all, columns)?;
    let (y, height) = fit(&along[1], tiles, all, rows)?;
    Some(Group { members, along, corner: [x, y], size: [width, height] })
}

impl Plan {
    /// How far the element of each lane of a vector lies from that of the lane before, where an access is
    /// to rows of `pitch` elements and nothing but the lane's place decides it.
    pub fn lanes_apart(&self, access: Expr, pitch: u32) -> Option<i64> {
        let pipeline = &self.pipeline;
        let (input, args) = match &pipeline.exprs[access].kind {
            ExprKind::Load(input, args) => (Some(*input), args),
            ExprKind::Call(_, _, args) => (None, args),
            _ => return None,
        };
        if spread(pipeline, &self.forms, args) == Spread::Same {
            return Some(0);
        }
        let apart = |(k, &arg): (usize, &Expr)| {
            if !varies_along_x(pipeline, &[arg]) {
                let data = spread(pipeline, &self.forms, &[arg]) == Spread::Anywhere;
                return (!data).then_some(0);
            }
            let limited = input.is_some_and(|input| self.repeated(input, k).is_some());
            let stride = [1, i64::from(pitch)].get(k).copied().filter(|_| !limited)?;
            Some(self.forms[arg].as_ref().and_then(IndexForm::as_affine)?.dim(0) * stride)
        };
        args.iter().enumerate().map(apart).sum()
    }
}
