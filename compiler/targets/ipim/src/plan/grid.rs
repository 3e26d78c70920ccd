//! How tiles go to engines: the shape of the grid for a number of tiles.

use nbcc_isa_ipim::layout::{Grid, Tiled};
use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::Interval;

use super::BufferPlan;

/// The grid that holds `cells` columns and rows of tiles with the least work for the busiest
/// engine. Regions go to cubes and vaults in the shape of their meshes, so that neighbours are
/// near, unless all vaults in one row have at most half of the work; among the shapes of groups in
/// a vault with equal work the one wins whose groups have the least to exchange with those around
/// them, if tiles are `tile` wide and high.
pub fn grid_for(machine: &Machine, cells: [u32; 2], tile: [u32; 2]) -> Grid {
    let (cubes, vaults) = (machine.cube_mesh(), machine.vault_mesh());
    let row = |[columns, rows]: [u32; 2]| [columns * rows, 1];
    let mesh = grid_on(machine, (cubes, vaults), cells, tile);
    let flat = grid_on(machine, (row(cubes), row(vaults)), cells, tile);
    let one_row = cells[1] == 1 && work(&flat) <= work(&mesh);
    if one_row || work(&flat) * 2 <= work(&mesh) { flat } else { mesh }
}

/// The greatest divisor of `n` up to `most`, 1 at least.
pub(crate) fn greatest_divisor(n: u32, most: u32) -> u32 {
    (1..=most.min(n).max(1)).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1)
}

/// Tiles of an engine.
fn work(grid: &Grid) -> u64 {
    u64::from(grid.strips) * u64::from(grid.rows)
}

/// Atoms at a side and above a group: an atom of each row goes to the group beside it, rows go to the
/// one below.
fn border(grid: &Grid, tile: [u32; 2]) -> u64 {
    let [rows, columns] = [grid.rows, grid.strips * grid.engines].map(u64::from);
    rows * u64::from(tile[1]) + columns * u64::from(tile[0]) / LANES as u64
}

/// The same for one arrangement of cubes and vaults.
fn grid_on(
    machine: &Machine,
    (cubes, vaults): ([u32; 2], [u32; 2]),
    cells: [u32; 2],
    tile: [u32; 2],
) -> Grid {
    let pgs = 1 << machine.hierarchy.pgs.ilog2();
    let engines = machine.hierarchy.pes;
    let shapes = (0..=u32::ilog2(pgs)).map(|bits| [pgs >> bits, 1 << bits]);
    let grids = shapes.map(|groups| Grid {
        cubes,
        vaults,
        groups,
        engines,
        strips: cells[0].div_ceil(cubes[0] * vaults[0] * groups[0] * engines).max(1),
        rows: cells[1].div_ceil(cubes[1] * vaults[1] * groups[1]).max(1),
    });
    // Of one row of tiles, what vaults share is the way in and out of them.
    let shared = |grid: &Grid| if cells[1] == 1 { grid.groups[0] } else { 0 };
    let key = |grid: &Grid| (work(grid), shared(grid), border(grid, tile));
    grids.min_by_key(key).expect("there is a shape for every power of two")
}

/// Columns and rows of vaults that hold points of a region, given where regions of vaults begin:
/// `origin + vault * size`.
pub fn used(origin: i64, size: i64, last: i64) -> u32 {
    ((last - origin).div_euclid(size) + 1).max(1) as u32
}

/// Columns and rows of groups that hold points of a region in some vault, or points that are at most
/// `reach` behind one.
pub fn groups_in_use(tiles: &Tiled, region: &[Interval], reach: [u32; 2]) -> [u32; 2] {
    let grid = &tiles.grid;
    [0, 1].map(|k| {
        let size = i64::from([grid.strips * grid.engines, grid.rows][k] * tiles.tile[k]);
        let last = region.get(k).map_or(tiles.origin[k], |i| i.max);
        used(tiles.origin[k].into(), size, i64::from(last) + i64::from(reach[k]))
            .min(grid.groups[k])
    })
}

/// Columns and rows of groups that hold points of a buffer in some vault, or have ghost zones that
/// reach to one.
pub fn groups_reached(buffer: &BufferPlan) -> [u32; 2] {
    let tiles = buffer.tiled();
    groups_in_use(tiles, &buffer.region, [buffer.reach_x[0], tiles.ghost_rows[0]])
}

/// Columns and rows of vaults that hold points of a region, or points that are at most `reach`
/// behind one along x or y.
pub fn busy(tiles: &Tiled, region: &[Interval], reach: [u32; 2]) -> [u32; 2] {
    let grid = &tiles.grid;
    let group = [grid.strips * grid.engines, grid.rows];
    [0, 1].map(|k| {
        let size = i64::from(group[k]) * i64::from(grid.groups[k]) * i64::from(tiles.tile[k]);
        let last = region.get(k).map_or(tiles.origin[k], |i| i.max);
        used(tiles.origin[k].into(), size, i64::from(last) + i64::from(reach[k]))
    })
}
