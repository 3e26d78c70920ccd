//! Assembly files: the text of a whole program, printed and read.
//!
//! ```text
//! .isa simb 1
//! .machine ipim                   # or a section .note.nbcc.target
//! .section .text
//! .file 1 "blur.halide"
//! .function main 64               # name and bytes
//! loop:
//! .loc 1 12 5                     # file, line, column; `.loc 0` for none
//!     seti_crf C4, loop
//! .section .rodata 0x100000000    # with the address
//!     .word 0x3f800000, 0x3f800000
//! .section .nbcc.buffers
//!     .ascii "[]\n"
//! ```
//!
//! A comment goes from `#` to the end of its line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::container::{
    Container, Data, METADATA_PREFIX, RELOCATIONS, Symbol, SymbolKind, TARGET_NOTE,
};
use crate::instruction::{Imm, MachineInstruction};
use crate::lines::{LineTable, SourceLine};
use crate::load::LoadError;
use crate::text::{Cursor, LabelTable, SyntaxError, nearest};

/// What assembly files of a target say of it.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// The name after `.isa`.
    pub name: &'static str,
    /// The number in the ELF header.
    pub isa: u16,
    /// The version in the ELF header.
    pub version: u16,
    /// Machines that `.machine` names, with their descriptions.
    pub machines: Vec<(&'static str, String)>,
}

/// What is wrong with an assembly file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct AsmError {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// The bytes of the file that are at fault.
    pub span: std::ops::Range<usize>,
    /// What to do.
    pub help: Option<String>,
}

/// An assembled program and where its instructions stand in the file.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The program.
    pub container: Container,
    /// The bytes of the file that hold each instruction.
    pub spans: Vec<std::ops::Range<usize>>,
}

/// After this many errors the assembler stops.
const MAX_ERRORS: usize = 20;

/// Whether `name` can be a label in an assembly file.
pub fn is_label_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    name.starts_with(|c: char| word(c) && !c.is_ascii_digit()) && name.chars().all(word)
}

/// The text of a program.
///
/// # Errors
/// Bytes of `.text` that are no instructions, or relocations of instructions that
/// cannot have one.
pub fn print<I: MachineInstruction>(
    container: &Container,
    dialect: &Dialect,
) -> Result<String, LoadError> {
    let text = decode_text::<I>(&container.text)?;
    let mut out = format!(".isa {} {}\n", dialect.name, container.version);
    match dialect.machines.iter().find(|(_, toml)| *toml == container.machine) {
        Some((name, _)) => {
            let _ = writeln!(out, ".machine {name}");
        }
        None => print_bytes(&mut out, TARGET_NOTE.0, None, container.machine.as_bytes()),
    }

    // Labels by address; those that relocations need and that have no name get one.
    let mut labels: BTreeMap<u64, String> = BTreeMap::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut functions: BTreeMap<u64, Vec<&Symbol>> = BTreeMap::new();
    let mut others: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for symbol in &container.symbols {
        if symbol.kind == SymbolKind::Object {
            continue;
        }
        if !is_label_name(&symbol.name) || !taken.insert(&symbol.name) {
            let message = format!("`{}` cannot name a label", symbol.name.escape_debug());
            return Err(LoadError::new(".symtab", 0, message));
        }
        if symbol.kind == SymbolKind::Function {
            functions.entry(symbol.address).or_default().push(symbol);
        } else {
            others.entry(symbol.address).or_default().push(&symbol.name);
        }
        labels.entry(symbol.address).or_insert_with(|| symbol.name.clone());
    }
    let mut relocated = BTreeSet::new();
    let text_bytes = container.text.len() as u64;
    let is_address = |value: u64| value <= text_bytes && value.is_multiple_of(I::BYTES as u64);
    for offset in &container.relocations {
        let fail = |message: &str| Err(LoadError::new(".text", u64::from(*offset), message));
        let index = *offset as usize / I::BYTES;
        if !(*offset as usize).is_multiple_of(I::BYTES) {
            return fail("a relocation inside of an instruction");
        }
        let Some(mut inst) = text.get(index).cloned() else {
            return fail("a relocation beyond the end of .text");
        };
        match inst.symbolic() {
            Some(Imm::Value(value)) if is_address(u64::from(value as u32)) => {}
            Some(_) => return fail("a relocated immediate is no address of an instruction"),
            None => return fail("an instruction without an immediate has a relocation"),
        }
        inst.for_each_symbolic_mut(|imm| {
            let Imm::Value(value) = *imm else { return };
            let target = u64::from(value as u32);
            if is_address(target) {
                labels.entry(target).or_insert_with(|| {
                    let mut name = format!("L{target:04x}");
                    while taken.contains(name.as_str()) {
                        name.push('_');
                    }
                    name
                });
            }
        });
        relocated.insert(index);
    }
    let names: BTreeMap<u32, String> =
        labels.iter().map(|(address, name)| (*address as u32, name.clone())).collect();

    out.push_str("\n.section .text\n");
    for (index, name) in container.lines.files.iter().enumerate() {
        let _ = writeln!(out, ".file {} \"{}\"", index + 1, quote(name.as_bytes()));
    }
    let mut place = None;
    for index in 0..=text.len() {
        let address = (index * I::BYTES) as u64;
        for function in functions.get(&address).into_iter().flatten() {
            let _ = writeln!(out, "\n.function {} {}", function.name, function.size);
        }
        let named = others.get(&address);
        for name in named.into_iter().flatten() {
            let _ = writeln!(out, "{name}:");
        }
        if named.is_none()
            && !functions.contains_key(&address)
            && let Some(name) = labels.get(&address)
        {
            let _ = writeln!(out, "{name}:");
        }
        let Some(inst) = text.get(index) else { break };
        let here = container.lines.rows.get(index).copied().flatten();
        if here != place {
            let _ = match here {
                Some(l) => writeln!(out, ".loc {} {} {}", l.file + 1, l.line, l.column),
                None => writeln!(out, ".loc 0"),
            };
            place = here;
        }
        let mut inst = inst.clone();
        if relocated.contains(&index) {
            // An immediate that is no address stands for none (no reconvergence point).
            inst.for_each_symbolic_mut(|imm| {
                if let Imm::Value(value) = *imm
                    && is_address(u64::from(value as u32))
                {
                    *imm = Imm::Label(value as u32);
                }
            });
        }
        let mut line = String::new();
        let _ = inst.write_text(&mut line, &names);
        let _ = writeln!(out, "    {line:<72}# {address:#06x}");
    }
    for data in &container.data {
        print_words(&mut out, data);
    }
    for (name, bytes) in &container.metadata {
        print_bytes(&mut out, name, None, bytes);
    }
    Ok(out)
}

/// The instructions of `.text`.
///
/// # Errors
/// The offset of the first that is none.
pub fn decode_text<I: MachineInstruction>(text: &[u8]) -> Result<Vec<I>, LoadError> {
    let chunks = text.chunks_exact(I::BYTES);
    if !chunks.remainder().is_empty() {
        let end = text.len() as u64;
        return Err(LoadError::new(".text", end, "the size is no multiple of an instruction's"));
    }
    let decode = |(index, bytes): (usize, &[u8])| {
        let word = bytes.iter().rev().fold(0_u128, |word, byte| word << 8 | u128::from(*byte));
        I::decode(word)
            .map_err(|error| LoadError::new(".text", (index * I::BYTES) as u64, error.to_string()))
    };
    chunks.enumerate().map(decode).collect()
}

/// The bytes of instructions.
///
/// # Errors
/// The first instruction that has no encoding.
pub fn encode_text<I: MachineInstruction>(text: &[I]) -> Result<Vec<u8>, crate::EncodeError> {
    let mut out = Vec::with_capacity(text.len() * I::BYTES);
    for inst in text {
        out.extend_from_slice(&inst.encode()?.to_le_bytes()[..I::BYTES]);
    }
    Ok(out)
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

/// Which section lines go to.
enum Section {
    Text,
    Target,
    Data(usize),
    Metadata(usize),
}

struct Assembler<'a, I> {
    dialect: &'a Dialect,
    container: Container,
    section: Section,
    target: Vec<u8>,
    has_machine: bool,
    text: Vec<I>,
    spans: Vec<std::ops::Range<usize>>,
    labels: LabelTable,
    /// Address and the place of the definition.
    defined: BTreeMap<String, (u64, usize)>,
    /// File numbers as declared.
    files: BTreeMap<i64, u32>,
    place: Option<SourceLine>,
    rows: Vec<Option<SourceLine>>,
}

/// Reads an assembly file.
///
/// # Errors
/// Everything that is wrong with it, up to a limit.
pub fn assemble<I: MachineInstruction>(
    text: &str,
    dialect: &Dialect,
) -> Result<Assembled, Vec<AsmError>> {
    let mut assembler: Assembler<'_, I> = Assembler {
        dialect,
        container: Container {
            isa: dialect.isa,
            version: dialect.version,
            instruction_bytes: I::BYTES as u32,
            ..Container::default()
        },
        section: Section::Text,
        target: Vec::new(),
        has_machine: false,
        text: Vec::new(),
        spans: Vec::new(),
        labels: LabelTable::default(),
        defined: BTreeMap::new(),
        files: BTreeMap::new(),
        place: None,
        rows: Vec::new(),
    };
    let mut errors = Vec::new();
    let mut offset = 0;
    for full in text.split_inclusive('\n') {
        let line = strip_comment(full.trim_end_matches(['\n', '\r']));
        if let Err(error) = assembler.line(line, offset) {
            let span = offset + error.span.start..offset + error.span.end;
            errors.push(locate(text, span, error.message, error.help));
            if errors.len() >= MAX_ERRORS {
                return Err(errors);
            }
        }
        offset += full.len();
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    assembler.finish(text)
}

/// An error at `span` of `text`.
pub fn locate(
    text: &str,
    span: std::ops::Range<usize>,
    message: String,
    help: Option<String>,
) -> AsmError {
    let before = &text[..span.start.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    AsmError {
        message,
        line: before.matches('\n').count() as u32 + 1,
        column: before[line_start..].chars().count() as u32 + 1,
        span,
        help,
    }
}

/// The line up to its comment.
fn strip_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

const DIRECTIVES: &[&str] =
    &["ascii", "byte", "file", "function", "isa", "loc", "machine", "section", "word"];

impl<I: MachineInstruction> Assembler<'_, I> {
    fn line(&mut self, line: &str, offset: usize) -> Result<(), SyntaxError> {
        let mut labels = std::mem::take(&mut self.labels);
        let mut cursor = Cursor::new(line, &mut labels);
        let result = self.statement(&mut cursor, line, offset);
        self.labels = labels;
        result
    }

    fn statement(
        &mut self,
        cursor: &mut Cursor<'_>,
        line: &str,
        offset: usize,
    ) -> Result<(), SyntaxError> {
        // Labels, as many as there are.
        loop {
            let start = cursor.position();
            if let Some(name) = cursor.name()
                && cursor.eat(":")
            {
                self.need_text(start..start + name.len())?;
                self.define(name, SymbolKind::Label, 0, start, offset)?;
                continue;
            }
            cursor.rewind(start);
            break;
        }
        if cursor.at_end() {
            return Ok(());
        }
        if cursor.eat(".") {
            self.directive(cursor, line, offset)?;
        } else {
            let start = cursor.position();
            self.need_text(start..line.trim_end().len())?;
            let inst = I::parse_text(cursor)?;
            self.text.push(inst);
            self.spans.push(offset + start..offset + line.trim_end().len());
            self.rows.push(self.place);
        }
        if cursor.at_end() {
            return Ok(());
        }
        let found = cursor.found();
        Err(cursor.error_here(format!("expected the end of the line, found {found}")))
    }

    fn need_text(&self, span: std::ops::Range<usize>) -> Result<(), SyntaxError> {
        match self.section {
            Section::Text => Ok(()),
            _ => Err(SyntaxError::new("instructions and labels stand in `.section .text`", span)),
        }
    }

    fn address(&self) -> u64 {
        (self.text.len() * I::BYTES) as u64
    }

    fn define(
        &mut self,
        name: &str,
        kind: SymbolKind,
        size: u64,
        start: usize,
        offset: usize,
    ) -> Result<(), SyntaxError> {
        let address = self.address();
        if self.defined.insert(name.to_owned(), (address, offset + start)).is_some() {
            let span = start..start + name.len();
            return Err(SyntaxError::new(format!("`{name}` is defined twice"), span));
        }
        self.container.symbols.push(Symbol { name: name.to_owned(), kind, address, size });
        Ok(())
    }

    fn directive(
        &mut self,
        cursor: &mut Cursor<'_>,
        line: &str,
        offset: usize,
    ) -> Result<(), SyntaxError> {
        let start = cursor.position();
        let name = cursor.expect_name("a directive")?;
        let name_span = start - 1..start + name.len();
        match name {
            "isa" => {
                let at = cursor.position();
                let isa = cursor.expect_name("an instruction set")?;
                let version = cursor.number()?;
                if isa != self.dialect.name || version != i64::from(self.dialect.version) {
                    let message = format!("`{isa}` version {version} is not assembled here");
                    let end = cursor.position();
                    return Err(SyntaxError::new(message, at..end).with_help(format!(
                        "this is `{}` version {}",
                        self.dialect.name, self.dialect.version
                    )));
                }
            }
            "machine" => {
                let at = cursor.position();
                let name = line[at..].trim_end();
                cursor.rewind(line.len());
                let known = &self.dialect.machines;
                let Some((_, toml)) = known.iter().find(|(known, _)| *known == name) else {
                    let error =
                        SyntaxError::new(format!("unknown machine `{name}`"), at..at + name.len());
                    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                    return Err(error.with_help(format!("known are {}", names.join(", "))));
                };
                self.machine(toml.clone().into_bytes(), name_span)?;
            }
            "section" => self.open_section(cursor, line, name_span)?,
            "file" => {
                let at = cursor.position();
                let number = cursor.number_in("the file number", 1, i64::from(u32::MAX))?;
                let name = string(cursor, line)?;
                let span = at..cursor.position();
                let Ok(name) = String::from_utf8(name) else {
                    return Err(SyntaxError::new("the name of a file is UTF-8", span));
                };
                if name.is_empty() || name.contains('\0') {
                    return Err(SyntaxError::new("not a name of a file", span));
                }
                let index = self.container.lines.files.len() as u32;
                if self.files.insert(number, index).is_some() {
                    return Err(SyntaxError::new(format!("file {number} is declared twice"), span));
                }
                self.container.lines.files.push(name);
            }
            "loc" => {
                let at = cursor.position();
                let number = cursor.number()?;
                if number == 0 {
                    self.place = None;
                    return Ok(());
                }
                let Some(file) = self.files.get(&number) else {
                    let end = cursor.position();
                    return Err(SyntaxError::new(
                        format!("file {number} is not declared"),
                        at..end,
                    )
                    .with_help("declare it with `.file NUMBER \"NAME\"`"));
                };
                let most = i64::from(u32::MAX);
                let line = cursor.number_in("the line", 1, most)? as u32;
                let column = cursor.number_in("the column", 0, most)? as u32;
                self.place = Some(SourceLine { file: *file, line, column });
            }
            "function" => {
                let at = cursor.position();
                let name = cursor.expect_name("the name of a function")?;
                let size = cursor.number_in("the size", 0, i64::from(u32::MAX))?;
                self.need_text(name_span)?;
                self.define(name, SymbolKind::Function, size as u64, at, offset)?;
            }
            "ascii" => {
                let bytes = string(cursor, line)?;
                self.emit(&bytes, name_span)?;
            }
            "word" | "byte" => loop {
                if name == "word" {
                    let word = cursor.number_in("the word", i32::MIN.into(), u32::MAX.into())?;
                    self.emit(&(word as u32).to_le_bytes(), name_span.clone())?;
                } else {
                    let byte = cursor.number_in("the byte", i8::MIN.into(), u8::MAX.into())?;
                    self.emit(&[byte as u8], name_span.clone())?;
                }
                if !cursor.eat(",") {
                    break;
                }
            },
            _ => {
                let error = SyntaxError::new(format!("unknown directive `.{name}`"), name_span);
                return Err(match nearest(name, DIRECTIVES.iter().copied()) {
                    Some(near) => error.with_help(format!("did you mean `.{near}`?")),
                    None => error,
                });
            }
        }
        Ok(())
    }

    fn machine(&mut self, toml: Vec<u8>, span: std::ops::Range<usize>) -> Result<(), SyntaxError> {
        if std::mem::replace(&mut self.has_machine, true) {
            return Err(SyntaxError::new("the machine is given twice", span));
        }
        self.target = toml;
        Ok(())
    }

    fn open_section(
        &mut self,
        cursor: &mut Cursor<'_>,
        line: &str,
        span: std::ops::Range<usize>,
    ) -> Result<(), SyntaxError> {
        let at = cursor.position();
        let name = line[at..].split_ascii_whitespace().next().unwrap_or("");
        let name_span = at..at + name.len();
        cursor.rewind(name_span.end);
        self.section = if name == ".text" {
            Section::Text
        } else if name == TARGET_NOTE.0 {
            self.machine(Vec::new(), span)?;
            Section::Target
        } else if name == ".rodata" || name == ".data" {
            let address = cursor.number_in("the address", 0, i64::MAX)? as u64;
            let data = &mut self.container.data;
            if data.iter().any(|d| d.name == name) {
                return Err(SyntaxError::new(
                    format!("there are two sections `{name}`"),
                    name_span,
                ));
            }
            data.push(Data { name: name.to_owned(), address, bytes: Vec::new() });
            Section::Data(data.len() - 1)
        } else if name.starts_with(METADATA_PREFIX) && name != RELOCATIONS {
            let metadata = &mut self.container.metadata;
            if metadata.iter().any(|(known, _)| known == name) {
                return Err(SyntaxError::new(
                    format!("there are two sections `{name}`"),
                    name_span,
                ));
            }
            metadata.push((name.to_owned(), Vec::new()));
            Section::Metadata(metadata.len() - 1)
        } else {
            return Err(SyntaxError::new(format!("unknown section `{name}`"), name_span)
                .with_help(format!(
                    "known are .text, .rodata, .data, {} and {METADATA_PREFIX}*",
                    TARGET_NOTE.0
                )));
        };
        Ok(())
    }

    fn emit(&mut self, bytes: &[u8], span: std::ops::Range<usize>) -> Result<(), SyntaxError> {
        match self.section {
            Section::Text => {
                return Err(SyntaxError::new("there is no data in `.section .text`", span));
            }
            Section::Target => self.target.extend_from_slice(bytes),
            Section::Data(index) => self.container.data[index].bytes.extend_from_slice(bytes),
            Section::Metadata(index) => self.container.metadata[index].1.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finish(mut self, text: &str) -> Result<Assembled, Vec<AsmError>> {
        let mut errors = Vec::new();
        if !self.has_machine {
            errors.push(AsmError {
                help: Some("add for example `.machine NAME`".into()),
                ..locate(text, 0..0, "the file does not say for which machine it is".into(), None)
            });
        }
        match String::from_utf8(std::mem::take(&mut self.target)) {
            Ok(toml) => self.container.machine = toml,
            Err(_) => {
                errors.push(locate(
                    text,
                    0..0,
                    "the machine description is not UTF-8".into(),
                    None,
                ));
            }
        }
        for (index, inst) in self.text.iter_mut().enumerate() {
            let mut relocated = false;
            inst.for_each_symbolic_mut(|imm| {
                let Imm::Label(id) = *imm else { return };
                relocated = true;
                let name = &self.labels.names()[id as usize];
                let span = self.spans[index].clone();
                match self.defined.get(name) {
                    Some((address, _)) => *imm = Imm::Value(*address as u32 as i32),
                    None => {
                        let help = nearest(name, self.defined.keys().map(String::as_str))
                            .map(|near| format!("did you mean `{near}`?"));
                        errors.push(locate(text, span, format!("unknown label `{name}`"), help));
                    }
                }
            });
            if relocated {
                self.container.relocations.push((index * I::BYTES) as u32);
            }
        }
        let text_bytes = self.address();
        for symbol in &self.container.symbols {
            if symbol.address + symbol.size > text_bytes {
                let at = self.defined[&symbol.name].1;
                let message = format!("`{}` reaches beyond the end of .text", symbol.name);
                errors.push(locate(text, at..at + symbol.name.len(), message, None));
            }
        }
        for (index, inst) in self.text.iter().enumerate() {
            if errors.len() >= MAX_ERRORS {
                break;
            }
            match inst.encode() {
                Ok(word) => {
                    self.container.text.extend_from_slice(&word.to_le_bytes()[..I::BYTES]);
                }
                // Unknown labels have been reported.
                Err(crate::EncodeError::Unresolved { .. }) => {}
                Err(error) => {
                    errors.push(locate(text, self.spans[index].clone(), error.to_string(), None));
                }
            }
        }
        if !errors.is_empty() {
            errors.truncate(MAX_ERRORS);
            return Err(errors);
        }
        if self.rows.iter().any(Option::is_some) {
            let files = std::mem::take(&mut self.container.lines.files);
            self.container.lines = LineTable { files, rows: self.rows };
        } else {
            self.container.lines = LineTable::default();
        }
        Ok(Assembled { container: self.container, spans: self.spans })
    }
}

/// Takes a quoted text.
fn string(cursor: &mut Cursor<'_>, line: &str) -> Result<Vec<u8>, SyntaxError> {
    let start = cursor.position();
    cursor.expect("\"")?;
    let bytes = line.as_bytes();
    let mut at = start + 1;
    let mut out = Vec::new();
    loop {
        let escape = |at: usize, length: usize| {
            let mut end = (at + length).min(line.len());
            while !line.is_char_boundary(end) {
                end += 1;
            }
            SyntaxError::new("unknown escape", at..end)
                .with_help("known are \\n \\t \\\" \\\\ \\xNN")
        };
        match bytes.get(at) {
            None => {
                return Err(SyntaxError::new("the text has no closing quote", start..line.len()));
            }
            Some(b'"') => {
                cursor.rewind(at + 1);
                return Ok(out);
            }
            Some(b'\\') => {
                match bytes.get(at + 1) {
                    Some(b'n') => out.push(b'\n'),
                    Some(b't') => out.push(b'\t'),
                    Some(b'"') => out.push(b'"'),
                    Some(b'\\') => out.push(b'\\'),
                    Some(b'x') => {
                        let digits = line.get(at + 2..at + 4).filter(|d| !d.starts_with('+'));
                        let Some(Ok(byte)) = digits.map(|d| u8::from_str_radix(d, 16)) else {
                            return Err(escape(at, 2));
                        };
                        out.push(byte);
                        at += 2;
                    }
                    _ => return Err(escape(at, 1)),
                }
                at += 2;
            }
            Some(byte) => {
                out.push(*byte);
                at += 1;
            }
        }
    }
}
