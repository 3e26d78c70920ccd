//! Where the boxes of patches begin: lines that follow the tiles of a nest ([`super::patch`]).

/// Where boxes begin along a dimension: that of the tile in column `i` and row `j` of the grid at
/// `(first + i * steps[0] + j * steps[1]) >> shift`, limited to `low..=high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corner {
    /// Where it begins for the first tile, in `2^-shift`.
    pub first: i64,
    /// How much further for the next column and row.
    pub steps: [i64; 2],
    /// The binary point.
    pub shift: u32,
    /// The least and the greatest.
    pub limits: (i64, i64),
    /// Whether some box would begin beyond a limit.
    pub limited: bool,
}

/// The binary point of slopes before they are reduced.
const SHIFT: u32 = 8;

/// Values on the way to a corner are below this, so that the machine's do not wrap.
const MAX_VALUE: i64 = 1 << 30;

impl Corner {
    /// Before limits.
    fn unlimited(&self, [i, j]: [u32; 2]) -> i64 {
        (self.first + i64::from(i) * self.steps[0] + i64::from(j) * self.steps[1]) >> self.shift
    }

    /// Where the box of a tile begins.
    pub fn at(&self, tile: [u32; 2]) -> i64 {
        self.unlimited(tile).clamp(self.limits.0, self.limits.1)
    }

    /// Whether a property holds of the corners of all tiles.
    pub fn all(&self, tiles: [u32; 2], mut holds: impl FnMut(i64) -> bool) -> bool {
        let counts = [0, 1].map(|k| if self.steps[k] == 0 { 1 } else { tiles[k] });
        (0..counts[1]).all(|j| (0..counts[0]).all(|i| holds(self.at([i, j]))))
    }
}

/// The least and greatest values of a coordinate over each tile, where it holds points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// From one column and row of tiles to the next; 0 where all are alike.
    pub strides: [usize; 2],
    /// In rows of tiles, the first column first.
    pub ends: Vec<Option<(i64, i64)>>,
}

impl Ends {
    /// Those of a tile.
    pub fn at(&self, [i, j]: [u32; 2]) -> Option<(i64, i64)> {
        self.ends[i as usize * self.strides[0] + j as usize * self.strides[1]]
    }

    /// The same, limited to what is held.
    pub fn within(&self, (first, last): (i64, i64)) -> Ends {
        let within = |at: i64| at.clamp(first, last);
        let ends = self.ends.iter().map(|ends| ends.map(|(low, high)| (within(low), within(high))));
        Ends { strides: self.strides, ends: ends.collect() }
    }

    /// Columns and rows of tiles that differ.
    fn counts(&self, tiles: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|k| if self.strides[k] == 0 { 1 } else { tiles[k] })
    }

    /// What both need.
    pub fn union(&self, other: &Ends, tiles: [u32; 2]) -> Ends {
        let varies = [0, 1].map(|k| self.strides[k] + other.strides[k] > 0);
        Ends::over(tiles, varies, |tile| match (self.at(tile), other.at(tile)) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, other) => one.or(other),
        })
    }

    /// Those of all tiles, which differ along the axes that a coordinate varies along.
    pub fn over(
        tiles: [u32; 2],
        varies: [bool; 2],
        mut of: impl FnMut([u32; 2]) -> Option<(i64, i64)>,
    ) -> Ends {
        let counts = [0, 1].map(|k| if varies[k] { tiles[k] } else { 1 });
        let strides = [usize::from(varies[0]), if varies[1] { counts[0] as usize } else { 0 }];
        let rows = (0..counts[1]).flat_map(|j| (0..counts[0]).map(move |i| [i, j]));
        Ends { strides, ends: rows.map(&mut of).collect() }
    }
}

/// What boxes are made of along a dimension of the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// The coordinate that the first one begins with.
    pub origin: i64,
    /// Elements of one.
    pub size: i64,
    /// The first and last that there are.
    pub whole: (i64, i64),
}

impl Units {
    fn of(&self, at: i64) -> i64 {
        (at - self.origin).div_euclid(self.size)
    }
}

/// The corners that follow the tiles of a grid with the smallest boxes, in units, and their size. `tiles`
/// are those of the nest, `all` those that vaults with some of them have.
pub(super) fn fit(
    ends: &Ends,
    tiles: [u32; 2],
    all: [u32; 2],
    units: Units,
) -> Option<(Corner, u32)> {
    let mut steps = [0, 1].map(|k| slope(ends, tiles, k, units));
    let counts = ends.counts(tiles);
    let boxes = || (0..counts[1]).flat_map(|j| (0..counts[0]).map(move |i| [i, j]));
    let boxes = || {
        boxes().filter_map(|tile| {
            let (low, high) = ends.at(tile)?;
            Some((tile, units.of(low), units.of(high)))
        })
    };
    let (least, greatest) = units.whole;
    let along = |[i, j]: [u32; 2]| i64::from(i) * steps[0] + i64::from(j) * steps[1];
    let first = |(tile, low, _)| ((low + 1) << SHIFT) - 1 - along(tile);
    // A box at the far border ends there, wherever it would begin.
    let inside = boxes().filter(|&(_, _, high)| high < greatest).map(first).min();
    let mut first = inside.or_else(|| boxes().map(first).min())?;
    let mut shift = SHIFT;
    while shift > 0 && steps.iter().all(|step| step % 2 == 0) {
        (first, shift) = (first >> 1, shift - 1);
        steps = steps.map(|step| step / 2);
    }
    let mut corner = Corner { first, steps, shift, limits: units.whole, limited: false };
    let size = boxes().map(|(tile, low, high)| {
        let begin = corner.unlimited(tile).max(least);
        if begin > low { greatest - low + 1 } else { high - begin + 1 }
    });
    let size = size.max()?.min(greatest - least + 1);
    corner.limits = (least, greatest - size + 1);
    let (low, high) = corner.limits;
    let ends = || [0, all[0] - 1].into_iter().flat_map(|i| [0, all[1] - 1].map(|j| [i, j]));
    corner.limited =
        ends().any(|tile| corner.unlimited(tile) < low || corner.unlimited(tile) > high);
    let is_small = |n: i64| n.abs() < MAX_VALUE;
    let fits = ends().all(|[i, j]| {
        let terms = [i64::from(i) * steps[0], i64::from(j) * steps[1]];
        is_small(corner.first + terms[0] + terms[1]) && terms.into_iter().all(is_small)
    });
    let holds = boxes().all(|(tile, low, high)| {
        let begin = corner.at(tile);
        begin <= low && high < begin + size
    });
    (fits && holds && is_small(corner.first)).then_some((corner, u32::try_from(size).ok()?))
}

/// By how much boxes go on from one tile to the next along an axis, in `2^-SHIFT` units: over the
/// longest way between two that do not end at a border.
fn slope(ends: &Ends, tiles: [u32; 2], k: usize, units: Units) -> i64 {
    let counts = ends.counts(tiles);
    let middle = |(low, high): (i64, i64)| low + high;
    let is_inside =
        |&(low, high): &(i64, i64)| units.of(low) > units.whole.0 && units.of(high) < units.whole.1;
    let way = |other: u32, only_inside: bool| {
        let tile = |n: u32| if k == 0 { [n, other] } else { [other, n] };
        let mut found = (0..counts[k]).filter_map(|n| {
            let at = ends.at(tile(n)).filter(|at| !only_inside || is_inside(at))?;
            Some((i64::from(n), middle(at)))
        });
        let first = found.next()?;
        Some((first, found.next_back()?))
    };
    let others = [0, counts[1 - k] / 2, counts[1 - k] - 1];
    let longest = |only_inside: bool| {
        let ways = others.iter().filter_map(|&other| way(other, only_inside));
        ways.max_by_key(|(first, last)| last.0 - first.0)
    };
    let Some((first, last)) = longest(true).or_else(|| longest(false)) else { return 0 };
    let whole = 2 * units.size * (last.0 - first.0);
    (((last.1 - first.1) << SHIFT) + whole / 2).div_euclid(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes of tiles along one axis, 16 elements each, of what a coordinate reads.
    fn along(tiles: u32, of: impl Fn(i64) -> i64, held: (i64, i64)) -> Ends {
        Ends::over([tiles, 1], [true, false], |[i, _]| {
            let at = (0..16).map(|x| of(i64::from(i) * 16 + x).clamp(held.0, held.1));
            let at: Vec<i64> = at.collect();
            Some((*at.iter().min()?, *at.iter().max()?))
        })
    }

    #[test]
    fn boxes_are_small_and_hold_what_tiles_read() {
        let held = (0, 511);
        type Case = (fn(i64) -> i64, i64);
        let cases: [Case; 6] = [
            (|x| 511 - x, 4),
            (|x| x + 37, 5),
            (|x| x * 2 / 3, 4),
            (|x| x * 7 / 5 - 40, 7),
            (|x| (x as f64 * 0.9) as i64 - 100, 5),
            (|_| 7, 1),
        ];
        for (number, (of, most)) in cases.into_iter().enumerate() {
            let ends = along(32, of, held);
            let units = Units { origin: 0, size: 4, whole: (0, 127) };
            let (corner, size) = fit(&ends, [32, 1], [32, 1], units).expect("lines are found");
            assert!(i64::from(size) <= most, "case {number}: {size} atoms, {corner:?}");
            for i in 0..32 {
                let (low, high) = ends.at([i, 0]).expect("all tiles have points");
                let begin = corner.at([i, 0]);
                assert!(begin >= 0 && begin + i64::from(size) <= 128, "case {number}");
                assert!(begin <= low / 4 && high / 4 < begin + i64::from(size), "case {number}");
            }
        }
        let mirrored = along(32, |x| 511 - x, held);
        let units = Units { origin: 0, size: 4, whole: (0, 127) };
        let (corner, _) = fit(&mirrored, [32, 1], [32, 1], units).expect("it is a line");
        assert_eq!((corner.shift, corner.limited, corner.steps), (0, false, [-4, 0]));
    }

    #[test]
    fn corners_follow_both_axes() {
        // Turned by a small angle.
        let of = |x: i64, y: i64| (x as f64 * 0.98 - y as f64 * 0.17) as i64 + 30;
        let ends = Ends::over([16, 20], [true, true], |[i, j]| {
            let (x, y) = (i64::from(i) * 16, i64::from(j) * 8);
            let at = [of(x, y), of(x + 15, y), of(x, y + 7), of(x + 15, y + 7)];
            let at = at.map(|at| at.clamp(0, 255));
            Some((*at.iter().min()?, *at.iter().max()?))
        });
        let units = Units { origin: 0, size: 1, whole: (0, 255) };
        let (corner, size) = fit(&ends, [16, 20], [16, 24], units).expect("planes are found");
        assert!(size <= 20, "{size} elements, {corner:?}");
        assert!(corner.limited);
        assert!(corner.all([16, 24], |at| at >= 0 && at + i64::from(size) <= 256));
    }
}
