//! Reading and writing the text of one instruction: a cursor over a line, and the
//! traits of fields that are no register.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// What is wrong with a line of assembly, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The bytes of the line that are at fault.
    pub span: Range<usize>,
    /// What to do.
    pub help: Option<String>,
}

impl SyntaxError {
    /// An error at `span`.
    pub fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        SyntaxError { message: message.into(), span, help: None }
    }

    /// Says what to do.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Names of labels, for printing.
pub trait LabelNames {
    /// The name of label `id`; without one it prints as `L` and its number.
    fn label_name(&self, id: u32) -> Option<&str>;
}

/// No label has a name.
impl LabelNames for () {
    fn label_name(&self, _: u32) -> Option<&str> {
        None
    }
}

impl LabelNames for BTreeMap<u32, String> {
    fn label_name(&self, id: u32) -> Option<&str> {
        self.get(&id).map(String::as_str)
    }
}

/// Numbers for the label names that a text mentions, in the order met.
#[derive(Clone, Debug, Default)]
pub struct LabelTable {
    ids: BTreeMap<String, u32>,
    names: Vec<String>,
}

impl LabelTable {
    /// The number of `name`.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.ids.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        id
    }

    /// The names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// A place in a line of assembly.
#[derive(Debug)]
pub struct Cursor<'a> {
    line: &'a str,
    at: usize,
    labels: &'a mut LabelTable,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Whether `name` can be a label in an assembly file.
pub fn is_label_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    name.starts_with(|c: char| word(c) && !c.is_ascii_digit()) && name.chars().all(word)
}

impl<'a> Cursor<'a> {
    /// The start of `line`; label names that it mentions are numbered in `labels`.
    pub fn new(line: &'a str, labels: &'a mut LabelTable) -> Self {
        Cursor { line, at: 0, labels }
    }

    /// The byte offset of the next token.
    pub fn position(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// Moves to a byte offset that [`Cursor::position`] returned.
    pub fn rewind(&mut self, position: usize) {
        self.at = position.min(self.line.len());
    }

    fn skip_space(&mut self) {
        while matches!(self.line.as_bytes().get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Whether nothing but space is left.
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at >= self.line.len()
    }

    /// An error at the next token.
    pub fn error_here(&mut self, message: impl Into<String>) -> SyntaxError {
        let start = self.position();
        let bytes = self.line.as_bytes();
        let mut end = start;
        while bytes.get(end).is_some_and(|b| is_name(*b)) {
            end += 1;
        }
        if end == start && start < bytes.len() {
            end = start + self.line[start..].chars().next().map_or(0, char::len_utf8);
        }
        SyntaxError::new(message, start..end)
    }

    /// What the next token looks like, for messages.
    pub fn found(&mut self) -> String {
        let span = self.error_here("").span;
        if span.is_empty() {
            "the end of the line".into()
        } else {
            format!("`{}`", &self.line[span])
        }
    }

    /// Takes `token` if it comes next.
    pub fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.line[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes `token`, which must come next.
    pub fn expect(&mut self, token: &str) -> Result<(), SyntaxError> {
        if self.eat(token) {
            return Ok(());
        }
        let found = self.found();
        Err(self.error_here(format!("expected `{token}`, found {found}")))
    }

    /// Takes a name: letters, digits, `_` and `$`, not beginning with a digit.
    pub fn name(&mut self) -> Option<&'a str> {
        self.skip_space();
        let bytes = self.line.as_bytes();
        if bytes.get(self.at).is_none_or(|b| !is_name(*b) || b.is_ascii_digit()) {
            return None;
        }
        let start = self.at;
        while bytes.get(self.at).is_some_and(|b| is_name(*b)) {
            self.at += 1;
        }
        Some(&self.line[start..self.at])
    }

    /// Takes a name, which must come next; `what` says what it names.
    pub fn expect_name(&mut self, what: &str) -> Result<&'a str, SyntaxError> {
        if let Some(name) = self.name() {
            return Ok(name);
        }
        let found = self.found();
        Err(self.error_here(format!("expected {what}, found {found}")))
    }

    /// Takes a word of a suffix: letters and digits.
    pub fn expect_suffix(&mut self, what: &str) -> Result<&'a str, SyntaxError> {
        if !self.line[self.at..].starts_with('.') {
            let found = self.found();
            return Err(self.error_here(format!("expected `.` and {what}, found {found}")));
        }
        self.at += 1;
        let start = self.at;
        while self.line.as_bytes().get(self.at).is_some_and(|b| is_name(*b)) {
            self.at += 1;
        }
        Ok(&self.line[start..self.at])
    }

    /// Takes a number: decimal, `0x` or `0b`, with an optional minus sign.
    pub fn number(&mut self) -> Result<i64, SyntaxError> {
        let start = self.position();
        let negative = self.eat("-");
        let digits_at = self.position();
        let bytes = self.line.as_bytes();
        let mut end = digits_at;
        while bytes.get(end).is_some_and(|b| is_name(*b)) {
            end += 1;
        }
        let digits = &self.line[digits_at..end];
        let parsed = if let Some(hex) = digits.strip_prefix("0x") {
            i64::from_str_radix(hex, 16)
        } else if let Some(bits) = digits.strip_prefix("0b") {
            i64::from_str_radix(bits, 2)
        } else {
            digits.parse()
        };
        match parsed {
            Ok(value) => {
                self.at = end;
                Ok(if negative { -value } else { value })
            }
            Err(_) => {
                self.at = start;
                let found = self.found();
                Err(SyntaxError::new(
                    format!("expected a number, found {found}"),
                    start..end.max(start),
                ))
            }
        }
    }

    /// Takes a number between `least` and `most`; `what` names it.
    pub fn number_in(&mut self, what: &str, least: i64, most: i64) -> Result<i64, SyntaxError> {
        let start = self.position();
        let value = self.number()?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(SyntaxError::new(format!("{what} {value} is out of range"), start..self.at)
            .with_help(format!("the field takes {least} to {most}")))
    }

    /// Takes a register of the file whose names begin with `prefix`.
    pub fn register(&mut self, prefix: &str, file: &str) -> Result<u16, SyntaxError> {
        let start = self.position();
        if let Some(name) = self.name() {
            let index = name.strip_prefix(prefix).and_then(|digits| {
                let canonical = digits == "0" || !digits.starts_with('0');
                if canonical && digits.bytes().all(|b| b.is_ascii_digit()) {
                    digits.parse().ok()
                } else {
                    None
                }
            });
            if let Some(index) = index {
                return Ok(index);
            }
        }
        self.at = start;
        let found = self.found();
        Err(self
            .error_here(format!("expected a register of {file}, found {found}"))
            .with_help(format!("registers of {file} are written `{prefix}` and a number")))
    }

    /// Nothing but space must be left.
    pub fn expect_end(&mut self) -> Result<(), SyntaxError> {
        if self.at_end() {
            return Ok(());
        }
        let found = self.found();
        Err(self.error_here(format!("expected the end of the line, found {found}")))
    }

    /// The number of a label's name.
    pub fn label(&mut self, name: &str) -> u32 {
        self.labels.intern(name)
    }
}

/// A field of an instruction that is no register: an immediate, a mask, an operation.
pub trait Field: Sized {
    /// The bits of the encoding; `None` while the value is not known (a label).
    fn to_bits(&self) -> Option<u64>;
    /// The value with these bits; `None` where they have no meaning.
    fn from_bits(bits: u64) -> Option<Self>;
    /// Writes the text.
    fn write(&self, f: &mut dyn fmt::Write, labels: &dyn LabelNames) -> fmt::Result;
    /// Reads the text.
    ///
    /// # Errors
    /// Whatever `write` does not write.
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError>;
}

impl Field for u32 {
    fn to_bits(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
    fn from_bits(bits: u64) -> Option<Self> {
        u32::try_from(bits).ok()
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "{self}")
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        Ok(cursor.number_in("the value", 0, u32::MAX.into())? as u32)
    }
}
