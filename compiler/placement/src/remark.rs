//! Remarks: what a pass decided, on what terms, and what would flip it.

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
    pub message: String,
    /// The terms of the decision: names and values with their units; those that the message
    /// mentions in its order, before the others.
    pub terms: Vec<(String, String)>,
}
