//! Moves: what a placement copies from one place to another, and how much that is.

use std::collections::BTreeMap;

use cranelift_entity::EntityRef;

use crate::{Origin, Place, Placement};

/// A copy of an entity at another place than its home. All that read it there share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move<K, P> {
    /// What is copied.
    pub entity: K,
    /// Its home.
    pub from: P,
    /// Where it is copied to.
    pub to: P,
}

/// The moves of a placement, in the order of the entities.
pub fn moves<K: EntityRef, P: Place>(
    placement: &Placement<K, P>,
) -> impl Iterator<Item = Move<K, P>> + '_ {
    let of = move |entity| {
        let copies = placement.all(entity).filter(|&(_, origin)| origin == Origin::Copied);
        copies.filter_map(move |(to, _)| {
            let from = placement.home(entity)?;
            Some(Move { entity, from, to })
        })
    };
    placement.entities().flat_map(of)
}

/// How many moves lead from one place to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCount {
    /// Moves in the code.
    pub moves: u64,
    /// Their weights together.
    pub weight: u64,
}

/// Counts moves by their places. `weight` is what a copy of an entity counts: how often the entity
/// is made, by the depth of its loop or by a profile.
pub fn count<K: EntityRef, P: Place>(
    moves: impl IntoIterator<Item = Move<K, P>>,
    weight: impl Fn(K) -> u64,
) -> BTreeMap<(P, P), MoveCount> {
    let mut counts: BTreeMap<(P, P), MoveCount> = BTreeMap::new();
    for Move { entity, from, to } in moves {
        let count = counts.entry((from, to)).or_default();
        count.moves += 1;
        count.weight = count.weight.saturating_add(weight(entity));
    }
    counts
}
