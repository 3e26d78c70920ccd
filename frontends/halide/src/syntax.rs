//! From text to syntax tree: tokens, brackets, the parser, and how errors in them are told.
//!
//! After a syntax error, parsing starts again behind the statement at fault (behind the whole
//! function where it lies in one), so that several errors are found in one run.

use lalrpop_util::ParseError;
use logos::Logos;
use nbcc_base::lexical::{self, shorten};
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};

use crate::ast::{Ast, Names, TypeWord};
use crate::builder::Builder;
use crate::builtins::HALIDE_ONLY;
use crate::codes;
use crate::grammar::FileParser;
use crate::token::{LexError, Token};

/// Brackets and statements may nest this deep; C++ compilers set a like limit.
pub(crate) const MAX_NESTING: u32 = 256;

/// After this many syntax errors the rest of the file is not looked at.
const MAX_SYNTAX_ERRORS: usize = 20;

/// Tokens in a source file: what is made of them fits the memory of a small machine.
const MAX_TOKENS: usize = 4_000_000;

/// Bytes in a source file.
const MAX_SOURCE: usize = 64 << 20;

type Spanned = (u32, Token, u32);

/// Parses a file.
pub(crate) fn parse(
    source: SourceId,
    file: &SourceFile,
    diagnostics: &mut Diagnostics,
) -> Result<(Ast, Names), Failed> {
    if file.text.len() > MAX_SOURCE {
        return diagnostics.fail(Diagnostic::error(&codes::FILE_SIZE, "the file is too large").at(
            Span::new(source, 0, 0),
            format!("{} bytes, of {MAX_SOURCE} at most", file.text.len()),
        ));
    }
    let tokens = lex(source, &file.text, diagnostics)?;
    brackets(source, &tokens, diagnostics)?;
    let mut builder = Builder::new(source, &file.text);
    let mut rest = &tokens[..];
    let mut errors = 0;
    while let Err(error) =
        FileParser::new().parse(&mut builder, rest.iter().map(|t| Ok::<Spanned, ()>(*t)))
    {
        let at = report(source, file, rest, &error, diagnostics);
        errors += 1;
        if errors == MAX_SYNTAX_ERRORS {
            break;
        }
        rest = resume(rest, at);
    }
    if errors > 0 { Err(Failed) } else { Ok((builder.ast, builder.names)) }
}

fn lex(
    source: SourceId,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Spanned>, Failed> {
    let mut tokens = Vec::new();
    let mut errors = 0;
    for (token, range) in Token::lexer(text).spanned() {
        match token {
            Ok(Token::Comment) => {}
            Ok(token) => tokens.push((range.start as u32, token, range.end as u32)),
            Err(error) => {
                diagnostics.push(lex_error(source, text, error, range));
                errors += 1;
                if errors == MAX_SYNTAX_ERRORS {
                    break;
                }
            }
        }
    }
    if errors > 0 {
        return Err(Failed);
    }
    if tokens.len() > MAX_TOKENS {
        return diagnostics.fail(Diagnostic::error(&codes::FILE_SIZE, "the file is too large").at(
            Span::new(source, 0, 0),
            format!("{} tokens, of {MAX_TOKENS} at most", tokens.len()),
        ));
    }
    Ok(tokens)
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

/// Brackets match and do not nest too deep.
fn brackets(
    source: SourceId,
    tokens: &[Spanned],
    diagnostics: &mut Diagnostics,
) -> Result<(), Failed> {
    let span = |t: &Spanned| Span { source, start: t.0, end: t.2 };
    let mut open: Vec<&Spanned> = Vec::new();
    for token in tokens {
        let opening = match token.1 {
            Token::Open | Token::OpenIndex | Token::OpenBrace => {
                open.push(token);
                if open.len() > MAX_NESTING as usize {
                    return diagnostics.fail(too_deep(span(token), MAX_NESTING));
                }
                continue;
            }
            Token::Close => Token::Open,
            Token::CloseIndex => Token::OpenIndex,
            Token::CloseBrace => Token::OpenBrace,
            _ => continue,
        };
        match open.pop() {
            Some(partner) if partner.1 == opening => {}
            Some(other) => {
                return diagnostics.fail(
                    Diagnostic::error(
                        &codes::BRACKETS,
                        format!("`{}` does not match `{}`", bracket(token.1), bracket(other.1)),
                    )
                    .at(span(token), format!("`{}` was expected here", partner_of(other.1)))
                    .and(span(other), "opened here"),
                );
            }
            None => {
                return diagnostics.fail(
                    Diagnostic::error(
                        &codes::BRACKETS,
                        format!("`{}` closes nothing", bracket(token.1)),
                    )
                    .at(span(token), "no bracket is open here"),
                );
            }
        }
    }
    match open.pop() {
        Some(token) => diagnostics.fail(
            Diagnostic::error(&codes::BRACKETS, format!("`{}` is never closed", bracket(token.1)))
                .at(span(token), "opened here")
                .help(format!("add `{}`", partner_of(token.1))),
        ),
        None => Ok(()),
    }
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
    let before = tokens.partition_point(|t| t.0 < start);
    if let Some(&(from, Token::Type(token_type), to)) =
        before.checked_sub(1).and_then(|i| tokens.get(i))
        && expected.iter().all(|e| e == "\"(\"" || e == "\"{\"")
    {
        // A type in an expression would have to be called.
        let word = &file.text[from as usize..to as usize];
        let template = match before.checked_sub(3).map(|first| &tokens[first..before - 1]) {
            Some([(a, Token::Name, b), (_, Token::Less, _)]) => {
                Some(shorten(&file.text[*a as usize..*b as usize]))
            }
            _ => None,
        };
        let vector = template.as_deref() == Some("vector");
        let of_halide = template.as_deref().is_some_and(|name| HALIDE_ONLY.contains(&name));
        let diagnostic = match template.filter(|_| !vector) {
            Some(name) if of_halide => Diagnostic::error(
                &codes::UNSUPPORTED,
                format!("`{name}<{word}>` of Halide is not supported"),
            ),
            Some(name) => {
                Diagnostic::error(&codes::UNSUPPORTED, format!("`{name}<{word}>` is not supported"))
            }
            None => Diagnostic::error(&codes::SYNTAX, format!("unexpected type `{word}`")),
        };
        let diagnostic =
            diagnostic.at(Span { source, start: from, end: to }, "a type cannot stand here");
        diagnostics.push(match token_type {
            _ if vector => diagnostic.help("arrays are declared as in C: `Func f[3];`"),
            TypeWord::C if !of_halide => {
                diagnostic.help(format!("a value is converted with `cast<{word}>(...)`"))
            }
            _ => diagnostic,
        });
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
        None
    } else if has(";") {
        Some("a `;` may be missing before this".to_owned())
    } else if expected.len() <= 3 {
        let list: Vec<String> =
            expected.iter().map(|e| format!("`{}`", e.trim_matches('"'))).collect();
        Some(format!("expected {}", list.join(" or ")))
    } else if has("integer") {
        Some("an expression is expected".to_owned())
    } else {
        None
    };
    diagnostics.push(match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    });
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
        (Token::Colon, tokens) => {
            let head = tokens.iter().rposition(|t| t.1 == Token::For)?;
            let within = tokens.get(head + 1..)?;
            let closed = |t: &Spanned| matches!(t.1, Token::Semicolon | Token::Close);
            (!within.iter().any(closed)).then(|| {
                Diagnostic::error(&codes::UNSUPPORTED, "a `for` over a range is not supported")
                    .at(span, "`for (...; ...; ...)` is expected")
                    .help("count through the elements: `for (int i = 0; i < 3; i++)`")
            })
        }
        _ => None,
    }
}

/// The tokens behind the statement or function in which offset `at` lies.
fn resume(tokens: &[Spanned], at: u32) -> &[Spanned] {
    let error = tokens.partition_point(|t| t.0 < at);
    let mut depth = 0i64;
    for token in &tokens[..error] {
        match token.1 {
            Token::OpenBrace => depth += 1,
            Token::CloseBrace => depth -= 1,
            _ => {}
        }
    }
    for (i, token) in tokens[error..].iter().enumerate() {
        match token.1 {
            Token::OpenBrace => depth += 1,
            Token::CloseBrace => {
                depth -= 1;
                let next = tokens.get(error + i + 1).map(|t| t.1);
                let goes_on = matches!(
                    next,
                    Some(Token::Semicolon | Token::Else | Token::Close | Token::Comma)
                );
                if depth <= 0 && !goes_on {
                    return &tokens[error + i + 1..];
                }
            }
            Token::Semicolon if depth <= 0 => return &tokens[error + i + 1..],
            _ => {}
        }
    }
    &[]
}
