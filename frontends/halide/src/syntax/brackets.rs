//! Brackets: that they match, and which statements go where they do not.

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_base::{Diagnostics, SourceId};

use super::limits::{MAX_NESTING, MAX_SYNTAX_ERRORS, too_deep};
use crate::codes;
use crate::syntax::recovery::{Spanned, names_set, opens_block};
use crate::syntax::token::Token;

/// Brackets match and do not nest too deep. A statement in which they do not is reported and taken
/// out, and the names that it may have set are added to `removed`; gives the number of errors.
/// Fails where braces do not match, which leaves no statements.
pub(crate) fn brackets(
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
