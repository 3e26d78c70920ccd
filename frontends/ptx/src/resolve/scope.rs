//! Scopes: which entity a name means at a place.
//!
//! The innermost binding of a name stands in a table indexed by the name's number; entering a block
//! opens a log of what it hides, leaving it puts that back. Ranges of registers (`%r<1000>`) are not
//! written out: a register of one is made when it is first named.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_base::Span;

use crate::ast::ScalarType;
use crate::names::Symbol;
use crate::resolved::{FunctionId, LabelId, RegId, TableId, VariableId};

/// What a name can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    Register(RegId),
    Variable(VariableId),
    Function(FunctionId),
    Table(TableId),
}

/// A name's innermost meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub entity: Entity,
    /// 0 for the module, 1 for parameters and the outermost block of a function.
    pub depth: u32,
    /// Where it is declared.
    pub span: Span,
}

/// A range of registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub depth: u32,
    pub count: u64,
    pub ty: ScalarType,
    pub vector: u8,
    pub span: Span,
}

/// A label that is visible, wherever it stands in its block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelBinding {
    pub label: LabelId,
    pub depth: u32,
    pub span: Span,
}

/// The scopes that are open.
#[derive(Default)]
pub(crate) struct Scopes {
    bindings: SecondaryMap<Symbol, Option<Binding>>,
    labels: SecondaryMap<Symbol, Option<LabelBinding>>,
    families: BTreeMap<Symbol, Vec<Family>>,
    /// Registers such as `%r3` that are declared alone, by depth and stem: the least.
    numbered: BTreeMap<(u32, Symbol), (u64, Span)>,
    /// For each open block below the module what its names meant outside.
    logs: Vec<Log>,
    /// The greatest depth at which a range is declared.
    deepest_family: u32,
}

#[derive(Default)]
struct Log {
    bindings: Vec<(Symbol, Option<Binding>)>,
    labels: Vec<(Symbol, Option<LabelBinding>)>,
    families: Vec<Symbol>,
    numbered: Vec<Symbol>,
    deepest_family: u32,
}

impl Scopes {
    /// How many blocks are open.
    pub fn depth(&self) -> u32 {
        self.logs.len() as u32
    }

    pub fn enter(&mut self) {
        self.logs.push(Log { deepest_family: self.deepest_family, ..Log::default() });
    }

    pub fn leave(&mut self) {
        let depth = self.depth();
        let Some(log) = self.logs.pop() else { return };
        for (name, before) in log.bindings.into_iter().rev() {
            self.bindings[name] = before;
        }
        for (name, before) in log.labels.into_iter().rev() {
            self.labels[name] = before;
        }
        for name in log.families {
            if let Some(list) = self.families.get_mut(&name) {
                list.pop();
            }
        }
        for stem in log.numbered {
            self.numbered.remove(&(depth, stem));
        }
        self.deepest_family = log.deepest_family;
    }

    /// The innermost meaning of a name, ranges of registers aside.
    pub fn get(&self, name: Symbol) -> Option<Binding> {
        self.bindings[name]
    }

    /// Gives a name a meaning in the innermost block.
    pub fn bind(&mut self, name: Symbol, entity: Entity, span: Span) {
        self.bind_at(self.depth(), name, entity, span);
    }

    /// Gives a name a meaning in an outer block, which no inner one may hide yet.
    pub fn bind_at(&mut self, depth: u32, name: Symbol, entity: Entity, span: Span) {
        let before = self.bindings[name].replace(Binding { entity, depth, span });
        if let Some(log) = (depth as usize).checked_sub(1).and_then(|i| self.logs.get_mut(i)) {
            log.bindings.push((name, before));
        }
    }

    pub fn label(&self, name: Symbol) -> Option<LabelBinding> {
        self.labels[name]
    }

    /// Makes a label known in the innermost block.
    pub fn bind_label(&mut self, name: Symbol, label: LabelId, span: Span) {
        let depth = self.depth();
        let before = self.labels[name].replace(LabelBinding { label, depth, span });
        if let Some(log) = self.logs.last_mut() {
            log.labels.push((name, before));
        }
    }

    /// The innermost range whose name is `stem`.
    pub fn family(&self, stem: Symbol) -> Option<Family> {
        self.families.get(&stem)?.last().copied()
    }

    /// The innermost range that has the register of that stem and number.
    pub fn family_of(&self, stem: Symbol, number: u64) -> Option<Family> {
        self.families.get(&stem)?.iter().rev().find(|f| number < f.count).copied()
    }

    /// Whether a range may be declared further in than `depth`.
    pub fn families_below(&self, depth: Option<u32>) -> bool {
        depth.is_none_or(|depth| self.deepest_family > depth)
    }

    pub fn add_family(&mut self, stem: Symbol, family: Family) {
        self.families.entry(stem).or_default().push(family);
        self.deepest_family = self.deepest_family.max(family.depth);
        if let Some(log) = self.logs.last_mut() {
            log.families.push(stem);
        }
    }

    /// Notes that the register with that stem and number is declared alone in the innermost block.
    pub fn declare_number(&mut self, stem: Symbol, number: u64, span: Span) {
        let key = (self.depth(), stem);
        let log = self.logs.last_mut();
        let least = self.numbered.entry(key).or_insert_with(|| {
            if let Some(log) = log {
                log.numbered.push(stem);
            }
            (number, span)
        });
        if number < least.0 {
            *least = (number, span);
        }
    }

    /// The least number with that stem that is declared alone in the innermost block.
    pub fn least_number(&self, stem: Symbol) -> Option<(u64, Span)> {
        self.numbered.get(&(self.depth(), stem)).copied()
    }
}

/// Stem and number of `%r17`. Digits that are too many for a number: `None`.
pub(crate) fn split_number(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    if stem.is_empty() || digits.is_empty() {
        return None;
    }
    Some((stem, digits.parse().ok()?))
}
