//! Excerpts of images: how each vault fetches its own, and where engines find elements in it.
//!
//! A vault's part begins at a place on a ring of atoms or rows that follows the vault's column or
//! row (`plan/excerpt.rs`). All engines of a vault hold the same.

use nbcc_ir::{BinaryOp, Builder, Op, Value};
use nbcc_isa_ipim::{ATOM_BYTES, LANES};

use super::home::Affine;
use super::math::{div_rem, min, plus, times};
use super::position::{Position, vault_along};
use super::redistribute::{Batch, Copy};
use super::whole::Slots;
use crate::intrinsics::base;
use crate::plan::{Arc, Excerpt, Ring};

/// Where an arc begins in the vault at `place`, one of `vaults` along its axis.
fn begin(b: &mut Builder<'_>, arc: &Arc, vaults: u32, place: Value) -> Value {
    let most = arc.first + arc.step * (vaults - 1);
    let offset = times(b, place, arc.step.into());
    let sum = plus(b, offset, arc.first.into());
    if most < arc.ring.around && !b.keeps_identities() {
        return sum;
    }
    div_rem(b, sum, arc.ring.around, most).1
}

/// `value`, less than twice `around`, on the ring.
fn on_ring(b: &mut Builder<'_>, value: Value, around: u32, wraps: bool) -> Value {
    if !wraps && !b.keeps_identities() {
        return value;
    }
    let past = plus(b, value, -i64::from(around));
    let amount = b.i32(31);
    let inside = b.binary(BinaryOp::Ashr, past, amount);
    let around = b.i32(around as i32);
    let back = b.binary(BinaryOp::And, inside, around);
    b.iadd(past, back)
}

impl Copy<'_> {
    /// Fills every vault's part, row by row.
    pub(super) fn to_excerpt(&self, b: &mut Builder<'_>, excerpt: &Excerpt, mask: u32) {
        let [columns, rows] = excerpt.along;
        // Computed where it is used: the control core may have no register to keep it in.
        let start = |b: &mut Builder<'_>, k: usize| {
            let arc = &excerpt.along[k];
            let place = vault_along(b, &excerpt.grid, arc.axis);
            begin(b, arc, excerpt.busy[arc.axis], place)
        };
        let wraps = [0, 1].map(|k| excerpt.wraps(k));
        // Rows of tiles are requested as such, but one atom at a time where code is to be small.
        let of_unit = columns.ring.unit / LANES as u32;
        let tiles = self.unroll > 1 && self.home.tile_atoms() == Some(of_unit);
        let atoms = if tiles { of_unit } else { 1 };
        let scale = of_unit / atoms;
        let unit_bytes = atoms * ATOM_BYTES;
        let count = columns.count * scale;
        let filling = self.rounds(mask, rows.count, count * atoms);
        let most = count.min((filling.room / unit_bytes).max(1));
        let chunks = count.div_ceil(most);
        // Finding the owner takes a while in itself.
        let at_once = if tiles { self.unroll / atoms } else { self.unroll / 4 }.max(1);
        let together = (1..=at_once).rev().find(|n| most.is_multiple_of(*n)).unwrap_or(1);
        let row_bytes = most * unit_bytes;
        let batch = Batch::new(rows.count, row_bytes, filling.room);
        let (first, _) = self.home.atom_of(columns.ring.origin.into());
        let first = first / i64::from(atoms);
        let first_row = self.limits[1].0;
        b.counted_loop("plane", self.planes(), |b, plane| {
            b.counted_loop("rows", batch.turns, |b, turn| {
                b.counted_loop("chunk", chunks, |b, chunk| {
                    let skipped = |b: &mut Builder<'_>| {
                        if chunks == 1 {
                            return b.i32(0);
                        }
                        let skipped = times(b, chunk, most.into());
                        let last = b.i32((count - most) as i32);
                        min(b, skipped, last)
                    };
                    b.counted_loop("fetch", batch.rows, |b, r| {
                        let y = batch.row(b, turn, r);
                        let begin = start(b, 1);
                        let y = b.iadd(begin, y);
                        let y = on_ring(b, y, rows.ring.around, wraps[1]);
                        let y = plus(b, y, first_row);
                        let row = self.home.row(b, plane, y);
                        let slot = times(b, r, row_bytes.into());
                        let slot = plus(b, slot, self.vsm);
                        b.counted_loop("request", most / together, |b, n| {
                            let offset = times(b, n, (together * unit_bytes).into());
                            let slot = b.iadd(slot, offset);
                            let n = times(b, n, together.into());
                            let x = start(b, 0);
                            let x = times(b, x, scale.into());
                            let skipped = skipped(b);
                            let x = b.iadd(x, skipped);
                            let x = b.iadd(x, n);
                            for k in 0..i64::from(together) {
                                let x = plus(b, x, k);
                                let x = on_ring(b, x, columns.ring.around * scale, wraps[0]);
                                let unit = plus(b, x, first);
                                let unit = Affine::multiple(unit, atoms.into());
                                let to = plus(b, slot, k * i64::from(unit_bytes));
                                if tiles {
                                    self.home.request_tile(b, &row, &unit, to, self.unroll);
                                } else {
                                    self.home.request(b, &row, &unit, to);
                                }
                            }
                        });
                    });
                    let slots = Slots { rows: batch.rows, row_bytes, begin: 0 };
                    self.take_rows(b, &filling, &slots, (most * atoms, mask), |b, r| {
                        let y = batch.row(b, turn, r);
                        let above = times(b, plane, rows.count.into());
                        let row = b.iadd(above, y);
                        let row = times(b, row, count.into());
                        let skipped = skipped(b);
                        let unit = b.iadd(row, skipped);
                        let bank = times(b, unit, unit_bytes.into());
                        let base = base(b, self.into);
                        b.iadd(bank, base)
                    });
                });
            });
        });
    }
}

/// A coordinate along x (0) or y (1), one a lane, as that in the vault's part.
pub(super) fn local(
    b: &mut Builder<'_>,
    excerpt: &Excerpt,
    k: usize,
    position: &Position,
    coordinate: Value,
) -> Value {
    let arc = &excerpt.along[k];
    let Ring { origin, unit, around } = arc.ring;
    let ty = b.func.ty(coordinate);
    let origin = b.constant(ty, u64::from(origin as u32));
    let from_origin = b.binary(BinaryOp::Isub, coordinate, origin);
    let place = [position.vault_x, position.vault_y][arc.axis];
    let start = begin(b, arc, excerpt.busy[arc.axis], place);
    let start = times(b, start, unit.into());
    let start = if ty.lanes == 1 { start } else { b.value(Op::Splat(start, ty.lanes)) };
    let local = b.binary(BinaryOp::Isub, from_origin, start);
    if !excerpt.wraps(k) {
        return local;
    }
    let amount = b.constant(ty, 31);
    let below = b.binary(BinaryOp::Ashr, local, amount);
    let around = b.constant(ty, u64::from(around * unit));
    let added = b.binary(BinaryOp::And, below, around);
    b.iadd(local, added)
}
