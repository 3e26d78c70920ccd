//! How a distributed stage reaches the elements it reads: ratio, reach and window of each source.
//!
//! Along a tiled dimension an access has the form `floor((a * x + sum c * r + b) / d)`. Where the
//! producer's tiles are `a / d` as large as the consumer's and start at `a / d` of its origin, a
//! tile needs its own tile of the producer and some elements around it, the same number for every
//! tile.

use nbcc_isa_ipim::layout::Tiled;
use nbcc_stages::bounds::{Affine, AffineVar, IndexForm, Interval};

use super::{BufferId, Source};

/// A ratio in lowest terms: producer elements a consumer element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio {
    /// Numerator, at least 1.
    pub a: i64,
    /// Denominator, at least 1.
    pub d: i64,
}

impl Ratio {
    /// One to one.
    pub const ONE: Ratio = Ratio { a: 1, d: 1 };

    /// `a / d` in lowest terms.
    pub fn new(a: i64, d: i64) -> Ratio {
        let g = gcd(a, d);
        Ratio { a: a / g, d: d / g }
    }

    /// `n * a / d` where that is whole.
    pub fn of(self, n: i64) -> Option<i64> {
        (n.checked_mul(self.a)? % self.d == 0).then(|| n * self.a / self.d)
    }
}

/// The greatest common divisor of positive numbers.
pub fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The least common multiple of positive numbers.
pub fn lcm(a: i64, b: i64) -> i64 {
    a / gcd(a, b) * b
}

/// A source as a stage reads it.
#[derive(Clone, Debug)]
pub struct Read {
    /// The input or Func.
    pub source: Source,
    /// Which value of the Func's tuple.
    pub value: u32,
    /// The buffer that serves it: the source's home or a copy.
    pub buffer: BufferId,
    /// Along x and y.
    pub ratio: [Ratio; 2],
    /// Producer elements relative to those of the tile's first row and column, least and greatest,
    /// along x and y, over a whole tile.
    pub reach: [(i64, i64); 2],
    /// Where coordinates are clamped to along x and y, if that makes a difference.
    pub clamp: [Option<(i64, i64)>; 2],
    /// How far beyond the clamp's limits coordinates go: below and above, along x.
    pub beyond_x: [i64; 2],
    /// For each inner dimension, elements relative to the part of the index that stays the same in
    /// a tile: least and greatest.
    pub inner_reach: Vec<(i64, i64)>,
    /// For each inner dimension, the part of the index that stays the same in a tile.
    pub inner_base: Vec<Affine>,
    /// The window in the group's scratchpad; `None` where elements are read from the bank.
    pub window: Option<Window>,
}

/// A window in the scratchpad of a group: what the tiles of a strip read of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Byte address.
    pub base: u32,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Rows, for a block of rows of the tile.
    pub rows: u32,
    /// Elements of a row before the first tile of the strip.
    pub left: u32,
    /// Elements of a row behind the last tile that are filled.
    pub right: u32,
    /// Rows before the first of the block.
    pub top: u32,
}

/// No tile is cut finer or made larger than this for the sake of an access.
const MAX_RATIO: i64 = 16;

/// An index along a tiled dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledIndex {
    /// Elements of the producer for one of the consumer.
    pub ratio: Ratio,
    /// Coefficient and divisor as they stand; `ratio` is `a / d` in lowest terms.
    pub a: i64,
    /// The divisor.
    pub d: i64,
    /// Coefficients of reduction variables, whole multiples of `d`.
    pub rvars: Vec<(AffineVar, i64)>,
    /// The constant in the numerator.
    pub b: i64,
    /// Limits of a clamp around it.
    pub clamp: Option<(i64, i64)>,
}

impl TiledIndex {
    /// Reads the form of an index along tiled dimension `k` of a stage whose own dimension `k` is
    /// tiled. `None` where it has another form.
    pub fn of(form: &IndexForm, k: u32) -> Option<TiledIndex> {
        let (form, clamp) = match form {
            IndexForm::Clamp { of, low, high } => (&**of, Some((*low, *high))),
            other => (other, None),
        };
        let (affine, d) = match form {
            IndexForm::Affine(affine) => (affine, 1),
            IndexForm::FloorDiv { numerator, divisor } => (numerator, *divisor),
            IndexForm::Clamp { .. } => return None,
        };
        let a = affine.dim(k);
        if a < 1 || a > MAX_RATIO || d > MAX_RATIO {
            return None;
        }
        let mut rvars = Vec::new();
        for (&var, &c) in &affine.terms {
            match var {
                AffineVar::Dim(n) if n == k => {}
                AffineVar::RVar(..) if c % d == 0 => rvars.push((var, c)),
                _ => return None,
            }
        }
        Some(TiledIndex { ratio: Ratio::new(a, d), a, d, rvars, b: affine.constant, clamp })
    }

    /// Least and greatest value of the sum of reduction variables, already divided.
    fn rvar_range(&self, interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        self.rvars.iter().fold((0, 0), |(low, high), (var, c)| {
            let interval = interval(*var);
            let ends = [i64::from(interval.min) * c / self.d, i64::from(interval.max) * c / self.d];
            (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]))
        })
    }

    /// Least and greatest value over `x` in `0..n` and the reduction variables.
    pub fn reach(&self, n: i64, interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        self.range((0, n - 1), interval)
    }

    /// Least and greatest value, before clamping, over `x` in an interval.
    pub fn range(&self, x: (i64, i64), interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        let (low, high) = self.rvar_range(interval);
        let at = |x: i64| (self.a * x + self.b).div_euclid(self.d);
        (at(x.0) + low, at(x.1) + high)
    }
}

/// An index along an inner dimension (2 and up of the producer): an affine form whose dimensions
/// are inner too. `None` where it has another form.
pub fn inner_index(form: &IndexForm) -> Option<&Affine> {
    let affine = form.as_affine()?;
    let inner = |var: &AffineVar| !matches!(var, AffineVar::Dim(0 | 1));
    affine.terms.keys().all(inner).then_some(affine)
}

/// Whether tile for tile the producer holds what the consumer's tile is of.
pub fn aligned(consumer: &Tiled, producer: &Tiled, ratio: [Ratio; 2]) -> bool {
    consumer.grid == producer.grid
        && (0..2).all(|k| {
            let tile = ratio[k].of(i64::from(consumer.tile[k]));
            let origin = ratio[k].of(i64::from(consumer.origin[k]));
            tile == Some(i64::from(producer.tile[k]))
                && origin == Some(i64::from(producer.origin[k]))
        })
}
