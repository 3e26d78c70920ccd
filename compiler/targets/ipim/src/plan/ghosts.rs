//! The shape of ghost zones and windows: which columns and rows come from which neighbour, and which
//! engine has which piece.

use std::collections::BTreeMap;

use nbcc_isa_ipim::LANES;
use nbcc_isa_ipim::layout::Tiled;

use super::BufferPlan;
use super::grid::used;

/// A run of atoms of a tile column that some engines copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The strip, relative to the one the window is of.
    pub strip: i64,
    /// The engine, or all of them.
    pub engine: Option<u32>,
    /// First element in the tile.
    pub first: u32,
    /// Atoms.
    pub atoms: u32,
    /// Tile columns from the strip's first tile; for all engines, of engine 0.
    pub column: i64,
}

/// The pieces that cover a strip of `engines` tiles of `width` elements, and `left` and `right`
/// elements (whole atoms) beyond it.
pub(crate) fn pieces(engines: u32, width: u32, left: u32, right: u32) -> Vec<Piece> {
    let lanes = LANES as u32;
    let (e, w) = (i64::from(engines), i64::from(width));
    let mut all = vec![Piece { strip: 0, engine: None, first: 0, atoms: width / lanes, column: 0 }];
    let mut side = |column: i64, from: i64, to: i64| {
        all.push(Piece {
            strip: column.div_euclid(e),
            engine: Some(column.rem_euclid(e) as u32),
            first: from as u32,
            atoms: (to - from) as u32 / lanes,
            column,
        });
    };
    let (left, right) = (i64::from(left), i64::from(right));
    for column in -(left + w - 1).div_euclid(w)..0 {
        side(column, (-left - column * w).max(0), w);
    }
    for column in e..e + (right + w - 1).div_euclid(w) {
        side(column, 0, (right - (column - e) * w).min(w));
    }
    all
}

/// A run of atoms of ghost columns that come from groups `dx` away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Groups between the one that keeps them and their owner.
    pub dx: i64,
    /// First ghost or own strip.
    pub strip: i64,
    /// How many strips alike follow.
    pub strips: u32,
    /// The engine, or all of them.
    pub engine: Option<u32>,
    /// First element in the tile.
    pub first: u32,
    /// Atoms of the tile's row.
    pub atoms: u32,
}

/// A run of rows that come from groups `dy` away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// Groups between the one that keeps them and their owner.
    pub dy: i64,
    /// First row.
    pub first: i64,
    /// How many.
    pub count: u32,
}

/// What a group receives, by the neighbour that owns it.
pub(crate) fn parts_of(
    buffer: &BufferPlan,
    tiled: &Tiled,
) -> BTreeMap<(i64, i64), Vec<(Columns, Rows)>> {
    let rows = rows_of(tiled);
    let mut parts: BTreeMap<(i64, i64), Vec<(Columns, Rows)>> = BTreeMap::new();
    for column in columns_of(buffer, tiled) {
        for row in &rows {
            if (column.dx, row.dy) != (0, 0) && reaches(tiled, buffer, (column.dx, row.dy)) {
                parts.entry((column.dx, row.dy)).or_default().push((column, *row));
            }
        }
    }
    parts
}

/// Atoms of one plane that a group receives from each neighbour.
pub(crate) fn ghost_atoms(buffer: &BufferPlan) -> Vec<((i64, i64), u64)> {
    let tiled = buffer.tiled();
    let count = |(columns, rows): &(Columns, Rows)| {
        let engines = if columns.engine.is_some() { 1 } else { tiled.grid.engines };
        [columns.strips, columns.atoms, engines, rows.count].map(u64::from).iter().product::<u64>()
    };
    let parts = parts_of(buffer, tiled).into_iter();
    parts.map(|(neighbour, list)| (neighbour, list.iter().map(count).sum())).collect()
}

/// Whether any group has a neighbour that far away. Those in one row or column have none beside it.
fn reaches(tiled: &Tiled, buffer: &BufferPlan, (dx, dy): (i64, i64)) -> bool {
    let grid = &tiled.grid;
    let groups = [0, 1].map(|k| {
        let size = [grid.strips * grid.engines, grid.rows][k] * tiled.tile[k];
        let last = buffer.region.get(k).map_or(0, |i| i64::from(i.max));
        // Groups behind the last element may read it too.
        let reach = [buffer.reach_x[0], tiled.ghost_rows[0]][k];
        let groups = used(tiled.origin[k].into(), size.into(), last + i64::from(reach));
        let is_line = grid.cubes[k] * grid.vaults[k] * grid.groups[k] == 1;
        if is_line { 1 } else { i64::from(groups).max(2) }
    });
    dx.abs() < groups[0] && dy.abs() < groups[1]
}

/// The columns of a group: its own strips, then those of its ghost zones that are reached into.
pub(crate) fn columns_of(buffer: &BufferPlan, tiled: &Tiled) -> Vec<Columns> {
    let grid = &tiled.grid;
    let strips = i64::from(grid.strips);
    let whole = |n: u32| n.next_multiple_of(LANES as u32);
    let [left, right] = buffer.reach_x;
    let mut all = vec![Columns {
        dx: 0,
        strip: 0,
        strips: grid.strips,
        engine: None,
        first: 0,
        atoms: tiled.tile[0] / LANES as u32,
    }];
    // The pieces around a strip that is as wide as the region.
    for piece in pieces(grid.engines, tiled.tile[0], whole(left), whole(right)) {
        let Some(engine) = piece.engine else { continue };
        let strip = if piece.strip < 0 { piece.strip } else { piece.strip - 1 + strips };
        all.push(Columns {
            dx: strip.div_euclid(strips),
            strip,
            strips: 1,
            engine: Some(engine),
            first: piece.first,
            atoms: piece.atoms,
        });
    }
    all
}

fn rows_of(tiled: &Tiled) -> Vec<Rows> {
    let height = i64::from(tiled.grid.rows * tiled.tile[1]);
    let mut all = vec![Rows { dy: 0, first: 0, count: height as u32 }];
    let mut ghost = |from: i64, to: i64| {
        let mut first = from;
        while first < to {
            let dy = first.div_euclid(height);
            let end = ((dy + 1) * height).min(to);
            all.push(Rows { dy, first, count: (end - first) as u32 });
            first = end;
        }
    };
    ghost(-i64::from(tiled.ghost_rows[0]), 0);
    ghost(height, height + i64::from(tiled.ghost_rows[1]));
    all
}
