//! What is done about a syntax error, so that what follows is read as it was meant: a token is put in
//! or changed where it is clear what was meant, else an expression, a statement or a declaration is
//! left out.

use std::ops::Range;

use super::token::{Token, Tokens};
use crate::names::{Name, Refused};

/// How the tokens are changed after an error.
#[derive(Debug)]
pub(super) enum Repair {
    /// The token is put in before that of the number.
    Insert(usize, Token),
    /// The tokens are replaced.
    Replace(Range<usize>, Vec<Token>),
    /// The name is a type.
    Type(Name),
    /// The name of that number is a tag, and lacks its `struct`.
    Tag(usize, Name),
    /// What is wrong is left out.
    Erase,
}

/// How much is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    Nothing,
    Brackets,
    Statement,
    Declaration,
}

impl Extent {
    pub(super) fn more(self) -> Extent {
        match self {
            Extent::Nothing => Extent::Brackets,
            Extent::Brackets => Extent::Statement,
            _ => Extent::Declaration,
        }
    }
}

/// What brackets hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Statements,
    Members,
    Other,
}

/// Brackets that are open.
struct Level {
    open: usize,
    holds: Holds,
    /// Where the statement in them begins.
    start: usize,
    /// Whether a label is read whose `:` comes.
    in_label: bool,
}

/// Leaves out what is in the innermost parentheses or brackets around a token. Where it stood.
pub(super) fn erase_brackets(
    tokens: &mut Tokens,
    at: usize,
    refused: &mut Refused,
) -> Option<usize> {
    let levels = levels(&tokens.kinds, at);
    let open = levels.last().filter(|level| level.holds == Holds::Other)?.open;
    if open == usize::MAX || tokens.kinds[open] == Token::OpenBrace {
        return None;
    }
    let end = closing(&tokens.kinds, open + 1)?;
    let inside = &tokens.kinds[open + 1..end];
    if inside == [Token::Bad] {
        return None;
    }
    let is_for = open > 0 && tokens.kinds[open - 1] == Token::For;
    if !is_for {
        note_declared(inside, refused);
        tokens.replace(open + 1..end, &[Token::Bad]);
        return Some(open + 1);
    }
    let mut depth = 0_usize;
    let semicolons: Vec<usize> = (open + 1..end)
        .filter(|&number| {
            depth = depth_behind(depth, tokens.kinds[number]);
            depth == 0 && tokens.kinds[number] == Token::Semicolon
        })
        .collect();
    let [first, second] = semicolons[..] else {
        note_declared(inside, refused);
        let (bad, end_of) = (Token::Bad, Token::Semicolon);
        tokens.replace(open + 1..end, &[bad, end_of, bad, end_of, bad]);
        return Some(open + 5);
    };
    let part = match at {
        at if at <= first => open + 1..first,
        at if at <= second => first + 1..second,
        _ => second + 1..end,
    };
    if tokens.kinds[part.clone()] == [Token::Bad] {
        return None;
    }
    note_declared(&tokens.kinds[part.clone()], refused);
    let start = part.start;
    tokens.replace(part, &[Token::Bad]);
    Some(start)
}

/// Leaves out the statement, or the declaration of members, in which a token stands. Where it stood.
pub(super) fn erase_statement(
    tokens: &mut Tokens,
    at: usize,
    refused: &mut Refused,
) -> Option<usize> {
    let levels = levels(&tokens.kinds, at);
    let level = levels.iter().rev().find(|level| level.holds != Holds::Other)?;
    let mut depth = levels.iter().rev().take_while(|other| other.open != level.open).count();
    let mut end = at;
    while let Some(&token) = tokens.kinds.get(end) {
        if depth == 0 && token == Token::CloseBrace {
            break;
        }
        depth = depth_behind(depth, token);
        end += 1;
        let goes_on = matches!(
            tokens.kinds.get(end),
            Some(Token::Semicolon | Token::Comma | Token::Assign | Token::Dot | Token::OpenIndex)
        );
        if depth == 0 && (token == Token::Semicolon || token == Token::CloseBrace && !goes_on) {
            break;
        }
    }
    let range = level.start..end;
    if range.is_empty() || tokens.kinds[range.clone()] == [Token::Semicolon] {
        return None;
    }
    if level.holds == Holds::Members {
        note_names(&tokens.kinds[range.clone()], refused);
    } else {
        note_declared(&tokens.kinds[range.clone()], refused);
    }
    refused.statements = true;
    let (start, is_block) = (range.start, level.holds == Holds::Statements);
    tokens.replace(range, if is_block { &[Token::Semicolon] } else { &[] });
    Some(start)
}

/// Whether tokens may be a whole declaration or function.
pub(super) fn may_end_item(tokens: &[Token]) -> bool {
    let depth = |depth: usize, &token: &Token| depth_behind(depth, token);
    matches!(tokens.last(), Some(Token::Semicolon | Token::CloseBrace))
        && tokens.iter().fold(0, depth) == 0
}

/// Notes the names that a declaration or function declares, which is left out.
pub(super) fn note_item(tokens: &[Token], refused: &mut Refused) {
    let is_type = matches!(tokens.first(), Some(Token::Struct | Token::Enum | Token::Storage(_)));
    let is_head = |token: &&Token| is_type || **token != Token::OpenBrace;
    for token in tokens.iter().take_while(is_head) {
        if let Token::Name(name) = token {
            refused.add(*name);
        }
    }
}

/// Notes the names in a list of tokens, if that declares some.
fn note_declared(tokens: &[Token], refused: &mut Refused) {
    let declares = matches!(
        tokens,
        [Token::Word(_) | Token::Storage(_) | Token::Static | Token::Const | Token::Struct, ..]
            | [Token::Enum | Token::Inline, ..]
            | [Token::Name(_), Token::Name(_), ..]
            | [Token::Name(_), Token::Star, Token::Name(_), ..]
    );
    if declares {
        note_names(tokens, refused);
    }
}

fn note_names(tokens: &[Token], refused: &mut Refused) {
    for token in tokens {
        if let Token::Name(name) = token {
            refused.add(*name);
        }
    }
}

/// How many brackets are open behind a token, if so many are before.
fn depth_behind(depth: usize, token: Token) -> usize {
    match token {
        Token::Open | Token::OpenBrace | Token::OpenIndex => depth + 1,
        Token::Close | Token::CloseBrace | Token::CloseIndex => depth.saturating_sub(1),
        _ => depth,
    }
}

/// What closes the bracket that is open before a token.
fn closing(tokens: &[Token], from: usize) -> Option<usize> {
    let mut depth = 1;
    (from..tokens.len()).find(|&number| {
        depth = depth_behind(depth, tokens[number]);
        depth == 0
    })
}

/// The brackets that are open before a token, that of the file first.
fn levels(tokens: &[Token], at: usize) -> Vec<Level> {
    let level = |open, holds, start| Level { open, holds, start, in_label: false };
    let mut levels = vec![level(usize::MAX, Holds::Other, 0)];
    // The token before the last parentheses that were closed.
    let mut head = None;
    for number in 0..at.min(tokens.len()) {
        let token = tokens[number];
        let before = number.checked_sub(1).map(|before| tokens[before]);
        let Some(last) = levels.last_mut() else { break };
        match token {
            Token::Open | Token::OpenIndex => levels.push(level(number, Holds::Other, number + 1)),
            Token::OpenBrace => {
                let second = number.checked_sub(2).map(|second| tokens[second]);
                let is_struct = |token| matches!(token, Some(Token::Struct));
                let in_block = last.holds == Holds::Statements;
                let holds = match before {
                    before if is_struct(before) || is_struct(second) => Holds::Members,
                    Some(Token::Close) => match head {
                        Some(Token::If | Token::For | Token::While | Token::Switch) => {
                            Holds::Statements
                        }
                        Some(Token::Name(_) | Token::Close) => Holds::Statements,
                        _ => Holds::Other,
                    },
                    Some(Token::Open | Token::Else | Token::Do) => Holds::Statements,
                    Some(Token::Semicolon | Token::OpenBrace | Token::CloseBrace)
                    | Some(Token::Colon | Token::Pragma(_))
                        if in_block =>
                    {
                        Holds::Statements
                    }
                    // The declarations of an old definition.
                    Some(Token::Semicolon) => Holds::Statements,
                    _ => Holds::Other,
                };
                levels.push(level(number, holds, number + 1));
            }
            Token::Close | Token::CloseIndex | Token::CloseBrace => {
                let Some(closed) = levels.pop() else { break };
                let Some(last) = levels.last_mut() else { break };
                let opens = closed.open.checked_sub(1).map(|before| tokens[before]);
                let heads =
                    matches!(opens, Some(Token::If | Token::For | Token::While | Token::Switch));
                if token == Token::Close {
                    head = opens;
                }
                if token == Token::Close && heads
                    || token == Token::CloseBrace && closed.holds == Holds::Statements
                {
                    last.start = number + 1;
                }
            }
            Token::Semicolon | Token::Else | Token::Do | Token::Pragma(_) => {
                last.start = number + 1;
            }
            Token::Case | Token::Default => last.in_label = true,
            Token::Colon if last.in_label => {
                last.in_label = false;
                last.start = number + 1;
            }
            _ => {}
        }
    }
    levels
}
