//! Names as numbers: each text that the source spells is kept once.

use std::collections::HashMap;
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
