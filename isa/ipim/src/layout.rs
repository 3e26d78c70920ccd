//! Which bank holds which element of a buffer. Written by the compiler, applied by
//! the host when it copies inputs and outputs, carried by the binary.
//!
//! An image is cut into tiles (grid cells). Neighbouring tiles of a strip go to the
//! engines of one group, strips and rows of tiles fill the region of a group, regions
//! of groups fill a vault, those of vaults a cube, those of cubes the image: Fig. 3 (a)
//! of the iPIM paper. Every element takes one 32-bit word.
//!
//! In a bank, the tiles of a strip column stand on top of each other and form one tall
//! column, `tile` wide and `rows * tile` high. Columns can be surrounded by ghost columns
//! and ghost rows: room for copies of what other banks hold. Buffers that are cut alike may lie
//! *beside* each other, a row of each in turn, so that a row of the bank holds what belongs together.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::{ATOM_BYTES, ELEMENT_BYTES, LANES};

/// What a buffer is to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The host writes it before the program runs: each element to exactly one bank.
    Input,
    /// The host reads it after the program ran.
    Output,
    /// The host writes it before the program runs, to every bank where it is replicated.
    Param,
}

/// The type of a buffer's elements. In banks each takes a 32-bit word: integers
/// sign- or zero-extended, `Bool` 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Element {
    F32,
    I8,
    I16,
    I32,
    U8,
    U16,
    U32,
    Bool,
}

impl Element {
    /// The name in messages and listings.
    pub fn name(self) -> &'static str {
        match self {
            Element::F32 => "f32",
            Element::I8 => "i8",
            Element::I16 => "i16",
            Element::I32 => "i32",
            Element::U8 => "u8",
            Element::U16 => "u16",
            Element::U32 => "u32",
            Element::Bool => "bool",
        }
    }
}

/// A buffer and where it lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// The name in the source.
    pub name: String,
    /// What it is to the host.
    pub role: Role,
    /// The type of its elements.
    pub element: Element,
    /// The least coordinate of each dimension, innermost first.
    pub min: Vec<i32>,
    /// The number of elements of each dimension.
    pub extent: Vec<u32>,
    /// The extents of the whole image, whose coordinates begin with 0, where an input is a part of
    /// one; empty where it is all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part_of: Vec<u32>,
    /// Which dimension stands at each place of the storage; `None` for a place of one element, at
    /// 0, that is no dimension of the image. Empty where they stand in their order. Tiles are of
    /// places 0 and 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Option<u8>>,
    /// The dimensions, in ascending order, along which coordinates are counted from the last of the image, as
    /// `min` is: there the host takes its elements from the last to the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backwards: Vec<u8>,
    /// The bank of each element.
    pub layout: Layout,
    /// The byte address of its storage, the same in every bank that holds some of it.
    pub base: u32,
}

/// How a buffer is spread over banks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum Layout {
    /// Tiles over engines.
    Tiled(Tiled),
    /// All of it in one bank, row-major; rows are padded to a multiple of four elements.
    Single {
        /// The cube.
        cube: u32,
        /// The vault in its cube.
        vault: u32,
        /// The group in its vault.
        pg: u32,
        /// The engine in its group.
        pe: u32,
    },
    /// All of it in every bank, as in `Single`. For parameters.
    Replicated,
}

/// Tiles over engines. Places 0 and 1 of the buffer's storage are tiled; further ones are
/// whole in each bank. A buffer of one dimension has tiles of height 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiled {
    /// How tiles go to engines.
    pub grid: Grid,
    /// Width and height of a tile, in elements of this buffer.
    pub tile: [u32; 2],
    /// Coordinate of the first element of tile (0, 0).
    pub origin: [i32; 2],
    /// Further columns, a tile wide, left and right of a bank's own.
    pub ghost_columns: [u32; 2],
    /// Further rows of elements above and below a bank's own.
    pub ghost_rows: [u32; 2],
    /// Elements between two rows of a column that are of other buffers, which lie beside this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How tiles go to engines. Pairs are columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Cubes; cube id = row * columns + column.
    pub cubes: [u32; 2],
    /// Vaults of a cube; vault id = row * columns + column.
    pub vaults: [u32; 2],
    /// Groups of a vault; group id = row * columns + column.
    pub groups: [u32; 2],
    /// Engines of a group: tiles of a strip, side by side.
    pub engines: u32,
    /// Strips of a group, side by side.
    pub strips: u32,
    /// Rows of tiles of a group.
    pub rows: u32,
}

/// Where an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The cube.
    pub cube: u32,
    /// The vault in its cube.
    pub vault: u32,
    /// The group in its vault.
    pub pg: u32,
    /// The engine in its group.
    pub pe: u32,
    /// The byte address in its bank.
    pub address: u32,
}

/// What is wrong with a layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("buffer `{buffer}`: {message}")]
pub struct LayoutError {
    /// The buffer.
    pub buffer: String,
    /// What is wrong.
    pub message: String,
}

/// More dimensions than this no buffer has.
pub const MAX_DIMENSIONS: usize = 8;
/// No count of a layout exceeds this.
pub const MAX_COUNT: u32 = 1 << 28;
/// No coordinate exceeds this in size, so that the distance of two, and one behind the last, are
/// coordinates too.
const MAX_COORDINATE: u32 = 1 << 30;

impl Grid {
    /// Columns and rows of tiles of the whole grid.
    pub fn tiles(&self) -> [u64; 2] {
        let product = |counts: [u32; 5]| counts.iter().map(|n| u64::from(*n)).product();
        [
            product([self.cubes[0], self.vaults[0], self.groups[0], self.strips, self.engines]),
            product([self.cubes[1], self.vaults[1], self.groups[1], self.rows, 1]),
        ]
    }

    /// The bank of tile (`tx`, `ty`): location with address 0, strip column of the group,
    /// row of tiles of the group.
    fn place(&self, tx: u32, ty: u32) -> (Location, u32, u32) {
        let pe = tx % self.engines;
        let tx = tx / self.engines;
        let strip = tx % self.strips;
        let tx = tx / self.strips;
        let row = ty % self.rows;
        let ty = ty / self.rows;
        let id = |tx: u32, ty: u32, counts: [u32; 2]| ty % counts[1] * counts[0] + tx % counts[0];
        let pg = id(tx, ty, self.groups);
        let (tx, ty) = (tx / self.groups[0], ty / self.groups[1]);
        let vault = id(tx, ty, self.vaults);
        let (tx, ty) = (tx / self.vaults[0], ty / self.vaults[1]);
        let cube = id(tx, ty, self.cubes);
        (Location { cube, vault, pg, pe, address: 0 }, strip, row)
    }
}

impl Tiled {
    /// Elements of a row of a column: the width of a tile, rounded up to whole atoms.
    pub fn width(&self) -> u32 {
        self.tile[0].next_multiple_of(LANES as u32)
    }

    /// Elements from one row of a column to the next.
    pub fn pitch(&self) -> u32 {
        self.width() + self.beside
    }

    /// Rows of a column, ghost rows included.
    pub fn height(&self) -> u32 {
        self.ghost_rows[0] + self.grid.rows * self.tile[1] + self.ghost_rows[1]
    }

    /// Columns of a bank, ghost columns included.
    pub fn columns(&self) -> u32 {
        self.ghost_columns[0] + self.grid.strips + self.ghost_columns[1]
    }

    /// Bytes from one row of a column to the next.
    pub fn row_pitch_bytes(&self) -> u32 {
        self.pitch() * ELEMENT_BYTES
    }

    /// Bytes from one column to the next.
    pub fn column_stride_bytes(&self) -> u32 {
        self.height() * self.row_pitch_bytes()
    }

    /// Bytes of the columns of one inner index, saturating: also of tiles that fit no bank, for
    /// which the functions above overflow.
    pub fn plane_bytes(&self) -> u64 {
        let [width, beside, tile, rows, strips] =
            [self.tile[0], self.beside, self.tile[1], self.grid.rows, self.grid.strips]
                .map(u64::from);
        let with = |inner: u64, ghosts: [u32; 2]| {
            ghosts.iter().fold(inner, |n, ghost| n.saturating_add(u64::from(*ghost)))
        };
        let height = with(rows.saturating_mul(tile), self.ghost_rows);
        (width.next_multiple_of(LANES as u64) + beside)
            .saturating_mul(u64::from(ELEMENT_BYTES))
            .saturating_mul(height)
            .saturating_mul(with(strips, self.ghost_columns))
    }

    /// Bytes from one inner index to the next.
    pub fn inner_stride_bytes(&self) -> u32 {
        self.columns() * self.column_stride_bytes()
    }

    /// Byte offset in the buffer's storage of element `x` of row `row` of column
    /// `column`, for the inner index `inner`. Ghost columns are `-ghost_columns[0]..0`
    /// and `strips..strips + ghost_columns[1]`; ghost rows likewise.
    pub fn offset_bytes(&self, inner: u32, column: i32, row: i32, x: u32) -> i64 {
        let column = i64::from(column) + i64::from(self.ghost_columns[0]);
        let row = i64::from(row) + i64::from(self.ghost_rows[0]);
        i64::from(inner) * i64::from(self.inner_stride_bytes())
            + column * i64::from(self.column_stride_bytes())
            + row * i64::from(self.row_pitch_bytes())
            + i64::from(x * ELEMENT_BYTES)
    }

    /// First coordinate and one past the last that the grid holds, for x and for y.
    pub fn region(&self) -> [[i64; 2]; 2] {
        let tiles = self.grid.tiles();
        [0, 1].map(|d| {
            let start = i64::from(self.origin[d]);
            let elements = tiles[d].saturating_mul(u64::from(self.tile[d]));
            [start, start.saturating_add(i64::try_from(elements).unwrap_or(i64::MAX))]
        })
    }
}

impl Buffer {
    /// The extents of the image that the host takes from it or gives to it, innermost first.
    pub fn image(&self) -> &[u32] {
        if self.part_of.is_empty() { &self.extent } else { &self.part_of }
    }

    /// The coordinates under which it has an element of the image: along dimensions that lie backwards they
    /// are counted from the last.
    pub fn counted(&self, coords: &[i32]) -> Vec<i32> {
        let mut counted = coords.to_vec();
        for dim in self.backwards.iter().map(|&dim| usize::from(dim)) {
            counted[dim] = self.image()[dim] as i32 - 1 - counted[dim];
        }
        counted
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.extent.iter().fold(1_u64, |n, e| n.saturating_mul(u64::from(*e)))
    }

    /// The number of places of the storage.
    fn places(&self) -> usize {
        if self.order.is_empty() { self.extent.len() } else { self.order.len() }
    }

    /// The dimension at place `k` of the storage; `None` where no dimension stands.
    fn dim_at(&self, k: usize) -> Option<usize> {
        match self.order.get(k) {
            Some(dim) => dim.map(usize::from),
            None => (self.order.is_empty() && k < self.extent.len()).then_some(k),
        }
    }

    /// Elements along place `k` of the storage.
    fn stored_extent(&self, k: usize) -> u32 {
        self.dim_at(k).map_or(1, |dim| self.extent[dim])
    }

    /// Elements of the storage over places `from` and up.
    fn count_from(&self, from: usize) -> u64 {
        let extents = (from..self.places()).map(|k| u64::from(self.stored_extent(k)));
        extents.fold(1, u64::saturating_mul)
    }

    /// The number of inner indices: elements of places 2 and up.
    pub fn inner_count(&self) -> u64 {
        self.count_from(2)
    }

    /// Elements from one row to the next where the buffer is whole in a bank.
    fn whole_pitch(&self) -> u64 {
        u64::from(self.stored_extent(0)).next_multiple_of(LANES as u64)
    }

    /// Bytes of storage in each bank that holds some of it.
    pub fn size_bytes(&self) -> u64 {
        match &self.layout {
            Layout::Tiled(tiled) => {
                // Nothing of its own lies behind its last row.
                let behind = u64::from(tiled.beside) * u64::from(ELEMENT_BYTES);
                self.inner_count().saturating_mul(tiled.plane_bytes()).saturating_sub(behind)
            }
            Layout::Single { .. } | Layout::Replicated => {
                let rows = self.count_from(1);
                rows.saturating_mul(self.whole_pitch()).saturating_mul(u64::from(ELEMENT_BYTES))
            }
        }
    }

    /// Where the element at `coords` (innermost first) is; `None` outside of the buffer.
    /// Of a replicated buffer: the copy in the first bank. The buffer must be valid.
    pub fn locate(&self, coords: &[i32]) -> Option<Location> {
        if coords.len() != self.extent.len() {
            return None;
        }
        let mut index = [0_u32; MAX_DIMENSIONS];
        for (d, (coord, (min, extent))) in
            coords.iter().zip(self.min.iter().zip(&self.extent)).enumerate()
        {
            let offset = u32::try_from(i64::from(*coord) - i64::from(*min)).ok()?;
            if offset >= *extent {
                return None;
            }
            index[d] = offset;
        }
        // Row-major over places `from` and up.
        let linear = |from: usize| {
            (from..self.places()).rev().fold(0_u64, |n, k| {
                let at = self.dim_at(k).map_or(0, |dim| index[dim]);
                n * u64::from(self.stored_extent(k)) + u64::from(at)
            })
        };
        let first = self.dim_at(0).map_or(0, |dim| index[dim]);
        match &self.layout {
            Layout::Tiled(tiled) => {
                let from_origin = |k: usize| {
                    let coord = match self.dim_at(k) {
                        Some(dim) => coords[dim],
                        None if k < self.places() => 0,
                        None => tiled.origin[k],
                    };
                    u32::try_from(i64::from(coord) - i64::from(tiled.origin[k])).ok()
                };
                let (x, y) = (from_origin(0)?, from_origin(1)?);
                let (place, strip, row) = tiled.grid.place(x / tiled.tile[0], y / tiled.tile[1]);
                let offset = tiled.offset_bytes(
                    linear(2) as u32,
                    strip as i32,
                    (row * tiled.tile[1] + y % tiled.tile[1]) as i32,
                    x % tiled.tile[0],
                );
                Some(Location { address: self.base + offset as u32, ..place })
            }
            Layout::Single { cube, vault, pg, pe } => {
                let address = self.whole_address(linear(1), first);
                Some(Location { cube: *cube, vault: *vault, pg: *pg, pe: *pe, address })
            }
            Layout::Replicated => {
                let address = self.whole_address(linear(1), first);
                Some(Location { cube: 0, vault: 0, pg: 0, pe: 0, address })
            }
        }
    }

    /// How many elements along the first dimension, from the one at `coords` on, lie one behind the
    /// other in its bank: 1 at least. `coords` must be inside of the buffer, which must be valid.
    pub fn contiguous(&self, coords: &[i32]) -> u32 {
        let (Some(at), Some(0)) = (coords.first(), self.dim_at(0)) else { return 1 };
        let at = i64::from(*at);
        let left = i64::from(self.min[0]) + i64::from(self.extent[0]) - at;
        let left = match &self.layout {
            Layout::Tiled(tiled) => {
                let width = i64::from(tiled.tile[0]);
                left.min(width - (at - i64::from(tiled.origin[0])) % width)
            }
            Layout::Single { .. } | Layout::Replicated => left,
        };
        left as u32
    }

    fn whole_address(&self, row: u64, x: u32) -> u32 {
        let element = row * self.whole_pitch() + u64::from(x);
        self.base + (element * u64::from(ELEMENT_BYTES)) as u32
    }

    /// Checks that every element has a place in a bank of `machine`, so that
    /// [`Buffer::locate`] can be trusted.
    ///
    /// # Errors
    /// What is out of range.
    pub fn validate(&self, machine: &Machine) -> Result<(), LayoutError> {
        let fail = |message: String| Err(LayoutError { buffer: self.name.clone(), message });
        if self.name.is_empty() || self.name.len() > 256 || self.name.chars().any(char::is_control)
        {
            return fail("the name must have 1 to 256 printable characters".into());
        }
        if self.min.len() != self.extent.len() || self.extent.len() > MAX_DIMENSIONS {
            return fail(format!(
                "{} minima and {} extents; both must be as many, {MAX_DIMENSIONS} at most",
                self.min.len(),
                self.extent.len()
            ));
        }
        for (d, (min, extent)) in self.min.iter().zip(&self.extent).enumerate() {
            if *extent == 0 || *extent > MAX_COUNT || min.unsigned_abs() > MAX_COORDINATE {
                return fail(format!(
                    "dimension {d} from {min} with extent {extent} is out of range"
                ));
            }
        }
        if !self.part_of.is_empty() {
            let ends =
                self.min.iter().zip(&self.extent).map(|(&min, &n)| i64::from(min) + i64::from(n));
            let inside = self.part_of.iter().zip(ends).all(|(&all, end)| end <= all.into());
            if self.role != Role::Input || self.part_of.len() != self.extent.len() {
                return fail("only an input is a part of an image, of as many dimensions".into());
            }
            if !inside || self.min.iter().any(|&min| min < 0) {
                return fail("it is no part of its image".into());
            }
            if self.part_of.iter().any(|&n| n > MAX_COUNT) {
                return fail("an extent of its image is absurd".into());
            }
        }
        let mut dims: Vec<usize> = self.order.iter().flatten().map(|&d| d.into()).collect();
        dims.sort_unstable();
        if !self.order.is_empty()
            && (!dims.into_iter().eq(0..self.extent.len()) || self.order.len() > MAX_DIMENSIONS + 1)
        {
            return fail("the order of its storage names each dimension once".into());
        }
        let is_dim = |dim: &u8| usize::from(*dim) < self.extent.len();
        let is_list =
            self.backwards.is_sorted_by(|a, b| a < b) && self.backwards.iter().all(is_dim);
        if !is_list || (self.role != Role::Input && !self.backwards.is_empty()) {
            return fail("only of an input dimensions lie backwards, each named once".into());
        }
        let h = &machine.hierarchy;
        match &self.layout {
            Layout::Tiled(tiled) => {
                if self.extent.is_empty() {
                    return fail("a buffer without dimensions cannot be tiled".into());
                }
                self.validate_tiled(tiled, machine)?;
            }
            Layout::Single { cube, vault, pg, pe } => {
                if *cube >= h.cubes || *vault >= h.vaults || *pg >= h.pgs || *pe >= h.pes {
                    return fail(format!("there is no bank {cube}.{vault}.{pg}.{pe}"));
                }
            }
            Layout::Replicated => {
                if self.role == Role::Input {
                    return fail("an input cannot be replicated".into());
                }
            }
        }
        let end = u64::from(self.base).saturating_add(self.size_bytes());
        if !self.base.is_multiple_of(ATOM_BYTES) || end > u64::from(machine.memory.bank_bytes) {
            return fail(format!(
                "{} bytes at {:#x} do not fit a bank of {} bytes",
                self.size_bytes(),
                self.base,
                machine.memory.bank_bytes
            ));
        }
        Ok(())
    }

    fn validate_tiled(&self, tiled: &Tiled, machine: &Machine) -> Result<(), LayoutError> {
        let fail = |message: String| Err(LayoutError { buffer: self.name.clone(), message });
        let grid = &tiled.grid;
        let h = &machine.hierarchy;
        let counts = [grid.cubes, grid.vaults, grid.groups, tiled.tile];
        let mut counts: Vec<u32> = counts.concat();
        counts.extend([grid.engines, grid.strips, grid.rows]);
        if counts.iter().any(|n| *n == 0 || *n > MAX_COUNT) {
            return fail("a count of the grid or of the tile is zero or absurd".into());
        }
        if !tiled.beside.is_multiple_of(LANES as u32) || tiled.beside > MAX_COUNT {
            return fail("what lies beside its rows is no number of atoms, or absurd".into());
        }
        let ghosts = [tiled.ghost_columns, tiled.ghost_rows].concat();
        if ghosts.iter().any(|n| *n > MAX_COUNT)
            || tiled.origin.iter().any(|n| n.unsigned_abs() > MAX_COORDINATE + MAX_COUNT)
        {
            return fail("a ghost zone or an origin is absurd".into());
        }
        for (what, [columns, rows], most) in [
            ("cubes", grid.cubes, h.cubes),
            ("vaults", grid.vaults, h.vaults),
            ("groups", grid.groups, h.pgs),
            ("engines", [grid.engines, 1], h.pes),
        ] {
            if u64::from(columns) * u64::from(rows) > u64::from(most) {
                return fail(format!("{columns} x {rows} {what}, but the machine has {most}"));
            }
        }
        // Afterwards the helpers in 32 bits cannot overflow.
        let bytes = self.size_bytes();
        if bytes > u64::from(machine.memory.bank_bytes) {
            return fail(format!(
                "{bytes} bytes a bank, more than the {} there are",
                machine.memory.bank_bytes
            ));
        }
        let region = tiled.region();
        for (k, [start, end]) in region.into_iter().enumerate().take(self.places()) {
            let dim = self.dim_at(k);
            let (min, extent) = dim.map_or((0, 1), |d| (self.min[d].into(), self.extent[d].into()));
            let (min, extent): (i64, i64) = (min, extent);
            if min < start || min + extent > end {
                return fail(format!(
                    "place {k} has coordinates {min} to {}, but the grid holds {start} to {}",
                    min + extent - 1,
                    end - 1
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
