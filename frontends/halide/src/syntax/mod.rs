//! From text to syntax tree: tokens, brackets, the parser, and how errors in them are told.
//!
//! After a syntax error, the file is parsed again without the statement at fault
//! ([`crate::syntax::recovery`]), so that several errors are found in one run.

pub(crate) mod ast;
mod builder;
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, unused_qualifications)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/syntax/grammar.rs"));
}
mod recovery;
pub(crate) mod scan;
mod token;

use std::collections::HashSet;

use lalrpop_util::ParseError;
use logos::Logos;
use nbcc_base::lexical::{self, shorten};
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};

use self::grammar::FileParser;
use crate::codes;
use crate::syntax::ast::{Ast, Names, Symbol, TypeWord};
use crate::syntax::builder::Builder;
use crate::syntax::recovery::{Spanned, Structure, names_set, opens_block};
use crate::syntax::token::{LexError, Token};

/// Brackets and statements may nest this deep; C++ compilers set a like limit.
pub(crate) const MAX_NESTING: u32 = 256;

/// After this many syntax errors the rest of the file is not looked at.
const MAX_SYNTAX_ERRORS: usize = 20;

/// Tokens in a source file: what is made of them fits the memory of a small machine.
const MAX_TOKENS: usize = 4_000_000;

/// Tokens that are parsed, again after each syntax error, until the rest is not looked at.
const MAX_PARSED: usize = 8 * MAX_TOKENS;

/// Bytes in a source file.
const MAX_SOURCE: usize = 64 << 20;

/// A file as far as it could be read.
pub(crate) struct Parsed {
    pub(crate) ast: Ast,
    pub(crate) names: Names,
    /// The syntax errors that were reported. Statements at fault are left out.
    pub(crate) errors: usize,
    /// The names that these statements may have set.
    pub(crate) lost: HashSet<Symbol>,
}

/// Parses a file. `Err` where nothing of it can be read.
pub(crate) fn parse(
    source: SourceId,
    file: &SourceFile,
    diagnostics: &mut Diagnostics,
) -> Result<Parsed, Failed> {
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
    mark_templates(&mut tokens);
    let mut builder = Builder::new(source, &file.text);
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
    Ok(Parsed { ast, names, errors, lost })
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

/// Tells the `<` of a call with a type, as in `undef<float>()`, from the operator.
fn mark_templates(tokens: &mut [Spanned]) {
    for i in 0..tokens.len().saturating_sub(4) {
        if let [
            (_, Token::Name, _),
            (_, less @ Token::Less, _),
            (_, Token::Type(_), _),
            (_, Token::Greater, _),
            (_, Token::Open, _),
        ] = &mut tokens[i..i + 5]
        {
            *less = Token::TemplateOpen;
        }
    }
}

/// The tokens, with a [`Token::Bad`] for each mistake, and how many of these there are.
fn lex(
    source: SourceId,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Result<(Vec<Spanned>, usize), Failed> {
    let mut tokens = Vec::new();
    let mut errors = 0;
    for (token, range) in Token::lexer(text).spanned() {
        let (start, end) = (range.start as u32, range.end as u32);
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
        .help("a file is one pipeline and includes nothing; write `const int` for `#define`"),
    }
}

/// Brackets match and do not nest too deep. A statement in which they do not is reported and taken
/// out, and the names that it may have set are added to `removed`; gives the number of errors.
/// Fails where braces do not match, which leaves no statements.
fn brackets(
    source: SourceId,
    tokens: &mut Vec<Spanned>,
    removed: &mut Vec<Spanned>,
    diagnostics: &mut Diagnostics,
) -> Result<usize, Failed> {
    let span = |t: &Spanned| Span { source, start: t.0, end: t.2 };
    let mut open: Vec<usize> = Vec::new();
    let mut block = vec![false; tokens.len()];
    // Where the statement began that is read, in each brace that is open.
    let mut starts: Vec<usize> = vec![0];
    let mut faults: Vec<std::ops::Range<usize>> = Vec::new();
    let mut errors = 0;
    let mut i = 0;
    while i < tokens.len() {
        let token = tokens[i];
        let top = open.last().map(|&n| tokens[n]);
        let opening = match token.1 {
            Token::Open | Token::OpenIndex | Token::OpenBrace => {
                open.push(i);
                if open.len() > MAX_NESTING as usize {
                    return diagnostics.fail(too_deep(span(&token), MAX_NESTING));
                }
                block[i] = token.1 == Token::OpenBrace && opens_block(tokens, &block, i);
                if block[i] {
                    starts.push(i + 1);
                }
                i += 1;
                continue;
            }
            Token::Semicolon if top.is_none_or(|t| t.1 == Token::OpenBrace) => {
                *starts.last_mut().expect("the file's own") = i + 1;
                i += 1;
                continue;
            }
            Token::Semicolon => {
                let head = open.last().and_then(|n| n.checked_sub(1)).map(|n| tokens[n].1);
                if head == Some(Token::For) {
                    i += 1;
                    continue;
                }
                Token::Semicolon
            }
            Token::Close => Token::Open,
            Token::CloseIndex => Token::OpenIndex,
            Token::CloseBrace => Token::OpenBrace,
            _ => {
                i += 1;
                continue;
            }
        };
        if top.is_some_and(|t| t.1 == opening) {
            if open.pop().is_some_and(|n| block[n]) {
                starts.pop();
            }
            i += 1;
            continue;
        }
        let start = *starts.last().expect("the file's own");
        errors += 1;
        let diagnostic = match top {
            Some(other) if opening == Token::Semicolon => never_closed(&other, span(&other)),
            Some(other) => Diagnostic::error(
                &codes::BRACKETS,
                format!("`{}` does not match `{}`", bracket(token.1), bracket(other.1)),
            )
            .at(span(&token), format!("`{}` was expected here", partner_of(other.1)))
            .and(span(&other), "opened here")
            .help(format!("write `{}`", partner_of(other.1))),
            None => Diagnostic::error(
                &codes::BRACKETS,
                format!("`{}` closes nothing", bracket(token.1)),
            )
            .at(span(&token), "no bracket is open here")
            .help("remove it"),
        };
        // A text that does not end has taken its bracket with it.
        if !tokens[start..i].iter().any(|t| t.1 == Token::Bad) {
            diagnostics.push(diagnostic);
        }
        let brace = top.is_none() && opening == Token::OpenBrace;
        if brace || errors == MAX_SYNTAX_ERRORS {
            return Err(Failed);
        }
        // The statement goes, with the rest of it up to its end.
        let mut in_list = false;
        while let Some(&n) = open.last()
            && !block[n]
        {
            in_list |= tokens[n].1 == Token::OpenBrace;
            open.pop();
        }
        let end = match token.1 {
            Token::CloseBrace if !in_list => i,
            _ => {
                let ends = |t: &Spanned| {
                    matches!(t.1, Token::Semicolon | Token::CloseBrace | Token::OpenBrace)
                };
                let i = i + usize::from(token.1 == Token::CloseBrace);
                let end = i + tokens[i..].iter().take_while(|t| !ends(t)).count();
                match tokens.get(end).map(|t| t.1) {
                    Some(Token::Semicolon) => end + 1,
                    // What the brace opens cannot be told apart from the rest.
                    Some(Token::OpenBrace) => return Err(Failed),
                    _ => end,
                }
            }
        };
        // What was at fault inside of this statement goes with it.
        faults.retain(|inner| inner.end <= start);
        faults.push(start..end);
        *starts.last_mut().expect("the file's own") = end;
        i = end;
    }
    if let Some(n) = open.pop() {
        if !tokens[n..].iter().any(|t| t.1 == Token::Bad) {
            diagnostics.push(never_closed(&tokens[n], span(&tokens[n])));
        }
        return Err(Failed);
    }
    for fault in faults.into_iter().rev() {
        removed.extend(names_set(&tokens[fault.clone()]));
        tokens.drain(fault);
    }
    Ok(errors)
}

fn never_closed(token: &Spanned, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::BRACKETS, format!("`{}` is never closed", bracket(token.1)))
        .at(span, "opened here")
        .help(format!("add `{}`", partner_of(token.1)))
}

/// The error for something that nests too deep.
pub(crate) fn too_deep(span: Span, limit: u32) -> Diagnostic {
    Diagnostic::error(&codes::NESTING, format!("nested more than {limit} deep"))
        .at(span, "too deep here")
        .help("name a part of it as an Expr or put it into a function")
}

fn bracket(token: Token) -> &'static str {
    match token {
        Token::Open => "(",
        Token::Close => ")",
        Token::OpenIndex => "[",
        Token::CloseIndex => "]",
        Token::OpenBrace => "{",
        _ => "}",
    }
}

fn partner_of(token: Token) -> &'static str {
    match token {
        Token::Open => ")",
        Token::OpenIndex => "]",
        _ => "}",
    }
}

/// Reports a syntax error; gives the offset at which it stands.
fn report(
    source: SourceId,
    file: &SourceFile,
    tokens: &[Spanned],
    error: &ParseError<u32, Token, ()>,
    diagnostics: &mut Diagnostics,
) -> u32 {
    let (start, token, end, expected) = match error {
        ParseError::UnrecognizedToken { token: (s, t, e), expected } => {
            (*s, Some(*t), *e, expected)
        }
        ParseError::UnrecognizedEof { location, expected } => {
            (*location, None, *location, expected)
        }
        ParseError::ExtraToken { .. }
        | ParseError::InvalidToken { .. }
        | ParseError::User { .. } => {
            unreachable!("the grammar ends at the end of the file and its actions do not fail")
        }
    };
    if token == Some(Token::Bad) {
        return start;
    }
    let before = tokens.partition_point(|t| t.0 < start);
    if let Some(&(from, Token::Type(token_type), to)) =
        before.checked_sub(1).and_then(|i| tokens.get(i))
        && expected.iter().all(|e| ["\"(\"", "\"{\"", "\"::\""].contains(&e.as_str()))
    {
        // A type in an expression would have to be called.
        let word = &file.text[from as usize..to as usize];
        diagnostics.push(
            Diagnostic::error(&codes::SYNTAX, format!("unexpected type `{word}`"))
                .at(Span { source, start: from, end: to }, "a type cannot stand here")
                .help(crate::helps::type_in_expression(word, token_type == TypeWord::C)),
        );
        return start;
    }
    let span = Span { source, start, end };
    let text = shorten(&file.text[start as usize..end as usize]);
    if let Some(diagnostic) = unsupported(source, file, &tokens[..before], token, span) {
        diagnostics.push(diagnostic);
        return start;
    }
    let diagnostic = match token {
        Some(Token::Foreign) => Diagnostic::error(
            &codes::FOREIGN,
            format!(
                "`{text}` is not supported: the compile-time language has `for`, `if` and functions"
            ),
        )
        .at(span, "not part of the language"),
        Some(Token::Type(_) | Token::Input | Token::Output | Token::Param | Token::Buffer)
            if !expected.iter().any(|e| e == "\";\"" || e == "\"type\"") =>
        {
            Diagnostic::error(&codes::SYNTAX, format!("unexpected type `{text}`"))
                .at(span, "a type cannot stand here")
        }
        Some(_) => Diagnostic::error(&codes::SYNTAX, format!("unexpected `{text}`"))
            .at(span, "unexpected here"),
        None => Diagnostic::error(&codes::SYNTAX, "the file ends within a statement")
            .at(span, "ends here"),
    };
    let has = |what: &str| expected.iter().any(|e| e.trim_matches('"') == what);
    let help = if token == Some(Token::Foreign) {
        crate::helps::foreign(&text).to_owned()
    } else if has(";") {
        "a `;` may be missing before this".to_owned()
    } else if expected.len() <= 3 {
        let list: Vec<String> =
            expected.iter().map(|e| format!("`{}`", e.trim_matches('"'))).collect();
        format!("expected {}", list.join(" or "))
    } else if has("integer") {
        "an expression is expected".to_owned()
    } else if let Some(Token::Type(word)) = token {
        crate::helps::type_in_expression(&text, word == TypeWord::C)
    } else {
        "leave it out, or put an operator or a `,` before it".to_owned()
    };
    diagnostics.push(diagnostic.help(help));
    start
}

/// The error for a form of C++ that the language does not have, where the unexpected token and
/// those before it show one.
fn unsupported(
    source: SourceId,
    file: &SourceFile,
    before: &[Spanned],
    token: Option<Token>,
    span: Span,
) -> Option<Diagnostic> {
    let starts_statement = |tokens: &[Spanned]| {
        let end = tokens.last().map(|t| t.1);
        matches!(end, None | Some(Token::Semicolon | Token::OpenBrace | Token::CloseBrace))
    };
    match (token?, before) {
        (Token::Name, [first @ .., (from, Token::Name, to)]) if starts_statement(first) => {
            let name = shorten(&file.text[*from as usize..*to as usize]);
            let at = Span { source, start: *from, end: *to };
            Some(
                Diagnostic::error(&codes::UNSUPPORTED, format!("the type `{name}` is not supported"))
                    .at(at, "not a type of the language")
                    .help("variables are Func, Var, RVar, Expr, RDom, Tuple, ImageParam, Param, Input, Output, or numbers"),
            )
        }
        (Token::Buffer, tokens) if starts_statement(tokens) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "a `Buffer` of its own is not supported")
                .at(span, "neither an input nor an output")
                .help("declare `Input<Buffer<float, 2>> in;`, or a Func with an update for each value"),
        ),
        (Token::OpenIndex, [.., (_, Token::Assign | Token::Open | Token::Comma, _)]) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "a lambda is not supported")
                .at(span, "begins one")
                .help("write a function: `Expr average(Expr a, Expr b) { return (a + b) / 2; }`"),
        ),
        (Token::OpenIndex, [.., (_, Token::Input | Token::Output, _), (_, Token::Less, _), _])
        | (
            Token::OpenIndex,
            [.., (_, Token::Input | Token::Output, _), (_, Token::Less, _), (_, Token::Buffer, _), (_, Token::Less, _), _, _],
        ) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "an array of inputs or outputs is not supported")
                .at(span, "an array")
                .help("declare each by itself: `Input<Buffer<float, 2>> first;`"),
        ),
        _ => None,
    }
}
