//! Remarks: what a pass decided, on what terms, and what would flip it.

use std::fmt;

use nbcc_base::Span;

/// Whether a decision was taken, was not, or only something was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemarkKind {
    /// It was done.
    Passed,
    /// It was not done.
    Missed,
    /// A fact.
    Analysis,
}

/// One remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Done, not done, or a fact.
    pub kind: RemarkKind,
    /// The pass that speaks.
    pub pass: &'static str,
    /// A short name for this sort of remark, in CamelCase.
    pub name: &'static str,
    /// The function or stage it is about.
    pub function: String,
    /// The source it is about.
    pub span: Option<Span>,
    /// The sentence, without a full stop.
    pub message: Message,
    /// Further terms of the decision, which the sentence does not mention.
    pub terms: Vec<Term>,
}

impl Remark {
    /// All terms: those that the sentence mentions in its order, before the others.
    pub fn all_terms(&self) -> impl Iterator<Item = &Term> {
        let mentioned = self.message.pieces().iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Term(term) => Some(term),
        });
        mentioned.chain(&self.terms)
    }
}

/// What a decision rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its name, in CamelCase.
    pub name: &'static str,
    /// Its value, with its unit.
    pub value: String,
}

impl Term {
    /// A term of that name and value.
    pub fn new(name: &'static str, value: impl ToString) -> Term {
        Term { name, value: value.to_string() }
    }
}

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A term, whose value stands in the sentence.
    Term(Term),
}

/// A sentence of words and the values of terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<Piece>);

impl Message {
    /// A sentence that begins with these words.
    pub fn of(words: impl Into<String>) -> Message {
        Message::default().text(words)
    }

    /// A sentence that begins with a value.
    pub fn of_value(name: &'static str, value: impl ToString) -> Message {
        Message::default().value(name, value)
    }

    /// Goes on with words.
    pub fn text(mut self, words: impl Into<String>) -> Message {
        let words = words.into();
        match self.0.last_mut() {
            _ if words.is_empty() => {}
            Some(Piece::Text(before)) => before.push_str(&words),
            _ => self.0.push(Piece::Text(words)),
        }
        self
    }

    /// Goes on with the value of a term.
    pub fn value(mut self, name: &'static str, value: impl ToString) -> Message {
        self.0.push(Piece::Term(Term::new(name, value)));
        self
    }

    /// The parts, in their order; words do not stand beside words.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Text(words) => f.write_str(words),
            Piece::Term(term) => f.write_str(&term.value),
        })
    }
}
