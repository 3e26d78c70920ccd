//! Which buffers lie beside each other, a row of each in turn: those that are cut alike and of which steps
//! read and write the same points, so that a row of the bank holds what a tile takes of all of them.
//! Where they lie apart, each change between reading one and writing another closes a row and opens
//! another one (iPIM paper, section V-C, orders accesses for that reason).

use std::collections::BTreeSet;

use nbcc_isa_ipim::ELEMENT_BYTES;
use nbcc_isa_ipim::layout::{Grid, Layout};
use nbcc_stages::bounds::{Affine, AffineVar};

use super::{BufferId, Nest, Plan, Read, Step};

/// Fewer rows than these need not be shared: loops in full read and write as many vectors at a time as there
/// are registers for, in as few changes of rows.
const MANY_ROWS: u64 = 8;

/// Buffers that lie beside each other, at least two in each group: each buffer with the number of
/// elements of the others that stand before it in a row of all. `row` are the bytes of a row of banks.
pub fn groups(plan: &Plan, row: u32) -> Vec<Vec<(BufferId, u32)>> {
    let uses: Vec<Vec<BufferId>> =
        plan.steps.iter().map(|step| used_alike(plan, step, row)).collect();
    let mut groups: Vec<BTreeSet<BufferId>> = Vec::new();
    for used in &uses {
        let Some((&target, others)) = used.split_first() else { continue };
        for &other in others {
            let of = |id: BufferId| {
                groups
                    .iter()
                    .find(|group| group.contains(&id))
                    .cloned()
                    .unwrap_or_else(|| [id].into())
            };
            let both = &of(target) | &of(other);
            if pays(plan, &both, &uses, row) {
                groups.retain(|group| group.is_disjoint(&both));
                groups.push(both);
            }
        }
    }
    let bytes = |group: &BTreeSet<BufferId>| group.iter().map(|&id| bytes(plan, id)).sum::<u64>();
    groups.retain(|group| group.len() > 1 && bytes(group) >= MANY_ROWS * u64::from(row));
    let placed = |group: BTreeSet<BufferId>| {
        let before = |at: &mut u32, id: BufferId| {
            *at += width(plan, id);
            Some((id, *at - width(plan, id)))
        };
        group.into_iter().scan(0, before).collect()
    };
    groups.into_iter().map(placed).collect()
}

/// Of the buffers that a step over tiles writes and reads, those that are cut as the first that it writes
/// and have a row of a bank at least: what it reads elsewhere, too, is better read alone.
fn used_alike(plan: &Plan, step: &Step, row: u32) -> Vec<BufferId> {
    let Step::Tiles(step) = step else { return vec![] };
    let reads = step.nest.reads.iter();
    let here = reads.filter(|read| is_read_in_place(read, &step.nest)).map(|read| read.buffer);
    let mut used = Vec::new();
    for id in step.targets.iter().copied().chain(here) {
        let first = used.first().copied().unwrap_or(id);
        let alike = cut(plan, id).is_some() && cut(plan, id) == cut(plan, first);
        if alike && bytes(plan, id) >= row.into() && !used.contains(&id) {
            used.push(id);
        }
    }
    used
}

/// Whether a nest reads for each point only what lies there.
fn is_read_in_place(read: &Read, nest: &Nest) -> bool {
    let tile = nest.tiles.tile.map(|n| (0, i64::from(n) - 1));
    let mut planes = read.inner_base.iter().enumerate();
    let own = |(k, base): (usize, &Affine)| *base == Affine::var(AffineVar::Dim(k as u32 + 2));
    read.window.is_none()
        && read.reach == tile
        && read.inner_reach.iter().all(|&reach| reach == (0, 0))
        && planes.all(own)
}

/// How a buffer is cut; `None` where it is not, where its tiles hold parts of another one, or where they
/// have ghost zones: then others read it, too, and find less of it in a row.
fn cut(plan: &Plan, id: BufferId) -> Option<(&Grid, [u32; 2], Vec<u32>)> {
    let buffer = &plan.buffers[id];
    match &buffer.layout {
        Layout::Tiled(tiled)
            if buffer.excerpt.is_none()
                && buffer.patch.is_none()
                && tiled.ghost_columns == [0, 0]
                && tiled.ghost_rows == [0, 0] =>
        {
            Some((&tiled.grid, tiled.tile, buffer.inner_extents()))
        }
        _ => None,
    }
}

fn width(plan: &Plan, id: BufferId) -> u32 {
    plan.buffers[id].tiled().width()
}

fn bytes(plan: &Plan, id: BufferId) -> u64 {
    let planes: u64 = plan.buffers[id].inner_extents().into_iter().map(u64::from).product();
    plan.buffers[id].tiled().plane_bytes().saturating_mul(planes)
}

/// Whether rows of banks hold at least two rows of all, and no step takes less than half of what a row
/// holds.
fn pays(plan: &Plan, group: &BTreeSet<BufferId>, uses: &[Vec<BufferId>], row: u32) -> bool {
    let all: u32 = group.iter().map(|&id| width(plan, id)).sum();
    let taken = |used: &Vec<BufferId>| -> u32 {
        used.iter().filter(|id| group.contains(id)).map(|&id| width(plan, id)).sum()
    };
    all <= row / ELEMENT_BYTES / 2
        && uses.iter().map(taken).all(|taken| taken == 0 || taken * 2 >= all)
}
