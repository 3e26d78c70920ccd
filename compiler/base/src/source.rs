//! Source files and positions in them. A span is a byte range of one file.

/// A source file's number in its [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SourceId(pub u32);

/// A half-open byte range of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { source, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest span that covers both. Spans of different files: the first.
    pub fn to(self, other: Span) -> Span {
        if self.source != other.source {
            return self;
        }
        Span {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A position for people: both count from one, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A named text with the starts of its lines.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<u32>,
    /// How many characters begin before each multiple of [`STEP`] bytes, so that a place in a long
    /// line is found without reading the line.
    characters: Vec<u32>,
}

/// The bytes between two places of which the number of characters before them is kept.
const STEP: usize = 256;

/// How many characters begin in these bytes of UTF-8.
fn characters_of(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32
}

impl SourceFile {
    /// A file called `name` that holds `text`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        let characters = text
            .as_bytes()
            .chunks(STEP)
            .scan(0, |before, chunk| {
                let here = *before;
                *before += characters_of(chunk);
                Some(here)
            })
            .collect();
        SourceFile { name: name.into(), text, line_starts, characters }
    }

    /// How many characters begin before a byte offset within the text.
    fn characters_before(&self, offset: usize) -> u32 {
        let Some(last) = self.characters.len().checked_sub(1) else { return 0 };
        let step = (offset / STEP).min(last);
        self.characters[step] + characters_of(&self.text.as_bytes()[step * STEP..offset])
    }

    /// Line and column of a byte offset; offsets past the end mean the end, and an offset inside
    /// a character means that character.
    pub fn position(&self, offset: u32) -> LineColumn {
        let offset = self.text.floor_char_boundary((offset as usize).min(self.text.len()));
        let line = self.line_starts.partition_point(|&s| s as usize <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let column = self.characters_before(offset) - self.characters_before(start) + 1;
        LineColumn { line: line as u32 + 1, column }
    }

    /// The text of a line, counted from 1, without its line break. `None` past the end.
    pub fn line(&self, line: u32) -> Option<&str> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.line_starts.get(index)? as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |&e| e as usize);
        Some(self.text[start..end].trim_end_matches(['\n', '\r']))
    }
}

/// The source files of one run.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file and gives it its number.
    pub fn add(&mut self, file: SourceFile) -> SourceId {
        self.files.push(file);
        SourceId(self.files.len() as u32 - 1)
    }

    /// The file of that number. Panics on a number this map did not give.
    pub fn get(&self, id: SourceId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order of their numbers.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Line and column where a span starts.
    pub fn start_of(&self, span: Span) -> LineColumn {
        self.get(span.source).position(span.start)
    }

    /// The text that a span covers.
    pub fn text_of(&self, span: Span) -> &str {
        let text = &self.get(span.source).text;
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let file = SourceFile::new("f", "ab\nxé!\n");
        assert_eq!(file.position(0), LineColumn { line: 1, column: 1 });
        assert_eq!(file.position(3), LineColumn { line: 2, column: 1 });
        assert_eq!(file.position(5), LineColumn { line: 2, column: 2 });
        assert_eq!(file.position(6), LineColumn { line: 2, column: 3 });
        assert_eq!(file.position(99), LineColumn { line: 3, column: 1 });
        assert_eq!(file.line(2), Some("xé!"));
        assert_eq!(file.line(4), None);
    }

    #[test]
    fn a_place_in_a_line_is_found_without_reading_the_line() {
        let characters = 1_000_000;
        let text: String = "\n".chars().chain("aé!€".chars().cycle().take(characters)).collect();
        let file = SourceFile::new("f", text);
        let mut offset = 1;
        for (n, character) in file.text[1..].chars().enumerate() {
            let at = LineColumn { line: 2, column: n as u32 + 1 };
            assert_eq!(file.position(offset), at);
            assert_eq!(file.position(offset + character.len_utf8() as u32 - 1), at);
            offset += character.len_utf8() as u32;
        }
        let end = LineColumn { line: 2, column: characters as u32 + 1 };
        assert_eq!(file.position(offset), end);
        assert_eq!(SourceFile::new("f", "").position(0), LineColumn { line: 1, column: 1 });
    }
}
