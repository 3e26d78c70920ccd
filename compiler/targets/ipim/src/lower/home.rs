//! The home of a buffer as the control core sees it: which bank holds an atom, and where. The
//! inverse of how elements go to banks (`isa/ipim/src/layout.rs`), in scalar arithmetic.

use nbcc_ir::{Builder, Effect, Mem, Value};
use nbcc_isa_ipim::layout::Layout;
use nbcc_isa_ipim::{ATOM_BYTES, LANES};

use super::math::{clamp, div_rem, plus, times};
use crate::intrinsics::{REQ, base, call};
use crate::plan::BufferPlan;

/// A buffer whose atoms are requested. Atoms of a row are counted from the first column that its
/// tiles, or its only copy, begin with.
pub(crate) struct Home<'a> {
    buffer: &'a BufferPlan,
    mem: Mem,
    /// Coordinate of the first element of atom 0.
    origin: i64,
    /// First and last atom of a row that hold elements.
    atoms: (i64, i64),
}

/// What the atoms of a row have in common: parts of the ids, and of the address.
pub(crate) struct Row {
    chip: Value,
    vault: Value,
    pg: Value,
    address: Value,
}

impl<'a> Home<'a> {
    pub fn new(buffer: &'a BufferPlan, mem: Mem) -> Home<'a> {
        let (origin, atoms) = buffer.atoms();
        Home { buffer, mem, origin, atoms: (atoms.min.into(), atoms.max.into()) }
    }

    /// Points of the dimensions beyond x and y.
    pub fn planes(&self) -> u32 {
        self.buffer.inner_extents().iter().product()
    }

    /// The atom that a column is in, and its lane.
    pub fn atom_of(&self, x: i64) -> (i64, i64) {
        let lanes = LANES as i64;
        ((x - self.origin).div_euclid(lanes), (x - self.origin).rem_euclid(lanes))
    }

    /// Atoms of a row of a tile, where there are tiles.
    pub fn tile_atoms(&self) -> Option<u32> {
        match &self.buffer.layout {
            Layout::Tiled(tiled) => Some(tiled.tile[0] / LANES as u32),
            _ => None,
        }
    }

    /// The row at `y`, which must be one of the buffer.
    pub fn row(&self, b: &mut Builder<'_>, plane: Value, y: Value) -> Row {
        let buffer = self.buffer;
        let span = buffer.span(1);
        match &buffer.layout {
            Layout::Tiled(tiled) => {
                let grid = &tiled.grid;
                let mut most = (i64::from(span.max) - i64::from(tiled.origin[1])) as u32;
                let mut value = plus(b, y, -i64::from(tiled.origin[1]));
                let mut digit = |b: &mut Builder<'_>, n: u32| {
                    let (quotient, rest) = div_rem(b, value, n, most);
                    (value, most) = (quotient, most / n);
                    rest
                };
                let height = grid.rows * tiled.tile[1];
                let row = digit(b, height);
                let group = digit(b, grid.groups[1]);
                let vault = digit(b, grid.vaults[1]);
                let cube = value;
                let planes = times(b, plane, tiled.inner_stride_bytes().into());
                let rows = times(b, row, tiled.row_pitch_bytes().into());
                let address = b.iadd(planes, rows);
                let base = base(b, self.mem);
                let base = plus(b, base, tiled.offset_bytes(0, 0, 0, 0));
                Row {
                    chip: times(b, cube, grid.cubes[0].into()),
                    vault: times(b, vault, grid.vaults[0].into()),
                    pg: times(b, group, grid.groups[0].into()),
                    address: b.iadd(address, base),
                }
            }
            Layout::Single { cube, vault, pg, .. } => {
                let rows = times(b, plane, span.extent().into());
                let row = plus(b, y, -i64::from(span.min));
                let row = b.iadd(rows, row);
                let pitch = buffer.span(0).extent().next_multiple_of(LANES as u32);
                let offset = times(b, row, i64::from(pitch * ATOM_BYTES / LANES as u32));
                let base = base(b, self.mem);
                Row {
                    chip: b.i32(*cube as i32),
                    vault: b.i32(*vault as i32),
                    pg: b.i32(*pg as i32),
                    address: b.iadd(offset, base),
                }
            }
            Layout::Replicated => panic!("{} has no home", buffer.name),
        }
    }

    /// Requests an atom of a row, or the nearest one that there is, into the vault's scratchpad at
    /// `to`.
    pub fn request(&self, b: &mut Builder<'_>, row: &Row, atom: Value, to: Value) {
        let atom = clamp(b, atom, self.atoms.0, self.atoms.1);
        let Some(width) = self.tile_atoms() else {
            let Layout::Single { pe, .. } = self.buffer.layout else {
                panic!("{} has no home", self.buffer.name)
            };
            let pe = b.i32(pe as i32);
            let offset = times(b, atom, ATOM_BYTES.into());
            let address = b.iadd(row.address, offset);
            let args = vec![row.chip, row.vault, row.pg, pe, address, to];
            call(b, REQ, Effect::Write, args, vec![], None);
            return;
        };
        let (tile, atom) = div_rem(b, atom, width, self.atoms.1 as u32);
        let owner = self.owner(b, row, tile, self.atoms.1 as u32 / width);
        let offset = times(b, atom, ATOM_BYTES.into());
        owner.request(b, offset, to);
    }

    /// Requests the atoms of a row of a tile, or of the nearest one that there is, `unroll` of them
    /// at once.
    pub fn request_tile(
        &self,
        b: &mut Builder<'_>,
        row: &Row,
        tile: Value,
        to: Value,
        unroll: u32,
    ) {
        let width = self.tile_atoms().expect("there are tiles");
        let [first, last] = [self.atoms.0, self.atoms.1].map(|n| n / i64::from(width));
        let tile = clamp(b, tile, first, last);
        let owner = self.owner(b, row, tile, last as u32);
        let unroll = (1..=unroll.max(1)).rev().find(|n| width.is_multiple_of(*n)).unwrap_or(1);
        b.counted_loop("atoms", width / unroll, |b, turn| {
            let start = times(b, turn, i64::from(unroll * ATOM_BYTES));
            for k in 0..unroll {
                let offset = plus(b, start, i64::from(k * ATOM_BYTES));
                let to = b.iadd(to, offset);
                owner.request(b, offset, to);
            }
        });
    }

    /// The bank that holds a row of a tile, `most` being the last tile.
    fn owner(&self, b: &mut Builder<'_>, row: &Row, tile: Value, mut most: u32) -> Owner {
        let Layout::Tiled(tiled) = &self.buffer.layout else {
            panic!("{} has no tiles", self.buffer.name)
        };
        let grid = &tiled.grid;
        let mut value = tile;
        let mut digit = |b: &mut Builder<'_>, n: u32| {
            let (quotient, rest) = div_rem(b, value, n, most);
            (value, most) = (quotient, most / n);
            rest
        };
        let pe = digit(b, grid.engines);
        let strip = digit(b, grid.strips);
        let group = digit(b, grid.groups[0]);
        let vault = digit(b, grid.vaults[0]);
        let chip = b.iadd(row.chip, value);
        let strips = times(b, strip, tiled.column_stride_bytes().into());
        Owner {
            chip,
            vault: b.iadd(row.vault, vault),
            pg: b.iadd(row.pg, group),
            pe,
            address: b.iadd(row.address, strips),
        }
    }
}

/// A bank, and an address in it.
struct Owner {
    chip: Value,
    vault: Value,
    pg: Value,
    pe: Value,
    address: Value,
}

impl Owner {
    fn request(&self, b: &mut Builder<'_>, offset: Value, to: Value) {
        let address = b.iadd(self.address, offset);
        let args = vec![self.chip, self.vault, self.pg, self.pe, address, to];
        call(b, REQ, Effect::Write, args, vec![], None);
    }
}
