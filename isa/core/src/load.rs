//! Reading of the ELF container. A file is hostile until proven otherwise: whatever its
//! bytes are, the answer is a container or an error with its section and offset, and
//! no more memory is taken than a few times the size of the file.

use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolSection, elf};

use sha2::{Digest, Sha256};

use crate::container::{
    ALIGNMENT, Container, DIGEST_BYTES, DIGEST_NOTE, Data, MACHINE, NOTE_CONTENTS, NOTE_OWNER,
    RELOCATIONS, Symbol, SymbolKind, TARGET_NOTE, TEXT, TextSection, first_overlap,
    is_metadata_name, relocations_name,
};
use crate::dwarf;
use crate::error::LoadError;
use crate::machine::MachineError;

/// A machine description is at fault, in the note of the target.
impl From<MachineError> for LoadError {
    fn from(error: MachineError) -> Self {
        let offset = error.span.map_or(0, |span| span.start as u64);
        LoadError::new(TARGET_NOTE.0, offset, error.message)
    }
}

/// More sections than this no program has.
const MAX_SECTIONS: usize = 64;

type Elf<'a> = ElfFile64<'a, LittleEndian>;

fn parse(file: &[u8]) -> Result<Elf<'_>, LoadError> {
    let header = |message: String| LoadError::new("ELF header", 0, message);
    let ident: [u8; 7] = [0x7f, b'E', b'L', b'F', 2, 1, 1];
    if !file.starts_with(&ident) {
        return Err(header("not a 64-bit little-endian ELF file".into()));
    }
    let elf = Elf::parse(file).map_err(|error| header(error.to_string()))?;
    let machine = elf.elf_header().e_machine.get(LittleEndian);
    if machine != elf::Machine(MACHINE) {
        return Err(header(format!("e_machine is {:#06x}, not {MACHINE:#06x}", machine.0)));
    }
    if elf.elf_header().e_type.get(LittleEndian) != elf::ET_EXEC {
        return Err(header("e_type is not ET_EXEC".into()));
    }
    Ok(elf)
}

/// The instruction set and its version that a program is for.
///
/// # Errors
/// The file is no nbcc program.
pub fn identify(file: &[u8]) -> Result<(u16, u16), LoadError> {
    let flags = parse(file)?.elf_header().e_flags.get(LittleEndian).0;
    Ok(((flags >> 16) as u16, flags as u16))
}

/// The file offset of the digest's bytes.
fn digest_place(elf: &Elf<'_>, file: &[u8]) -> Result<usize, LoadError> {
    let (name, kind) = DIGEST_NOTE;
    let fail = |message: &str| LoadError::new(name, 0, message);
    let section = elf.section_by_name(name).ok_or_else(|| fail("the section is missing"))?;
    let contents = note_contents(&section, name, kind)?;
    if contents.len() != DIGEST_BYTES {
        return Err(fail("the digest has another length"));
    }
    let (offset, _) = section.file_range().ok_or_else(|| fail("the section is not in the file"))?;
    let at = usize::try_from(offset).ok().and_then(|at| at.checked_add(NOTE_CONTENTS));
    at.filter(|at| at.checked_add(DIGEST_BYTES).is_some_and(|end| end <= file.len()))
        .ok_or_else(|| fail("the digest is not in the file"))
}

/// The digest of a file whose digest bytes, at `at`, count as zero.
fn digest(file: &[u8], at: usize) -> [u8; DIGEST_BYTES] {
    let mut hasher = Sha256::new();
    hasher.update(&file[..at]);
    hasher.update([0; DIGEST_BYTES]);
    hasher.update(&file[at + DIGEST_BYTES..]);
    hasher.finalize().into()
}

/// Computes the digest of a file and writes it where it belongs.
///
/// # Errors
/// The file has no place for a digest.
pub fn seal(file: &mut [u8]) -> Result<(), LoadError> {
    let at = digest_place(&parse(file)?, file)?;
    let value = digest(file, at);
    file[at..at + DIGEST_BYTES].copy_from_slice(&value);
    Ok(())
}

fn section_data<'a>(
    section: &object::read::elf::ElfSection64<'a, '_, LittleEndian>,
    name: &str,
) -> Result<&'a [u8], LoadError> {
    if section.elf_section_header().sh_type.get(LittleEndian) == elf::SHT_NOBITS {
        return Err(LoadError::new(name, 0, "the section has no contents"));
    }
    section.data().map_err(|error| LoadError::new(name, 0, error.to_string()))
}

fn note_contents<'a>(
    section: &object::read::elf::ElfSection64<'a, '_, LittleEndian>,
    name: &str,
    kind: u32,
) -> Result<&'a [u8], LoadError> {
    let data = section_data(section, name)?;
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?))
    };
    if word(0) != Some(5)
        || word(8) != Some(kind)
        || data.get(12..NOTE_CONTENTS) != Some(NOTE_OWNER)
    {
        return Err(LoadError::new(name, 0, "not the note that should be here"));
    }
    let length = word(4).unwrap_or(0) as usize;
    let end = NOTE_CONTENTS.checked_add(length).filter(|end| {
        *end <= data.len() && data.len() - end < 4 && data[*end..].iter().all(|byte| *byte == 0)
    });
    match end {
        Some(end) => Ok(&data[NOTE_CONTENTS..end]),
        None => Err(LoadError::new(name, 4, "the note's size is not that of the section")),
    }
}

impl Container {
    /// Reads a program for the instruction set `isa` in its version `version`. `known` are the
    /// text sections that programs of it may have, `.text` among them, each with the bytes of an
    /// instruction.
    ///
    /// # Errors
    /// What is wrong with the file, with its section and offset.
    pub fn from_elf(
        file: &[u8],
        isa: u16,
        version: u16,
        known: &[(&str, u32)],
    ) -> Result<Container, LoadError> {
        let found = identify(file)?;
        if found != (isa, version) {
            return Err(LoadError::new(
                "ELF header",
                0x30,
                format!(
                    "instruction set {} version {}, but this loader reads {isa} version {version}",
                    found.0, found.1
                ),
            ));
        }
        let elf = parse(file)?;
        let at = digest_place(&elf, file)?;
        if digest(file, at) != file[at..at + DIGEST_BYTES] {
            return Err(LoadError::new(
                DIGEST_NOTE.0,
                NOTE_CONTENTS as u64,
                "the digest is not that of the contents: the file is damaged",
            ));
        }
        if elf.elf_section_table().len() > MAX_SECTIONS {
            return Err(LoadError::new("section table", 0, "too many sections"));
        }

        let mut out = Container { isa, version, ..Container::default() };
        let mut seen: Vec<&str> = Vec::new();
        let mut total = 0;
        let mut line_section = None;
        let mut texts = Vec::new();
        let mut relocations = Vec::new();
        for section in elf.sections() {
            let name = section
                .name()
                .map_err(|error| LoadError::new("section table", 0, error.to_string()))?;
            if seen.contains(&name) {
                return Err(LoadError::new(name, 0, "there are two such sections"));
            }
            seen.push(name);
            let data = section_data(&section, name)?;
            total += data.len();
            if total > file.len() {
                return Err(LoadError::new(name, 0, "the section overlaps others"));
            }
            if let Some((_, instruction_bytes)) = known.iter().find(|(known, _)| *known == name) {
                texts.push(section.index());
                out.text.push(read_text(&section, name, data, *instruction_bytes)?);
                continue;
            }
            match name {
                ".rodata" | ".data" => {
                    if section.address().checked_add(data.len() as u64).is_none() {
                        return Err(LoadError::new(name, 0, "the address is absurd"));
                    }
                    out.data.push(Data {
                        name: name.to_owned(),
                        address: section.address(),
                        bytes: data.to_vec(),
                    });
                }
                _ if name == TARGET_NOTE.0 => {
                    let text = note_contents(&section, name, TARGET_NOTE.1)?;
                    out.machine = match std::str::from_utf8(text) {
                        Ok(text) => text.to_owned(),
                        Err(error) => {
                            let offset = (NOTE_CONTENTS + error.valid_up_to()) as u64;
                            return Err(LoadError::new(name, offset, "not UTF-8"));
                        }
                    };
                }
                _ if name == DIGEST_NOTE.0 => {}
                ".debug_line" => line_section = Some(data),
                ".symtab" | ".strtab" | ".shstrtab" => {}
                _ if name.starts_with(".debug_") => {}
                _ if is_metadata_name(name) => out.metadata.push((name.to_owned(), data.to_vec())),
                _ if name.starts_with(RELOCATIONS) => relocations.push((name, data)),
                _ => return Err(LoadError::new(name, 0, "unknown section")),
            }
        }
        if out.text.first().is_none_or(|text| text.name != TEXT) {
            return Err(LoadError::new(TEXT, 0, "the section is missing or not the first text"));
        }
        if !seen.contains(&TARGET_NOTE.0) {
            return Err(LoadError::new(TARGET_NOTE.0, 0, "the section is missing"));
        }
        let text = out.text.iter().map(|t| (&t.name, t.address, t.bytes.len()));
        let data = out.data.iter().map(|d| (&d.name, d.address, d.bytes.len()));
        let (names, ranges): (Vec<&String>, Vec<(u64, u64)>) =
            text.chain(data).map(|(name, at, bytes)| (name, (at, bytes as u64))).unzip();
        if let Some((other, late)) = first_overlap(&ranges) {
            let message = format!("its addresses are also those of {}", names[other]);
            return Err(LoadError::new(names[late], 0, message));
        }
        for (name, data) in relocations {
            let text = out.text.iter_mut().find(|text| relocations_name(&text.name) == name);
            let text = text.ok_or_else(|| LoadError::new(name, 0, "of no text section"))?;
            text.relocations = read_relocations(name, data, text)?;
        }
        if let Some(data) = line_section {
            out.files = dwarf::read(data, &mut out.text)?;
        }
        let mut names = 0;
        for symbol in elf.symbols() {
            let (symbol, text) = read_symbol(&symbol, &texts, &out.text)?;
            names += symbol.name.len();
            if names > MAX_NAMES * file.len() {
                let message = "the names of the symbols together are too long";
                return Err(LoadError::new(".symtab", 0, message));
            }
            match text {
                Some(index) => out.text[index].symbols.push(symbol),
                None => out.objects.push(symbol),
            }
        }
        Ok(out)
    }
}

fn read_text(
    section: &object::read::elf::ElfSection64<'_, '_, LittleEndian>,
    name: &str,
    data: &[u8],
    instruction_bytes: u32,
) -> Result<TextSection, LoadError> {
    let address = section.address();
    if section.kind() != SectionKind::Text || (name == TEXT && address != 0) {
        return Err(LoadError::new(name, 0, "not a text section, or .text not at address 0"));
    }
    let end = address.checked_add(data.len() as u64);
    if !address.is_multiple_of(ALIGNMENT) || end.is_none_or(|end| end > u64::from(u32::MAX)) {
        return Err(LoadError::new(name, 0, "the address is absurd"));
    }
    if !data.len().is_multiple_of(instruction_bytes as usize) {
        let message = format!("the size is no multiple of {instruction_bytes}");
        return Err(LoadError::new(name, data.len() as u64, message));
    }
    Ok(TextSection {
        name: name.to_owned(),
        address,
        instruction_bytes,
        bytes: data.to_vec(),
        ..TextSection::default()
    })
}

fn read_relocations(name: &str, data: &[u8], text: &TextSection) -> Result<Vec<u32>, LoadError> {
    let (words, rest) = data.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(LoadError::new(name, data.len() as u64, "the size is no multiple of 4"));
    }
    let offsets: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if let Some(at) = offsets.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(LoadError::new(name, at as u64 * 4 + 4, "not in ascending order"));
    }
    if let Some(at) = offsets.iter().position(|at| *at as usize >= text.bytes.len()) {
        let message = format!("beyond the end of {}", text.name);
        return Err(LoadError::new(name, at as u64 * 4, message));
    }
    Ok(offsets)
}

/// How many times as long as the file the names of all symbols may be: symbols share the bytes of
/// names that end alike.
const MAX_NAMES: usize = 64;

/// A symbol, and the number of its text section, whose place in the file `texts` holds.
fn read_symbol(
    symbol: &object::read::elf::ElfSymbol64<'_, '_, LittleEndian>,
    texts: &[object::SectionIndex],
    sections: &[TextSection],
) -> Result<(Symbol, Option<usize>), LoadError> {
    let offset = symbol.index().0 as u64 * 24;
    let fail = |message: &str| Err(LoadError::new(".symtab", offset, message));
    let name = match symbol.name() {
        Ok(name) if !name.is_empty() => name.to_owned(),
        Ok(_) => return fail("a symbol without a name"),
        Err(error) => return fail(&error.to_string()),
    };
    let (address, size) = (symbol.address(), symbol.size());
    let text = match symbol.section() {
        SymbolSection::Section(index) => texts.iter().position(|text| *text == index),
        _ => None,
    };
    let kind = match symbol.elf_symbol().st_type() {
        elf::STT_NOTYPE if text.is_some() && size == 0 => SymbolKind::Label,
        elf::STT_FUNC if text.is_some() => SymbolKind::Function,
        elf::STT_OBJECT if symbol.section() == SymbolSection::Absolute => SymbolKind::Object,
        _ => return fail("a symbol of an unknown kind"),
    };
    let Some(end) = address.checked_add(size) else {
        return fail("a symbol of an absurd size");
    };
    if let Some(text) = text.map(|index| &sections[index])
        && (address < text.address || end > text.address + text.bytes.len() as u64)
    {
        return fail(&format!("a symbol outside of {}", text.name));
    }
    Ok((Symbol { name, kind, address, size }, text))
}
