//! Declarations: variables, registers, parameters, initialisers, and the heads of functions.

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Failed, Span};

use crate::ast::{
    Declaration, Declarator, FunctionItem, InitAddress, InitItem, Initializer, Item, LaunchBounds,
    Linkage, Name, Pointer, ScalarType, Signature, StateSpace, VariableType,
};
use crate::codes;
use crate::cursor::Parser;
use crate::token::Token;

/// What stands before the names of a declaration.
struct Head {
    space: StateSpace,
    space_span: Span,
    bank: Option<u64>,
    align: Option<(u64, Span)>,
    ty: VariableType,
    managed: bool,
    pointer: Option<Pointer>,
}

fn space(word: &str) -> Option<StateSpace> {
    Some(match word {
        ".reg" => StateSpace::Reg,
        ".param" => StateSpace::Param,
        ".global" => StateSpace::Global,
        ".const" => StateSpace::Const,
        ".shared" => StateSpace::Shared,
        ".local" => StateSpace::Local,
        ".tex" => StateSpace::Tex,
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// A declaration up to its semicolon.
    pub fn declaration(&mut self, linkage: (Linkage, Span)) -> Result<Declaration, Failed> {
        let start = linkage.1;
        let head = self.head(false)?;
        let mut declarators = Vec::new();
        // A declaration of nothing is legal.
        while self.peek() != Token::Semicolon || !declarators.is_empty() {
            let name = self.name("a name")?;
            declarators.push(self.declarator(name, head.space)?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Semicolon, "`,`, `=` or `;`")?;
        let span = start.to(self.last_span());
        Ok(finish(linkage, head, declarators, span))
    }

    /// Space, alignment, type. A parameter may go on with `.ptr`.
    fn head(&mut self, parameter: bool) -> Result<Head, Failed> {
        let start = self.span();
        let mut found: Option<(StateSpace, Span)> = None;
        let mut bank = None;
        let mut align = None;
        let mut vector = 1;
        let mut managed = false;
        let (scalar, scalar_span) = loop {
            let span = self.span();
            if self.peek() != Token::Dotted {
                return self.unexpected(if found.is_some() { "a type" } else { "a state space" });
            }
            let word = self.slice();
            match word {
                ".align" => {
                    self.advance();
                    align = Some(self.alignment()?);
                }
                ".attribute" => {
                    self.advance();
                    self.attribute(&mut managed)?;
                }
                ".v2" | ".v4" => {
                    self.advance();
                    vector = if word == ".v2" { 2 } else { 4 };
                    if self.peek() != Token::Dotted {
                        return self.unexpected("a type");
                    }
                }
                _ if space(word).is_some() => {
                    if found.is_some() {
                        return self.unexpected("a type");
                    }
                    found = space(word).map(|space| (space, span));
                    self.advance();
                    if self.eat(Token::OpenIndex) {
                        bank = Some(self.integer()?.0);
                        self.expect(Token::CloseIndex, "`]`")?;
                    }
                }
                _ => match ScalarType::parse(&word[1..]) {
                    Some(scalar) => {
                        self.advance();
                        break (scalar, span);
                    }
                    None => {
                        return self.fail(
                            Diagnostic::error(
                                &codes::TYPE,
                                format!("`{}` is no type of variables", shorten(word)),
                            )
                            .at(span, "not a type")
                            .help("types are .pred, .b8 to .b128, .u8 to .u64, .s8 to .s64, .f16, .f16x2, .f32, .f64"),
                        );
                    }
                },
            }
        };
        let mut pointer = None;
        while parameter && self.peek() == Token::Dotted {
            match self.slice() {
                ".ptr" => {
                    self.advance();
                    pointer = Some(Pointer { space: None, align: 4 });
                }
                ".align" if pointer.is_some() => {
                    self.advance();
                    let (value, span) = self.alignment()?;
                    if !value.is_power_of_two() {
                        self.error(
                            Diagnostic::error(
                                &codes::ALIGNMENT,
                                "an alignment that is no power of two",
                            )
                            .at(span, "not a power of two")
                            .help("write a power of two, as in `.align 16`"),
                        );
                    }
                    pointer = pointer.map(|p| Pointer { align: value, ..p });
                }
                ".align" => {
                    self.advance();
                    align = Some(self.alignment()?);
                }
                word @ (".global" | ".const" | ".shared" | ".local") if pointer.is_some() => {
                    self.advance();
                    pointer = pointer.map(|p| Pointer { space: space(word), ..p });
                }
                _ => break,
            }
        }
        let Some((space, space_span)) = found else {
            return self.fail(
                Diagnostic::error(&codes::SPACE, "a declaration without a state space")
                    .at(start, "expected `.reg`, `.param`, `.global` or another space")
                    .help("write one, as in `.reg .b32` or `.global .align 4 .b32`"),
            );
        };
        let ty = VariableType { scalar, scalar_span, vector };
        Ok(Head { space, space_span, bank, align, ty, managed, pointer })
    }

    fn alignment(&mut self) -> Result<(u64, Span), Failed> {
        let span = self.span();
        Ok((self.integer()?.0, span))
    }

    /// `(.managed)` and its like.
    fn attribute(&mut self, managed: &mut bool) -> Result<(), Failed> {
        self.expect(Token::Open, "`(`")?;
        loop {
            let lexeme = self.expect(Token::Dotted, "an attribute")?;
            match self.text_of(lexeme) {
                ".managed" => *managed = true,
                word => {
                    let span = self.span_of(lexeme);
                    return self.fail(
                        Diagnostic::error(
                            &codes::UNSUPPORTED,
                            format!("the attribute `{}` is not supported", shorten(word)),
                        )
                        .at(span, "only `.managed` is")
                        .help("leave `.attribute` out"),
                    );
                }
            }
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Close, "`)`")?;
        Ok(())
    }

    /// What may follow a name: a range, dimensions, an initialiser.
    fn declarator(&mut self, name: Name, space: StateSpace) -> Result<Declarator, Failed> {
        let mut range = None;
        let mut dimensions = Vec::new();
        if self.peek() == Token::Less {
            self.advance();
            let count = u64::from(self.small_integer()?);
            self.expect(Token::Greater, "`>`")?;
            range = Some(count);
            if space != StateSpace::Reg {
                let span = name.span.to(self.last_span());
                self.error(
                    Diagnostic::error(
                        &codes::UNSUPPORTED,
                        "a range of variables in memory is not supported",
                    )
                    .at(span, "only registers are numbered so")
                    .help("declare an array"),
                );
            }
        }
        while self.peek() == Token::OpenIndex {
            let start = self.span();
            self.advance();
            let size = if self.peek() == Token::CloseIndex && dimensions.is_empty() {
                None
            } else {
                Some(self.integer()?.0)
            };
            self.expect(Token::CloseIndex, "`]`")?;
            dimensions.push((size, start.to(self.last_span())));
        }
        let initializer = if self.eat(Token::Assign) { Some(self.initializer()?) } else { None };
        let span = name.span.to(self.last_span());
        Ok(Declarator { name, range, dimensions, initializer, span })
    }

    /// A value, or values in braces. The depth of braces is bounded by nothing: they are a list.
    fn initializer(&mut self) -> Result<Initializer, Failed> {
        let start = self.span();
        let mut items = Vec::new();
        let mut depth = 0u64;
        loop {
            let span = self.span();
            if self.eat(Token::OpenBrace) {
                items.push(InitItem::Open(span));
                depth += 1;
                if self.peek() != Token::CloseBrace {
                    continue;
                }
            } else {
                items.push(self.init_value()?);
            }
            // Behind a value: close what ends here.
            while depth > 0 && self.peek() == Token::CloseBrace {
                items.push(InitItem::Close(self.span()));
                self.advance();
                depth -= 1;
            }
            if depth == 0 {
                break;
            }
            self.expect(Token::Comma, "`,` or `}`")?;
        }
        Ok(Initializer { items, span: start.to(self.last_span()) })
    }

    fn init_value(&mut self) -> Result<InitItem, Failed> {
        let start = self.span();
        let mask = self.peek() == Token::Int && self.peek_second() == Token::Open;
        if self.peek() == Token::Text {
            self.advance();
            return self.fail(
                Diagnostic::error(&codes::INITIALIZER_VALUE, "a text as an initial value")
                    .at(start, "PTX has no texts")
                    .help("write the bytes as numbers: {104, 105, 0}"),
            );
        }
        if !mask && (self.peek() != Token::Name || self.slice() == "WARP_SZ") {
            let value = self.constant()?;
            return Ok(InitItem::Constant(value, start.to(self.last_span())));
        }
        let mask = if mask {
            let mask = self.integer()?.0;
            self.advance();
            Some(mask)
        } else {
            None
        };
        let generic = self.slice() == "generic" && self.peek_second() == Token::Open;
        if generic {
            self.advance();
            self.advance();
        }
        let name = self.name("a variable or function")?;
        if generic {
            self.expect(Token::Close, "`)`")?;
        }
        let offset = if self.eat(Token::Plus) { self.integer_constant()? as i64 } else { 0 };
        if mask.is_some() {
            self.expect(Token::Close, "`)`")?;
        }
        let span = start.to(self.last_span());
        Ok(InitItem::Address(InitAddress { name, generic, offset, mask, span }))
    }

    /// Parameters or results in parentheses.
    fn parameters(&mut self) -> Result<Vec<Declaration>, Failed> {
        self.expect(Token::Open, "`(`")?;
        let mut list = Vec::new();
        if self.eat(Token::Close) {
            return Ok(list);
        }
        loop {
            let start = self.span();
            let head = self.head(true)?;
            let lexeme = self.tokens[self.at];
            let name = match lexeme.token {
                Token::Sink => {
                    self.advance();
                    self.name_of(lexeme)
                }
                _ => self.name("a name")?,
            };
            let mut dimensions = Vec::new();
            if self.peek() == Token::OpenIndex {
                let open = self.span();
                self.advance();
                let size = match self.peek() {
                    Token::CloseIndex => None,
                    _ => Some(self.integer()?.0),
                };
                self.expect(Token::CloseIndex, "`]`")?;
                dimensions.push((size, open.to(self.last_span())));
            }
            let span = start.to(self.last_span());
            let declarator = Declarator {
                name,
                range: None,
                dimensions,
                initializer: None,
                span: name.span.to(span),
            };
            list.push(finish((Linkage::Internal, start), head, vec![declarator], span));
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Close, "`,` or `)`")?;
        Ok(list)
    }

    /// `.entry` or `.func`, with its body if it has one.
    pub fn function(&mut self, linkage: (Linkage, Span)) -> Result<(), Failed> {
        let entry = self.at_word(".entry");
        let start = self.span();
        self.advance();
        if self.at_word(".attribute") {
            self.advance();
            self.attribute(&mut false)?;
        }
        let mut signature = Signature::default();
        if !entry && self.peek() == Token::Open {
            signature.returns = self.parameters()?;
        }
        let name = self.name("the name of the function")?;
        let params = self.span();
        if self.peek() == Token::Open {
            signature.params = self.parameters()?;
        }
        signature.span = params.to(self.last_span());
        let span = linkage.1.to(start).to(name.span);
        let bounds = self.bounds(entry, &signature)?;
        let body = match self.peek() {
            Token::Semicolon => {
                self.advance();
                None
            }
            Token::OpenBrace => {
                let first = self.ast.statements.len();
                let body = self.body();
                if body.is_err() {
                    // The statements of a function that is left out are left out too.
                    self.ast.statements.truncate(first);
                }
                Some(body?)
            }
            // The declaration of a `.func` may end without a semicolon.
            Token::End if !entry => None,
            Token::Dotted if !entry && self.starts_item() => None,
            Token::Dotted => return self.unknown_bound(entry),
            _ => return self.unexpected("`;` or `{`"),
        };
        self.ast.items.push(Item::Function(Box::new(FunctionItem {
            linkage,
            entry,
            name,
            signature,
            bounds,
            body,
            span,
        })));
        Ok(())
    }

    fn unknown_bound(&mut self, entry: bool) -> Result<(), Failed> {
        let (word, span) = (shorten(self.slice()), self.span());
        let what = if entry { "an `.entry`" } else { "a `.func`" };
        self.fail(
            Diagnostic::error(&codes::MISPLACED, format!("`{word}` in the head of {what}"))
                .at(span, "may not stand here")
                .help("leave it out, or write it behind the parameters of an `.entry`"),
        )
    }

    /// Performance directives.
    fn bounds(&mut self, entry: bool, signature: &Signature) -> Result<LaunchBounds, Failed> {
        let mut bounds = LaunchBounds::default();
        let mut maximum = None;
        let mut required = None;
        while self.peek() == Token::Dotted {
            let span = self.span();
            let word = self.slice();
            match word {
                ".noreturn" => {
                    self.advance();
                    if entry || !signature.returns.is_empty() {
                        self.error(
                            Diagnostic::error(
                                &codes::MISPLACED,
                                "`.noreturn` of a function that gives results or is a kernel",
                            )
                            .at(span, "for a `.func` without results")
                            .help("leave `.noreturn` out"),
                        );
                    }
                    bounds.noreturn = true;
                }
                ".pragma" if entry => {
                    self.pragma()?;
                }
                ".maxntid" | ".reqntid" if entry => {
                    self.advance();
                    let mut size = [1; 3];
                    size[0] = self.bound(word)?;
                    for value in &mut size[1..] {
                        if !self.eat(Token::Comma) {
                            break;
                        }
                        *value = self.bound(word)?;
                    }
                    if word == ".maxntid" {
                        bounds.max_threads = Some(size);
                        maximum = Some(span);
                    } else {
                        bounds.required_threads = Some(size);
                        required = Some(span);
                    }
                }
                ".minnctapersm" if entry => {
                    self.advance();
                    bounds.min_blocks = Some(self.bound(word)?);
                }
                ".maxnreg" if entry => {
                    self.advance();
                    bounds.max_registers = Some(self.bound(word)?);
                }
                ".maxnctapersm" if entry => {
                    return self.fail(
                        Diagnostic::error(&codes::UNSUPPORTED, "`.maxnctapersm` is not supported")
                            .at(span, "gone since PTX version 2.1")
                            .help("write `.minnctapersm`"),
                    );
                }
                ".explicitcluster" | ".blocksareclusters" if entry => {
                    self.advance();
                    bounds.cluster.get_or_insert(span);
                }
                ".reqnctapercluster" | ".maxclusterrank" if entry => {
                    self.advance();
                    self.bound(word)?;
                    while self.eat(Token::Comma) {
                        self.bound(word)?;
                    }
                    bounds.cluster.get_or_insert(span);
                }
                _ => break,
            }
        }
        if let (Some(maximum), Some(required)) = (maximum, required) {
            self.error(
                Diagnostic::error(&codes::LAUNCH_BOUNDS, "`.maxntid` and `.reqntid` of one kernel")
                    .at(maximum.max(required), "only one of them may be given")
                    .and(maximum.min(required), "the other")
                    .help(
                        "leave one of them out: `.reqntid` says the block's size, \
                         `.maxntid` only bounds it",
                    ),
            );
        }
        if let Some(span) = bounds.cluster {
            self.error(
                Diagnostic::error(&codes::UNSUPPORTED, "clusters are not supported")
                    .at(span, "asks for clusters of blocks")
                    .help("leave it out: blocks are launched one by one"),
            );
        }
        Ok(bounds)
    }

    /// A number of a performance directive.
    fn bound(&mut self, directive: &str) -> Result<u32, Failed> {
        let span = self.span();
        let value = self.small_integer()?;
        if value == 0 {
            self.error(
                Diagnostic::error(&codes::LAUNCH_BOUNDS, format!("`{directive}` of zero"))
                    .at(span, "has to be at least 1")
                    .help("write at least 1, or leave the directive out"),
            );
        }
        Ok(value)
    }

    /// `.callprototype (results) _ (parameters) .noreturn;`, behind its first word: the signature,
    /// and whether calls do not come back.
    pub fn prototype(&mut self) -> Result<(Signature, bool), Failed> {
        let mut signature = Signature::default();
        let start = self.span();
        if self.peek() == Token::Open {
            signature.returns = self.parameters()?;
        }
        self.expect(Token::Sink, "`_`")?;
        if self.peek() == Token::Open {
            signature.params = self.parameters()?;
        }
        signature.span = start.to(self.last_span());
        let noreturn = self.eat_word(".noreturn");
        self.expect(Token::Semicolon, "`;`")?;
        Ok((signature, noreturn))
    }
}

fn finish(
    linkage: (Linkage, Span),
    head: Head,
    declarators: Vec<Declarator>,
    span: Span,
) -> Declaration {
    Declaration {
        linkage,
        space: head.space,
        space_span: head.space_span,
        bank: head.bank,
        align: head.align,
        ty: head.ty,
        managed: head.managed,
        pointer: head.pointer,
        declarators,
        span,
    }
}
