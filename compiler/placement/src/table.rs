//! The side table from values to places.

use std::fmt::Display;

use cranelift_entity::SecondaryMap;
use nbcc_ir::Value;

/// What a target calls a place: a register file, a side of the machine, a processing element with
/// a cycle. Its `Display` is what stands behind a value in dumps.
pub trait Place: Copy + Ord + Display {}

impl<P: Copy + Ord + Display> Place for P {}

/// Where values live.
#[derive(Clone, Debug)]
pub struct Placement<P: Clone> {
    places: SecondaryMap<Value, Option<P>>,
}

impl<P: Place> Default for Placement<P> {
    fn default() -> Placement<P> {
        Placement { places: SecondaryMap::new() }
    }
}

impl<P: Place> Placement<P> {
    /// A table without entries.
    pub fn new() -> Placement<P> {
        Placement::default()
    }

    /// Says where a value lives; a former entry is forgotten.
    pub fn set(&mut self, value: Value, place: P) {
        self.places[value] = Some(place);
    }

    /// Where a value lives, if that is decided.
    pub fn get(&self, value: Value) -> Option<P> {
        self.places[value]
    }

    /// Where a value lives. Panics where that is not decided.
    pub fn of(&self, value: Value) -> P {
        self.places[value].unwrap_or_else(|| panic!("{value} has no place"))
    }

    /// What the printer shows behind a value: the table as one of
    /// [`nbcc_ir::PrintOptions::annotations`].
    pub fn annotation(&self) -> impl Fn(Value) -> Option<String> {
        |value| self.get(value).map(|place| place.to_string())
    }
}
