//! Runs of atoms of a row, requested into the vault's scratchpad.
//!
//! A request keeps its operands until its data has arrived, so a loop body that requests little
//! waits for each of its registers. Where it is known when compiling how a run lies in the tiles
//! of its home, whole tiles are requested: only one owner has to be found for each.

use nbcc_ir::{Builder, Value};
use nbcc_isa_ipim::ATOM_BYTES;

use super::home::{Affine, Home, Row};
use super::math::{plus, times};

/// How a run of atoms is requested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Atoms requested before the first one that is wanted.
    pub lead: u32,
    /// Atoms requested in all.
    pub atoms: u32,
    unit: Unit,
    /// Units requested in one loop body, and how often.
    together: u32,
    turns: u32,
}

/// What is requested at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Atom,
    /// A row of a tile of so many atoms.
    Tile(u32),
}

impl Run {
    /// A run of `atoms` atoms, whose first atom is a constant and multiples of these numbers.
    /// `unroll` atoms are requested in straight-line code; `most` are what there is room for.
    pub fn new(
        home: &Home<'_>,
        (constant, factors): (i64, &[i64]),
        atoms: u32,
        unroll: u32,
        most: u32,
    ) -> Run {
        if let Some(width) = home.tile_atoms() {
            let whole = i64::from(width);
            let lead = constant.rem_euclid(whole) as u32;
            let tiles = (lead + atoms).div_ceil(width);
            let turns = tiles.div_ceil((unroll / width).max(1));
            let together = tiles.div_ceil(turns);
            let known = factors.iter().all(|factor| factor % whole == 0);
            let fits = |together: u32| {
                let all = u64::from(tiles.next_multiple_of(together)) * u64::from(width);
                all <= u64::from(most) && all <= 2 * u64::from(atoms)
            };
            // The engines that have tiles are known where there is one turn, or as many in each as
            // there are engines.
            let is_small = |tiles: &u32| tiles * width <= 2 * unroll;
            let strips = together.next_multiple_of(home.engines());
            let is_spare = |strips: &u32| {
                4 * tiles.next_multiple_of(*strips) <= 5 * tiles.next_multiple_of(together)
            };
            let strips = Some(strips).filter(is_small).filter(is_spare);
            let choices = [Some(tiles).filter(is_small), strips, Some(together)];
            let choice = choices.into_iter().flatten().find(|together| fits(*together));
            if let Some(together) = choice.filter(|_| known) {
                let turns = tiles.div_ceil(together);
                let atoms = together * turns * width;
                return Run { lead, atoms, unit: Unit::Tile(width), together, turns };
            }
        }
        // Finding the owner of an atom takes a while in itself.
        let unroll = if home.tile_atoms().is_some() { unroll / 4 } else { unroll / 2 };
        let turns = atoms.div_ceil(unroll.max(1));
        let together = atoms.div_ceil(turns);
        if together * turns <= most {
            return Run { lead: 0, atoms: together * turns, unit: Unit::Atom, together, turns };
        }
        Run { lead: 0, atoms, unit: Unit::Atom, together: 1, turns: atoms }
    }

    /// Requests the atoms of a row, from `first` on, into `slot`. Those that there are not are
    /// replaced by others.
    pub fn fetch(
        &self,
        b: &mut Builder<'_>,
        home: &Home<'_>,
        row: &Row,
        first: &Affine,
        slot: Value,
        unroll: u32,
    ) {
        let size = match self.unit {
            Unit::Atom => 1,
            Unit::Tile(width) => width,
        };
        let size = i64::from(size);
        let bytes = size * i64::from(ATOM_BYTES);
        let first = first.plus(-i64::from(self.lead));
        b.counted_loop("request", self.turns, |b, turn| {
            let mut first = first.clone();
            if self.turns > 1 {
                first.terms.push((turn, i64::from(self.together) * size));
            }
            let offset = times(b, turn, i64::from(self.together) * bytes);
            let slot = b.iadd(slot, offset);
            for k in 0..i64::from(self.together) {
                let first = first.plus(k * size);
                let to = plus(b, slot, k * bytes);
                match self.unit {
                    Unit::Atom => home.request(b, row, &first, to),
                    Unit::Tile(width) => home.request_tile(b, row, &first, to, width.min(unroll)),
                }
            }
        });
    }
}
