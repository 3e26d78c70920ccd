//! Patches: how each vault fetches the boxes of its tiles, and how engines find elements in the window
//! on theirs.
//!
//! Where boxes begin follows the tiles along lines (`plan/patch.rs`). Rows of a box that lie in one block of
//! rows of their home have one owner an atom, found once for all of them.

use nbcc_ir::{BinaryOp, Builder, Op, Value};
use nbcc_isa_ipim::layout::Tiled;
use nbcc_isa_ipim::{ATOM_BYTES, LANES};
use nbcc_stages::bounds::Interval;
use nbcc_stages::lower::ExprLowering;
use nbcc_stages::{Expr, ExprKind};

use super::body::{Body, load_lanes, within};
use super::gather::{First, limited};
use super::home::Affine;
use super::math::{limit, plus, times};
use super::position::vault_along;
use super::redistribute::{Batch, Copy};
use super::tables::look_up;
use super::transpose::each;
use crate::intrinsics::{PE, PG, at_most, base, extents, id};
use crate::plan::{Corner, Nest, Patch, inner_index};

/// Lanes of a vector.
const WIDTH: u8 = LANES as u8;

/// Elements by which a load may begin before the one that it is for.
const BEFORE: i64 = LANES as i64 - 1;

impl Corner {
    /// The corner of the box of a tile, where nothing but multiples of its column and row is added.
    fn affine(&self, tile: [Value; 2]) -> Option<Affine> {
        let terms = tile.into_iter().zip(self.steps).filter(|(_, step)| *step != 0);
        let terms: Vec<_> = terms.collect();
        let whole = self.shift == 0 && !self.limited;
        whole.then_some(Affine { constant: self.first, terms })
    }

    /// The corner of the box of a tile.
    fn value(&self, b: &mut Builder<'_>, tile: [Value; 2]) -> Value {
        let mut sum = b.i32(0);
        for (place, step) in tile.into_iter().zip(self.steps) {
            if step != 0 {
                let term = times(b, place, step);
                sum = b.iadd(sum, term);
            }
        }
        let mut at = plus(b, sum, self.first);
        if self.shift > 0 {
            let amount = b.i32(self.shift as i32);
            at = b.binary(BinaryOp::Ashr, at, amount);
        }
        let anything = (i64::MIN, i64::MAX);
        let known = if self.limited { anything } else { self.limits };
        limit(b, at, known, self.limits)
    }
}

/// A part of the rows of the boxes of a row of tiles.
struct Part<'a> {
    tiled: &'a Tiled,
    patch: &'a Patch,
    batch: Batch,
    plane: Value,
    strip: Value,
    /// The row of tiles in its group.
    row: Value,
    turn: Value,
}

impl Part<'_> {
    fn atoms(&self) -> u32 {
        self.tiled.tile[0] / LANES as u32
    }

    /// Bytes of a row of a box.
    fn row_bytes(&self) -> i64 {
        i64::from(self.atoms() * ATOM_BYTES)
    }

    /// Bytes that an engine has in the scratchpad of the vault.
    fn slot_bytes(&self) -> i64 {
        self.row_bytes() * i64::from(self.batch.rows)
    }
}

impl Copy<'_> {
    /// Fills the boxes of every tile.
    pub(super) fn to_patches(&self, b: &mut Builder<'_>, tiled: &Tiled, patch: &Patch) {
        let grid = &tiled.grid;
        let engines = self.machine.hierarchy.pgs * grid.engines;
        let atoms = tiled.tile[0] / LANES as u32;
        let batch = Batch::new(tiled.tile[1], atoms * ATOM_BYTES * engines, self.room);
        let groups = self.groups();
        b.counted_loop("plane", self.planes(), |b, plane| {
            b.counted_loop("strip", grid.strips, |b, strip| {
                b.counted_loop("row", grid.rows, |b, row| {
                    b.counted_loop("rows", batch.turns, |b, turn| {
                        let part = Part { tiled, patch, batch, plane, strip, row, turn };
                        b.counted_loop("group", groups, |b, group| {
                            b.counted_loop("engine", grid.engines, |b, engine| {
                                self.fetch_box(b, &part, group, engine);
                            });
                        });
                        self.take_boxes(b, &part);
                    });
                });
            });
        });
    }

    /// Requests rows of the box of one engine.
    fn fetch_box(&self, b: &mut Builder<'_>, part: &Part<'_>, group: Value, engine: Value) {
        let Part { tiled, patch, batch, .. } = part;
        let grid = &tiled.grid;
        let group = self.group(b, tiled, group);
        let along = |b: &mut Builder<'_>, k: usize, inside: Value| {
            let vault = vault_along(b, grid, k);
            let before = times(b, vault, grid.groups[k].into());
            b.iadd(before, inside)
        };
        let column = along(b, 0, group.x);
        let column = times(b, column, grid.strips.into());
        let column = b.iadd(column, part.strip);
        let column = times(b, column, grid.engines.into());
        let column = b.iadd(column, engine);
        let row = along(b, 1, group.y);
        let row = times(b, row, grid.rows.into());
        let row = b.iadd(row, part.row);
        let tile = [column, row];
        let before = times(b, group.number, grid.engines.into());
        let number = b.iadd(before, engine);
        let slot = times(b, number, part.slot_bytes());
        let slot = plus(b, slot, self.vsm);
        let y = patch.corner[1].value(b, tile);
        let x = match patch.corner[0].affine(tile) {
            Some(x) => x,
            None => {
                let x = patch.corner[0].value(b, tile);
                Affine::multiple(x, 1)
            }
        };
        let place = |b: &mut Builder<'_>, r: Value, atom: Value, k: i64| {
            let rows = times(b, r, part.row_bytes());
            let atoms = times(b, atom, ATOM_BYTES.into());
            let slot = b.iadd(slot, rows);
            let slot = b.iadd(slot, atoms);
            plus(b, slot, k * i64::from(ATOM_BYTES))
        };
        let atom_at = |atom: Value, k: i64| {
            let mut at = x.plus(k);
            at.terms.push((atom, 1));
            at
        };
        if patch.in_blocks(self.from, tiled.tile[1]) {
            let home_row = self.home.row(b, part.plane, y);
            each(b, part.atoms(), self.unroll / 4, |b, atom, k| {
                let at = atom_at(atom, k);
                let (owner, offset) = self.home.place(b, &home_row, &at);
                each(b, batch.rows, self.unroll / 2, |b, begin, n| {
                    let r = plus(b, begin, n);
                    let number = batch.row(b, part.turn, r);
                    let rows = times(b, number, self.home.row_step());
                    let offset = b.iadd(offset, rows);
                    let to = place(b, r, atom, k);
                    owner.request(b, offset, to);
                });
            });
            return;
        }
        let together = (self.unroll / 4).max(1);
        each(b, batch.rows, self.unroll / part.atoms().min(together), |b, begin, n| {
            let r = plus(b, begin, n);
            let number = batch.row(b, part.turn, r);
            let y = b.iadd(y, number);
            let home_row = self.home.row(b, part.plane, y);
            each(b, part.atoms(), together, |b, atom, k| {
                let to = place(b, r, atom, k);
                self.home.request(b, &home_row, &atom_at(atom, k), to);
            });
        });
    }

    /// Every engine stores its rows.
    fn take_boxes(&self, b: &mut Builder<'_>, part: &Part<'_>) {
        let Part { tiled, batch, .. } = part;
        let (pg, pe) = (id(b, PG), id(b, PE));
        let before = times(b, pg, tiled.grid.engines.into());
        let number = b.iadd(before, pe);
        let slot = times(b, number, part.slot_bytes());
        let slot = plus(b, slot, self.vsm);
        let base = base(b, self.into);
        let base = plus(b, base, tiled.offset_bytes(0, 0, 0, 0));
        let planes = times(b, part.plane, tiled.inner_stride_bytes().into());
        let strips = times(b, part.strip, tiled.column_stride_bytes().into());
        let rows = times(b, part.row, i64::from(tiled.tile[1] * tiled.row_pitch_bytes()));
        let bank = b.iadd(base, planes);
        let bank = b.iadd(bank, strips);
        let bank = b.iadd(bank, rows);
        if batch.turns == 1 && !b.keeps_identities() {
            // Rows lie one behind the other on both sides.
            let all = part.atoms() * batch.rows;
            return self.take(b, (slot, bank), all, self.mask, |_, value, _| value);
        }
        b.counted_loop("take", batch.rows, |b, r| {
            let number = batch.row(b, part.turn, r);
            let rows = times(b, number, tiled.row_pitch_bytes().into());
            let bank = b.iadd(bank, rows);
            let rows = times(b, r, part.row_bytes());
            let slot = b.iadd(slot, rows);
            self.take(b, (slot, bank), part.atoms(), self.mask, |_, value, _| value);
        });
    }
}

impl Body<'_> {
    /// Four elements of a source, anywhere in the box of the tile.
    pub(super) fn patched(
        &mut self,
        b: &mut Builder<'_>,
        (expr, args): (Expr, &[Expr]),
        number: usize,
        lower: &mut ExprLowering<'_>,
    ) -> Value {
        let (plan, nest) = (self.loops.cx.plan, self.loops.nest);
        let read = &nest.reads[number];
        let buffer = &plan.buffers[read.buffer];
        let window = read.window.as_ref().expect("patches are read through windows");
        let mem = self.loops.windows[number].expect("windows have objects");
        // The first subscript serves lanes.
        let strides = strides(&extents(&b.func.mems[mem])[1..]);
        let words = window.pitch * window.rows;
        let planes = read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u32);
        let words = i64::from(planes.fold(words, |n, planes| n * planes));
        let start = self.before_box(b, number);
        // Planes that are the same in all lanes come with the place of the window.
        let mut start = plus(b, start, i64::from(window.left));
        let mut by_lane = Vec::new();
        for (k, &arg) in args.iter().enumerate().skip(2) {
            let first = read.inner_reach[k - 2].0;
            match plan.forms[arg].as_ref().and_then(inner_index) {
                Some(index) => {
                    let base = &read.inner_base[k - 2];
                    let plane = self.inner_subscript(b, index, first, Some(base));
                    let plane = times(b, plane, strides[k]);
                    start = b.iadd(start, plane);
                }
                None => by_lane.push((k, arg)),
            }
        }
        let repeated = |k: usize| match plan.pipeline.exprs[expr].kind {
            ExprKind::Load(input, _) => plan.repeated(input, k),
            _ => None,
        };
        let apart = plan.lanes_apart(expr, window.pitch).filter(|_| by_lane.is_empty());
        if let Some(apart) =
            apart.filter(|apart| (0..=1).contains(apart) || has_whole_vectors(nest))
        {
            let mut scalars = ExprLowering::new(&plan.pipeline, 1);
            let mut index = start;
            for (k, &arg) in args.iter().enumerate().take(2) {
                let at = scalars.lower(b, arg, &mut First(self));
                let at = limited(b, repeated(k), at);
                let at = times(b, at, strides[k]);
                index = b.iadd(index, at);
            }
            // Each load lies within the window, also where the tile has no points.
            let (below, above) = ((BEFORE * (1 - apart)).max(0), (BEFORE * (apart - 1)).max(0));
            let index = plus(b, index, -below);
            let last = b.i32((words - 1 - below - above).max(0) as i32);
            let index = at_most(b, index, last);
            let lanes = [0, 1, 2, 3].map(|lane| below + lane * apart);
            let rest: Vec<Value> = strides.iter().map(|_| b.i32(0)).collect();
            return load_lanes(b, buffer.element, mem, index, lanes, &rest);
        }
        let vector = |b: &mut Builder<'_>, value: Value, factor: i64| {
            let ty = b.func.ty(value);
            let factor = b.constant(ty, factor as u64);
            b.imul(value, factor)
        };
        let start = plus(b, start, -BEFORE);
        let mut index = b.value(Op::Splat(start, WIDTH));
        for (k, &arg) in args.iter().enumerate().take(2) {
            let at = lower.lower(b, arg, self);
            let at = limited(b, repeated(k), at);
            let at = if k == 0 { at } else { vector(b, at, strides[k]) };
            index = b.iadd(index, at);
        }
        for (k, arg) in by_lane {
            let Interval { min, .. } = buffer.region[k];
            let first = read.inner_reach[k - 2].0;
            let plane = lower.lower(b, arg, self);
            debug_assert_eq!(first, i64::from(min), "all planes are in the window");
            let plane = within(b, plane, first, buffer.region[k].extent());
            let plane = vector(b, plane, strides[k]);
            index = b.iadd(index, plane);
        }
        let last = b.constant(b.func.ty(index), (words - 1 - BEFORE) as u64);
        let index = at_most(b, index, last);
        look_up(b, mem, index, BEFORE as i32)
    }

    /// The place in its window of the engine's part of it, from which coordinates of the source are
    /// counted.
    fn before_box(&self, b: &mut Builder<'_>, number: usize) -> Value {
        let (plan, nest) = (self.loops.cx.plan, self.loops.nest);
        let read = &nest.reads[number];
        let window = read.window.as_ref().expect("patches are read through windows");
        let buffer = &plan.buffers[read.buffer];
        let patch = buffer.patch.as_ref().expect("a patched read has patches");
        let grid = &nest.tiles.grid;
        let (group_x, group_y) = self.loops.position.group(b, grid);
        let column = times(b, group_x, grid.strips.into());
        let column = b.iadd(column, self.point.at.strip);
        let column = times(b, column, grid.engines.into());
        let column = b.iadd(column, self.loops.position.pe);
        let row = times(b, group_y, grid.rows.into());
        let row = b.iadd(row, self.point.at.row);
        let [x, y] = [0, 1].map(|k| patch.corner[k].value(b, [column, row]));
        let left = times(b, x, LANES as i64);
        let above = times(b, y, window.pitch.into());
        let own = times(b, self.loops.position.pe, buffer.tiled().tile[0].into());
        let before = b.iadd(left, above);
        let start = b.binary(BinaryOp::Isub, own, before);
        plus(b, start, -patch.origin)
    }
}

/// Elements from one to the next along each dimension of an object.
fn strides(extents: &[u32]) -> Vec<i64> {
    let next = |stride: &mut i64, &extent: &u32| {
        let own = *stride;
        *stride *= i64::from(extent);
        Some(own)
    };
    extents.iter().scan(1, next).collect()
}

/// Whether all lanes of a vector hold points where one does.
fn has_whole_vectors(nest: &Nest) -> bool {
    let Some(row) = nest.region.first() else { return false };
    let whole = |n: i64| n % LANES as i64 == 0;
    whole(i64::from(row.min) - i64::from(nest.tiles.origin[0])) && whole(row.extent().into())
}
