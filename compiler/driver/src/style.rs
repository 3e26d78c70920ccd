//! How text looks on a terminal: `{BOLD}` before it and `{BOLD:#}` behind. [`crate::console`] drops
//! the codes where they are not wanted.

use anstyle::{AnsiColor, Style};

/// A heading, or what a table is about.
pub const BOLD: Style = Style::new().bold();
/// What may be passed over.
pub const DIM: Style = Style::new().dimmed();
/// Errors, and what went away.
pub const RED: Style = AnsiColor::Red.on_default();
/// What came, or was done.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// Warnings, and what was not done.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
/// Notes and facts.
pub const CYAN: Style = AnsiColor::Cyan.on_default();
