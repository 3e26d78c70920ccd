//! Excerpts: what each vault keeps of an image that is read at places which tiles do not serve.
//!
//! A coordinate that loop counters decide (transposed, mirrored, wrapped around, scaled, or
//! running over a whole row) takes values over the points of a vault that lie close together, in
//! the order of the image's rows or columns taken as a ring. The values are found by evaluating the
//! coordinate, so nothing need be known of its form. Every bank of the vault keeps that arc of the
//! ring.

use std::collections::BTreeMap;

use nbcc_isa_ipim::LANES;
use nbcc_isa_ipim::layout::{Grid, Layout};
use nbcc_stages::bounds::{AffineVar, Interval, Region};
use nbcc_stages::{Expr, Func};

use super::access::{Access, Source};
use super::copies::{Follows, finds_owners, follows, most_copied};
use super::evaluate::{Coordinate, Run};
use super::planner::{Failure, NestShape, Planner};
use super::steps::Holding;
use super::{BufferId, BufferPlan};

/// What the banks of each vault hold of an image, along its first two dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Along x in atoms or rows of tiles, along y in rows.
    pub along: [Arc; 2],
    /// Columns and rows of vaults that have one.
    pub busy: [u32; 2],
    /// How the tiles that read it go to vaults.
    pub grid: Grid,
}

/// The units of a row, or the rows, of a buffer, taken as a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The coordinate at which it begins.
    pub origin: i32,
    /// Elements of a unit.
    pub unit: u32,
    /// Units.
    pub around: u32,
}

/// An arc of a ring, in units, which follows the place of the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// Whether it follows the column (0) or the row (1) of the vault.
    pub axis: usize,
    /// Where it begins in the first vault.
    pub first: u32,
    /// By how much further it begins from one vault to the next.
    pub step: u32,
    /// Its length.
    pub count: u32,
    /// What it is of.
    pub ring: Ring,
}

impl Excerpt {
    /// Whether the part of some vault goes past the end of the ring along x (0) or y (1).
    pub fn wraps(&self, k: usize) -> bool {
        let arc = &self.along[k];
        let mut vaults = 0..self.busy[arc.axis];
        vaults.any(|v| (arc.first + arc.step * v) % arc.ring.around + arc.count > arc.ring.around)
    }
}

impl Arc {
    /// All of a ring.
    fn whole(ring: Ring) -> Arc {
        Arc { axis: 0, first: 0, step: 0, count: ring.around, ring }
    }

    /// Elements that it holds.
    fn elements(&self) -> u32 {
        self.count * self.ring.unit
    }

    /// The shortest arc that holds what each vault needs, from a step that is the same for all.
    fn around(axis: usize, needed: &[Units], ring: Ring) -> Arc {
        let around = ring.around;
        let begins: Vec<Option<(u32, u32)>> = needed.iter().map(|set| set.cover(around)).collect();
        let steps = begins.windows(2).filter_map(|two| match two {
            [Some((a, _)), Some((b, _))] => Some((b + around - a) % around),
            _ => None,
        });
        let mut steps: Vec<u32> = steps.chain([0]).collect();
        steps.sort_unstable();
        steps.dedup();
        let arcs = steps.into_iter().map(|step| {
            let turned =
                (0u32..).zip(needed).map(|(v, set)| set.turned((step * v) % around, around));
            let all = Units::of(turned.flatten().collect());
            let (first, count) = all.cover(around).unwrap_or((0, 1));
            Arc { axis, first, step, count, ring }
        });
        arcs.min_by_key(|arc| arc.count).expect("there is a step of zero")
    }
}

/// A set of units of a ring: stretches, each from its first unit to behind its last, in order and
/// apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Units(Vec<(u32, u32)>);

impl Units {
    /// What stretches hold together.
    fn of(mut stretches: Vec<(u32, u32)>) -> Units {
        stretches.sort_unstable();
        let mut all: Vec<(u32, u32)> = Vec::new();
        for (first, end) in stretches {
            match all.last_mut() {
                Some(last) if first <= last.1 => last.1 = last.1.max(end),
                _ => all.push((first, end)),
            }
        }
        Units(all)
    }

    /// Its stretches as they lie on a ring that begins `by` further on.
    fn turned(&self, by: u32, around: u32) -> Vec<(u32, u32)> {
        let parts = self.0.iter().flat_map(|&(first, end)| {
            let before = (first.min(by) + around - by, end.min(by) + around - by);
            [(first.max(by) - by, end.max(by) - by), before]
        });
        parts.filter(|(first, end)| first < end).collect()
    }

    /// First unit and length of the shortest arc of a ring that holds all of the set; `None` for an
    /// empty one.
    fn cover(&self, around: u32) -> Option<(u32, u32)> {
        let (&(first, _), &(_, end)) = self.0.first().zip(self.0.last())?;
        // What is left out: what lies between two stretches, or around the end of the ring.
        let between = self.0.windows(2).map(|two| (two[1].0 - two[0].1, two[1].0));
        let outside = (first + around - end, first);
        let (gap, begin) = between.chain([outside]).max().expect("there is an outside");
        Some((begin, around - gap))
    }
}

/// Accesses that one copy may serve: the same source, along the same dimensions of the nest.
type Key = (Source, u32, [Follows; 2]);

/// What each vault along the axis that a coordinate follows needs of a ring; `None`: all of it.
type Needed = Option<Vec<Units>>;

/// What accesses need of a source along x and y.
#[derive(Clone, Debug)]
struct Needs {
    accesses: Vec<Expr>,
    along: [Needed; 2],
}

impl Needs {
    /// What both need.
    fn union(&self, other: &Needs) -> Needs {
        let union = |k: usize| {
            let (one, two) = self.along[k].as_ref().zip(other.along[k].as_ref())?;
            let or = |(a, b): (&Units, &Units)| Units::of([&a.0[..], &b.0].concat());
            Some(one.iter().zip(two).map(or).collect())
        };
        let accesses = [&self.accesses[..], &other.accesses[..]].concat();
        Needs { accesses, along: [union(0), union(1)] }
    }

    fn arcs(&self, axes: [usize; 2], rings: [Ring; 2]) -> [Arc; 2] {
        [0, 1].map(|k| match &self.along[k] {
            Some(needed) => Arc::around(axes[k], needed, rings[k]),
            None => Arc::whole(rings[k]),
        })
    }
}

fn area(arcs: [Arc; 2]) -> u64 {
    arcs.iter().map(|arc| u64::from(arc.elements())).product()
}

impl Planner<'_> {
    /// The copies that serve accesses which tiles do not: excerpts, or whole images.
    pub(super) fn elsewhere(
        &mut self,
        func: Func,
        shape: &NestShape,
        accesses: &[&Access],
    ) -> Result<BTreeMap<Expr, BufferId>, Failure> {
        let mut groups: BTreeMap<Key, Vec<&Access>> = BTreeMap::new();
        for &access in accesses {
            let along = [0, 1].map(|k| {
                let arg = access.args.get(k);
                arg.map_or(Follows::Neither, |&arg| follows(&self.plan.pipeline, arg))
            });
            groups.entry((access.source, access.value, along)).or_default().push(access);
        }
        let most = most_copied(self.machine);
        let mut found = BTreeMap::new();
        for ((source, value, along), members) in groups {
            let home = self.homes[&(source, value)];
            let whole = nbcc_stages::bounds::points(&self.plan.buffers[home].region);
            for (excerpt, region, served) in self.excerpts(home, shape, along, &members) {
                let words = nbcc_stages::bounds::points(&region);
                let pays = words <= most && words.saturating_mul(2) <= whole;
                let buffer = match excerpt.filter(|_| pays) {
                    Some(excerpt) => {
                        let all = Holding::all(Layout::Replicated, region);
                        self.copy(home, Holding { excerpt: Some(excerpt), ..all })
                    }
                    None if whole <= most => {
                        let region = self.plan.buffers[home].region.clone();
                        self.copy(home, Holding::all(Layout::Replicated, region))
                    }
                    None => return Err(Failure::Copies(func)),
                };
                found.extend(served.into_iter().map(|expr| (expr, buffer)));
            }
        }
        Ok(found)
    }

    /// What each vault needs of a source, the extents of that, and the accesses that it serves.
    /// Accesses share where that takes no more room.
    fn excerpts(
        &self,
        home: BufferId,
        shape: &NestShape,
        along: [Follows; 2],
        accesses: &[&Access],
    ) -> Vec<(Option<Excerpt>, Region, Vec<Expr>)> {
        let buffer = &self.plan.buffers[home];
        let region = buffer.region.clone();
        let in_parts = along.iter().any(|a| matches!(a, Follows::Axis(_)));
        if !in_parts || !finds_owners(self.machine) {
            return vec![(None, region, accesses.iter().map(|a| a.expr).collect())];
        }
        let axes = along.map(|along| if let Follows::Axis(axis) = along { axis } else { 0 });
        let rings = [0, 1].map(|k| ring(buffer, k));
        let mut known: BTreeMap<(Expr, usize), Needed> = BTreeMap::new();
        let mut all: Vec<Needs> = Vec::new();
        for access in accesses {
            let along = [0, 1].map(|k| match access.args.get(k) {
                Some(&arg) => {
                    let needed = || self.needed(buffer, shape, (arg, k), along[k]);
                    known.entry((arg, k)).or_insert_with(needed).clone()
                }
                None => None,
            });
            let one = Needs { accesses: vec![access.expr], along };
            let joined = all.iter_mut().find_map(|other| {
                let both = other.union(&one);
                let apart = [&*other, &one].map(|needs| area(needs.arcs(axes, rings)));
                (area(both.arcs(axes, rings)) <= apart[0] + apart[1]).then_some((other, both))
            });
            match joined {
                Some((other, both)) => *other = both,
                None => all.push(one),
            }
        }
        let busy = shape.busy();
        let excerpt = |needs: Needs| {
            let along = needs.arcs(axes, rings);
            let mut region = region.clone();
            for (interval, arc) in region.iter_mut().zip(&along) {
                *interval = Interval::from_extent(0, arc.elements());
            }
            (Some(Excerpt { along, busy, grid: shape.tiles.grid }), region, needs.accesses)
        };
        all.into_iter().map(excerpt).collect()
    }

    /// What vaults need of the ring that coordinate `k` of an access goes around.
    fn needed(
        &self,
        buffer: &BufferPlan,
        shape: &NestShape,
        (arg, k): (Expr, usize),
        follows: Follows,
    ) -> Needed {
        let (axis, vaults) = match follows {
            Follows::Anywhere => return None,
            Follows::Neither => (None, 1),
            Follows::Axis(axis) => (Some(axis), shape.busy()[axis]),
        };
        let coordinate = Coordinate::new(&self.plan.pipeline, arg)?;
        let ring = ring(buffer, k);
        if ring.around > MOST_UNITS {
            return None;
        }
        let region = buffer.region[k];
        let of_vault = |vault: u32| {
            let interval = |var: AffineVar| match (var, axis) {
                (AffineVar::Dim(n), Some(axis)) if n as usize == axis => {
                    shape.of_vault(axis, vault)
                }
                _ => shape.interval(var),
            };
            let mut found = Vec::new();
            let mark = |run: Run| {
                if run.step.unsigned_abs() > u64::from(ring.unit) {
                    let units = run.values().map(|at| unit(ring, region, at));
                    found.extend(units.map(|n| (n, n + 1)));
                } else {
                    // No unit between those of the ends is stepped over.
                    let ends = [run.first, run.last()].map(|at| unit(ring, region, at));
                    found.push((ends[0].min(ends[1]), ends[0].max(ends[1]) + 1));
                }
            };
            coordinate.each(interval, mark).then(|| Units::of(found))
        };
        (0..vaults).map(of_vault).collect()
    }
}

/// A larger ring is not looked at unit by unit: who needs some of it gets all of it.
const MOST_UNITS: u32 = 1 << 20;

/// Tiles of no more elements are fetched as a whole: their owner has to be found only once.
pub(super) const WIDE: u32 = 8;

/// The ring of a row (along x) or of the rows (along y) of a buffer.
fn ring(buffer: &BufferPlan, k: usize) -> Ring {
    let span = buffer.span(k);
    if k > 0 {
        return Ring { origin: span.min, unit: 1, around: span.extent() };
    }
    let (origin, atoms) = buffer.atoms();
    let width = match &buffer.layout {
        Layout::Tiled(tiled) if tiled.tile[0] <= WIDE => tiled.tile[0],
        _ => LANES as u32,
    };
    let of_unit = (width / LANES as u32) as i32;
    let [first, last] = [atoms.min, atoms.max].map(|atom| atom.div_euclid(of_unit));
    let origin = origin as i32 + first * width as i32;
    Ring { origin, unit: width, around: (last - first + 1) as u32 }
}

/// The unit that a coordinate, limited to a region, is in.
fn unit(ring: Ring, region: Interval, at: i64) -> u32 {
    let at = at.clamp(region.min.into(), region.max.into());
    (at - i64::from(ring.origin)) as u32 / ring.unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[u32]) -> Units {
        Units::of(members.iter().map(|&n| (n, n + 1)).collect())
    }

    #[test]
    fn arcs_are_shortest() {
        assert_eq!(set(&[]).cover(10), None);
        assert_eq!(set(&[3]).cover(10), Some((3, 1)));
        assert_eq!(set(&[5, 2]).cover(10), Some((2, 4)));
        assert_eq!(set(&[0, 1, 9]).cover(10), Some((9, 3)));
        assert_eq!(set(&[0, 1, 2, 3]).cover(4).map(|arc| arc.1), Some(4));
    }

    #[test]
    fn a_ring_is_turned() {
        for members in [&[][..], &[0], &[9], &[0, 1, 2, 7, 9], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            for by in 0..10 {
                let turned: Vec<u32> = members.iter().map(|n| (n + 10 - by) % 10).collect();
                assert_eq!(
                    Units::of(set(members).turned(by, 10)),
                    set(&turned),
                    "{members:?} {by}"
                );
            }
        }
    }

    #[test]
    fn an_arc_follows_the_vaults_and_holds_what_each_needs() {
        // Forward with a stencil, mirrored at the ends; backward; wrapped around; everything.
        let forward = |v: u32| (8 * v).saturating_sub(1)..(8 * v + 9).min(32);
        let backward = |v: u32| 24 - 8 * v..32 - 8 * v;
        let cases: [(Vec<Vec<u32>>, u32); 4] = [
            ((0..4).map(|v| forward(v).collect()).collect(), 10),
            ((0..4).map(|v| backward(v).collect()).collect(), 8),
            ((0..4).map(|v| (0..10).map(|n| (8 * v + n + 31) % 32).collect()).collect(), 10),
            ((0..4).map(|_| (0..32).collect()).collect(), 32),
        ];
        for (needed, count) in cases {
            let sets: Vec<Units> = needed.iter().map(|n| set(n)).collect();
            let arc = Arc::around(1, &sets, Ring { origin: 0, unit: 1, around: 32 });
            assert_eq!(arc.count, count, "{needed:?}");
            for (v, members) in (0u32..).zip(&needed) {
                let around = arc.ring.around;
                let begin = (arc.first + arc.step * v) % around;
                for &n in members {
                    assert!((n + around - begin) % around < arc.count, "{arc:?}");
                }
            }
        }
    }
}
