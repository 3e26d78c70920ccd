//! Directives of debug data: `.loc`, `.file`, and `.section` with the bytes of DWARF sections, of
//! which only labels and texts are kept (they name functions that were inlined).

use nbcc_base::{Diagnostic, Failed};

use crate::ast::{DebugSection, Item, Loc};
use crate::codes;
use crate::cursor::{Parser, shorten};
use crate::token::Token;

impl Parser<'_, '_> {
    /// `.loc file line column, function_name label + offset, inlined_at file line column`.
    pub fn loc(&mut self) -> Result<Loc, Failed> {
        let start = self.span();
        self.advance();
        let (file, line, column) = self.place()?;
        let mut function_name = None;
        let mut inlined_at = None;
        if self.eat(Token::Comma) {
            self.word("function_name")?;
            let name = self.name("a label of `.debug_str`")?;
            let mut offset = 0;
            if self.eat(Token::Plus) {
                offset = self.integer()?.0;
            }
            function_name = Some((name.symbol, offset));
            self.expect(Token::Comma, "`,`")?;
            self.word("inlined_at")?;
            inlined_at = Some(self.place()?);
        }
        let span = start.to(self.last_span());
        Ok(Loc { file, line, column, function_name, inlined_at, span })
    }

    /// File, line, column; old compilers leave out the column.
    fn place(&mut self) -> Result<(u64, u32, u32), Failed> {
        let (file, _) = self.integer()?;
        let line = self.small_integer()?;
        let column = if self.peek() == Token::Int { self.small_integer()? } else { 0 };
        Ok((file, line, column))
    }

    /// A word that is a keyword here only.
    fn word(&mut self, word: &str) -> Result<(), Failed> {
        if self.peek() == Token::Name && self.slice() == word {
            self.advance();
            return Ok(());
        }
        self.unexpected(&format!("`{word}`"))
    }

    /// `.file number "name", timestamp, size`.
    pub fn file(&mut self) -> Result<(), Failed> {
        let start = self.span();
        self.advance();
        let (number, _) = self.integer()?;
        let name = self.span();
        self.expect(Token::Text, "the name of the file in quotes")?;
        while self.eat(Token::Comma) {
            self.integer()?;
        }
        let span = start.to(self.last_span());
        self.ast.items.push(Item::File { number, name, span });
        Ok(())
    }

    /// `.section .name { .b8 1, 2  label: .b32 label + 4 }`.
    pub fn section(&mut self) -> Result<(), Failed> {
        let start = self.span();
        self.advance();
        let name = self.expect(Token::Dotted, "the name of the section")?;
        let mut section =
            DebugSection { name: self.text_of(name).to_owned(), ..DebugSection::default() };
        let keep = section.name == ".debug_str";
        self.expect(Token::OpenBrace, "`{`")?;
        loop {
            match self.peek() {
                Token::CloseBrace => {
                    self.advance();
                    break;
                }
                Token::Name => {
                    let label = self.name("a label")?;
                    self.expect(Token::Colon, "`:`")?;
                    if keep {
                        section.labels.push((label.symbol, section.bytes.len()));
                    }
                }
                Token::Dotted => {
                    let width = match self.slice() {
                        ".b8" => 1,
                        ".b16" => 2,
                        ".b32" => 4,
                        ".b64" => 8,
                        word => {
                            let (word, span) = (shorten(word), self.span());
                            return self.fail(
                                Diagnostic::error(
                                    &codes::DIRECTIVE,
                                    format!("`{word}` in a debug section"),
                                )
                                .at(span, "expected `.b8`, `.b16`, `.b32`, `.b64` or a label"),
                            );
                        }
                    };
                    self.advance();
                    loop {
                        let value = self.debug_value()?;
                        if keep {
                            section.bytes.extend_from_slice(&value.to_le_bytes()[..width]);
                        }
                        if !self.eat(Token::Comma) {
                            break;
                        }
                    }
                }
                Token::End => {
                    return self.fail(
                        Diagnostic::error(&codes::BRACKETS, "`{` is never closed")
                            .at(start, "the section starts here")
                            .help("add `}`"),
                    );
                }
                _ => return self.unexpected("`.b8`, `.b32`, `.b64`, a label or `}`"),
            }
        }
        if keep {
            self.ast.items.push(Item::Section(section));
        }
        Ok(())
    }

    /// A number, or an address of which nothing is kept: `label`, `.section`, `a + 4`, `a - b`.
    fn debug_value(&mut self) -> Result<u64, Failed> {
        let negative = self.eat(Token::Minus);
        let value = match self.peek() {
            Token::Int => self.integer()?.0,
            Token::Name | Token::Dotted => {
                self.advance();
                while self.eat(Token::Plus) || self.eat(Token::Minus) {
                    match self.peek() {
                        Token::Int | Token::Name => {
                            self.advance();
                        }
                        _ => return self.unexpected("a number or a label"),
                    }
                }
                0
            }
            _ => return self.unexpected("a number or a label"),
        };
        Ok(if negative { value.wrapping_neg() } else { value })
    }
}
