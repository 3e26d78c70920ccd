//! How tiles go to engines: the shape of the grid for a number of tiles.

use nbcc_isa_ipim::layout::{Grid, Tiled};
use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::Interval;
use num_integer::Integer;

use super::BufferPlan;

/// The grid that holds `cells` columns and rows of tiles with the least work for the busiest
/// engine. Regions go to cubes and vaults in the shape of their meshes, so that neighbours are
/// near, unless all vaults in one row have at most half of the work, or in one column, if the region is
/// high and there is a row of tiles for each; among the shapes of groups in a vault with equal work the
/// one wins whose groups have the least to exchange with those around them, if tiles are `tile` wide and
/// high.
pub fn grid_for(machine: &Machine, cells: [u32; 2], tile: [u32; 2]) -> Grid {
    let [mesh, row, column] =
        [mesh(machine), row(machine), column(machine)].map(|of| grid_on(machine, of, cells, tile));
    let one_row = cells[1] == 1 && work(&row) <= work(&mesh);
    let size = [0, 1].map(|k| i64::from(cells[k]) * i64::from(tile[k]));
    if one_row || work(&row) * 2 <= work(&mesh) {
        row
    } else if is_high(size) && cells[1] >= machine.vaults() && work(&column) * 2 <= work(&mesh) {
        column
    } else {
        mesh
    }
}

/// Whether vaults may stand in one column for a region of this width and height.
fn is_high([width, height]: [i64; 2]) -> bool {
    height >= 2 * width
}

/// Columns and rows of cubes, and of vaults of a cube.
type Arrangement = ([u32; 2], [u32; 2]);

/// Cubes and vaults as they are connected.
fn mesh(machine: &Machine) -> Arrangement {
    (machine.cube_mesh(), machine.vault_mesh())
}

/// All vaults in one row.
fn row(machine: &Machine) -> Arrangement {
    let (cubes, vaults) = mesh(machine);
    ([cubes[0] * cubes[1], 1], [vaults[0] * vaults[1], 1])
}

/// All vaults in one column.
fn column(machine: &Machine) -> Arrangement {
    let ([cubes, one], [vaults, _]) = row(machine);
    ([one, cubes], [one, vaults])
}

/// Columns and rows that the groups of a vault can stand in.
fn shapes(machine: &Machine) -> impl Iterator<Item = [u32; 2]> + use<> {
    let pgs = 1 << machine.hierarchy.pgs.ilog2();
    (0..=u32::ilog2(pgs)).map(move |bits| [pgs >> bits, 1 << bits])
}

/// Cells of that size that hold coordinates, counted from 0, from a first one to the one behind the last.
fn cells([first, end]: [i64; 2], size: u32) -> i64 {
    let size = i64::from(size);
    (end - 1).div_euclid(size) - first.div_euclid(size) + 1
}

/// Points of an engine, in tiles of that size.
fn points(machine: &Machine, covered: [[i64; 2]; 2], tile: [u32; 2]) -> u64 {
    let counts = [0, 1].map(|k| cells(covered[k], tile[k]) as u32);
    work(&grid_for(machine, counts, tile)) * u64::from(tile[0]) * u64::from(tile[1])
}

/// Fitted tiles save one of so many points at least.
const WORTH: u64 = 10;

/// The tiles with which engines have the fewest points, of those no larger than `tile` with which an engine
/// has no more tiles, side by side and above each other, than with `tile` in some grid. `covered` is the
/// first coordinate and the one behind the last that tiles hold, along x and y. What saves little is not worth
/// narrow tiles.
pub fn fitted(machine: &Machine, covered: [[i64; 2]; 2], tile: [u32; 2]) -> [u32; 2] {
    let mut all = vec![];
    let size = covered.map(|[first, end]| end - first);
    let mut arrangements = vec![mesh(machine), row(machine)];
    if is_high(size) {
        arrangements.push(column(machine));
    }
    for (cubes, vaults) in arrangements {
        for groups in shapes(machine) {
            all.push([0, 1].map(|k| {
                let engines = [machine.hierarchy.pes, 1][k];
                let across = i64::from(cubes[k] * vaults[k] * groups[k] * engines);
                let each = Integer::div_ceil(&cells(covered[k], tile[k]), &across);
                let step = [LANES as u32, 1][k];
                let smaller = (1..tile[k] / step).map(|n| tile[k] - n * step);
                let holds = |size: &u32| cells(covered[k], *size) <= across * each;
                smaller.take_while(holds).last().unwrap_or(tile[k])
            }));
        }
    }
    let fewest = |&new: &[u32; 2]| points(machine, covered, new);
    let new = all.into_iter().min_by_key(fewest).unwrap_or(tile);
    let before = fewest(&tile);
    if fewest(&new) < before - before / WORTH { new } else { tile }
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
    (cubes, vaults): Arrangement,
    cells: [u32; 2],
    tile: [u32; 2],
) -> Grid {
    let engines = machine.hierarchy.pes;
    let grids = shapes(machine).map(|groups| Grid {
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

#[cfg(test)]
mod tests {
    use nbcc_testing::Rng;

    use super::*;

    /// The least number of tiles for the busiest engine if vaults stand in any number of columns.
    fn least(machine: &Machine, [columns, rows]: [u32; 2]) -> u64 {
        let (vaults, pgs) = (machine.vaults(), machine.hierarchy.pgs);
        let divisors = |n: u32| (1..=n).filter(move |&d| n.is_multiple_of(d));
        let all = divisors(vaults).flat_map(|v| divisors(pgs).map(move |g| (v, g)));
        let tiles = all.map(|(v, g)| {
            let across = columns.div_ceil(v * g * machine.hierarchy.pes);
            let down = rows.div_ceil(vaults / v * (pgs / g));
            u64::from(across) * u64::from(down)
        });
        tiles.min().expect("one column is one of them")
    }

    #[test]
    fn no_other_arrangement_of_vaults_saves_half_of_the_tiles() {
        for name in ["ipim", "ipim-cube", "ipim-vault"] {
            let machine = Machine::built_in(name);
            let mut columns_of_vaults = 0;
            for seed in 0..2000 {
                let mut random = Rng::new(seed);
                let cells = [0, 1].map(|_| {
                    let bits = random.below(14);
                    1 + random.below(1 << bits) as u32
                });
                let grid = grid_for(&machine, cells, [4, 4]);
                let holds = grid.tiles();
                assert!((0..2).all(|k| u64::from(cells[k]) <= holds[k]), "{cells:?}: {grid:?}");
                let least = least(&machine, cells);
                // Of few rows of tiles most vaults would have none.
                let few = cells[0] < cells[1] && cells[1] < machine.vaults();
                let not_yet_high = (cells[0] + 1..2 * cells[0]).contains(&cells[1]);
                assert!(
                    few || not_yet_high || work(&grid) < 2 * least,
                    "{name}, {cells:?}: {least} tiles are enough, not {grid:?}"
                );
                columns_of_vaults += usize::from(grid.cubes[0] * grid.vaults[0] == 1);
            }
            assert!(columns_of_vaults > 200, "{name}: {columns_of_vaults}");
        }
    }

    #[test]
    fn fitted_tiles_leave_engines_no_more_points() {
        let mut fewer = 0;
        for name in ["ipim", "ipim-cube", "ipim-vault"] {
            let machine = Machine::built_in(name);
            for seed in 0..400 {
                let mut random = Rng::new(seed);
                let mut up_to = |n: u64| random.below(n) as u32;
                let tile = [4 * (1 + up_to(20)), 1 + up_to(30)];
                let covered = [0, 1].map(|_| {
                    let first = i64::from(up_to(40)) - 20;
                    [first, first + 1 + i64::from(up_to(3000))]
                });
                let new = fitted(&machine, covered, tile);
                let [before, after] = [tile, new].map(|tile| points(&machine, covered, tile));
                assert!(
                    after <= before,
                    "seed {seed}: {after} points with {new:?}, {before} with {tile:?}"
                );
                assert!(
                    new[0].is_multiple_of(LANES as u32) && new[0] <= tile[0],
                    "seed {seed}: {new:?}"
                );
                assert!((1..=tile[1]).contains(&new[1]), "seed {seed}: {new:?}");
                fewer += usize::from(after < before);
            }
        }
        assert!(fewer > 600, "{fewer}");
    }
}
