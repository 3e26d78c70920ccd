//! The preprocessor (C11, 6.10): directives, conditions, headers and macros, on tokens that keep
//! their spans. What a macro makes stands where the outermost macro is used, so that diagnostics and
//! source locations point at text that the user wrote; [`Preprocessed`] knows the definitions.
//!
//! The state is here, what is done with it in the files below, which own the types of its parts: both
//! name each other.

mod condition;
mod expand;
pub(crate) mod headers;
mod include;
pub(crate) mod token;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Diagnostics, Failed, Severity, SourceFile, SourceId, Span};
use nbcc_pipeline::{Includes, ParseOptions};

pub(crate) use self::expand::BLANK;
use self::expand::Macro;
use self::token::{Kind, Token};
use crate::codes;
use crate::names::{Name, Names, Refused};

/// Levels of conditions and of macros in macros.
pub(crate) const MAX_NESTING: usize = 256;
/// Levels of files that include each other.
const MAX_INCLUDES: usize = 64;
/// Tokens that macros become.
const MAX_EXPANSION: usize = 1_000_000;
/// Bytes of source.
const MAX_SOURCE: usize = 16 << 20;

/// After so many errors the rest of the file is not looked at.
const MAX_ERRORS: usize = 20;

/// Macros by where they are used.
pub(crate) type Uses = HashMap<Span, Use>;

/// What is known of a macro that is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) name: Name,
    /// Where it is defined.
    pub(crate) definition: Option<Span>,
    /// What stands in it that belongs into a definition of a variable.
    pub(crate) extra: Option<&'static str>,
}

/// The tokens of a translation unit.
#[derive(Debug)]
pub(crate) struct Preprocessed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) uses: Uses,
    /// Where files are included.
    pub(crate) included: BTreeMap<SourceId, Span>,
}

/// Names that the preprocessor looks for.
struct Words {
    open: Name,
    close: Name,
    comma: Name,
    /// As they are, and as digraphs.
    hash: [Name; 2],
    paste: [Name; 2],
    defined: Name,
    rest: Name,
    line: Name,
    file: Name,
}

struct Preprocessor<'a> {
    names: &'a mut Names,
    refused: &'a mut Refused,
    diagnostics: &'a mut Diagnostics,
    includes: Option<&'a dyn Includes>,
    macros: HashMap<Name, Macro>,
    /// The macros whose bodies are read.
    active: HashSet<Name>,
    words: Words,
    files: HashMap<SourceId, Arc<SourceFile>>,
    /// The files that are to be read once, by name.
    once: HashSet<String>,
    uses: Uses,
    included: BTreeMap<SourceId, Span>,
    out: Vec<Token>,
    expanded: usize,
    /// The tokens of arguments that are expanded, each with those around it.
    held: usize,
    bytes: usize,
    depth: usize,
    /// The uses of macros that do not end.
    open_uses: usize,
    /// Whether a limit was met, so that there is no reading on.
    exhausted: bool,
    /// Whether text is missing without which the rest means nothing.
    incomplete: bool,
}

/// A conditional group that is open.
struct Group {
    /// Where its `#if` stands.
    span: Span,
    /// Whether this part of it is read.
    reads: bool,
    /// Whether a part of it was or is read, or none may be.
    done: bool,
    has_else: bool,
}

/// Preprocesses a file. It failed where what there is of the tokens says nothing of the program.
pub(crate) fn preprocess(
    source: SourceId,
    file: &SourceFile,
    options: &ParseOptions<'_>,
    names: &mut Names,
    refused: &mut Refused,
    diagnostics: &mut Diagnostics,
) -> (Preprocessed, Result<(), Failed>) {
    let words = Words {
        open: names.intern("("),
        close: names.intern(")"),
        comma: names.intern(","),
        hash: ["#", "%:"].map(|text| names.intern(text)),
        paste: ["##", "%:%:"].map(|text| names.intern(text)),
        defined: names.intern("defined"),
        rest: names.intern("__VA_ARGS__"),
        line: names.intern("__LINE__"),
        file: names.intern("__FILE__"),
    };
    let mut preprocessor = Preprocessor {
        names,
        refused,
        diagnostics,
        includes: options.includes,
        macros: HashMap::new(),
        active: HashSet::new(),
        words,
        files: HashMap::new(),
        once: HashSet::new(),
        uses: HashMap::new(),
        included: BTreeMap::new(),
        out: Vec::new(),
        expanded: 0,
        held: 0,
        bytes: 0,
        depth: 0,
        open_uses: 0,
        exhausted: false,
        incomplete: false,
    };
    let result = preprocessor.predefine(options);
    let result = result.and_then(|()| preprocessor.file(source, &Arc::new(file.clone())));
    let Preprocessor { out, uses, included, incomplete, .. } = preprocessor;
    let result = if incomplete { Err(Failed) } else { result };
    (Preprocessed { tokens: out, uses, included }, result)
}

impl Preprocessor<'_> {
    /// The macros of the compiler and of the command line.
    fn predefine(&mut self, options: &ParseOptions<'_>) -> Result<(), Failed> {
        let own = ["__STDC__=1", "__STDC_VERSION__=201112L", "__STDC_HOSTED__=0", "__NBCC__=1"];
        let given = options.defines.iter().map(String::as_str);
        for text in own.into_iter().chain(given) {
            let (name, value) = text.split_once('=').unwrap_or((text, "1"));
            let is_name = token::single(name) == Some(Kind::Name);
            let is_plain = is_name && !value.contains("/*") && !value.contains('\n');
            if !is_plain {
                let message = format!("`-D {}` defines no name", shorten(text));
                let error = Diagnostic::error(&codes::DIRECTIVE, message);
                return self.diagnostics.fail(error.help("write -D NAME or -D NAME=VALUE"));
            }
            let file = SourceFile::new("-D", value);
            let source = SourceId(u32::MAX);
            let body = token::tokens(source, &file, self.names, self.diagnostics)?;
            let found = Macro { span: None, params: None, variadic: false, body };
            let name = self.names.intern(name);
            self.macros.insert(name, found);
        }
        Ok(())
    }

    fn is_defined(&self, name: Name) -> bool {
        self.macros.contains_key(&name) || name == self.words.line || name == self.words.file
    }

    /// What `__LINE__` and `__FILE__` stand for.
    fn special(&mut self, token: Token) -> Option<Token> {
        if token.text != self.words.line && token.text != self.words.file {
            return None;
        }
        let file = self.files.get(&token.span.source)?;
        let (kind, text) = if token.text == self.words.line {
            (Kind::Number, file.position(token.span.start).line.to_string())
        } else {
            (Kind::Text, format!("{:?}", file.name))
        };
        Some(Token { kind, text: self.names.intern(&text), ..token })
    }

    fn file(&mut self, source: SourceId, file: &Arc<SourceFile>) -> Result<(), Failed> {
        self.bytes += file.text.len();
        if self.bytes > MAX_SOURCE {
            let error = Diagnostic::error(&codes::LIMIT, "more than 16 MiB of source");
            let error = error.at(Span::new(source, 0, 0), "with this file");
            return self.diagnostics.fail(error.help("read large tables as input arrays"));
        }
        self.files.insert(source, file.clone());
        let tokens = token::tokens(source, file, self.names, self.diagnostics)?;
        let mut groups: Vec<Group> = Vec::new();
        let mut text: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let line = at..tokens[at + 1..]
                .iter()
                .position(|token| token.first)
                .map_or(tokens.len(), |n| at + 1 + n);
            at = line.end;
            let line = &tokens[line];
            let reads = groups.iter().all(|group| group.reads);
            if !self.words.hash.contains(&line[0].text) || line[0].kind != Kind::Punct {
                if reads {
                    text.extend_from_slice(line);
                }
                continue;
            }
            let ready = std::mem::take(&mut text);
            self.text(ready)?;
            self.directive(line, file, &mut groups)?;
            let errors = self.diagnostics.iter().filter(|said| said.severity == Severity::Error);
            if errors.count() >= MAX_ERRORS {
                return Err(Failed);
            }
        }
        self.text(text)?;
        if let Some(group) = groups.last() {
            let error = Diagnostic::error(&codes::DIRECTIVE, "a condition that does not end");
            let error = error.at(group.span, "begins here").help("close it with `#endif`");
            self.diagnostics.push(error);
            self.incomplete |= groups.iter().any(|group| !group.reads);
        }
        Ok(())
    }

    /// Lines that are no directives.
    fn text(&mut self, tokens: Vec<Token>) -> Result<(), Failed> {
        if tokens.is_empty() {
            return Ok(());
        }
        let tokens = self.expand(tokens, 0)?;
        if self.out.len() + tokens.len() > token::MAX_TOKENS {
            let message = format!("more than {} tokens", token::MAX_TOKENS);
            let error = Diagnostic::error(&codes::LIMIT, message).at(tokens[0].span, "with these");
            return self.diagnostics.fail(error.help("make several files of it"));
        }
        self.out.extend(tokens);
        Ok(())
    }

    fn directive(
        &mut self,
        line: &[Token],
        file: &Arc<SourceFile>,
        groups: &mut Vec<Group>,
    ) -> Result<(), Failed> {
        let Some((&word, rest)) = line[1..].split_first() else { return Ok(()) };
        let span = word.span;
        let reads = groups.iter().all(|group| group.reads);
        let name = self.names.text(word.text).to_string();
        match name.as_str() {
            "if" | "ifdef" | "ifndef" => {
                let holds = match name.as_str() {
                    _ if !reads => false,
                    "if" => self.holds(rest, span)?,
                    _ => match self.only_name(word, rest) {
                        Some(name) => {
                            self.is_defined(name) == (word.text == self.names.intern("ifdef"))
                        }
                        None => {
                            self.refused.any = true;
                            false
                        }
                    },
                };
                if groups.len() == MAX_NESTING {
                    let error = Diagnostic::error(&codes::LIMIT, "conditions nested too deep");
                    let error = error.at(span, format!("more than {MAX_NESTING}"));
                    return self.diagnostics.fail(error.help("join conditions with `&&`"));
                }
                groups.push(Group { span, reads: holds, done: holds || !reads, has_else: false });
                return Ok(());
            }
            "elif" | "else" | "endif" => {
                let outer = groups[..groups.len().saturating_sub(1)].iter().all(|g| g.reads);
                let misplaced = match groups.last() {
                    None => true,
                    Some(group) => group.has_else && name != "endif",
                };
                let Some(group) = groups.last_mut().filter(|_| !misplaced) else {
                    let error = |message: String| Diagnostic::error(&codes::DIRECTIVE, message);
                    let error = match groups.last() {
                        Some(group) => error(format!("`#{name}` behind the `#else`"))
                            .at(span, "of a condition that has its last part")
                            .and(group.span, "the condition")
                            .help("end the condition with `#endif` before"),
                        None => error(format!("`#{name}` without `#if`"))
                            .at(span, "belongs to no condition")
                            .help("begin the condition with `#if`"),
                    };
                    self.diagnostics.push(error);
                    return Ok(());
                };
                let done = group.done;
                match name.as_str() {
                    "endif" => {
                        groups.pop();
                    }
                    "else" => {
                        group.has_else = true;
                        group.reads = !done;
                        group.done = true;
                    }
                    _ if done || !outer => group.reads = false,
                    _ => {
                        let holds = self.holds(rest, span)?;
                        if let Some(group) = groups.last_mut() {
                            group.reads = holds;
                            group.done = holds;
                        }
                    }
                }
                return Ok(());
            }
            _ if !reads => return Ok(()),
            _ => {}
        }
        match name.as_str() {
            "define" => {
                self.define(word, rest);
                Ok(())
            }
            "undef" => {
                if let Some(name) = self.only_name(word, rest) {
                    self.macros.remove(&name);
                }
                Ok(())
            }
            "include" => self.include(word, rest),
            "error" | "warning" => {
                let end = rest.last().map_or(span.end, |token| token.span.end);
                let said = &file.text[span.end as usize..end as usize];
                let said = shorten(said.trim());
                if name == "error" {
                    let error = Diagnostic::error(&codes::USER_ERROR, format!("#error {said}"));
                    let error = error.at(span, "the source says so");
                    self.diagnostics.push(error.help("do what the source asks for"));
                    self.incomplete = true;
                    return Ok(());
                }
                let warning = Diagnostic::warning(&codes::USER_WARNING, format!("#warning {said}"));
                self.diagnostics.push(warning.at(span, "the source says so"));
                Ok(())
            }
            "line" => Ok(()),
            "pragma" => {
                self.pragma(word, rest, file);
                Ok(())
            }
            _ => {
                let error = Diagnostic::error(&codes::DIRECTIVE, format!("there is no `#{name}`"));
                let error = error.at(span, "no directive");
                let known = [
                    "define", "undef", "include", "error", "warning", "line", "pragma", "if",
                    "ifdef", "ifndef", "elif", "else", "endif",
                ];
                let near = nbcc_base::nearest(&name, known);
                let help = match near {
                    Some(near) => format!("did you mean `#{near}`?"),
                    None => "remove the line".to_string(),
                };
                self.diagnostics.push(error.help(help));
                self.meant(near, span, groups);
                Ok(())
            }
        }
    }

    /// Reads on behind a directive that was misspelt: what conditions say of the text in them is not known.
    fn meant(&mut self, near: Option<&str>, span: Span, groups: &mut Vec<Group>) {
        match near {
            Some("if" | "ifdef" | "ifndef") if groups.len() < MAX_NESTING => {
                groups.push(Group { span, reads: true, done: true, has_else: false });
            }
            Some("elif" | "else") => {
                if let Some(group) = groups.last_mut() {
                    group.reads = !group.done;
                }
            }
            Some("endif") => {
                groups.pop();
            }
            Some("define" | "include" | "undef") => {}
            _ => return,
        }
        self.refused.any = true;
    }

    /// The name that a directive is about; reported where there is none.
    fn only_name(&mut self, word: Token, rest: &[Token]) -> Option<Name> {
        if let Some(token) = rest.first().filter(|token| token.kind == Kind::Name) {
            return Some(token.text);
        }
        let directive = self.names.text(word.text);
        let error = match rest.first() {
            Some(token) => {
                let text = shorten(self.names.text(token.text));
                let message = format!("`#{directive}` of `{text}`, which is no name");
                Diagnostic::error(&codes::DIRECTIVE, message).at(token.span, "no name")
            }
            None => {
                let message = format!("`#{directive}` without a name");
                Diagnostic::error(&codes::DIRECTIVE, message).at(word.span, "asks for a name")
            }
        };
        self.diagnostics.push(error.help("write the name of a macro"));
        None
    }

    fn pragma(&mut self, word: Token, rest: &[Token], file: &Arc<SourceFile>) {
        let first = rest.first().map(|token| self.names.text(token.text).to_string());
        match first.as_deref() {
            Some("once") => {
                self.once.insert(file.name.clone());
            }
            Some("nbcc") => {
                let words: Vec<&str> = rest[1..].iter().map(|t| self.names.text(t.text)).collect();
                let words = words.join(" ");
                let text = self.names.intern(&words);
                self.out.push(Token { kind: Kind::Pragma, text, ..word });
            }
            Some("STDC") | None => {}
            Some(other) => {
                let message = format!("`#pragma {}` is ignored", shorten(other));
                let note = Diagnostic::note(&codes::IGNORED, message);
                self.diagnostics.push(note.at(word.span, "not known here"));
            }
        }
    }

    fn define(&mut self, word: Token, rest: &[Token]) {
        let Some(name) = self.only_name(word, rest) else { return };
        let span = rest[0].span;
        if let Some(error) = token::foreign_name(self.names.text(name), span) {
            return self.diagnostics.push(error);
        }
        let refuse = |pre: &mut Self, span: Span, message: String| {
            let error = Diagnostic::error(&codes::DIRECTIVE, message).at(span, "here");
            pre.diagnostics.push(error.help("write `#define NAME(a, b) text`"));
            pre.refused.add(name);
        };
        if name == self.words.defined || name == self.words.rest || self.special(rest[0]).is_some()
        {
            let message = format!("`{}` cannot be defined", self.names.text(name));
            return refuse(self, span, message);
        }
        let mut at = 1;
        let (mut params, mut variadic) = (None, false);
        let opens = rest.get(1).is_some_and(|token| token.text == self.words.open && !token.space);
        if opens {
            let mut list: Vec<Name> = Vec::new();
            at = 2;
            loop {
                let Some(&token) = rest.get(at) else {
                    return refuse(self, span, "the parameters of a macro do not end".into());
                };
                at += 1;
                let text = self.names.text(token.text);
                if text == ")" && list.is_empty() {
                    break;
                }
                match token.kind {
                    Kind::Name if !list.contains(&token.text) => list.push(token.text),
                    Kind::Name => {
                        let message = format!("the parameter `{}` is there twice", shorten(text));
                        return refuse(self, token.span, message);
                    }
                    Kind::Punct if text == "..." => {
                        variadic = true;
                        list.push(self.words.rest);
                    }
                    _ => {
                        let message = format!("`{}` is no parameter of a macro", shorten(text));
                        return refuse(self, token.span, message);
                    }
                }
                let next = rest.get(at).map(|token| self.names.text(token.text));
                at += 1;
                match next {
                    Some(")") => break,
                    Some(",") if !variadic => {}
                    _ => {
                        return refuse(
                            self,
                            token.span,
                            "a `,` or `)` is missing behind this".into(),
                        );
                    }
                }
            }
            params = Some(list);
        }
        let body = rest[at.min(rest.len())..].to_vec();
        let edge = |token: Option<&Token>| {
            token.is_some_and(|token| self.words.paste.contains(&token.text))
        };
        if edge(body.first()) || edge(body.last()) {
            return refuse(self, span, "`##` stands at an end of a macro".into());
        }
        if let Some(bad) = body.iter().enumerate().find(|&(n, token)| {
            let next = body.get(n + 1);
            let names = |list: &Vec<Name>| next.is_some_and(|next| list.contains(&next.text));
            self.words.hash.contains(&token.text)
                && params.as_ref().is_some_and(|list| !names(list))
        }) {
            return refuse(self, bad.1.span, "`#` stands before no parameter".into());
        }
        let found = Macro { span: Some(span), params, variadic, body };
        if let Some(old) = self.macros.get(&name)
            && !same(old, &found)
        {
            let message =
                format!("macro `{}` is defined again with another text", self.names.text(name));
            let warning = Diagnostic::warning(&codes::REDEFINED, message).at(span, "defined again");
            let warning = match old.span {
                Some(first) => warning.and(first, "first defined here"),
                None => warning,
            };
            self.diagnostics.push(warning.help("`#undef` it first, or choose another name"));
        }
        self.macros.insert(name, found);
    }
}

/// Whether two definitions are the same but for where they stand (6.10.3, 2).
fn same(a: &Macro, b: &Macro) -> bool {
    let tokens = a.body.len() == b.body.len()
        && a.body.iter().zip(&b.body).enumerate().all(|(number, (a, b))| {
            a.kind == b.kind && a.text == b.text && (number == 0 || a.space == b.space)
        });
    tokens && a.params == b.params && a.variadic == b.variadic
}
