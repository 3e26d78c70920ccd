//! The parser: header, items of the module, and what is done after a syntax error.
//!
//! It is written by hand, by recursive descent, where other languages of this repository have a
//! generated one. Nine statements of ten have one shape (an opcode, modifiers, operands, `;`), so
//! that tables buy nothing and cost most of the time that a file takes; every directive is a legal
//! name somewhere else, which a grammar over one set of tokens cannot say; and a mistake in one
//! statement must not cost the function around it, so that parsing has to go on behind the next
//! `;`. Nothing here nests but constant expressions, whose depth is bounded.

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};

use crate::ast::{Ast, Item, Linkage, TargetInfo, Version};
use crate::codes;
use crate::cursor::Parser;
use crate::token::Token;

/// Parses a file. After errors the tree lacks what they are in; `Err` means that it is of no use.
pub(crate) fn parse<'a>(
    source: SourceId,
    file: &'a SourceFile,
    diagnostics: &mut Diagnostics,
) -> Result<Ast<'a>, Failed> {
    let mut parser = Parser::new(source, file, diagnostics)?;
    parser.header()?;
    while parser.peek() != Token::End {
        let from = parser.at;
        if parser.item().is_err() {
            if parser.gives_up() {
                return Err(Failed);
            }
            parser.skip_item(from);
        }
    }
    parser.ast.incomplete = parser.has_errors();
    Ok(parser.ast)
}

/// The newest version that is known.
const NEWEST: Version = Version { major: 8, minor: 8 };

/// The last minor version of each major one from 3 on.
const LAST_MINOR: [u32; 6] = [2, 3, 1, 5, 8, 8];

/// What may stand behind `sm_`, from 30 on, with the version of PTX that each came with.
const ARCHITECTURES: [(&str, Version); 39] = [
    ("30", Version { major: 3, minor: 0 }),
    ("32", Version { major: 4, minor: 0 }),
    ("35", Version { major: 3, minor: 1 }),
    ("37", Version { major: 4, minor: 1 }),
    ("50", Version { major: 4, minor: 0 }),
    ("52", Version { major: 4, minor: 1 }),
    ("53", Version { major: 4, minor: 2 }),
    ("60", Version { major: 5, minor: 0 }),
    ("61", Version { major: 5, minor: 0 }),
    ("62", Version { major: 5, minor: 0 }),
    ("70", Version { major: 5, minor: 1 }),
    ("72", Version { major: 6, minor: 1 }),
    ("75", Version { major: 6, minor: 3 }),
    ("80", Version { major: 7, minor: 0 }),
    ("82", Version { major: 7, minor: 0 }),
    ("86", Version { major: 7, minor: 1 }),
    ("87", Version { major: 7, minor: 4 }),
    ("89", Version { major: 7, minor: 8 }),
    ("90", Version { major: 7, minor: 8 }),
    ("90a", Version { major: 8, minor: 0 }),
    ("100", Version { major: 8, minor: 6 }),
    ("100a", Version { major: 8, minor: 6 }),
    ("100f", Version { major: 8, minor: 8 }),
    ("101", Version { major: 8, minor: 6 }),
    ("101a", Version { major: 8, minor: 6 }),
    ("101f", Version { major: 8, minor: 8 }),
    ("103", Version { major: 8, minor: 8 }),
    ("103a", Version { major: 8, minor: 8 }),
    ("103f", Version { major: 8, minor: 8 }),
    ("120", Version { major: 8, minor: 7 }),
    ("120a", Version { major: 8, minor: 7 }),
    ("120f", Version { major: 8, minor: 8 }),
    ("121", Version { major: 8, minor: 8 }),
    ("121a", Version { major: 8, minor: 8 }),
    ("121f", Version { major: 8, minor: 8 }),
    ("88", Version { major: 9, minor: 0 }),
    ("110", Version { major: 9, minor: 0 }),
    ("110a", Version { major: 9, minor: 0 }),
    ("110f", Version { major: 9, minor: 0 }),
];

impl Parser<'_, '_> {
    fn header(&mut self) -> Result<(), Failed> {
        if !self.at_word(".version") {
            return self.header_missing(".version", "the first directive");
        }
        self.version()?;
        if !self.at_word(".target") {
            return self.header_missing(".target", "the second directive");
        }
        self.ast.target = self.target()?;
        while self.at_word(".target") {
            self.target()?;
        }
        if self.eat_word(".address_size") {
            let span = self.span();
            match self.small_integer()? {
                64 => {}
                32 => self.error(
                    Diagnostic::error(&codes::ADDRESS_SIZE, "32-bit addresses are not supported")
                        .at(span, "addresses have 64 bits")
                        .help("compile with -m64 (the default of every CUDA since 2011)"),
                ),
                _ => self.error(
                    Diagnostic::error(&codes::ADDRESS_SIZE, "an address size that does not exist")
                        .at(span, "has to be 64")
                        .help("write `.address_size 64`"),
                ),
            }
        }
        Ok(())
    }

    fn header_missing(&mut self, directive: &str, place: &str) -> Result<(), Failed> {
        if self.peek() == Token::Invalid {
            return Err(Failed);
        }
        let span = self.span();
        self.fail(
            Diagnostic::error(&codes::HEADER, format!("`{directive}` is missing"))
                .at(span, format!("`{directive}` is {place} of a file"))
                .help(
                    "PTX starts with `.version`, `.target` and `.address_size`: is this a PTX file?",
                ),
        )
    }

    fn version(&mut self) -> Result<(), Failed> {
        self.advance();
        let lexeme = self.expect(Token::Decimal, "a version as in `8.0`")?;
        let text = self.text_of(lexeme);
        let span = self.span_of(lexeme);
        let parsed = text.split_once('.').and_then(|(major, minor)| {
            Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        let known = |v: &Version| {
            v.major >= 3
                && LAST_MINOR.get(v.major as usize - 3).is_some_and(|&last| v.minor <= last)
        };
        match parsed {
            Some(version) if known(&version) => self.ast.version = version,
            // What comes with a new version is for new machines, mostly.
            Some(version) if version.major == NEWEST.major + 1 => {
                self.ast.version = version;
                self.diagnostics.push(
                    Diagnostic::warning(
                        &codes::NEWER,
                        format!(
                            "PTX version {text} is newer than {}.{}",
                            NEWEST.major, NEWEST.minor
                        ),
                    )
                    .at(span, "instructions that came since then are not known")
                    .help("leave it so where there are none of them"),
                );
            }
            Some(version) if version.major < 3 => self.error(
                Diagnostic::error(&codes::VERSION, format!("PTX version {text} is not supported"))
                    .at(span, "older than 3.0")
                    .help("compile again with CUDA 4.2 or later"),
            ),
            Some(version) if version > NEWEST => self.error(
                Diagnostic::error(&codes::VERSION, format!("PTX version {text} is not supported"))
                    .at(span, format!("newer than {}.{}", NEWEST.major, NEWEST.minor))
                    .help(
                        "compile with an older CUDA, or ask the compiler for an older PTX version",
                    ),
            ),
            _ => self.error(
                Diagnostic::error(
                    &codes::VERSION,
                    format!("there is no PTX version {}", shorten(text)),
                )
                .at(span, "not a version")
                .help("write a version that PTX has, as in `.version 8.0`"),
            ),
        }
        Ok(())
    }

    fn target(&mut self) -> Result<TargetInfo, Failed> {
        self.advance();
        let mut target = TargetInfo::default();
        loop {
            let lexeme = self.expect(Token::Name, "a target as in `sm_80`")?;
            let (text, span) = (self.text_of(lexeme), self.span_of(lexeme));
            match text {
                _ if text.starts_with("sm_") || text.starts_with("compute_") => {
                    if target.sm == 0 {
                        (target.sm, target.suffix) = self.architecture(text, span);
                        target.span = span;
                    }
                }
                _ if target.sm == 0 => {
                    return self.fail(
                        Diagnostic::error(
                            &codes::TARGET,
                            format!("`{}` is no architecture", shorten(text)),
                        )
                        .at(span, "`sm_` and a number stand first")
                        .help("write the architecture first, as in `.target sm_80, debug`"),
                    );
                }
                "texmode_unified" => {}
                "texmode_independent" => target.texmode_independent = true,
                "debug" => target.debug = true,
                "map_f64_to_f32" => self.error(
                    Diagnostic::error(&codes::TARGET, "`map_f64_to_f32` is not supported")
                        .at(span, "for sm_12 and older only")
                        .help("leave it out"),
                ),
                _ => self.error(
                    Diagnostic::error(
                        &codes::TARGET,
                        format!("unknown target option `{}`", shorten(text)),
                    )
                    .at(span, "not an option")
                    .help("options are texmode_unified, texmode_independent and debug"),
                ),
            }
            if !self.eat(Token::Comma) {
                return Ok(target);
            }
        }
    }

    /// Number and suffix of `sm_90a`; reports one that does not exist, and gives one that does.
    fn architecture(&mut self, text: &str, span: Span) -> (u32, Option<char>) {
        let name = text.split_once('_').map_or("", |(_, n)| n);
        let digits = name.trim_end_matches(['a', 'f']);
        let number = digits.parse().unwrap_or(0);
        let Some((_, since)) = ARCHITECTURES.iter().find(|(n, _)| *n == name) else {
            self.error(if name == digits && (1..30).contains(&number) {
                Diagnostic::error(&codes::TARGET, format!("`{text}` is not supported"))
                    .at(span, "older than sm_30")
                    .help("compile again for sm_30 or later")
            } else {
                Diagnostic::error(&codes::TARGET, format!("unknown target `{}`", shorten(text)))
                    .at(span, "no such architecture")
                    .help("write an architecture that there is, as in `.target sm_80`")
            });
            return (30, None);
        };
        let have = self.ast.version;
        if have < *since && have.major > 0 {
            self.error(
                Diagnostic::error(
                    &codes::TARGET,
                    format!("`{text}` in a file of version {}.{}", have.major, have.minor),
                )
                .at(span, format!("came with version {}.{}", since.major, since.minor))
                .help(format!("write `.version {}.{}` or a later one", since.major, since.minor)),
            );
        }
        (number, name.chars().next_back().filter(char::is_ascii_lowercase))
    }

    fn item(&mut self) -> Result<(), Failed> {
        let start = self.span();
        if self.peek() != Token::Dotted {
            return match self.peek() {
                Token::CloseBrace => self.fail(
                    Diagnostic::error(&codes::BRACKETS, "`}` closes nothing")
                        .at(start, "no brace is open here")
                        .help("remove it, or open a brace before"),
                ),
                Token::Name | Token::At => self.fail(
                    Diagnostic::error(
                        &codes::SYNTAX,
                        format!("unexpected `{}` outside a function", shorten(self.slice())),
                    )
                    .at(start, "expected a directive")
                    .help("instructions stand between the braces of an `.entry` or `.func`"),
                ),
                _ => self.unexpected("a directive"),
            };
        }
        let linkage = self.linkage();
        if linkage.0 != Linkage::Internal && self.peek() != Token::Dotted {
            return self.unexpected("a variable or function");
        }
        match self.slice() {
            ".entry" | ".func" => self.function(linkage),
            ".global" | ".const" | ".shared" | ".local" | ".reg" | ".param" | ".tex" | ".align"
            | ".attribute" => {
                let declaration = self.declaration(linkage)?;
                self.ast.items.push(Item::Declaration(declaration));
                Ok(())
            }
            _ if linkage.0 != Linkage::Internal => self.unexpected("a variable or function"),
            ".file" => self.file(),
            ".section" => self.section(),
            ".alias" => {
                self.advance();
                let name = self.name("the new name of a function")?;
                self.expect(Token::Comma, "`,`")?;
                let old = self.name("the name of a function")?;
                self.expect(Token::Semicolon, "`;`")?;
                self.ast.items.push(Item::Alias(name, old));
                Ok(())
            }
            ".pragma" => self.pragma(),
            // Files that were joined may say it again.
            ".target" => self.target().map(|_| ()),
            ".version" | ".address_size" => {
                let word = self.slice();
                self.fail(
                    Diagnostic::error(&codes::MISPLACED, format!("a second `{word}`"))
                        .at(start, "stands once, at the start of the file")
                        .help("leave the second one out"),
                )
            }
            word @ (".loc" | ".maxntid" | ".reqntid" | ".minnctapersm" | ".maxnctapersm"
            | ".maxnreg" | ".noreturn" | ".callprototype" | ".calltargets"
            | ".branchtargets" | ".ptr") => self.fail(
                Diagnostic::error(&codes::MISPLACED, format!("`{word}` outside a function"))
                    .at(start, "may not stand here")
                    .help("move it into the body of a function, or leave it out"),
            ),
            word => self.fail(
                Diagnostic::error(
                    &codes::DIRECTIVE,
                    format!("unknown directive `{}`", shorten(word)),
                )
                .at(start, "not a directive")
                .help("leave it out; docs/language-ptx.md lists the directives"),
            ),
        }
    }

    /// Whether the next token starts an item of the module.
    pub fn starts_item(&self) -> bool {
        self.peek() == Token::Dotted
            && matches!(
                self.slice(),
                ".visible"
                    | ".extern"
                    | ".weak"
                    | ".common"
                    | ".entry"
                    | ".func"
                    | ".global"
                    | ".const"
                    | ".shared"
                    | ".align"
                    | ".file"
                    | ".section"
                    | ".alias"
                    | ".pragma"
                    | ".target"
            )
    }

    /// A linkage directive, if one stands here, and where.
    fn linkage(&mut self) -> (Linkage, Span) {
        let span = self.span();
        let linkage = match self.slice() {
            ".visible" => Linkage::Visible,
            ".extern" => Linkage::Extern,
            ".weak" => Linkage::Weak,
            ".common" => Linkage::Common,
            _ => return (Linkage::Internal, span),
        };
        self.advance();
        (linkage, span)
    }

    /// `.pragma "text", "text";`, which is only a wish.
    pub fn pragma(&mut self) -> Result<(), Failed> {
        self.advance();
        loop {
            self.expect(Token::Text, "a text")?;
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Semicolon, "`;`")?;
        Ok(())
    }

    /// Goes behind the item that starts at token `from`, in which there was an error.
    fn skip_item(&mut self, from: usize) {
        let error = self.at;
        // Instructions outside a function are one mistake, however many they are.
        let stray = matches!(self.tokens[from].token, Token::Name | Token::At);
        let mut depth = 0u32;
        let mut end = self.tokens.len() - 1;
        for index in from..end {
            let lexeme = self.tokens[index];
            match lexeme.token {
                Token::OpenBrace => depth += 1,
                Token::CloseBrace if depth <= 1 => {
                    depth = 0;
                    if index >= error {
                        end = index + 1;
                        break;
                    }
                }
                Token::CloseBrace => depth -= 1,
                Token::Semicolon if depth == 0 && index >= error && !stray => {
                    end = index + 1;
                    break;
                }
                // These stand between braces nowhere: one that closes is missing.
                Token::Dotted
                    if index > from
                        && index >= error
                        && matches!(
                            self.text_of(lexeme),
                            ".visible"
                                | ".extern"
                                | ".weak"
                                | ".common"
                                | ".entry"
                                | ".func"
                                | ".section"
                                | ".file"
                                | ".alias"
                        ) =>
                {
                    end = index;
                    break;
                }
                _ => {}
            }
        }
        self.skip(from, end);
    }
}
