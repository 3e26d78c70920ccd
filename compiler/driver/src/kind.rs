//! What a file with a program is: binaries and assembly are known by what stands in them, since
//! tools call files as they like (Compiler Explorer calls every output `output.s`), and by their
//! names only where nothing stands in them.

use std::path::Path;

use crate::files;
use crate::session::Session;

/// A kind of file that `nbcc run` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What `nbcc` and `nbcc as` write.
    Binary,
    /// What `nbcc -S` and `nbcc objdump` write.
    Assembly,
    /// Anything else.
    Source,
}

/// The kind of a file.
pub fn of(session: &mut Session, path: &Path) -> Kind {
    let head = files::head(session, path);
    let first_line = head
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"#"));
    let named = |extension: &str| path.extension().is_some_and(|e| e == extension);
    if head.starts_with(b"\x7fELF") || named("nbx") {
        Kind::Binary
    } else if first_line.is_some_and(|line| line.starts_with(b".isa ")) || named("s") {
        Kind::Assembly
    } else {
        Kind::Source
    }
}
