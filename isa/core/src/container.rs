//! What the container of a program (`.nbx`) holds, whatever its target. `write.rs` makes an ELF64
//! file of it, `load.rs` reads one; docs/container.md describes the format.

use crate::lines::SourceLine;

/// The `e_machine` of every nbcc program.
pub const MACHINE: u16 = 0x4e42;
/// The owner of the notes.
pub const NOTE_OWNER: &[u8] = b"nbcc\0\0\0\0";
/// The note that holds the machine description, and its type.
pub const TARGET_NOTE: (&str, u32) = (".note.nbcc.target", 0x100);
/// The note that holds the digest, and its type.
pub const DIGEST_NOTE: (&str, u32) = (".note.nbcc.digest", 0x101);
/// Bytes of the digest: SHA-256 of the file with these bytes zero.
pub const DIGEST_BYTES: usize = 32;
/// Where the contents of a note begin in its section.
pub(crate) const NOTE_CONTENTS: usize = 12 + NOTE_OWNER.len();
/// The name of the first text section, and what those of others begin with, before a dot.
pub const TEXT: &str = ".text";
/// The section that holds [`TextSection::relocations`] of `.text`, four bytes each; those of
/// `.text.NAME` are in `.nbcc.relocations.NAME`.
pub const RELOCATIONS: &str = ".nbcc.relocations";
/// What names of metadata sections begin with.
pub const METADATA_PREFIX: &str = ".nbcc.";
/// Alignment of sections in the file and in memory.
pub const ALIGNMENT: u64 = 16;

/// The contents of a program, whatever its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// The instruction set: the high half of `e_flags`.
    pub isa: u16,
    /// The version of its encoding: the low half of `e_flags`.
    pub version: u16,
    /// `.text`, at address 0, then others.
    pub text: Vec<TextSection>,
    /// `.rodata`, `.data`.
    pub data: Vec<Data>,
    /// Storage, at absolute addresses.
    pub objects: Vec<Symbol>,
    /// The machine that the program is for, as TOML.
    pub machine: String,
    /// Sections of the target, by their names, which begin with `.nbcc.`.
    pub metadata: Vec<(String, Vec<u8>)>,
    /// The source files that lines of all text sections are in; empty where none has any.
    pub files: Vec<String>,
}

/// Instructions of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSection {
    /// `.text` or `.text.NAME`.
    pub name: String,
    /// The address of the first byte, a multiple of [`ALIGNMENT`]. Text sections share no
    /// addresses and end below 4 GiB.
    pub address: u64,
    /// Bytes of an instruction.
    pub instruction_bytes: u32,
    /// The instructions.
    pub bytes: Vec<u8>,
    /// Functions and labels, by their addresses in the program.
    pub symbols: Vec<Symbol>,
    /// Byte offsets in the section of the instructions whose immediate is the address of an
    /// instruction, of this text section or another, in ascending order.
    pub relocations: Vec<u32>,
    /// The source line of each instruction, `None` where it has none; empty where nothing is
    /// known.
    pub rows: Vec<Option<SourceLine>>,
}

/// Where a text section lies, and how its instructions follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRange {
    /// The address of the first byte.
    pub address: u64,
    /// Bytes of the section.
    pub bytes: u64,
    /// Bytes of an instruction.
    pub instruction_bytes: u64,
}

impl TextSection {
    /// Where it lies.
    pub fn range(&self) -> TextRange {
        TextRange {
            address: self.address,
            bytes: self.bytes.len() as u64,
            instruction_bytes: self.instruction_bytes.into(),
        }
    }

    /// The name of the section that holds its relocations.
    pub(crate) fn relocations_name(&self) -> String {
        relocations_name(&self.name)
    }
}

impl TextRange {
    /// Whether an instruction begins at the address, or the last one ends there.
    pub fn is_place(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| {
            offset <= self.bytes && offset.is_multiple_of(self.instruction_bytes)
        })
    }
}

/// The name of the section that holds the relocations of that text section.
pub(crate) fn relocations_name(text: &str) -> String {
    format!("{RELOCATIONS}{}", text.strip_prefix(TEXT).unwrap_or(text))
}

/// Whether metadata of a target may have that name.
pub(crate) fn is_metadata_name(name: &str) -> bool {
    let own = |rest: &str| rest.is_empty() || rest.starts_with('.');
    name.starts_with(METADATA_PREFIX)
        && !name.strip_prefix(RELOCATIONS).is_some_and(own)
        && !name.contains('\0')
}

/// The first two ranges `(address, bytes)` that share bytes.
pub(crate) fn first_overlap(ranges: &[(u64, u64)]) -> Option<(usize, usize)> {
    (1..ranges.len()).find_map(|late| {
        let (address, bytes) = ranges[late];
        let meets = |&(other, length): &(u64, u64)| {
            address < other.saturating_add(length) && other < address.saturating_add(bytes)
        };
        Some((ranges[..late].iter().position(meets)?, late))
    })
}

/// A data section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// `.rodata` or `.data`.
    pub name: String,
    /// The address of the first byte. Targets give each address space a range of its own.
    pub address: u64,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A place in a text section that jumps go to.
    Label,
    /// A part of a text section with a name of its own.
    Function,
    /// Storage, at an absolute address.
    Object,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub kind: SymbolKind,
    /// The address.
    pub address: u64,
    /// Bytes; 0 for labels.
    pub size: u64,
}
