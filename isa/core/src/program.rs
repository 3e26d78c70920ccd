//! The code of a program: what the programs of every instruction set have, to and from the
//! container. The rest of a program is its target's.

use std::fmt::Display;

use crate::container::{Container, Symbol, SymbolKind, TEXT, TextRange, TextSection};
use crate::error::{LoadError, WriteError};
use crate::instruction::{EncodeError, Imm, MachineInstruction};
use crate::lines::LineTable;
use crate::text::is_label_name;

/// The instructions of a text section and the tables over them. The default is an empty `.text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code<I> {
    /// The name of the section.
    pub section: String,
    /// The address of the first instruction; 0 in `.text`.
    pub address: u64,
    /// The instructions; those after the first follow without gaps.
    pub text: Vec<I>,
    /// Functions and labels in `text`. A file is read in the order of their places, functions
    /// before labels, then of their names.
    pub symbols: Vec<TextSymbol>,
    /// Indices of the instructions whose immediates are addresses of instructions, in ascending
    /// order.
    pub relocations: Vec<u32>,
    /// Source lines.
    pub lines: LineTable,
}

/// A name in the text of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSymbol {
    /// The name; letters, digits, `_` and `$`.
    pub name: String,
    /// The index of the instruction.
    pub index: u32,
    /// The number of instructions of a function; `None` for a label.
    pub function: Option<u32>,
}

impl<I> Default for Code<I> {
    fn default() -> Self {
        Code {
            section: TEXT.to_owned(),
            address: 0,
            text: Vec::new(),
            symbols: Vec::new(),
            relocations: Vec::new(),
            lines: LineTable::default(),
        }
    }
}

impl<I: MachineInstruction> Code<I> {
    const BYTES: u64 = I::BYTES as u64;

    /// A container that holds the code and nothing else.
    ///
    /// # Errors
    /// The first instruction that has no encoding.
    pub fn to_container(&self) -> Result<Container, WriteError> {
        let files = self.lines.files.clone();
        Ok(Container { text: vec![self.to_section()?], files, ..Container::default() })
    }

    /// The text section that holds the code. The source files are the container's, and those of
    /// all its text sections.
    ///
    /// # Errors
    /// The first instruction that has no encoding.
    pub fn to_section(&self) -> Result<TextSection, WriteError> {
        let offset = |index: u32| u64::from(index) * Self::BYTES;
        let symbol = |symbol: &TextSymbol| Symbol {
            name: symbol.name.clone(),
            kind: match symbol.function {
                Some(_) => SymbolKind::Function,
                None => SymbolKind::Label,
            },
            address: self.address + offset(symbol.index),
            size: offset(symbol.function.unwrap_or(0)),
        };
        Ok(TextSection {
            name: self.section.clone(),
            address: self.address,
            instruction_bytes: I::BYTES as u32,
            bytes: encode_text(&self.text)?,
            symbols: self.symbols.iter().map(symbol).collect(),
            relocations: self.relocations.iter().map(|index| offset(*index) as u32).collect(),
            rows: self.lines.rows.clone(),
        })
    }

    /// The code in `.text` of a container. [`Code::validate`] is the caller's.
    ///
    /// # Errors
    /// What is no instruction, or not at one, with its section and offset.
    pub fn from_container(container: &Container) -> Result<Code<I>, LoadError> {
        Code::from_section(container, TEXT)
    }

    /// The code in a text section of a container. [`Code::validate`] is the caller's.
    ///
    /// # Errors
    /// As [`Code::from_container`]; there is no such section.
    pub fn from_section(container: &Container, name: &str) -> Result<Code<I>, LoadError> {
        let section = container.text.iter().find(|section| section.name == name);
        let missing = || LoadError::new(name, 0, "the section is missing");
        let section = section.ok_or_else(missing)?;
        let text = decode_text(section)?;
        let instruction = |offset: u64, what: &str| {
            if offset.is_multiple_of(Self::BYTES) {
                return Ok((offset / Self::BYTES) as u32);
            }
            Err(LoadError::new(name, offset, format!("{what} is not at an instruction")))
        };
        let mut symbols = Vec::new();
        for symbol in &section.symbols {
            let function = match symbol.kind {
                SymbolKind::Function => Some(instruction(symbol.size, "the end of a function")?),
                SymbolKind::Label | SymbolKind::Object => None,
            };
            let index = instruction(symbol.address - section.address, "a symbol")?;
            symbols.push(TextSymbol { name: symbol.name.clone(), index, function });
        }
        // ELF puts local symbols first, whatever the order was.
        symbols.sort_by(|a, b| {
            (a.index, a.function.is_none(), &a.name).cmp(&(b.index, b.function.is_none(), &b.name))
        });
        let mut relocations = Vec::new();
        for at in &section.relocations {
            relocations.push(instruction(u64::from(*at), "a relocation")?);
        }
        let lines = match section.rows.is_empty() {
            true => LineTable::default(),
            false => LineTable { files: container.files.clone(), rows: section.rows.clone() },
        };
        let (section, address) = (section.name.clone(), section.address);
        Ok(Code { section, address, text, symbols, relocations, lines })
    }

    /// Where the code lies.
    pub fn range(&self) -> TextRange {
        TextRange {
            address: self.address,
            bytes: self.text.len() as u64 * Self::BYTES,
            instruction_bytes: Self::BYTES,
        }
    }

    /// Checks the tables against the text: names, places, relocations, the number of lines.
    /// `others` are the text sections beside this one that relocations may lead to.
    ///
    /// # Errors
    /// What is wrong, with its section and offset.
    pub fn validate(&self, others: &[TextRange]) -> Result<(), LoadError> {
        let range = self.range();
        if range.bytes > i32::MAX as u64 {
            return Err(LoadError::new(&self.section, 0, "the program is too long"));
        }
        let mut names: Vec<&str> = Vec::new();
        for symbol in &self.symbols {
            let end = u64::from(symbol.index) + u64::from(symbol.function.unwrap_or(0));
            if !is_label_name(&symbol.name) || end > self.text.len() as u64 {
                let name = symbol.name.escape_debug();
                let section = &self.section;
                let message = format!("`{name}` is no proper label or beyond the end of {section}");
                return Err(LoadError::new(".symtab", 0, message));
            }
            names.push(&symbol.name);
        }
        if let Some(name) = repeated(&mut names) {
            return Err(LoadError::new(".symtab", 0, format!("two labels are called `{name}`")));
        }
        let is_address = |value: i32| {
            let address = u64::from(value as u32);
            range.is_place(address) || others.iter().any(|other| other.is_place(address))
        };
        let mut last = None;
        for index in &self.relocations {
            let offset = u64::from(*index) * Self::BYTES;
            let fail = |message: &str| Err(LoadError::new(&self.section, offset, message));
            if last.is_some_and(|last| last >= *index) {
                return fail("relocations are not in ascending order");
            }
            last = Some(*index);
            let inst = self.text.get(*index as usize);
            let own = match inst.is_some_and(|inst| inst.is_relative()) {
                true => (self.address + offset) as i32,
                false => 0,
            };
            match inst.and_then(|inst| inst.symbolic()) {
                Some(Imm::Value(value)) if is_address(own.wrapping_add(value)) => {}
                _ => return fail("a relocation of what is no address of an instruction"),
            }
        }
        let rows = self.lines.rows.len();
        if rows != 0 && rows != self.text.len() {
            return Err(LoadError::new(".debug_line", 0, "not one line an instruction"));
        }
        Ok(())
    }

    /// Checks every instruction; `fault` says what is wrong with the one of that index.
    ///
    /// # Errors
    /// The first instruction with a fault, and its offset.
    pub fn check_each(&self, fault: impl Fn(usize, &I) -> Option<String>) -> Result<(), LoadError>
    where
        I: Display,
    {
        for (index, inst) in self.text.iter().enumerate() {
            if let Some(message) = fault(index, inst) {
                let offset = index as u64 * Self::BYTES;
                let message = format!("`{inst}`: {message}");
                return Err(LoadError::new(&self.section, offset, message));
            }
        }
        Ok(())
    }
}

/// The instructions of a text section.
///
/// # Errors
/// The offset of the first that is none.
pub fn decode_text<I: MachineInstruction>(section: &TextSection) -> Result<Vec<I>, LoadError> {
    let name = &section.name;
    let chunks = section.bytes.chunks_exact(I::BYTES);
    if !chunks.remainder().is_empty() {
        let end = section.bytes.len() as u64;
        return Err(LoadError::new(name, end, "the size is no multiple of an instruction's"));
    }
    let decode = |(index, bytes): (usize, &[u8])| {
        I::decode(word_of(bytes))
            .map_err(|error| LoadError::new(name, (index * I::BYTES) as u64, error.to_string()))
    };
    chunks.enumerate().map(decode).collect()
}

/// The little-endian number in at most 16 bytes.
pub fn word_of(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0_u128, |word, byte| word << 8 | u128::from(*byte))
}

/// The bytes of instructions.
///
/// # Errors
/// The first instruction that has no encoding.
pub fn encode_text<I: MachineInstruction>(text: &[I]) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::with_capacity(text.len() * I::BYTES);
    for inst in text {
        out.extend_from_slice(&inst.encode()?.to_le_bytes()[..I::BYTES]);
    }
    Ok(out)
}

/// Replaces labels by addresses in `.text` and returns the relocations; `index_of` says at which
/// instruction a label stands.
///
/// # Errors
/// The first label that stands nowhere.
pub fn resolve_labels<I: MachineInstruction>(
    text: &mut [I],
    mut index_of: impl FnMut(u32) -> Option<u32>,
) -> Result<Vec<u32>, u32> {
    let mut relocations = Vec::new();
    let mut missing = None;
    for (at, inst) in text.iter_mut().enumerate() {
        let mut relocated = false;
        let own = if inst.is_relative() { at * I::BYTES } else { 0 } as i32;
        inst.for_each_symbolic_mut(|imm| {
            if let Imm::Label(label) = *imm {
                match index_of(label) {
                    Some(index) => *imm = Imm::Value((index * I::BYTES as u32) as i32 - own),
                    None => missing = missing.or(Some(label)),
                }
                relocated = true;
            }
        });
        if relocated {
            relocations.push(at as u32);
        }
    }
    missing.map_or(Ok(relocations), Err)
}

/// A name that is there twice. The names are sorted by it.
pub fn repeated<'a>(names: &mut [&'a str]) -> Option<&'a str> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
