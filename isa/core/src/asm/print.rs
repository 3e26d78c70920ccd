//! Printing of whole programs as assembly.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::asm::section::{BoxedInstruction, Dialect, TextType};
use crate::container::{Container, Data, Symbol, SymbolKind, TARGET_NOTE, TextRange, TextSection};
use crate::error::LoadError;
use crate::instruction::Imm;
use crate::lines::SourceLine;
use crate::text::is_label_name;

/// The text of a program.
///
/// # Errors
/// Bytes of a text section that are no instructions, or relocations of instructions that cannot
/// have one.
pub fn print(container: &Container, dialect: &Dialect) -> Result<String, LoadError> {
    let mut out = format!(".isa {} {}\n", dialect.name, container.version);
    match dialect.machines.iter().find(|(_, toml)| *toml == container.machine) {
        Some((name, _)) => {
            let _ = writeln!(out, ".machine {name}");
        }
        None => print_bytes(&mut out, TARGET_NOTE.0, None, container.machine.as_bytes()),
    }

    let mut texts = Vec::new();
    let mut labels = Labels::of(container)?;
    for section in &container.text {
        let ty = dialect.text.iter().find(|ty| ty.section == section.name);
        let ty = ty.ok_or_else(|| LoadError::new(&section.name, 0, "unknown section"))?;
        let mut text = decode(section, ty)?;
        labels.name_targets(section, &mut text)?;
        texts.push(text);
    }
    let mut place = None;
    for (index, (section, text)) in container.text.iter().zip(texts).enumerate() {
        let address = (index > 0).then_some(section.address);
        print_section(&mut out, &section.name, address);
        if index == 0 {
            for (index, name) in container.files.iter().enumerate() {
                let _ = writeln!(out, ".file {} \"{}\"", index + 1, quote(name.as_bytes()));
            }
        }
        print_text(&mut out, section, &text, &mut labels, &mut place);
    }
    for data in &container.data {
        print_words(&mut out, data);
    }
    for (name, bytes) in &container.metadata {
        print_bytes(&mut out, name, None, bytes);
    }
    Ok(out)
}

type Text = Vec<BoxedInstruction>;

fn decode(section: &TextSection, ty: &TextType) -> Result<Text, LoadError> {
    let step = ty.instruction_bytes as usize;
    if section.instruction_bytes != ty.instruction_bytes
        || !section.bytes.len().is_multiple_of(step)
    {
        let end = section.bytes.len() as u64;
        let message = "the size is no multiple of an instruction's";
        return Err(LoadError::new(&section.name, end, message));
    }
    let decode = |(index, bytes)| {
        (ty.decode)(bytes)
            .map_err(|error| LoadError::new(&section.name, (index * step) as u64, error))
    };
    section.bytes.chunks_exact(step).enumerate().map(decode).collect()
}

/// The labels of all text sections, by address.
struct Labels<'a> {
    ranges: Vec<TextRange>,
    taken: BTreeSet<&'a str>,
    /// One name of each address that has some.
    names: BTreeMap<u32, String>,
    /// Addresses whose name no symbol is; where one text section ends and another begins, the name
    /// stands in one of them.
    made_up: BTreeSet<u32>,
}

impl<'a> Labels<'a> {
    /// Those that have a name.
    fn of(container: &'a Container) -> Result<Labels<'a>, LoadError> {
        let mut labels = Labels {
            ranges: container.text.iter().map(TextSection::range).collect(),
            taken: BTreeSet::new(),
            names: BTreeMap::new(),
            made_up: BTreeSet::new(),
        };
        for symbol in container.text.iter().flat_map(|section| &section.symbols) {
            if !is_label_name(&symbol.name) || !labels.taken.insert(&symbol.name) {
                let message = format!("`{}` cannot name a label", symbol.name.escape_debug());
                return Err(LoadError::new(".symtab", 0, message));
            }
            let name = || symbol.name.clone();
            labels.names.entry(symbol.address as u32).or_insert_with(name);
        }
        Ok(labels)
    }

    fn is_address(&self, address: u32) -> bool {
        self.ranges.iter().any(|range| range.is_place(u64::from(address)))
    }

    /// Replaces what relocated instructions lead to by labels; those without a name get one.
    fn name_targets(&mut self, section: &TextSection, text: &mut Text) -> Result<(), LoadError> {
        let step = section.instruction_bytes as usize;
        for offset in &section.relocations {
            let fail =
                |message: &str| Err(LoadError::new(&section.name, u64::from(*offset), message));
            if !(*offset as usize).is_multiple_of(step) {
                return fail("a relocation inside of an instruction");
            }
            let Some(inst) = text.get_mut(*offset as usize / step) else {
                return fail(&format!("a relocation beyond the end of {}", section.name));
            };
            let own = match inst.is_relative() {
                true => (section.address as u32).wrapping_add(*offset),
                false => 0,
            };
            let address = |value: i32| (value as u32).wrapping_add(own);
            let mut first = None;
            inst.for_each_symbolic_mut(&mut |imm| {
                first = first.or(Some(*imm));
            });
            match first {
                Some(Imm::Value(value)) if self.is_address(address(value)) => {}
                Some(_) => return fail("a relocated immediate is no address of an instruction"),
                None => return fail("an instruction without an immediate has a relocation"),
            }
            inst.for_each_symbolic_mut(&mut |imm| {
                // An immediate that is no address stands for none (no reconvergence point).
                let Imm::Value(value) = *imm else { return };
                let target = address(value);
                if !self.is_address(target) {
                    return;
                }
                self.names.entry(target).or_insert_with(|| {
                    let mut name = format!("L{target:04x}");
                    while self.taken.contains(name.as_str()) {
                        name.push('_');
                    }
                    self.made_up.insert(target);
                    name
                });
                *imm = Imm::Label(target);
            });
        }
        Ok(())
    }
}

/// Prints instructions whose relocated immediates are labels; `place` is what the last `.loc` says.
fn print_text(
    out: &mut String,
    section: &TextSection,
    text: &Text,
    labels: &mut Labels<'_>,
    place: &mut Option<SourceLine>,
) {
    let mut functions: BTreeMap<u64, Vec<&Symbol>> = BTreeMap::new();
    let mut others: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for symbol in &section.symbols {
        if symbol.kind == SymbolKind::Function {
            functions.entry(symbol.address).or_default().push(symbol);
        } else {
            others.entry(symbol.address).or_default().push(&symbol.name);
        }
    }
    for index in 0..=text.len() {
        let address = section.address + index as u64 * u64::from(section.instruction_bytes);
        for function in functions.get(&address).into_iter().flatten() {
            let (name, size) = (&function.name, function.size);
            let _ = writeln!(out, "\n.type {name}, @function\n.size {name}, {size}\n{name}:");
        }
        for name in others.get(&address).into_iter().flatten() {
            let _ = writeln!(out, "{name}:");
        }
        if labels.made_up.remove(&(address as u32)) {
            let _ = writeln!(out, "{}:", labels.names[&(address as u32)]);
        }
        let Some(inst) = text.get(index) else { break };
        let here = section.rows.get(index).copied().flatten();
        if here != *place {
            let _ = match here {
                Some(l) => writeln!(out, ".loc {} {} {}", l.file + 1, l.line, l.column),
                None => writeln!(out, ".loc 1 0 0"),
            };
            *place = here;
        }
        let mut line = String::new();
        let _ = inst.write_text(&mut line, &labels.names);
        let _ = writeln!(out, "    {line:<72}# {address:#06x}");
    }
}

/// Text without quotes, control characters and what is not ASCII.
fn quote(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out
}

fn print_section(out: &mut String, name: &str, address: Option<u64>) {
    let _ = match address {
        Some(address) => writeln!(out, "\n.section {name} {address:#x}"),
        None => writeln!(out, "\n.section {name}"),
    };
}

fn print_bytes(out: &mut String, name: &str, address: Option<u64>, bytes: &[u8]) {
    print_section(out, name, address);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let _ = writeln!(out, "    .ascii \"{}\"", quote(line));
    }
}

fn print_words(out: &mut String, data: &Data) {
    print_section(out, &data.name, Some(data.address));
    for (row, bytes) in data.bytes.chunks(16).enumerate() {
        let (words, rest) = bytes.as_chunks::<4>();
        if !words.is_empty() {
            let words: Vec<String> =
                words.iter().map(|w| format!("{:#010x}", u32::from_le_bytes(*w))).collect();
            let line = format!(".word {}", words.join(", "));
            let _ = writeln!(out, "    {line:<72}# {:#06x}", row * 16);
        }
        if !rest.is_empty() {
            let bytes: Vec<String> = rest.iter().map(|b| format!("{b:#04x}")).collect();
            let _ = writeln!(out, "    .byte {}", bytes.join(", "));
        }
    }
}
