//! Copies that a group has in its scratchpad while a kernel runs, such as tables that are looked up and
//! weights of a filter: a bank gives whole atoms, a scratchpad any word.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa_ipim::layout::Layout;
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES, Machine};
use nbcc_stages::{Expr, ExprKind};

use super::access::{Spread, spread};
use super::planner::NestShape;
use super::windows::window_bytes;
use super::{BufferId, Plan};

/// Of the room for windows, the part that tables take before windows are laid out.
const RESERVED: u32 = 4;

/// The elements of a table that one look-up pays for: an engine of a group brings an atom to the
/// scratchpad in less time than it takes to find a lane of one in its bank.
const WORTH: u64 = 16;

/// Elements around a table that nothing reads: a vector that has the wanted element in some lane begins
/// before it, or ends behind it.
const MARGIN: u32 = LANES as u32;

/// The copies of a nest that are worth a table, the smallest first, with their bytes.
pub(super) fn candidates(
    plan: &Plan,
    copy_of: &BTreeMap<Expr, BufferId>,
    shape: &NestShape,
) -> Vec<(BufferId, u32)> {
    let (pipeline, vectors) = (&plan.pipeline, vectors(shape));
    let mut looked_up: BTreeMap<BufferId, u64> = BTreeMap::new();
    for (&expr, &id) in copy_of {
        let (ExprKind::Load(_, args) | ExprKind::Call(_, _, args)) = &pipeline.exprs[expr].kind
        else {
            continue;
        };
        let lanes = match spread(pipeline, &plan.forms, args) {
            Spread::Consecutive => 0,
            Spread::Same => 1,
            Spread::Anywhere => LANES as u64,
        };
        *looked_up.entry(id).or_default() += lanes;
    }
    let bytes = |id: BufferId| {
        let buffer = &plan.buffers[id];
        let whole = matches!(buffer.layout, Layout::Replicated) && buffer.excerpt.is_none();
        let words = buffer.words().saturating_add(2 * MARGIN);
        whole.then(|| words.saturating_mul(ELEMENT_BYTES))
    };
    let pays = |(id, lanes): (BufferId, u64)| {
        let words = u64::from(plan.buffers[id].words());
        (words <= lanes.saturating_mul(vectors).saturating_mul(WORTH)).then_some(id)
    };
    let ids: BTreeSet<BufferId> = looked_up.into_iter().filter_map(pays).collect();
    let mut all: Vec<_> = ids.into_iter().filter_map(|id| Some((id, bytes(id)?))).collect();
    all.sort_by_key(|&(id, bytes)| (bytes, id));
    all
}

/// Of these, the first ones, which come before windows.
pub(super) fn reserved<'a>(machine: &Machine, all: &'a [(BufferId, u32)]) -> &'a [(BufferId, u32)] {
    let room = window_bytes(machine) / RESERVED;
    let mut taken = 0u32;
    let fits = |(_, bytes): &&(BufferId, u32)| {
        taken = taken.saturating_add(*bytes);
        taken <= room
    };
    &all[..all.iter().take_while(fits).count()]
}

/// Where tables begin, one before the other from the end of the room for windows on, and where the margin
/// of the last one does. `None` where there is no room.
pub(super) fn lay_out(
    machine: &Machine,
    tables: &[(BufferId, u32)],
) -> Option<(BTreeMap<BufferId, u32>, u32)> {
    let mut end = window_bytes(machine);
    let mut bases = BTreeMap::new();
    for &(id, bytes) in tables {
        end = end.checked_sub(bytes.checked_next_multiple_of(ATOM_BYTES)?)?;
        bases.insert(id, end + MARGIN * ELEMENT_BYTES);
    }
    Some((bases, end))
}

/// Vectors that an engine computes at most, those of each point of a reduction domain.
fn vectors(shape: &NestShape) -> u64 {
    let (tiles, grid) = (&shape.tiles, &shape.tiles.grid);
    let planes = shape.region.iter().skip(2);
    let points = shape.rdom.iter().flat_map(|(_, intervals)| intervals);
    let extents = planes.chain(points).map(|interval| interval.extent());
    let tile = [tiles.tile[0] / LANES as u32, tiles.tile[1]];
    let sizes = tile.into_iter().chain([grid.strips, grid.rows]).chain(extents);
    sizes.map(u64::from).fold(1, u64::saturating_mul)
}
