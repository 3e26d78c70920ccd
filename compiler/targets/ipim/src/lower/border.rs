//! Elements beyond the edges of an image (`plan/border.rs`). Those of one that goes around are requested
//! by vaults at an edge from those at the other one, and the engines that keep them take them from the
//! vault's scratchpad; a constant is stored by the engines, and so are the elements at the edge, which a
//! group has itself. Rows come first, and columns in all rows behind them, so that corners are right.

use nbcc_ir::{BinaryOp, Block, BlockCall, Builder, IntCond, Mem, Op, Terminator, Type, Value};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};

use super::cx::Lowering;
use super::fetch::Run;
use super::home::Affine;
use super::math::{clamp, less_mask, min, plus, ramp, times};
use super::position::{finish_at, mesh, position, vault_along};
use super::redistribute::{Batch, Copy, factors, narrow, start_of};
use super::window::piece_mask;
use crate::intrinsics::{LD_RF, PE, RD_PGSM, ST_RF, WR_PGSM, base, id, read, write};
use crate::kernel::Size;
use crate::plan::{
    Above, Beside, BufferPlan, Columns, Order, Outside, above, beside, columns_of, greatest_divisor,
};

/// What is filled in some groups of a vault.
struct Part {
    /// Whether the groups stand in a row (0) or in a column (1) of the vault.
    along: usize,
    /// The column or row of groups of the vault that they are in.
    place: u32,
    /// The same among all groups.
    of_all: u32,
    columns: Columns,
    /// First row in the group's own count, and how many.
    rows: (i64, u32),
    /// Elements from a column to the one that is read in its place.
    shift: i64,
    /// The lanes that are filled, from the first to behind the last.
    lanes: [u32; 2],
    /// Where the groups have the elements at the edge, if they do: whoever reads beyond it does.
    edge: Option<Place>,
}

/// Where a group has the elements at an edge.
#[derive(Clone, Copy)]
enum Place {
    /// In this row, in the group's own count.
    Row(i64),
    /// In this strip, engine and element of a tile.
    Column((i64, u32, u32)),
}

/// Elements at an edge that are brought together, so that their latencies overlap, as far as the scratchpad
/// has an atom for each.
fn together(cx: &Lowering<'_>) -> u32 {
    let most = match cx.size {
        Size::Fast => 16,
        Size::Merged => 8,
        Size::Rolled | Size::Compact | Size::Smallest => 2,
    };
    most.min(cx.machine.memory.pgsm_bytes / ATOM_BYTES).max(1)
}

/// Fills what lies beyond the edges of a buffer.
pub(super) fn fill(b: &mut Builder<'_>, cx: &Lowering<'_>, buffer: &BufferPlan, mem: Mem) {
    let Some(border) = buffer.border else { return };
    let tiled = buffer.tiled();
    let grid = &tiled.grid;
    let (top, height) = (-i64::from(tiled.ghost_rows[0]), tiled.height());
    let order = Order::new();
    let copy = Copy::within(cx, buffer, mem, &order);
    let mut parts = Vec::new();
    for Above { group, first, count, edge } in above(buffer) {
        let most = (copy.room / ATOM_BYTES / grid.groups[0]).saturating_sub(1).max(1);
        parts.extend(narrow(columns_of(buffer, tiled), tiled, most).into_iter().map(|columns| {
            let (rows, lanes) = ((first, count), [0, LANES as u32]);
            let place = group % grid.groups[1];
            let edge = edge.map(Place::Row);
            Part { along: 0, place, of_all: group, columns, rows, shift: 0, lanes, edge }
        }));
    }
    for Beside { group, columns, lanes, shift, edge } in beside(buffer) {
        let place = group % grid.groups[0];
        let (rows, edge) = ((top, height), edge.map(Place::Column));
        parts.push(Part { along: 1, place, of_all: group, columns, rows, shift, lanes, edge });
    }
    let vault = |part: &Part| (part.along, part.of_all / grid.groups[1 - part.along]);
    for of_vault in parts.chunk_by(|a, b| vault(a) == vault(b)) {
        let (along, number) = vault(&of_vault[0]);
        only_in(b, (1 - along, number), &copy, |b| {
            of_vault.iter().for_each(|part| match border.outside {
                Outside::Around => part.fetch(b, &copy, cx),
                Outside::Constant(word) => part.store(b, (&copy, cx), word),
                Outside::Edge => part.repeat(b, &copy, cx),
            });
        });
    }
}

/// Does something in the vaults of one column (0) or row (1) of those that tiles go to.
fn only_in(
    b: &mut Builder<'_>,
    (k, number): (usize, u32),
    copy: &Copy<'_>,
    body: impl FnOnce(&mut Builder<'_>),
) {
    let grid = &copy.from.tiled().grid;
    if mesh(grid)[k] == 1 {
        return body(b);
    }
    let place = vault_along(b, grid, k);
    let number = b.i32(number as i32);
    let here = b.value(Op::Icmp(IntCond::Eq, place, number));
    let [then, join]: [Block; 2] = std::array::from_fn(|_| b.func.add_block());
    let to = |block| BlockCall { block, args: vec![] };
    b.terminate(Terminator::Branch(here, to(then), to(join)));
    b.switch_to(then);
    body(b);
    finish_at(b, join);
}

impl Part {
    /// Stores a constant.
    fn store(&self, b: &mut Builder<'_>, (copy, cx): (&Copy<'_>, &Lowering<'_>), word: u32) {
        let tiled = copy.from.tiled();
        let mask = self.mask(copy, cx);
        let value = b.constant(copy.vector(), word.into());
        b.counted_loop("plane", copy.planes(), |b, plane| {
            b.counted_loop("strip", self.columns.strips, |b, strip| {
                let bank = self.bank(b, copy, [plane, strip]);
                b.counted_loop("row", self.rows.1, |b, row| {
                    let row = times(b, row, tiled.row_pitch_bytes().into());
                    let bank = b.iadd(bank, row);
                    b.counted_loop("atom", self.columns.atoms, |b, atom| {
                        let offset = times(b, atom, ATOM_BYTES.into());
                        let place = b.iadd(bank, offset);
                        let value = self.chosen(b, (copy, mask), value, place);
                        write(b, ST_RF, place, value, mask);
                    });
                });
            });
        });
    }

    /// Repeats the elements at the edge.
    fn repeat(&self, b: &mut Builder<'_>, copy: &Copy<'_>, cx: &Lowering<'_>) {
        let Some(edge) = self.edge else { return };
        let mask = self.mask(copy, cx);
        b.counted_loop("plane", copy.planes(), |b, plane| {
            b.counted_loop("strip", self.columns.strips, |b, strip| {
                let bank = self.bank(b, copy, [plane, strip]);
                match edge {
                    Place::Row(row) => self.repeat_row(b, (copy, cx, mask), row, bank),
                    Place::Column(place) => {
                        self.repeat_column(b, (copy, cx, mask), place, (bank, plane));
                    }
                }
            });
        });
    }

    /// Stores a row of the engine's own bank in those beyond the edge.
    fn repeat_row(
        &self,
        b: &mut Builder<'_>,
        (copy, cx, mask): (&Copy<'_>, &Lowering<'_>, u32),
        row: i64,
        bank: Value,
    ) {
        let pitch = copy.from.tiled().row_pitch_bytes();
        let source = plus(b, bank, (row - self.rows.0) * i64::from(pitch));
        let together = greatest_divisor(self.columns.atoms, together(cx));
        b.counted_loop("atoms", self.columns.atoms / together, |b, turn| {
            let offset = times(b, turn, i64::from(together * ATOM_BYTES));
            let atoms: Vec<(Value, Value)> = (0..together)
                .map(|atom| {
                    let offset = plus(b, offset, i64::from(atom * ATOM_BYTES));
                    let place = b.iadd(source, offset);
                    (offset, read(b, LD_RF, place, mask, copy.vector()))
                })
                .collect();
            b.counted_loop("row", self.rows.1, |b, row| {
                let row = times(b, row, pitch.into());
                let bank = b.iadd(bank, row);
                for &(offset, value) in &atoms {
                    let place = b.iadd(bank, offset);
                    write(b, ST_RF, place, value, mask);
                }
            });
        });
    }

    /// Stores the element of each row that is at the edge in the columns beyond it, by way of the group's
    /// scratchpad: engines find each other's there, and each the lane that it is.
    fn repeat_column(
        &self,
        b: &mut Builder<'_>,
        (copy, cx, mask): (&Copy<'_>, &Lowering<'_>, u32),
        (strip, engine, element): (i64, u32, u32),
        (bank, plane): (Value, Value),
    ) {
        let tiled = copy.from.tiled();
        let lane = element % LANES as u32;
        let owner =
            piece_mask(cx.full_mask(), tiled.grid.engines, Some(engine)) & self.engines(copy);
        let source = base(b, copy.into);
        let first = tiled.offset_bytes(0, strip as i32, self.rows.0 as i32, element - lane);
        let source = plus(b, source, first);
        let planes = times(b, plane, tiled.inner_stride_bytes().into());
        let source = b.iadd(source, planes);
        let all = self.rows.1;
        let turns = all.div_ceil(together(cx));
        let rows = all.div_ceil(turns);
        let pitch = i64::from(tiled.row_pitch_bytes());
        b.counted_loop("rows", turns, |b, turn| {
            // The last turn ends with the last row.
            let mut first = times(b, turn, rows.into());
            if rows * turns != all || b.keeps_identities() {
                let last = b.i32((all - rows) as i32);
                first = min(b, first, last);
            }
            let before = times(b, first, pitch);
            let [source, bank] = [source, bank].map(|start| b.iadd(start, before));
            let of_row = |row: u32| (i64::from(row) * pitch, i64::from(row * ATOM_BYTES));
            let atoms: Vec<Value> = (0..rows)
                .map(|row| {
                    let place = plus(b, source, of_row(row).0);
                    read(b, LD_RF, place, owner, copy.vector())
                })
                .collect();
            for (row, atom) in (0..).zip(atoms) {
                let slot = b.i32(of_row(row).1 as i32);
                write(b, WR_PGSM, slot, atom, owner);
            }
            let elements: Vec<Value> = (0..rows)
                .map(|row| {
                    let place = of_row(row).1 + i64::from(lane * ELEMENT_BYTES);
                    let place = b.i32(place as i32);
                    read(b, RD_PGSM, place, mask, copy.vector())
                })
                .collect();
            for (row, element) in (0..).zip(elements) {
                let value = b.value(Op::Extract(element, 0));
                let value = b.value(Op::Splat(value, LANES as u8));
                let bank = plus(b, bank, of_row(row).0);
                for atom in 0..self.columns.atoms {
                    let place = plus(b, bank, i64::from(atom * ATOM_BYTES));
                    let value = self.chosen(b, (copy, mask), value, place);
                    write(b, ST_RF, place, value, mask);
                }
            }
        });
    }

    /// Requests the elements of the other edge, and takes them.
    fn fetch(&self, b: &mut Builder<'_>, copy: &Copy<'_>, cx: &Lowering<'_>) {
        let tiled = copy.from.tiled();
        let grid = &tiled.grid;
        let groups = grid.groups[self.along];
        let tiles = if self.columns.engine.is_none() { grid.engines } else { 1 };
        let size = i64::from(grid.strips * grid.engines * tiled.tile[0]);
        // Columns of one column of groups have constant places.
        let (moved, mut steps) = match self.along {
            0 => (0, factors(tiled, &self.columns).to_vec()),
            _ => (i64::from(self.of_all) * size + self.shift, vec![]),
        };
        steps.truncate(if self.columns.strips > 1 { 2 } else { 1 });
        let (constant, lane) = copy.home.atom_of(start_of(tiled, &self.columns) + moved);
        let atoms = self.columns.atoms * tiles + u32::from(lane != 0);
        let most = copy.room / ATOM_BYTES / groups;
        let run = Run::new(&copy.home, (constant, &steps), atoms, copy.unroll, most);
        let row_bytes = run.atoms * ATOM_BYTES;
        let batch = Batch::new(self.rows.1, row_bytes * groups, copy.room);
        let slot_bytes = i64::from(batch.rows * row_bytes);
        b.counted_loop("plane", copy.planes(), |b, plane| {
            b.counted_loop("strip", self.columns.strips, |b, strip| {
                b.counted_loop("rows", batch.turns, |b, turn| {
                    b.counted_loop("group", groups, |b, group| {
                        let mut first = Affine { constant, terms: vec![] };
                        if let [of_group, of_strip @ ..] = &steps[..] {
                            let before = vault_along(b, grid, 0);
                            let before = times(b, before, grid.groups[0].into());
                            first.terms.push((b.iadd(before, group), *of_group));
                            first.terms.extend(of_strip.iter().map(|step| (strip, *step)));
                        }
                        let top = self.top(b, copy, group);
                        let slot = times(b, group, slot_bytes);
                        let slot = plus(b, slot, copy.vsm);
                        b.counted_loop("fetch", batch.rows, |b, r| {
                            let y = batch.row(b, turn, r);
                            let y = b.iadd(top, y);
                            let y = row_around(b, copy.from, y);
                            let row = copy.home.row(b, plane, y);
                            let offset = times(b, r, row_bytes.into());
                            let slot = b.iadd(slot, offset);
                            run.fetch(b, &copy.home, &row, &first, slot, copy.unroll);
                        });
                    });
                    let lead = i64::from(run.lead * ATOM_BYTES) + lane * i64::from(ELEMENT_BYTES);
                    let slots = (slot_bytes, i64::from(row_bytes), lead);
                    self.take(b, (copy, cx), &batch, slots, [plane, strip, turn]);
                });
            });
        });
    }

    /// The coordinate of the first row in a group of the part.
    fn top(&self, b: &mut Builder<'_>, copy: &Copy<'_>, group: Value) -> Value {
        let tiled = copy.from.tiled();
        let grid = &tiled.grid;
        let height = i64::from(grid.rows * tiled.tile[1]);
        let origin = i64::from(tiled.origin[1]) + self.rows.0;
        if self.along == 0 {
            return b.i32((origin + i64::from(self.of_all) * height) as i32);
        }
        let row = vault_along(b, grid, 1);
        let row = times(b, row, grid.groups[1].into());
        let row = b.iadd(row, group);
        let top = times(b, row, height);
        plus(b, top, origin)
    }

    /// Engines take the rows of a turn: from the bytes of a group and of a row in the scratchpad, and those
    /// before the first element.
    fn take(
        &self,
        b: &mut Builder<'_>,
        (copy, cx): (&Copy<'_>, &Lowering<'_>),
        batch: &Batch,
        (slot_bytes, row_bytes, lead): (i64, i64, i64),
        [plane, strip, turn]: [Value; 3],
    ) {
        let tiled = copy.from.tiled();
        let grid = &tiled.grid;
        let mask = self.mask(copy, cx);
        let at = position(b, grid);
        let group = [at.group_x, at.group_y][self.along];
        let slot = times(b, group, slot_bytes);
        let mut slot = plus(b, slot, copy.vsm + lead);
        if self.columns.engine.is_none() {
            let own = id(b, PE);
            let own = times(b, own, i64::from(tiled.tile[0] * ELEMENT_BYTES));
            slot = b.iadd(slot, own);
        }
        let bank = self.bank(b, copy, [plane, strip]);
        b.counted_loop("take", batch.rows, |b, r| {
            let row = batch.row(b, turn, r);
            let row = times(b, row, tiled.row_pitch_bytes().into());
            let bank = b.iadd(bank, row);
            let offset = times(b, r, row_bytes);
            let slot = b.iadd(slot, offset);
            copy.take(b, (slot, bank), self.columns.atoms, mask, |b, value, offset| {
                let place = b.iadd(bank, offset);
                self.chosen(b, (copy, mask), value, place)
            });
        });
    }

    /// The address of the first atom in a plane and a strip.
    fn bank(&self, b: &mut Builder<'_>, copy: &Copy<'_>, [plane, strip]: [Value; 2]) -> Value {
        let tiled = copy.from.tiled();
        let (first, strips) = (self.columns.first, self.columns.strip as i32);
        let bank = base(b, copy.into);
        let bank = plus(b, bank, tiled.offset_bytes(0, strips, self.rows.0 as i32, first));
        let planes = times(b, plane, tiled.inner_stride_bytes().into());
        let bank = b.iadd(bank, planes);
        let strips = times(b, strip, tiled.column_stride_bytes().into());
        b.iadd(bank, strips)
    }

    /// A value in the lanes beyond the edge, what lies at its place in the others.
    fn chosen(
        &self,
        b: &mut Builder<'_>,
        (copy, mask): (&Copy<'_>, u32),
        value: Value,
        place: Value,
    ) -> Value {
        if self.lanes == [0, LANES as u32] {
            return value;
        }
        let own = read(b, LD_RF, place, mask, copy.vector());
        let lanes = ramp(b, LANES as u8);
        let [first, end] = self.lanes;
        let (cond, limit) = if first > 0 { (IntCond::Sge, first) } else { (IntCond::Slt, end) };
        let limit = b.constant(Type::I32.with_lanes(LANES as u8), limit.into());
        let beyond = b.value(Op::Icmp(cond, lanes, limit));
        b.value(Op::Select(beyond, value, own))
    }

    /// The engines that fill it.
    fn mask(&self, copy: &Copy<'_>, cx: &Lowering<'_>) -> u32 {
        let engines = copy.from.tiled().grid.engines;
        piece_mask(cx.full_mask(), engines, self.columns.engine) & self.engines(copy)
    }

    /// The engines of the groups of the part.
    fn engines(&self, copy: &Copy<'_>) -> u32 {
        let grid = &copy.from.tiled().grid;
        let [columns, rows] = grid.groups;
        let of_group = ((1u64 << grid.engines) - 1) as u32;
        let groups = (0..rows).flat_map(|y| (0..columns).map(move |x| [x, y]));
        let those = groups.filter(|group| group[1 - self.along] == self.place);
        those.fold(0, |mask, [x, y]| mask | of_group << ((y * columns + x) * grid.engines))
    }
}

/// The row that is read in place of `y`, which there may not be, along an image that goes around.
fn row_around(b: &mut Builder<'_>, buffer: &BufferPlan, y: Value) -> Value {
    let span = buffer.span(1);
    let mut y = y;
    if buffer.border.is_some_and(|border| border.reach[1] != [0, 0]) {
        let count = b.i32(span.extent() as i32);
        let first = b.i32(span.min);
        let below = less_mask(b, y, first);
        let up = b.binary(BinaryOp::And, below, count);
        let last = b.i32(span.max);
        let beyond = less_mask(b, last, y);
        let down = b.binary(BinaryOp::And, beyond, count);
        y = b.iadd(y, up);
        y = b.binary(BinaryOp::Isub, y, down);
    }
    clamp(b, y, span.min.into(), span.max.into())
}
