//! What it costs to bring elements between banks: ghost zones, copies, merges of partial results.

use nbcc_isa_ipim::layout::{Layout, Tiled};
use nbcc_isa_ipim::{ATOM_BYTES, LANES};

use super::{Cost, Estimate};
use crate::plan::{BufferPlan, ReduceStep, busy, ghost_atoms};

const ATOM: u64 = ATOM_BYTES as u64;

/// Constants that a copy or a merge needs in AddrRF.
const CONSTANTS: u64 = 24;

/// Cycles of the control core for a request of an atom that has the same place in another vault.
const REQUEST: u64 = 8;

/// The same where the atom's home has to be found.
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
        cost
    }

    /// Vaults whose banks hold some of a buffer.
    fn holders(&self, buffer: &BufferPlan) -> u64 {
        match &buffer.layout {
            Layout::Tiled(tiles) => {
                let busy = busy(tiles, &buffer.region, [0, 0]).map(u64::from);
                (busy[0] * busy[1]).clamp(1, self.machine.vaults().into())
            }
            Layout::Replicated => self.machine.vaults().into(),
            Layout::Single { .. } => 1,
        }
    }

    /// Cycles in which the port of a vault answers requests of others: packets of a header and an
    /// atom, and as much again (measured: other packets wait at the same routers).
    fn answers(&self, atoms: u64) -> u64 {
        let network = &self.machine.network;
        let flits = (u64::from(network.packet_header) + ATOM).div_ceil(network.noc_bytes.into());
        atoms.saturating_mul(2 * flits)
    }

    pub(super) fn copy(&self, from: &BufferPlan, to: &BufferPlan) -> Cost {
        let t = &self.times;
        let planes: u64 = to.inner_extents().iter().map(|&n| u64::from(n)).product();
        let extent = |k: usize| to.region.get(k).map_or(1, |i| u64::from(i.extent()));
        let lanes = LANES as u64;
        let engines = u64::from(self.machine.engines());
        // Atoms that a vault requests, those that all its engines take, and those of one engine.
        let (requests, taken, own, each) = match &to.layout {
            Layout::Tiled(tiles) => {
                let ghosts: u64 = to.reach_x.iter().map(|&n| u64::from(n).div_ceil(lanes)).sum();
                let grid = &tiles.grid;
                let strip = u64::from(grid.strips) * u64::from(tiles.tile[0]) / lanes;
                let rows = u64::from(tiles.height()) * planes;
                let row = strip * u64::from(grid.engines) + ghosts;
                (
                    row * rows * groups(tiles),
                    row * rows * groups(tiles),
                    (strip + ghosts) * rows,
                    SEARCH,
                )
            }
            Layout::Replicated => {
                let atoms = extent(0).div_ceil(lanes) * extent(1) * planes;
                // The owner of each row of a tile has to be found.
                let search = to
                    .excerpt
                    .as_ref()
                    .map_or(0, |excerpt| SEARCH * lanes / u64::from(excerpt.along[0].ring.unit));
                (atoms, atoms * engines, atoms, REQUEST + search)
            }
            Layout::Single { .. } => {
                let atoms = extent(0).div_ceil(lanes) * extent(1) * planes;
                (atoms, atoms, atoms, REQUEST)
            }
        };
        // Vaults ask at once; where few hold what all ask for, they wait for those.
        let (asking, holding) = (self.holders(to), self.holders(from));
        let answered = match (asking, holding) {
            (1, 1) => 0,
            (asking, holding) => self.answers(requests.saturating_mul(asking) / holding),
        };
        let moves = requests
            .saturating_mul(each)
            .max(answered)
            .saturating_add(self.tsv(taken))
            .saturating_add(own * (2 * t.address));
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

/// Columns or rows of groups whose neighbour `d` away is in another vault.
fn beyond(d: i64, groups: i64) -> u64 {
    d.abs().min(groups) as u64
}
