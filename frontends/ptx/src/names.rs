//! Names as numbers: each distinct text of a file is held once, and equal names compare as equal
//! numbers. The table keeps the order in which names were met, so that nothing depends on hashes.

use std::collections::HashMap;

use cranelift_entity::{EntityRef, entity_impl};

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);
entity_impl!(Symbol, "sym");

/// The names of a file. Their texts are slices of the source (or of this program).
#[derive(Clone, Debug, Default)]
pub struct Names<'a> {
    texts: Vec<&'a str>,
    numbers: HashMap<&'a str, Symbol>,
}

impl<'a> Names<'a> {
    /// The number of a name, which is given one if it has none.
    pub fn intern(&mut self, text: &'a str) -> Symbol {
        let texts = &mut self.texts;
        *self.numbers.entry(text).or_insert_with(|| {
            texts.push(text);
            Symbol::new(texts.len() - 1)
        })
    }

    /// The number of a name, if it has one.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.numbers.get(text).copied()
    }

    /// The text of a name.
    pub fn text(&self, symbol: Symbol) -> &'a str {
        self.texts[symbol.index()]
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
