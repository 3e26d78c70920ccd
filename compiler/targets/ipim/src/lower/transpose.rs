//! Copies of a buffer into tiles with another dimension first: what lies in an atom of the source
//! lies in as many atoms of the copy.
//!
//! A vault requests the atoms of the source that its tiles are made of, for each column of the copy
//! those of the stretch along the dimension that comes first in the source; engines read each lane
//! of an atom from the column that it is, at an address at which the element stands in that lane. So
//! every element crosses the network once, wherever it goes to.

use nbcc_ir::{BinaryOp, Builder, Value};
use nbcc_isa_ipim::layout::Tiled;
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};

use super::home::Affine;
use super::math::{limit, min, plus, times};
use super::planes::with_lane;
use super::position::{position, vault_along};
use super::redistribute::{Batch, Copy, Group, factors, narrow, start_of};
use super::stagger::Stagger;
use super::window::piece_mask;
use crate::intrinsics::{PE, PG, RD_VSM, ST_RF, base, id, read, write};
use crate::plan::{Columns, busy, columns_of, greatest_divisor};

/// Vectors that an engine takes in straight-line code.
const UNROLL: u32 = 8;

const LANE_BITS: i32 = LANES.ilog2() as i32;

/// A stretch of the copy along the dimension that comes first in the source.
#[derive(Clone, Copy)]
struct Stretch {
    /// Elements of it that are taken at once, and how often.
    length: u32,
    chunks: u32,
    /// Elements of all.
    all: u32,
    /// Atoms of the source that hold so many, in a column.
    atoms: u32,
    /// The lane of an atom that a chunk begins at, where it is the same for all.
    lane: Option<u32>,
}

impl Stretch {
    /// A stretch of `all` elements, which begin at this lane if that is known, with room for so many
    /// atoms.
    fn new(all: u32, lane: Option<u32>, most: u32) -> Stretch {
        let lanes = LANES as u32;
        // Wherever a chunk begins, three elements of its first atom may be none of its own.
        let any = |atoms: u32| (atoms * lanes - (lanes - 1)).min(all);
        let length = match lane {
            Some(lane) if lane + all <= most * lanes => all,
            // Chunks of whole atoms begin alike, the last one included.
            Some(lane) if all.is_multiple_of(lanes) && most > 1 => {
                let length = (most - 1) * lanes - lane % lanes;
                // Chunks of one length lie alike in tiles of the source, unless they are much shorter.
                let even = |n: &u32| n.is_multiple_of(lanes) && all.is_multiple_of(*n);
                (length / 2..=length).rev().find(even).unwrap_or(length)
            }
            _ => any(most),
        };
        let length = if length < all && length > lanes { length / lanes * lanes } else { length };
        let chunks = all.div_ceil(length);
        let alike = chunks == 1 || (all.is_multiple_of(lanes) && length.is_multiple_of(lanes));
        let lane = lane.filter(|_| alike);
        let atoms = (lane.unwrap_or(lanes - 1) + length).div_ceil(lanes);
        Stretch { length, chunks, all, atoms, lane }
    }

    /// Where a chunk begins. The last one ends with the stretch.
    fn start(&self, b: &mut Builder<'_>, chunk: Value) -> Value {
        let start = times(b, chunk, self.length.into());
        if self.length * self.chunks == self.all && !b.keeps_identities() {
            return start;
        }
        let last = b.i32((self.all - self.length) as i32);
        min(b, start, last)
    }
}

/// Some columns of the tiles of every group, and how they are transposed.
struct Transposed<'a> {
    copy: &'a Copy<'a>,
    tiled: &'a Tiled,
    columns: Columns,
    /// The place of the copy whose dimension comes first in the source.
    across: usize,
    stretch: Stretch,
    /// Columns of a group that are requested.
    width: u32,
    /// Columns and rows of vaults that fill tiles.
    busy: [u32; 2],
    /// Where a vault begins with the atoms of its stretch.
    stagger: Stagger,
}

/// Where a kernel stands in its loops.
#[derive(Clone, Copy)]
struct At {
    plane: Value,
    strip: Value,
    row: Value,
    chunk: Value,
    start: Value,
    /// Where the vault's scratchpad has what a group needs of the row, behind what a load of a lane
    /// reads before it.
    slot: Value,
}

impl Copy<'_> {
    /// Copies to tiles whose rows lie across those of the source.
    pub(super) fn to_transposed(&self, b: &mut Builder<'_>, tiled: &Tiled, across: usize) {
        let groups = self.groups();
        // A load of a lane begins up to three elements before what it is of.
        let room = self.room / ATOM_BYTES - 2;
        // Every group whose engines take something has a part of the scratchpad.
        let last = u32::BITS - self.mask.leading_zeros();
        let of_group = room / last.div_ceil(self.machine.hierarchy.pes);
        let lanes = LANES as u32;
        let (all, first) = match across {
            1 => (tiled.height(), self.top(tiled)),
            k => (self.to.region[k].extent(), self.to.region[k].min.into()),
        };
        let (_, lane) = self.home.atom_of(first);
        let height = tiled.grid.rows * tiled.tile[1];
        let known = across != 1 || height.is_multiple_of(lanes);
        let lane = known.then_some(lane as u32);
        let reach = [self.to.reach_x[0], tiled.ghost_rows[0]];
        let busy = busy(tiled, &self.to.region, reach);
        for columns in narrow(columns_of(self.to, tiled), tiled, (of_group / (2 * lanes)).max(1)) {
            let engines = if columns.engine.is_none() { tiled.grid.engines } else { 1 };
            let width = columns.atoms * lanes * engines;
            let stretch = Stretch::new(all, lane, (of_group / width).max(1));
            let stagger = self.stagger_atoms(b, tiled, [stretch.chunks, stretch.atoms]);
            let part =
                Transposed { copy: self, tiled, columns, across, stretch, width, busy, stagger };
            let rows = if across == 1 { 1 } else { tiled.height() };
            let row_bytes = part.row_bytes() as u32;
            let batch = Batch::new(rows, row_bytes, of_group * ATOM_BYTES);
            let slot_bytes = i64::from(row_bytes * batch.rows);
            b.counted_loop("plane", self.planes_but(across), |b, plane| {
                b.counted_loop("strip", columns.strips, |b, strip| {
                    b.counted_loop("rows", batch.turns, |b, turn| {
                        b.counted_loop("chunk", stretch.chunks, |b, chunk| {
                            let chunk = stagger.outer(b, chunk);
                            let start = stretch.start(b, chunk);
                            // Row `r` of a turn, and where the part of a group begins.
                            let row = |b: &mut Builder<'_>, group: Value, r: Value| {
                                let row = batch.row(b, turn, r);
                                let before = times(b, group, slot_bytes);
                                let rows = times(b, r, row_bytes.into());
                                let slot = b.iadd(before, rows);
                                let slot = plus(b, slot, self.vsm + i64::from(ATOM_BYTES));
                                At { plane, strip, row, chunk, start, slot }
                            };
                            b.counted_loop("group", groups, |b, group| {
                                let place = self.group(b, tiled, group);
                                b.counted_loop("fetch", batch.rows, |b, r| {
                                    let at = row(b, place.number, r);
                                    part.fetch(b, at, place);
                                });
                            });
                            let pg = id(b, PG);
                            b.counted_loop("take", batch.rows, |b, r| {
                                let at = row(b, pg, r);
                                part.take(b, at);
                            });
                        });
                    });
                });
            });
        }
    }

    /// The row at which the first group's tiles begin, ghost rows included.
    fn top(&self, tiled: &Tiled) -> i64 {
        i64::from(tiled.origin[1]) - i64::from(tiled.ghost_rows[0])
    }

    /// Where columns of the copy are planes of the source: the first of them, and bytes of a bank from
    /// one to the next.
    pub(super) fn column_step(&self) -> Option<(i64, i64)> {
        let place = self.order[0].filter(|&place| place > 1)?;
        let before = self.from.region[2..place].iter().map(|i| i64::from(i.extent()));
        let step = self.home.plane_bytes() * before.product::<i64>();
        Some((self.from.region[place].min.into(), step))
    }

    /// Points of the dimensions of the copy that are not tiled, but for one.
    fn planes_but(&self, across: usize) -> u32 {
        let inner = self.to.region.iter().enumerate().skip(2);
        inner.filter(|(k, _)| *k != across).map(|(_, interval)| interval.extent()).product()
    }
}

impl Transposed<'_> {
    /// Bytes of a column in the scratchpad.
    fn column_bytes(&self) -> i64 {
        i64::from(self.stretch.atoms * ATOM_BYTES)
    }

    /// Bytes of a row of a group there.
    fn row_bytes(&self) -> i64 {
        self.column_bytes() * i64::from(self.width)
    }

    /// The coordinate that a chunk begins at in the dimension across, for a row of groups.
    fn first_across(&self, b: &mut Builder<'_>, group_y: Value, start: Value) -> Value {
        let first = match self.across {
            1 => {
                let height = self.tiled.grid.rows * self.tiled.tile[1];
                let top = times(b, group_y, height.into());
                plus(b, top, self.copy.top(self.tiled))
            }
            k => b.i32(self.copy.to.region[k].min),
        };
        b.iadd(first, start)
    }

    /// The atom that a chunk begins with in the rows of the source, for a row of groups.
    fn first_atom(&self, b: &mut Builder<'_>, group_y: Value, at: At) -> Affine {
        let Stretch { length, chunks, all, lane, .. } = self.stretch;
        let lanes = LANES as i64;
        let length = i64::from(length);
        let even =
            chunks == 1 || length % lanes == 0 && length * i64::from(chunks) == i64::from(all);
        if let Some(lane) = lane.filter(|_| even && !b.keeps_identities()) {
            let (first, height) = match self.across {
                1 => (self.copy.top(self.tiled), self.tiled.grid.rows * self.tiled.tile[1]),
                k => (self.copy.to.region[k].min.into(), 0),
            };
            let constant = (first - self.copy.home.origin() - i64::from(lane)) / lanes;
            let terms = [(group_y, i64::from(height) / lanes), (at.chunk, length / lanes)];
            let terms = terms.into_iter().filter(|(_, factor)| *factor != 0).collect();
            return Affine { constant, terms };
        }
        let first = self.first_across(b, group_y, at.start);
        let from_origin = plus(b, first, -self.copy.home.origin());
        let bits = b.i32(LANE_BITS);
        Affine::multiple(b.binary(BinaryOp::Ashr, from_origin, bits), 1)
    }

    /// How many atoms of a row of the source are requested in straight-line code: those of whole tiles have
    /// few owners, which are found where it is known how atoms lie in tiles.
    fn together(&self, first: &Affine) -> u32 {
        let Transposed { copy, stretch, .. } = self;
        let width = copy.home.tile_atoms().unwrap_or(1);
        let known = first.terms.iter().all(|(_, factor)| factor % i64::from(width) == 0);
        let fits = |n: &u32| stretch.atoms.is_multiple_of(*n) && n.is_multiple_of(width);
        let most = copy.unroll.min(copy.unroll / 4 * width).min(stretch.atoms);
        let whole = (1..=most).rev().find(fits).filter(|_| known);
        whole.unwrap_or_else(|| greatest_divisor(stretch.atoms, copy.unroll / 4))
    }

    /// Requests what the columns of a group are made of.
    fn fetch(&self, b: &mut Builder<'_>, at: At, group: Group) {
        let Transposed { copy, tiled, columns, .. } = self;
        let grid = &tiled.grid;
        let along = |b: &mut Builder<'_>, k: usize, inside: Value| {
            let vault = vault_along(b, grid, k);
            let before = times(b, vault, grid.groups[k].into());
            b.iadd(before, inside)
        };
        let column = along(b, 0, group.x);
        let row = along(b, 1, group.y);
        let [of_group, of_strip] = factors(tiled, columns).map(|n| n * LANES as i64);
        let left = times(b, column, of_group);
        let strips = times(b, at.strip, of_strip);
        let left = b.iadd(left, strips);
        let start = start_of(tiled, columns);
        let left = plus(b, left, start);
        let groups = i64::from(grid.groups[0]) * i64::from(self.busy[0]);
        let before = (groups - 1) * of_group + i64::from(columns.strips - 1) * of_strip;
        let reach = (start, start + before + i64::from(self.width) - 1);
        let first_atom = self.first_atom(b, row, at);
        let y = if self.across == 1 {
            self.first_across(b, row, at.start)
        } else {
            let height = grid.rows * tiled.tile[1];
            let top = times(b, row, height.into());
            let y = b.iadd(top, at.row);
            let y = plus(b, y, copy.top(tiled));
            let first = copy.top(tiled);
            let groups = i64::from(grid.groups[1]) * i64::from(self.busy[1]);
            let last = first + (groups - 1) * i64::from(height) + i64::from(tiled.height()) - 1;
            limit(b, y, (first, last), copy.limits[1])
        };
        let inner = copy.inner(b, at.plane, Some(self.across));
        let column = |b: &mut Builder<'_>, x: Value, k: i64| {
            let column = b.iadd(left, x);
            let column = plus(b, column, k);
            limit(b, column, reach, copy.limits[0])
        };
        let (width, atoms) = (self.width, self.stretch.atoms);
        match copy.column_step() {
            // Columns are rows of the source: the bank that holds one is found once for it.
            None => b.counted_loop("column", width, |b, x| {
                let column = column(b, x, 0);
                let row = copy.row_at(b, column, y, &inner);
                let before = times(b, x, self.column_bytes());
                let slot = b.iadd(at.slot, before);
                let together = self.together(&first_atom);
                b.counted_loop("request", atoms / together, |b, turn| {
                    let before = times(b, turn, i64::from(together * ATOM_BYTES));
                    let to = b.iadd(slot, before);
                    let mut number = first_atom.clone();
                    if atoms > together {
                        number.terms.push((turn, together.into()));
                    }
                    for k in 0..i64::from(together) {
                        let to = plus(b, to, k * i64::from(ATOM_BYTES));
                        copy.home.request(b, &row, &number.plus(k), to);
                    }
                });
            }),
            // Columns are planes: all of them are in the bank that holds the atom of the first.
            Some((first, step)) => b.counted_loop("atom", atoms, |b, atom| {
                let atom = self.stagger.inner(b, atom);
                let none = b.i32(first as i32);
                let row = copy.row_at(b, none, y, &inner);
                let mut number = first_atom.clone();
                number.terms.push((atom, 1));
                let (owner, offset) = copy.home.place(b, &row, &number);
                let before = times(b, atom, ATOM_BYTES.into());
                let slot = b.iadd(at.slot, before);
                each(b, width, copy.unroll, |b, begin, k| {
                    let before = times(b, begin, self.column_bytes());
                    let to = b.iadd(slot, before);
                    let to = plus(b, to, k * self.column_bytes());
                    let column = column(b, begin, k);
                    let plane = plus(b, column, -first);
                    let plane = times(b, plane, step);
                    let offset = b.iadd(offset, plane);
                    owner.request(b, offset, to);
                });
            }),
        }
    }

    /// Every engine stores its columns of the chunk of its group.
    fn take(&self, b: &mut Builder<'_>, at: At) {
        let Transposed { copy, tiled, columns, stretch, .. } = self;
        let mask = piece_mask(copy.mask, tiled.grid.engines, columns.engine);
        let mut slot = at.slot;
        if columns.engine.is_none() {
            let pe = id(b, PE);
            let own = times(b, pe, i64::from(tiled.tile[0]) * self.column_bytes());
            slot = b.iadd(slot, own);
        }
        let lane = match stretch.lane {
            Some(lane) => b.i32(lane as i32),
            None => {
                let (_, group_y) = position(b, &tiled.grid).group(b, &tiled.grid);
                let first = self.first_across(b, group_y, at.start);
                let from_origin = plus(b, first, -copy.home.origin());
                let lanes = b.i32(LANES as i32 - 1);
                b.binary(BinaryOp::And, from_origin, lanes)
            }
        };
        let bytes = times(b, lane, ELEMENT_BYTES.into());
        let slot = b.iadd(slot, bytes);
        let top = -(tiled.ghost_rows[0] as i32);
        let base = base(b, copy.into);
        let first = tiled.offset_bytes(0, columns.strip as i32, top, columns.first);
        let base = plus(b, base, first);
        let strips = times(b, at.strip, tiled.column_stride_bytes().into());
        let bank = b.iadd(base, strips);
        let rows = times(b, at.row, tiled.row_pitch_bytes().into());
        let bank = b.iadd(bank, rows);
        let planes = self.plane_bytes(b, at.plane);
        let bank = b.iadd(bank, planes);
        let step = self.step_bytes();
        let skipped = times(b, at.start, step);
        let bank = b.iadd(bank, skipped);
        let together = greatest_divisor(stretch.length, UNROLL.min(copy.unroll));
        b.counted_loop("atom", columns.atoms, |b, atom| {
            let columns = times(b, atom, LANES as i64 * self.column_bytes());
            let slot = b.iadd(slot, columns);
            let offset = times(b, atom, ATOM_BYTES.into());
            let bank = b.iadd(bank, offset);
            b.counted_loop("elements", stretch.length / together, |b, turn| {
                let behind = times(b, turn, i64::from(together * ELEMENT_BYTES));
                let slot = b.iadd(slot, behind);
                // All are read before the first is stored, so that nothing waits for one alone.
                let elements = 0..i64::from(together);
                let mut vector = |t: i64| {
                    let lanes: Vec<Value> = (0..LANES as i64)
                        .map(|lane| {
                            let element = (t - lane) * i64::from(ELEMENT_BYTES);
                            let place = plus(b, slot, lane * self.column_bytes() + element);
                            read(b, RD_VSM, place, mask, copy.vector())
                        })
                        .collect();
                    (1..LANES as u8)
                        .zip(&lanes[1..])
                        .fold(lanes[0], |all, (lane, &other)| with_lane(b, all, other, lane))
                };
                let vectors: Vec<Value> = elements.clone().map(&mut vector).collect();
                let before = times(b, turn, i64::from(together) * step);
                let bank = b.iadd(bank, before);
                for (t, vector) in elements.zip(vectors) {
                    let place = plus(b, bank, t * step);
                    write(b, ST_RF, place, vector, mask);
                }
            });
        });
    }

    /// Bytes of a bank from one element across to the next.
    fn step_bytes(&self) -> i64 {
        match self.across {
            1 => self.tiled.row_pitch_bytes().into(),
            k => self.stride(k),
        }
    }

    /// Bytes of a bank from one element to the next along a dimension that is not tiled.
    fn stride(&self, place: usize) -> i64 {
        let before = self.copy.to.region[2..place].iter().map(|i| i64::from(i.extent()));
        i64::from(self.tiled.inner_stride_bytes()) * before.product::<i64>()
    }

    /// Byte offset of a plane of the dimensions that are neither tiled nor go across.
    fn plane_bytes(&self, b: &mut Builder<'_>, plane: Value) -> Value {
        let mut sum = b.i32(0);
        for (k, coordinate) in self.copy.inner(b, plane, Some(self.across)) {
            let inside = plus(b, coordinate, -i64::from(self.copy.to.region[k].min));
            let bytes = times(b, inside, self.stride(k));
            sum = b.iadd(sum, bytes);
        }
        sum
    }
}

/// A loop over `0..count`, up to `most` rounds of which stand in straight-line code: `body` gets a
/// counter and what is added to it.
pub(super) fn each(
    b: &mut Builder<'_>,
    count: u32,
    most: u32,
    body: impl Fn(&mut Builder<'_>, Value, i64),
) {
    let together = greatest_divisor(count, most);
    b.counted_loop("request", count / together, |b, turn| {
        let begin = times(b, turn, together.into());
        for k in 0..together.into() {
            body(b, begin, k);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks cover a stretch, fit their room, and hold each element in the atoms that are requested.
    #[test]
    fn stretches_are_cut_into_chunks_that_fit() {
        let lanes = LANES as u32;
        for all in 1..70 {
            for most in 1..20 {
                for lane in [None, Some(0), Some(1), Some(2), Some(3)] {
                    let stretch = Stretch::new(all, lane, most);
                    let Stretch { length, chunks, atoms, .. } = stretch;
                    let what =
                        format!("{all} elements, lane {lane:?}, {most} atoms: {length} x {chunks}");
                    assert!(length * chunks >= all && length <= all, "{what}");
                    assert!(atoms <= most.max(2), "{what}, {atoms} atoms");
                    for chunk in 0..chunks {
                        let start = (chunk * length).min(all - length);
                        for begin in lane.map_or(0..lanes, |lane| lane..lane + 1) {
                            let own = (begin + start) % lanes;
                            assert!(own + length <= atoms * lanes, "{what}, {atoms} atoms");
                            assert!(stretch.lane.is_none_or(|lane| lane == own), "{what}");
                        }
                    }
                }
            }
        }
    }
}
