//! Loads that need no memory: a load took their element in the same iteration or one before, and
//! nothing was stored there since, or a store left a known value there (scalar replacement: Callahan,
//! Carr, Kennedy, "Improving register allocation for subscripted variables", PLDI 1990). A load that
//! hands its element on runs in as many iterations before the first as others look back, so that no
//! loop needs a prologue.

use std::collections::BTreeMap;

use nbcc_ir::{Block, Function, Op, Scalar, Value};

use crate::arrays::facts::access::{Access, Distance, Subscript};

/// What a load takes instead of its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// What the access of that number loaded so many iterations before.
    Loaded {
        /// The access.
        leader: usize,
        /// In iterations.
        distance: u32,
    },
    /// What the access of that number stored so many iterations before. In the first of them, what was
    /// there before the loop.
    Stored {
        /// The access.
        store: usize,
        /// In iterations.
        distance: u32,
        /// Whether that is known to be zero; else it is not more than one iteration.
        is_zero: bool,
    },
}

/// Iterations between two loads of an element at most: a value waits that long.
const GAP: i64 = 8;

/// Iterations between the first load of an element and the last one at most: so many more the array
/// runs before the first.
const MAX_DISTANCE: i64 = 64;

/// From how many loads of a value on those count that take what was stored long ago.
const MIN_LOADS: usize = 24;

/// The loads that take values of others, by their numbers. `is_signed` says which extension a narrow
/// load has, `is_always` whether a block runs in each iteration, `is_zero` whether what an access takes in
/// so many iterations is zero unless the loop stores there; at most `most` loads take the value of one.
pub fn reuses(
    func: &Function,
    accesses: &[Access],
    is_signed: impl Fn(Value) -> bool,
    is_always: impl Fn(Block) -> bool,
    is_zero: impl Fn(&Access, u32) -> bool,
    most: usize,
) -> BTreeMap<usize, Reuse> {
    let mut found = BTreeMap::new();
    let kind = |number: usize| {
        let access = &accesses[number];
        let (Op::Load(ty, ..), Subscript::Linear(_)) =
            (&func.insts[access.inst].op, &access.subscript)
        else {
            return None;
        };
        let signed = is_signed(func.insts[access.inst].results[0]);
        (ty.scalar != Scalar::I1).then_some((access.mem, ty.scalar, access.is_high, signed))
    };
    let stored = |load: usize, distance: i64| {
        let is_it = |store: &usize| {
            let access = &accesses[*store];
            access.is_store
                && access.mem == accesses[load].mem
                && is_always(access.block)
                && access.distance_to(&accesses[load]) == Distance::After(distance)
                && (distance > 0 || *store < load)
                && is_unchanged(accesses, *store, load, distance)
        };
        (0..accesses.len()).find(is_it)
    };
    // What stood there before is zero.
    let stored_before = |load: usize| {
        let distance = |store: usize| {
            let (a, b) = (&accesses[store], &accesses[load]);
            let is_store = a.is_store && a.mem == b.mem;
            match is_store.then(|| a.distance_to(b))? {
                Distance::After(distance @ 1..=MAX_DISTANCE) => Some(distance),
                _ => None,
            }
        };
        let mut distances = (0..accesses.len()).filter_map(distance);
        let distance = distances.find(|&distance| is_zero(&accesses[load], distance as u32))?;
        stored(load, distance).map(|store| (store, distance as u32))
    };
    let mut is_done = vec![false; accesses.len()];
    for (load, is_done) in is_done.iter_mut().enumerate() {
        if kind(load).is_some()
            && let Some(store) = stored(load, 0)
        {
            found.insert(load, Reuse::Stored { store, distance: 0, is_zero: false });
            *is_done = true;
        } else if kind(load).is_some()
            && most >= MIN_LOADS
            && let Some((store, distance)) = stored_before(load)
        {
            found.insert(load, Reuse::Stored { store, distance, is_zero: true });
            *is_done = true;
        }
    }
    for first in 0..accesses.len() {
        let Some(of) = kind(first).filter(|_| !is_done[first]) else { continue };
        // Loads of the same elements, by the iterations in which they take that of the first one.
        let mut family: Vec<(i64, usize)> = Vec::new();
        for other in (first..accesses.len()).filter(|&other| kind(other) == Some(of)) {
            let later = accesses[first].distance_to(&accesses[other]);
            if let (Distance::After(later), false) = (later, is_done[other]) {
                is_done[other] = true;
                family.push((later, other));
            }
        }
        family.sort_unstable();
        let mut leader: Option<(i64, usize)> = None;
        let (mut before, mut followers) = (0, 0);
        for (time, number) in family {
            let taken = leader.filter(|&(since, leader)| {
                let distance = time - since;
                followers < most
                    && time - before <= GAP
                    && distance <= MAX_DISTANCE
                    && is_unchanged(accesses, leader, number, distance)
            });
            match taken {
                Some((since, leader)) => {
                    let distance = (time - since) as u32;
                    found.insert(number, Reuse::Loaded { leader, distance });
                    followers += 1;
                }
                None => (leader, followers) = (Some((time, number)), 0),
            }
            before = time;
        }
    }
    let is_leader = |load: usize| {
        let leads =
            |reuse: &Reuse| matches!(reuse, Reuse::Loaded { leader, .. } if *leader == load);
        found.values().any(leads)
    };
    let alone = (0..accesses.len())
        .filter(|&load| kind(load).is_some() && !found.contains_key(&load) && !is_leader(load));
    let before = alone.filter_map(|load| {
        let reuse = |store| Reuse::Stored { store, distance: 1, is_zero: false };
        stored(load, 1).map(|store| (load, reuse(store)))
    });
    let before: Vec<(usize, Reuse)> = before.collect();
    found.extend(before);
    found
}

/// Whether no store changes the element of an access until a load takes it, `distance` iterations
/// later.
fn is_unchanged(accesses: &[Access], from: usize, load: usize, distance: i64) -> bool {
    let stores = accesses.iter().enumerate().filter(|&(number, access)| {
        access.is_store && number != from && access.mem == accesses[from].mem
    });
    stores.into_iter().all(|(number, store)| match accesses[from].distance_to(store) {
        Distance::Never => true,
        Distance::Any | Distance::Always => false,
        Distance::After(later) => {
            let is_behind = (later, number) > (0, from);
            let is_before = (later, number) < (distance, load);
            !(is_behind && is_before)
        }
    })
}
