//! Tokens of the grammar, made of preprocessing tokens (C11, 6.4): keywords, names, literals. What
//! the language refuses by a word is reported here, and read as if it were something near, so that
//! the rest of the file is looked at.

use nbcc_base::lexical::{self, shorten};
use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Span};

use super::attributes::{self, parenthesis};
use crate::codes;
use crate::literal::{self, Fault, Integer};
use crate::names::{Name, Names};
use crate::preprocess::token as pre;
use crate::syntax::ast::{Op, Storage, Word};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
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

/// A word of C that the language does not have, and what to write instead.
struct Refused {
    code: &'static CodeInfo,
    message: &'static str,
    help: &'static str,
    /// What it is read as.
    as_if: Option<Token>,
    /// Whether what follows in parentheses is left out.
    skips: bool,
}

fn refused(word: &str) -> Option<Refused> {
    let refuse =
        |code, message, help, as_if, skips| Some(Refused { code, message, help, as_if, skips });
    let int = Some(Token::Word(Word::Int));
    let zero = Integer { bits: 0, unsigned: false, longs: 0, decimal: true };
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
            Some(Token::Int(zero)),
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
            Some(Token::Int(zero)),
            false,
        ),
        "typeof" | "__typeof__" | "__auto_type" => {
            refuse(&codes::TYPEOF, "`typeof` is not supported", "write the type", int, true)
        }
        _ => None,
    }
}

fn keyword(text: &str) -> Option<Token> {
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
pub(crate) fn convert(
    list: &[pre::Token],
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Vec<(Token, Span)> {
    let mut out = Vec::with_capacity(list.len());
    let mut at = 0;
    while let Some(&token) = list.get(at) {
        at += 1;
        let text = names.text(token.text);
        match token.kind {
            pre::Kind::Name => {
                if let Some(token_of) = keyword(text) {
                    out.push((token_of, token.span));
                } else if text == "__attribute__" || text == "__attribute" {
                    at = attributes::read(list, at, names, diagnostics);
                } else if text == "__extension__" {
                    let note = Diagnostic::note(&codes::IGNORED, "`__extension__` is ignored");
                    diagnostics.push(note.at(token.span, "changes nothing"));
                } else if text == "_Pragma" {
                    at = pragma(list, at, token, names, diagnostics, &mut out);
                } else if let Some(word) = refused(text) {
                    let error = Diagnostic::error(word.code, word.message);
                    diagnostics.push(error.at(token.span, "not supported").help(word.help));
                    if word.skips {
                        // `asm volatile (...)`
                        while list.get(at).is_some_and(|next| next.kind == pre::Kind::Name) {
                            at += 1;
                        }
                        at = parenthesis(list, at, names);
                    }
                    out.extend(word.as_if.map(|as_if| (as_if, token.span)));
                } else {
                    out.push((Token::Name(token.text), token.span));
                }
            }
            pre::Kind::Number => {
                let value = number(text, token.span, diagnostics);
                out.push((Token::Int(value), token.span));
            }
            pre::Kind::Char => {
                let value = literal::character(text).unwrap_or_else(|fault| {
                    diagnostics.push(bad_literal(text, fault, token.span));
                    0
                });
                out.push((Token::Char(value), token.span));
            }
            pre::Kind::Text => {
                if let Err(fault) = literal::text(text) {
                    diagnostics.push(bad_literal(text, fault, token.span));
                }
                out.push((Token::Text(token.text), token.span));
            }
            pre::Kind::Pragma => out.push((Token::Pragma(token.text), token.span)),
            pre::Kind::Punct => match punctuator(text) {
                Some(punct) => out.push((punct, token.span)),
                None => {
                    let error =
                        Diagnostic::error(&codes::CHARACTER, format!("unexpected `{text}`"));
                    let error = error.at(token.span, "belongs to the preprocessor");
                    diagnostics.push(error.help("remove it, or put it at the start of a line"));
                }
            },
            pre::Kind::Other => diagnostics.push(stray(text, token.span)),
        }
    }
    out
}

/// `_Pragma("...")`, as `#pragma` (6.10.9).
fn pragma(
    list: &[pre::Token],
    at: usize,
    token: pre::Token,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
    out: &mut Vec<(Token, Span)>,
) -> usize {
    let text = list.get(at + 1).filter(|text| text.kind == pre::Kind::Text);
    let bytes = text.and_then(|text| literal::text(names.text(text.text)).ok()).unwrap_or_default();
    let said = String::from_utf8_lossy(&bytes).into_owned();
    match said.trim().strip_prefix("nbcc") {
        Some(rest) => {
            // Words apart, as the preprocessor writes them.
            let spaced = rest.replace('(', " ( ").replace(')', " ) ");
            let words: Vec<&str> = spaced.split_whitespace().collect();
            out.push((Token::Pragma(names.intern(&words.join(" "))), token.span));
        }
        None => {
            let message = format!("`_Pragma` of `{}` is ignored", shorten(&said));
            let note = Diagnostic::note(&codes::IGNORED, message);
            diagnostics.push(note.at(token.span, "not known here"));
        }
    }
    parenthesis(list, at, names)
}

fn number(text: &str, span: Span, diagnostics: &mut Diagnostics) -> Integer {
    literal::integer(text).unwrap_or_else(|fault| {
        diagnostics.push(bad_literal(text, fault, span));
        Integer { bits: 0, unsigned: false, longs: 0, decimal: true }
    })
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

/// The error for what starts no token.
fn stray(text: &str, span: Span) -> Diagnostic {
    match text.chars().next() {
        Some('"') => lexical::open_text(&codes::LITERAL, span),
        Some('\'') => Diagnostic::error(&codes::LITERAL, "a character that does not end")
            .at(span, "starts here")
            .help("close it with `'` on the same line"),
        Some(c) if !c.is_ascii() && c.is_alphabetic() => {
            Diagnostic::error(&codes::CHARACTER, format!("the letter `{c}` outside ASCII"))
                .at(span, "not in a name")
                .help("names are made of a to z, A to Z, 0 to 9 and _")
        }
        _ => {
            let mut error = lexical::unexpected_character(&codes::CHARACTER, span.source, text, 0);
            error.span = Some(span);
            error.labels.iter_mut().for_each(|label| label.span = span);
            error
        }
    }
}
