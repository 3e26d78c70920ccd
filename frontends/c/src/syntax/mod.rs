//! From tokens to the syntax tree. After a syntax error the tokens are changed so that the grammar
//! reads on, and the declaration at fault is read again: several errors are found in one run, and
//! none only follows from another.

pub(crate) mod ast;
mod attributes;
mod brackets;
mod builder;
mod errors;
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, unused_qualifications)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/syntax/grammar.rs"));
}
mod macro_errors;
mod repair;
mod scopes;
mod slips;
mod source;
mod token;
pub(crate) mod type_errors;

use std::cell::RefCell;
use std::collections::HashSet;

use nbcc_base::{Diagnostics, Failed};

use self::ast::Item;
use self::builder::Builder;
use self::grammar::FileParser;
use self::repair::{Extent, Repair};
use self::scopes::{Scopes, TokenStream};
use self::source::Source;
use self::token::{Token, Tokens};
use crate::names::{Names, Refused};
use crate::preprocess::token as pre;
use crate::preprocess::{Uses, headers};

/// Brackets nest this deep.
const MAX_NESTING: usize = 256;

/// After this many syntax errors the rest of the file is not looked at.
const MAX_ERRORS: usize = 20;

/// Each error takes so many changes of the tokens at most until the grammar reads on.
const MAX_REPAIRS: usize = 5;

/// Parses a translation unit. What has errors is left out of the items; they are reported, and what
/// it would have declared is `refused`.
pub(crate) fn parse(
    tokens: &[pre::Token],
    uses: &Uses,
    names: &mut Names,
    refused: &mut Refused,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Item>, Failed> {
    let tokens = token::convert(tokens, names, refused, diagnostics);
    let (mut tokens, closed) = brackets::mend(tokens, uses, names, diagnostics)?;
    refused.statements = closed.is_some();
    let scopes = RefCell::new(Scopes::new(&tokens.kinds));
    let mut items = Vec::new();
    let mut errors = 0;
    // The tags of which it was said that their `struct` is missing.
    let mut tags = HashSet::new();
    // What was done about the last error in the declaration that is read, and where.
    let mut done: Option<(usize, Extent)> = None;
    for _ in 0..MAX_ERRORS * MAX_REPAIRS {
        let mut builder = Builder::new(&tokens.spans, names, &scopes, diagnostics);
        let feed = TokenStream::new(&tokens.kinds, &scopes);
        let parsed = FileParser::new().parse(&mut builder, feed);
        items.append(&mut builder.items);
        let mut read = builder.end as usize;
        let Err(error) = parsed else { return Ok(items) };
        scopes.borrow_mut().leave_all();
        let (at, expected) = errors::place(&error, tokens.kinds.len());
        // The last declaration is known as a whole by what stands behind it only.
        if at > read && repair::may_end_item(&tokens.kinds[read..at]) {
            let mut builder = Builder::new(&tokens.spans[read..], names, &scopes, diagnostics);
            let feed = TokenStream::new(&tokens.kinds[read..at], &scopes);
            if FileParser::new().parse(&mut builder, feed).is_ok() {
                items.append(&mut builder.items);
                read = at;
            }
            scopes.borrow_mut().leave_all();
        }
        if read > 0 {
            done = None;
        }
        tokens.replace(0..read, &[]);
        let source = Source::new(&tokens, names, uses);
        let at = at - read;
        let is_bad = |at: usize| tokens.kinds.get(at) == Some(&Token::Bad);
        let beside_bad = is_bad(at) || at.checked_sub(1).is_some_and(is_bad);
        let follows = done.is_some_and(|(last, _)| at <= last + 1) || beside_bad;
        let mut extent = Extent::Nothing;
        let mut repair = Repair::Erase;
        if follows {
            extent = done.map_or(Extent::Nothing, |(_, extent)| extent);
            if extent == Extent::Nothing && source.lacks_semicolon(at, expected) {
                repair = Repair::Insert(at, Token::Semicolon);
            }
        } else {
            let (error, found) = source.explain(at, expected, &scopes.borrow());
            repair = found;
            let is_known = match repair {
                Repair::Type(name) => {
                    let header = headers::declaring(names.text(name));
                    refused.has(name)
                        || header.is_some_and(|header| !refused.headers.insert(header))
                }
                Repair::Tag(_, name) => !tags.insert(name),
                // Where a bracket was put in, that was said.
                _ => closed.as_ref().is_some_and(|closed| source.in_closed(at, closed)),
            };
            if !is_known {
                errors += 1;
                refused.statements = true;
                diagnostics.push(error);
            }
            if errors == MAX_ERRORS {
                return Ok(items);
            }
        }
        done = Some(match repair {
            Repair::Insert(at, token) => {
                tokens.insert(at, token);
                (at, extent)
            }
            Repair::Replace(range, with) => {
                let start = range.start;
                tokens.replace(range, &with);
                (start, extent)
            }
            Repair::Type(name) => {
                refused.add(name);
                scopes.borrow_mut().declare(name, true);
                (at, extent)
            }
            Repair::Tag(number, _) => {
                tokens.insert(number, Token::Struct);
                (number, extent)
            }
            Repair::Erase => erase(&mut tokens, at, extent.more(), &scopes, refused),
        });
        if tokens.kinds.is_empty() {
            break;
        }
    }
    Ok(items)
}

/// Leaves out what is wrong around a token, as much as is said or more. Where it stood, and how much.
fn erase(
    tokens: &mut Tokens,
    at: usize,
    extent: Extent,
    scopes: &RefCell<Scopes>,
    refused: &mut Refused,
) -> (usize, Extent) {
    if extent <= Extent::Brackets
        && let Some(start) = repair::erase_brackets(tokens, at, refused)
    {
        return (start, Extent::Brackets);
    }
    if extent <= Extent::Statement
        && let Some(start) = repair::erase_statement(tokens, at, refused)
    {
        return (start, Extent::Statement);
    }
    let end = behind(&tokens.kinds, at);
    let item = &tokens.kinds[..end];
    repair::note_item(item, refused);
    if let (Some(Token::Storage(ast::Storage::Typedef)), Some(Token::Name(name))) =
        (item.first(), item.iter().rev().nth(1))
    {
        scopes.borrow_mut().declare(*name, true);
    }
    refused.statements = true;
    tokens.replace(0..end, &[]);
    (0, Extent::Nothing)
}

/// The token behind the declaration that begins the list and has an error at `at`.
fn behind(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (number, token) in tokens.iter().enumerate() {
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
