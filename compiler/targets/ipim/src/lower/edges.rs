//! Limits of coordinates in windows: rows are brought inside as addresses; columns beyond the limits
//! are overwritten with what is read in their place, after the window was filled.

use nbcc_ir::{BinaryOp, Builder, Mem, Type, Value};
use nbcc_isa_ipim::{ELEMENT_BYTES, LANES};

use super::loops::{BlockOfRows, Loops};
use super::math::{choose, clamp, less_mask, max, min, plus, times};
use super::position::vault_along;
use crate::intrinsics::{RD_PGSM, WR_PGSM, read, write};
use crate::plan::{Limits, Read, Window, dump_base};

/// A coordinate that a scalar holds, brought inside of constant limits, once mirrored.
pub(crate) fn inside(b: &mut Builder<'_>, value: Value, limits: Limits) -> Value {
    let Some(sums) = limits.sums() else { return clamp(b, value, limits.low, limits.high) };
    let [below, above] = sums.map(|sum| {
        let sum = b.i32(sum as i32);
        b.binary(BinaryOp::Isub, sum, value)
    });
    let value = max(b, value, below);
    min(b, value, above)
}

/// One window being filled.
pub(crate) struct Fill<'a> {
    pub loops: &'a Loops<'a>,
    pub read: &'a Read,
    pub window: &'a Window,
    pub mem: Mem,
    pub rows: &'a BlockOfRows,
}

/// Tests, by the place of the vault and by loop counters, whether any group's window may reach
/// beyond a limit.
pub(crate) struct EdgeTest {
    /// Coordinates of a whole vault along x and y, in elements of the source.
    vault: [i64; 2],
    /// Coordinates of a group.
    group: [i64; 2],
    groups: [i64; 2],
    origin: [i64; 2],
}

impl EdgeTest {
    pub fn of(fill: &Fill<'_>) -> EdgeTest {
        let tiled = fill.loops.cx.plan.buffers[fill.read.buffer].tiled();
        let grid = &tiled.grid;
        let group = [
            i64::from(grid.strips * grid.engines * tiled.tile[0]),
            i64::from(grid.rows * tiled.tile[1]),
        ];
        let groups = grid.groups.map(i64::from);
        EdgeTest {
            vault: [group[0] * groups[0], group[1] * groups[1]],
            group,
            groups,
            origin: tiled.origin.map(i64::from),
        }
    }

    /// Values that are negative where the window of some group of the vault reaches beyond a limit
    /// along dimension `k`; none where there is no limit.
    pub fn conditions(&self, b: &mut Builder<'_>, fill: &Fill<'_>, k: usize) -> Vec<Value> {
        let Some(Limits { low, high, .. }) = fill.read.limits[k] else { return vec![] };
        let tiled = fill.loops.cx.plan.buffers[fill.read.buffer].tiled();
        let strip = i64::from(tiled.grid.engines * tiled.tile[0]);
        let vault = vault_along(b, &tiled.grid, k);
        let start = times(b, vault, self.vault[k]);
        let local = match k {
            0 => times(b, fill.rows.strip, strip),
            _ => fill.first_row(b),
        };
        let size = if k == 0 { strip } else { i64::from(fill.window.rows) };
        let first = b.iadd(start, local);
        // Of all groups the first reaches furthest down, the last furthest up.
        let reach = if k == 0 { i64::from(fill.left()) } else { 0 };
        let below = plus(b, first, self.origin[k] - reach - low);
        let last = (self.groups[k] - 1) * self.group[k];
        let beyond = if k == 0 { i64::from(fill.window.right) } else { 0 };
        let end = plus(b, first, self.origin[k] + last + size - 1 + beyond);
        let high = b.i32(high as i32);
        let above = b.binary(BinaryOp::Isub, high, end);
        vec![below, above]
    }
}

/// Overwrites what lies beyond the limits along x in every row of a window. The engines of a group
/// take a row each; a group whose window does not reach beyond writes where nothing reads.
pub(crate) fn columns_beyond(b: &mut Builder<'_>, fill: &Fill<'_>) {
    let Some(limits) = fill.read.limits[0] else { return };
    let loops = fill.loops;
    let machine = loops.cx.machine;
    let tiled = loops.cx.plan.buffers[fill.read.buffer].tiled();
    let element = super::cx::scalar(loops.cx.plan.buffers[fill.read.buffer].element);
    let engines = tiled.grid.engines;
    let window = fill.window;
    let planes: u32 = fill.read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u32).product();
    // Column 0 of the window's first element is at `margin` of the row.
    let margin = i64::from(window.left - fill.left());
    let width = i64::from(fill.left() + engines * tiled.tile[0] + window.right);
    let start = fill.source_start(b, 0);
    let strip = times(b, fill.rows.strip, i64::from(engines * tiled.tile[0]));
    let start = b.iadd(start, strip);
    let start = plus(b, start, -i64::from(fill.left()));
    // Column of the limit in this window.
    let column = |b: &mut Builder<'_>, limit: i64| {
        let limit = b.i32(limit as i32);
        b.binary(BinaryOp::Isub, limit, start)
    };
    let ends = [limits.low, limits.high].map(|limit| column(b, limit));
    let sums = limits.sums().map(|sums| {
        let twice = b.iadd(start, start);
        sums.map(|sum| {
            let sum = b.i32(sum as i32);
            b.binary(BinaryOp::Isub, sum, twice)
        })
    });
    let own_dump = times(b, loops.position.pe, i64::from(LANES as u32 * ELEMENT_BYTES));
    let dump = plus(b, own_dump, dump_base(machine).into());
    let beyond = fill.read.beyond_x.map(|n| n.clamp(0, width));
    let lines = window.rows * planes;
    let full = loops.mask;
    let vector = Type { scalar: element, lanes: LANES as u8 };
    b.counted_loop("edge", lines.div_ceil(engines), |b, counter| {
        let line = times(b, counter, engines.into());
        let line = b.iadd(line, loops.position.pe);
        // Engines without a line of their own repeat the last one.
        let line = if lines.is_multiple_of(engines) {
            line
        } else {
            let last = b.i32(lines as i32 - 1);
            min(b, line, last)
        };
        let line = times(b, line, i64::from(window.pitch * ELEMENT_BYTES));
        let line = plus(b, line, i64::from(window.base) + margin * i64::from(ELEMENT_BYTES));
        for (side, &beyond) in beyond.iter().enumerate() {
            let at = Beyond { line, limit: ends[side], side, width, dump };
            match sums {
                None => at.repeat(b, beyond, full, vector),
                Some(sums) => at.mirror(b, (beyond, sums[side]), full, vector),
            }
        }
    });
}

/// What lies beyond one limit in one row of a window.
struct Beyond {
    /// Address of column 0.
    line: Value,
    /// The column of the limit.
    limit: Value,
    /// 0 for what lies below it, 1 for what lies above.
    side: usize,
    /// Columns of the window.
    width: i64,
    /// Where writes go that are not wanted.
    dump: Value,
}

impl Beyond {
    /// Writes the element at the limit to `columns` columns.
    fn repeat(&self, b: &mut Builder<'_>, columns: i64, full: u32, vector: Type) {
        let lanes = LANES as i64;
        let writes = (columns as u64).div_ceil(LANES as u64) as i64;
        if writes == 0 {
            return;
        }
        let value = self.element(b, self.limit, full, vector);
        for k in 0..writes {
            self.write(b, [-lanes * (k + 1), 1 + lanes * k][self.side], value, full);
        }
    }

    /// Writes to each of `columns` columns the element with whose column its own has that sum, from
    /// the limit outwards: a write covers columns further out, too.
    fn mirror(&self, b: &mut Builder<'_>, (columns, sum): (i64, Value), full: u32, vector: Type) {
        let lanes = LANES as i64;
        for k in 0..columns {
            let shift = [-(k + 1), k + 1][self.side];
            let own = plus(b, self.limit, shift);
            let from = b.binary(BinaryOp::Isub, sum, own);
            let value = self.element(b, from, full, vector);
            self.write(b, [shift - (lanes - 1), shift][self.side], value, full);
        }
    }

    /// The element of a column in all lanes; of the nearest one that there is.
    fn element(&self, b: &mut Builder<'_>, column: Value, full: u32, vector: Type) -> Value {
        let inside = clamp(b, column, 0, self.width - 1);
        let offset = times(b, inside, ELEMENT_BYTES.into());
        let address = b.iadd(self.line, offset);
        let value = read(b, RD_PGSM, address, full, vector);
        let value = b.value(nbcc_ir::Op::Extract(value, 0));
        b.value(nbcc_ir::Op::Splat(value, LANES as u8))
    }

    /// Writes four columns, the first `shift` from the limit, where any of them is wanted.
    fn write(&self, b: &mut Builder<'_>, shift: i64, value: Value, full: u32) {
        let first = plus(b, self.limit, shift);
        let wanted = within(b, first, self.limit, self.width, self.side);
        let offset = times(b, first, ELEMENT_BYTES.into());
        let address = b.iadd(self.line, offset);
        let address = choose(b, wanted, address, self.dump);
        write(b, WR_PGSM, address, value, full);
    }
}

/// All ones where a write of four columns from `first` covers columns of the window beyond
/// `limit`, and nothing but them and the margins.
fn within(b: &mut Builder<'_>, first: Value, limit: Value, width: i64, side: usize) -> Value {
    let lanes = LANES as i64;
    if side == 0 {
        // The limit is a column of the window, and some lane is.
        let above = b.i32(-lanes as i32);
        let some_lane = less_mask(b, above, first);
        let end = b.i32(width as i32);
        let limit_inside = less_mask(b, limit, end);
        b.binary(BinaryOp::And, some_lane, limit_inside)
    } else {
        let end = b.i32(width as i32);
        let some_lane = less_mask(b, first, end);
        let before = b.i32(-1);
        let limit_inside = less_mask(b, before, limit);
        b.binary(BinaryOp::And, some_lane, limit_inside)
    }
}
