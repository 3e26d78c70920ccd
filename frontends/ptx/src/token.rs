//! The tokens of PTX. Directives and modifiers are one kind of token, a dot and a word: which words
//! are meant depends on the place, and most are legal as names elsewhere.

use logos::Logos;

/// What kind of mistake the lexer met. The offending text is the token's span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LexError {
    /// A character that starts no token.
    #[default]
    Character,
    /// `/*` without `*/`.
    Comment,
    /// `"` without its partner on the same line.
    Text,
    /// A number with characters that do not belong to it.
    Number,
    /// A preprocessor line other than a line marker.
    Preprocessor,
    /// `@@DWARF`.
    Dwarf,
}

type Lexer<'a> = logos::Lexer<'a, Token>;

fn block_comment(lexer: &mut Lexer<'_>) -> Result<(), LexError> {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Ok(())
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Err(LexError::Comment)
        }
    }
}

/// `# 3 "file.cu"` and `#line 3` say where text comes from and are skipped; nothing else that starts
/// with `#` is left in a file after preprocessing.
fn hash_line(lexer: &mut Lexer<'_>) -> Result<(), LexError> {
    let before = lexer.source()[..lexer.span().start].bytes().rev();
    let first = before.take_while(|&b| b != b'\n').all(|b| b.is_ascii_whitespace());
    let word = lexer.slice()[1..].trim_start_matches([' ', '\t']);
    let marker = word.starts_with(|c: char| c.is_ascii_digit())
        || word.strip_prefix("line").is_some_and(|r| r.starts_with([' ', '\t']));
    if first && marker { Ok(()) } else { Err(LexError::Preprocessor) }
}

fn bad_number(_: &mut Lexer<'_>) -> Result<(), LexError> {
    Err(LexError::Number)
}

fn bad_text(_: &mut Lexer<'_>) -> Result<(), LexError> {
    Err(LexError::Text)
}

fn dwarf(_: &mut Lexer<'_>) -> Result<(), LexError> {
    Err(LexError::Dwarf)
}

/// A token. Names and literals are read from the source text by their span.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\v]+")]
#[logos(error = LexError)]
pub(crate) enum Token {
    /// Comments and line markers, which the parser never sees. They are tokens because a lexer
    /// that skips them in callbacks may use stack for each.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[token("/*", block_comment)]
    #[regex(r"#[^\n]*", hash_line, allow_greedy = true)]
    Skipped,

    #[regex(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+")]
    Name,
    /// `_`, alone.
    #[token("_")]
    Sink,
    /// `.word`, `.word::word`, `.2d`.
    #[regex(r"\.[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z0-9_]+)*|\.[0-9]+[A-Za-z_][A-Za-z0-9_]*")]
    Dotted,

    #[regex(r"0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?", priority = 20)]
    #[regex(r"[0-9][0-9A-Za-z_$.]*", bad_number, priority = 1)]
    Int,
    #[regex(r"0[fF][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]", priority = 20)]
    F32,
    #[regex(r"0[dD][0-9a-fA-F]{16}", priority = 20)]
    F64,
    #[regex(r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+", priority = 20)]
    Decimal,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    #[regex(r#""([^"\\\n]|\\[^\n])*"#, bad_text)]
    Text,

    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenIndex,
    #[token("]")]
    CloseIndex,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("@")]
    #[token("@@DWARF", dwarf)]
    At,
    #[token("=")]
    Assign,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("!")]
    Not,
    #[token("~")]
    Tilde,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("&")]
    And,
    #[token("|")]
    Or,
    #[token("^")]
    Xor,
    #[token("&&")]
    LogicalAnd,
    #[token("||")]
    LogicalOr,

    /// What is no token, and has been reported.
    Invalid,
    /// Behind the last token.
    End,
}
