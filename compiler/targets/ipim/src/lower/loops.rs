//! A nest while it is lowered: where its tiles and windows are, and its points.

use std::collections::BTreeMap;

use nbcc_ir::{Builder, Mem, Value};
use nbcc_isa_ipim::LANES;

use super::cx::{KernelCx, Lowering};
use super::math::{plus, times};
use super::position::Position;
use crate::plan::{BufferId, Nest, Window};

/// The memory objects that a nest needs.
pub(crate) struct Objects {
    pub mems: BTreeMap<BufferId, Mem>,
    pub windows: Vec<Option<Mem>>,
    pub tables: BTreeMap<BufferId, Mem>,
}

/// A nest being lowered: what is known in the whole kernel.
pub(crate) struct Loops<'a> {
    pub cx: &'a Lowering<'a>,
    pub nest: &'a Nest,
    /// The memory objects of buffers.
    pub mems: BTreeMap<BufferId, Mem>,
    /// The memory objects of windows, one a read.
    pub windows: Vec<Option<Mem>>,
    /// Those of tables.
    pub tables: BTreeMap<BufferId, Mem>,
    /// The engines that run it.
    pub mask: u32,
    /// Where the engine is.
    pub position: Position,
    /// First coordinate of the group's region along x and y.
    pub start: [Value; 2],
}

/// A block of rows of a strip of tiles, for which windows are filled.
#[derive(Clone, Debug)]
pub(crate) struct BlockOfRows {
    /// The strip.
    pub strip: Value,
    /// The row of tiles.
    pub row: Value,
    /// Counters of the inner dimensions.
    pub inner: Vec<Value>,
    /// That of the dimension of which tables hold slices, at the first plane of the slice.
    pub slice: Option<Value>,
    /// The block among those of the row of tiles.
    pub block: Value,
}

/// A point of the loops: which vectors one loop body computes.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The block of rows that it is in.
    pub at: BlockOfRows,
    /// Counter of groups of rows in the block, each `unroll[1]` high.
    pub y: Value,
    /// Counter of groups of vectors in the row, each `unroll[0]` vectors wide.
    pub x: Value,
    /// The row in its group.
    pub y_step: u32,
    /// The vector in its group.
    pub x_step: u32,
}

impl Loops<'_> {
    /// Makes the memory objects that a nest needs.
    pub fn objects(
        cx: &Lowering<'_>,
        kernel: &mut KernelCx,
        nest: &Nest,
        targets: &[BufferId],
    ) -> Objects {
        let read = nest.reads.iter().map(|r| r.buffer);
        let copies = nest.copy_of.values().copied();
        let ids: Vec<BufferId> = targets.iter().copied().chain(read).chain(copies).collect();
        let mems = ids.iter().map(|&id| (id, kernel.buffer(cx.plan, id))).collect();
        let windows = nest.reads.iter().enumerate().map(|(n, read)| {
            let window: &Window = read.window.as_ref()?;
            let buffer = &cx.plan.buffers[read.buffer];
            // Boxes of patches are looked up like tables.
            let mut extents = if read.patched { vec![1] } else { vec![] };
            extents.extend([window.pitch, window.rows]);
            extents.extend(read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u32));
            let name = format!("window{n}_{}", buffer.name.replace('.', "_"));
            Some(kernel.pgsm(&name, buffer.element, extents, window.base))
        });
        let windows = windows.collect();
        let tables = nest.tables.iter().map(|(&id, table)| {
            let buffer = &cx.plan.buffers[id];
            let name = format!("table_{}", buffer.name.replace('.', "_"));
            (id, kernel.pgsm(&name, buffer.element, vec![1, table.words], table.base))
        });
        Objects { mems, windows, tables: tables.collect() }
    }

    /// The row of the point in its tile column, ghost rows not counted.
    pub fn row_in_column(&self, b: &mut Builder<'_>, point: &Point) -> Value {
        let nest = self.nest;
        let tiles = times(b, point.at.row, nest.tiles.tile[1].into());
        let blocks = times(b, point.at.block, nest.block_rows.into());
        let groups = times(b, point.y, nest.unroll[1].into());
        let sum = b.iadd(tiles, blocks);
        let sum = b.iadd(sum, groups);
        plus(b, sum, point.y_step.into())
    }

    /// The first lane's place in its tile.
    pub fn x_in_tile(&self, b: &mut Builder<'_>, point: &Point) -> Value {
        let vectors = times(b, point.x, i64::from(self.nest.unroll[0]) * LANES as i64);
        plus(b, vectors, i64::from(point.x_step) * LANES as i64)
    }

    /// First coordinate along x of a strip of tiles, of elements `width` a tile and `origin`.
    pub fn strip_start(
        &self,
        b: &mut Builder<'_>,
        strip: Value,
        start: Value,
        width: u32,
    ) -> Value {
        let step = i64::from(self.nest.tiles.grid.engines) * i64::from(width);
        let offset = times(b, strip, step);
        b.iadd(start, offset)
    }
}

/// The subscripts of a point in the buffer that holds its tile.
pub(crate) fn own_place(
    b: &mut Builder<'_>,
    loops: &Loops<'_>,
    point: &Point,
    target: BufferId,
) -> Vec<Value> {
    let buffer = &loops.cx.plan.buffers[target];
    let tiled = buffer.tiled();
    let x = loops.x_in_tile(b, point);
    let row = loops.row_in_column(b, point);
    let row = plus(b, row, tiled.ghost_rows[0].into());
    let column = plus(b, point.at.strip, tiled.ghost_columns[0].into());
    let mut place = vec![x, row, column];
    for (k, &counter) in point.at.inner.iter().enumerate() {
        let shift = i64::from(loops.nest.region[k + 2].min) - i64::from(buffer.region[k + 2].min);
        place.push(plus(b, counter, shift));
    }
    place
}
