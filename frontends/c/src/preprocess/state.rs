//! What the preprocessor knows while it reads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use nbcc_base::{Diagnostics, SourceFile, SourceId, Span};
use nbcc_pipeline::Includes;

use super::token::Token;
use crate::names::{Name, Names, Refused};

/// Levels of conditions and of macros in macros.
pub(super) const MAX_NESTING: usize = 256;

/// After so many errors the rest of the file is not looked at.
pub(super) const MAX_ERRORS: usize = 20;

/// Macros by where they are used.
pub(crate) type Uses = HashMap<Span, Use>;

/// What is known of a macro that is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) name: Name,
    /// Where it is defined.
    pub(crate) definition: Option<Span>,
    /// What stands in it that belongs into a definition of a variable.
    pub(crate) extra: Option<&'static str>,
}

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// Its name where it is defined; `None` for one of the compiler.
    pub(super) span: Option<Span>,
    /// The names of its parameters; `None` where it takes none and no parentheses.
    pub(super) params: Option<Vec<Name>>,
    /// Whether the last parameter takes all further arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Token>,
}

/// Names that the preprocessor looks for.
pub(super) struct Words {
    pub(super) open: Name,
    pub(super) close: Name,
    pub(super) comma: Name,
    /// As they are, and as digraphs.
    pub(super) hash: [Name; 2],
    pub(super) paste: [Name; 2],
    pub(super) defined: Name,
    pub(super) rest: Name,
    pub(super) line: Name,
    pub(super) file: Name,
}

impl Words {
    fn new(names: &mut Names) -> Words {
        Words {
            open: names.intern("("),
            close: names.intern(")"),
            comma: names.intern(","),
            hash: ["#", "%:"].map(|text| names.intern(text)),
            paste: ["##", "%:%:"].map(|text| names.intern(text)),
            defined: names.intern("defined"),
            rest: names.intern("__VA_ARGS__"),
            line: names.intern("__LINE__"),
            file: names.intern("__FILE__"),
        }
    }
}

/// What the preprocessor knows while it reads.
pub(super) struct Preprocessor<'a> {
    pub(super) names: &'a mut Names,
    pub(super) refused: &'a mut Refused,
    pub(super) diagnostics: &'a mut Diagnostics,
    pub(super) includes: Option<&'a dyn Includes>,
    pub(super) macros: HashMap<Name, Macro>,
    /// The macros whose bodies are read.
    pub(super) active: HashSet<Name>,
    pub(super) words: Words,
    pub(super) files: HashMap<SourceId, Arc<SourceFile>>,
    /// The files that are to be read once, by name.
    pub(super) once: HashSet<String>,
    pub(super) uses: Uses,
    pub(super) included: BTreeMap<SourceId, Span>,
    pub(super) out: Vec<Token>,
    pub(super) expanded: usize,
    /// The tokens of arguments that are expanded, each with those around it.
    pub(super) held: usize,
    pub(super) bytes: usize,
    pub(super) depth: usize,
    /// The uses of macros that do not end.
    pub(super) open_uses: usize,
    /// Whether a limit was met, so that there is no reading on.
    pub(super) exhausted: bool,
    /// Whether text is missing without which the rest means nothing.
    pub(super) incomplete: bool,
}

impl<'a> Preprocessor<'a> {
    /// One that has read nothing, and knows no macros.
    pub(super) fn new(
        includes: Option<&'a dyn Includes>,
        names: &'a mut Names,
        refused: &'a mut Refused,
        diagnostics: &'a mut Diagnostics,
    ) -> Preprocessor<'a> {
        Preprocessor {
            words: Words::new(names),
            names,
            refused,
            diagnostics,
            includes,
            macros: HashMap::new(),
            active: HashSet::new(),
            files: HashMap::new(),
            once: HashSet::new(),
            uses: HashMap::new(),
            included: BTreeMap::new(),
            out: Vec::new(),
            expanded: 0,
            held: 0,
            bytes: 0,
            depth: 0,
            open_uses: 0,
            exhausted: false,
            incomplete: false,
        }
    }
}
