//! Source lines of instructions.

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// The index in [`LineTable::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

/// The source line of each instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTable {
    /// The source files.
    pub files: Vec<String>,
    /// One an instruction, `None` where it has no line; empty where nothing is known.
    pub rows: Vec<Option<SourceLine>>,
}

impl LineTable {
    /// The source file and line of an instruction, where they are known.
    pub fn line(&self, instruction: usize) -> Option<(&str, SourceLine)> {
        let place = self.rows.get(instruction).copied().flatten()?;
        Some((self.files.get(place.file as usize)?, place))
    }
}
