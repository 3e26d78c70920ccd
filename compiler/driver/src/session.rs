//! One run of the command: its source files, and the diagnostics that wait to be shown.

use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceMap};

use crate::cli::MessageFormat;
use crate::{console, render};

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
    format: MessageFormat,
}

impl Session {
    /// A session without files.
    pub fn new(format: MessageFormat) -> Session {
        Session { sources: SourceMap::default(), diagnostics: Diagnostics::default(), format }
    }

    /// Reports an error of the input or a file.
    pub fn fail(&mut self, diagnostic: Diagnostic) -> Stop {
        self.diagnostics.push(diagnostic);
        Stop::Failed
    }

    /// Reports an error of the command line.
    pub fn usage(&mut self, diagnostic: Diagnostic) -> Stop {
        self.diagnostics.push(diagnostic);
        Stop::Usage
    }

    /// Shows the diagnostics that wait.
    pub fn flush(&mut self) {
        let waiting = self.diagnostics.take();
        if waiting.is_empty() {
            return;
        }
        let text = match self.format {
            MessageFormat::Human => render::human(&waiting, &self.sources),
            MessageFormat::Json => render::json(&waiting, &self.sources),
        };
        console::error_text(&text);
    }
}
