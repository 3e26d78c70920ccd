//! What the checker of allocations knows: which parts of which values each place holds. Within a
//! block, the places of each value stand beside it, so that a new value costs what holds the old one
//! and not a look at every place; between blocks they do not, since most of the values that a function
//! ever had are in no place any more.

use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt};

use crate::VReg;

/// What a symbol stands for: the value last written to a register, or a constant by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// Parts of values in ascending order, each once.
pub(super) type Parts = Vec<Part>;

/// The parts of values that each place is known to hold. States share what is the same in them, and
/// what is shared is equal at a glance.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known {
    held: BTreeMap<Place, Rc<Parts>>,
}

impl Known {
    /// What holds on both paths.
    pub(super) fn meet(&self, other: &Known) -> Known {
        let mut both = Known::default();
        for (&place, held) in &self.held {
            let Some(others) = other.held.get(&place) else { continue };
            if held == others {
                both.held.insert(place, held.clone());
                continue;
            }
            let is_common = |part: &&Part| others.binary_search(part).is_ok();
            let common: Parts = held.iter().filter(is_common).copied().collect();
            if !common.is_empty() {
                both.held.insert(place, Rc::new(common));
            }
        }
        both
    }
}

/// What is known on the way through a block.
#[derive(Debug)]
pub(super) struct Walk {
    known: Known,
    /// The places that hold a part of a value, and some that did.
    places: HashMap<Base, Vec<Place>>,
}

impl Walk {
    /// At the begin of a block.
    pub(super) fn new(known: Known) -> Walk {
        let mut places: HashMap<Base, Vec<Place>> = HashMap::new();
        for (&place, parts) in &known.held {
            note(&mut places, place, parts);
        }
        Walk { known, places }
    }

    /// At its end.
    pub(super) fn done(self) -> Known {
        self.known
    }

    pub(super) fn at(&self, place: Place) -> Option<&Parts> {
        self.known.held.get(&place).map(|parts| &**parts)
    }

    pub(super) fn holds(&self, place: Place, part: Part) -> bool {
        self.at(place).is_some_and(|held| held.binary_search(&part).is_ok())
    }

    /// A place holds this as well.
    pub(super) fn add(&mut self, place: Place, part: Part) {
        let held = self.known.held.entry(place).or_default();
        if let Err(at) = held.binary_search(&part) {
            Rc::make_mut(held).insert(at, part);
            note(&mut self.places, place, &[part]);
        }
    }

    /// A place holds this, and nothing else.
    pub(super) fn insert(&mut self, place: Place, parts: Parts) {
        debug_assert!(parts.is_sorted());
        note(&mut self.places, place, &parts);
        self.known.held.insert(place, Rc::new(parts));
    }

    /// A register has a new value: nothing holds it yet.
    pub(super) fn forget(&mut self, base: Base) {
        for place in self.places.remove(&base).unwrap_or_default() {
            let Some(held) = self.known.held.get_mut(&place) else { continue };
            let own = parts_of(held, base);
            if !own.is_empty() {
                Rc::make_mut(held).drain(own);
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
            let Some(held) = self.known.held.get(&place) else { continue };
            let same = |&((_, was), part): &Part| Some(((to, change(was)?), part));
            let more: Parts = held[parts_of(held, from)].iter().filter_map(same).collect();
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
    ) -> Parts {
        let change = |&((base, was), of): &Part| {
            let of_part = !matches!(place, Place::Constant(_)) || of == part;
            of_part.then(|| Some(((base, form(was)?), of))).flatten()
        };
        self.at(place).into_iter().flatten().filter_map(change).collect()
    }
}

/// Notes that a place holds parts.
fn note(places: &mut HashMap<Base, Vec<Place>>, place: Place, parts: &[Part]) {
    for ((base, _), _) in parts {
        let of_base = places.entry(*base).or_default();
        // Parts of a value follow each other.
        if of_base.last() != Some(&place) {
            of_base.push(place);
        }
    }
}

/// Where the parts of a value stand among others.
fn parts_of(parts: &[Part], base: Base) -> std::ops::Range<usize> {
    let start = parts.partition_point(|((other, _), _)| *other < base);
    let end = start + parts[start..].partition_point(|((other, _), _)| *other == base);
    start..end
}
