//! Writing of the ELF container.

use object::build::elf::{Builder, SectionData, SectionId};
use object::{Endianness, elf};

use crate::container::{
    ALIGNMENT, Container, DIGEST_BYTES, DIGEST_NOTE, MACHINE, NOTE_OWNER, SymbolKind, TARGET_NOTE,
    TEXT, first_overlap, is_metadata_name,
};
use crate::dwarf;
use crate::error::WriteError;
use crate::load::seal;
use crate::text::is_label_name;

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

impl Container {
    /// The program as an ELF file, with its digest.
    ///
    /// # Errors
    /// Contents that the format cannot hold: a line table of another length than the
    /// text, names with zero bytes, metadata under other names.
    pub fn to_elf(&self) -> Result<Vec<u8>, WriteError> {
        self.check()?;
        let relocations: Vec<String> = self.text.iter().map(|t| t.relocations_name()).collect();
        let mut builder = Builder::new(Endianness::Little, true);
        builder.header.e_type = elf::ET_EXEC;
        builder.header.e_machine = elf::Machine(MACHINE);
        builder.header.e_flags =
            elf::FileFlags(u32::from(self.isa) << 16 | u32::from(self.version));
        builder.header.e_phoff = builder.file_header_size();

        let segments = (self.text.len() + self.data.len()) as u64;
        let mut offset = builder.file_header_size() + segments * 56;
        let flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let mut texts = Vec::new();
        for text in &self.text {
            let (name, address) = (&text.name, text.address);
            texts.push(add_loaded(&mut builder, name, flags, address, &text.bytes, &mut offset));
        }
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
        for (text, name) in self.text.iter().zip(&relocations) {
            if !text.relocations.is_empty() {
                let bytes = text.relocations.iter().flat_map(|at| at.to_le_bytes()).collect();
                add_plain(&mut builder, name, elf::SHT_PROGBITS, 4, bytes);
            }
        }
        for (name, bytes) in &self.metadata {
            add_plain(&mut builder, name, elf::SHT_PROGBITS, 1, bytes.clone());
        }
        for (name, bytes) in dwarf::write(&self.files, &self.text)? {
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

        let placed = self.text.iter().zip(&texts);
        let placed = placed.flat_map(|(text, id)| text.symbols.iter().map(|s| (s, Some(*id))));
        for (symbol, section) in placed.chain(self.objects.iter().map(|s| (s, None))) {
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
            match section {
                Some(text) => out.section = Some(text),
                None => out.st_shndx = elf::SHN_ABS,
            }
        }

        builder.set_section_sizes();
        let mut bytes = Vec::new();
        builder.write(&mut bytes).map_err(|error| WriteError(error.to_string()))?;
        seal(&mut bytes)?;
        Ok(bytes)
    }

    /// Checks what reading back would not accept and no table below would notice.
    fn check(&self) -> Result<(), WriteError> {
        let fail = |message: String| Err(WriteError(message));
        if let Some((name, _)) = self.metadata.iter().find(|(name, _)| !is_metadata_name(name)) {
            return fail(format!("`{name}` is no name of a metadata section"));
        }
        if let Some(data) = self.data.iter().find(|d| ![".rodata", ".data"].contains(&&*d.name)) {
            return fail(format!("`{}` is no name of a data section", data.name));
        }
        for (index, text) in self.text.iter().enumerate() {
            let name = &text.name;
            let own = name.strip_prefix(TEXT).and_then(|rest| rest.strip_prefix('.'));
            let proper = match index {
                0 => name == TEXT && text.address == 0,
                _ => own.is_some_and(is_label_name) && text.address.is_multiple_of(ALIGNMENT),
            };
            let end = text.address.checked_add(text.bytes.len() as u64);
            let proper = proper && end.is_some_and(|end| end <= u64::from(u32::MAX));
            if !proper || self.text[..index].iter().any(|other| other.name == *name) {
                return fail(format!("`{name}` is no proper text section"));
            }
            if let Some(at) = text.relocations.iter().find(|at| **at as usize >= text.bytes.len()) {
                return fail(format!("the relocation of {at:#x} is beyond the end of {name}"));
            }
        }
        if self.text.is_empty() {
            return fail("there is no .text".into());
        }
        let ranges: Vec<_> = self.text.iter().map(|t| (t.address, t.bytes.len() as u64)).collect();
        if let Some((a, b)) = first_overlap(&ranges) {
            let (a, b) = (&self.text[a].name, &self.text[b].name);
            return fail(format!("the addresses of {a} and {b} overlap"));
        }
        let symbols = self.text.iter().flat_map(|text| &text.symbols).map(|s| (s, true));
        for (symbol, in_text) in symbols.chain(self.objects.iter().map(|s| (s, false))) {
            let name = symbol.name.escape_debug();
            if symbol.name.is_empty() || symbol.name.contains('\0') {
                return fail(format!("`{name}` is no name of a symbol"));
            }
            if in_text == (symbol.kind == SymbolKind::Object) {
                return fail(format!("`{name}` is a symbol of another kind"));
            }
        }
        Ok(())
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
