//! The side table from entities to places.

use std::fmt::Display;

use cranelift_entity::{EntityRef, SecondaryMap};

/// What a target calls a place: a register file, a side of the machine, a processing element with
/// a cycle. Its `Display` is what stands behind an entity in dumps.
pub trait Place: Copy + Ord + Display {}

impl<P: Copy + Ord + Display> Place for P {}

/// How an entity comes to be at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is computed there.
    Computed,
    /// It is moved there from its home.
    Copied,
}

/// Where one entity lives.
#[derive(Clone, Debug)]
struct Entry<P> {
    home: P,
    others: Vec<(P, Origin)>,
}

/// Where entities live: each at its home, where it is computed, and at other places, where it is
/// computed as well or copied to.
#[derive(Clone, Debug)]
pub struct Placement<K: EntityRef, P: Clone> {
    entries: SecondaryMap<K, Option<Entry<P>>>,
}

impl<K: EntityRef, P: Place> Default for Placement<K, P> {
    fn default() -> Placement<K, P> {
        Placement { entries: SecondaryMap::new() }
    }
}

impl<K: EntityRef, P: Place> Placement<K, P> {
    /// A table without entries.
    pub fn new() -> Placement<K, P> {
        Placement::default()
    }

    /// Says where an entity lives; a former entry is forgotten.
    pub fn set(&mut self, entity: K, home: P) {
        self.entries[entity] = Some(Entry { home, others: vec![] });
    }

    /// Says that an entity is at a further place. Panics where it has no home, or is there already.
    pub fn add(&mut self, entity: K, place: P, origin: Origin) {
        assert!(!self.has(entity, place), "{} is at {place} already", entity.index());
        let Some(entry) = &mut self.entries[entity] else {
            panic!("{} has no home", entity.index())
        };
        entry.others.push((place, origin));
    }

    /// Where an entity lives, if that is decided.
    pub fn home(&self, entity: K) -> Option<P> {
        self.entries[entity].as_ref().map(|entry| entry.home)
    }

    /// How an entity comes to be at a place; `None` where it is not there.
    pub fn origin(&self, entity: K, place: P) -> Option<Origin> {
        self.all(entity).find(|&(at, _)| at == place).map(|(_, origin)| origin)
    }

    /// Whether an entity is at a place.
    pub fn has(&self, entity: K, place: P) -> bool {
        self.origin(entity, place).is_some()
    }

    /// Where an entity is and how it comes there, its home first.
    pub fn all(&self, entity: K) -> impl Iterator<Item = (P, Origin)> + '_ {
        let entry = self.entries[entity].as_ref();
        let home = entry.map(|entry| (entry.home, Origin::Computed));
        home.into_iter().chain(entry.into_iter().flat_map(|entry| entry.others.iter().copied()))
    }

    /// Where an entity is, its home first.
    pub fn places(&self, entity: K) -> impl Iterator<Item = P> + '_ {
        self.all(entity).map(|(place, _)| place)
    }

    /// The entities that have a home.
    pub fn entities(&self) -> impl Iterator<Item = K> + '_ {
        self.entries.iter().filter(|(_, entry)| entry.is_some()).map(|(entity, _)| entity)
    }

    /// What the printer shows behind an entity, its places with a `+` between them: the table as
    /// one of the annotations that a printer takes.
    pub fn annotation(&self) -> impl Fn(K) -> Option<String> {
        |entity| {
            let places: Vec<String> = self.places(entity).map(|place| place.to_string()).collect();
            (!places.is_empty()).then(|| places.join("+"))
        }
    }
}
