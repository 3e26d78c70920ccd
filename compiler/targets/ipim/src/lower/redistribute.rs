//! Copies of a buffer in another distribution: every vault requests the rows that its engines want
//! from wherever they lie into its scratchpad, and engines take their part from there.
//!
//! The control core finds the owner of an atom with scalar arithmetic, the inverse of how tiles go
//! to engines (`isa/ipim/src/layout.rs`); atoms outside the source are replaced by others of its
//! tiles, so that every request is valid. Several rows are requested before the first is read, so
//! that their latencies overlap.

use nbcc_ir::{Builder, IntCond, Mem, Op, Terminator, Type, Value};
use nbcc_isa_ipim::layout::{Layout, Role, Tiled};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES, Machine};
use nbcc_stages::bounds::Interval;

use super::cx::{KernelCx, Lowering};
use super::fetch::Run;
use super::home::{Affine, Home, Row};
use super::math::{div_rem, min, plus, ramp, times};
use super::position::{
    finish_at, mesh_of, position, skip_behind, skip_idle, skip_idle_of, vault_along,
};
use super::stagger::Stagger;
use super::whole::Share;
use super::window::piece_mask;
use crate::intrinsics::{PE, PG, RD_VSM, ST_RF, VAULT, base, id, read, write};
use crate::kernel::{Kernel, Size};
use crate::memory;
use crate::plan::{
    BufferId, BufferPlan, Columns, Order, Relay, busy, columns_of, groups_reached, relay,
};

/// Atoms that an engine takes from a row in straight-line code; more become a loop.
pub(super) const UNROLL: u32 = 8;
/// Atoms that are requested in straight-line code.
pub(super) const REQUESTS: u32 = 16;
/// The same where loops over tiles are not unrolled.
const ROLLED_REQUESTS: u32 = 8;

/// Lowers a copy of `from` into `to`, whose dimensions stand in an `order` of their own. `clamp` says
/// where coordinates along the tiled dimensions are clamped to.
pub(crate) fn lower(
    cx: &mut Lowering<'_>,
    [from, to]: [BufferId; 2],
    order: &Order,
    clamp: &[Option<(i64, i64)>],
) -> Vec<Kernel> {
    let [source, target] = [from, to].map(|id| &cx.plan.buffers[id]);
    let (first, then) = match relay(cx.machine, source, target) {
        Relay::Direct => (Share::All, None),
        Relay::ByCubes => (Share::First, Some((Share::All, None))),
        Relay::ByParts => (Share::Own, Some((Share::Each, Some(from)))),
    };
    let other = (first == Share::Own).then_some(to);
    let mut kernels = vec![one(cx, [from, to], order, clamp, (first, other))];
    kernels.extend(then.map(|then| one(cx, [to, to], &Order::new(), &[], then)));
    kernels
}

/// A copy by all vaults that want it, or what some of them do. What is copied to itself comes from there. Where
/// it is one of two by parts, `other` is what the other one takes from.
fn one(
    cx: &mut Lowering<'_>,
    [from, to]: [BufferId; 2],
    order: &Order,
    clamp: &[Option<(i64, i64)>],
    (share, other): (Share, Option<BufferId>),
) -> Kernel {
    let plan = cx.plan;
    let (source, target) = (&plan.buffers[from], &plan.buffers[to]);
    let computed = source.role != Some(Role::Input);
    let phase = (computed && cx.several_vaults()).then(|| cx.next_phase());
    let mut kernel = KernelCx::new(cx, &target.name.replace('.', "_"));
    kernel.sync = phase;
    let [from, into] = [from, to].map(|id| kernel.buffer(plan, id));
    let exit = kernel.func.add_block();
    let b = &mut cx.builder(&mut kernel.func);
    if share == Share::First {
        let vault = id(b, VAULT);
        skip_behind(b, vault, 1, exit);
    }
    let mut copy = Copy {
        machine: cx.machine,
        mask: cx.full_mask(),
        vsm: memory::data_begin(cx.machine).into(),
        room: memory::data_bytes(cx.machine),
        home: Home::new(source, from),
        other: other.map(|id| Home::new(&plan.buffers[id], into)),
        from: source,
        to: target,
        into,
        order,
        limits: std::array::from_fn(|k| {
            let clamp = clamp.get(k).copied().flatten();
            match order.get(k).unwrap_or(&Some(k)) {
                Some(place) => limits(source, clamp, *place),
                None => limits(target, None, k),
            }
        }),
        repeats: clamp.first().is_some_and(|c| c.is_some()),
        unroll: requests(cx.size),
    };
    let mask = match &target.layout {
        Layout::Tiled(tiled) => {
            let grid = &tiled.grid;
            // Ghost zones of the vault behind the last element may be read too.
            let reach = [target.reach_x[0], tiled.ghost_rows[0]];
            skip_idle_of(b, busy(tiled, &target.region, reach), grid, exit);
            copy.mask = cx.mask_of(tiled, &target.region, reach);
            match (&target.patch, order.iter().position(|place| *place == Some(0))) {
                (Some(patch), _) => copy.to_patches(b, tiled, patch),
                (None, None | Some(0)) => copy.to_tiles(b, tiled),
                (None, Some(across)) => copy.to_transposed(b, tiled, across),
            }
            copy.mask
        }
        Layout::Single { pg, pe, .. } => {
            let mask = 1 << (pg * cx.machine.hierarchy.pes + pe);
            skip_idle(b, [1, 1], mesh_of(cx.machine), exit);
            copy.to_whole(b, mask, share, exit);
            mask
        }
        Layout::Replicated => {
            match &target.excerpt {
                Some(excerpt) => {
                    skip_idle_of(b, excerpt.busy, &excerpt.grid, exit);
                    copy.to_excerpt(b, excerpt, cx.full_mask());
                }
                None => copy.to_whole(b, cx.full_mask(), share, exit),
            }
            cx.full_mask()
        }
    };
    finish_at(b, exit);
    b.terminate(Terminator::Return(vec![]));
    kernel.finish(mask)
}

/// First and last coordinate of the source that the copy takes along dimension `k`.
fn limits(source: &BufferPlan, clamp: Option<(i64, i64)>, k: usize) -> (i64, i64) {
    let own = source.span(k);
    let (first, last) = (i64::from(own.min), i64::from(own.max));
    clamp.map_or((first, last), |(a, b)| (a.clamp(first, last), b.clamp(first, last)))
}

pub(super) struct Copy<'a> {
    pub(super) machine: &'a Machine,
    /// The engines that take something.
    pub(super) mask: u32,
    /// Where rows are put in the vault's scratchpad, and bytes there.
    pub(super) vsm: i64,
    pub(super) room: u32,
    pub(super) home: Home<'a>,
    /// Where the other kernel of a copy by parts takes rows from, of which only the layout counts.
    pub(super) other: Option<Home<'a>>,
    pub(super) from: &'a BufferPlan,
    pub(super) to: &'a BufferPlan,
    pub(super) into: Mem,
    /// The place of the source at each of the copy, where that is another.
    pub(super) order: &'a Order,
    /// First and last coordinate taken along x and y.
    pub(super) limits: [(i64, i64); 2],
    /// Whether elements beyond the limits along x are those at the limits.
    repeats: bool,
    /// Atoms requested in straight-line code.
    pub(super) unroll: u32,
}

/// A group of a vault.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) number: Value,
    /// Its column and row among those of the vault.
    pub(super) x: Value,
    pub(super) y: Value,
}

/// Rows of the copy that are requested together.
#[derive(Clone, Copy)]
pub(super) struct Batch {
    /// How many, and how often.
    pub(super) rows: u32,
    pub(super) turns: u32,
    /// Rows in all.
    all: u32,
}

impl Batch {
    /// The most rows of `bytes` that fit `room`, the same number each time.
    pub(super) fn new(all: u32, bytes: u32, room: u32) -> Batch {
        let turns = all.div_ceil((room / bytes).clamp(1, all));
        let rows = all.div_ceil(turns);
        Batch { rows, turns: all.div_ceil(rows), all }
    }

    /// The number of row `r` of a turn; rows behind the last are the last once more.
    pub(super) fn row(&self, b: &mut Builder<'_>, turn: Value, r: Value) -> Value {
        let first = times(b, turn, self.rows.into());
        let row = b.iadd(first, r);
        if self.rows * self.turns == self.all && !b.keeps_identities() {
            return row;
        }
        let last = b.i32(self.all as i32 - 1);
        min(b, row, last)
    }
}

/// Atoms that are requested in straight-line code.
fn requests(size: Size) -> u32 {
    match size {
        Size::Fast | Size::Merged => REQUESTS,
        Size::Rolled => ROLLED_REQUESTS,
        Size::Compact | Size::Smallest => 1,
    }
}

impl<'a> Copy<'a> {
    /// From places of a buffer to others of the same.
    pub(super) fn within(
        cx: &Lowering<'a>,
        buffer: &'a BufferPlan,
        mem: Mem,
        order: &'a Order,
    ) -> Copy<'a> {
        Copy {
            machine: cx.machine,
            mask: cx.full_mask(),
            vsm: memory::data_begin(cx.machine).into(),
            room: memory::data_bytes(cx.machine),
            home: Home::new(buffer, mem),
            other: None,
            from: buffer,
            to: buffer,
            into: mem,
            order,
            limits: [0, 1].map(|k| limits(buffer, None, k)),
            repeats: false,
            unroll: requests(cx.size),
        }
    }
}

impl Copy<'_> {
    pub(super) fn vector(&self) -> Type {
        Type { scalar: super::cx::scalar(self.to.element), lanes: LANES as u8 }
    }

    /// Planes: points of the dimensions that are not tiled, alike in source and copy.
    pub(super) fn planes(&self) -> u32 {
        let planes = self.to.inner_extents().iter().product();
        let alike = !self.order.is_empty() || planes == self.home.planes();
        assert!(alike, "planes of {}", self.to.name);
        planes
    }

    /// How many groups of a vault have tiles which the copy fills.
    pub(super) fn groups(&self) -> u32 {
        groups_reached(self.to).iter().product()
    }

    /// One of those groups.
    pub(super) fn group(&self, b: &mut Builder<'_>, tiled: &Tiled, n: Value) -> Group {
        let (y, x) = div_rem(b, n, groups_reached(self.to)[0], 1 << 10);
        let before = times(b, y, tiled.grid.groups[0].into());
        Group { number: b.iadd(before, x), x, y }
    }

    /// The coordinates of a plane of the copy along the dimensions that are not tiled, with their
    /// places, but for one that planes do not count.
    pub(super) fn inner(
        &self,
        b: &mut Builder<'_>,
        plane: Value,
        but: Option<usize>,
    ) -> Vec<(usize, Value)> {
        let places = self.to.region.iter().enumerate().skip(2);
        let places: Vec<_> = places.filter(|(k, _)| Some(*k) != but).collect();
        let mut most = places.iter().map(|(_, i)| i.extent()).product::<u32>() - 1;
        let mut rest = plane;
        let mut found = Vec::new();
        for (n, &(k, interval)) in places.iter().enumerate() {
            let digit = if n + 1 == places.len() {
                rest
            } else {
                let (quotient, digit) = div_rem(b, rest, interval.extent(), most);
                (rest, most) = (quotient, most / interval.extent());
                digit
            };
            found.push((k, plus(b, digit, interval.min.into())));
        }
        found
    }

    /// The row of the source that has the element at coordinates of a copy in another order.
    pub(super) fn row_at(
        &self,
        b: &mut Builder<'_>,
        x: Value,
        y: Value,
        inner: &[(usize, Value)],
    ) -> Row {
        let mut row = b.i32(self.from.span(1).min);
        let mut plane = b.i32(0);
        let mut stride = 1;
        for (place, interval) in self.from.region.iter().enumerate().skip(1) {
            let to = self.order.iter().position(|of| *of == Some(place));
            let coordinate = match to.expect("a copy has all dimensions") {
                0 => x,
                1 => y,
                k => inner.iter().find(|(at, _)| *at == k).expect("planes have all of them").1,
            };
            if place == 1 {
                row = coordinate;
                continue;
            }
            let inside = plus(b, coordinate, -i64::from(interval.min));
            let term = times(b, inside, stride);
            plane = b.iadd(plane, term);
            stride *= i64::from(interval.extent());
        }
        self.home.row(b, plane, row)
    }

    /// The row of the source that is row `y` of a plane of the copy.
    fn row(&self, b: &mut Builder<'_>, plane: Value, y: Value) -> Row {
        if self.order.is_empty() {
            return self.home.row(b, plane, y);
        }
        let inner = self.inner(b, plane, None);
        let x = b.i32(0);
        self.row_at(b, x, y, &inner)
    }

    /// Stores `atoms` atoms that lie in the scratchpad from `slot` on to `bank`, each changed as
    /// `change` says, which gets the byte offset too.
    pub(super) fn take(
        &self,
        b: &mut Builder<'_>,
        (slot, bank): (Value, Value),
        atoms: u32,
        mask: u32,
        mut change: impl FnMut(&mut Builder<'_>, Value, Value) -> Value,
    ) {
        let most = UNROLL.min(atoms).min(self.unroll);
        let unroll = (1..=most).rev().find(|n| atoms.is_multiple_of(*n)).unwrap_or(1);
        b.counted_loop("atoms", atoms / unroll, |b, counter| {
            let start = times(b, counter, i64::from(unroll * ATOM_BYTES));
            // All are read before the first is stored, so that nothing waits for one alone.
            let mut all = Vec::new();
            for n in 0..unroll {
                let offset = plus(b, start, i64::from(n * ATOM_BYTES));
                let place = b.iadd(slot, offset);
                all.push((offset, read(b, RD_VSM, place, mask, self.vector())));
            }
            for (offset, value) in all {
                let value = change(b, value, offset);
                let place = b.iadd(bank, offset);
                write(b, ST_RF, place, value, mask);
            }
        });
    }

    /// Copies to tiles: every group takes the columns of its region and of its ghost zones.
    fn to_tiles(&self, b: &mut Builder<'_>, tiled: &Tiled) {
        assert!(tiled.tile[0].is_multiple_of(LANES as u32), "tiles of {}", self.to.name);
        let groups = self.groups();
        let slots = self.machine.hierarchy.pgs;
        let edges = if self.repeats { 2 } else { 0 };
        let most = (self.room / ATOM_BYTES / slots).saturating_sub(edges + 1).max(1);
        let (_, shift) = self.home.atom_of(i64::from(tiled.origin[0]));
        for columns in narrow(columns_of(self.to, tiled), tiled, most) {
            let tiles = if columns.engine.is_none() { tiled.grid.engines } else { 1 };
            let atoms = columns.atoms * tiles + u32::from(shift != 0);
            let (first, _) = self.home.atom_of(start_of(tiled, &columns));
            let factors = factors(tiled, &columns);
            let run = Run::new(&self.home, (first, &factors), atoms, self.unroll, most + 1);
            let row_bytes = (edges + run.atoms) * ATOM_BYTES;
            let strip = Strip {
                copy: self,
                tiled,
                columns,
                shift,
                run,
                row_bytes,
                batch: Batch::new(tiled.height(), row_bytes * slots, self.room),
                edges: edges * ATOM_BYTES,
            };
            let stagger = self.stagger_rows(b, tiled, &strip.batch);
            b.counted_loop("plane", self.planes(), |b, plane| {
                b.counted_loop("strip", columns.strips, |b, number| {
                    b.counted_loop("rows", strip.batch.turns, |b, turn| {
                        let turn = stagger.outer(b, turn);
                        b.counted_loop("group", groups, |b, group| {
                            strip.fetch(b, [plane, number, turn, group], &stagger);
                        });
                        strip.take(b, plane, number, turn);
                    });
                });
            });
        }
    }
}

/// Splits columns whose rows, one for each group, do not fit the scratchpad of a vault.
pub(super) fn narrow(all: Vec<Columns>, tiled: &Tiled, most: u32) -> Vec<Columns> {
    let split = |c: Columns| {
        let engines = match c.engine {
            None if c.atoms * tiled.grid.engines > most => {
                (0..tiled.grid.engines).map(Some).collect()
            }
            other => vec![other],
        };
        let parts = c.atoms.div_ceil(most);
        engines.into_iter().flat_map(move |engine| {
            (0..parts).map(move |n| {
                let first = n * most;
                let atoms = (c.atoms - first).min(most);
                Columns { engine, first: c.first + first * LANES as u32, atoms, ..c }
            })
        })
    };
    all.into_iter().flat_map(split).collect()
}

/// Columns of a strip of tiles, in every group of the vault.
struct Strip<'a> {
    copy: &'a Copy<'a>,
    tiled: &'a Tiled,
    columns: Columns,
    /// Elements by which the copy's atoms lie to the right of the source's.
    shift: i64,
    /// How the atoms of a row of a group are requested, those at the limits not counted.
    run: Run,
    /// Bytes of a row of a group in the scratchpad.
    row_bytes: u32,
    batch: Batch,
    /// Bytes at the start of a row for the atoms at the limits along x.
    edges: u32,
}

/// Width of a strip and of a group's region, in elements.
fn widths(tiled: &Tiled) -> [i64; 2] {
    let strip = i64::from(tiled.grid.engines * tiled.tile[0]);
    [strip, strip * i64::from(tiled.grid.strips)]
}

/// Atoms from one group to the next, and from one strip to the next where there are several.
pub(super) fn factors(tiled: &Tiled, columns: &Columns) -> [i64; 2] {
    let [strip, group] = widths(tiled).map(|n| n / LANES as i64);
    [group, if columns.strips > 1 { strip } else { 0 }]
}

/// First column of the copy that is taken, in the group and the strip at the origin.
pub(super) fn start_of(tiled: &Tiled, columns: &Columns) -> i64 {
    let engine = columns.engine.unwrap_or(0);
    i64::from(tiled.origin[0])
        + columns.strip * widths(tiled)[0]
        + i64::from(engine * tiled.tile[0] + columns.first)
}

impl Strip<'_> {
    fn slot_bytes(&self) -> i64 {
        i64::from(self.row_bytes * self.batch.rows)
    }

    /// Requests the rows of one group: of a plane, a strip and a turn.
    fn fetch(&self, b: &mut Builder<'_>, at: [Value; 4], stagger: &Stagger) {
        let [plane, strip, turn, group] = at;
        let copy = self.copy;
        let grid = &self.tiled.grid;
        let Group { number: group, x: group_x, y: group_y } = copy.group(b, self.tiled, group);
        let column = vault_along(b, grid, 0);
        let column = times(b, column, grid.groups[0].into());
        let column = b.iadd(column, group_x);
        let row = vault_along(b, grid, 1);
        let row = times(b, row, grid.groups[1].into());
        let row = b.iadd(row, group_y);
        let (constant, _) = copy.home.atom_of(start_of(self.tiled, &self.columns));
        let [of_group, of_strip] = factors(self.tiled, &self.columns);
        let mut first = Affine { constant, terms: vec![(column, of_group)] };
        if self.columns.strips > 1 {
            first.terms.push((strip, of_strip));
        }
        let height = i64::from(grid.rows * self.tiled.tile[1]);
        let top = times(b, row, height);
        let top =
            plus(b, top, i64::from(self.tiled.origin[1]) - i64::from(self.tiled.ghost_rows[0]));
        let slot = times(b, group, self.slot_bytes());
        let slot = plus(b, slot, copy.vsm);
        b.counted_loop("fetch", self.batch.rows, |b, r| {
            let r = stagger.inner(b, r);
            let y = self.batch.row(b, turn, r);
            let y = b.iadd(top, y);
            let (low, high) = copy.limits[1];
            let y = super::math::clamp(b, y, low, high);
            let offset = times(b, r, self.row_bytes.into());
            let slot = b.iadd(slot, offset);
            let row = copy.row(b, plane, y);
            if copy.repeats {
                let (low, high) = copy.limits[0];
                for (n, limit) in [low, high].into_iter().enumerate() {
                    let (atom, _) = copy.home.atom_of(limit);
                    let atom = Affine { constant: atom, terms: vec![] };
                    let slot = plus(b, slot, n as i64 * i64::from(ATOM_BYTES));
                    copy.home.request(b, &row, &atom, slot);
                }
            }
            let slot = plus(b, slot, self.edges.into());
            self.run.fetch(b, &copy.home, &row, &first, slot, copy.unroll);
        });
    }

    /// Every engine stores its part of the rows of its group.
    fn take(&self, b: &mut Builder<'_>, plane: Value, strip: Value, turn: Value) {
        let copy = self.copy;
        let tiled = self.tiled;
        let grid = &tiled.grid;
        let mask = piece_mask(copy.mask, grid.engines, self.columns.engine);
        let pg = id(b, PG);
        let pe = id(b, PE);
        // Elements by which this engine's part begins behind that of the first engine.
        let own = match self.columns.engine {
            None => times(b, pe, tiled.tile[0].into()),
            Some(_) => b.i32(0),
        };
        let skipped = times(b, own, ELEMENT_BYTES.into());
        let slot = times(b, pg, self.slot_bytes());
        let slot = b.iadd(slot, skipped);
        let misaligned = self.shift * i64::from(ELEMENT_BYTES);
        let slot = plus(b, slot, copy.vsm);
        let top = -(tiled.ghost_rows[0] as i32);
        let base = base(b, copy.into);
        let first = tiled.offset_bytes(0, self.columns.strip as i32, top, self.columns.first);
        let base = plus(b, base, first);
        let planes = times(b, plane, tiled.inner_stride_bytes().into());
        let strips = times(b, strip, tiled.column_stride_bytes().into());
        let bank = b.iadd(planes, strips);
        let bank = b.iadd(bank, base);
        let x = copy.repeats.then(|| {
            let (group_x, _) = position(b, grid).group(b, grid);
            let groups = times(b, group_x, widths(tiled)[1]);
            let strips = times(b, strip, widths(tiled)[0]);
            let x = b.iadd(groups, strips);
            let x = b.iadd(x, own);
            plus(b, x, start_of(tiled, &self.columns))
        });
        b.counted_loop("take", self.batch.rows, |b, r| {
            let row = self.batch.row(b, turn, r);
            let row = times(b, row, tiled.row_pitch_bytes().into());
            let bank = b.iadd(bank, row);
            let offset = times(b, r, self.row_bytes.into());
            let slot = b.iadd(slot, offset);
            let edges = x.map(|x| {
                let slot = self.row_slot(b, pg, r);
                Edges::new(b, copy, slot, mask, x)
            });
            let lead = i64::from(self.edges + self.run.lead * ATOM_BYTES);
            let slot = plus(b, slot, lead + misaligned);
            copy.take(b, (slot, bank), self.columns.atoms, mask, |b, value, offset| match &edges {
                Some(edges) => edges.repeat(b, value, offset),
                None => value,
            });
        });
    }

    /// Where row `r` of a group begins in the scratchpad.
    fn row_slot(&self, b: &mut Builder<'_>, pg: Value, r: Value) -> Value {
        let slot = times(b, pg, self.slot_bytes());
        let row = times(b, r, self.row_bytes.into());
        let slot = b.iadd(slot, row);
        plus(b, slot, self.copy.vsm)
    }
}

/// The elements of a row at the limits along x, and the limits they stand for.
struct Edges {
    /// Column of the first element that the engine takes.
    x: Value,
    /// Below and above: limit, and its element in every lane.
    sides: Vec<(IntCond, i64, Value)>,
}

impl Edges {
    fn new(b: &mut Builder<'_>, copy: &Copy<'_>, slot: Value, mask: u32, x: Value) -> Edges {
        let Interval { min, max } = copy.to.span(0);
        let (low, high) = copy.limits[0];
        let mut sides = Vec::new();
        for (n, cond, limit, needed) in [
            (0, IntCond::Slt, low, i64::from(min) < low),
            (1, IntCond::Sgt, high, i64::from(max) > high),
        ] {
            if !needed {
                continue;
            }
            let (_, lane) = copy.home.atom_of(limit);
            let offset = n * i64::from(ATOM_BYTES) + lane * i64::from(ELEMENT_BYTES);
            let place = plus(b, slot, offset);
            let value = read(b, RD_VSM, place, mask, copy.vector());
            let value = b.value(Op::Extract(value, 0));
            sides.push((cond, limit, b.value(Op::Splat(value, LANES as u8))));
        }
        Edges { x, sides }
    }

    /// Four elements, `offset` bytes behind the engine's first, those beyond a limit replaced.
    fn repeat(&self, b: &mut Builder<'_>, value: Value, offset: Value) -> Value {
        let two = b.i32(ELEMENT_BYTES.ilog2() as i32);
        let elements = b.binary(nbcc_ir::BinaryOp::Lshr, offset, two);
        let first = b.iadd(self.x, elements);
        let first = b.value(Op::Splat(first, LANES as u8));
        let lanes = ramp(b, LANES as u8);
        let x = b.iadd(first, lanes);
        self.sides.iter().fold(value, |value, &(cond, limit, edge)| {
            let limit = b.constant(Type::I32.with_lanes(LANES as u8), u64::from(limit as u32));
            let beyond = b.value(Op::Icmp(cond, x, limit));
            b.value(Op::Select(beyond, edge, value))
        })
    }
}
