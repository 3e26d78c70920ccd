//! Windows in the scratchpad of a group: which reads need one, and how many rows of a tile can be
//! computed between two fillings.

use nbcc_isa_ipim::layout::Tiled;
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES, Machine};
use num_integer::lcm;

use super::reads::{Ratio, Read, Window};
use super::{Nest, Part, Parts};

/// Bytes at the end of the scratchpad that each engine has for rearranging elements.
pub const SCRATCH_BYTES: u32 = 64;

/// Elements around each row of a window that nothing reads: a vector may begin or end there.
pub const MARGIN: u32 = LANES as u32;

/// The bytes that windows may use: all but the engines' scratch and a row where writes that are
/// not wanted go.
pub fn window_bytes(machine: &Machine) -> u32 {
    machine.memory.pgsm_bytes - least_bytes(machine)
}

/// The bytes of a scratchpad without any window; no program is compiled for fewer.
pub fn least_bytes(machine: &Machine) -> u32 {
    machine.hierarchy.pes * SCRATCH_BYTES + dump_bytes(machine)
}

/// Bytes where writes that are not wanted go.
fn dump_bytes(machine: &Machine) -> u32 {
    machine.hierarchy.pes * 16
}

/// Where writes that are not wanted go: behind the windows, an atom an engine.
pub fn dump_base(machine: &Machine) -> u32 {
    window_bytes(machine)
}

/// Whether a read can do without a window: what it reads lies in the engine's own bank, vector
/// for vector, and is never clamped.
pub fn direct(read: &Read, producer: &Tiled) -> bool {
    !read.patched
        && (read.ratio[0], read.period[0]) == (Ratio::ONE, 1)
        && read.reach[0] == (0, i64::from(producer.tile[0]) - 1)
        && read.limits == [None, None]
}

/// Lays windows out for `block_rows` rows of the tile. `None` where they do not fit.
fn lay_out(
    consumer: &Tiled,
    reads: &[(Read, Tiled)],
    block_rows: u32,
    room: u32,
) -> Option<Vec<Option<Window>>> {
    let room = u64::from(room);
    let mut next = 0u64;
    let mut windows = Vec::new();
    for (read, producer) in reads {
        if direct(read, producer) && read.window.is_none() {
            windows.push(None);
            continue;
        }
        // Any row of a tile may read any row of its box.
        if read.patched && block_rows < consumer.tile[1] {
            return None;
        }
        let (tile, [x, y]) = (producer.tile, read.reach);
        let own_rows = read.ratio[1].of(i64::from(block_rows))?;
        let top = (-y.0).max(0);
        let beyond = (y.1 - (i64::from(tile[1]) - 1)).max(0);
        // A reach may be as far as coordinates go: sizes are counted in 64 bits until they fit.
        let rows = (top + own_rows + beyond) as u64;
        let atoms = |n: i64| (n.max(0) as u64).next_multiple_of(LANES as u64);
        let left = atoms(-x.0);
        let right = atoms(x.1 - (i64::from(tile[0]) - 1));
        let margin = u64::from(MARGIN);
        let own = u64::from(tile[0]) * u64::from(consumer.grid.engines);
        let pitch = margin + left + own + right + margin;
        let inner = read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u64);
        let bytes = inner.fold(pitch.saturating_mul(rows), u64::saturating_mul);
        let end = next.saturating_add(bytes.saturating_mul(ELEMENT_BYTES.into()));
        if end > room {
            return None;
        }
        windows.push(Some(Window {
            base: next as u32,
            pitch: pitch as u32,
            rows: rows as u32,
            left: MARGIN + left as u32,
            right: right as u32,
            top: top as u32,
        }));
        next = end;
    }
    Some(windows)
}

/// Gives every read that needs one a window, and chooses how many rows of the tile are computed
/// between fillings: as many as fit in so many bytes. `None` where not even the fewest fit.
pub fn place_windows(room: u32, consumer: &Tiled, reads: &mut [(Read, Tiled)]) -> Option<u32> {
    let unit = reads.iter().fold(1, |n, (r, _)| lcm(n, r.period[1])) as u32;
    let height = consumer.tile[1];
    let blocks = (1..=height / unit).map(|k| k * unit).rev().filter(|b| height.is_multiple_of(*b));
    for block_rows in blocks {
        if let Some(windows) = lay_out(consumer, reads, block_rows, room) {
            for ((read, _), window) in reads.iter_mut().zip(windows) {
                read.window = window;
            }
            return Some(block_rows);
        }
    }
    None
}

/// The end of the windows of reads.
pub fn windows_end<'a>(reads: impl IntoIterator<Item = &'a Read>) -> u32 {
    let end = reads.into_iter().filter_map(|read| {
        let window = read.window.as_ref()?;
        let planes: u32 = read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u32).product();
        Some(window.base + window.pitch * window.rows * planes * ELEMENT_BYTES)
    });
    end.max().unwrap_or(0)
}

/// Room behind the windows of a nest for the parts of a reduction into `words` elements, where
/// there is enough: an atom an element, else a word where points of a row contribute to different
/// elements.
pub fn parts_in_scratchpad(
    machine: &Machine,
    nest: &Nest,
    words: u32,
    scattered: bool,
) -> Option<Parts> {
    let base = windows_end(&nest.reads).next_multiple_of(ATOM_BYTES);
    let room = window_bytes(machine).checked_sub(base)? / machine.hierarchy.pes;
    // Words are written as atoms that begin with them.
    let sizes = [
        (Part::Atom, words.checked_mul(ATOM_BYTES)?),
        (Part::Word, words * ELEMENT_BYTES + ATOM_BYTES),
    ];
    let fits = |&(part, stride): &(Part, u32)| stride <= room && (part == Part::Atom || scattered);
    sizes.into_iter().find(fits).map(|(part, stride)| Parts::Pgsm { base, stride, part })
}
