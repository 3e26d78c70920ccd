//! Reading the text form: a recursive-descent parser, one token of lookahead. Values and blocks
//! keep the numbers they are written with, so that what is printed again is the same text;
//! numbers in between that the text does not use belong to nothing. After a fault reading goes
//! on with the next line.

use std::collections::BTreeMap;

use cranelift_entity::EntityRef;
use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed, SourceId, Span};

use crate::lex::{Spanned, Token, lex};
use crate::{Func, Inst, Module, Op, Type, codes};

mod data;
mod function;
mod op;

/// Reads a module. `intrinsics` are the names that exist. What is wrong is reported, at most
/// [`Diagnostics::MAX`] times; any text ends in a module or an error. The module has well-formed
/// references, but the verifier has not seen it yet.
pub fn parse_module(
    source: SourceId,
    text: &str,
    intrinsics: &[&'static str],
    diagnostics: &mut Diagnostics,
) -> Result<Module, Failed> {
    let mut parser = Parser {
        source,
        text_length: text.len(),
        tokens: lex(text),
        at: 0,
        intrinsics,
        diagnostics,
        functions: 0,
        callees: Vec::new(),
        addresses: Vec::new(),
        mem_objects: Vec::new(),
        relocations: Vec::new(),
        failed: false,
    };
    let mut module = Module::default();
    let mut names = BTreeMap::new();
    let mut objects = BTreeMap::new();
    while parser.peek() != &Token::End {
        let start = parser.span();
        if parser.is_word("object") {
            if parser.object(&mut module, &mut objects).is_err() {
                parser.skip_function();
            }
            continue;
        }
        let Ok(function) = parser.function() else {
            parser.skip_function();
            continue;
        };
        let next = Func::new(module.functions.len());
        if names.insert(function.name.clone(), next).is_some() {
            let message = format!("function @{} is defined twice", function.name);
            parser.report(&codes::REDEFINED, message, start, "defined again here");
        }
        module.functions.push(function);
        parser.functions += 1;
    }
    parser.resolve_calls(&mut module, &names);
    parser.resolve_objects(&mut module, &names, &objects);
    if parser.failed { Err(Failed) } else { Ok(module) }
}

type Parse<T> = Result<T, Failed>;

/// A callee by name, to be found when all functions are known.
struct Callee {
    function: u32,
    inst: Inst,
    name: Option<String>,
    span: Span,
}

/// An object by name whose address is taken, to be found when all objects are known.
struct Address {
    function: u32,
    inst: Inst,
    name: String,
    span: Span,
}

struct Parser<'a, 'd> {
    source: SourceId,
    text_length: usize,
    tokens: Vec<Spanned<'a>>,
    at: usize,
    intrinsics: &'a [&'static str],
    diagnostics: &'d mut Diagnostics,
    /// How many functions have been read.
    functions: u32,
    callees: Vec<Callee>,
    addresses: Vec<Address>,
    mem_objects: Vec<data::MemObject>,
    relocations: Vec<data::Pending>,
    failed: bool,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> &Token<'a> {
        &self.tokens[self.at].token
    }

    fn span(&self) -> Span {
        let token = &self.tokens[self.at];
        Span::new(self.source, token.start, token.end)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn report(&mut self, code: &'static CodeInfo, message: String, span: Span, label: &str) {
        self.failed = true;
        self.diagnostics.push(Diagnostic::error(code, message).at(span, label));
    }

    fn fail<T>(
        &mut self,
        code: &'static CodeInfo,
        message: String,
        span: Span,
        label: &str,
    ) -> Parse<T> {
        self.report(code, message, span, label);
        Err(Failed)
    }

    fn expected<T>(&mut self, what: &str) -> Parse<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::At(name) => format!("`@{name}`"),
            Token::Percent(name) => format!("`%{name}`"),
            Token::Text(_) => "a text".to_string(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Wrong => "no token".to_string(),
            Token::End => "the end".to_string(),
        };
        let span = self.span();
        let label = format!("expected {what} here");
        self.fail(&codes::SYNTAX, format!("expected {what}, found {found}"), span, &label)
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(m) if *m == mark)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, mark: &str) -> Parse<()> {
        if self.eat(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if *w == word)
    }

    fn word(&mut self, what: &str) -> Parse<&'a str> {
        match *self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    /// A word out of a fixed set.
    fn named<T>(&mut self, what: &str, from: impl Fn(&str) -> Option<T>) -> Parse<T> {
        let span = self.span();
        let word = self.word(what)?;
        match from(word) {
            Some(value) => Ok(value),
            None => {
                let message = format!("`{word}` is no {what}");
                self.fail(&codes::UNKNOWN_WORD, message, span, "unknown word")
            }
        }
    }

    fn skip_line(&mut self) {
        self.next();
        while !self.tokens[self.at].first {
            self.next();
        }
    }

    /// After a fault in the head of a function or object: on to the next one.
    fn skip_function(&mut self) {
        self.skip_line();
        while !self.is_word("define") && !self.is_word("object") && self.peek() != &Token::End {
            self.skip_line();
        }
    }

    fn integer<T: TryFrom<i128>>(&mut self, what: &str) -> Parse<T> {
        let span = self.span();
        let Token::Number(text) = *self.peek() else { return self.expected(what) };
        self.next();
        match text.parse().ok().and_then(|n: i128| T::try_from(n).ok()) {
            Some(n) => Ok(n),
            None => {
                let message = format!("`{text}` is out of range for {what}");
                self.fail(&codes::NUMBER, message, span, "out of range")
            }
        }
    }

    /// The number of an entity written as a word, `v7` or `block3`.
    fn numbered(&mut self, prefix: &str, what: &str) -> Parse<u32> {
        let span = self.span();
        let Some(number) = self.peek_numbered(prefix) else { return self.expected(what) };
        self.next();
        // A table of entities is as long as the largest number.
        let limit = 1_000_000 + 16 * self.text_length as u64;
        match number {
            Some(n) if u64::from(n) < limit => Ok(n),
            _ => {
                let message = format!("number of {what} too large");
                self.fail(&codes::NUMBER, message, span, "too large for a text of this length")
            }
        }
    }

    /// Whether an entity of that prefix comes next; its number, unless that is too large.
    fn peek_numbered(&self, prefix: &str) -> Option<Option<u32>> {
        let Token::Word(word) = self.peek() else { return None };
        let digits = word.strip_prefix(prefix)?;
        let canonical = digits == "0" || !digits.starts_with('0');
        let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        (canonical && all_digits).then(|| digits.parse().ok())
    }

    fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            self.expect(",")?;
        }
    }

    fn ty(&mut self) -> Parse<Type> {
        self.named("type", Type::from_name)
    }

    /// `v7: i32 @near`, the annotation being dropped.
    fn definition(&mut self) -> Parse<(u32, Type, Span)> {
        let span = self.span();
        let number = self.numbered("v", "a value")?;
        self.expect(":")?;
        let ty = self.ty()?;
        while matches!(self.peek(), Token::At(_)) {
            self.next();
        }
        Ok((number, ty, span))
    }

    fn resolve_calls(&mut self, module: &mut Module, names: &BTreeMap<String, Func>) {
        for callee in std::mem::take(&mut self.callees) {
            let func = &mut module.functions[Func::from_u32(callee.function)];
            let Some(data) = func.insts.get_mut(callee.inst) else { continue };
            let Op::Call(target, _) = &mut data.op else { continue };
            match &callee.name {
                Some(name) => match names.get(name) {
                    Some(&found) => *target = found,
                    None => {
                        let message = format!("function @{name} is not defined");
                        self.report(&codes::UNDEFINED, message, callee.span, "not in this file");
                    }
                },
                None if target.as_u32() >= self.functions => {
                    let message = format!("{target} is not defined");
                    self.report(&codes::UNDEFINED, message, callee.span, "not in this file");
                }
                None => {}
            }
        }
    }
}
