//! Directives of debug data: `.loc`, `.file`, and `.section` with the bytes of DWARF sections, of
//! which only labels and texts are kept (they name functions that were inlined).

use nbcc_base::lexical::shorten;
use nbcc_base::text::counted;
use nbcc_base::{Diagnostic, Failed};

use crate::ast::{DebugSection, Item, Loc, ScalarType};
use crate::codes;
use crate::cursor::Parser;
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

    /// File, line, column.
    fn place(&mut self) -> Result<(u64, u32, u32), Failed> {
        Ok((u64::from(self.small_integer()?), self.small_integer()?, self.small_integer()?))
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
        let number = u64::from(self.small_integer()?);
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
                    if let Some(before) = self.debug_labels.insert(label.symbol, label.span) {
                        let text = self.ast.names.text(label.symbol);
                        self.error(
                            Diagnostic::error(
                                &codes::REDEFINED,
                                format!("`{text}` is declared twice"),
                            )
                            .at(label.span, "the second time")
                            .and(before, "the first time")
                            .help("rename one of the two labels"),
                        );
                    }
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
                                .at(span, "expected `.b8`, `.b16`, `.b32`, `.b64` or a label")
                                .help(
                                    "write data and labels only between the braces of a `.section`",
                                ),
                            );
                        }
                    };
                    self.advance();
                    if self.peek() == Token::Name || self.peek() == Token::Dotted {
                        self.debug_address(width)?;
                        if keep {
                            section.bytes.resize(section.bytes.len() + width, 0);
                        }
                        continue;
                    }
                    loop {
                        let value = self.debug_value(width)?;
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

    /// A number of that many bytes.
    fn debug_value(&mut self, width: usize) -> Result<u64, Failed> {
        let span = self.span();
        let negative = self.eat(Token::Minus);
        let (value, _) = self.integer()?;
        let limit = match (negative, width) {
            (_, 8) => u64::MAX,
            (false, _) => (1 << (8 * width)) - 1,
            (true, _) => 1 << (8 * width - 1),
        };
        if value > limit {
            let span = span.to(self.last_span());
            return self.fail(
                Diagnostic::error(&codes::NUMBER, "a number that is out of range")
                    .at(span, format!("does not fit {}", counted(width, "byte")))
                    .help(
                        "write the number modulo the size of the element, or a larger \
                         element: `.b32`, `.b64`",
                    ),
            );
        }
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    /// An address, of which nothing is kept: `label`, `label + 4`, `label - label`, `.section`.
    fn debug_address(&mut self, width: usize) -> Result<(), Failed> {
        let start = self.span();
        if !(4..=8).contains(&width) {
            return self.fail(
                Diagnostic::error(&codes::TYPE, "an address in less than 32 bits")
                    .at(start, "addresses need `.b32` or `.b64`")
                    .help("write the address behind `.b64`"),
            );
        }
        let section = self.peek() == Token::Dotted;
        if self.slice() == "WARP_SZ" || (section && ScalarType::parse(&self.slice()[1..]).is_some())
        {
            return self.unexpected("a number, a label or a section");
        }
        self.advance();
        if self.eat(Token::Plus) {
            self.integer()?;
        } else if !section && self.eat(Token::Minus) {
            self.name("a label")?;
        }
        Ok(())
    }
}
