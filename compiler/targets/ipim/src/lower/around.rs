//! Elements beyond the edges of an image that is read as if it went around (`plan/around.rs`): vaults at
//! an edge request them from those at the other one, and the engines that keep them take them from the
//! vault's scratchpad. Rows come first, and columns in all rows behind them, so that corners are right.

use nbcc_ir::{BinaryOp, Block, BlockCall, Builder, IntCond, Mem, Op, Terminator, Type, Value};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};

use super::cx::Lowering;
use super::fetch::Run;
use super::home::Affine;
use super::math::{clamp, less_mask, plus, ramp, times};
use super::position::{mesh, position, vault_along};
use super::redistribute::{Batch, Copy, factors, narrow, start_of};
use super::window::piece_mask;
use crate::intrinsics::{LD_RF, PE, base, id, read};
use crate::plan::{Above, Beside, BufferPlan, Columns, Order, above, beside, columns_of};

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
}

/// Fills what lies beyond the edges of a buffer.
pub(super) fn fill(b: &mut Builder<'_>, cx: &Lowering<'_>, buffer: &BufferPlan, mem: Mem) {
    let tiled = buffer.tiled();
    let grid = &tiled.grid;
    let (top, height) = (-i64::from(tiled.ghost_rows[0]), tiled.height());
    let order = Order::new();
    let copy = Copy::within(cx, buffer, mem, &order);
    let mut parts = Vec::new();
    for Above { group, first, count } in above(buffer) {
        let most = (copy.room / ATOM_BYTES / grid.groups[0]).saturating_sub(1).max(1);
        parts.extend(narrow(columns_of(buffer, tiled), tiled, most).into_iter().map(|columns| {
            let (rows, lanes) = ((first, count), [0, LANES as u32]);
            let place = group % grid.groups[1];
            Part { along: 0, place, of_all: group, columns, rows, shift: 0, lanes }
        }));
    }
    for Beside { group, columns, lanes, shift } in beside(buffer) {
        let place = group % grid.groups[0];
        parts.push(Part {
            along: 1,
            place,
            of_all: group,
            columns,
            rows: (top, height),
            shift,
            lanes,
        });
    }
    let vault = |part: &Part| (part.along, part.of_all / grid.groups[1 - part.along]);
    for of_vault in parts.chunk_by(|a, b| vault(a) == vault(b)) {
        let (along, number) = vault(&of_vault[0]);
        only_in(b, (1 - along, number), &copy, |b| {
            of_vault.iter().for_each(|part| part.fill(b, &copy, cx));
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
    b.jump(join, vec![]);
    // Blocks made since stand behind; keep the join after them.
    b.func.layout.retain(|&block| block != join);
    b.func.layout.push(join);
    b.switch_to(join);
}

impl Part {
    fn fill(&self, b: &mut Builder<'_>, copy: &Copy<'_>, cx: &Lowering<'_>) {
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
        let mask = piece_mask(cx.full_mask(), grid.engines, self.columns.engine);
        let mask = mask & self.engines(copy);
        let at = position(b, grid);
        let group = [at.group_x, at.group_y][self.along];
        let slot = times(b, group, slot_bytes);
        let mut slot = plus(b, slot, copy.vsm + lead);
        if self.columns.engine.is_none() {
            let own = id(b, PE);
            let own = times(b, own, i64::from(tiled.tile[0] * ELEMENT_BYTES));
            slot = b.iadd(slot, own);
        }
        let (first, strips) = (self.columns.first, self.columns.strip as i32);
        let bank = base(b, copy.into);
        let bank = plus(b, bank, tiled.offset_bytes(0, strips, self.rows.0 as i32, first));
        let planes = times(b, plane, tiled.inner_stride_bytes().into());
        let bank = b.iadd(bank, planes);
        let strips = times(b, strip, tiled.column_stride_bytes().into());
        let bank = b.iadd(bank, strips);
        b.counted_loop("take", batch.rows, |b, r| {
            let row = batch.row(b, turn, r);
            let row = times(b, row, tiled.row_pitch_bytes().into());
            let bank = b.iadd(bank, row);
            let offset = times(b, r, row_bytes);
            let slot = b.iadd(slot, offset);
            copy.take(b, (slot, bank), self.columns.atoms, mask, |b, value, offset| {
                if self.lanes == [0, LANES as u32] {
                    return value;
                }
                let place = b.iadd(bank, offset);
                let own = read(b, LD_RF, place, mask, copy.vector());
                let beyond = self.beyond(b);
                b.value(Op::Select(beyond, value, own))
            });
        });
    }

    /// The lanes beyond the edge.
    fn beyond(&self, b: &mut Builder<'_>) -> Value {
        let lanes = ramp(b, LANES as u8);
        let [first, end] = self.lanes;
        let (cond, limit) = if first > 0 { (IntCond::Sge, first) } else { (IntCond::Slt, end) };
        let limit = b.constant(Type::I32.with_lanes(LANES as u8), limit.into());
        b.value(Op::Icmp(cond, lanes, limit))
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
    if buffer.around[1] != [0, 0] {
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
