//! From tokens to the syntax tree. After a syntax error the file is read on behind the declaration
//! at fault, so that several errors are found in one run.

pub(crate) mod ast;
mod attributes;
mod builder;
pub(crate) mod errors;
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, unused_qualifications)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/syntax/grammar.rs"));
}
mod scopes;
mod token;

use std::cell::RefCell;

use nbcc_base::{Diagnostic, Diagnostics, Failed, Span};

use self::ast::Item;
use self::builder::Builder;
use self::errors::Source;
use self::grammar::FileParser;
use self::scopes::{Scopes, TokenStream};
use self::token::Token;
use crate::codes;
use crate::names::Names;
use crate::preprocess::Uses;
use crate::preprocess::token as pre;

/// Brackets nest this deep.
const MAX_NESTING: usize = 256;

/// After this many syntax errors the rest of the file is not looked at.
const MAX_ERRORS: usize = 20;

/// Parses a translation unit. What has errors is left out of the items; they are reported.
pub(crate) fn parse(
    tokens: &[pre::Token],
    uses: &Uses,
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
        let source = Source { tokens: &tokens, spans: &spans, names, uses };
        let (diagnostic, at) = source.explain(&error);
        diagnostics.push(diagnostic);
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
            // What was opened before is closed, so the last one never is.
            Some((last, at)) if open.iter().any(|&(token, _)| token == partner) => {
                return diagnostics.fail(not_closed(last, at).and(span, "closes one before it"));
            }
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
        Some((token, span)) => diagnostics.fail(not_closed(token, span)),
    }
}

/// The error for a bracket that nothing closes.
fn not_closed(token: Token, span: Span) -> Diagnostic {
    let closing = match token {
        Token::OpenBrace => "}",
        Token::OpenIndex => "]",
        _ => ")",
    };
    let error = Diagnostic::error(&codes::SYNTAX, "a bracket that is not closed");
    error.at(span, "opened here").help(format!("close it with `{closing}`"))
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
