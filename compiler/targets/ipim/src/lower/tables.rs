//! Tables in the scratchpad of a group: filled before the loops of a kernel, then read at any word.

use nbcc_ir::{Builder, Mem, Op, Type, Value};
use nbcc_isa_ipim::LANES;

use super::gather::numbered;
use super::loops::Loops;
use super::math::{min, plus, times};
use super::planes::with_lane;
use crate::intrinsics::stage;

/// Lanes of a vector.
const WIDTH: u8 = LANES as u8;

/// Atoms that an engine brings in one round.
const TOGETHER: u32 = 4;

/// Brings the tables of a nest to the scratchpads: the engines of a group share the atoms.
pub(crate) fn fill_tables(b: &mut Builder<'_>, loops: &Loops<'_>) {
    for (id, &table) in &loops.tables {
        let atoms = loops.cx.plan.buffers[*id].words() / LANES as u32;
        let engines = loops.nest.tiles.grid.engines;
        let each = atoms.div_ceil(engines);
        let turns = each.div_ceil(TOGETHER);
        let together = each.div_ceil(turns);
        let from = loops.mems[id];
        b.counted_loop("table", turns, |b, turn| {
            let round = times(b, turn, i64::from(together * engines));
            let own = b.iadd(round, loops.position.pe);
            for k in 0..together {
                let atom = plus(b, own, i64::from(k * engines));
                let last = b.i32(atoms as i32 - 1);
                let atom = min(b, atom, last);
                let word = times(b, atom, LANES as i64);
                let zero = b.i32(0);
                let there = numbered(b, from, word);
                stage(b, (from, &there), (table, &[zero, word]), loops.mask);
            }
        });
    }
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
