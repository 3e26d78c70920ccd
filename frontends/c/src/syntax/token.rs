//! Tokens of the grammar, made of preprocessing tokens (C11, 6.4): keywords, names, literals. What
//! the language refuses by a word is reported here, and read as if it were something near, so that
//! the rest of the file is looked at.

use std::ops::Range;

use nbcc_base::lexical::{self, shorten};
use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Span};

use super::attributes::{self, parenthesis};
use crate::codes;
use crate::literal::{self, Fault, Integer};
use crate::names::{Name, Names, Refused};
use crate::preprocess::token as pre;
use crate::syntax::ast::{Op, Storage, Word};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    /// What was reported already, in the place of an expression.
    Bad,
    Name(Name),
    TypeName(Name),
    Int(Integer),
    Char(i32),
    Text(Name),
    Pragma(Name),
    Word(Word),
    Storage(Storage),
    Static,
    Const,
    Restrict,
    Inline,
    Struct,
    Enum,
    If,
    Else,
    For,
    While,
    Do,
    Switch,
    Case,
    Default,
    Break,
    Continue,
    Return,
    Goto,
    Sizeof,
    Alignof,
    StaticAssert,
    Offsetof,
    Open,
    Close,
    OpenBrace,
    CloseBrace,
    OpenIndex,
    CloseIndex,
    Semicolon,
    Comma,
    Colon,
    Question,
    Dot,
    Arrow,
    Ellipsis,
    Star,
    Ampersand,
    Plus,
    Minus,
    Complement,
    Not,
    Op(Op),
    Assign,
    AssignOp(Op),
    Step(bool),
}

/// Tokens between typographic quotes at most.
const MAX_QUOTED: usize = 100;

/// The place right behind another.
pub(super) fn behind(span: Span) -> Span {
    Span { start: span.end, ..span }
}

/// The tokens of a file with their places.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) kinds: Vec<Token>,
    pub(super) spans: Vec<Span>,
    /// Whether each is the first of its line.
    pub(super) firsts: Vec<bool>,
}

impl Tokens {
    pub(super) fn push(&mut self, token: Token, span: Span, first: bool) {
        self.kinds.push(token);
        self.spans.push(span);
        self.firsts.push(first);
    }

    /// Adds one that is missing behind the last.
    pub(super) fn push_behind(&mut self, token: Token) {
        let place = behind(self.spans.last().copied().unwrap_or_default());
        self.push(token, place, false);
    }

    /// Adds one that is missing before number `at`.
    pub(super) fn insert(&mut self, at: usize, token: Token) {
        self.replace(at..at, &[token]);
    }

    /// Puts tokens in the place of others.
    pub(super) fn replace(&mut self, range: Range<usize>, tokens: &[Token]) {
        let place = match self.spans.get(range.clone()).and_then(|spans| spans.first()) {
            Some(first) => first.to(self.spans[range.end - 1]),
            None => {
                let before = range.start.checked_sub(1).map(|before| behind(self.spans[before]));
                before.or(self.spans.get(range.start).copied()).unwrap_or_default()
            }
        };
        let first = self.firsts.get(range.clone()).is_some_and(|firsts| firsts.contains(&true));
        let count = tokens.len();
        self.kinds.splice(range.clone(), tokens.iter().copied());
        self.spans.splice(range.clone(), std::iter::repeat_n(place, count));
        self.firsts.splice(range, (0..count).map(|number| first && number == 0));
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.replace(at..at + 1, &[]);
    }
}

/// A word of C that the language does not have, and what to write instead.
struct Unsupported {
    code: &'static CodeInfo,
    message: &'static str,
    help: &'static str,
    /// What it is read as.
    as_if: Option<Token>,
    /// Whether what follows in parentheses is left out.
    skips: bool,
}

fn unsupported(word: &str) -> Option<Unsupported> {
    let refuse =
        |code, message, help, as_if, skips| Some(Unsupported { code, message, help, as_if, skips });
    let int = Some(Token::Word(Word::Int));
    match word {
        "float" | "double" | "_Float16" | "__float128" => refuse(
            &codes::FLOAT,
            "floating-point types are not supported",
            "use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`",
            int,
            false,
        ),
        "_Complex" | "__complex__" | "_Imaginary" => refuse(
            &codes::FLOAT,
            "complex types are not supported",
            "use a structure of two integers, as `cint16_t` of the shipped header",
            None,
            false,
        ),
        "union" => refuse(
            &codes::UNION,
            "unions are not supported",
            "use a structure, or shifts and masks to take a word apart",
            Some(Token::Struct),
            false,
        ),
        "goto" => refuse(
            &codes::GOTO,
            "`goto` is not supported",
            "use loops with `break` and `continue`, or a function that returns",
            Some(Token::Goto),
            false,
        ),
        "volatile" | "__volatile__" | "__volatile" => refuse(
            &codes::VOLATILE,
            "`volatile` is not supported",
            "leave it out: nothing but the program changes its memory",
            None,
            false,
        ),
        "_Generic" => refuse(
            &codes::GENERIC,
            "`_Generic` is not supported",
            "call the function for the type by its name",
            Some(Token::Bad),
            true,
        ),
        "asm" | "__asm__" | "__asm" => refuse(
            &codes::ASM,
            "inline assembly is not supported",
            "write the operation in C: the compiler finds the opcodes",
            None,
            true,
        ),
        "_Atomic" | "_Thread_local" | "__thread" => refuse(
            &codes::THREADS,
            "threads and atomics are not supported",
            "leave it out: one thread runs the function",
            None,
            false,
        ),
        "_Alignas" => refuse(
            &codes::ALIGNAS,
            "`_Alignas` is not supported",
            "leave it out: the compiler lays objects out",
            None,
            true,
        ),
        "__int128" => refuse(
            &codes::INT128,
            "128-bit integers are not supported",
            "use `int64_t`, or two words",
            int,
            false,
        ),
        "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => refuse(
            &codes::EXTENSION,
            "the name of a function as a text is not supported",
            "write it between quotes",
            Some(Token::Bad),
            false,
        ),
        "typeof" | "__typeof__" | "__auto_type" => {
            refuse(&codes::TYPEOF, "`typeof` is not supported", "write the type", int, true)
        }
        _ => None,
    }
}

/// The token of a word.
pub(super) fn keyword(text: &str) -> Option<Token> {
    Some(match text {
        "void" => Token::Word(Word::Void),
        "_Bool" => Token::Word(Word::Bool),
        "char" => Token::Word(Word::Char),
        "short" => Token::Word(Word::Short),
        "int" => Token::Word(Word::Int),
        "long" => Token::Word(Word::Long),
        "signed" | "__signed__" => Token::Word(Word::Signed),
        "unsigned" => Token::Word(Word::Unsigned),
        "typedef" => Token::Storage(Storage::Typedef),
        "extern" => Token::Storage(Storage::Extern),
        "register" => Token::Storage(Storage::Register),
        "auto" => Token::Storage(Storage::Auto),
        "static" => Token::Static,
        "const" | "__const" => Token::Const,
        "restrict" | "__restrict" | "__restrict__" => Token::Restrict,
        "inline" | "__inline" | "__inline__" | "_Noreturn" => Token::Inline,
        "struct" => Token::Struct,
        "enum" => Token::Enum,
        "if" => Token::If,
        "else" => Token::Else,
        "for" => Token::For,
        "while" => Token::While,
        "do" => Token::Do,
        "switch" => Token::Switch,
        "case" => Token::Case,
        "default" => Token::Default,
        "break" => Token::Break,
        "continue" => Token::Continue,
        "return" => Token::Return,
        "sizeof" => Token::Sizeof,
        "_Alignof" | "__alignof__" => Token::Alignof,
        "_Static_assert" => Token::StaticAssert,
        "__builtin_offsetof" => Token::Offsetof,
        _ => return None,
    })
}

fn punctuator(text: &str) -> Option<Token> {
    Some(match pre::spelled(text) {
        "(" => Token::Open,
        ")" => Token::Close,
        "{" => Token::OpenBrace,
        "}" => Token::CloseBrace,
        "[" => Token::OpenIndex,
        "]" => Token::CloseIndex,
        ";" => Token::Semicolon,
        "," => Token::Comma,
        ":" => Token::Colon,
        "?" => Token::Question,
        "." => Token::Dot,
        "->" => Token::Arrow,
        "..." => Token::Ellipsis,
        "*" => Token::Star,
        "&" => Token::Ampersand,
        "+" => Token::Plus,
        "-" => Token::Minus,
        "~" => Token::Complement,
        "!" => Token::Not,
        "/" => Token::Op(Op::Div),
        "%" => Token::Op(Op::Rem),
        "<<" => Token::Op(Op::Shl),
        ">>" => Token::Op(Op::Shr),
        "<" => Token::Op(Op::Lt),
        ">" => Token::Op(Op::Gt),
        "<=" => Token::Op(Op::Le),
        ">=" => Token::Op(Op::Ge),
        "==" => Token::Op(Op::Eq),
        "!=" => Token::Op(Op::Ne),
        "^" => Token::Op(Op::Xor),
        "|" => Token::Op(Op::Or),
        "&&" => Token::Op(Op::LogAnd),
        "||" => Token::Op(Op::LogOr),
        "=" => Token::Assign,
        "*=" => Token::AssignOp(Op::Mul),
        "/=" => Token::AssignOp(Op::Div),
        "%=" => Token::AssignOp(Op::Rem),
        "+=" => Token::AssignOp(Op::Add),
        "-=" => Token::AssignOp(Op::Sub),
        "<<=" => Token::AssignOp(Op::Shl),
        ">>=" => Token::AssignOp(Op::Shr),
        "&=" => Token::AssignOp(Op::And),
        "^=" => Token::AssignOp(Op::Xor),
        "|=" => Token::AssignOp(Op::Or),
        "++" => Token::Step(true),
        "--" => Token::Step(false),
        _ => return None,
    })
}

/// The tokens of the grammar.
pub(super) fn convert(
    list: &[pre::Token],
    names: &mut Names,
    refused: &mut Refused,
    diagnostics: &mut Diagnostics,
) -> Tokens {
    let mut out = Tokens::default();
    let mut at = 0;
    while let Some(&token) = list.get(at) {
        at += 1;
        let text = names.text(token.text);
        let mut push = |kind: Token| out.push(kind, token.span, token.first);
        match token.kind {
            pre::Kind::Name => {
                if let Some(token_of) = keyword(text) {
                    push(token_of);
                } else if text == "__attribute__" || text == "__attribute" {
                    at = attributes::read(list, at, names, diagnostics);
                } else if text == "__extension__" {
                    let note = Diagnostic::note(&codes::IGNORED, "`__extension__` is ignored");
                    diagnostics.push(note.at(token.span, "changes nothing"));
                } else if text == "_Pragma" {
                    at = pragma(list, at, token, names, diagnostics, &mut out);
                } else if let Some(word) = unsupported(text) {
                    let error = Diagnostic::error(word.code, word.message);
                    diagnostics.push(error.at(token.span, "not supported").help(word.help));
                    if word.skips {
                        // `asm volatile (...)`
                        while list.get(at).is_some_and(|next| next.kind == pre::Kind::Name) {
                            at += 1;
                        }
                        at = parenthesis(list, at, names);
                    }
                    if let Some(as_if) = word.as_if {
                        push(as_if);
                    }
                } else if is_format(text) {
                    push(Token::Bad);
                } else {
                    if let Some(error) = pre::foreign_name(text, token.span)
                        && !refused.has(token.text)
                    {
                        refused.add(token.text);
                        diagnostics.push(error);
                    }
                    push(Token::Name(token.text));
                }
            }
            pre::Kind::Number | pre::Kind::Char | pre::Kind::Text => {
                let value = match token.kind {
                    pre::Kind::Number => literal::integer(text).map(Token::Int),
                    pre::Kind::Char => literal::character(text).map(Token::Char),
                    _ => literal::text(text).map(|_| Token::Text(token.text)),
                };
                push(value.unwrap_or_else(|fault| {
                    diagnostics.push(bad_literal(text, fault, token.span));
                    Token::Bad
                }));
            }
            pre::Kind::Pragma => push(Token::Pragma(token.text)),
            pre::Kind::Bad => push(Token::Bad),
            pre::Kind::Punct => match punctuator(text) {
                Some(punct) => push(punct),
                None => {
                    let error =
                        Diagnostic::error(&codes::CHARACTER, format!("unexpected `{text}`"));
                    let error = error.at(token.span, "belongs to the preprocessor");
                    diagnostics.push(error.help("remove it, or put it at the start of a line"));
                    push(Token::Bad);
                }
            },
            pre::Kind::Other => {
                let (error, meant) = stray(text, token.span);
                let before = at.checked_sub(2).map(|before| list[before]);
                // Of several in a row the first is reported.
                let goes_on = |before: pre::Token| {
                    before.text == token.text && before.span.end == token.span.start
                };
                if !before.is_some_and(goes_on) {
                    diagnostics.push(error);
                }
                if let Some(meant) = meant {
                    push(meant);
                }
                if text == "\u{201c}" {
                    // What stands between typographic quotes is a text.
                    let quoted = list[at..].iter().take(MAX_QUOTED);
                    let mut quoted = quoted.take_while(|token| !token.first);
                    let end = quoted.position(|token| names.text(token.text) == "\u{201d}");
                    at += end.map_or(0, |end| end + 1);
                }
            }
        }
    }
    out
}

/// Whether a name is one of `<inttypes.h>`, which stands between texts for `printf`.
fn is_format(text: &str) -> bool {
    let kind = text.strip_prefix("PRI").or_else(|| text.strip_prefix("SCN"));
    let width = kind.and_then(|kind| kind.strip_prefix(['d', 'i', 'o', 'u', 'x', 'X']));
    width.is_some_and(|width| matches!(width, "8" | "16" | "32" | "64" | "MAX"))
}

/// `_Pragma("...")`, as `#pragma` (6.10.9).
fn pragma(
    list: &[pre::Token],
    at: usize,
    token: pre::Token,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
    out: &mut Tokens,
) -> usize {
    let text = list.get(at + 1).filter(|text| text.kind == pre::Kind::Text);
    let bytes = text.and_then(|text| literal::text(names.text(text.text)).ok()).unwrap_or_default();
    let said = String::from_utf8_lossy(&bytes).into_owned();
    match said.trim().strip_prefix("nbcc") {
        Some(rest) => {
            // Words apart, as the preprocessor writes them.
            let spaced = rest.replace('(', " ( ").replace(')', " ) ");
            let words: Vec<&str> = spaced.split_whitespace().collect();
            let text = names.intern(&words.join(" "));
            out.push(Token::Pragma(text), token.span, token.first);
        }
        None => {
            let message = format!("`_Pragma` of `{}` is ignored", shorten(&said));
            let note = Diagnostic::note(&codes::IGNORED, message);
            diagnostics.push(note.at(token.span, "not known here"));
        }
    }
    parenthesis(list, at, names)
}

fn bad_literal(text: &str, fault: Fault, span: Span) -> Diagnostic {
    let text = shorten(text);
    let (code, message, help) = match fault {
        Fault::Float => (
            &codes::FLOAT,
            format!("the floating-point number `{text}` is not supported"),
            "scale it to an integer: 0.5 with 15 fraction bits is 16384",
        ),
        Fault::Malformed => (
            &codes::LITERAL,
            format!("`{text}` is no number"),
            "write 10, 0x1f, 017 or 0b101, and u, l or ll behind it",
        ),
        Fault::TooLarge => (
            &codes::LITERAL,
            format!("`{text}` does not fit 64 bits"),
            "write a number up to 0xffffffffffffffff",
        ),
        Fault::Escape => (
            &codes::LITERAL,
            format!("{text} has an escape that is none"),
            r"there are \n \t \r \a \b \f \v \\ \' \x41 and \101",
        ),
        Fault::Wide => (
            &codes::EXTENSION,
            format!("the wide characters of {text} are not supported"),
            "write a text of `char`, or the numbers of the characters in an array",
        ),
        Fault::Length => (
            &codes::LITERAL,
            format!("{text} is not one character"),
            "a character constant has one character, a text stands in double quotes",
        ),
    };
    Diagnostic::error(code, message).at(span, "this literal").help(help)
}

/// The error for what starts no token, and what it is read as.
fn stray(text: &str, span: Span) -> (Diagnostic, Option<Token>) {
    let error = |message: String| Diagnostic::error(&codes::CHARACTER, message);
    let typographic = |meant: &str| {
        let error = error(format!("the typographic character `{text}`"));
        error.at(span, "starts no token").help(format!("write `{meant}`"))
    };
    match text.chars().next() {
        Some('"') => (lexical::open_text(&codes::LITERAL, span), Some(Token::Bad)),
        Some('\'') => {
            let error = Diagnostic::error(&codes::LITERAL, "a character that does not end")
                .at(span, "starts here")
                .help("close it with `'` on the same line");
            (error, Some(Token::Bad))
        }
        Some('\u{201c}' | '\u{201d}') => (typographic("\""), Some(Token::Bad)),
        Some('\u{2018}' | '\u{2019}') => (typographic("'"), Some(Token::Bad)),
        Some('\u{2010}'..='\u{2015}' | '\u{2212}') => (typographic("-"), Some(Token::Minus)),
        Some('\u{d7}') => (typographic("*"), Some(Token::Star)),
        Some('\u{a0}' | '\u{200b}'..='\u{200f}' | '\u{202f}' | '\u{3000}' | '\u{feff}') => {
            let error = error("a character that looks like a blank and is none".to_string());
            (error.at(span, "starts no token").help("write an ordinary blank"), None)
        }
        Some('\\') => {
            let error = error("unexpected character `\\`".to_string());
            let help = "it joins two lines only where it is the last character of one";
            (error.at(span, "starts no token").help(help), Some(Token::Bad))
        }
        _ => {
            let mut error = lexical::unexpected_character(&codes::CHARACTER, span.source, text, 0);
            error.span = Some(span);
            error.labels.iter_mut().for_each(|label| label.span = span);
            (error, Some(Token::Bad))
        }
    }
}
