//! Reads the patterns of the table into data, and matches opcodes with modifiers against them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::table::{CLASSES, ROWS, Row, UNSUPPORTED};
use super::{Modifier, ModifierSet, Role};
use crate::ast::ScalarType;

/// A word of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A type.
    Type(ScalarType),
    /// Another modifier.
    Modifier(Modifier),
}

/// One of several words, or perhaps none.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Whether it may be missing.
    pub optional: bool,
    /// Whether it stands right behind the opcode and other such slots.
    pub fixed: bool,
    /// Whether its words are types.
    pub types: bool,
    /// The words.
    pub words: Vec<Word>,
}

/// A type in a pattern of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// The type of that number among the modifiers.
    Number(u8),
    /// Twice as wide.
    Wide(u8),
    /// This one.
    Fixed(ScalarType),
}

/// What an operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A value of a type.
    Value(TypeRef),
    /// A result of a type.
    Result(TypeRef),
    /// A result of a type, and perhaps a predicate.
    ResultAndMaybePredicate(TypeRef),
    /// A result of a type, and a predicate.
    ResultAndPredicate(TypeRef),
    /// A predicate as a source.
    Predicate,
    /// A predicate as a result.
    PredicateResult,
    /// One predicate or two as results.
    PredicateResults,
    /// A memory operand.
    Address,
    /// A generic address as a value: any integer register of 32 or 64 bits.
    Pointer,
    /// The registers of a lane that hold a matrix: this one, or the one that a modifier names.
    Fragment(Option<Role>),
    /// The same as a result.
    FragmentResult(Option<Role>),
    /// A number.
    Constant,
    /// Whatever: it is checked where its meaning is known.
    Any,
}

/// An operand of a form.
#[derive(Clone, Copy, Debug)]
pub struct OperandPattern {
    /// What it may be.
    pub kind: OperandKind,
    /// Whether it may be missing.
    pub optional: bool,
    /// Whether registers may be wider than the type.
    pub relaxed: bool,
    /// Whether it has as many elements as `.v2` and the like say.
    pub vector: bool,
    /// Whether special registers and addresses are allowed.
    pub special: bool,
    /// Whether the result may be discarded.
    pub sink: bool,
    /// Whether numbers are not allowed.
    pub register: bool,
}

impl OperandPattern {
    /// Whether it is written.
    pub fn is_result(&self) -> bool {
        use OperandKind::*;
        matches!(
            self.kind,
            Result(_)
                | ResultAndMaybePredicate(_)
                | ResultAndPredicate(_)
                | PredicateResult
                | PredicateResults
                | FragmentResult(_)
        )
    }
}

/// A row, read.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The row.
    pub row: Row,
    /// The opcode.
    pub opcode: &'static str,
    /// The modifiers.
    pub slots: Vec<Slot>,
    /// The operands.
    pub operands: Vec<OperandPattern>,
    /// Whether operands are checked elsewhere altogether.
    pub any_operands: bool,
}

/// A match of opcode and modifiers with a row.
#[derive(Clone, Copy, Debug)]
pub struct Matched {
    /// The row.
    pub pattern: &'static Pattern,
    /// The types, in order; `B32` behind the last.
    pub types: [ScalarType; 3],
    /// The other modifiers.
    pub modifiers: ModifierSet,
}

/// Why nothing matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// There is no such opcode.
    Opcode,
    /// No form of the opcode has that modifier, by index.
    Unknown(usize),
    /// The modifier of that index does not go with the others.
    Unexpected(usize),
    /// One of these words is missing.
    Missing(Vec<&'static str>),
    /// The instruction exists, but is not supported.
    Unsupported,
}

struct Table {
    patterns: Vec<Pattern>,
    by_opcode: HashMap<&'static str, std::ops::Range<usize>>,
    words: HashMap<&'static str, Word>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (name, ty) in ScalarType::ALL {
        words.insert(name, Word::Type(ty));
    }
    for &modifier in Modifier::ALL {
        words.insert(modifier.word(), Word::Modifier(modifier));
    }
    let patterns: Vec<Pattern> = ROWS.iter().map(|row| read_row(row, &words)).collect();
    let mut by_opcode: HashMap<&'static str, std::ops::Range<usize>> = HashMap::new();
    for (number, pattern) in patterns.iter().enumerate() {
        by_opcode.entry(pattern.opcode).or_insert(number..number).end = number + 1;
    }
    Table { patterns, by_opcode, words }
});

/// Every row, read.
pub fn patterns() -> &'static [Pattern] {
    &TABLE.patterns
}

/// The word of a modifier, if any instruction has it.
pub fn word(text: &str) -> Option<Word> {
    TABLE.words.get(text).copied()
}

fn read_row(row: &Row, words: &HashMap<&'static str, Word>) -> Pattern {
    let mut parts = row.pattern.split(' ');
    let opcode = parts.next().expect("an opcode");
    let slots = parts.map(|part| read_slot(part, words)).collect();
    let any_operands = row.operands == "%";
    let operands = match row.operands {
        "" | "%" => Vec::new(),
        text => text.split(' ').map(read_operand).collect(),
    };
    Pattern { row: *row, opcode, slots, operands, any_operands }
}

fn read_slot(part: &'static str, words: &HashMap<&'static str, Word>) -> Slot {
    let (optional, rest) = match part.strip_prefix('?') {
        Some(rest) => (true, rest),
        None => (false, part),
    };
    let (fixed, rest) = match rest.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let rest = rest.strip_prefix('.').expect("a dot before modifiers");
    let mut list = Vec::new();
    for name in rest.split('|') {
        match name.strip_prefix('$') {
            Some(class) => {
                let found = CLASSES.iter().find(|(n, _)| *n == class);
                let (_, members) = found.unwrap_or_else(|| panic!("class {class}"));
                list.extend(members.split('|'));
            }
            None => list.push(name),
        }
    }
    let words: Vec<Word> =
        list.iter().map(|w| *words.get(w).unwrap_or_else(|| panic!("word {w}"))).collect();
    let types = words.iter().all(|w| matches!(w, Word::Type(_)));
    Slot { optional, fixed, types, words }
}

fn read_operand(text: &'static str) -> OperandPattern {
    use OperandKind::*;
    let mut pattern = OperandPattern {
        kind: Any,
        optional: false,
        relaxed: false,
        vector: false,
        special: false,
        sink: false,
        register: false,
    };
    let text = match text.strip_prefix('?') {
        Some(rest) => {
            pattern.optional = true;
            rest
        }
        None => text,
    };
    let (result, text) = match text.strip_prefix('=') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    pattern.kind = match text {
        "[]" => Address,
        "#" => Constant,
        "%" => Any,
        "a" => Pointer,
        "p" if result => PredicateResult,
        "p|p" if result => PredicateResults,
        "p" => Predicate,
        "A" => Fragment(Some(Role::A)),
        "B" => Fragment(Some(Role::B)),
        "C" => Fragment(Some(Role::C)),
        "D" if result => FragmentResult(Some(Role::D)),
        "M" if result => FragmentResult(None),
        "M" => Fragment(None),
        _ => {
            let (base, behind) = match text.split_once(['|', '+']) {
                Some((base, _)) if text.contains('|') => (base, '|'),
                Some((base, _)) => (base, '+'),
                None => (text, ' '),
            };
            let name = base.trim_end_matches(['~', '*', '!', '_', '&']);
            for flag in base[name.len()..].chars() {
                match flag {
                    '~' => pattern.relaxed = true,
                    '*' => pattern.vector = true,
                    '!' => pattern.special = true,
                    '&' => pattern.register = true,
                    _ => pattern.sink = true,
                }
            }
            let ty = read_type(name);
            match (result, behind) {
                (false, _) => Value(ty),
                (true, '|') => ResultAndMaybePredicate(ty),
                (true, '+') => ResultAndPredicate(ty),
                (true, _) => Result(ty),
            }
        }
    };
    pattern
}

fn read_type(name: &str) -> TypeRef {
    match name {
        "0" => TypeRef::Number(0),
        "1" => TypeRef::Number(1),
        "2" => TypeRef::Number(2),
        "w0" => TypeRef::Wide(0),
        _ => TypeRef::Fixed(ScalarType::parse(name).unwrap_or_else(|| panic!("type {name}"))),
    }
}

/// The row that an opcode with these modifiers matches. The time is bounded by the rows of the
/// opcode times the modifiers.
pub fn find(opcode: &str, modifiers: &[&str]) -> Result<Matched, Mismatch> {
    let table = &*TABLE;
    if UNSUPPORTED.contains(&opcode) {
        return Err(Mismatch::Unsupported);
    }
    let Some(rows) = table.by_opcode.get(opcode) else { return Err(Mismatch::Opcode) };
    let rows = &table.patterns[rows.clone()];
    let mut words = Vec::with_capacity(modifiers.len().min(16));
    for (number, modifier) in modifiers.iter().enumerate() {
        match table.words.get(modifier) {
            Some(&word) => words.push(word),
            None if is_open(rows, &words) => return Err(Mismatch::Unsupported),
            None => return Err(Mismatch::Unknown(number)),
        }
    }
    let mut best = (0, Mismatch::Unexpected(0));
    for pattern in rows {
        match match_row(pattern, &words) {
            Ok(matched) => return Ok(matched),
            Err((score, mismatch)) => {
                if score > best.0 || (score == best.0 && best.1 == Mismatch::Unexpected(0)) {
                    best = (score, mismatch);
                }
            }
        }
    }
    if let Mismatch::Unexpected(number) = best.1 {
        let known = rows.iter().flat_map(|r| &r.slots).any(|s| s.words.contains(&words[number]));
        if !known {
            return Err(Mismatch::Unknown(number));
        }
    }
    Err(best.1)
}

/// Whether a row that takes any operands and any further modifiers begins like this: families of
/// instructions that are not supported at all (`st.async`, `fence.proxy`).
fn is_open(rows: &[Pattern], words: &[Word]) -> bool {
    rows.iter().any(|pattern| {
        is_family(pattern)
            && pattern
                .slots
                .iter()
                .enumerate()
                .all(|(n, s)| words.get(n).is_some_and(|word| s.words.contains(word)))
    })
}

/// A row such as `st .async`: whatever follows belongs to it.
fn is_family(pattern: &Pattern) -> bool {
    pattern.any_operands
        && pattern.row.meaning == super::Meaning::Unsupported
        && !pattern.slots.iter().any(|s| s.optional || s.types)
}

/// Modifiers that may stand twice.
const REPEATED: &[Modifier] = &[
    Modifier::Approx,
    Modifier::NaN,
    Modifier::Cc,
    Modifier::Relu,
    Modifier::Sat,
    Modifier::Sync,
    Modifier::Uni,
];

fn match_row(pattern: &'static Pattern, words: &[Word]) -> Result<Matched, (usize, Mismatch)> {
    let mut filled = 0u32;
    let mut types = [ScalarType::B32; 3];
    let (mut type_count, mut next_type) = (0, 0);
    let mut set = ModifierSet::default();
    // How many modifiers are matched with fixed slots, and one past the last of these slots.
    let mut fixed = (0, 0);
    for (number, word) in words.iter().enumerate() {
        let found = match word {
            Word::Type(ty) => {
                let slots = pattern.slots.iter().enumerate().skip(next_type);
                let slot = slots
                    .filter(|(_, s)| s.types)
                    .find(|(_, s)| !s.optional || s.words.contains(word));
                match slot {
                    Some((at, slot)) if slot.words.contains(word) => {
                        next_type = at + 1;
                        if let Some(place) = types.get_mut(type_count) {
                            *place = *ty;
                        }
                        type_count += 1;
                        Some(at)
                    }
                    _ => type_in_mixed_slot(pattern, filled, word),
                }
            }
            Word::Modifier(modifier) if REPEATED.contains(modifier) && set.has(*modifier) => {
                continue;
            }
            Word::Modifier(modifier) => {
                let at = pattern.slots.iter().enumerate().position(|(n, s)| {
                    filled & (1 << n) == 0
                        && s.words.contains(word)
                        && (!s.fixed || (number == fixed.0 && n >= fixed.1))
                });
                if let Some(at) = at {
                    set.insert(*modifier);
                    if pattern.slots[at].fixed {
                        fixed = (fixed.0 + 1, at + 1);
                    }
                }
                at
            }
        };
        match found {
            Some(at) => filled |= 1 << at,
            None if is_family(pattern)
                && pattern.slots.iter().enumerate().all(|(n, _)| filled & (1 << n) != 0) => {}
            None => return Err((number, Mismatch::Unexpected(number))),
        }
    }
    for (number, slot) in pattern.slots.iter().enumerate() {
        if !slot.optional && filled & (1 << number) == 0 {
            let words = slot.words.iter().map(|w| match w {
                Word::Type(ty) => ty.name(),
                Word::Modifier(modifier) => modifier.word(),
            });
            return Err((words_matched(filled), Mismatch::Missing(words.collect())));
        }
    }
    Ok(Matched { pattern, types, modifiers: set })
}

/// Rows that are not supported have slots in which types and other words are mixed.
fn type_in_mixed_slot(pattern: &Pattern, filled: u32, word: &Word) -> Option<usize> {
    let mut slots = pattern.slots.iter().enumerate();
    slots.position(|(n, s)| !s.types && filled & (1 << n) == 0 && s.words.contains(word))
}

fn words_matched(filled: u32) -> usize {
    filled.count_ones() as usize
}

/// The type that a reference means.
pub fn type_of(types: &[ScalarType; 3], reference: TypeRef) -> ScalarType {
    use ScalarType::*;
    match reference {
        TypeRef::Fixed(ty) => ty,
        TypeRef::Number(n) => types[usize::from(n)],
        TypeRef::Wide(n) => match types[usize::from(n)] {
            U16 => U32,
            S16 => S32,
            U32 => U64,
            S32 => S64,
            other => other,
        },
    }
}
