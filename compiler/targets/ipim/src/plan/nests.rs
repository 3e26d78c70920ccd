//! The reads of a nest: accesses that one buffer and one window can serve, put together; copies
//! where no buffer serves; ghost zones where tiles reach over their borders.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use nbcc_isa_ipim::LANES;
use nbcc_isa_ipim::layout::{Layout, Tiled};
use nbcc_stages::bounds::{AffineVar, Interval, MAX_COORDINATE};
use nbcc_stages::{Expr, Func};
use num_integer::lcm;

use super::access::{Access, Source};
use super::border::{Border, Outside};
use super::inner::{InnerIndex, inner_parts};
use super::limits::Limits;
use super::modes::TiledAccess;
use super::order::{Order, placed};
use super::planner::{Failure, NestShape, Planner};
use super::reads::{Ratio, Read, aligned};
use super::steps::Holding;
use super::windows::{place_windows, window_bytes, windows_end};
use super::{BufferId, Finding, FindingKind, Nest, Step, Table, Window, tables};

impl Planner<'_> {
    /// Puts the reads of a nest together.
    pub(super) fn nest(
        &mut self,
        func: Func,
        shape: NestShape,
        accesses: &[Access],
    ) -> Result<Nest, Failure> {
        let mut groups: BTreeMap<GroupKey, Vec<(Expr, TiledAccess)>> = BTreeMap::new();
        let mut borders: Borders = BTreeMap::new();
        let mut outside: BTreeMap<(Source, u32), Outside> = BTreeMap::new();
        let mut elsewhere = Vec::new();
        let mut read_of = BTreeMap::new();
        for access in accesses {
            let home = (access.source, access.value);
            let near = self.near_form(func, access, &shape, outside.get(&home).copied());
            if near.is_none() && self.padded.contains_key(&access.expr) {
                return Err(Failure::Padded(func));
            }
            match near.or_else(|| self.permuted_form(func, access, &shape)) {
                Some(Near { tiled, border, limits }) => {
                    outside.extend(border.map(|border| (home, border.outside)));
                    let without = self.active_limits(access, &tiled, &shape);
                    borders.insert(access.expr, (border, without));
                    let key = GroupKey {
                        source: access.source,
                        value: access.value,
                        ratio: tiled.ratio(),
                        limits,
                        order: tiled.order.clone(),
                        inner: tiled
                            .inner
                            .iter()
                            .map(|i| i.as_ref().map_or(vec![], InnerIndex::terms))
                            .collect(),
                        inner_limits: tiled
                            .inner
                            .iter()
                            .map(|i| i.as_ref().and_then(|i| i.limits))
                            .collect(),
                    };
                    groups.entry(key).or_default().push((access.expr, tiled));
                }
                None => elsewhere.push(access),
            }
        }
        self.leave_edges(&mut groups, &mut borders, &shape);
        let (patches, elsewhere) = self.patches(func, &shape, elsewhere)?;
        let copy_of = self.elsewhere(func, &shape, &elsewhere)?;
        self.merge_limits(&mut groups, &shape);
        let mut reads: Vec<(Read, Tiled)> = Vec::new();
        for (read, tiled, members) in patches {
            read_of.extend(members.into_iter().map(|expr| (expr, reads.len())));
            reads.push((read, tiled));
        }
        for (key, members) in &groups {
            let number = reads.len();
            read_of.extend(members.iter().map(|(expr, _)| (*expr, number)));
            let (mut read, tiled) = self.read(key, members, &shape);
            let borders = members.iter().map(|(expr, _)| borders[expr].0);
            read.border = borders.fold(None, Border::union);
            reads.push((read, tiled));
        }
        let unroll_x = reads.iter().fold(1, |n, (r, _)| {
            // Vectors until a lane's place repeats: the least n with 4 * n a multiple of d.
            lcm(n, Ratio::new(LANES as i64, r.period[0]).d)
        });
        let unroll_y = reads.iter().fold(1, |n, (r, _)| lcm(n, r.period[1]));
        let Some((block_rows, tables)) = self.place_in_scratchpad(&shape, &copy_of, &mut reads)
        else {
            let of = |holds: &dyn Fn(&Read) -> bool| {
                let reads = reads.iter().filter(|(read, _)| holds(read));
                reads.map(|(read, _)| read.source).collect::<Vec<_>>()
            };
            let permuted = of(&|read| !read.order.is_empty());
            let patched = of(&|read| read.patched);
            // Narrower tiles would make others slower.
            let given_up = patched.len() < reads.len();
            let sources = by_window(&reads);
            return Err(Failure::Windows { func, sources, permuted, patched, given_up });
        };
        for (read, _) in &reads {
            self.want_ghosts(read);
        }
        Ok(Nest {
            name: shape.name,
            region: shape.region,
            tiles: shape.tiles,
            rdom: shape.rdom,
            reads: reads.into_iter().map(|(r, _)| r).collect(),
            read_of,
            copy_of,
            tables,
            block_rows,
            unroll: [unroll_x as u32, unroll_y as u32],
        })
    }

    /// An access that the tiles of its source serve, and perhaps a border, which holds this already.
    fn near_form(
        &self,
        func: Func,
        access: &Access,
        shape: &NestShape,
        outside: Option<Outside>,
    ) -> Option<Near> {
        let tiled = self.tiled_form(func, access, shape.dims)?;
        if !self.is_near(&tiled, shape) || !self.mirrors_nearby(access, &tiled, shape) {
            return None;
        }
        let (border, limits) = self.border_of(access, &tiled, shape, outside).ok()?;
        Some(Near { tiled: planes_over(tiled, shape)?, border, limits })
    }

    /// An access that a copy in another order of dimensions serves, in tiles that meet the nest's.
    fn permuted_form(&self, func: Func, access: &Access, shape: &NestShape) -> Option<Near> {
        let tiled = planes_over(self.permuted(func, access, &shape.region)?, shape)?;
        let size = |k: usize| tiled.ratio()[k].of(shape.tiles.tile[k].into());
        let whole = size(0).is_some_and(|width| width % LANES as i64 == 0) && size(1).is_some();
        let origins = (0..2).all(|k| tiled.ratio()[k].of(shape.tiles.origin[k].into()).is_some());
        // What runs along the atoms of the source is not clamped one by one.
        let limits = self.active_limits(access, &tiled, shape);
        let across = tiled.order.get(1) == Some(&Some(0));
        let clamped = across && limits[1].is_some();
        let serves = whole && origins && !clamped && self.is_near(&tiled, shape);
        serves.then_some(Near { tiled, border: None, limits })
    }

    /// Gives reads their windows and copies their tables: small ones before windows, others where
    /// windows leave room.
    fn place_in_scratchpad(
        &mut self,
        shape: &NestShape,
        copy_of: &BTreeMap<Expr, BufferId>,
        reads: &mut [(Read, Tiled)],
    ) -> Option<(u32, BTreeMap<BufferId, Table>)> {
        let candidates = match shape.tables {
            true => tables::candidates(&self.plan, copy_of, shape),
            false => vec![],
        };
        let all = window_bytes(self.machine);
        let beside = all - tables::reserved(self.machine, &candidates);
        let rows = self.place_windows(shape, reads, &[beside, all])?;
        let end = windows_end(reads.iter().map(|(read, _)| read));
        Some((rows, tables::lay_out(self.machine, &candidates, end)))
    }

    /// Gives reads their windows, in the first of so many bytes in which they fit. Where all reads are to
    /// be staged but do not fit, only those are that cannot do without.
    fn place_windows(
        &mut self,
        shape: &NestShape,
        reads: &mut [(Read, Tiled)],
        rooms: &[u32],
    ) -> Option<u32> {
        let place = |reads: &mut [(Read, Tiled)]| {
            rooms.iter().find_map(|&room| place_windows(room, &shape.tiles, reads))
        };
        if shape.stage_pgsm {
            // A window that exists is laid out even where the bank could be read directly.
            for (read, _) in reads.iter_mut() {
                read.window = Some(Window::default());
            }
            if let Some(rows) = place(reads) {
                return Some(rows);
            }
            for (read, _) in reads.iter_mut() {
                read.window = None;
            }
        }
        let rows = place(reads)?;
        if shape.stage_pgsm {
            let (about, span) = (shape.name.clone(), Some(shape.span));
            self.plan.findings.push(Finding { about, span, kind: FindingKind::NotAllStaged });
        }
        Some(rows)
    }

    /// The limits of the coordinates of an access, where they go beyond them.
    pub(super) fn active_limits(
        &self,
        access: &Access,
        tiled: &TiledAccess,
        shape: &NestShape,
    ) -> [Option<Limits>; 2] {
        [0, 1].map(|k| {
            let place = if tiled.order.is_empty() { k } else { tiled.order[k]? };
            let range = self.range(tiled, k, shape);
            let goes_beyond = |of: &Limits| range.0 < of.low || range.1 > of.high;
            if let Some(limits) = tiled.index[k].limits.filter(|of| of.sums().is_some()) {
                return Some(limits).filter(goes_beyond);
            }
            let padded =
                || self.padded.get(&access.expr).is_some_and(|of| of.sides[k] != [false; 2]);
            if tiled.index[k].around.is_some() || padded() {
                return None;
            }
            let implicit = match access.source {
                Source::Input(input) if self.plan.pipeline.inputs[input].repeat_edge => {
                    let all = self.plan.input_region(input);
                    all.get(place).map(|all| Limits::clamp(all.min.into(), all.max.into()))
                }
                _ => None,
            };
            let within = |of: Limits, (first, last): (i64, i64)| {
                Limits::clamp(of.low.clamp(first, last), of.high.clamp(first, last))
            };
            let limits = match (tiled.index[k].limits, implicit) {
                (Some(own), Some(all)) => Some(within(own, (all.low, all.high))),
                (one, other) => one.or(other),
            };
            // A clamp may have one limit only; what is held limits the other side.
            let home = self.homes[&(access.source, access.value)];
            let held = self.plan.buffers[home].region.get(place);
            let limits = limits.zip(held);
            let limits = limits.map(|(of, held)| within(of, (held.min.into(), held.max.into())));
            limits.filter(goes_beyond)
        })
    }

    /// Least and greatest coordinate, before clamping, that an access reads along dimension `k`.
    pub(super) fn range(&self, tiled: &TiledAccess, k: usize, shape: &NestShape) -> (i64, i64) {
        let own = shape.region.get(k).copied().unwrap_or(Interval::new(0, 0));
        tiled.index[k].range((own.min.into(), own.max.into()), &|var| shape.interval(var))
    }

    /// Whether the coordinates of an access are what its form says: sums that are too large wrap.
    fn is_near(&self, tiled: &TiledAccess, shape: &NestShape) -> bool {
        let most = i64::from(MAX_COORDINATE);
        (0..2).all(|k| {
            let (low, high) = self.range(tiled, k, shape);
            -most <= low && high <= most
        })
    }

    /// Whether an engine finds what an access reads in place of what lies beyond limits that mirror:
    /// the bank holds as many elements behind a tile as before it, and no point of the nest is
    /// further beyond a limit than elements are from the point that reads them, or windows can hold
    /// what that one reads as well.
    fn mirrors_nearby(&self, access: &Access, tiled: &TiledAccess, shape: &NestShape) -> bool {
        let mirrors = |of: &Limits| of.sums().is_some();
        let limits = self.active_limits(access, tiled, shape);
        if !limits.iter().flatten().any(mirrors) {
            return true;
        }
        let buffer = &self.plan.buffers[self.homes[&(access.source, access.value)]];
        let Layout::Tiled(tiles) = &buffer.layout else { return false };
        let in_reach = |k: usize| {
            let Some(of) = limits[k].filter(mirrors) else { return true };
            let held = buffer.region.get(k).is_some_and(|held| {
                i64::from(held.min) <= of.low && of.high <= i64::from(held.max)
            });
            let interval = |var: AffineVar| shape.interval(var);
            let reach = tiled.index[k].reach(shape.tiles.tile[k].into(), &interval);
            let range = self.range(tiled, k, shape);
            let width = i64::from(tiles.tile[k]);
            let inside = of.low - range.0 <= (-reach.0).clamp(0, of.high - of.low)
                && range.1 - of.high <= (reach.1 - width + 1).clamp(0, of.high - of.low);
            held && (inside || self.mirrored_from(tiled, k, of, shape).is_some_and(|n| n <= width))
        };
        aligned(&shape.tiles, tiles, tiled.ratio())
            && self.limits_in_reach(&limits, shape, &[(access.expr, tiled.clone())])
            && in_reach(0)
            && in_reach(1)
    }

    /// How far beyond a tile the elements are that its points read in place of those beyond limits that
    /// mirror. `None` where the source has other tiles than the nest, or points lie far beyond.
    fn mirrored_from(
        &self,
        tiled: &TiledAccess,
        k: usize,
        of: Limits,
        shape: &NestShape,
    ) -> Option<i64> {
        let index = &tiled.index[k];
        let (sums, own) = (of.sums()?, shape.region.get(k)?);
        if (index.ratio, index.period()) != (Ratio::ONE, 1) {
            return None;
        }
        let (first, last) = index.reach(1, &|var| shape.interval(var));
        let (origin, width) = (i64::from(shape.tiles.origin[k]), i64::from(shape.tiles.tile[k]));
        let start = |point: i64| point - (point - origin).rem_euclid(width);
        let (least, greatest) = (i64::from(own.min), i64::from(own.max));
        let below = least..=greatest.min(of.low - first - 1);
        let above = least.max(of.high - last + 1)..=greatest;
        let far = |points: &RangeInclusive<i64>| points.end() - points.start() >= 2 * width;
        if far(&below) || far(&above) {
            return None;
        }
        let low = below.map(|point| {
            let from = sums[0] - (point + first);
            (from <= of.high).then_some(from - (start(point) + width - 1))
        });
        let high = above.map(|point| {
            let from = sums[1] - (point + last);
            (of.low <= from).then_some(start(point) - from)
        });
        low.chain(high).try_fold(0, |most, n| Some(n?.max(most)))
    }

    /// Of edges that lie out of the reach of some tiles that read beyond them, windows hold copies: groups
    /// have no elements there which a border could repeat.
    fn leave_edges(
        &self,
        groups: &mut BTreeMap<GroupKey, Vec<(Expr, TiledAccess)>>,
        borders: &mut Borders,
        shape: &NestShape,
    ) {
        let repeats = |borders: &Borders, expr: &Expr| {
            borders[expr].0.is_some_and(|border| border.outside == Outside::Edge)
        };
        for key in groups.keys().cloned().collect::<Vec<_>>() {
            let members = groups[&key].clone();
            let in_reach = |(expr, _): &(Expr, TiledAccess)| {
                self.limits_in_reach(&borders[expr].1, shape, &members)
            };
            let (edges, others): (Vec<_>, Vec<_>) =
                members.iter().cloned().partition(|(expr, _)| repeats(borders, expr));
            if edges.iter().all(in_reach) {
                continue;
            }
            match others.is_empty() {
                true => groups.remove(&key),
                false => groups.insert(key.clone(), others),
            };
            for (expr, tiled) in edges {
                let (border, limits) = borders.get_mut(&expr).expect("it has one");
                *border = None;
                let key = GroupKey { limits: *limits, ..key.clone() };
                groups.entry(key).or_default().push((expr, tiled));
            }
        }
    }

    /// Accesses without limits join those with, where the limits would not change them.
    fn merge_limits(
        &self,
        groups: &mut BTreeMap<GroupKey, Vec<(Expr, TiledAccess)>>,
        shape: &NestShape,
    ) {
        let keys: Vec<GroupKey> = groups.keys().cloned().collect();
        // Those of a source are next to each other.
        let of_source: Vec<&[GroupKey]> = keys.chunk_by(|a, b| a.source == b.source).collect();
        let keys = of_source.iter().flat_map(|all| all.iter().map(|from| (from, *all)));
        for (from, others) in keys {
            let Some(members) = groups.get(from) else { continue };
            let fits = |to: &GroupKey| {
                to != from
                    && (to.value, to.ratio) == (from.value, from.ratio)
                    && (&to.inner, &to.order) == (&from.inner, &from.order)
                    && planes_join(from, to, members, shape)
                    && (0..2).all(|k| match (from.limits[k], to.limits[k]) {
                        (a, b) if a == b => true,
                        (None, Some(of)) => members.iter().all(|(_, tiled)| {
                            let (first, last) = self.range(tiled, k, shape);
                            of.low <= first && last <= of.high
                        }),
                        _ => false,
                    })
            };
            if let Some(to) = others.iter().find(|to| groups.contains_key(to) && fits(to)) {
                let moved = groups.remove(from).expect("it was there");
                groups.entry(to.clone()).or_default().extend(moved);
            }
        }
    }

    /// One read: its reach, and the buffer that serves it.
    fn read(
        &mut self,
        key: &GroupKey,
        members: &[(Expr, TiledAccess)],
        shape: &NestShape,
    ) -> (Read, Tiled) {
        let interval = |var: AffineVar| shape.interval(var);
        let mut reach = [(i64::MAX, i64::MIN); 2];
        let mut needed = [(i64::MAX, i64::MIN); 2];
        for (_, tiled) in members {
            for k in 0..2 {
                let r = tiled.index[k].reach(shape.tiles.tile[k].into(), &interval);
                reach[k] = (reach[k].0.min(r.0), reach[k].1.max(r.1));
                let r = self.range(tiled, k, shape);
                needed[k] = (needed[k].0.min(r.0), needed[k].1.max(r.1));
            }
        }
        for (k, reach) in reach.iter_mut().enumerate() {
            if let Some(of) = key.limits[k].filter(|of| of.sums().is_some()) {
                // What is mirrored lies as far on the other side, or where points beyond limits read it.
                let width = key.ratio[k].of(shape.tiles.tile[k].into()).expect("tiles are whole");
                let from = members.iter().filter_map(|(_, t)| self.mirrored_from(t, k, of, shape));
                let most = (-reach.0).max(reach.1 - width + 1).max(from.max().unwrap_or(0));
                *reach = (-most, width - 1 + most);
            }
        }
        let home = self.homes[&(key.source, key.value)];
        let mut region = self.plan.buffers[home].region.clone();
        if !key.order.is_empty() {
            region = placed(&key.order, &region, Interval::new(0, 0));
            for (d, held) in region.iter_mut().skip(2).enumerate() {
                *held = planes_read(members, d, *held, &interval);
            }
        }
        let planes = &region[2.min(region.len())..];
        let inner: Vec<_> = members.iter().map(|(_, tiled)| &tiled.inner[..]).collect();
        let inner = inner_parts(&inner, planes, &interval);
        let wanted = self.wanted(shape, key.ratio);
        let served = match &self.plan.buffers[home].layout {
            Layout::Tiled(tiled) => {
                key.order.is_empty()
                    && aligned(&shape.tiles, tiled, key.ratio)
                    && self.limits_in_reach(&key.limits, shape, members)
            }
            _ => false,
        };
        let mut read = Read {
            source: key.source,
            value: key.value,
            buffer: home,
            order: key.order.clone(),
            ratio: key.ratio,
            period: [0, 1]
                .map(|k| members.iter().fold(1, |n, (_, tiled)| lcm(n, tiled.index[k].period()))),
            reach,
            limits: key.limits,
            beyond_x: key.limits[0].map_or([0, 0], |of| {
                [(of.low - needed[0].0).max(0), (needed[0].1 - of.high).max(0)]
            }),
            border: None,
            inner_reach: inner.reach,
            inner_base: inner.base,
            inner_limits: inner.limits,
            patched: false,
            window: None,
        };
        if !served {
            for (k, interval) in region.iter_mut().enumerate().take(2) {
                *interval = Interval::new(needed[k].0 as i32, needed[k].1 as i32);
            }
            let mut tiled = wanted;
            self.widen(&mut tiled, &read);
            let clamp = key.limits.map(|of| of.map(|of| (of.low, of.high)));
            let clamp = if clamp == [None, None] { vec![] } else { clamp.to_vec() };
            let width = i64::from(tiled.tile[0]);
            let all = Holding::all(Layout::Tiled(tiled), region);
            read.buffer = self.copy(home, Holding { order: key.order.clone(), clamp, ..all });
            let reach = [-read.reach[0].0, read.reach[0].1 - width + 1].map(|n| n.max(0) as u32);
            let buffer = &mut self.plan.buffers[read.buffer];
            buffer.reach_x = greater(buffer.reach_x, reach);
            read.limits = [None, None];
            read.beyond_x = [0, 0];
        }
        let tiled = self.plan.buffers[read.buffer].tiled().clone();
        (read, tiled)
    }

    /// The tiles of a producer that meet those of a nest.
    fn wanted(&self, shape: &NestShape, ratio: [Ratio; 2]) -> Tiled {
        let whole = |k: usize, n: i64| {
            ratio[k].of(n).unwrap_or_else(|| panic!("tiles of {} are not whole", shape.name))
        };
        let size = |k: usize| whole(k, shape.tiles.tile[k].into());
        let origin = |k: usize| whole(k, shape.tiles.origin[k].into());
        Tiled {
            grid: shape.tiles.grid,
            tile: [size(0) as u32, size(1) as u32],
            origin: [origin(0) as i32, origin(1) as i32],
            ghost_columns: [0, 0],
            ghost_rows: [0, 0],
            beside: 0,
        }
    }

    /// Whether the limits of a read are where windows find them: along x within the strip that
    /// reads beyond them, along y within the rows of the group.
    pub(super) fn limits_in_reach(
        &self,
        limits: &[Option<Limits>; 2],
        shape: &NestShape,
        members: &[(Expr, TiledAccess)],
    ) -> bool {
        let interval = |var: AffineVar| shape.interval(var);
        (0..2).all(|k| {
            // Of limits that mirror, `mirrors_nearby` knows.
            let clamps = limits[k].filter(|of| of.sums().is_none());
            let Some(Limits { low, high, .. }) = clamps else { return true };
            let own = shape.region.get(k).copied().unwrap_or(Interval::new(0, 0));
            let grid = &shape.tiles.grid;
            let step = i64::from(shape.tiles.tile[k] * [grid.engines, grid.rows][k]);
            let origin = i64::from(shape.tiles.origin[k]);
            let (first, last) = (i64::from(own.min), i64::from(own.max));
            let parts = (first - origin).div_euclid(step)..=(last - origin).div_euclid(step);
            parts.into_iter().all(|part| {
                let start = (origin + part * step).max(first);
                let end = (origin + (part + 1) * step - 1).min(last);
                let ranges = members.iter().map(|(_, t)| t.index[k].range((start, end), &interval));
                let hull = ranges.fold((i64::MAX, i64::MIN), |h, r| (h.0.min(r.0), h.1.max(r.1)));
                hull.1 >= low && hull.0 <= high
            })
        })
    }

    /// Gives tiles the ghost zones that a read reaches into.
    fn widen(&self, tiled: &mut Tiled, read: &Read) {
        let strip = i64::from(tiled.tile[0]) * i64::from(tiled.grid.engines);
        let columns = |n: i64| (n.max(0) as u64).div_ceil(strip as u64) as u32;
        let left = columns(-read.reach[0].0);
        let right = columns(read.reach[0].1 - i64::from(tiled.tile[0]) + 1);
        let top = (-read.reach[1].0).max(0) as u32;
        let bottom = (read.reach[1].1 - i64::from(tiled.tile[1]) + 1).max(0) as u32;
        tiled.ghost_columns = greater(tiled.ghost_columns, [left, right]);
        tiled.ghost_rows = greater(tiled.ghost_rows, [top, bottom]);
    }

    /// Widens the home of a read, and has its ghost zones filled before the read.
    fn want_ghosts(&mut self, read: &Read) {
        let home = self.homes[&(read.source, read.value)];
        if read.buffer != home {
            return;
        }
        let mut tiled = self.plan.buffers[home].tiled().clone();
        self.widen(&mut tiled, read);
        let any = tiled.ghost_columns != [0, 0] || tiled.ghost_rows != [0, 0];
        let width = i64::from(tiled.tile[0]);
        let buffer = &mut self.plan.buffers[home];
        buffer.layout = Layout::Tiled(tiled);
        let reach = [-read.reach[0].0, read.reach[0].1 - width + 1].map(|n| n.max(0) as u32);
        buffer.reach_x = greater(buffer.reach_x, reach);
        buffer.border = Border::union(buffer.border, read.border);
        let any = any || buffer.border.is_some();
        if any && !self.exchanged.contains(&home) {
            self.exchanged.push(home);
            self.plan.steps.push(Step::Exchange(home));
        }
    }
}

/// The greater one of each.
fn greater(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    [a[0].max(b[0]), a[1].max(b[1])]
}

/// The sources of reads, those with the most elements in reach of a tile first.
fn by_window(reads: &[(Read, Tiled)]) -> Vec<Source> {
    let mut sizes: BTreeMap<Source, i64> = BTreeMap::new();
    for (read, _) in reads {
        let reaches = read.reach.iter().chain(&read.inner_reach);
        *sizes.entry(read.source).or_default() +=
            reaches.fold(1, |n: i64, (a, b)| n.saturating_mul(b - a + 1));
    }
    let mut sources: Vec<Source> = sizes.keys().copied().collect();
    sources.sort_by_key(|source| std::cmp::Reverse(sizes[source]));
    sources
}

/// What accesses read beyond edges that a border holds, and their limits without it.
type Borders = BTreeMap<Expr, (Option<Border>, [Option<Limits>; 2])>;

/// An access that tiles serve.
struct Near {
    tiled: TiledAccess,
    /// What it reads beyond edges as if it lay there.
    border: Option<Border>,
    /// The limits that its coordinates are brought into otherwise.
    limits: [Option<Limits>; 2],
}

/// What the reads of a nest have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    source: Source,
    value: u32,
    ratio: [Ratio; 2],
    limits: [Option<Limits>; 2],
    order: Order,
    /// The terms of the part of each inner index that stays the same in a tile.
    inner: Vec<Vec<(AffineVar, i64)>>,
    /// The limits of inner indices.
    inner_limits: Vec<Option<Limits>>,
}

/// The planes of those held along an inner dimension that accesses read.
fn planes_read(
    members: &[(Expr, TiledAccess)],
    d: usize,
    held: Interval,
    interval: &dyn Fn(AffineVar) -> Interval,
) -> Interval {
    let ends = |i: Interval| (i64::from(i.min), i64::from(i.max));
    let ranges = members.iter().map(|(_, tiled)| {
        tiled.inner[d].as_ref().map_or(ends(held), |index| index.range(interval))
    });
    let hull = ranges.fold((i64::MAX, i64::MIN), |h, r| (h.0.min(r.0), h.1.max(r.1)));
    let within = |at: i64| at.clamp(held.min.into(), held.max.into()) as i32;
    Interval::new(within(hull.0), within(hull.1))
}

/// An access with its planes as the points of a nest mean them.
fn planes_over(mut tiled: TiledAccess, shape: &NestShape) -> Option<TiledAccess> {
    for index in tiled.inner.iter_mut().flatten() {
        *index = index.clone().over(&|var| shape.interval(var))?;
    }
    Some(tiled)
}

/// Whether limits of planes that accesses lack would not change which ones they read.
fn planes_join(
    from: &GroupKey,
    to: &GroupKey,
    members: &[(Expr, TiledAccess)],
    shape: &NestShape,
) -> bool {
    from.inner_limits.iter().zip(&to.inner_limits).enumerate().all(|(d, limits)| match limits {
        (a, b) if a == b => true,
        (None, Some(of)) => members.iter().all(|(_, tiled)| {
            let range = tiled.inner[d].as_ref().map(|i| i.range(&|var| shape.interval(var)));
            range.is_some_and(|(first, last)| of.low <= first && last <= of.high)
        }),
        _ => false,
    })
}
