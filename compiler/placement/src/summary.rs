//! What a remark says of a placement: how much lives where, what is copied and how often, and which
//! reads would have to go for the copy that costs most to go.

use std::collections::BTreeMap;
use std::fmt::Display;

use cranelift_entity::EntityRef;

use crate::{Message, Move, MoveCount, Origin, Place, Placement, Term, count, moves};

/// A placement in figures.
#[derive(Clone, Debug)]
pub struct Summary<K, P> {
    /// Entities with this home.
    pub homes: BTreeMap<P, u64>,
    /// Entities that are computed at more than one place.
    pub several: u64,
    /// What is copied.
    pub moves: BTreeMap<(P, P), MoveCount>,
    /// The copy of most weight, its weight, and the reads that it serves.
    pub heaviest: Option<(Move<K, P>, u64, u64)>,
}

impl<K: EntityRef + Display, P: Place> Summary<K, P> {
    /// The figures of a placement. `weight` as for [`count`]; `served` says how many reads there are
    /// of what a move brings.
    pub fn of(
        placement: &Placement<K, P>,
        weight: impl Fn(K) -> u64,
        served: impl Fn(&Move<K, P>) -> u64,
    ) -> Summary<K, P> {
        let mut homes = BTreeMap::new();
        let mut several = 0;
        for entity in placement.entities() {
            placement
                .home(entity)
                .into_iter()
                .for_each(|home| *homes.entry(home).or_default() += 1);
            let computed = placement.all(entity).filter(|&(_, origin)| origin == Origin::Computed);
            several += u64::from(computed.count() > 1);
        }
        // Of several the first.
        let heaviest = moves(placement).map(|m| (m, weight(m.entity)));
        let heaviest = heaviest.reduce(|a, b| if b.1 > a.1 { b } else { a });
        let heaviest = heaviest.map(|(m, weight)| (m, weight, served(&m)));
        Summary { homes, several, moves: count(moves(placement), weight), heaviest }
    }

    /// The sentence of a remark. `name` is what a place is called.
    pub fn message(&self, name: impl Fn(P) -> &'static str) -> Message {
        let mut message = Message::default();
        for (k, (&place, &values)) in self.homes.iter().enumerate() {
            let live = if k == 0 { " values live in " } else { " in " };
            let between = if k == 0 { "" } else { ", " };
            message = message.text(between).value(name(place), values);
            message = message.text(format!("{live}{}", name(place)));
        }
        if self.homes.is_empty() {
            message = message.text("no value lives anywhere");
        }
        if self.several > 0 {
            message =
                message.text("; ").value("Several", self.several).text(" are computed in several");
        }
        for (&(from, to), count) in &self.moves {
            let text = format!(" are copied from {} to {}", name(from), name(to));
            message = message.text("; ").value("Moves", count.moves).text(text);
        }
        message
    }

    /// What the copies cost, and what would make the one that costs most go.
    pub fn terms(&self, name: impl Fn(P) -> &'static str) -> Vec<Term> {
        let Some((heaviest, weight, reads)) = &self.heaviest else { return vec![] };
        let all = self.moves.values().map(|count| count.weight).fold(0, u64::saturating_add);
        let (from, to) = (name(heaviest.from), name(heaviest.to));
        vec![
            Term::new("EstimatedMoves", all),
            Term::new("MostMoved", format!("{} from {from} to {to}", heaviest.entity)),
            Term::new("EstimatedMovesOfIt", weight),
            Term::new("GoneWithoutReads", reads),
        ]
    }
}
