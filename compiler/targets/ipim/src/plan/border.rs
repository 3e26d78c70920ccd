//! Borders: elements that are read beyond the edges of an image, which are those at the edge again,
//! those of the other edge where it goes around, or a constant. They are put where they would lie if the
//! image went on: into the ghost zones of groups at the edge, and into the places that the last tiles have
//! behind the image. So tiles are read as those of an image without edges.

use nbcc_isa_ipim::LANES;
use nbcc_isa_ipim::layout::{Layout, Tiled};

use super::BufferPlan;
use super::access::Access;
use super::ghosts::{Columns, columns_of, parts_of};
use super::limits::Limits;
use super::modes::TiledAccess;
use super::planner::{NestShape, Planner};
use super::reads::aligned;

/// What lies beyond the edges of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The elements at the other edge.
    Around,
    /// A constant, as the word that an element takes.
    Constant(u32),
    /// The element at the edge.
    Edge,
}

/// What is filled beyond the edges of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// With what.
    pub outside: Outside,
    /// How far, in elements: below and above, along x and y.
    pub reach: [[u32; 2]; 2],
}

impl Border {
    /// Both, where they are of one kind.
    pub fn union(one: Option<Border>, other: Option<Border>) -> Option<Border> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        assert_eq!(a.outside, b.outside, "borders of one buffer");
        let greater = |k: usize| [0, 1].map(|side| a.reach[k][side].max(b.reach[k][side]));
        Some(Border { reach: [greater(0), greater(1)], ..a })
    }
}

impl BufferPlan {
    /// How far elements beyond its last one are filled, along x and y.
    pub(crate) fn border_behind(&self) -> [u32; 2] {
        self.border.map_or([0, 0], |border| border.reach.map(|[_, above]| above))
    }
}

/// Columns beyond an edge, in one column of groups: a run of atoms of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    /// The column of groups among all.
    pub group: u32,
    /// The atoms.
    pub columns: Columns,
    /// The lanes of each atom that lie beyond the edge, from the first to behind the last.
    pub lanes: [u32; 2],
    /// Elements from a column to that of the other edge which is read in its place.
    pub shift: i64,
    /// Where the group has the last column before the edge: strip, engine and element in the tile, if it has
    /// a place for it.
    pub edge: Option<(i64, u32, u32)>,
}

/// Rows beyond an edge, in one row of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Above {
    /// The row of groups among all.
    pub group: u32,
    /// The first row in the group's own count.
    pub first: i64,
    /// How many.
    pub count: u32,
    /// The last row before the edge in the group's own count, if it has a place for it.
    pub edge: Option<i64>,
}

/// First and last coordinate beyond each edge along a dimension that is to be filled, and how far it
/// is to the one that is read in its place.
fn sides(buffer: &BufferPlan, k: usize) -> impl Iterator<Item = ([i64; 2], i64)> + use<> {
    let span = buffer.span(k);
    let (first, last) = (i64::from(span.min), i64::from(span.max));
    let reach = buffer.border.map_or([0, 0], |border| border.reach[k]);
    let [below, above] = reach.map(i64::from);
    let count = i64::from(span.extent());
    let sides = [([first - below, first - 1], count), ([last + 1, last + above], -count)];
    sides.into_iter().filter(|([low, high], _)| low <= high)
}

/// Columns and rows of all groups.
fn groups(tiled: &Tiled) -> [u32; 2] {
    let grid = &tiled.grid;
    [0, 1].map(|k| grid.cubes[k] * grid.vaults[k] * grid.groups[k])
}

/// What intervals have in common.
fn common(a: [i64; 2], b: [i64; 2]) -> Option<[i64; 2]> {
    let both = [a[0].max(b[0]), a[1].min(b[1])];
    (both[0] <= both[1]).then_some(both)
}

/// The columns beyond edges that groups keep.
pub(crate) fn beside(buffer: &BufferPlan) -> Vec<Beside> {
    let tiled = buffer.tiled();
    let (engines, width) = (tiled.grid.engines, i64::from(tiled.tile[0]));
    let lanes = LANES as i64;
    let mut all = Vec::new();
    for (side, shift) in sides(buffer, 0) {
        for columns in columns_of(buffer, tiled) {
            let those = columns.engine.map_or(0..engines, |engine| engine..engine + 1);
            let tiles = (0..columns.strips).flat_map(|n| those.clone().map(move |e| (n, e)));
            for (group, (strip, engine)) in
                (0..groups(tiled)[0]).flat_map(|g| tiles.clone().map(move |t| (g, t)))
            {
                let strip = columns.strip + i64::from(strip);
                let strips = i64::from(group * tiled.grid.strips) + strip;
                let tile = strips * i64::from(engines) + i64::from(engine);
                let start = i64::from(tiled.origin[0]) + tile * width + i64::from(columns.first);
                let held = [start, start + i64::from(columns.atoms) * lanes - 1];
                let Some(wanted) = common(side, held) else { continue };
                let column = if shift > 0 { side[1] + 1 } else { side[0] - 1 };
                let edge = column_of(tiled, group, column);
                let run = |[first, last]: [i64; 2], of: [i64; 2]| Beside {
                    group,
                    edge,
                    columns: Columns {
                        strip,
                        strips: 1,
                        engine: Some(engine),
                        first: columns.first + ((first - start) / lanes * lanes) as u32,
                        atoms: ((last - start) / lanes - (first - start) / lanes + 1) as u32,
                        ..columns
                    },
                    lanes: of.map(|lane| lane as u32),
                    shift,
                };
                // Of the atom at the edge only some lanes are beyond it.
                let [first, last] = wanted;
                let lane = |at: i64| (at - start).rem_euclid(lanes);
                if shift > 0 && last == side[1] && lane(last) != lanes - 1 {
                    let begin = last - lane(last);
                    all.push(run([begin, begin], [0, lane(last) + 1]));
                    all.extend((first < begin).then(|| run([first, begin - 1], [0, lanes])));
                } else if shift < 0 && first == side[0] && lane(first) != 0 {
                    let end = first - lane(first) + lanes;
                    all.push(run([first, first], [lane(first), lanes]));
                    all.extend((end <= last).then(|| run([end, last], [0, lanes])));
                } else {
                    all.push(run(wanted, [0, lanes]));
                }
            }
        }
    }
    all
}

/// Where a group has a column: strip, engine and element in the tile.
fn column_of(tiled: &Tiled, group: u32, column: i64) -> Option<(i64, u32, u32)> {
    let grid = &tiled.grid;
    let width = i64::from(tiled.tile[0]);
    let inside = column - i64::from(tiled.origin[0]);
    let tile = inside.div_euclid(width) - i64::from(group * grid.strips * grid.engines);
    let strip = tile.div_euclid(grid.engines.into());
    let [left, right] = tiled.ghost_columns.map(i64::from);
    let engine = tile.rem_euclid(grid.engines.into()) as u32;
    let is_there = (-left..i64::from(grid.strips) + right).contains(&strip);
    is_there.then_some((strip, engine, inside.rem_euclid(width) as u32))
}

/// The rows beyond edges that groups keep.
pub(crate) fn above(buffer: &BufferPlan) -> Vec<Above> {
    let tiled = buffer.tiled();
    let height = i64::from(tiled.grid.rows * tiled.tile[1]);
    let [top, bottom] = tiled.ghost_rows.map(i64::from);
    let mut all = Vec::new();
    for (side, shift) in sides(buffer, 1) {
        let edge = if shift > 0 { side[1] + 1 } else { side[0] - 1 };
        for group in 0..groups(tiled)[1] {
            let start = i64::from(tiled.origin[1]) + i64::from(group) * height;
            let held = [start - top, start + height + bottom - 1];
            let Some([first, last]) = common(side, held) else { continue };
            let edge = common([edge, edge], held).map(|_| edge - start);
            let count = (last - first + 1) as u32;
            all.push(Above { group, first: first - start, count, edge });
        }
    }
    all
}

/// Whether there is anything to fill in a buffer beside what its engines compute or the host writes.
pub(crate) fn fills(buffer: &BufferPlan) -> bool {
    buffer.border.is_some() || !parts_of(buffer, buffer.tiled()).is_empty()
}

/// What is filled of one plane from the other edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    /// Runs of atoms or rows that code of its own fills.
    pub parts: u64,
    /// Rows of them.
    pub rows: u64,
    /// Atoms of all.
    pub atoms: u64,
}

/// What all vaults fill of a buffer, and what one at a corner does.
pub(crate) fn filled(buffer: &BufferPlan) -> [Filled; 2] {
    if buffer.border.is_none() {
        return [Filled::default(); 2];
    }
    let tiled = buffer.tiled();
    let grid = &tiled.grid;
    let engines = |of: &Columns| if of.engine.is_some() { 1 } else { grid.engines };
    let atoms = |of: &Columns| u64::from(of.strips * of.atoms * engines(of));
    let all = columns_of(buffer, tiled);
    let row: u64 = all.iter().map(atoms).sum();
    let (beside, above) = (beside(buffer), above(buffer));
    let sum = |groups: [u32; 2], near: &dyn Fn(u32, usize) -> bool| {
        let mut sum = Filled::default();
        for of in beside.iter().filter(|of| near(of.group, 0)) {
            let rows = u64::from(groups[1]) * u64::from(tiled.height());
            sum.parts += 1;
            sum.rows += rows;
            sum.atoms += rows * u64::from(of.columns.atoms);
        }
        for of in above.iter().filter(|of| near(of.group, 1)) {
            let rows = u64::from(groups[0]) * u64::from(of.count);
            sum.parts += all.len() as u64;
            sum.rows += rows * all.len() as u64;
            sum.atoms += rows * row;
        }
        sum
    };
    let in_first = |group: u32, k: usize| group < grid.groups[k];
    [sum(groups(tiled), &|_, _| true), sum(grid.groups, &in_first)]
}

/// An access for which no border can be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unserved;

/// The most tiles along x, and groups along y, that are filled beyond an edge: each takes code of its own.
const MOST_BEYOND: i64 = 4;

impl Planner<'_> {
    /// What an access reads beyond the edges of its source that a border holds, which may hold something
    /// already, and the limits of coordinates that are left. An error where it has to be a border and
    /// cannot, since it would lie too far away or hold two things, or a copy would serve the access.
    pub(super) fn border_of(
        &self,
        access: &Access,
        tiled: &TiledAccess,
        shape: &NestShape,
        holds: Option<Outside>,
    ) -> Result<(Option<Border>, [Option<Limits>; 2]), Unserved> {
        let buffer = &self.plan.buffers[self.homes[&(access.source, access.value)]];
        let padded = self.padded.get(&access.expr);
        let mut limits = self.active_limits(access, tiled, shape);
        let mut border: Option<Border> = None;
        let mut meant = Vec::new();
        for (k, index) in tiled.index.iter().enumerate() {
            match (index.around, padded, index.limits, limits[k]) {
                (Some(around), ..) => {
                    meant.push((k, [around.first, around.last()], Outside::Around));
                }
                (_, Some(padded), Some(of), _) if padded.sides[k] != [false, false] => {
                    meant.push((k, [of.low, of.high], Outside::Constant(padded.word)));
                }
                (.., Some(of)) if of.sums().is_none() => {
                    meant.push((k, [of.low, of.high], Outside::Edge));
                }
                _ => {}
            }
        }
        // What windows can do as well comes last.
        meant.sort_by_key(|&(_, _, outside)| outside == Outside::Edge);
        for (k, edges, outside) in meant {
            let range = self.range(tiled, k, shape);
            let reach = [edges[0] - range.0, range.1 - edges[1]].map(|n| n.max(0));
            if reach == [0, 0] {
                continue;
            }
            let of = |border: Border| border.outside;
            let held = border.or(buffer.border).map(of).or(holds);
            let alike = held.is_none_or(|held| held == outside);
            let served = alike
                && self.holds_border(buffer, (tiled, shape), k, (edges, reach))
                && match outside {
                    Outside::Around => {
                        let once = |&n: &i64| n <= edges[1] - edges[0] + 1;
                        let held = buffer.span(k);
                        let whole = edges == [held.min, held.max].map(i64::from);
                        whole && reach.iter().all(once) && !self.limits.ways.from_excerpts
                    }
                    Outside::Constant(_) => {
                        let sides = padded.map_or([false; 2], |padded| padded.sides[k]);
                        (0..2).all(|side| reach[side] == 0 || sides[side])
                    }
                    Outside::Edge => true,
                };
            if served {
                let of = border.get_or_insert(Border { outside, reach: [[0, 0]; 2] });
                of.reach[k] = reach.map(|n| n as u32);
                limits[k] = None;
            } else if outside != Outside::Edge {
                return Err(Unserved);
            }
        }
        let at_home = || self.limits_in_reach(&limits, shape, &[(access.expr, tiled.clone())]);
        let is_edge = |border: &Border| border.outside == Outside::Edge;
        if border.as_ref().is_none_or(is_edge) || at_home() {
            Ok((border, limits))
        } else {
            Err(Unserved)
        }
    }

    /// Whether a buffer ends where an access is read beyond its edges along dimension `k`, and has places
    /// for that.
    fn holds_border(
        &self,
        buffer: &BufferPlan,
        (tiled, shape): (&TiledAccess, &NestShape),
        k: usize,
        (edges, reach): ([i64; 2], [i64; 2]),
    ) -> bool {
        let (Layout::Tiled(tiles), Some(held)) = (&buffer.layout, buffer.region.get(k)) else {
            return false;
        };
        let tile = i64::from(tiles.tile[k]);
        let group = tile * i64::from([tiles.grid.engines, tiles.grid.rows][k]);
        let most = MOST_BEYOND * [tile, group][k];
        let ends = [i64::from(held.min) == edges[0], i64::from(held.max) == edges[1]];
        let near = |side: usize| reach[side] == 0 || ends[side] && reach[side] <= most;
        near(0) && near(1) && aligned(&shape.tiles, tiles, tiled.ratio())
    }
}

#[cfg(test)]
mod tests {
    use nbcc_isa_ipim::layout::{Element, Grid};
    use nbcc_stages::bounds::Interval;
    use nbcc_testing::Rng;

    use super::*;

    /// A buffer of random extents in random tiles, with ghost zones and reads beyond its edges.
    fn buffer(rng: &mut Rng) -> BufferPlan {
        let mut up_to = |n: u64| rng.below(n) as u32;
        let grid = Grid {
            cubes: [1, 1],
            vaults: [1 + up_to(2), 1],
            groups: [1 + up_to(3), 1],
            engines: 1 + up_to(4),
            strips: 1 + up_to(2),
            rows: 1,
        };
        let tile = [4 * (1 + up_to(3)), 1];
        let all = grid.vaults[0] * grid.groups[0] * grid.engines * grid.strips * tile[0];
        let first = up_to(4);
        let count = 1 + up_to(u64::from(all - first));
        let around = [up_to(7), up_to(7)].map(|n| n.min(count));
        let tiled = Tiled {
            grid,
            tile,
            origin: [-8, 0],
            ghost_columns: [8, 8],
            ghost_rows: [0, 0],
            beside: 0,
        };
        BufferPlan {
            name: "f".into(),
            role: None,
            element: Element::I32,
            region: vec![Interval::from_extent(first as i32 - 8, count), Interval::new(0, 0)],
            layout: Layout::Tiled(tiled),
            reach_x: [up_to(9), up_to(9)],
            border: Some(Border { outside: Outside::Around, reach: [around, [0, 0]] }),
            order: vec![],
            moved: [0, 0],
            backwards: [false; 2],
            part_of: Vec::new(),
            excerpt: None,
            patch: None,
            base: 0,
        }
    }

    #[test]
    fn every_place_beyond_an_edge_is_filled_once() {
        for seed in 0..2000 {
            let buffer = buffer(&mut Rng::new(seed));
            let tiled = buffer.tiled();
            let width = i64::from(tiled.tile[0]);
            let start = |group: u32, strip: i64, engine: u32| {
                let strips = i64::from(group * tiled.grid.strips) + strip;
                let tile = strips * i64::from(tiled.grid.engines) + i64::from(engine);
                i64::from(tiled.origin[0]) + tile * width
            };
            let mut filled = std::collections::BTreeMap::new();
            for Beside { group, columns, lanes, shift, .. } in beside(&buffer) {
                let engine = columns.engine.expect("a tile");
                for atom in 0..columns.atoms {
                    for lane in lanes[0]..lanes[1] {
                        let x = columns.first + atom * LANES as u32 + lane;
                        let at = start(group, columns.strip, engine) + i64::from(x);
                        let before = filled.insert((group, columns.strip, engine, x), at + shift);
                        assert_eq!(before, None, "seed {seed}: {at} twice");
                    }
                }
            }
            let span = buffer.span(0);
            let [below, above] = buffer.border.expect("it has one").reach[0].map(i64::from);
            for columns in columns_of(&buffer, tiled) {
                let engines = columns.engine.map_or(0..tiled.grid.engines, |e| e..e + 1);
                for (group, engine) in
                    (0..groups(tiled)[0]).flat_map(|g| engines.clone().map(move |e| (g, e)))
                {
                    for (strip, x) in (0..columns.strips).flat_map(|n| {
                        let end = columns.first + columns.atoms * LANES as u32;
                        (columns.first..end).map(move |x| (columns.strip + i64::from(n), x))
                    }) {
                        let at = start(group, strip, engine) + i64::from(x);
                        let (first, last) = (i64::from(span.min), i64::from(span.max));
                        let wanted =
                            first - below <= at && at < first || last < at && at <= last + above;
                        let source = filled.remove(&(group, strip, engine, x));
                        let inside = first + (at - first).rem_euclid(i64::from(span.extent()));
                        match source {
                            Some(source) if wanted => assert_eq!(source, inside, "seed {seed}"),
                            // Atoms are filled as far as they go.
                            Some(_) => assert!(at < first || last < at, "seed {seed}: {at}"),
                            None => assert!(!wanted, "seed {seed}: {at} is not filled"),
                        }
                    }
                }
            }
            assert!(filled.is_empty(), "seed {seed}: places that no group has");
        }
    }
}
