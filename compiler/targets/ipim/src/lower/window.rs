//! Filling windows: the engines of a group load what the tiles of a strip read of a source into the
//! group's scratchpad, each from its own bank (iPIM paper, Fig. 3 (b)).
//!
//! Tile column `c` of a strip, counted from the strip's first tile, belongs to engine `c mod E` and
//! to its local strip `strip + floor(c / E)`; columns left and right of the strip are read from the
//! banks that hold them, which ghost columns extend beyond the group's region.

use nbcc_ir::{BinaryOp, Block, BlockCall, Builder, Terminator, Value};
use nbcc_isa_ipim::LANES;

use super::edges::{EdgeTest, Fill, columns_beyond, inside};
use super::loops::{BlockOfRows, Loops};
use super::math::{clamp, max, min, plus, times};
use super::position::any_negative;
use super::source;
use crate::intrinsics::stage;
use crate::kernel::Size;
use crate::plan::{Piece, Read, Window, pieces};

/// The engines of every group that a piece is for.
pub(crate) fn piece_mask(full: u32, engines: u32, engine: Option<u32>) -> u32 {
    match engine {
        None => full,
        Some(e) => (0..32)
            .filter(|bit| bit % engines == e && full >> bit & 1 == 1)
            .fold(0, |m, b| m | 1 << b),
    }
}

/// The windows of the nest, filled for a block of rows.
fn fills<'a>(
    loops: &'a Loops<'a>,
    rows: &'a BlockOfRows,
) -> impl Iterator<Item = Fill<'a>> + use<'a> {
    loops.nest.reads.iter().zip(&loops.windows).filter_map(move |(read, mem)| {
        Some(Fill { loops, read, window: read.window.as_ref()?, mem: (*mem)?, rows })
    })
}

/// How many loads fill all windows of the nest.
pub(crate) fn loads_to_fill(loops: &Loops<'_>) -> u32 {
    let of_read = |(read, window): (&Read, &Window)| {
        let tiled = loops.cx.plan.buffers[read.buffer].tiled();
        let pieces = pieces(tiled.grid.engines, tiled.tile[0], left_of(read), window.right);
        let atoms: u32 = pieces.iter().map(|piece| piece.atoms).sum();
        let planes: u32 = read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u32).product();
        atoms.saturating_mul(window.rows).saturating_mul(planes)
    };
    let windows = loops.nest.reads.iter().filter_map(|read| Some((read, read.window.as_ref()?)));
    windows.map(of_read).fold(0, u32::saturating_add)
}

/// Elements of a row before the first tile of a strip that are filled.
fn left_of(read: &Read) -> u32 {
    let reach = (-read.reach[0].0).max(0) as u32;
    reach.next_multiple_of(LANES as u32)
}

/// Fills every window of the nest for a block of rows, but for columns beyond limits; where `none`
/// is negative there is nothing to fill.
pub(crate) fn fill_rows(
    b: &mut Builder<'_>,
    loops: &Loops<'_>,
    rows: &BlockOfRows,
    none: Option<Value>,
) {
    // Only vaults at the border of the image, and of them only rows at the border, pay for limits.
    let mut conditions: Vec<Value> = none.into_iter().collect();
    for fill in fills(loops, rows) {
        conditions.extend(EdgeTest::of(&fill).conditions(b, &fill, 1));
    }
    let copy = |b: &mut Builder<'_>, limited: bool, clamped: bool| {
        for fill in fills(loops, rows).filter(|fill| fill.read.limits[1].is_some() == limited) {
            b.set_span(source::of_read(loops.cx.plan, loops.nest, fill.read));
            fill.copy_rows(b, clamped);
        }
        b.set_span(None);
    };
    let Some(none) = none else {
        copy(b, false, false);
        either(b, &conditions, |b| copy(b, true, true), |b| copy(b, true, false));
        return;
    };
    let all = |b: &mut Builder<'_>, clamped: bool| {
        copy(b, false, false);
        copy(b, true, clamped);
    };
    let limited = conditions.len() > 1;
    let at_edge = |b: &mut Builder<'_>| {
        if limited {
            either(b, &[none], |_| {}, |b| all(b, true));
        }
    };
    either(b, &conditions, at_edge, |b| all(b, false));
}

/// Overwrites the columns of windows that lie beyond limits: only strips at the border pay for that.
pub(crate) fn fill_columns(b: &mut Builder<'_>, loops: &Loops<'_>, rows: &BlockOfRows) {
    for fill in fills(loops, rows) {
        b.set_span(source::of_read(loops.cx.plan, loops.nest, fill.read));
        let columns = EdgeTest::of(&fill).conditions(b, &fill, 0);
        either(b, &columns, |b| columns_beyond(b, &fill), |_| {});
    }
    b.set_span(None);
}

/// Does one thing where a condition is negative, which it rarely is, else the other.
fn either(
    b: &mut Builder<'_>,
    conditions: &[Value],
    at_edge: impl FnOnce(&mut Builder<'_>),
    else_plain: impl FnOnce(&mut Builder<'_>),
) {
    if conditions.is_empty() {
        return else_plain(b);
    }
    let negative = any_negative(b, conditions);
    let [edge, plain, join]: [Block; 3] = std::array::from_fn(|_| b.func.add_block());
    let to = |block| BlockCall { block, args: vec![] };
    b.terminate(Terminator::Branch(negative, to(edge), to(plain)));
    b.func.blocks[edge].cold = true;
    b.switch_to(edge);
    at_edge(b);
    b.jump(join, vec![]);
    b.switch_to(plain);
    else_plain(b);
    b.jump(join, vec![]);
    b.switch_to(join);
    // Blocks made since stand behind; keep the join after both arms.
    b.func.layout.retain(|&block| block != join);
    b.func.layout.push(join);
}

/// How rows of a group, in its own count, are brought inside.
enum RowLimits {
    /// The least and the greatest, of the image and of what the bank holds.
    Repeated([Value; 2]),
    /// The sums of rows and of what is read in their place, below and above.
    Mirrored([Value; 2]),
}

impl Fill<'_> {
    /// Every inner index of the window, as subscripts in the window and in the buffer.
    fn copy_rows(&self, b: &mut Builder<'_>, clamped: bool) {
        let mut counters = Vec::new();
        self.inner_loops(b, clamped, &mut counters);
    }

    fn inner_loops(&self, b: &mut Builder<'_>, clamped: bool, counters: &mut Vec<Value>) {
        let done = counters.len();
        if done == self.read.inner_reach.len() {
            return self.copy_plane(b, clamped, counters);
        }
        let (low, high) = self.read.inner_reach[done];
        b.counted_loop(&format!("w{done}"), (high - low + 1) as u32, |b, counter| {
            counters.push(counter);
            self.inner_loops(b, clamped, counters);
            counters.pop();
        });
    }

    /// The inner subscripts in the buffer for counters in the window.
    fn buffer_inner(&self, b: &mut Builder<'_>, counters: &[Value]) -> Vec<Value> {
        let buffer = &self.loops.cx.plan.buffers[self.read.buffer];
        let nest = self.loops.nest;
        let subscript = |(k, &counter): (usize, &Value)| {
            let mut constant = self.read.inner_reach[k].0 - i64::from(buffer.region[k + 2].min);
            let mut sum = counter;
            for (var, &c) in &self.read.inner_base[k].terms {
                let nbcc_stages::bounds::AffineVar::Dim(n) = var else { continue };
                let d = *n as usize;
                constant += c * i64::from(nest.region[d].min);
                let term = times(b, self.rows.inner[d - 2], c);
                sum = b.iadd(sum, term);
            }
            let mut subscript = plus(b, sum, constant);
            let held = buffer.region[k + 2];
            if let Some(limits) = self.read.inner_limits[k] {
                subscript = inside(b, subscript, limits.held(held, held.min.into()));
            }
            // Points that no one needs may select a plane that is not there.
            let planes = i64::from(buffer.region[k + 2].extent());
            let reach = self.read.inner_reach[k];
            let whole = self.read.inner_base[k].terms.is_empty()
                && constant >= 0
                && reach.1 - i64::from(buffer.region[k + 2].min) < planes;
            if whole { subscript } else { clamp(b, subscript, 0, planes - 1) }
        };
        counters.iter().enumerate().map(subscript).collect()
    }

    /// The row of the buffer, ghost rows not counted, of the window's first row.
    pub fn first_row(&self, b: &mut Builder<'_>) -> Value {
        let tiled = self.loops.cx.plan.buffers[self.read.buffer].tiled();
        let block_rows = self.read.ratio[1].of(self.loops.nest.block_rows.into());
        let tile = times(b, self.rows.row, tiled.tile[1].into());
        let block = times(b, self.rows.block, block_rows.expect("blocks are whole"));
        let row = b.iadd(tile, block);
        plus(b, row, -i64::from(self.window.top))
    }

    fn copy_plane(&self, b: &mut Builder<'_>, clamped: bool, counters: &[Value]) {
        let loops = self.loops;
        let buffer = &loops.cx.plan.buffers[self.read.buffer];
        let tiled = buffer.tiled();
        let grid = &tiled.grid;
        let from = loops.mems[&self.read.buffer];
        let buffer_inner = self.buffer_inner(b, counters);
        let first_row = self.first_row(b);
        let limits = clamped.then(|| self.row_limits(b)).flatten();
        let held = self.held_rows();
        let margin = self.window.left - self.left();
        let pieces = pieces(grid.engines, tiled.tile[0], self.left(), self.window.right);
        let row_at = |b: &mut Builder<'_>, counter: Value| {
            let row = b.iadd(first_row, counter);
            let row = match limits {
                Some(RowLimits::Repeated([low, high])) => {
                    let row = min(b, row, high);
                    max(b, row, low)
                }
                Some(RowLimits::Mirrored([low, high])) => {
                    let mirrored = b.binary(BinaryOp::Isub, low, row);
                    let row = max(b, row, mirrored);
                    let mirrored = b.binary(BinaryOp::Isub, high, row);
                    let row = min(b, row, mirrored);
                    clamp(b, row, held.0, held.1)
                }
                None => row,
            };
            plus(b, row, tiled.ghost_rows[0].into())
        };
        let fill = |b: &mut Builder<'_>, counter: Value, row: Value, piece: &Piece| {
            let mask = piece_mask(loops.mask, grid.engines, piece.engine);
            let column = plus(b, self.rows.strip, piece.strip + i64::from(tiled.ghost_columns[0]));
            let start = i64::from(margin + self.left()) + piece.column * i64::from(tiled.tile[0]);
            for atom in 0..piece.atoms {
                let x = i64::from(piece.first + atom * LANES as u32);
                let from_x = b.i32(x as i32);
                let to_x = match piece.engine {
                    None => {
                        let own = times(b, loops.position.pe, tiled.tile[0].into());
                        plus(b, own, start + x)
                    }
                    Some(_) => b.i32((start + x) as i32),
                };
                let mut there = vec![from_x, row, column];
                there.extend(&buffer_inner);
                let mut here = if self.read.patched { vec![b.i32(0)] } else { vec![] };
                here.extend([to_x, counter]);
                here.extend(counters);
                stage(b, (from, &there), (self.mem, &here), mask);
            }
        };
        // A column of tiles is far from the next one in a bank, where other rows are open: all rows
        // of the window first, then the next column.
        let mut columns: Vec<Vec<Piece>> = Vec::new();
        for piece in pieces {
            let together = loops.cx.size >= Size::Merged;
            let same = |of: &&mut Vec<Piece>| together || of[0].strip == piece.strip;
            match columns.iter_mut().find(same) {
                Some(of) => of.push(piece),
                None => columns.push(vec![piece]),
            }
        }
        for pieces in columns {
            b.counted_loop("fill", self.window.rows, |b, counter| {
                let row = row_at(b, counter);
                pieces.iter().for_each(|piece| fill(b, counter, row, piece));
            });
        }
    }

    /// Elements of a row before the first tile of the strip that are filled.
    pub fn left(&self) -> u32 {
        left_of(self.read)
    }

    /// The first and last row that the bank holds, in the group's own count.
    fn held_rows(&self) -> (i64, i64) {
        let tiled = self.loops.cx.plan.buffers[self.read.buffer].tiled();
        let rows = i64::from(tiled.grid.rows * tiled.tile[1]);
        (-i64::from(tiled.ghost_rows[0]), rows + i64::from(tiled.ghost_rows[1]) - 1)
    }

    /// How rows are brought inside.
    fn row_limits(&self, b: &mut Builder<'_>) -> Option<RowLimits> {
        let limits = self.read.limits[1]?;
        let start = self.source_start(b, 1);
        if let Some(sums) = limits.sums() {
            let twice = b.iadd(start, start);
            return Some(RowLimits::Mirrored(sums.map(|sum| {
                let sum = b.i32(sum as i32);
                b.binary(BinaryOp::Isub, sum, twice)
            })));
        }
        let (first, last) = self.held_rows();
        Some(RowLimits::Repeated([limits.low, limits.high].map(|limit| {
            let limit = b.i32(limit as i32);
            let local = b.binary(BinaryOp::Isub, limit, start);
            clamp(b, local, first, last)
        })))
    }

    /// The source's first coordinate in the group's region along dimension `k`.
    pub fn source_start(&self, b: &mut Builder<'_>, k: usize) -> Value {
        let loops = self.loops;
        let tiled = loops.cx.plan.buffers[self.read.buffer].tiled();
        let (x, y) = loops.position.group(b, &tiled.grid);
        let (group, size) = match k {
            0 => (x, tiled.grid.strips * tiled.grid.engines * tiled.tile[0]),
            _ => (y, tiled.grid.rows * tiled.tile[1]),
        };
        super::position::group_start(b, group, size.into(), tiled.origin[k].into())
    }
}
