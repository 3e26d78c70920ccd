//! What the checker of allocations knows: which parts of which values each place holds, with the
//! places of each value beside it, so that a new value costs what holds the old one and not a look
//! at every place.

use std::collections::{BTreeMap, BTreeSet};

use crate::VReg;

/// What a symbol stands for: the value last written to a register, or a constant by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Base {
    Register(VReg),
    Constant(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Plain,
    /// As a register of another class has it, so that decoding gives the value.
    Encoded,
}

pub(super) fn encoded(form: Form) -> Option<Form> {
    (form == Form::Plain).then_some(Form::Encoded)
}

pub(super) fn decoded(form: Form) -> Option<Form> {
    (form == Form::Encoded).then_some(Form::Plain)
}

pub(super) type Symbol = (Base, Form);

/// A part of a value, by its number.
pub(super) type Part = (Symbol, u16);

/// An entry of a file, by its number; a unit of memory; where a constant comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Entry(usize, u16),
    Memory(u32),
    Constant(usize),
}

/// The parts of values that each place is known to hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    held: BTreeMap<Place, BTreeSet<Part>>,
    /// The places that hold a part of a value, and some that did.
    places: BTreeMap<Base, BTreeSet<Place>>,
}

impl PartialEq for Known {
    fn eq(&self, other: &Known) -> bool {
        self.held == other.held
    }
}

impl Known {
    pub(super) fn at(&self, place: Place) -> Option<&BTreeSet<Part>> {
        self.held.get(&place)
    }

    pub(super) fn holds(&self, place: Place, part: Part) -> bool {
        self.at(place).is_some_and(|held| held.contains(&part))
    }

    /// A place holds this as well.
    pub(super) fn add(&mut self, place: Place, part: Part) {
        self.places.entry(part.0.0).or_default().insert(place);
        self.held.entry(place).or_default().insert(part);
    }

    /// A place holds this, and nothing else.
    pub(super) fn insert(&mut self, place: Place, parts: BTreeSet<Part>) {
        for ((base, _), _) in &parts {
            self.places.entry(*base).or_default().insert(place);
        }
        self.held.insert(place, parts);
    }

    /// A register has a new value: nothing holds it yet.
    pub(super) fn forget(&mut self, base: Base) {
        for place in self.places.remove(&base).unwrap_or_default() {
            if let Some(held) = self.held.get_mut(&place) {
                held.retain(|((other, _), _)| *other != base);
            }
        }
    }

    /// Wherever a value is, another is as well, in the form that `change` makes of its form.
    pub(super) fn give_name(
        &mut self,
        from: Base,
        to: Base,
        change: impl Fn(Form) -> Option<Form>,
    ) {
        for place in self.places.get(&from).cloned().unwrap_or_default() {
            let same = |&((base, was), part): &Part| {
                (base == from).then(|| Some(((to, change(was)?), part))).flatten()
            };
            let more: Vec<Part> = self.at(place).into_iter().flatten().filter_map(same).collect();
            for part in more {
                self.add(place, part);
            }
        }
    }

    /// What a place holds of a part, after a change of form.
    pub(super) fn held(
        &self,
        (part, place): (u16, Place),
        form: fn(Form) -> Option<Form>,
    ) -> BTreeSet<Part> {
        let change = |&((base, was), of): &Part| {
            let of_part = !matches!(place, Place::Constant(_)) || of == part;
            of_part.then(|| Some(((base, form(was)?), of))).flatten()
        };
        self.at(place).into_iter().flatten().filter_map(change).collect()
    }

    /// What holds on both paths.
    pub(super) fn meet(&self, other: &Known) -> Known {
        let mut both = Known::default();
        for (&place, held) in &self.held {
            let common = other.at(place).map(|others| held & others).unwrap_or_default();
            if !common.is_empty() {
                both.insert(place, common);
            }
        }
        both
    }
}
