//! Reading of assembly files.

use std::collections::BTreeMap;

use nbcc_base::nearest;

use super::error::{AsmError, locate};
use super::section::{BoxedInstruction, Dialect, TextType};
use crate::container::{
    ALIGNMENT, Container, Data, METADATA_PREFIX, Symbol, SymbolKind, TARGET_NOTE, TEXT,
    TextSection, first_overlap, is_metadata_name,
};
use crate::instruction::{EncodeError, Imm, MachineInstruction};
use crate::lines::SourceLine;
use crate::text::{Cursor, LabelTable, SyntaxError};

/// An assembled program and where its instructions stand in the file.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The program.
    pub container: Container,
    /// The bytes of the file that hold each instruction of each text section.
    pub spans: Vec<Vec<std::ops::Range<usize>>>,
    /// The directives that made the other sections, by name.
    pub contents: BTreeMap<String, Contents>,
}

/// The directives that made a section without instructions: how many bytes it has behind each, and the
/// bytes of the file that hold it. The first one opens the section.
pub type Contents = Vec<(usize, std::ops::Range<usize>)>;

impl Assembled {
    /// The bytes of the file from which the byte at an offset of a section is made: an instruction, or
    /// a directive. Of offsets behind the end the last directive.
    pub fn place(&self, section: &str, offset: u64) -> Option<std::ops::Range<usize>> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut texts = self.container.text.iter().zip(&self.spans);
        if let Some((text, spans)) = texts.find(|(text, _)| text.name == section) {
            return spans.get(offset / text.instruction_bytes as usize).cloned();
        }
        let contents = self.contents.get(section)?;
        let made = contents.partition_point(|(end, _)| *end <= offset);
        contents.get(made).or(contents.last()).map(|(_, span)| span.clone())
    }
}

/// After this many errors the assembler stops.
const MAX_ERRORS: usize = 20;

/// Which section lines go to.
enum Section {
    Text(usize),
    Target,
    Data(usize),
    Metadata(usize),
}

/// What directives say of a function, with the places in the file where they name it.
#[derive(Default)]
struct Function {
    /// `.type` says that it is one.
    typed: Option<usize>,
    /// Its bytes, after `.size`.
    size: Option<(u64, usize)>,
}

/// A text section as it is read.
struct Text {
    ty: TextType,
    /// The bytes of the file that say where it is.
    opened: std::ops::Range<usize>,
    /// Without the instructions and what is made of them.
    section: TextSection,
    insts: Vec<BoxedInstruction>,
    spans: Vec<std::ops::Range<usize>>,
}

impl Text {
    fn new(ty: TextType, address: u64, opened: std::ops::Range<usize>) -> Text {
        let section = TextSection {
            name: ty.section.to_owned(),
            address,
            instruction_bytes: ty.instruction_bytes,
            ..TextSection::default()
        };
        Text { ty, opened, section, insts: Vec::new(), spans: Vec::new() }
    }

    fn bytes(&self) -> u64 {
        self.insts.len() as u64 * u64::from(self.ty.instruction_bytes)
    }

    /// The address after the last instruction.
    fn end(&self) -> u64 {
        self.section.address + self.bytes()
    }
}

struct Assembler<'a> {
    dialect: &'a Dialect,
    container: Container,
    section: Section,
    target: Vec<u8>,
    has_machine: bool,
    /// `.text` first.
    texts: Vec<Text>,
    labels: LabelTable,
    /// Address and the place of the definition.
    defined: BTreeMap<String, (u64, usize)>,
    /// What `.type` and `.size` say of labels.
    functions: BTreeMap<String, Function>,
    /// File numbers as declared.
    files: BTreeMap<i64, u32>,
    /// What the last `.loc` says.
    place: Option<SourceLine>,
    /// What made the sections without instructions.
    contents: BTreeMap<String, Contents>,
}

/// Reads an assembly file.
///
/// # Errors
/// Everything that is wrong with it, up to a limit.
pub fn assemble(text: &str, dialect: &Dialect) -> Result<Assembled, Vec<AsmError>> {
    let main = dialect.text.iter().find(|ty| ty.section == TEXT);
    let mut assembler = Assembler {
        dialect,
        container: Container { isa: dialect.isa, version: dialect.version, ..Container::default() },
        section: Section::Text(0),
        target: Vec::new(),
        has_machine: false,
        texts: vec![Text::new(*main.expect("a dialect has a .text"), 0, 0..0)],
        labels: LabelTable::default(),
        defined: BTreeMap::new(),
        functions: BTreeMap::new(),
        files: BTreeMap::new(),
        place: None,
        contents: BTreeMap::new(),
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
    &["ascii", "byte", "file", "isa", "loc", "machine", "section", "size", "type", "word"];

impl Assembler<'_> {
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
                let text = self.need_text(start..start + name.len())?;
                self.define(text, name, start, offset)?;
                continue;
            }
            cursor.rewind(start);
            break;
        }
        if cursor.at_end() {
            return Ok(());
        }
        let directive = cursor.position();
        if cursor.eat(".") {
            self.directive(cursor, line, offset)?;
            self.note(offset + directive..offset + line.trim_end().len());
        } else {
            let start = cursor.position();
            let text = self.need_text(start..line.trim_end().len())?;
            let text = &mut self.texts[text];
            text.insts.push((text.ty.parse)(cursor)?);
            text.spans.push(offset + start..offset + line.trim_end().len());
            text.section.rows.push(self.place);
        }
        cursor.expect_end()
    }

    /// Notes a directive that opened the section that lines go to, or filled it.
    fn note(&mut self, span: std::ops::Range<usize>) {
        let (name, bytes) = match self.section {
            Section::Text(_) => return,
            Section::Target => (TARGET_NOTE.0, self.target.len()),
            Section::Data(index) => {
                let data = &self.container.data[index];
                (data.name.as_str(), data.bytes.len())
            }
            Section::Metadata(index) => {
                let (name, bytes) = &self.container.metadata[index];
                (name.as_str(), bytes.len())
            }
        };
        match self.contents.get_mut(name) {
            Some(contents) if contents.last().is_some_and(|(end, _)| *end == bytes) => {}
            Some(contents) => contents.push((bytes, span)),
            None => {
                self.contents.insert(name.to_owned(), vec![(bytes, span)]);
            }
        }
    }

    /// The number of the text section that lines go to.
    fn need_text(&self, span: std::ops::Range<usize>) -> Result<usize, SyntaxError> {
        match self.section {
            Section::Text(index) => Ok(index),
            _ => Err(SyntaxError::new("instructions and labels stand in `.section .text`", span)),
        }
    }

    fn define(
        &mut self,
        text: usize,
        name: &str,
        start: usize,
        offset: usize,
    ) -> Result<(), SyntaxError> {
        let text = &mut self.texts[text];
        let address = text.end();
        if self.defined.insert(name.to_owned(), (address, offset + start)).is_some() {
            let span = start..start + name.len();
            return Err(SyntaxError::new(format!("`{name}` is defined twice"), span));
        }
        let (name, kind) = (name.to_owned(), SymbolKind::Label);
        text.section.symbols.push(Symbol { name, kind, address, size: 0 });
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
                let span = offset + start - 1..offset + at + name.len();
                self.contents.insert(TARGET_NOTE.0.to_owned(), vec![(0, span)]);
            }
            "section" => self.open_section(cursor, line, offset, name_span)?,
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
                let index = self.container.files.len() as u32;
                if self.files.insert(number, index).is_some() {
                    return Err(SyntaxError::new(format!("file {number} is declared twice"), span));
                }
                self.container.files.push(name);
            }
            "loc" => {
                let at = cursor.position();
                let number = cursor.number()?;
                let Some(file) = self.files.get(&number) else {
                    let end = cursor.position();
                    return Err(SyntaxError::new(
                        format!("file {number} is not declared"),
                        at..end,
                    )
                    .with_help("declare it with `.file NUMBER \"NAME\"`"));
                };
                let most = i64::from(u32::MAX);
                let line = cursor.number_in("the line", 0, most)? as u32;
                let column = cursor.number_in("the column", 0, most)? as u32;
                self.place = (line > 0).then_some(SourceLine { file: *file, line, column });
            }
            "type" => {
                let at = cursor.position();
                let name = cursor.expect_name("the name of a function")?;
                cursor.expect(",")?;
                let kind = cursor.position();
                if !cursor.eat("@") || cursor.name() != Some("function") {
                    let span = kind..line.trim_end().len();
                    return Err(SyntaxError::new("expected `@function`", span));
                }
                let function = self.functions.entry(name.to_owned()).or_default();
                if function.typed.replace(offset + at).is_some() {
                    let span = at..at + name.len();
                    return Err(SyntaxError::new(format!("`{name}` has two types"), span));
                }
            }
            "size" => {
                let at = cursor.position();
                let name = cursor.expect_name("the name of a function")?;
                cursor.expect(",")?;
                let size = cursor.number_in("the size", 0, i64::from(u32::MAX))? as u64;
                let function = self.functions.entry(name.to_owned()).or_default();
                if function.size.replace((size, offset + at)).is_some() {
                    let span = at..at + name.len();
                    return Err(SyntaxError::new(format!("`{name}` has two sizes"), span));
                }
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
        offset: usize,
        span: std::ops::Range<usize>,
    ) -> Result<(), SyntaxError> {
        let at = cursor.position();
        let name = line[at..].split_ascii_whitespace().next().unwrap_or("");
        let name_span = at..at + name.len();
        cursor.rewind(name_span.end);
        let twice =
            |name_span| SyntaxError::new(format!("there are two sections `{name}`"), name_span);
        self.section = if name == TEXT {
            Section::Text(0)
        } else if let Some(ty) = self.dialect.text.iter().find(|ty| ty.section == name) {
            let address = cursor.number_in("the address", 0, i64::from(u32::MAX))? as u64;
            if !address.is_multiple_of(ALIGNMENT) {
                let message = format!("the address is no multiple of {ALIGNMENT}");
                return Err(SyntaxError::new(message, name_span.end..cursor.position()));
            }
            if self.texts.iter().any(|text| text.section.name == name) {
                return Err(twice(name_span));
            }
            let opened = offset + name_span.start..offset + name_span.end;
            self.texts.push(Text::new(*ty, address, opened));
            Section::Text(self.texts.len() - 1)
        } else if name == TARGET_NOTE.0 {
            self.machine(Vec::new(), span)?;
            Section::Target
        } else if name == ".rodata" || name == ".data" {
            let address = cursor.number_in("the address", 0, i64::MAX)? as u64;
            let data = &mut self.container.data;
            if data.iter().any(|d| d.name == name) {
                return Err(twice(name_span));
            }
            data.push(Data { name: name.to_owned(), address, bytes: Vec::new() });
            Section::Data(data.len() - 1)
        } else if is_metadata_name(name) {
            let metadata = &mut self.container.metadata;
            if metadata.iter().any(|(known, _)| known == name) {
                return Err(twice(name_span));
            }
            metadata.push((name.to_owned(), Vec::new()));
            Section::Metadata(metadata.len() - 1)
        } else {
            let texts: Vec<&str> = self.dialect.text.iter().map(|ty| ty.section).collect();
            return Err(SyntaxError::new(format!("unknown section `{name}`"), name_span)
                .with_help(format!(
                    "known are {}, .rodata, .data, {} and {METADATA_PREFIX}*",
                    texts.join(", "),
                    TARGET_NOTE.0
                )));
        };
        Ok(())
    }

    fn emit(&mut self, bytes: &[u8], span: std::ops::Range<usize>) -> Result<(), SyntaxError> {
        match self.section {
            Section::Text(index) => {
                let name = self.texts[index].ty.section;
                return Err(SyntaxError::new(
                    format!("there is no data in `.section {name}`"),
                    span,
                ));
            }
            Section::Target => self.target.extend_from_slice(bytes),
            Section::Data(index) => self.container.data[index].bytes.extend_from_slice(bytes),
            Section::Metadata(index) => self.container.metadata[index].1.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Makes functions of the labels that are some.
    fn shape_functions(&mut self, text: &str, errors: &mut Vec<AsmError>) {
        let mut functions = std::mem::take(&mut self.functions);
        for symbol in self.texts.iter_mut().flat_map(|text| &mut text.section.symbols) {
            let Some(function) = functions.remove(&symbol.name) else { continue };
            let name = &symbol.name;
            let (at, missing) = match (function.typed, function.size) {
                (Some(_), Some((size, _))) => {
                    (symbol.kind, symbol.size) = (SymbolKind::Function, size);
                    continue;
                }
                (Some(at), None) => (at, format!(".size {name}, BYTES")),
                (None, Some((_, at))) => (at, format!(".type {name}, @function")),
                (None, None) => continue,
            };
            let message = format!("a function has a type and a size, `{name}` only one of them");
            let help = Some(format!("add `{missing}`"));
            errors.push(locate(text, at..at + name.len(), message, help));
        }
        for (name, function) in functions {
            let at = function.typed.or(function.size.map(|(_, at)| at)).unwrap_or_default();
            let help = nearest(&name, self.defined.keys().map(String::as_str))
                .map(|near| format!("did you mean `{near}`?"));
            errors.push(locate(text, at..at + name.len(), format!("unknown label `{name}`"), help));
        }
    }

    fn finish(mut self, text: &str) -> Result<Assembled, Vec<AsmError>> {
        let mut errors = Vec::new();
        if !self.has_machine {
            errors.push(AsmError {
                help: Some("add for example `.machine NAME`".into()),
                ..AsmError::of_file("the file does not say for which machine it is")
            });
        }
        match String::from_utf8(std::mem::take(&mut self.target)) {
            Ok(toml) => self.container.machine = toml,
            Err(_) => errors.push(AsmError::of_file("the machine description is not UTF-8")),
        }
        for place in &mut self.texts {
            let (step, section) = (place.ty.instruction_bytes, &mut place.section);
            for (index, inst) in place.insts.iter_mut().enumerate() {
                let mut relocated = false;
                let own = match inst.is_relative() {
                    true => section.address as u32 + index as u32 * step,
                    false => 0,
                };
                inst.for_each_symbolic_mut(&mut |imm| {
                    let Imm::Label(id) = *imm else { return };
                    relocated = true;
                    let name = &self.labels.names()[id as usize];
                    let span = place.spans[index].clone();
                    match self.defined.get(name) {
                        Some((address, _)) => {
                            *imm = Imm::Value((*address as u32).wrapping_sub(own) as i32);
                        }
                        None => {
                            let help = nearest(name, self.defined.keys().map(String::as_str))
                                .map(|near| format!("did you mean `{near}`?"));
                            let message = format!("unknown label `{name}`");
                            errors.push(locate(text, span, message, help));
                        }
                    }
                });
                if relocated {
                    section.relocations.push(index as u32 * step);
                }
            }
        }
        self.shape_functions(text, &mut errors);
        self.check_addresses(text, &mut errors);
        for place in &mut self.texts {
            for (inst, span) in place.insts.iter().zip(&place.spans) {
                if errors.len() >= MAX_ERRORS {
                    break;
                }
                match inst.encode() {
                    Ok(bytes) => place.section.bytes.extend(bytes),
                    // Unknown labels have been reported.
                    Err(EncodeError::Unresolved { .. }) => {}
                    Err(error) => {
                        errors.push(locate(text, span.clone(), error.to_string(), None));
                    }
                }
            }
        }
        if !errors.is_empty() {
            errors.truncate(MAX_ERRORS);
            return Err(errors);
        }
        let mut spans = Vec::new();
        for mut place in self.texts {
            if place.section.rows.iter().all(Option::is_none) {
                place.section.rows.clear();
            }
            self.container.text.push(place.section);
            spans.push(place.spans);
        }
        if self.container.text.iter().all(|section| section.rows.is_empty()) {
            self.container.files.clear();
        }
        Ok(Assembled { container: self.container, spans, contents: self.contents })
    }

    /// Checks that functions are in their text sections, and that these share no addresses.
    fn check_addresses(&self, text: &str, errors: &mut Vec<AsmError>) {
        for place in &self.texts {
            let section = &place.section;
            for symbol in &section.symbols {
                if symbol.address + symbol.size > place.end() {
                    let at = self.defined[&symbol.name].1;
                    let message =
                        format!("`{}` reaches beyond the end of {}", symbol.name, section.name);
                    errors.push(locate(text, at..at + symbol.name.len(), message, None));
                }
            }
            if place.end() > u64::from(u32::MAX) {
                let message = format!("{} reaches beyond 4 GiB", section.name);
                errors.push(locate(text, place.opened.clone(), message, None));
            }
        }
        let ranges: Vec<_> = self.texts.iter().map(|t| (t.section.address, t.bytes())).collect();
        if let Some((other, late)) = first_overlap(&ranges) {
            let [other, late] = [other, late].map(|index| &self.texts[index]);
            let message = format!("its addresses are also those of {}", other.section.name);
            let help = format!("{} ends at {:#x}", other.section.name, other.end());
            errors.push(locate(text, late.opened.clone(), message, Some(help)));
        }
    }
}

/// Reads a line that is one instruction.
///
/// # Errors
/// It is none, or more.
pub fn parse_instruction<I: MachineInstruction>(line: &str) -> Result<I, SyntaxError> {
    let mut labels = LabelTable::default();
    let mut cursor = Cursor::new(line, &mut labels);
    let inst = I::parse_text(&mut cursor)?;
    cursor.expect_end()?;
    Ok(inst)
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
