//! What moves between banks, in bytes, computed from the plan alone: what windows, ghost zones,
//! copies and merges of partial results take.

use std::ops::AddAssign;

use nbcc_isa_ipim::layout::{Layout, Tiled};
use nbcc_isa_ipim::{ATOM_BYTES, LANES, Machine};
use nbcc_stages::bounds::Interval;

use super::border::{Outside, filled};
use super::ghosts::ghost_atoms;
use super::{BufferPlan, Nest, Plan, ReduceStep, Relay, Step, groups_reached, relay};

/// Bytes moved by each mechanism, all engines together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Written into scratchpads of groups.
    pub window: u64,
    /// Through scratchpads of vaults, in and out.
    pub vault: u64,
    /// Requested from banks of this or another vault by `req`.
    pub req: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.window += other.window;
        self.vault += other.vault;
        self.req += other.req;
    }
}

const ATOM: u64 = ATOM_BYTES as u64;

/// Columns and rows of the mesh of all vaults.
fn mesh(tiles: &Tiled) -> [u32; 2] {
    [0, 1].map(|k| tiles.grid.cubes[k] * tiles.grid.vaults[k])
}

/// Columns and rows of vaults that hold points of a region, or points at most `reach` behind one.
fn busy(tiles: &Tiled, region: &[Interval], reach: [u32; 2]) -> [u32; 2] {
    let found = super::grid::busy(tiles, region, reach);
    let mesh = mesh(tiles);
    [0, 1].map(|k| found[k].min(mesh[k]))
}

fn vaults(busy: [u32; 2]) -> u64 {
    u64::from(busy[0]) * u64::from(busy[1])
}

fn groups(tiles: &Tiled) -> u64 {
    u64::from(tiles.grid.groups[0]) * u64::from(tiles.grid.groups[1])
}

fn points_along(dims: &[Interval]) -> u64 {
    dims.iter().map(|i| u64::from(i.extent())).product()
}

/// What the windows of a nest take.
pub fn of_nest(nest: &Nest) -> Traffic {
    let grid = &nest.tiles.grid;
    let fills = u64::from(nest.tiles.tile[1] / nest.block_rows)
        * u64::from(grid.strips)
        * u64::from(grid.rows)
        * points_along(nest.region.get(nest.filled_from()..).unwrap_or_default())
        * groups(&nest.tiles)
        * vaults(busy(&nest.tiles, &nest.region, [0, 0]));
    let mut window = 0;
    for read in &nest.reads {
        let Some(held) = &read.window else { continue };
        let width = read.ratio[0].of(nest.tiles.tile[0].into()).unwrap_or(0) as u64;
        let left = u64::from((-read.reach[0].0).max(0) as u32).next_multiple_of(LANES as u64);
        let row = left + width * u64::from(grid.engines) + u64::from(held.right);
        let planes: u64 = read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u64).product();
        window += fills * u64::from(held.rows) * row * 4 * planes;
    }
    Traffic { window, ..Traffic::default() }
}

/// What filling the ghost zones of a buffer takes.
fn of_exchange(buffer: &BufferPlan) -> Traffic {
    let tiles = buffer.tiled();
    let grid = &tiles.grid;
    let used = busy(tiles, &buffer.region, [buffer.reach_x[0], tiles.ghost_rows[0]]);
    let planes: u64 = buffer.inner_extents().iter().map(|&n| u64::from(n)).product();
    let mesh = mesh(tiles).map(i64::from);
    // Other borders come from the group itself.
    let around = buffer.border.filter(|border| border.outside == Outside::Around);
    let around = around.map_or(0, |_| filled(buffer)[0].atoms * planes * ATOM);
    let mut traffic = Traffic { window: 0, vault: around, req: around };
    for ((dx, dy), atoms) in ghost_atoms(buffer) {
        let bytes = atoms * planes * ATOM;
        traffic.vault += 2 * bytes * groups(tiles) * vaults(used);
        for gy in 0..i64::from(grid.groups[1]) {
            for gx in 0..i64::from(grid.groups[0]) {
                let away = [
                    (gx + dx).div_euclid(grid.groups[0].into()),
                    (gy + dy).div_euclid(grid.groups[1].into()),
                ];
                if away == [0, 0] {
                    continue;
                }
                // Vaults at work whose neighbour at that distance exists.
                let count = [0, 1].map(|k| {
                    let first = (-away[k]).max(0);
                    let end = i64::from(used[k]).min(mesh[k] - away[k]);
                    (end - first).max(0) as u64
                });
                traffic.req += bytes * count[0] * count[1];
            }
        }
    }
    traffic
}

/// What a copy into another distribution takes.
fn of_copy(from: &BufferPlan, to: &BufferPlan, machine: &Machine) -> Traffic {
    let planes: u64 = to.inner_extents().iter().map(|&n| u64::from(n)).product();
    let extent = |k: usize| to.region.get(k).map_or(1, |i| u64::from(i.extent()));
    match &to.layout {
        Layout::Tiled(tiles) => {
            let used = busy(tiles, &to.region, [to.reach_x[0], tiles.ghost_rows[0]]);
            let ghosts = to.reach_x.map(|n| u64::from(n.next_multiple_of(LANES as u32)));
            let grid = &tiles.grid;
            let own = u64::from(grid.strips * grid.engines) * u64::from(tiles.tile[0]);
            let row = (own + ghosts[0] + ghosts[1]) * 4;
            let rows = u64::from(tiles.height());
            let groups: u64 = groups_reached(to).map(u64::from).iter().product();
            let bytes = row * rows * planes * groups * vaults(used);
            Traffic { window: 0, vault: bytes, req: bytes }
        }
        whole => {
            let atoms = extent(0).div_ceil(LANES as u64) * extent(1) * planes;
            let (engines, vaults) = match whole {
                Layout::Replicated => {
                    let again = match relay(machine, from, to) {
                        Relay::Direct => 0,
                        // A vault of each cube takes it twice, or its vaults a part of it each.
                        Relay::ByCubes | Relay::ByParts => machine.hierarchy.cubes,
                    };
                    (machine.engines(), machine.vaults() + again)
                }
                _ => (1, 1),
            };
            let req = atoms * ATOM * u64::from(vaults);
            Traffic { window: 0, vault: req * u64::from(engines), req }
        }
    }
}

/// What merging the parts of a reduction takes.
pub fn of_merge(step: &ReduceStep, plan: &Plan) -> Traffic {
    let tiles = &step.nest.tiles;
    let team = groups(tiles) * u64::from(tiles.grid.engines);
    let chunks = u64::from(step.atoms(&plan.buffers[step.target])).div_ceil(team);
    let vaults = vaults(busy(tiles, &step.nest.region, [0, 0]));
    Traffic {
        window: 0,
        vault: 2 * team * team * chunks * ATOM * vaults,
        req: (vaults - 1) * team * chunks * ATOM,
    }
}

/// What a step that only moves data takes.
pub fn of_move(plan: &Plan, machine: &Machine, step: &Step) -> Traffic {
    match step {
        Step::Exchange(id) => of_exchange(&plan.buffers[*id]),
        Step::Redistribute { from, to, .. } => {
            of_copy(&plan.buffers[*from], &plan.buffers[*to], machine)
        }
        _ => Traffic::default(),
    }
}
