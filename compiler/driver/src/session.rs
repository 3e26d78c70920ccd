//! One run of the command: its source files, and the diagnostics that wait to be shown.

use std::io;
use std::path::PathBuf;

use nbcc_base::{Diagnostic, Diagnostics, Failed, Severity, SourceMap, Span};

use crate::bounded::{read_to_limit, words};
use crate::claims::Claims;
use crate::cli::MessageFormat;
use crate::staged::Staged;
use crate::{codes, console, render};

/// Why a command ends early. What is wrong has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The input or a file is at fault: exit 1.
    Failed,
    /// The command line is: exit 2.
    Usage,
}

impl From<Failed> for Stop {
    fn from(_: Failed) -> Stop {
        Stop::Failed
    }
}

/// What a command works with.
pub struct Session {
    /// The source files read so far.
    pub sources: SourceMap,
    /// Diagnostics that are not shown yet.
    pub diagnostics: Diagnostics,
    /// The files that the command reads and writes.
    pub claims: Claims,
    /// The outputs that are written and have no names yet, as they are called.
    pub staged: Vec<(PathBuf, Staged)>,
    format: MessageFormat,
    /// Where the name of the file stands that is worked with now.
    named_at: Option<Span>,
    /// What was read from standard input, which can be read once.
    standard_input: Option<Vec<u8>>,
}

impl Session {
    /// A session without files.
    pub fn new(format: MessageFormat) -> Session {
        Session {
            sources: SourceMap::default(),
            diagnostics: Diagnostics::default(),
            claims: Claims::default(),
            staged: Vec::new(),
            format,
            named_at: None,
            standard_input: None,
        }
    }

    /// A session without files that shows diagnostics as this one does.
    pub fn another(&self) -> Session {
        Session::new(self.format)
    }

    /// What standard input holds, however often it is asked for; up to `limit` bytes.
    pub fn standard_input(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        if let Some(bytes) = &self.standard_input {
            return Ok(bytes.clone());
        }
        let bytes = read_to_limit(io::stdin().lock(), 0, limit)?;
        self.standard_input = Some(bytes.clone());
        Ok(bytes)
    }

    /// Reports an error of the input or a file.
    pub fn fail(&mut self, diagnostic: Diagnostic) -> Stop {
        self.report(diagnostic);
        Stop::Failed
    }

    /// Works with a file whose name stands there: what is wrong with the file, in which there is no place to
    /// point at, is reported there.
    pub fn with_name_at<T>(&mut self, span: Span, work: impl FnOnce(&mut Session) -> T) -> T {
        let around = self.named_at.replace(span);
        let done = work(self);
        self.named_at = around;
        done
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(match self.named_at {
            Some(span) if diagnostic.span.is_none() => diagnostic.at(span, "named here"),
            _ => diagnostic,
        });
    }

    /// Reports that something of that name cannot be written.
    pub fn cannot_write(&mut self, name: &str, what: &str) -> Stop {
        let message = format!("cannot write `{name}`: {what}");
        let help = "name a file in a folder that is there and may be written to, or `-` for stdout";
        let error = Diagnostic::error(&codes::CANNOT_WRITE, message).in_file(name.to_string());
        self.fail(error.help(help))
    }

    /// Reports an error of the command line.
    pub fn usage(&mut self, diagnostic: Diagnostic) -> Stop {
        self.report(diagnostic);
        Stop::Usage
    }

    /// Shows the diagnostics that wait: errors first, since what else there is to say matters only
    /// once these are gone.
    pub fn flush(&mut self) {
        let mut waiting = self.diagnostics.take();
        waiting.sort_by_key(|diagnostic| diagnostic.severity != Severity::Error);
        if waiting.is_empty() {
            return;
        }
        let text = match self.format {
            MessageFormat::Human => render::human(&waiting, &self.sources),
            MessageFormat::Json => render::json(&waiting, &self.sources),
            MessageFormat::Short => render::short(&waiting, &self.sources),
        };
        console::error_text(&text);
    }

    /// Shows what waits and ends the command: the exit code, 1 where text could not be written.
    pub fn end(mut self, code: u8) -> u8 {
        self.flush();
        // Saying so may fail in its turn.
        let lost: Vec<_> = std::iter::from_fn(console::lost).collect();
        for (stream, error) in &lost {
            self.cannot_write(stream, &words(error));
        }
        self.flush();
        if lost.is_empty() { code } else { code.max(1) }
    }
}
