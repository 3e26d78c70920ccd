//! What all parts of the parser share: the tokens with a position in them, names, and how syntax
//! errors are told.

use std::collections::HashMap;

use logos::Logos;
use nbcc_base::lexical::{self, shorten};
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};

use crate::ast::{Ast, Form, FormId, Name};
use crate::codes;
use crate::names::Symbol;
use crate::token::{LexError, Token};

/// After this many syntax errors the rest of the file is not looked at.
const MAX_SYNTAX_ERRORS: usize = 20;

/// Bytes in a source file.
const MAX_SOURCE: usize = 256 << 20;

/// Blocks, and parentheses in a constant expression, may nest this deep.
pub(crate) const MAX_NESTING: u32 = 256;

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub start: u32,
    pub end: u32,
}

/// The state of the parser.
pub(crate) struct Parser<'a, 'd> {
    pub source: SourceId,
    pub text: &'a str,
    /// Ends with [`Token::End`].
    pub tokens: Vec<Lexeme>,
    pub at: usize,
    pub ast: Ast<'a>,
    pub diagnostics: &'d mut Diagnostics,
    /// The labels of debug sections, and where they stand.
    pub debug_labels: HashMap<Symbol, Span>,
    errors: usize,
    form_texts: HashMap<&'a str, FormId>,
    form_words: HashMap<(Symbol, Vec<Symbol>), FormId>,
}

impl<'a, 'd> Parser<'a, 'd> {
    /// Reads the tokens of a file.
    pub fn new(
        source: SourceId,
        file: &'a SourceFile,
        diagnostics: &'d mut Diagnostics,
    ) -> Result<Parser<'a, 'd>, Failed> {
        let text = &file.text;
        if text.len() > MAX_SOURCE {
            return diagnostics.fail(
                Diagnostic::error(&codes::FILE_SIZE, "the file is too large")
                    .at(
                        Span::new(source, 0, 0),
                        format!("{} bytes, of {MAX_SOURCE} at most", text.len()),
                    )
                    .help("split the module into several files"),
            );
        }
        let mut tokens = Vec::with_capacity(text.len() / 4);
        let mut errors = 0;
        for (token, range) in Token::lexer(text).spanned() {
            match token {
                Ok(Token::Skipped) => {}
                Ok(token) => {
                    tokens.push(Lexeme { token, start: range.start as u32, end: range.end as u32 });
                }
                Err(error) => {
                    let (start, end) = (range.start as u32, range.end as u32);
                    diagnostics.push(lex_error(source, text, error, range));
                    errors += 1;
                    // Nothing that follows is what it seems.
                    let last = matches!(error, LexError::Comment | LexError::Dwarf);
                    if last || errors == MAX_SYNTAX_ERRORS {
                        return Err(Failed);
                    }
                    if error != LexError::Preprocessor {
                        tokens.push(Lexeme { token: Token::Invalid, start, end });
                    }
                }
            }
        }
        let end = text.len() as u32;
        tokens.push(Lexeme { token: Token::End, start: end, end });
        Ok(Parser {
            source,
            text,
            tokens,
            at: 0,
            ast: Ast::default(),
            diagnostics,
            debug_labels: HashMap::new(),
            errors,
            form_texts: HashMap::new(),
            form_words: HashMap::new(),
        })
    }

    /// The next token.
    pub fn peek(&self) -> Token {
        self.tokens[self.at].token
    }

    /// The token behind the next one.
    pub fn peek_second(&self) -> Token {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].token
    }

    /// Where the next token stands.
    pub fn span(&self) -> Span {
        self.span_of(self.tokens[self.at])
    }

    /// Where the last token stood.
    pub fn last_span(&self) -> Span {
        self.span_of(self.tokens[self.at.saturating_sub(1)])
    }

    pub fn span_of(&self, lexeme: Lexeme) -> Span {
        Span { source: self.source, start: lexeme.start, end: lexeme.end }
    }

    /// The text of the next token.
    pub fn slice(&self) -> &'a str {
        self.text_of(self.tokens[self.at])
    }

    pub fn text_of(&self, lexeme: Lexeme) -> &'a str {
        &self.text[lexeme.start as usize..lexeme.end as usize]
    }

    /// Goes on to the next token; stays at the end.
    pub fn advance(&mut self) -> Lexeme {
        let lexeme = self.tokens[self.at];
        if lexeme.token != Token::End {
            self.at += 1;
        }
        lexeme
    }

    /// Takes the next token if it is of that kind.
    pub fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    /// Takes the next token, which has to be of that kind; `what` names it.
    pub fn expect(&mut self, token: Token, what: &str) -> Result<Lexeme, Failed> {
        if self.peek() == token { Ok(self.advance()) } else { self.unexpected(what) }
    }

    /// Whether the next token is that word with its dot.
    pub fn at_word(&self, word: &str) -> bool {
        self.peek() == Token::Dotted && self.slice() == word
    }

    /// Takes the next token if it is that word with its dot.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a name.
    pub fn name(&mut self, what: &str) -> Result<Name, Failed> {
        let lexeme = self.expect(Token::Name, what)?;
        Ok(self.name_of(lexeme))
    }

    pub fn name_of(&mut self, lexeme: Lexeme) -> Name {
        let symbol = self.ast.names.intern(self.text_of(lexeme));
        Name { symbol, span: self.span_of(lexeme) }
    }

    /// Reports an error of which the caller cannot make anything.
    pub fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T, Failed> {
        self.errors += 1;
        self.diagnostics.fail(diagnostic)
    }

    /// Reports an error and goes on.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        self.diagnostics.push(diagnostic);
    }

    /// The next token is none that may stand here.
    pub fn unexpected<T>(&mut self, expected: &str) -> Result<T, Failed> {
        if self.peek() == Token::Invalid {
            return Err(Failed);
        }
        let span = self.span();
        let diagnostic = match self.peek() {
            Token::End => Diagnostic::error(&codes::SYNTAX, "the file ends too early")
                .at(span, format!("expected {expected}"))
                .help(format!("add {expected}")),
            _ => {
                Diagnostic::error(&codes::SYNTAX, format!("unexpected `{}`", shorten(self.slice())))
                    .at(span, format!("expected {expected}"))
                    .help(format!("write {expected} here"))
            }
        };
        let diagnostic = match self.at.checked_sub(1) {
            Some(before) if expected.contains("`;`") => {
                let before = self.span_of(self.tokens[before]);
                let end = Span { start: before.end, ..before };
                diagnostic.and(end, "a `;` may be missing here")
            }
            _ => diagnostic,
        };
        self.fail(diagnostic)
    }

    /// Goes on at another token. What the names in between mean is in doubt from now on.
    pub fn skip(&mut self, from: usize, to: usize) {
        for index in from..to {
            if self.tokens[index].token == Token::Name {
                let name = self.name_of(self.tokens[index]);
                self.ast.doubtful.insert(name.symbol);
            }
        }
        self.at = to;
    }

    /// Whether any error was reported.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether enough errors were reported.
    pub fn gives_up(&self) -> bool {
        self.errors >= MAX_SYNTAX_ERRORS
    }

    /// The form that starts at the next token (a name) with all the modifiers behind it.
    pub fn form(&mut self) -> (FormId, Span) {
        let first = self.advance();
        let mut last = first;
        let mut tight = true;
        while self.peek() == Token::Dotted {
            let next = self.advance();
            tight &= next.start == last.end;
            last = next;
        }
        let span = self.span_of(first).to(self.span_of(last));
        let text = &self.text[first.start as usize..last.end as usize];
        if tight && let Some(&form) = self.form_texts.get(text) {
            return (form, span);
        }
        let count = self.tokens[..self.at].iter().rev();
        let count = count.take_while(|l| l.token == Token::Dotted).count();
        let words: Vec<Lexeme> = self.tokens[self.at - count..self.at].to_vec();
        let opcode = self.ast.names.intern(self.text_of(first));
        let modifiers: Vec<Symbol> =
            words.iter().map(|&l| self.ast.names.intern(&self.text_of(l)[1..])).collect();
        let forms = &mut self.ast.forms;
        let form = *self.form_words.entry((opcode, modifiers)).or_insert_with_key(
            |(opcode, modifiers)| {
                forms.push(Form { opcode: *opcode, modifiers: modifiers.clone() })
            },
        );
        if tight {
            self.form_texts.insert(text, form);
        }
        (form, span)
    }
}

fn lex_error(
    source: SourceId,
    text: &str,
    error: LexError,
    range: std::ops::Range<usize>,
) -> Diagnostic {
    let span = Span::new(source, range.start, range.end);
    let slice = shorten(text.get(range.clone()).unwrap_or(""));
    match error {
        LexError::Character => {
            lexical::unexpected_character(&codes::CHARACTER, source, text, range.start)
        }
        LexError::Comment => lexical::open_comment(&codes::COMMENT, source, range.start),
        LexError::Text => lexical::open_text(&codes::TEXT, span),
        LexError::Number => Diagnostic::error(&codes::NUMBER, format!("`{slice}` is not a number"))
            .at(span, "malformed number")
            .help(
                "integers are written 12, 0x1f, 017, 0b101 and may end in U; floats 1.5, \
                 0f and 8 or 0d and 16 hexadecimal digits",
            ),
        LexError::Preprocessor => {
            Diagnostic::error(&codes::PREPROCESSOR, "a preprocessor line that is no line marker")
                .at(span, "not part of PTX")
                .help("run the preprocessor first")
        }
        LexError::Dwarf => Diagnostic::error(&codes::UNSUPPORTED, "`@@DWARF` is not supported")
            .at(span, "debug data of PTX before version 2.0")
            .help("compile again with a CUDA compiler of version 4 or later"),
    }
}
