//! The check of a placement: what is read somewhere is there, and can have come there.

use std::fmt::Display;

use cranelift_entity::EntityRef;

use crate::{Place, Placement, moves};

/// A read of an entity at a place. A computation reads its operands once for each place at which
/// its result is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read<U, K, P> {
    /// What reads.
    pub by: U,
    /// What is read.
    pub entity: K,
    /// Where.
    pub place: P,
}

/// Checks a placement. `way` says whether something can be copied from one place to another.
///
/// # Errors
/// The first read of what is not there, or the first copy that cannot be made.
pub fn verify<U: Display, K: EntityRef + Display, P: Place>(
    placement: &Placement<K, P>,
    reads: impl IntoIterator<Item = Read<U, K, P>>,
    way: impl Fn(P, P) -> bool,
) -> Result<(), String> {
    for Read { by, entity, place } in reads {
        if !placement.has(entity, place) {
            return Err(format!("{by} reads {entity} in {place}, where it is not"));
        }
    }
    match moves(placement).find(|m| !way(m.from, m.to)) {
        Some(m) => {
            Err(format!("{} is copied from {} to {}: there is no way", m.entity, m.from, m.to))
        }
        None => Ok(()),
    }
}
