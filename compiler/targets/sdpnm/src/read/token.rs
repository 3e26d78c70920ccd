//! The tokens of dot, as its language reference has them.

use logos::Logos;

/// What the lexer met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LexError {
    /// A character that starts no token.
    #[default]
    Character,
    /// `/*` without `*/`.
    Comment,
    /// `"` without its partner.
    Text,
    /// `<` without its partner.
    Html,
}

fn block_comment(lexer: &mut logos::Lexer<'_, Token>) -> Result<logos::Skip, LexError> {
    let end = lexer.remainder().find("*/");
    lexer.bump(end.map_or(lexer.remainder().len(), |end| end + 2));
    if end.is_some() { Ok(logos::Skip) } else { Err(LexError::Comment) }
}

/// An HTML text: up to the `>` that closes the first `<`.
fn html(lexer: &mut logos::Lexer<'_, Token>) -> Result<(), LexError> {
    let mut depth = 1usize;
    for (at, byte) in lexer.remainder().bytes().enumerate() {
        depth = match byte {
            b'<' => depth + 1,
            b'>' => depth - 1,
            _ => depth,
        };
        if depth == 0 {
            lexer.bump(at + 1);
            return Ok(());
        }
    }
    lexer.bump(lexer.remainder().len());
    Err(LexError::Html)
}

fn open_text(_: &mut logos::Lexer<'_, Token>) -> Result<(), LexError> {
    Err(LexError::Text)
}

/// A token. Names and texts are read from the source by their span.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(error = LexError)]
pub(crate) enum Token {
    #[token("strict", ignore(case))]
    Strict,
    #[token("digraph", ignore(case))]
    Digraph,
    #[token("graph", ignore(case))]
    Graph,
    #[token("node", ignore(case))]
    Node,
    #[token("edge", ignore(case))]
    Edge,
    #[token("subgraph", ignore(case))]
    Subgraph,
    #[token("->")]
    Arrow,
    #[token("--")]
    Line,
    #[token("{")]
    Open,
    #[token("}")]
    Close,
    #[token("[")]
    OpenList,
    #[token("]")]
    CloseList,
    #[token("=")]
    Equals,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[regex(r"[a-zA-Z_\u{80}-\u{10ffff}][a-zA-Z_0-9\u{80}-\u{10ffff}]*")]
    #[regex(r"-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)")]
    Name,
    #[regex(r#""([^"\\]|\\(.|\n))*""#)]
    #[regex(r#""([^"\\]|\\(.|\n))*\\?"#, open_text)]
    Text,
    #[token("<", html)]
    Html,
    #[token("/*", block_comment)]
    Comment,
}
