//! Bodies of functions: statements, instructions, operands.

use std::ops::Range;

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Failed, Span};

use crate::ast::{
    BranchTarget, Guard, Instruction, Linkage, Name, Operand, OperandKind, Statement,
};
use crate::codes;
use crate::cursor::{MAX_NESTING, Parser};
use crate::token::Token;

impl Parser<'_, '_> {
    /// A body with its braces. The statements between them are a range of the list of all.
    pub fn body(&mut self) -> Result<Range<usize>, Failed> {
        let open = self.span();
        self.advance();
        let first = self.ast.statements.len();
        let mut depth = 0u32;
        loop {
            let span = self.span();
            match self.peek() {
                Token::OpenBrace => {
                    self.advance();
                    self.ast.statements.push(Statement::Open(span));
                    depth += 1;
                    if depth > MAX_NESTING {
                        return self.fail(
                            Diagnostic::error(
                                &codes::NESTING,
                                format!("blocks nested more than {MAX_NESTING} deep"),
                            )
                            .at(span, "too deep here")
                            .help("close blocks before more are opened, or split the function"),
                        );
                    }
                }
                Token::CloseBrace => {
                    self.advance();
                    self.ast.statements.push(Statement::Close(span));
                    if depth == 0 {
                        return Ok(first..self.ast.statements.len());
                    }
                    depth -= 1;
                }
                Token::End => {
                    self.error(
                        Diagnostic::error(&codes::BRACKETS, "`{` is never closed")
                            .at(open, "the body starts here")
                            .and(span, "the file ends here")
                            .help("add `}`"),
                    );
                    return Ok(self.end_body(first, depth, span));
                }
                Token::Dotted if self.starts_function() => {
                    let word = self.slice();
                    self.error(misplaced(word, span));
                    return Ok(self.end_body(first, depth, span));
                }
                _ => {
                    let from = self.at;
                    if self.statement().is_err() {
                        if self.gives_up() {
                            return Err(Failed);
                        }
                        self.skip_statement(from);
                    }
                }
            }
        }
    }

    /// The statements from `first`, with the braces that are missing at their end.
    fn end_body(&mut self, first: usize, depth: u32, span: Span) -> Range<usize> {
        for _ in 0..=depth {
            self.ast.statements.push(Statement::Close(span));
        }
        first..self.ast.statements.len()
    }

    /// Whether a kernel or function starts here, with or without linkage.
    fn starts_function(&self) -> bool {
        let linkage = matches!(self.slice(), ".visible" | ".extern" | ".weak");
        let word = self.tokens[(self.at + usize::from(linkage)).min(self.tokens.len() - 1)];
        matches!(self.text_of(word), ".entry" | ".func")
    }

    fn statement(&mut self) -> Result<(), Failed> {
        let statement = match self.peek() {
            Token::Name if self.peek_second() == Token::Colon => self.label()?,
            Token::Name | Token::At => Statement::Instruction(self.instruction()?),
            Token::Dotted => match self.directive()? {
                Some(statement) => statement,
                None => return Ok(()),
            },
            _ => return self.unexpected("an instruction"),
        };
        self.ast.statements.push(statement);
        Ok(())
    }

    /// Goes behind the statement that starts at token `from`, in which there was an error: behind
    /// the next semicolon, before a line that starts another statement, or before a brace that
    /// closes more than the statement opened.
    fn skip_statement(&mut self, from: usize) {
        let error = self.at;
        let mut depth = 0u32;
        let mut end = self.tokens.len() - 1;
        for index in from..end {
            match self.tokens[index].token {
                // Where a brace is what is wrong, it starts a block.
                Token::OpenBrace if index == error => {
                    end = index;
                    break;
                }
                Token::OpenBrace => depth += 1,
                Token::CloseBrace if depth == 0 => {
                    // Progress is made: a statement never starts with a brace.
                    end = index;
                    break;
                }
                Token::CloseBrace => depth -= 1,
                Token::Semicolon if index >= error => {
                    end = index + 1;
                    break;
                }
                _ if index >= error && index > from && self.line_starts_statement(index) => {
                    end = index;
                    break;
                }
                _ => {}
            }
        }
        self.skip(from, end);
    }

    /// Whether a token is the first of its line and starts a statement, as far as can be seen from
    /// it and the one behind it.
    fn line_starts_statement(&self, index: usize) -> bool {
        let [before, lexeme, next] = [index - 1, index, index + 1].map(|at| self.tokens[at]);
        if !self.text[before.end as usize..lexeme.start as usize].contains('\n') {
            return false;
        }
        match lexeme.token {
            Token::Name => {
                next.token == Token::Colon
                    || next.token == Token::Dotted && next.start == lexeme.end
                    || matches!(self.text_of(lexeme), "ret" | "exit" | "trap")
            }
            Token::At => true,
            Token::Dotted => matches!(
                self.text_of(lexeme),
                ".reg"
                    | ".local"
                    | ".param"
                    | ".shared"
                    | ".loc"
                    | ".pragma"
                    | ".visible"
                    | ".entry"
                    | ".func"
            ),
            _ => false,
        }
    }

    fn label(&mut self) -> Result<Statement, Failed> {
        let lexeme = self.advance();
        let name = self.name_of(lexeme);
        self.advance();
        if self.eat_word(".callprototype") {
            let (signature, noreturn) = self.prototype()?;
            return Ok(Statement::Prototype(name, Box::new(signature), noreturn));
        }
        if self.eat_word(".calltargets") {
            let mut targets = vec![self.name("a function")?];
            while self.eat(Token::Comma) {
                targets.push(self.name("a function")?);
            }
            self.expect(Token::Semicolon, "`,` or `;`")?;
            return Ok(Statement::CallTargets(name, targets));
        }
        if self.eat_word(".branchtargets") {
            let mut targets = vec![self.branch_target()?];
            while self.eat(Token::Comma) {
                targets.push(self.branch_target()?);
            }
            self.expect(Token::Semicolon, "`,` or `;`")?;
            return Ok(Statement::BranchTargets(name, targets));
        }
        Ok(Statement::Label(name))
    }

    fn branch_target(&mut self) -> Result<BranchTarget, Failed> {
        let name = self.name("a label")?;
        let mut range = None;
        if self.eat(Token::Less) {
            range = Some(u64::from(self.small_integer()?));
            self.expect(Token::Greater, "`>`")?;
        }
        Ok(BranchTarget { name, range })
    }

    fn directive(&mut self) -> Result<Option<Statement>, Failed> {
        let span = self.span();
        match self.slice() {
            ".reg" | ".local" | ".param" | ".shared" | ".global" | ".const" | ".align"
            | ".attribute" | ".tex" => {
                let declaration = self.declaration((Linkage::Internal, span))?;
                Ok(Some(Statement::Declaration(Box::new(declaration))))
            }
            ".loc" => Ok(Some(Statement::Loc(Box::new(self.loc()?)))),
            ".pragma" => {
                self.pragma()?;
                Ok(None)
            }
            word @ (".visible" | ".extern" | ".weak" | ".common") => self.fail(
                Diagnostic::error(&codes::MISPLACED, format!("`{word}` in a function"))
                    .at(span, "may not stand here")
                    .help("declare it before the function"),
            ),
            word @ (".file" | ".section" | ".alias" | ".version" | ".target" | ".address_size"
            | ".maxntid" | ".reqntid" | ".minnctapersm" | ".maxnreg" | ".noreturn"
            | ".ptr") => self.fail(misplaced(word, span)),
            word @ (".callprototype" | ".calltargets" | ".branchtargets") => self.fail(
                Diagnostic::error(&codes::SYNTAX, format!("`{word}` without a label"))
                    .at(span, "needs a label by which it is found")
                    .help(format!("write `name: {word} ...`")),
            ),
            word => self.fail(
                Diagnostic::error(
                    &codes::DIRECTIVE,
                    format!("unknown directive `{}`", shorten(word)),
                )
                .at(span, "not a directive")
                .help("leave it out; docs/language-ptx.md lists the directives"),
            ),
        }
    }

    fn instruction(&mut self) -> Result<Instruction, Failed> {
        let start = self.span();
        let mut guard = None;
        if self.eat(Token::At) {
            let negated = self.eat(Token::Not);
            let name = self.name("a predicate register")?;
            guard = Some(Guard { name, negated });
            if self.peek() != Token::Name || self.peek_second() == Token::Colon {
                return self.unexpected_after_guard();
            }
        }
        let call = self.slice() == "call";
        let (form, form_span) = self.form();
        let mut operands = Vec::new();
        if self.peek() != Token::Semicolon {
            loop {
                operands.push(self.operand(call)?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        let end = self.span();
        if !self.eat(Token::Semicolon) {
            return self.unexpected("`,` or `;`");
        }
        Ok(Instruction { guard, form, form_span, operands, span: start.to(end) })
    }

    fn unexpected_after_guard<T>(&mut self) -> Result<T, Failed> {
        match self.peek() {
            Token::Name => self.unexpected("an instruction: labels stand before the guard"),
            _ => self.unexpected("an instruction"),
        }
    }

    fn operand(&mut self, call: bool) -> Result<Operand, Failed> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Name if self.slice() != "WARP_SZ" => return self.name_operand(),
            Token::Sink => {
                self.advance();
                let sink = Operand { kind: OperandKind::Sink, span: start };
                return self.pair(sink);
            }
            Token::OpenBrace => self.vector()?,
            Token::OpenIndex => self.address()?,
            Token::Not if self.name_is_second() => {
                self.advance();
                OperandKind::Not(Box::new(self.component()?))
            }
            Token::Minus if self.name_is_second() => {
                self.advance();
                OperandKind::Negated(Box::new(self.component()?))
            }
            Token::Open if call => self.list()?,
            Token::Comma | Token::Semicolon | Token::CloseBrace | Token::End => {
                return self.unexpected("an operand");
            }
            _ => OperandKind::Constant(self.constant()?),
        };
        Ok(Operand { kind, span: start.to(self.last_span()) })
    }

    fn name_is_second(&self) -> bool {
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        next.token == Token::Name && self.text_of(next) != "WARP_SZ"
    }

    /// A name with or without a component.
    fn component(&mut self) -> Result<Operand, Failed> {
        let name = self.name("a register")?;
        let mut span = name.span;
        let mut component = None;
        if self.peek() == Token::Dotted {
            component = Some(self.ast.names.intern(&self.slice()[1..]));
            span = span.to(self.span());
            self.advance();
        }
        Ok(Operand { kind: OperandKind::Name { name: name.symbol, component }, span })
    }

    fn name_operand(&mut self) -> Result<Operand, Failed> {
        let operand = self.component()?;
        let OperandKind::Name { name, component } = operand.kind else {
            unreachable!("a component is a name");
        };
        match self.peek() {
            Token::Or => self.pair(operand),
            Token::Plus if component.is_none() => {
                self.advance();
                let offset = self.integer_constant()? as i64;
                let span = operand.span.to(self.last_span());
                Ok(Operand { kind: OperandKind::Sum { name, offset }, span })
            }
            Token::OpenIndex if component.is_none() => {
                self.advance();
                let offset = self.integer_constant()? as i64;
                self.expect(Token::CloseIndex, "`]`")?;
                let span = operand.span.to(self.last_span());
                Ok(Operand { kind: OperandKind::Index { name, offset }, span })
            }
            _ => Ok(operand),
        }
    }

    /// `|` and a second operand, if they follow.
    fn pair(&mut self, first: Operand) -> Result<Operand, Failed> {
        if !self.eat(Token::Or) {
            return Ok(first);
        }
        let span = self.span();
        let second = if self.eat(Token::Sink) {
            Operand { kind: OperandKind::Sink, span }
        } else {
            self.component()?
        };
        let span = first.span.to(second.span);
        Ok(Operand { kind: OperandKind::Pair(Box::new([first, second])), span })
    }

    /// `{a, b}`: registers, constants and `_`.
    fn vector(&mut self) -> Result<OperandKind, Failed> {
        self.advance();
        let mut list = Vec::new();
        loop {
            list.push(self.element()?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::CloseBrace, "`,` or `}`")?;
        Ok(OperandKind::Vector(list))
    }

    /// An element of a vector.
    fn element(&mut self) -> Result<Operand, Failed> {
        let span = self.span();
        match self.peek() {
            Token::Sink => {
                self.advance();
                Ok(Operand { kind: OperandKind::Sink, span })
            }
            Token::Name if self.slice() != "WARP_SZ" => self.component(),
            _ => {
                let kind = OperandKind::Constant(self.constant()?);
                Ok(Operand { kind, span: span.to(self.last_span()) })
            }
        }
    }

    /// An element of a list of arguments or results: a vector has none.
    fn argument(&mut self) -> Result<Operand, Failed> {
        if self.peek() == Token::Name && self.peek_second() == Token::Dotted {
            self.advance();
            return self.unexpected("`,` or `)`");
        }
        self.element()
    }

    /// `(a, b)`.
    fn list(&mut self) -> Result<OperandKind, Failed> {
        self.advance();
        let mut list = Vec::new();
        if !self.eat(Token::Close) {
            loop {
                list.push(self.argument()?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            self.expect(Token::Close, "`,` or `)`")?;
        }
        Ok(OperandKind::List(list))
    }

    /// `[base + offset]`, `[number]`, `[texture, {x, y}]`.
    fn address(&mut self) -> Result<OperandKind, Failed> {
        self.advance();
        let mut base = None;
        let mut offset = 0;
        if self.peek() == Token::Name && self.slice() != "WARP_SZ" {
            let lexeme = self.advance();
            let name: Name = self.name_of(lexeme);
            base = Some(name);
            match self.peek() {
                Token::Plus => {
                    self.advance();
                    offset = self.integer_constant()? as i64;
                }
                Token::Comma => return self.texture(name),
                _ => {}
            }
        } else {
            offset = self.integer_constant()? as i64;
        }
        if self.peek() != Token::CloseIndex {
            if self.peek() == Token::Minus {
                let span = self.span();
                return self.fail(
                    Diagnostic::error(&codes::SYNTAX, "unexpected `-` in an address")
                        .at(span, "expected `+` or `]`")
                        .help("write `+ -4` for a negative offset"),
                );
            }
            return self.unexpected("`+` or `]`");
        }
        self.advance();
        Ok(OperandKind::Address { base, offset })
    }

    fn texture(&mut self, name: Name) -> Result<OperandKind, Failed> {
        let kind = OperandKind::Name { name: name.symbol, component: None };
        let mut list = vec![Operand { kind, span: name.span }];
        while self.eat(Token::Comma) {
            let start: Span = self.span();
            let element = match self.peek() {
                Token::OpenBrace => {
                    let kind = self.vector()?;
                    Operand { kind, span: start.to(self.last_span()) }
                }
                _ => self.element()?,
            };
            list.push(element);
        }
        self.expect(Token::CloseIndex, "`,` or `]`")?;
        Ok(OperandKind::Texture(list))
    }
}

fn misplaced(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::MISPLACED, format!("`{word}` in a function"))
        .at(span, "may not stand here")
        .help("a `}` may be missing before this")
}
