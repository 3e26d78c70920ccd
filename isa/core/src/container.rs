//! The ELF64 container of a program (`.nbx`): what is in it, and writing it.
//! Reading is in `load.rs`; docs/container.md describes the format.

use object::build::elf::{Builder, SectionData, SectionId};
use object::{Endianness, elf};
use sha2::{Digest, Sha256};

use crate::instruction::EncodeError;
use crate::lines::{self, LineTable};
use crate::load::LoadError;

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
/// The metadata section that holds [`Container::relocations`], four bytes each.
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
    /// Bytes of an instruction.
    pub instruction_bytes: u32,
    /// `.text`, at address 0.
    pub text: Vec<u8>,
    /// `.rodata`, `.data`.
    pub data: Vec<Data>,
    /// Functions, labels and objects.
    pub symbols: Vec<Symbol>,
    /// The machine that the program is for, as TOML.
    pub machine: String,
    /// Byte offsets in `.text` of the instructions whose immediate is the address of a
    /// label, in ascending order.
    pub relocations: Vec<u32>,
    /// Sections of the target, by their names, which begin with `.nbcc.`.
    pub metadata: Vec<(String, Vec<u8>)>,
    /// Source lines.
    pub lines: LineTable,
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
    /// A place in `.text` that jumps go to.
    Label,
    /// A part of `.text` with a name of its own.
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

/// Why a container cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the program: {0}")]
pub struct WriteError(pub String);

impl From<EncodeError> for WriteError {
    fn from(error: EncodeError) -> Self {
        WriteError(error.to_string())
    }
}

/// A program that could not be read back must not be written.
impl From<LoadError> for WriteError {
    fn from(error: LoadError) -> Self {
        WriteError(error.to_string())
    }
}

fn note(kind: u32, contents: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The owner's size is without its padding.
    bytes.extend(5_u32.to_le_bytes());
    bytes.extend((contents.len() as u32).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend(NOTE_OWNER);
    bytes.extend(contents);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Where the contents of a note begin in its section.
pub(crate) const NOTE_CONTENTS: usize = 12 + NOTE_OWNER.len();

impl Container {
    /// The program as an ELF file, with its digest.
    ///
    /// # Errors
    /// Contents that the format cannot hold: a line table of another length than the
    /// text, names with zero bytes, metadata under other names.
    pub fn to_elf(&self) -> Result<Vec<u8>, WriteError> {
        let fail = |message: String| Err(WriteError(message));
        for (name, _) in &self.metadata {
            if !name.starts_with(METADATA_PREFIX) || name == RELOCATIONS || name.contains('\0') {
                return fail(format!("`{name}` is no name of a metadata section"));
            }
        }
        if let Some(data) = self.data.iter().find(|d| ![".rodata", ".data"].contains(&&*d.name)) {
            return fail(format!("`{}` is no name of a data section", data.name));
        }
        if let Some(offset) = self.relocations.iter().find(|at| **at as usize >= self.text.len()) {
            return fail(format!("the relocation of {offset:#x} is beyond the end of .text"));
        }
        if let Some(symbol) =
            self.symbols.iter().find(|s| s.name.is_empty() || s.name.contains('\0'))
        {
            return fail(format!("`{}` is no name of a symbol", symbol.name.escape_debug()));
        }

        let mut builder = Builder::new(Endianness::Little, true);
        builder.header.e_type = elf::ET_EXEC;
        builder.header.e_machine = elf::Machine(MACHINE);
        builder.header.e_flags =
            elf::FileFlags(u32::from(self.isa) << 16 | u32::from(self.version));
        builder.header.e_phoff = builder.file_header_size();

        let segments = 1 + self.data.len() as u64;
        let mut offset = builder.file_header_size() + segments * 56;
        let text_flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let text = add_loaded(&mut builder, ".text", text_flags, 0, &self.text, &mut offset);
        for data in &self.data {
            let mut flags = elf::SHF_ALLOC;
            if data.name == ".data" {
                flags |= elf::SHF_WRITE;
            }
            add_loaded(&mut builder, &data.name, flags, data.address, &data.bytes, &mut offset);
        }

        let target = note(TARGET_NOTE.1, self.machine.as_bytes());
        add_plain(&mut builder, TARGET_NOTE.0, elf::SHT_NOTE, 4, target);
        let digest = note(DIGEST_NOTE.1, &[0; DIGEST_BYTES]);
        add_plain(&mut builder, DIGEST_NOTE.0, elf::SHT_NOTE, 4, digest);
        if !self.relocations.is_empty() {
            let bytes = self.relocations.iter().flat_map(|offset| offset.to_le_bytes()).collect();
            add_plain(&mut builder, RELOCATIONS, elf::SHT_PROGBITS, 4, bytes);
        }
        for (name, bytes) in &self.metadata {
            add_plain(&mut builder, name, elf::SHT_PROGBITS, 1, bytes.clone());
        }
        for (name, bytes) in lines::to_dwarf(&self.lines, self.text.len(), self.instruction_bytes)?
        {
            add_plain(&mut builder, name, elf::SHT_PROGBITS, 1, bytes);
        }

        let strings = builder.sections.add();
        strings.name = b".strtab"[..].into();
        strings.sh_type = elf::SHT_STRTAB;
        strings.sh_addralign = 1;
        strings.data = SectionData::String;
        let strings = strings.id();
        let table = builder.sections.add();
        table.name = b".symtab"[..].into();
        table.sh_type = elf::SHT_SYMTAB;
        table.sh_link_section = Some(strings);
        table.sh_addralign = 8;
        table.sh_entsize = 24;
        table.data = SectionData::Symbol;
        let names = builder.sections.add();
        names.name = b".shstrtab"[..].into();
        names.sh_type = elf::SHT_STRTAB;
        names.sh_addralign = 1;
        names.data = SectionData::SectionString;

        for symbol in &self.symbols {
            let out = builder.symbols.add();
            out.name = symbol.name.clone().into_bytes().into();
            out.st_value = symbol.address;
            out.st_size = symbol.size;
            let (bind, kind) = match symbol.kind {
                SymbolKind::Label => (elf::STB_LOCAL, elf::STT_NOTYPE),
                SymbolKind::Function => (elf::STB_GLOBAL, elf::STT_FUNC),
                SymbolKind::Object => (elf::STB_GLOBAL, elf::STT_OBJECT),
            };
            out.set_st_info(bind, kind);
            match symbol.kind {
                SymbolKind::Label | SymbolKind::Function => out.section = Some(text),
                SymbolKind::Object => out.st_shndx = elf::SHN_ABS,
            }
        }

        builder.set_section_sizes();
        let mut bytes = Vec::new();
        builder.write(&mut bytes).map_err(|error| WriteError(error.to_string()))?;
        crate::load::seal(&mut bytes)?;
        Ok(bytes)
    }
}

/// Adds a section that is loaded, with its segment, at the next file offset.
fn add_loaded<'a>(
    builder: &mut Builder<'a>,
    name: &'a str,
    flags: elf::SectionFlags,
    address: u64,
    bytes: &'a [u8],
    offset: &mut u64,
) -> SectionId {
    *offset = offset.next_multiple_of(ALIGNMENT);
    let section = builder.sections.add();
    section.name = name.as_bytes().into();
    section.sh_type = elf::SHT_PROGBITS;
    section.sh_flags = flags;
    section.sh_addr = address;
    section.sh_offset = *offset;
    section.sh_addralign = ALIGNMENT;
    section.data = SectionData::Data(bytes.into());
    let id = section.id();
    let segment = builder.segments.add();
    segment.p_type = elf::PT_LOAD;
    segment.p_flags = elf::PF_R;
    if flags.contains(elf::SHF_EXECINSTR) {
        segment.p_flags |= elf::PF_X;
    }
    if flags.contains(elf::SHF_WRITE) {
        segment.p_flags |= elf::PF_W;
    }
    segment.p_offset = *offset;
    segment.p_vaddr = address;
    segment.p_paddr = address;
    segment.p_filesz = bytes.len() as u64;
    segment.p_memsz = bytes.len() as u64;
    segment.p_align = ALIGNMENT;
    segment.sections.push(id);
    *offset += bytes.len() as u64;
    id
}

fn add_plain<'a>(
    builder: &mut Builder<'a>,
    name: &'a str,
    kind: elf::SectionType,
    align: u64,
    bytes: Vec<u8>,
) {
    let section = builder.sections.add();
    section.name = name.as_bytes().into();
    section.sh_type = kind;
    section.sh_addralign = align;
    section.data = SectionData::Data(bytes.into());
}

/// The digest of a file whose digest bytes, at `at`, count as zero.
pub(crate) fn digest(file: &[u8], at: usize) -> [u8; DIGEST_BYTES] {
    let mut hasher = Sha256::new();
    hasher.update(&file[..at]);
    hasher.update([0; DIGEST_BYTES]);
    hasher.update(&file[at + DIGEST_BYTES..]);
    hasher.finalize().into()
}
