//! Families of tiles: which buffers are cut alike, so that tile for tile they meet in one bank.
//!
//! Consumers are visited before producers. A consumer asks of each producer for tiles in the ratio
//! of its accesses; a producer without tiles of its own takes the first that is possible and joins
//! that family, so that only what reaches over the borders of tiles has to be moved.

use nbcc_isa_ipim::layout::Tiled;
use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::Interval;

use super::grid::grid_for;
use super::reads::Ratio;
use super::schedule::MAX_TILE;

/// Buffers that are cut alike.
#[derive(Clone, Debug, Default)]
pub struct Families {
    /// For each family the first and last tile that any member needs, in x and in y.
    cells: Vec<[Option<(i64, i64)>; 2]>,
    /// The tiles of the first member of each.
    founders: Vec<[u32; 2]>,
}

/// A member of a family: its tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The family.
    pub family: usize,
    /// Width and height of a tile.
    pub tile: [u32; 2],
}

impl Families {
    /// A new family with this member.
    pub fn found(&mut self, tile: [u32; 2]) -> Member {
        self.cells.push([None; 2]);
        self.founders.push(tile);
        Member { family: self.cells.len() - 1, tile }
    }

    /// The tiles a producer needs so that it meets `consumer` in the ratio of the accesses: whole,
    /// in atoms, of a sensible size.
    pub fn asked(consumer: Member, ratio: [Ratio; 2]) -> Option<Member> {
        let size = |k: usize| {
            let size = ratio[k].of(i64::from(consumer.tile[k]))?;
            (1..=i64::from(MAX_TILE)).contains(&size).then_some(size as u32)
        };
        let tile = [size(0)?, size(1)?];
        tile[0].is_multiple_of(LANES as u32).then_some(Member { family: consumer.family, tile })
    }

    /// Makes room for the region of a member.
    pub fn cover(&mut self, member: Member, region: &[Interval]) {
        for k in 0..2 {
            let interval = region.get(k).copied().unwrap_or(Interval::new(0, 0));
            let tile = i64::from(member.tile[k]);
            let first = i64::from(interval.min).div_euclid(tile);
            let last = i64::from(interval.max).div_euclid(tile);
            let cells = &mut self.cells[member.family][k];
            *cells = Some(cells.map_or((first, last), |(a, b)| (a.min(first), b.max(last))));
        }
    }

    /// How a member lies in banks, once every member was covered.
    pub fn tiled(&self, member: Member, machine: &Machine) -> Tiled {
        let cells = self.cells[member.family].map(|c| c.unwrap_or((0, 0)));
        let counts = cells.map(|(first, last)| (last - first + 1) as u32);
        let origin = |k: usize| (cells[k].0 * i64::from(member.tile[k])) as i32;
        Tiled {
            grid: grid_for(machine, counts, self.founders[member.family]),
            tile: member.tile,
            origin: [origin(0), origin(1)],
            ghost_columns: [0, 0],
            ghost_rows: [0, 0],
            beside: 0,
        }
    }
}

/// The tile for a stage that nobody asks tiles of: wide enough that the borders cost little, small
/// enough that every engine has work, a multiple of what the accesses ask for.
pub fn default_tile(machine: &Machine, region: &[Interval], multiple: [u32; 2]) -> [u32; 2] {
    let extent = |k: usize| region.get(k).map_or(1, |i| i.extent().max(1));
    let mut tile = [16, extent(1).checked_next_power_of_two().unwrap_or(8).min(8)];
    let engines = u64::from(machine.engines()) * u64::from(machine.vaults());
    loop {
        let tiles = u64::from(extent(0).div_ceil(tile[0])) * u64::from(extent(1).div_ceil(tile[1]));
        if tiles >= engines || tile == [LANES as u32, 1] {
            break;
        }
        if tile[1] > 1 && tile[1] * 2 >= tile[0] {
            tile[1] /= 2;
        } else if tile[0] > LANES as u32 {
            tile[0] /= 2;
        } else {
            tile[1] /= 2;
        }
    }
    [tile[0].next_multiple_of(multiple[0]), tile[1].next_multiple_of(multiple[1])]
}
