//! From text to syntax tree: tokens, brackets, the parser, and how errors in them are told.
//!
//! After a syntax error, the file is parsed again without the statement at fault
//! ([`crate::syntax::recovery`]), so that several errors are found in one run.

pub(crate) mod ast;
mod brackets;
mod builder;
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, unused_qualifications)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/syntax/grammar.rs"));
}
pub(crate) mod limits;
mod preprocessor;
mod recovery;
mod report;
pub(crate) mod scan;
mod token;
mod type_names;

use std::collections::HashSet;

use logos::Logos;
use nbcc_base::lexical::{self, shorten};
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};

use self::brackets::brackets;
use self::grammar::FileParser;
use self::report::report;
use crate::codes;
use crate::syntax::ast::{Ast, Names, Symbol};
use crate::syntax::builder::Builder;
use crate::syntax::limits::MAX_SYNTAX_ERRORS;
use crate::syntax::preprocessor::{Conditions, Line};
use crate::syntax::recovery::{Spanned, Structure, names_set};
use crate::syntax::token::{LexError, Token};
pub(crate) use crate::syntax::type_names::TypeNames;

/// Tokens in a source file: what is made of them fits the memory of a small machine.
const MAX_TOKENS: usize = 4_000_000;

/// Tokens that are parsed, again after each syntax error, until the rest is not looked at.
const MAX_PARSED: usize = 8 * MAX_TOKENS;

/// Bytes in a source file.
const MAX_SOURCE: usize = 64 << 20;

/// What is known of a file beside its tree.
pub(crate) struct Read {
    pub(crate) names: Names,
    pub(crate) types: TypeNames,
    /// The syntax errors that were reported. Statements at fault are left out of the tree.
    pub(crate) errors: usize,
    /// The names that these statements may have set.
    pub(crate) lost: HashSet<Symbol>,
}

/// Parses a file as far as it can be read. `Err` where nothing of it can. `generator` is the one that
/// was asked for.
pub(crate) fn parse(
    source: SourceId,
    file: &SourceFile,
    generator: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Result<(Ast, Read), Failed> {
    if file.text.len() > MAX_SOURCE {
        return diagnostics.fail(
            Diagnostic::error(&codes::FILE_SIZE, "the file is too large")
                .at(
                    Span::new(source, 0, 0),
                    format!("{} bytes, of {MAX_SOURCE} at most", file.text.len()),
                )
                .help("make several pipelines of it, each in a file of its own"),
        );
    }
    let (mut tokens, mut errors) = lex(source, &file.text, diagnostics)?;
    let mut removed: Vec<Spanned> = Vec::new();
    errors += brackets(source, &mut tokens, &mut removed, diagnostics)?;
    open_namespaces(&mut tokens);
    let mut types = type_names::read(&file.text, &mut tokens, generator);
    let mut builder = Builder::new(source, &file.text);
    builder.templates = std::mem::take(&mut types.templates);
    let mut parsed = 0;
    loop {
        parsed += tokens.len();
        let result =
            FileParser::new().parse(&mut builder, tokens.iter().map(|t| Ok::<Spanned, ()>(*t)));
        let Err(error) = result else { break };
        let at = report(source, file, &tokens, &error, diagnostics);
        errors += 1;
        // What stands before the item at fault is read; the item is, without its faulty statement.
        builder.abandon();
        tokens.drain(..tokens.partition_point(|t| t.0 < builder.end));
        let at = tokens.partition_point(|t| t.0 < at);
        let fault = Structure::new(&tokens).statement(&tokens, at);
        if errors >= MAX_SYNTAX_ERRORS || fault.is_empty() || parsed > MAX_PARSED {
            return Err(Failed);
        }
        removed.extend(names_set(&tokens[fault.clone()]));
        tokens.drain(fault);
    }
    let Builder { ast, mut names, .. } = builder;
    let text = |t: &Spanned| &file.text[t.0 as usize..t.2 as usize];
    let lost = removed.iter().map(|t| names.intern(text(t))).collect();
    Ok((ast, Read { names, types, errors, lost }))
}

/// Takes away `namespace {` and `namespace name {` with their partners: what stands inside is read
/// like what stands outside.
fn open_namespaces(tokens: &mut Vec<Spanned>) {
    let structure = Structure::new(tokens);
    let mut gone = vec![false; tokens.len()];
    for i in 0..tokens.len() {
        if tokens[i].1 != Token::Namespace || i > 0 && tokens[i - 1].1 == Token::Using {
            continue;
        }
        let name = |t: &&Spanned| matches!(t.1, Token::Name | Token::Path);
        let open = i + 1 + tokens[i + 1..].iter().take_while(name).count();
        if tokens.get(open).is_some_and(|t| t.1 == Token::OpenBrace) {
            gone[i..=open].fill(true);
            if let Some(close) = gone.get_mut(structure.partner(open)) {
                *close = true;
            }
        }
    }
    let mut gone = gone.into_iter();
    tokens.retain(|_| !gone.next().unwrap_or(false));
}

/// The tokens, with a [`Token::Bad`] for each mistake, and how many of these there are.
fn lex(
    source: SourceId,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Result<(Vec<Spanned>, usize), Failed> {
    let mut tokens = Vec::new();
    let mut errors = 0;
    let mut conditions = Conditions::default();
    for (token, range) in Token::lexer(text).spanned() {
        let (start, end) = (range.start as u32, range.end as u32);
        if token == Err(LexError::Preprocessor) {
            let line = text.get(range.clone()).unwrap_or("");
            if let Line::Done = conditions.line(line, range.clone()) {
                continue;
            }
        } else if !conditions.is_read() {
            continue;
        }
        match token {
            Ok(Token::Comment | Token::Include) => {}
            Ok(token) => tokens.push((start, token, end)),
            Err(error) => {
                diagnostics.push(lex_error(source, text, error, range));
                errors += 1;
                if errors == MAX_SYNTAX_ERRORS {
                    return Err(Failed);
                }
                // A line of the preprocessor stands beside the statements.
                if error != LexError::Preprocessor {
                    tokens.push((start, Token::Bad, end));
                }
            }
        }
    }
    if let Some(range) = conditions.unclosed() {
        diagnostics.push(
            Diagnostic::error(&codes::PREPROCESSOR, "`#if` without `#endif`")
                .at(Span::new(source, range.start, range.end), "begins what may be left out")
                .help("add `#endif`"),
        );
        errors += 1;
    }
    if tokens.len() > MAX_TOKENS {
        return diagnostics.fail(
            Diagnostic::error(&codes::FILE_SIZE, "the file is too large")
                .at(
                    Span::new(source, 0, 0),
                    format!("{} tokens, of {MAX_TOKENS} at most", tokens.len()),
                )
                .help("make several pipelines of it, each in a file of its own"),
        );
    }
    Ok((tokens, errors))
}

fn lex_error(
    source: SourceId,
    text: &str,
    error: LexError,
    range: std::ops::Range<usize>,
) -> Diagnostic {
    let span = Span::new(source, range.start, range.end);
    let slice = text.get(range.clone()).unwrap_or("");
    match error {
        LexError::Character => {
            lexical::unexpected_character(&codes::CHARACTER, source, text, range.start)
        }
        LexError::Letters => Diagnostic::error(
            &codes::NON_ASCII,
            format!("`{}` is not a name: it has a letter outside ASCII", shorten(slice)),
        )
        .at(span, "names are made of A-Z, a-z, 0-9 and _")
        .help("spell the name in ASCII"),
        LexError::Comment => lexical::open_comment(&codes::COMMENT, source, range.start),
        LexError::Text => lexical::open_text(&codes::TEXT, span),
        LexError::Number => {
            Diagnostic::error(&codes::NUMBER, format!("`{}` is not a number", shorten(slice)))
                .at(span, "malformed number")
                .help("integers have no suffix: 12 or 0x1f; floats end in f: 1.5f")
        }
        LexError::Preprocessor => Diagnostic::error(
            &codes::PREPROCESSOR,
            "preprocessor lines are not part of the language",
        )
        .at(span, "remove this line")
        .help("write `const int` for `#define`; conditions are numbers or `defined(NAME)`"),
    }
}
