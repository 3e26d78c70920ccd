//! The home of a buffer as the control core sees it: which bank holds an atom, and where. The
//! inverse of how elements go to banks (`isa/ipim/src/layout.rs`), in scalar arithmetic.

use nbcc_ir::{Builder, Effect, Mem, Value};
use nbcc_isa_ipim::layout::Layout;
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};

use super::math::{clamp, div_rem, plus, times};
use crate::intrinsics::{CHIP, REQ, base, call, id};
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

impl Row {
    /// The same row in the bank of another vault.
    pub fn in_vault(self, vault: Value) -> Row {
        Row { vault, ..self }
    }
}

impl<'a> Home<'a> {
    pub fn new(buffer: &'a BufferPlan, mem: Mem) -> Home<'a> {
        let (origin, atoms) = buffer.atoms();
        Home { buffer, mem, origin, atoms: (atoms.min.into(), atoms.max.into()) }
    }

    /// The coordinate of the first element of atom 0.
    pub fn origin(&self) -> i64 {
        self.origin
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

    /// Engines of a group, which have its tiles in turn.
    pub fn engines(&self) -> u32 {
        match &self.buffer.layout {
            Layout::Tiled(tiled) => tiled.grid.engines,
            _ => 1,
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
            Layout::Single { .. } | Layout::Replicated => {
                // Of a copy that all banks have, that of the first one of the own cube.
                let (chip, vault, pg) = match buffer.layout {
                    Layout::Single { cube, vault, pg, .. } => (b.i32(cube as i32), vault, pg),
                    _ => (id(b, CHIP), 0, 0),
                };
                let rows = times(b, plane, span.extent().into());
                let row = plus(b, y, -i64::from(span.min));
                let row = b.iadd(rows, row);
                let offset = times(b, row, self.row_bytes().into());
                let base = base(b, self.mem);
                Row {
                    chip,
                    vault: b.i32(vault as i32),
                    pg: b.i32(pg as i32),
                    address: b.iadd(offset, base),
                }
            }
        }
    }

    /// Bytes of a bank from one row to the next of those that lie one behind the other.
    pub fn row_step(&self) -> i64 {
        match &self.buffer.layout {
            Layout::Tiled(tiled) => tiled.row_pitch_bytes().into(),
            _ => self.row_bytes().into(),
        }
    }

    /// Requests an atom of a row into the vault's scratchpad at `to`; instead of one that there is not,
    /// some other.
    pub fn request(&self, b: &mut Builder<'_>, row: &Row, atom: &Affine, to: Value) {
        let (owner, offset) = self.place(b, row, atom);
        owner.request(b, offset, to);
    }

    /// The bank that holds an atom of a row, and the atom's byte offset to its owner's address.
    pub fn place(&self, b: &mut Builder<'_>, row: &Row, atom: &Affine) -> (Owner, Value) {
        let (owner, atom) = match self.buffer.layout {
            Layout::Single { .. } | Layout::Replicated => {
                let pe = if let Layout::Single { pe, .. } = self.buffer.layout { pe } else { 0 };
                let atom = atom.value(b);
                let atom = clamp(b, atom, self.atoms.0, self.atoms.1);
                let Row { chip, vault, pg, address } = *row;
                (Owner { chip, vault, pg, pe: b.i32(pe as i32), address }, atom)
            }
            _ => self.owner(b, row, atom),
        };
        let offset = times(b, atom, ATOM_BYTES.into());
        (owner, offset)
    }

    /// Bytes of a bank from one point of the dimensions beyond x and y to the next.
    pub fn plane_bytes(&self) -> i64 {
        match &self.buffer.layout {
            Layout::Tiled(tiled) => tiled.inner_stride_bytes().into(),
            _ => i64::from(self.buffer.span(1).extent() * self.row_bytes()),
        }
    }

    /// Bytes of a row that lies whole in a bank.
    fn row_bytes(&self) -> u32 {
        self.buffer.span(0).extent().next_multiple_of(LANES as u32) * ELEMENT_BYTES
    }

    /// Requests the atoms of a row of a tile from `first` on, which begins a tile, or those of some
    /// other where there is none, `unroll` of them at once.
    pub fn request_tile(
        &self,
        b: &mut Builder<'_>,
        row: &Row,
        first: &Affine,
        to: Value,
        unroll: u32,
    ) {
        let width = self.tile_atoms().expect("there are tiles");
        let (owner, _) = self.owner(b, row, first);
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

    /// The bank that holds an atom of a row, and the atom's number in its tile.
    fn owner(&self, b: &mut Builder<'_>, row: &Row, atom: &Affine) -> (Owner, Value) {
        let Layout::Tiled(tiled) = &self.buffer.layout else {
            panic!("{} has no tiles", self.buffer.name)
        };
        let grid = &tiled.grid;
        let mut digits = Digits::new(atom.clone(), self.atoms);
        let atom = digits.next(b, tiled.tile[0] / LANES as u32);
        let pe = digits.next(b, grid.engines);
        let strip = digits.next(b, grid.strips);
        let group = digits.next(b, grid.groups[0]);
        let vault = digits.next(b, grid.vaults[0]);
        let cube = digits.rest(b);
        let strips = times(b, strip, tiled.column_stride_bytes().into());
        let owner = Owner {
            chip: b.iadd(row.chip, cube),
            vault: b.iadd(row.vault, vault),
            pg: b.iadd(row.pg, group),
            pe,
            address: b.iadd(row.address, strips),
        };
        (owner, atom)
    }
}

/// A constant and multiples of values.
#[derive(Clone)]
pub(crate) struct Affine {
    pub constant: i64,
    pub terms: Vec<(Value, i64)>,
}

impl Affine {
    /// A multiple of a value.
    pub fn multiple(value: Value, factor: i64) -> Affine {
        Affine { constant: 0, terms: vec![(value, factor)] }
    }

    /// The sum with a constant.
    pub fn plus(&self, constant: i64) -> Affine {
        Affine { constant: self.constant + constant, terms: self.terms.clone() }
    }

    fn value(&self, b: &mut Builder<'_>) -> Value {
        let mut sum = b.i32(0);
        for &(value, factor) in &self.terms {
            let term = times(b, value, factor);
            sum = b.iadd(sum, term);
        }
        plus(b, sum, self.constant)
    }
}

/// The digits of a number in a mixed radix, the lowest first. As long as the radix divides what values
/// are multiplied by, a digit is a constant, whatever the values are: it costs nothing to find, and
/// neighbours share what follows. What is left then is limited to what there is, so that numbers
/// outside have the digits of others.
struct Digits {
    number: Affine,
    /// First and last number, and where there is one the value of what is left.
    range: (i64, i64),
    left: Option<Value>,
}

impl Digits {
    fn new(number: Affine, range: (i64, i64)) -> Digits {
        Digits { number, range, left: None }
    }

    fn next(&mut self, b: &mut Builder<'_>, radix: u32) -> Value {
        let n = i64::from(radix);
        let last = self.range.1;
        self.range = (self.range.0 / n, last / n);
        let Affine { constant, terms } = &mut self.number;
        let is_known = self.left.is_none() && terms.iter().all(|(_, factor)| factor % n == 0);
        if is_known {
            let digit = constant.rem_euclid(n);
            *constant = constant.div_euclid(n);
            terms.iter_mut().for_each(|(_, factor)| *factor /= n);
            return b.i32(digit as i32);
        }
        let left = match self.left {
            Some(left) => left,
            None => {
                let value = self.number.value(b);
                clamp(b, value, self.range.0 * n, last)
            }
        };
        let (quotient, digit) = div_rem(b, left, radix, last as u32);
        self.left = Some(quotient);
        digit
    }

    fn rest(&mut self, b: &mut Builder<'_>) -> Value {
        match self.left {
            Some(left) => left,
            None => {
                let value = self.number.value(b);
                clamp(b, value, self.range.0, self.range.1)
            }
        }
    }
}

/// A bank, and an address in it.
pub(crate) struct Owner {
    chip: Value,
    vault: Value,
    pg: Value,
    pe: Value,
    address: Value,
}

impl Owner {
    /// Requests the atom at a byte offset.
    pub fn request(&self, b: &mut Builder<'_>, offset: Value, to: Value) {
        let address = b.iadd(self.address, offset);
        let args = vec![self.chip, self.vault, self.pg, self.pe, address, to];
        call(b, REQ, Effect::Write, args, vec![], None);
    }
}
