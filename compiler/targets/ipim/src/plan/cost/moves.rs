//! What it costs to bring elements between banks: ghost zones, copies, merges of partial results.

use nbcc_isa_ipim::layout::{Layout, Tiled};
use nbcc_isa_ipim::{ATOM_BYTES, LANES};

use super::{Cost, Estimate};
use crate::plan::{
    BufferPlan, Order, Outside, Patch, ReduceStep, Relay, busy, filled, ghost_atoms, groups_in_use,
    holders, relay,
};

const ATOM: u64 = ATOM_BYTES as u64;

/// Constants that a copy or a merge needs in AddrRF.
const CONSTANTS: u64 = 24;

/// Cycles of the control core for a request of an atom that has the same place in another vault.
const REQUEST: u64 = 8;

/// Atoms of a part of a copy that vaults hand on.
const REQUESTED: u64 = 64;

/// Cycles of the control core to find the bank that holds an atom, or a row of a tile.
const SEARCH: u64 = 32;

/// Constants that a neighbour of an exchange needs in AddrRF.
const OF_NEIGHBOUR: u64 = 6;

fn groups(tiles: &Tiled) -> u64 {
    u64::from(tiles.grid.groups[0]) * u64::from(tiles.grid.groups[1])
}

impl Estimate<'_> {
    /// Cycles of the TSVs of a vault for so many atoms.
    fn tsv(&self, atoms: u64) -> u64 {
        atoms * ATOM.div_ceil(u64::from(self.machine.network.tsv_bytes))
    }

    pub(super) fn exchange(&self, buffer: &BufferPlan) -> Cost {
        let t = &self.times;
        let tiles = buffer.tiled();
        let grid = &tiles.grid;
        let planes: u64 = buffer.inner_extents().iter().map(|&n| u64::from(n)).product();
        let engines = u64::from(grid.engines);
        let mut cost = Cost { setup: self.barrier(), ..Cost::default() };
        let parts = ghost_atoms(buffer);
        for ((dx, dy), atoms) in parts {
            let atoms = atoms * planes;
            // Columns beside a region belong to one engine, rows above and below to all.
            let at_once = if dx != 0 { 1 } else { engines };
            let turns = atoms.div_ceil(at_once);
            let transfers = self.tsv(2 * atoms * groups(tiles));
            let issue = turns * (2 * t.address + 8) + turns.div_ceil(8) * (t.bank + t.jump);
            cost.setup += OF_NEIGHBOUR * t.constant;
            cost.moves = cost.moves.saturating_add(transfers).saturating_add(issue);
            cost.code += 4 * turns.min(8) + 2 * OF_NEIGHBOUR;
            let columns = beyond(dx, i64::from(grid.groups[0]));
            let rows = beyond(dy, i64::from(grid.groups[1]));
            let inside = groups(tiles) - columns.min(groups(tiles));
            let remote = (groups(tiles) - inside) * (dy == 0) as u64
                + rows * u64::from(grid.groups[0]) * (dy != 0) as u64;
            if self.machine.vaults() > 1 && remote > 0 {
                let requests = remote.min(groups(tiles)) * atoms;
                cost.moves = cost.moves.saturating_add(requests * REQUEST + t.request);
                cost.code += 60;
            }
        }
        let Some(border) = buffer.border else { return cost };
        let [_, of_border] = filled(buffer);
        cost.setup += of_border.parts * OF_NEIGHBOUR * t.constant;
        cost.code += 50 * of_border.parts;
        let moved = match border.outside {
            Outside::Around => {
                let parts = of_border.parts * t.request + of_border.rows * SEARCH;
                parts + of_border.atoms * REQUEST + self.tsv(2 * of_border.atoms)
            }
            // Groups have what they repeat, and do so at once.
            Outside::Constant(_) | Outside::Edge => {
                let side = groups(tiles).isqrt().max(1);
                let parts = of_border.parts * 2 * t.bank;
                parts + of_border.rows / side * t.address + of_border.atoms / side * t.address
            }
        };
        cost.moves = cost.moves.saturating_add(moved.saturating_mul(planes));
        cost
    }

    /// Cycles in which the port of a vault answers requests of others: packets of a header and an
    /// atom, and as much again (measured: other packets wait at the same routers).
    fn answers(&self, atoms: u64) -> u64 {
        let flits = self.machine.network.flits(self.machine.memory.atom_bytes);
        atoms.saturating_mul(2 * u64::from(flits))
    }

    /// What tiles take whose rows lie across those of the source, which comes first at place `across`:
    /// atoms that a vault requests, those that all its engines take, those of one engine, cycles in
    /// which the control core requests them.
    fn transposed(&self, to: &BufferPlan, order: &Order, across: usize) -> [u64; 4] {
        let tiles = to.tiled();
        let lanes = LANES as u64;
        let whole = |n: u32| u64::from(n.next_multiple_of(LANES as u32));
        let own = u64::from(tiles.grid.strips) * u64::from(tiles.tile[0]);
        let width = own * u64::from(tiles.grid.engines) + to.reach_x.map(whole).iter().sum::<u64>();
        let points = |k: usize| match k {
            1 => u64::from(tiles.height()),
            k => u64::from(to.region[k].extent()),
        };
        let places = (1..to.region.len()).filter(|&k| k != across);
        let lines: u64 = places.map(points).product();
        let stretch = points(across);
        // Where it is not whole atoms, it begins anywhere in one.
        let atoms = stretch.div_ceil(lanes) + u64::from(!stretch.is_multiple_of(lanes));
        let reach = [to.reach_x[0], tiles.ghost_rows[0]];
        let groups: u64 = groups_in_use(tiles, &to.region, reach).map(u64::from).iter().product();
        let requested = width * atoms * lines * groups;
        let sought = match order[0] {
            Some(1) => width * atoms.div_ceil(lanes) * lines * groups,
            _ => atoms * lines * groups,
        };
        [
            requested,
            width * stretch * lines * groups,
            own * stretch * lines,
            requests(requested, sought),
        ]
    }

    /// The same of the boxes of patches.
    fn patched(&self, from: &BufferPlan, to: &BufferPlan, patch: &Patch) -> [u64; 4] {
        let tiles = to.tiled();
        let grid = &tiles.grid;
        let planes: u64 = to.inner_extents().iter().map(|&n| u64::from(n)).product();
        let of_engine = u64::from(grid.strips) * u64::from(grid.rows) * planes;
        let atoms = tiles.tile[0] / LANES as u32;
        let height = u64::from(tiles.tile[1]);
        let owners = u64::from(patch.owners(from, atoms));
        let sought = if patch.in_blocks(from, tiles.tile[1]) { owners } else { owners * height };
        let groups: u64 = groups_in_use(tiles, &to.region, [0, 0]).map(u64::from).iter().product();
        let own = u64::from(atoms) * height * of_engine;
        let engines = groups * u64::from(grid.engines);
        let all = own * engines;
        // The place of a box is found once more.
        let boxes = of_engine * engines;
        [all, all, own, requests(all, (sought + 1) * boxes)]
    }

    pub(super) fn copy(&self, from: &BufferPlan, to: &BufferPlan, order: &Order) -> Cost {
        let t = &self.times;
        let planes: u64 = to.inner_extents().iter().map(|&n| u64::from(n)).product();
        let extent = |k: usize| to.region.get(k).map_or(1, |i| u64::from(i.extent()));
        let lanes = LANES as u64;
        let engines = u64::from(self.machine.engines());
        // Atoms that a vault requests, those that all its engines take, those of one engine, and the
        // cycles in which the control core requests them.
        let across = order.iter().position(|place| *place == Some(0)).filter(|&k| k > 0);
        let [requested, taken, own, requesting] = match (&to.layout, &to.patch, across) {
            (_, Some(patch), _) => self.patched(from, to, patch),
            (Layout::Tiled(_), None, Some(across)) => self.transposed(to, order, across),
            (Layout::Tiled(tiles), None, None) => {
                let ghosts: u64 = to.reach_x.iter().map(|&n| u64::from(n).div_ceil(lanes)).sum();
                let grid = &tiles.grid;
                let width = u64::from(tiles.tile[0]) / lanes;
                let strips = u64::from(grid.strips);
                let rows = u64::from(tiles.height()) * planes;
                let run = width * u64::from(grid.engines);
                let row = strips * run + ghosts;
                let sought = strips * owners(from, run) + ghosts;
                let all = row * rows * groups(tiles);
                let requesting = requests(row, sought).saturating_mul(rows * groups(tiles));
                [all, all, (strips * width + ghosts) * rows, requesting]
            }
            (Layout::Replicated, None, _) => {
                let row = extent(0).div_ceil(lanes);
                let rows = extent(1) * planes;
                let atoms = row * rows;
                // The owner of each row of a tile has to be found.
                let sought = match &to.excerpt {
                    Some(excerpt) => atoms * lanes / u64::from(excerpt.along[0].ring.unit),
                    None => owners(from, row) * rows,
                };
                [atoms, atoms * engines, atoms, requests(atoms, sought)]
            }
            (Layout::Single { .. }, None, _) => {
                let row = extent(0).div_ceil(lanes);
                let rows = extent(1) * planes;
                let atoms = row * rows;
                [atoms, atoms, atoms, requests(atoms, owners(from, row) * rows)]
            }
        };
        // Vaults ask at once; where few hold what all ask for, they wait for those.
        let [asking, holding] = [to, from].map(|of| u64::from(holders(self.machine, of)));
        let answers = |asking: u64, holding: u64| match (asking, holding) {
            (1, 1) => 0,
            (asking, holding) => self.answers(requested.saturating_mul(asking) / holding),
        };
        let waiting = |asking: u64, holding: u64| requesting.max(answers(asking, holding));
        let [cubes, vaults] =
            [self.machine.hierarchy.cubes, self.machine.hierarchy.vaults].map(u64::from);
        let waits = match relay(self.machine, from, to) {
            Relay::Direct => waiting(asking, holding),
            Relay::ByCubes => waiting(cubes, holding).saturating_add(waiting(vaults, 1)),
            Relay::ByParts => {
                let parts = (requested / REQUESTED).clamp(1, vaults);
                let scattered = answers(cubes, holding).max(requesting / parts);
                scattered.saturating_add(waiting(vaults, parts)).saturating_add(self.barrier())
            }
        };
        let moves = waits.saturating_add(self.tsv(taken)).saturating_add(own * (2 * t.address));
        Cost {
            setup: self.barrier() + CONSTANTS * t.constant,
            moves: moves.saturating_add(t.request),
            code: 200,
            ..Cost::default()
        }
    }

    pub(super) fn merge(&self, step: &ReduceStep) -> Cost {
        let t = &self.times;
        let tiles = &step.nest.tiles;
        let team = groups(tiles) * u64::from(tiles.grid.engines);
        let chunks = u64::from(step.atoms(&self.plan.buffers[step.target])).div_ceil(team);
        let busy = busy(tiles, &step.nest.region, [0, 0]).map(u64::from);
        let vaults = (busy[0] * busy[1]).min(u64::from(self.machine.vaults()));
        let transfers = self.tsv(2 * team * team * chunks);
        let requests = (vaults - 1).saturating_mul(team * chunks).saturating_mul(REQUEST);
        Cost {
            setup: 2 * self.barrier() + 2 * CONSTANTS * t.constant,
            moves: transfers.saturating_add(requests) + team * chunks * 10,
            code: 200,
            ..Cost::default()
        }
    }
}

/// Cycles of the control core to request so many atoms of so many banks.
fn requests(atoms: u64, banks: u64) -> u64 {
    atoms.saturating_mul(REQUEST).saturating_add(banks.saturating_mul(SEARCH))
}

/// How many banks have to be found for `atoms` atoms of a row that are requested together: that of each
/// row of a tile where the atoms are whole ones (`lower/fetch.rs`), else that of each atom.
fn owners(from: &BufferPlan, atoms: u64) -> u64 {
    let Layout::Tiled(tiles) = &from.layout else { return 0 };
    let width = u64::from(tiles.tile[0]) / LANES as u64;
    if width > 0 && atoms.is_multiple_of(width) { atoms / width } else { atoms }
}

/// Columns or rows of groups whose neighbour `d` away is in another vault.
fn beyond(d: i64, groups: i64) -> u64 {
    d.abs().min(groups) as u64
}
