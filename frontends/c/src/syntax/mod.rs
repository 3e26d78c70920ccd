//! From tokens to the syntax tree. After a syntax error the file is read on behind the declaration
//! at fault, so that several errors are found in one run.

pub(crate) mod ast;
mod attributes;
mod builder;
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, unused_qualifications)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/syntax/grammar.rs"));
}
mod scopes;
mod token;

use std::cell::RefCell;

use lalrpop_util::ParseError;
use nbcc_base::{Diagnostic, Diagnostics, Failed, Span};

use self::ast::Item;
use self::builder::Builder;
use self::grammar::FileParser;
use self::scopes::{Scopes, TokenStream};
use self::token::Token;
use crate::codes;
use crate::names::Names;
use crate::preprocess::token as pre;

/// Brackets nest this deep.
const MAX_NESTING: usize = 256;

/// After this many syntax errors the rest of the file is not looked at.
const MAX_ERRORS: usize = 20;

/// Parses a translation unit. What has errors is left out of the items; they are reported.
pub(crate) fn parse(
    tokens: &[pre::Token],
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Item>, Failed> {
    let (mut tokens, mut spans): (Vec<Token>, Vec<Span>) =
        token::convert(tokens, names, diagnostics).into_iter().unzip();
    brackets(&tokens, &spans, diagnostics)?;
    let scopes = RefCell::new(Scopes::default());
    let mut items = Vec::new();
    for _ in 0..MAX_ERRORS {
        let mut builder = Builder::new(&spans, names, &scopes, diagnostics);
        let feed = TokenStream::new(&tokens, 0, &scopes);
        let parsed = FileParser::new().parse(&mut builder, feed);
        let Err(error) = parsed else {
            items.append(&mut builder.items);
            return Ok(items);
        };
        items.append(&mut builder.items);
        let start = builder.end as usize;
        let at = report(&error, &tokens, &spans, names, diagnostics);
        scopes.borrow_mut().leave_all();
        let rest = behind(&tokens, start, at);
        tokens.drain(..rest);
        spans.drain(..rest);
        if tokens.is_empty() {
            break;
        }
    }
    Ok(items)
}

/// Checks that brackets belong together and do not nest too deep.
fn brackets(tokens: &[Token], spans: &[Span], diagnostics: &mut Diagnostics) -> Result<(), Failed> {
    let mut open: Vec<(Token, Span)> = Vec::new();
    for (&token, &span) in tokens.iter().zip(spans) {
        let partner = match token {
            Token::Close => Token::Open,
            Token::CloseBrace => Token::OpenBrace,
            Token::CloseIndex => Token::OpenIndex,
            Token::Open | Token::OpenBrace | Token::OpenIndex => {
                if open.len() == MAX_NESTING {
                    let error = Diagnostic::error(&codes::LIMIT, "brackets nested too deep");
                    let error = error.at(span, format!("more than {MAX_NESTING}"));
                    return diagnostics.fail(error.help("use variables, functions and loops"));
                }
                open.push((token, span));
                continue;
            }
            _ => continue,
        };
        match open.pop() {
            Some((last, _)) if last == partner => {}
            last => {
                let error = Diagnostic::error(&codes::SYNTAX, "a bracket without its partner");
                let error = error.at(span, "closes nothing that is open");
                let error = match last {
                    Some((_, other)) => error.and(other, "this one is open"),
                    None => error,
                };
                return diagnostics.fail(error.help("remove it, or open it before"));
            }
        }
    }
    match open.pop() {
        None => Ok(()),
        Some((_, span)) => {
            let error = Diagnostic::error(&codes::SYNTAX, "a bracket that is not closed");
            diagnostics.fail(error.at(span, "opened here").help("close it"))
        }
    }
}

/// The token behind the declaration that begins at `start` and has an error at `at`.
fn behind(tokens: &[Token], start: usize, at: usize) -> usize {
    let mut depth = 0_usize;
    for (number, token) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::Open | Token::OpenBrace | Token::OpenIndex => depth += 1,
            Token::Close | Token::CloseIndex => depth = depth.saturating_sub(1),
            Token::CloseBrace => {
                depth = depth.saturating_sub(1);
                // `}` ends a function; what follows the members of a structure goes on.
                let next = tokens.get(number + 1);
                let goes_on = matches!(
                    next,
                    Some(Token::Semicolon | Token::Comma | Token::Assign | Token::Name(_))
                );
                if depth == 0 && number >= at && !goes_on {
                    return number + 1;
                }
            }
            Token::Semicolon if depth == 0 && number >= at => return number + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Reports a syntax error; the number of the token at which it stands.
fn report(
    error: &ParseError<u32, Token, ()>,
    tokens: &[Token],
    spans: &[Span],
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> usize {
    let (at, expected) = match error {
        ParseError::UnrecognizedToken { token: (at, ..), expected } => (*at as usize, expected),
        ParseError::UnrecognizedEof { expected, .. } => (tokens.len(), expected),
        ParseError::ExtraToken { .. }
        | ParseError::InvalidToken { .. }
        | ParseError::User { .. } => {
            unreachable!("the grammar ends at the end of the file and its actions do not fail")
        }
    };
    let Some(&span) = spans.get(at) else {
        let error = Diagnostic::error(&codes::SYNTAX, "the file ends within a declaration");
        let error = match spans.last() {
            Some(&last) => error.at(last, "the last of it"),
            None => error,
        };
        diagnostics.push(error.help("complete it, or remove it"));
        return at;
    };
    let has = |what: &str| expected.iter().any(|e| e.trim_matches('"') == what);
    let before = at.checked_sub(1).map(|before| tokens[before]);
    let unknown = match (before, tokens[at]) {
        // `foo x;`, `foo *x`: the first name is no type.
        (Some(Token::Name(name)), Token::Name(_)) => Some((name, spans[at - 1])),
        (_, Token::Name(name)) if has("type") && !has("integer") => Some((name, span)),
        _ => None,
    };
    let diagnostic = match unknown {
        Some((name, span)) => {
            let name = names.text(name);
            let error =
                Diagnostic::error(&codes::UNKNOWN_TYPE, format!("there is no type `{name}`"));
            let known = [
                "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
                "uint64_t", "size_t", "bool", "int", "char", "short", "long", "unsigned", "void",
            ];
            let help = match nbcc_base::nearest(name, known) {
                _ if known.contains(&name) => {
                    "include <stdint.h>, <stdbool.h> or <stddef.h>".to_string()
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it with `typedef` before, or write `struct` before its tag".into(),
            };
            error.at(span, "no type").help(help)
        }
        None => {
            let error = Diagnostic::error(&codes::SYNTAX, "this is not expected here");
            let help = if has(";") {
                "a `;` may be missing before this".to_string()
            } else if expected.len() <= 3 {
                format!("expected {}", expected.join(" or ").replace('"', "`"))
            } else if has("integer") {
                "an expression is expected".to_string()
            } else {
                "leave it out, or complete what stands before".to_string()
            };
            error.at(span, "unexpected").help(help)
        }
    };
    diagnostics.push(diagnostic);
    at
}
