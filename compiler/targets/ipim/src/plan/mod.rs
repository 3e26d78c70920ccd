//! The plan of a pipeline on the machine: which engine computes and keeps which tile, which data
//! is brought to it beforehand and by what means, in which order.
//!
//! After the iPIM paper, sections V-A and V-B: `ipim_tile` cuts an image into tiles that go to engines
//! interleaved within a group and in contiguous regions above; each `compute_root` stage is a
//! kernel that reads banks and writes banks. Accesses decide the rest: what a tile needs of its
//! neighbours becomes ghost zones of the producer's storage, and what has another distribution is
//! redistributed.

mod access;
mod backwards;
mod beside;
mod border;
mod chunks;
mod coefficients;
mod copies;
mod corner;
pub mod cost;
mod evaluate;
mod excerpt;
mod explain;
mod findings;
mod forms;
mod ghosts;
mod grid;
mod inner;
mod jam;
mod kept;
mod layouts;
mod limits;
mod maker;
mod modes;
mod moved;
mod narrow;
mod nests;
mod order;
mod padded;
mod patch;
mod periodic;
mod planes;
mod planner;
mod prepared;
mod reads;
mod recurrence;
mod scans;
pub mod schedule;
mod separate;
mod slices;
mod split;
mod steps;
mod storage;
mod tables;
mod tiling;
mod traffic;
mod tuples;
mod verdict;
mod windows;

use std::collections::BTreeMap;
use std::rc::Rc;

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use nbcc_isa_ipim::layout::{Element, Layout, Role, Tiled};
use nbcc_stages::bounds::{AffineVar, Bounds, Extents, Interval, Region};
use nbcc_stages::{BinaryOp, ElementType, Expr, Func, Input, Pipeline, RDom};
use num_integer::Integer;

pub use access::{Access, Source, Spread, accesses, spread, stage_roots, varies_along};
pub(crate) use border::{Above, Beside, above, beside, filled, fills};
pub use border::{Border, Outside};
pub(crate) use copies::{Relay, holders, relay};
pub use corner::Corner;
pub use excerpt::{Arc, Excerpt, Ring};
pub use explain::{explain, remarks, span_of};
pub use findings::{Finding, FindingKind};
pub use forms::Forms;
pub(crate) use ghosts::{Columns, Piece, Rows, columns_of, ghost_atoms, parts_of, pieces};
pub(crate) use grid::{busy, fitted, greatest_divisor, groups_in_use, groups_reached, used};
pub use inner::InnerIndex;
pub use jam::{Jam, jams};
pub use kept::{Change, KeptPlanes, kept_planes, own_users};
pub use limits::Limits;
pub use modes::in_place;
use moved::Held;
use order::by_dimension;
pub use order::{NOWHERE, Order};
pub use patch::Patch;
pub use periodic::Periodic;
pub use planner::PlanError;
pub use reads::{Ratio, Read, TiledIndex, Window, inner_index};
pub use recurrence::{Recurrence, recurrence, serial_recurrence};
pub use separate::is_by_line;
pub use slices::Slice;
pub use steps::make_plan;
pub use tables::Table;
pub use traffic::Traffic;
pub use windows::{SCRATCH_BYTES, dump_base, least_bytes};

/// A buffer in banks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(u32);
entity_impl!(BufferId, "buffer");

/// A buffer and where it lies.
#[derive(Clone, Debug)]
pub struct BufferPlan {
    /// Its name: that of the input or Func, with the number of the tuple's element or of the copy.
    pub name: String,
    /// What the host does with it, if anything.
    pub role: Option<Role>,
    /// The type of its elements.
    pub element: Element,
    /// The coordinates it holds, the fastest dimension first.
    pub region: Vec<Interval>,
    /// Which bank holds what.
    pub layout: Layout,
    /// Elements left and right of a group's region that are wanted in its ghost columns.
    pub reach_x: [u32; 2],
    /// What is filled beyond its edges.
    pub border: Option<Border>,
    /// What is to be added to coordinates along x and y for those of the image.
    pub moved: [i32; 2],
    /// Whether these are counted from the image's last.
    pub backwards: [bool; 2],
    /// The extents of the image, where it is a part of one.
    pub part_of: Vec<u32>,
    /// The dimension at each place of its storage, where they stand in another order than that of
    /// the image: its region is in the order of places.
    pub order: Order,
    /// What of another buffer it is a copy of, where each vault has a part of its own. Then the
    /// region is that of a part, from 0 on.
    pub excerpt: Option<Excerpt>,
    /// The boxes of another buffer that its tiles hold, where they are patches.
    pub patch: Option<Patch>,
    /// Byte address in each bank.
    pub base: u32,
}

impl BufferPlan {
    /// Its tiles. Panics where it is not distributed.
    pub fn tiled(&self) -> &Tiled {
        match &self.layout {
            Layout::Tiled(tiled) => tiled,
            other => panic!("{} is not tiled: {other:?}", self.name),
        }
    }

    /// The sizes of dimensions 2 and up.
    pub fn inner_extents(&self) -> Vec<u32> {
        self.region.iter().skip(2).map(|i| i.extent()).collect()
    }

    /// The first column that its tiles, or its only copy, begin with; and the first and last atom
    /// of a row, counted from there, that hold elements.
    pub fn atoms(&self) -> (i64, Interval) {
        let span = self.span(0);
        let origin = match &self.layout {
            Layout::Tiled(tiled) => tiled.origin[0],
            _ => span.min,
        };
        let atom = |x: i32| (x - origin).div_euclid(nbcc_isa_ipim::LANES as i32);
        (origin.into(), Interval::new(atom(span.min), atom(span.max)))
    }

    /// Coordinates along a dimension; of the first two, one that it lacks has one.
    pub fn span(&self, k: usize) -> Interval {
        let lacking = || match &self.layout {
            Layout::Tiled(tiled) => tiled.origin[k],
            _ => 0,
        };
        self.region.get(k).copied().unwrap_or_else(|| Interval::new(lacking(), lacking()))
    }

    /// The first row of those that lie one behind the other in a bank, and how many they are.
    pub fn block_of_rows(&self) -> (i64, i64) {
        match &self.layout {
            Layout::Tiled(tiled) => {
                (tiled.origin[1].into(), i64::from(tiled.grid.rows * tiled.tile[1]))
            }
            _ => {
                let span = self.span(1);
                (span.min.into(), span.extent().into())
            }
        }
    }

    /// Words of its storage where it is whole in a bank: rows are padded to atoms.
    pub fn words(&self) -> u32 {
        let mut extents = self.region.iter().map(|i| i.extent());
        let row = extents.next().unwrap_or(1).next_multiple_of(nbcc_isa_ipim::LANES as u32);
        extents.fold(row, u32::saturating_mul)
    }

    /// The coordinates of the image that it holds, by its dimensions.
    pub fn held(&self) -> Vec<Interval> {
        let mut region = self.region.clone();
        for (interval, by) in region.iter_mut().zip(self.moved) {
            *interval = interval.moved(by);
        }
        self.by_dimension(region)
    }

    /// What a list says of places, for the dimensions.
    fn by_dimension<T: Clone>(&self, placed: Vec<T>) -> Vec<T> {
        if self.order.is_empty() { placed } else { by_dimension(&self.order, &placed) }
    }

    /// The dimensions of the image whose coordinates are counted from its last, in their order.
    pub fn backwards_dims(&self) -> Vec<u8> {
        let dim = |k: usize| if self.order.is_empty() { Some(k) } else { self.order[k] };
        let places = (0..2).filter(|&k| self.backwards[k]);
        let mut dims: Vec<u8> = places.filter_map(|k| dim(k).map(|d| d as u8)).collect();
        dims.sort_unstable();
        dims
    }

    /// The form the host reads.
    pub fn to_buffer(&self, role: Role) -> nbcc_isa_ipim::layout::Buffer {
        let region = self.held();
        let mut layout = self.layout.clone();
        if let Layout::Tiled(tiled) = &mut layout {
            tiled.origin = [0, 1].map(|k| tiled.origin[k] + self.moved[k]);
        }
        nbcc_isa_ipim::layout::Buffer {
            name: self.name.clone(),
            role,
            element: self.element,
            min: region.iter().map(|i| i.min).collect(),
            extent: region.iter().map(|i| i.extent()).collect(),
            part_of: match self.part_of.is_empty() {
                true => Vec::new(),
                false => self.by_dimension(self.part_of.clone()),
            },
            order: self.order.iter().map(|dim| dim.map(|d| d as u8)).collect(),
            backwards: self.backwards_dims(),
            layout,
            base: self.base,
        }
    }
}

/// One stage of a Func.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The pure definition.
    Pure,
    /// The update of that number.
    Update(usize),
}

/// One kernel.
#[derive(Clone, Debug)]
pub enum Step {
    /// Fills the ghost zones of a tiled buffer from the banks of neighbours.
    Exchange(BufferId),
    /// Fills a buffer from another that is distributed differently.
    Redistribute {
        /// The elements' home.
        from: BufferId,
        /// The copy.
        to: BufferId,
        /// The place in its home that what stands at each place of the copy has, where dimensions
        /// stand in another order.
        order: Order,
        /// Where coordinates are clamped to, a dimension each.
        clamp: Vec<Option<(i64, i64)>>,
    },
    /// Computes a stage tile by tile, every engine its own.
    Tiles(TileStep),
    /// Reduces a stage's domain into a small buffer: parts in every engine, then merged.
    Reduce(ReduceStep),
    /// Computes a stage on one engine.
    Serial(SerialStep),
}

/// Loops over tiles: what every engine does for its own tiles.
#[derive(Clone, Debug)]
pub struct Nest {
    /// The name of the Func.
    pub name: String,
    /// The points that count. Tiles may hold more; what is computed there is never read.
    pub region: Vec<Interval>,
    /// The tiles of dimensions 0 and 1, without ghost zones.
    pub tiles: Tiled,
    /// The reduction domain that runs inside each point, and its intervals.
    pub rdom: Option<(RDom, Vec<Interval>)>,
    /// What it reads, and through what.
    pub reads: Vec<Read>,
    /// The read that serves each access in tiles.
    pub read_of: BTreeMap<Expr, usize>,
    /// The buffer that serves each other access, a copy in every engine's bank.
    pub copy_of: BTreeMap<Expr, BufferId>,
    /// The tables of those copies that the engines read in the group's scratchpad.
    pub tables: BTreeMap<BufferId, Table>,
    /// Rows of the tile computed between two fillings of windows.
    pub block_rows: u32,
    /// Vectors of a row, and rows, computed in one loop body, so that every lane's place in the
    /// producers is known when compiling.
    pub unroll: [u32; 2],
}

impl Nest {
    /// The values of a dimension, or of a variable of the reduction domain.
    pub fn interval(&self, var: AffineVar) -> Interval {
        match var {
            AffineVar::Dim(n) => self.region[n as usize],
            AffineVar::RVar(_, n) => {
                self.rdom.as_ref().expect("variables are of its domain").1[n as usize]
            }
        }
    }

    /// The dimension, from 2 on, of whose loop so many rounds at a time have slices of tables.
    pub fn cut(&self) -> Option<(usize, u32)> {
        let slice = self.tables.values().find_map(|table| table.slice.as_ref())?;
        Some((slice.dim, slice.planes))
    }

    /// The first dimension, from 2 on, along which windows are filled anew for each point: those before it are
    /// loops inside, for all points of which windows hold the same. All of them are where blocks are parts of a
    /// tile.
    pub fn filled_from(&self) -> usize {
        let dims = self.region.len().max(2);
        if self.block_rows != self.tiles.tile[1] {
            return 2;
        }
        let windows = self.reads.iter().filter(|read| read.window.is_some());
        let vars = windows.flat_map(|read| &read.inner_base).flat_map(|base| base.terms.keys());
        let along = |var: &AffineVar| match *var {
            AffineVar::Dim(d) => d as usize,
            AffineVar::RVar(..) => 2,
        };
        vars.map(along).min().unwrap_or(dims).clamp(2, dims)
    }
}

/// A stage computed tile by tile.
#[derive(Clone, Debug)]
pub struct TileStep {
    /// The Func.
    pub func: Func,
    /// Its stage.
    pub stage: Stage,
    /// The loops.
    pub nest: Nest,
    /// The buffers of its values.
    pub targets: Vec<BufferId>,
}

/// An update reduced in parts: each engine for the tiles it owns, then all parts into one buffer.
/// The nest's dimensions are those of the reduction domain.
#[derive(Clone, Debug)]
pub struct ReduceStep {
    /// The Func.
    pub func: Func,
    /// The loops over the reduction domain.
    pub nest: Nest,
    /// The element that a point contributes to.
    pub args: Vec<Expr>,
    /// What it contributes.
    pub value: Expr,
    /// Conditions for a point to contribute.
    pub predicates: Vec<Expr>,
    /// How contributions combine.
    pub op: BinaryOp,
    /// The buffer of the Func's value, whole in one bank. It holds the pure definition already.
    pub target: BufferId,
    /// Whether the element differs along a row of points.
    pub scattered: bool,
    /// Where each engine gathers its parts.
    pub parts: Parts,
    /// Byte address in each bank of the engine's parts once they are packed, a word an element.
    pub packed: u32,
    /// Byte address in each bank of the sums over a vault that the engine makes, an atom for each
    /// chunk of as many atoms as the vault has engines.
    pub sums: u32,
}

impl ReduceStep {
    /// Atoms of the packed parts.
    pub fn atoms(&self, target: &BufferPlan) -> u32 {
        target.words() / nbcc_isa_ipim::LANES as u32
    }
}

/// Where an engine gathers its parts of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// In its bank from this address on, as atoms.
    Bank(u32),
    /// In the scratchpad of its group from `base` on, `stride` bytes an engine.
    Pgsm {
        /// Byte address for engine 0.
        base: u32,
        /// Bytes, whole atoms.
        stride: u32,
        /// What an element takes.
        part: Part,
    },
}

/// What an element of a reduction's result takes in an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Four words, a lane of the points each.
    Atom,
    /// One word.
    Word,
}

/// A stage computed on one engine.
#[derive(Clone, Debug)]
pub struct SerialStep {
    /// The Func.
    pub func: Func,
    /// Its stage.
    pub stage: Stage,
    /// The buffers of its values, whole in that engine's bank.
    pub targets: Vec<BufferId>,
    /// The buffer that serves each input and Func read, whole in that engine's bank.
    pub sources: BTreeMap<(Source, u32), BufferId>,
}

/// The plan of a pipeline.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The pipeline, extents known and inlined.
    pub pipeline: Rc<Pipeline>,
    /// How large images are.
    pub extents: Extents,
    /// What is kept of inputs, and where their coordinates begin.
    held: SecondaryMap<Input, Held>,
    /// Where everything is computed and read.
    pub bounds: Rc<Bounds>,
    /// The form of each index.
    pub forms: Rc<Forms>,
    /// Buffers.
    pub buffers: PrimaryMap<BufferId, BufferPlan>,
    /// The buffer of each input that is read.
    pub inputs: SecondaryMap<Input, Option<BufferId>>,
    /// The buffers of each Func's values.
    pub funcs: SecondaryMap<Func, Vec<BufferId>>,
    /// The byte address in each bank of the atom of each scalar parameter, in their order.
    pub params: Vec<u32>,
    /// Funcs in tiles that neither a schedule nor a consumer asked for.
    pub founders: Vec<Func>,
    /// What was decided and found out on the way here.
    pub findings: Vec<Finding>,
    /// Kernels in order.
    pub steps: Vec<Step>,
    /// First byte of each bank that nothing uses.
    pub bank_end: u32,
}

impl Plan {
    /// The interval that coordinate `k` of an input is clamped to, where some access may lie outside
    /// and the input's edges are repeated.
    pub fn repeated(&self, input: Input, k: usize) -> Option<Interval> {
        let kept = *self.input_region(input).get(k)?;
        let inside = self.bounds.inputs[input].as_ref().is_some_and(|read| kept.contains(read[k]));
        (self.pipeline.inputs[input].repeat_edge && !inside).then_some(kept)
    }

    /// Whether the first two dimensions of a Func change places.
    fn is_turned(&self, func: Func) -> bool {
        let order = self.funcs[func].first().map(|&id| &self.buffers[id].order[..]);
        matches!(order, Some([Some(1), Some(0), ..]))
    }

    /// The first coordinate and the one behind the last along x and y that buffers which are cut as these
    /// tiles hold, in elements of these tiles.
    fn covered(&self, tiles: &Tiled) -> [[i64; 2]; 2] {
        let first_cell = |of: &Tiled| [0, 1].map(|k| of.origin[k] / of.tile[k] as i32);
        let alike = |of: &&Tiled| of.grid == tiles.grid && first_cell(of) == first_cell(tiles);
        [0, 1].map(|k| {
            let ends = self.buffers.values().filter_map(|buffer| {
                let Layout::Tiled(of) = &buffer.layout else { return None };
                let of = Some(of).filter(alike)?;
                let (span, size) = (buffer.span(k), i64::from(of.tile[k]));
                let [first, end] = [i64::from(span.min), i64::from(span.max) + 1]
                    .map(|at| at * i64::from(tiles.tile[k]));
                Some([first.div_euclid(size), Integer::div_ceil(&end, &size)])
            });
            let hull = |a: [i64; 2], b: [i64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
            let origin = i64::from(tiles.origin[k]);
            ends.reduce(hull).unwrap_or([origin, origin + 1])
        })
    }

    /// The coordinates that are kept of an input.
    fn input_region(&self, input: Input) -> &Region {
        &self.held[input].region
    }
}

/// The element type as the layout names it.
pub fn element(ty: ElementType) -> Element {
    match ty {
        ElementType::Bool => Element::Bool,
        ElementType::U8 => Element::U8,
        ElementType::U16 => Element::U16,
        ElementType::U32 => Element::U32,
        ElementType::I8 => Element::I8,
        ElementType::I16 => Element::I16,
        ElementType::I32 => Element::I32,
        ElementType::F32 => Element::F32,
    }
}
