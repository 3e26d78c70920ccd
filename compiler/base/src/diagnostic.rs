//! Diagnostics as data: what is wrong, where, and what to do about it.

use std::panic::Location;

use crate::{CodeInfo, Span};

/// How bad it is. Only an error stops compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; the result is what was asked for.
    Note,
    /// Probably not what was meant.
    Warning,
    /// No result.
    Error,
}

impl Severity {
    /// The word printed before a message.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A span with a text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What it points at.
    pub span: Span,
    /// What is to be said of it.
    pub text: String,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code.
    pub code: &'static CodeInfo,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where. `None` where no text is at fault.
    pub span: Option<Span>,
    /// A file without text to point into (a picture, a binary), where that is at fault.
    pub file: Option<String>,
    /// What the main span is labelled with, then further places.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
    /// The line of the compiler that made it: tests see to it that each such line is reached.
    pub made_at: &'static Location<'static>,
}

impl Diagnostic {
    /// An error without a place.
    #[track_caller]
    pub fn error(code: &'static CodeInfo, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            span: None,
            file: None,
            labels: Vec::new(),
            help: None,
            made_at: Location::caller(),
        }
    }

    /// A warning without a place.
    #[track_caller]
    pub fn warning(code: &'static CodeInfo, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// A note without a place.
    #[track_caller]
    pub fn note(code: &'static CodeInfo, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(code, message) }
    }

    /// Says where, and labels the place.
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.span = Some(span);
        self.labels.insert(0, Label { span, text: label.into() });
        self
    }

    /// Says where, as far as that is known.
    pub fn at_some(self, span: Option<Span>, label: impl Into<String>) -> Diagnostic {
        match span {
            Some(span) => self.at(span, label),
            None => self,
        }
    }

    /// Says in which file that has no text to point into.
    pub fn in_file(mut self, file: impl Into<String>) -> Diagnostic {
        self.file = Some(file.into());
        self
    }

    /// Points at a further place.
    pub fn and(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: label.into() });
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// The error type of a step that has already reported what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("errors were reported")]
pub struct Failed;

/// The diagnostics of a run, in the order they were found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// More errors than this are not collected: the first ones say enough.
    pub const MAX: usize = 100;

    /// Adds one. Past [`Diagnostics::MAX`] it is dropped, unless it would be the first error.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let first_error = diagnostic.severity == Severity::Error && !self.has_errors();
        if self.list.len() < Diagnostics::MAX || first_error {
            self.list.push(diagnostic);
        }
    }

    /// Adds one and fails.
    pub fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T, Failed> {
        self.push(diagnostic);
        Err(Failed)
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// `Err` where any of them is an error.
    pub fn check(&self) -> Result<(), Failed> {
        if self.has_errors() { Err(Failed) } else { Ok(()) }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Takes all of them out.
    pub fn take(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.list)
    }
}
