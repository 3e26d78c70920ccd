//! Tables in the scratchpad of a group: filled before the loops of a kernel, then read at any word.

use nbcc_ir::{Builder, Mem, Op, Type, Value};
use nbcc_isa_ipim::LANES;

use super::gather::numbered;
use super::loops::Loops;
use super::math::{min, plus, times};
use super::planes::with_lane;
use crate::intrinsics::stage;
use crate::plan::Slice;

/// Lanes of a vector.
const WIDTH: u8 = LANES as u8;

/// Atoms that an engine brings in one round.
const TOGETHER: u32 = 4;

/// Brings tables of a nest to the scratchpads, the engines of a group some atoms each: those that are whole, or
/// the slices for some rounds of a loop, of which `slice` is the first.
pub(crate) fn fill_tables(b: &mut Builder<'_>, loops: &Loops<'_>, slice: Option<Value>) {
    let mut tables = loops.nest.tables.iter();
    while let Some((id, table)) = tables.find(|(_, table)| table.slice.is_some() == slice.is_some())
    {
        let atoms = table.words / LANES as u32;
        let engines = loops.nest.tiles.grid.engines;
        let each = atoms.div_ceil(engines);
        let turns = each.div_ceil(TOGETHER);
        let together = each.div_ceil(turns);
        let (from, to) = (loops.mems[id], loops.tables[id]);
        let first = table.slice.as_ref().zip(slice);
        let first = first.map(|(slice, plane)| begin_of(b, slice, plane));
        b.counted_loop("table", turns, |b, turn| {
            let round = times(b, turn, i64::from(together * engines));
            let own = b.iadd(round, loops.position.pe);
            for k in 0..together {
                let atom = plus(b, own, i64::from(k * engines));
                let last = b.i32(atoms as i32 - 1);
                let atom = min(b, atom, last);
                let word = times(b, atom, LANES as i64);
                let zero = b.i32(0);
                let in_copy = first.map_or(word, |first| b.iadd(word, first));
                let there = numbered(b, from, in_copy);
                stage(b, (from, &there), (to, &[zero, word]), loops.mask);
            }
        });
    }
}

/// The number in the copy of the first element of a slice whose first plane is that.
pub(crate) fn begin_of(b: &mut Builder<'_>, slice: &Slice, plane: Value) -> Value {
    let further = times(b, plane, slice.stride.into());
    plus(b, further, slice.first.into())
}

/// Elements of a table by their numbers less `ahead`, one a lane. The first subscript of the table is 0 in
/// its extents.
pub(crate) fn look_up(b: &mut Builder<'_>, table: Mem, index: Value, ahead: i32) -> Value {
    let vector = Type { scalar: b.func.mems[table].element, lanes: WIDTH };
    let dims = b.func.mems[table].extents.len();
    let element = |b: &mut Builder<'_>, lane: u8| {
        // A load that begins `lane` elements before one has it in that lane.
        let before = b.i32(ahead - i32::from(lane));
        let at = b.value(Op::Extract(index, lane));
        let mut place = vec![before, at];
        place.resize_with(dims, || b.i32(0));
        b.load(vector, table, place)
    };
    let first = element(b, 0);
    (1..WIDTH).fold(first, |all, lane| {
        let loaded = element(b, lane);
        with_lane(b, all, loaded, lane)
    })
}
