//! Copies that a group has in its scratchpad while a kernel runs, such as tables that are looked up and
//! weights of a filter: a bank gives whole atoms, a scratchpad any word.

use std::collections::BTreeMap;

use nbcc_isa_ipim::layout::Layout;
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES, Machine};
use nbcc_stages::{Expr, ExprKind};

use super::access::{Spread, spread};
use super::planner::NestShape;
use super::slices::{Planes, Slice, planes};
use super::windows::window_bytes;
use super::{BufferId, Plan};

/// A copy in the scratchpad of each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Byte address of its first element.
    pub base: u32,
    /// Its elements.
    pub words: u32,
    /// Which elements of the copy these are, where they are not all.
    pub slice: Option<Slice>,
}

/// A copy that is worth a table.
pub(super) struct Candidate {
    pub id: BufferId,
    /// All its elements.
    pub words: u32,
    /// What of it is needed at a time.
    pub planes: Option<Planes>,
}

/// Of the room for windows, the part that tables take before windows are laid out.
const RESERVED: u32 = 4;

/// The elements of a table that one look-up pays for: an engine of a group brings an atom to the
/// scratchpad in less time than it takes to find a lane of one in its bank.
const WORTH: u64 = 16;

/// Elements around a table that nothing reads: a vector that has the wanted element in some lane begins
/// before it, or ends behind it.
const MARGIN: u32 = LANES as u32;

/// The copies of a nest that are worth a table, the smallest first.
pub(super) fn candidates(
    plan: &Plan,
    copy_of: &BTreeMap<Expr, BufferId>,
    shape: &NestShape,
) -> Vec<Candidate> {
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
    let whole = |id: BufferId| {
        let buffer = &plan.buffers[id];
        matches!(buffer.layout, Layout::Replicated) && buffer.excerpt.is_none()
    };
    let pays = |(id, lanes): (BufferId, u64)| {
        let words = plan.buffers[id].words();
        let most = lanes.saturating_mul(vectors).saturating_mul(WORTH);
        (whole(id) && u64::from(words) <= most).then_some((id, words))
    };
    let mut all: Vec<Candidate> = looked_up
        .into_iter()
        .filter_map(pays)
        .map(|(id, words)| Candidate { id, words, planes: planes(plan, copy_of, shape, id) })
        .collect();
    all.sort_by_key(|candidate| (candidate.words, candidate.id));
    all
}

/// Of the room for windows, the part that tables take before windows are laid out: those of the first
/// candidates whole, and one plane of each other that can be there plane by plane.
pub(super) fn reserved(machine: &Machine, all: &[Candidate]) -> u32 {
    let most = window_bytes(machine) / RESERVED;
    let mut taken = 0u32;
    let mut take = |words: u32| {
        let more = taken.saturating_add(bytes(words));
        if more <= most {
            taken = more;
        }
        more <= most
    };
    let whole = all.iter().take_while(|candidate| take(candidate.words)).count();
    for planes in all[whole..].iter().filter_map(|candidate| candidate.planes.as_ref()) {
        take(planes.slice(1).words);
    }
    taken
}

/// The tables for which there is room behind `begin` bytes of windows: as many whole ones as there can be, the
/// first of the candidates, then slices of others, of as many planes as fit.
pub(super) fn lay_out(
    machine: &Machine,
    all: &[Candidate],
    begin: u32,
) -> BTreeMap<BufferId, Table> {
    let mut end = window_bytes(machine);
    let mut tables = BTreeMap::new();
    let mut fits = |words: u32| {
        let base = end.checked_sub(bytes(words)).filter(|&base| begin <= base)?;
        end = base;
        Some(base + MARGIN * ELEMENT_BYTES)
    };
    let mut others = all.iter();
    let mut next = others.next();
    while let Some(candidate) = next
        && let Some(base) = fits(candidate.words)
    {
        tables.insert(candidate.id, Table { base, words: candidate.words, slice: None });
        next = others.next();
    }
    // Loops are cut in one way for all tables.
    let mut cut: Option<(usize, u32)> = None;
    for candidate in next.into_iter().chain(others) {
        let Some(planes) = &candidate.planes else { continue };
        let counts = match cut {
            Some((dim, count)) if dim == planes.dim => vec![count],
            Some(_) => continue,
            None => planes.counts(),
        };
        let slice = counts.into_iter().find_map(|count| {
            let slice = planes.slice(count);
            Some((fits(slice.words)?, slice))
        });
        if let Some((base, slice)) = slice {
            cut = Some((slice.dim, slice.planes));
            tables.insert(candidate.id, Table { base, words: slice.words, slice: Some(slice) });
        }
    }
    tables
}

/// Bytes of a table with its margins.
fn bytes(words: u32) -> u32 {
    let all = words.saturating_add(2 * MARGIN).saturating_mul(ELEMENT_BYTES);
    all.checked_next_multiple_of(ATOM_BYTES).unwrap_or(u32::MAX)
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
