//! The expressions of `#if` (C11, 6.10.1): integers of 64 bits, signed or not, names left over are 0.

use nbcc_base::{Diagnostic, Failed, Span};

use super::state::{MAX_NESTING, Preprocessor};
use super::token::{Kind, Token};
use crate::codes;
use crate::literal;

/// A value and whether it is unsigned.
#[derive(Clone, Copy)]
struct Number {
    bits: i64,
    unsigned: bool,
}

struct Parser<'p, 'a> {
    pre: &'p mut Preprocessor<'a>,
    tokens: &'p [Token],
    at: usize,
    line: Span,
    depth: usize,
    /// Whether what is read is not evaluated, so that a division by zero is none.
    unused: bool,
}

impl Preprocessor<'_> {
    /// Whether the condition that a line holds is true; not where it is none, which is reported.
    pub(super) fn holds(&mut self, tokens: &[Token], line: Span) -> Result<bool, Failed> {
        match self.condition(tokens.to_vec(), line) {
            Err(Failed) if !self.exhausted => {
                self.refused.any = true;
                Ok(false)
            }
            result => result,
        }
    }

    fn condition(&mut self, tokens: Vec<Token>, line: Span) -> Result<bool, Failed> {
        let mut ready = Vec::new();
        let mut rest = tokens.iter();
        while let Some(&token) = rest.next() {
            if token.kind != Kind::Name || token.text != self.words.defined {
                ready.push(token);
                continue;
            }
            let mut name = rest.next();
            let opened = name.is_some_and(|name| name.text == self.words.open);
            if opened {
                name = rest.next();
            }
            let closed = !opened || rest.next().is_some_and(|close| close.text == self.words.close);
            let Some(name) = name.filter(|name| name.kind == Kind::Name && closed) else {
                let error = Diagnostic::error(&codes::DIRECTIVE, "`defined` without a name");
                let error = error.at(token.span, "asks for a name");
                return self
                    .diagnostics
                    .fail(error.help("write `defined NAME` or `defined(NAME)`"));
            };
            let is = if self.is_defined(name.text) { "1" } else { "0" };
            let text = self.names.intern(is);
            ready.push(Token { kind: Kind::Number, text, ..token });
        }
        let tokens = self.expand(ready, 0)?;
        let mut parser =
            Parser { pre: self, tokens: &tokens, at: 0, line, depth: 0, unused: false };
        let value = parser.ternary()?;
        match parser.peek() {
            None => Ok(value.bits != 0),
            Some(_) => parser.fail("there is more behind the condition"),
        }
    }
}

impl Parser<'_, '_> {
    fn fail<T>(&mut self, message: &str) -> Result<T, Failed> {
        let token = self.tokens.get(self.at);
        if token.is_some_and(|token| token.kind == Kind::Bad) {
            return Err(Failed);
        }
        let span = token.map_or(self.line, |token| token.span);
        let error = Diagnostic::error(&codes::DIRECTIVE, message).at(span, "in this condition");
        self.pre.diagnostics.fail(error.help("a condition is an expression of integers and names"))
    }

    fn peek(&self) -> Option<&str> {
        let token = self.tokens.get(self.at)?;
        Some(self.pre.names.text(token.text))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.peek() == Some(text);
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Result<Number, Failed> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return self.fail("a condition that is nested too deep");
        }
        let mut value = self.binary(0)?;
        if self.eat("?") {
            let outer = self.unused;
            self.unused = outer || value.bits == 0;
            let then = self.ternary()?;
            if !self.eat(":") {
                return self.fail("a `:` is missing");
            }
            self.unused = outer || value.bits != 0;
            let other = self.ternary()?;
            self.unused = outer;
            let unsigned = then.unsigned || other.unsigned;
            value = Number { unsigned, ..if value.bits != 0 { then } else { other } };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, least: u32) -> Result<Number, Failed> {
        let mut left = self.unary()?;
        while let Some((op, level)) = self.peek().and_then(operator).filter(|&(_, l)| l >= least) {
            self.at += 1;
            let outer = self.unused;
            self.unused |= (op == "&&" && left.bits == 0) || (op == "||" && left.bits != 0);
            let right = self.binary(level + 1)?;
            self.unused = outer;
            left = match apply(op, left, right) {
                Some(value) => value,
                None if self.unused => Number { bits: 0, unsigned: false },
                None => return self.fail("a division by zero"),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Number, Failed> {
        let mut signs = Vec::new();
        while let Some(sign) = self.peek().and_then(|text| match text {
            "+" | "-" | "!" | "~" => text.chars().next(),
            _ => None,
        }) {
            signs.push(sign);
            self.at += 1;
        }
        let mut value = self.primary()?;
        for sign in signs.into_iter().rev() {
            value = match sign {
                '-' => Number { bits: value.bits.wrapping_neg(), ..value },
                '~' => Number { bits: !value.bits, ..value },
                '!' => Number { bits: i64::from(value.bits == 0), unsigned: false },
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Number, Failed> {
        if self.eat("(") {
            let mut value = self.ternary()?;
            while self.eat(",") {
                value = self.ternary()?;
            }
            return if self.eat(")") { Ok(value) } else { self.fail("a `)` is missing") };
        }
        let Some(&token) = self.tokens.get(self.at) else {
            return self.fail("a value is missing");
        };
        let text = self.pre.names.text(token.text);
        let number = match token.kind {
            Kind::Name => Some(Number { bits: 0, unsigned: false }),
            Kind::Number => literal::integer(text).ok().map(|value| Number {
                bits: value.bits as i64,
                unsigned: value.unsigned || value.bits > i64::MAX as u64,
            }),
            Kind::Char => literal::character(text)
                .ok()
                .map(|value| Number { bits: i64::from(value), unsigned: false }),
            _ => None,
        };
        match number {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => self.fail("this is no integer"),
        }
    }
}

/// The binary operators and how tightly they bind.
fn operator(text: &str) -> Option<(&'static str, u32)> {
    const ALL: [(&str, u32); 18] = [
        ("||", 1),
        ("&&", 2),
        ("|", 3),
        ("^", 4),
        ("&", 5),
        ("==", 6),
        ("!=", 6),
        ("<", 7),
        (">", 7),
        ("<=", 7),
        (">=", 7),
        ("<<", 8),
        (">>", 8),
        ("+", 9),
        ("-", 9),
        ("*", 10),
        ("/", 10),
        ("%", 10),
    ];
    ALL.into_iter().find(|&(op, _)| op == text)
}

fn apply(op: &str, left: Number, right: Number) -> Option<Number> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (x, y) = (a as u64, b as u64);
    let truth = |holds: bool| Some(Number { bits: i64::from(holds), unsigned: false });
    let value = |bits: i64| Some(Number { bits, unsigned });
    let less = if unsigned { x < y } else { a < b };
    match op {
        "||" => truth(a != 0 || b != 0),
        "&&" => truth(a != 0 && b != 0),
        "|" => value(a | b),
        "^" => value(a ^ b),
        "&" => value(a & b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<" => truth(less),
        ">=" => truth(!less),
        ">" => truth(!less && a != b),
        "<=" => truth(less || a == b),
        "<<" => Some(Number { bits: a.wrapping_shl(b as u32), unsigned: left.unsigned }),
        ">>" if left.unsigned => {
            Some(Number { bits: x.wrapping_shr(b as u32) as i64, unsigned: true })
        }
        ">>" => Some(Number { bits: a.wrapping_shr(b as u32), unsigned: false }),
        "+" => value(a.wrapping_add(b)),
        "-" => value(a.wrapping_sub(b)),
        "*" => value(a.wrapping_mul(b)),
        _ if b == 0 => None,
        "/" if unsigned => value((x / y) as i64),
        "%" if unsigned => value((x % y) as i64),
        "/" => value(a.wrapping_div(b)),
        _ => value(a.wrapping_rem(b)),
    }
}
