//! How a distributed stage reaches the elements it reads: ratio, reach and window of each source.
//!
//! Along a tiled dimension an access has the form `floor((a * x + sum c * r + b) / d)`. Where the
//! producer's tiles are `a / d` as large as the consumer's and start at `a / d` of its origin, a
//! tile needs its own tile of the producer and some elements around it, the same number for every
//! tile.

use nbcc_isa_ipim::layout::Tiled;
use nbcc_stages::bounds::{Affine, AffineVar, IndexForm, Interval};
use nbcc_stages::{Expr, Pipeline};

use super::border::Border;
use super::forms::Forms;
use super::limits::{Around, Limits, clamped, mirrored, wrapped};
use super::order::{Order, placed};
use super::periodic::{Periodic, Separable, separable};
use super::{BufferId, Source};

/// A ratio in lowest terms: producer elements a consumer element. Its parts are asked for more often
/// than it is calculated with, so that a type with a ratio's arithmetic would be the longer way.
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
        let g = num_integer::gcd(a, d);
        Ratio { a: a / g, d: d / g }
    }

    /// `n * a / d` where that is whole.
    pub fn of(self, n: i64) -> Option<i64> {
        (n.checked_mul(self.a)? % self.d == 0).then(|| n * self.a / self.d)
    }
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
    /// The dimension of the source at each place of the buffer, where that is a copy in another order.
    pub order: Order,
    /// Along x and y.
    pub ratio: [Ratio; 2],
    /// After how many elements of the consumer places repeat, along x and y.
    pub period: [i64; 2],
    /// Producer elements relative to those of the tile's first row and column, least and greatest,
    /// along x and y, over a whole tile.
    pub reach: [(i64, i64); 2],
    /// The limits of coordinates along x and y, if they make a difference.
    pub limits: [Option<Limits>; 2],
    /// How far beyond the limits coordinates go: below and above, along x.
    pub beyond_x: [i64; 2],
    /// What is read beyond the edges of what is held as if it lay there.
    pub border: Option<Border>,
    /// For each inner dimension, elements relative to the part of the index that stays the same in
    /// a tile: least and greatest.
    pub inner_reach: Vec<(i64, i64)>,
    /// For each inner dimension, the part of the index that stays the same in a tile.
    pub inner_base: Vec<Affine>,
    /// For each inner dimension, the limits beyond which a window repeats or mirrors planes.
    pub inner_limits: Vec<Option<Limits>>,
    /// Whether each tile of the buffer is a box of its own of the source (`plan/patch.rs`), of which a
    /// window holds all.
    pub patched: bool,
    /// The window in the group's scratchpad; `None` where elements are read from the bank.
    pub window: Option<Window>,
}

impl Read {
    /// The dimension of the source at a place of the buffer; `None` at a place of one element.
    pub fn dimension(&self, place: usize) -> Option<usize> {
        if self.order.is_empty() { Some(place) } else { self.order[place] }
    }

    /// The coordinate of an access at each place of the buffer; `None` at a place of one element.
    pub fn places(&self, args: &[Expr]) -> Vec<Option<Expr>> {
        let args: Vec<Option<Expr>> = args.iter().copied().map(Some).collect();
        if self.order.is_empty() { args } else { placed(&self.order, &args, None) }
    }
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

/// No more is added to a coordinate that goes around.
const MOST_ADDED: u64 = 1 << 28;

/// An index along a tiled dimension: a repeating function of the consumer's own dimension, plus
/// such functions of reduction variables and inner dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledIndex {
    /// Elements of the producer for one of the consumer.
    pub ratio: Ratio,
    /// The function of the consumer's dimension.
    pub own: Periodic,
    /// The functions of reduction variables and inner dimensions, multiples of most of them.
    pub others: Vec<(AffineVar, Periodic)>,
    /// The limits that it is brought into.
    pub limits: Option<Limits>,
    /// The coordinates that it goes around, if it does.
    pub around: Option<Around>,
}

impl TiledIndex {
    /// The dimension itself.
    pub fn one_to_one() -> TiledIndex {
        let own = Periodic { step: 1, table: vec![0] };
        TiledIndex { ratio: Ratio::ONE, own, others: vec![], limits: None, around: None }
    }

    /// Reads an index along tiled dimension `k` of a stage whose own dimension `k` is tiled. `None`
    /// where it has another form.
    pub fn of(pipeline: &Pipeline, forms: &Forms, index: Expr, k: u32) -> Option<TiledIndex> {
        let of_form = || match &forms[index] {
            Some(IndexForm::Clamp { of, low, high }) => {
                let inner = TiledIndex::of_form(of, k)?;
                Some(TiledIndex { limits: Some(Limits::clamp(*low, *high)), ..inner })
            }
            Some(form) => TiledIndex::of_form(form, k),
            None => {
                let (coordinate, limits) = mirrored(pipeline, forms, index)?;
                let inner = TiledIndex::of_form(forms[coordinate].as_ref()?, k)?;
                Some(TiledIndex { limits: Some(limits), ..inner.moved(limits.low) })
            }
        };
        let repeating = || {
            let (coordinate, added, limits) = clamped(pipeline, forms, index);
            let inner = TiledIndex::of_sum(separable(pipeline, coordinate)?.plus(added), k)?;
            Some(TiledIndex { limits, ..inner })
        };
        let around = || TiledIndex::around(pipeline, forms, index, k);
        of_form().or_else(repeating).or_else(around)
    }

    /// Reads an index that goes around. Of the places that mean the same the nearest ones are taken.
    fn around(pipeline: &Pipeline, forms: &Forms, index: Expr, k: u32) -> Option<TiledIndex> {
        let (coordinate, offset, around) = wrapped(pipeline, forms, index)?;
        let inner = TiledIndex::of_form(forms[coordinate].as_ref()?, k)?;
        // Sums that are too large wrap around otherwise; places near the image come of none.
        let summands = [inner.own.table[0], offset, around.first, around.count];
        if summands.iter().any(|n| n.unsigned_abs() > MOST_ADDED) {
            return None;
        }
        let first = inner.own.table[0] + offset - around.first;
        let turns = (first + around.count / 2).div_euclid(around.count);
        let inner = inner.moved(offset - turns * around.count);
        Some(TiledIndex { around: Some(around), ..inner })
    }

    /// The index with a constant added.
    fn moved(mut self, by: i64) -> TiledIndex {
        self.own.table.iter_mut().for_each(|place| *place += by);
        self
    }

    fn of_sum(mut sum: Separable, k: u32) -> Option<TiledIndex> {
        let mut own = sum.terms.remove(&AffineVar::Dim(k))?;
        own.table.iter_mut().for_each(|place| *place += sum.constant);
        let is_tiled = |var: &AffineVar| matches!(var, AffineVar::Dim(0 | 1));
        (!sum.terms.keys().any(is_tiled))
            .then(|| TiledIndex::new(own, sum.terms.into_iter().collect()))?
    }

    fn new(own: Periodic, others: Vec<(AffineVar, Periodic)>) -> Option<TiledIndex> {
        let period = own.table.len() as i64;
        let fits = (1..=MAX_RATIO).contains(&own.step) && period <= MAX_RATIO;
        let ratio = Ratio::new(own.step.max(1), period);
        fits.then_some(TiledIndex { ratio, own, others, limits: None, around: None })
    }

    fn of_form(form: &IndexForm, k: u32) -> Option<TiledIndex> {
        let (affine, d) = match form {
            IndexForm::Affine(affine) => (affine, 1),
            IndexForm::FloorDiv { numerator, divisor } => (numerator, *divisor),
            IndexForm::Clamp { .. } => return None,
        };
        let a = affine.dim(k);
        if !(1..=MAX_RATIO).contains(&a) || d > MAX_RATIO {
            return None;
        }
        let mut others = Vec::new();
        for (&var, &c) in &affine.terms {
            match var {
                AffineVar::Dim(n) if n == k => {}
                AffineVar::Dim(0 | 1) => return None,
                _ if c % d == 0 => others.push((var, Periodic { step: c / d, table: vec![0] })),
                _ => return None,
            }
        }
        let table = (0..d).map(|x| (a * x + affine.constant).div_euclid(d)).collect();
        TiledIndex::new(Periodic { step: a, table }, others)
    }

    /// After how many elements of the consumer the places in the producer repeat.
    pub fn period(&self) -> i64 {
        self.own.table.len() as i64
    }

    /// Least and greatest value of the sum of what else moves it.
    fn range_of_others(&self, interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        self.others.iter().fold((0, 0), |(low, high), (var, of)| {
            let (least, greatest) = of.range(interval(*var));
            (low + least, high + greatest)
        })
    }

    /// Least and greatest value over `x` in `0..n` and what else moves it.
    pub fn reach(&self, n: i64, interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        self.range((0, n - 1), interval)
    }

    /// Least and greatest value, before clamping, over `x` in an interval. The function grows from
    /// period to period, so that its ends are within a period of the interval's.
    pub fn range(&self, x: (i64, i64), interval: &dyn Fn(AffineVar) -> Interval) -> (i64, i64) {
        let (low, high) = self.range_of_others(interval);
        let last = self.period() - 1;
        let first = (x.0..=(x.0 + last).min(x.1)).map(|x| self.own.at(x)).min();
        let end = ((x.1 - last).max(x.0)..=x.1).map(|x| self.own.at(x)).max();
        (first.unwrap_or(0) + low, end.unwrap_or(0) + high)
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
