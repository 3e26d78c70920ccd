//! What a planner works with: the plan as it stands, what attempts that failed have taught, and nests
//! whose reads are not known yet.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_base::Span;
use nbcc_isa_ipim::layout::Tiled;
use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::{AffineVar, Interval, Region};
use nbcc_stages::{Expr, Func};

use super::access::Source;
use super::grid::busy;
use super::layouts::{Families, Member};
use super::modes::{Mode, Reduction};
use super::order::Orders;
use super::padded::Padded;
use super::{BufferId, Plan};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// What does not fit.
    pub message: String,
    /// The stage or input it is about.
    pub span: Option<Span>,
}

/// Why an attempt at a plan failed.
pub(super) enum Failure {
    /// The windows of a nest of this Func do not fit the scratchpad. What it reads through them,
    /// the largest window first, which of it in another order of dimensions, and which in patches; and
    /// whether patches are given up before tiles are made narrower.
    Windows {
        func: Func,
        sources: Vec<Source>,
        permuted: Vec<Source>,
        patched: Vec<Source>,
        given_up: bool,
    },
    /// What this Func reads at places that tiles do not serve is too much for a copy in every bank.
    Copies(Func),
    /// This Func reads constants beyond edges where no border can hold them.
    Padded(Func),
    /// There is no plan at all.
    Error(PlanError),
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Failure {
        Failure::Error(error)
    }
}

/// Decisions for a whole plan, between which the estimate chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ways {
    /// Everything is read in the order of its own dimensions.
    pub(super) in_order: bool,
    /// Inputs of which nobody asks tiles lie in columns of all rows, so that the rows of a patch are in
    /// one bank.
    pub(super) in_columns: bool,
    /// Inputs of which nobody asks tiles lie in tiles as wide as what is requested at once, so that few
    /// banks have to be found.
    pub(super) wide: bool,
    /// Nothing is read in patches.
    pub(super) unpatched: bool,
    /// Funcs of which all updates can be reduced in parts are not distributed.
    pub(super) in_parts: bool,
    /// Where data decides on planes and windows of all do not fit, they are read one at a time, though
    /// there is room for whole copies.
    pub(super) by_plane: bool,
    /// What goes around an image is read from excerpts, where it goes beyond an edge.
    pub(super) from_excerpts: bool,
}

/// What attempts that failed have taught.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// No tile is wider, unless what it feeds asks for it.
    pub(super) width: u32,
    /// What is read from a whole copy in every bank, by which Func, since windows of the
    /// narrowest tiles do not fit.
    pub(super) whole: BTreeSet<(Func, Source)>,
    /// What else is decided for the whole plan.
    pub(super) ways: Ways,
    /// What is read in the order of its own dimensions, by which Func, since windows of a copy in
    /// another do not fit.
    pub(super) in_order: BTreeSet<(Func, Source)>,
    /// What is not read in patches, by which Func, since windows on them do not fit.
    pub(super) unpatched: BTreeSet<(Func, Source)>,
    /// Funcs that are computed a plane of what they read at a time (`plan/planes.rs`), since windows of
    /// all planes that data may decide on do not fit.
    pub(super) by_plane: BTreeSet<Func>,
    /// Funcs that choose between an image and a constant at each point, since no border can hold it.
    pub(super) unpadded: BTreeSet<Func>,
    /// Funcs that are computed on one engine, since not even whole copies help.
    pub(super) single: BTreeSet<Func>,
}

impl Limits {
    /// What to try instead where windows of `func` do not fit: dimensions in their order, then narrower tiles
    /// of everything, then no patches, then whole copies of what it reads through the largest windows
    /// where they are small, then one plane at a time where data decides on planes, then a part for each
    /// vault, at last one engine.
    pub(super) fn tighten(
        &mut self,
        func: Func,
        [sources, permuted, patched]: [&[Source]; 3],
        given_up: bool,
        by_plane: impl FnOnce() -> bool,
        [small, in_parts]: [&dyn Fn(Source) -> bool; 2],
    ) {
        let narrow = self.width <= LANES as u32;
        if !patched.is_empty() && (narrow || given_up) {
            if narrow {
                self.width = u32::MAX;
            }
            self.unpatched.extend(patched.iter().map(|&source| (func, source)));
            return;
        }
        if !permuted.is_empty() {
            self.in_order.extend(permuted.iter().map(|&source| (func, source)));
            return;
        }
        if self.width > LANES as u32 {
            self.width = (self.width / 2).clamp(LANES as u32, 16);
            return;
        }
        self.width = u32::MAX;
        let first = |served: &dyn Fn(Source) -> bool| {
            sources.iter().copied().find(|&source| served(source))
        };
        let whole = first(small);
        if (self.ways.by_plane || whole.is_none()) && !self.by_plane.contains(&func) && by_plane() {
            self.by_plane.insert(func);
        } else if let Some(source) = whole.or_else(|| first(in_parts)) {
            self.whole.insert((func, source));
        } else {
            self.single.insert(func);
        }
    }
}

pub(super) struct Planner<'a> {
    pub(super) machine: &'a Machine,
    pub(super) limits: &'a Limits,
    /// What accesses mean that read a constant beyond an edge.
    pub(super) padded: BTreeMap<Expr, Padded>,
    /// The orders that the dimensions of the plan's pipeline were put in.
    pub(super) orders: &'a Orders,
    pub(super) families: Families,
    /// The tiles that consumers ask of a source, first come first.
    pub(super) asked: BTreeMap<Source, Vec<Member>>,
    pub(super) modes: BTreeMap<Func, Mode>,
    pub(super) members: BTreeMap<Source, Member>,
    pub(super) reduce_members: BTreeMap<(Func, usize), Member>,
    pub(super) homes: BTreeMap<(Source, u32), BufferId>,
    /// The place in the order of steps where ghost zones of a home are filled.
    pub(super) exchanged: Vec<BufferId>,
    pub(super) reductions: BTreeMap<(Func, usize), Reduction>,
    pub(super) plan: Plan,
}

/// A nest before its reads are known.
pub(super) struct NestShape {
    pub(super) name: String,
    /// Where its Func is defined.
    pub(super) span: Span,
    pub(super) region: Region,
    pub(super) dims: usize,
    pub(super) tiles: Tiled,
    pub(super) rdom: Option<(nbcc_stages::RDom, Vec<Interval>)>,
    pub(super) stage_pgsm: bool,
    /// Whether the scratchpad has room for tables.
    pub(super) tables: bool,
}

impl NestShape {
    /// Columns and rows of vaults that hold points.
    pub(super) fn busy(&self) -> [u32; 2] {
        let grid = &self.tiles.grid;
        let busy = busy(&self.tiles, &self.region, [0, 0]);
        [0, 1].map(|k| busy[k].min(grid.cubes[k] * grid.vaults[k]))
    }

    /// The coordinates along x or y of the points of a column or row of vaults.
    pub(super) fn of_vault(&self, k: usize, vault: u32) -> Interval {
        let grid = &self.tiles.grid;
        let tiles = [grid.strips * grid.engines, grid.rows][k] * grid.groups[k];
        self.part(k, i64::from(tiles) * i64::from(self.tiles.tile[k]), vault)
    }

    /// The coordinates along x or y of the points of a column or row of tiles.
    pub(super) fn of_tile(&self, k: usize, tile: u32) -> Interval {
        self.part(k, self.tiles.tile[k].into(), tile)
    }

    /// The coordinates of the points of part `n` of those of `size` along x or y.
    fn part(&self, k: usize, size: i64, n: u32) -> Interval {
        let min = i64::from(self.tiles.origin[k]) + size * i64::from(n);
        let Interval { min: first, max: last } = self.region[k];
        let limited = |at: i64| at.clamp(i64::from(first) - 1, i64::from(last) + 1) as i32;
        Interval::new(limited(min).max(first), limited(min + size - 1).min(last))
    }

    pub(super) fn interval(&self, var: AffineVar) -> Interval {
        match var {
            AffineVar::Dim(n) => self.region[n as usize],
            AffineVar::RVar(rdom, n) => match &self.rdom {
                Some((own, intervals)) if *own == rdom => intervals[n as usize],
                _ => panic!("{rdom} is not the domain of {}", self.name),
            },
        }
    }
}
