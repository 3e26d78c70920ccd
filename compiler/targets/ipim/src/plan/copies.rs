//! What copies of an image may take, and which accesses can do with a part of it.

use nbcc_isa_ipim::layout::Layout;
use nbcc_isa_ipim::{ELEMENT_BYTES, LANES, Machine};
use nbcc_stages::{Expr, Pipeline};

use super::access::Access;
use super::evaluate::{Coordinate, tiled_dims};
use super::{BufferPlan, busy};

/// Along which dimensions of the nest a coordinate of an access runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Follows {
    /// Anywhere, or along both.
    Anywhere,
    /// Along neither of the tiled ones.
    Neither,
    /// Along x (0) or y (1).
    Axis(usize),
}

/// Along which dimensions of the nest a coordinate runs.
pub(super) fn follows(pipeline: &Pipeline, index: Expr) -> Follows {
    let Some(coordinate) = Coordinate::new(pipeline, index) else { return Follows::Anywhere };
    match tiled_dims(&coordinate)[..] {
        [] => Follows::Neither,
        [axis] => Follows::Axis(axis),
        _ => Follows::Anywhere,
    }
}

/// Whether the control core has registers enough to find a place on a ring, and the owner of what
/// is there.
pub(super) fn finds_owners(machine: &Machine) -> bool {
    machine.registers.ctrl >= 24
}

/// Whether vaults may do with a part of what an access reads.
pub(super) fn in_parts(pipeline: &Pipeline, machine: &Machine, access: &Access) -> bool {
    let mut along = access.args.iter().take(2).map(|&arg| follows(pipeline, arg));
    finds_owners(machine) && along.any(|along| matches!(along, Follows::Axis(_)))
}

/// Bytes of copies in all banks together: more would take simulators more memory than they have.
const COPIES: u64 = 1 << 30;

/// The most elements of an image that every bank keeps a copy of: a quarter of the bank, and what
/// all copies together may take.
pub(super) fn most_copied(machine: &Machine) -> u64 {
    let banks = u64::from(machine.vaults()) * u64::from(machine.engines());
    let bytes = (COPIES / banks).min(u64::from(machine.memory.bank_bytes) / 4);
    bytes / u64::from(ELEMENT_BYTES)
}

/// Vaults whose banks hold some of a buffer.
pub(crate) fn holders(machine: &Machine, buffer: &BufferPlan) -> u32 {
    match &buffer.layout {
        Layout::Tiled(tiles) => {
            let busy = busy(tiles, &buffer.region, [0, 0]);
            busy[0].saturating_mul(busy[1]).clamp(1, machine.vaults())
        }
        Layout::Replicated => machine.vaults(),
        Layout::Single { .. } => 1,
    }
}

/// Fewer atoms are there before all vaults have met once more.
const BY_CUBES: u32 = 8;

/// Fewer atoms come in few parts, of as many as are requested in straight-line code.
const BY_PARTS: u32 = 128;

/// A vault answers an atom in fewer cycles than so many vaults take to request one each.
const ANSWERED: u32 = 8;

/// How a copy that is whole in all banks gets to all vaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relay {
    /// Each takes it from where it lies.
    Direct,
    /// One vault of each cube does, from which the others of the cube take it.
    ByCubes,
    /// Each vault of a cube takes a part, and the others' from those (scatter and all-gather: van de Geijn).
    ByParts,
}

/// How a copy gets to all vaults: where so few hold it that they would answer for longer than others request,
/// those who have it answer, too.
pub(crate) fn relay(machine: &Machine, from: &BufferPlan, to: &BufferPlan) -> Relay {
    let [cubes, vaults] = [machine.hierarchy.cubes, machine.hierarchy.vaults];
    let holding = holders(machine, from);
    let atoms = to.words() / LANES as u32;
    let whole = to.layout == Layout::Replicated && to.excerpt.is_none();
    let few = cubes > 1 && cubes * vaults > vaults * holding + cubes;
    if whole && atoms >= BY_PARTS && vaults > 1 && cubes * vaults >= ANSWERED * holding {
        Relay::ByParts
    } else if whole && atoms >= BY_CUBES && few {
        Relay::ByCubes
    } else {
        Relay::Direct
    }
}
