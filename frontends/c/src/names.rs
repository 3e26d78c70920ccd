//! Names as numbers: each text that the source spells is kept once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(pub(crate) u32);

/// The texts of a compilation.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Arc<str>, Name>,
    texts: Vec<Arc<str>>,
}

impl Names {
    /// The number of a text.
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        if let Some(&name) = self.numbers.get(text) {
            return name;
        }
        let name = Name(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.numbers.insert(text, name);
        name
    }

    /// The text of a number.
    pub(crate) fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

/// What declarations would have declared that were refused: no error says that it is not known.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    names: HashSet<Name>,
    /// Whether text was left out that may have declared anything.
    pub(crate) any: bool,
    /// Whether statements were left out.
    pub(crate) statements: bool,
    /// Headers of which it was said that they are missing.
    pub(crate) headers: HashSet<&'static str>,
}

impl Refused {
    pub(crate) fn add(&mut self, name: Name) {
        self.names.insert(name);
    }

    pub(crate) fn has(&self, name: Name) -> bool {
        self.any || self.names.contains(&name)
    }
}
