//! Reading of assembly files.

use std::collections::BTreeMap;

use super::{AsmError, Dialect, locate};
use crate::container::{
    Container, Data, METADATA_PREFIX, RELOCATIONS, Symbol, SymbolKind, TARGET_NOTE,
};
use nbcc_base::nearest;

use crate::instruction::{EncodeError, Imm, MachineInstruction};
use crate::lines::{LineTable, SourceLine};
use crate::text::{Cursor, LabelTable, SyntaxError};

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

/// Which section lines go to.
enum Section {
    Text,
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
    /// What `.type` and `.size` say of labels.
    functions: BTreeMap<String, Function>,
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
        functions: BTreeMap::new(),
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
                self.define(name, start, offset)?;
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
        cursor.expect_end()
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

    fn define(&mut self, name: &str, start: usize, offset: usize) -> Result<(), SyntaxError> {
        let address = self.address();
        if self.defined.insert(name.to_owned(), (address, offset + start)).is_some() {
            let span = start..start + name.len();
            return Err(SyntaxError::new(format!("`{name}` is defined twice"), span));
        }
        let (name, kind) = (name.to_owned(), SymbolKind::Label);
        self.container.symbols.push(Symbol { name, kind, address, size: 0 });
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

    /// Makes functions of the labels that are some.
    fn shape_functions(&mut self, text: &str, errors: &mut Vec<AsmError>) {
        let mut functions = std::mem::take(&mut self.functions);
        for symbol in &mut self.container.symbols {
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
        self.shape_functions(text, &mut errors);
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
                Err(EncodeError::Unresolved { .. }) => {}
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
