//! Constant expressions, folded as they are read: C's operators over `.s64`, `.u64` and `.f64`
//! (PTX manual, "Constants").
//!
//! By hand as the rest of the parser, see [`crate::syntax`]: precedence climbing keeps long sums off
//! the stack, and what nests is counted.

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Failed, Span};

use crate::ast::Constant;
use crate::codes;
use crate::cursor::{MAX_NESTING, Parser};
use crate::token::Token;

/// A value with its type.
#[derive(Clone, Copy, Debug)]
enum Value {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

impl Value {
    fn bool(value: bool) -> Value {
        Value::Signed(i64::from(value))
    }
}

/// Binding strength of binary operators; `?:` binds less than all.
fn precedence(token: Token) -> Option<u32> {
    Some(match token {
        Token::Star | Token::Slash | Token::Percent => 10,
        Token::Plus | Token::Minus => 9,
        Token::ShiftLeft | Token::ShiftRight => 8,
        Token::Less | Token::Greater | Token::LessEqual | Token::GreaterEqual => 7,
        Token::Equal | Token::NotEqual => 6,
        Token::And => 5,
        Token::Xor => 4,
        Token::Or => 3,
        Token::LogicalAnd => 2,
        Token::LogicalOr => 1,
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// A constant expression, or a float in hexadecimal form.
    pub fn constant(&mut self) -> Result<Constant, Failed> {
        match self.peek() {
            Token::F32 => {
                let bits = u32::from_str_radix(&self.slice()[2..], 16).expect("8 digits");
                self.advance();
                return Ok(Constant::F32(bits));
            }
            Token::F64 => {
                let bits = u64::from_str_radix(&self.slice()[2..], 16).expect("16 digits");
                self.advance();
                return Ok(Constant::F64(bits));
            }
            // The common case needs no machinery.
            Token::Int
                if matches!(
                    self.peek_second(),
                    Token::Comma | Token::Semicolon | Token::CloseIndex | Token::CloseBrace
                ) =>
            {
                let (bits, unsigned) = self.integer()?;
                return Ok(Constant::Int { bits, unsigned });
            }
            _ => {}
        }
        Ok(match self.conditional(0)? {
            Value::Signed(v) => Constant::Int { bits: v as u64, unsigned: false },
            Value::Unsigned(bits) => Constant::Int { bits, unsigned: true },
            Value::Float(v) => Constant::F64(v.to_bits()),
        })
    }

    /// A constant expression of an integer type.
    pub fn integer_constant(&mut self) -> Result<u64, Failed> {
        let start = self.span();
        match self.constant()? {
            Constant::Int { bits, .. } => Ok(bits),
            _ => {
                let span = start.to(self.last_span());
                self.fail(
                    Diagnostic::error(&codes::CONSTANT, "a float where an integer is needed")
                        .at(span, "a float")
                        .help("write an integer, or convert it with a cast: `(.s64)`"),
                )
            }
        }
    }

    /// An integer literal or `WARP_SZ`: its bits, and whether it is unsigned.
    pub fn integer(&mut self) -> Result<(u64, bool), Failed> {
        if self.peek() == Token::Name && self.slice() == "WARP_SZ" {
            self.advance();
            return Ok((32, false));
        }
        let lexeme = self.expect(Token::Int, "an integer")?;
        let text = self.text_of(lexeme);
        let (digits, marked) = match text.strip_suffix('U') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let value = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2),
            [b'0', _, ..] => u64::from_str_radix(&digits[1..], 8),
            _ => digits.parse(),
        };
        match value {
            Ok(value) => Ok((value, marked || value > i64::MAX as u64)),
            Err(_) => {
                let span = self.span_of(lexeme);
                self.fail(
                    Diagnostic::error(
                        &codes::NUMBER,
                        format!("`{}` is out of range", shorten(text)),
                    )
                    .at(span, "more than 64 bits")
                    .help("integers are at most 18446744073709551615"),
                )
            }
        }
    }

    /// An integer literal of at most 32 bits.
    pub fn small_integer(&mut self) -> Result<u32, Failed> {
        let span = self.span();
        let (value, _) = self.integer()?;
        u32::try_from(value).or_else(|_| {
            self.fail(
                Diagnostic::error(&codes::NUMBER, format!("{value} is out of range"))
                    .at(span, "more than 32 bits")
                    .help("write a number from 0 to 4294967295"),
            )
        })
    }

    fn conditional(&mut self, depth: u32) -> Result<Value, Failed> {
        let span = self.span();
        let condition = self.binary(1, depth)?;
        if !self.eat(Token::Question) {
            return Ok(condition);
        }
        let condition = self.truth(condition, "?:", span)?;
        let then = self.conditional(depth + 1)?;
        self.expect(Token::Colon, "`:`")?;
        let otherwise = self.conditional(depth + 1)?;
        for value in [then, otherwise] {
            self.truth(value, "?:", span)?;
        }
        Ok(if condition { then } else { otherwise })
    }

    fn binary(&mut self, least: u32, depth: u32) -> Result<Value, Failed> {
        let start = self.span();
        let mut left = self.unary(depth)?;
        while let Some(strength) = precedence(self.peek()).filter(|&p| p >= least) {
            let op = self.advance().token;
            let right = self.binary(strength + 1, depth + 1)?;
            let span = start.to(self.last_span());
            left = match (left, right) {
                (Value::Float(a), Value::Float(b)) => self.float_operation(op, a, b, span)?,
                (Value::Float(_), _) | (_, Value::Float(_)) => {
                    return self.fail(
                        Diagnostic::error(
                            &codes::CONSTANT,
                            "integers and floats do not mix in a constant expression",
                        )
                        .at(span, "one side is a float, the other an integer")
                        .help("write both as floats (`2.0`) or both as integers"),
                    );
                }
                _ => self.integer_operation(op, left, right, span)?,
            };
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<Value, Failed> {
        if depth > MAX_NESTING {
            let span = self.span();
            return self.fail(
                Diagnostic::error(
                    &codes::NESTING,
                    format!("a constant expression nested more than {MAX_NESTING} deep"),
                )
                .at(span, "too deep here")
                .help("compute parts of it by hand, or in registers"),
            );
        }
        let span = self.span();
        match self.peek() {
            Token::Plus => {
                self.advance();
                self.unary(depth + 1)
            }
            Token::Minus => {
                self.advance();
                Ok(match self.unary(depth + 1)? {
                    Value::Signed(v) => Value::Signed(v.wrapping_neg()),
                    Value::Unsigned(v) => Value::Unsigned(v.wrapping_neg()),
                    Value::Float(v) => Value::Float(-v),
                })
            }
            Token::Not => {
                self.advance();
                let value = self.unary(depth + 1)?;
                Ok(Value::bool(!self.truth(value, "!", span)?))
            }
            Token::Tilde => {
                self.advance();
                match self.unary(depth + 1)? {
                    Value::Signed(v) => Ok(Value::Unsigned(!v as u64)),
                    Value::Unsigned(v) => Ok(Value::Unsigned(!v)),
                    Value::Float(_) => self.not_for_floats("~", span),
                }
            }
            Token::Open if self.peek_second() == Token::Dotted => {
                self.advance();
                let cast = self.slice();
                self.advance();
                self.expect(Token::Close, "`)`")?;
                let value = self.unary(depth + 1)?;
                match (cast, value) {
                    (".s64", Value::Signed(v)) => Ok(Value::Signed(v)),
                    (".s64", Value::Unsigned(v)) => Ok(Value::Signed(v as i64)),
                    (".u64", Value::Signed(v)) => Ok(Value::Unsigned(v as u64)),
                    (".u64", Value::Unsigned(v)) => Ok(Value::Unsigned(v)),
                    _ => {
                        let span = span.to(self.last_span());
                        self.fail(
                            Diagnostic::error(
                                &codes::CONSTANT,
                                format!("`({cast})` is no cast of constant expressions"),
                            )
                            .at(span, "not possible")
                            .help("integers can be cast to .s64 and .u64"),
                        )
                    }
                }
            }
            Token::Open => {
                self.advance();
                let value = self.conditional(depth + 1)?;
                self.expect(Token::Close, "`)`")?;
                Ok(value)
            }
            Token::Int => {
                let (bits, unsigned) = self.integer()?;
                Ok(if unsigned { Value::Unsigned(bits) } else { Value::Signed(bits as i64) })
            }
            Token::Decimal => {
                let text = self.slice();
                let value: f64 = text.parse().expect("the lexer reads floats as Rust does");
                self.advance();
                // As in C, numbers below the normal ones are out of range.
                let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
                let zero = !mantissa.contains(|c: char| ('1'..='9').contains(&c));
                if !value.is_normal() && !zero {
                    return self.fail(
                        Diagnostic::error(
                            &codes::NUMBER,
                            format!("`{}` is out of range", shorten(text)),
                        )
                        .at(span, "no normal number of type `.f64`")
                        .help("write its bits: 0d and 16 hexadecimal digits"),
                    );
                }
                Ok(Value::Float(value))
            }
            Token::Name if self.slice() == "WARP_SZ" => {
                self.advance();
                Ok(Value::Signed(32))
            }
            _ => self.unexpected("a constant"),
        }
    }

    fn division_by_zero<T>(&mut self, span: Span) -> Result<T, Failed> {
        self.fail(
            Diagnostic::error(&codes::CONSTANT, "division by zero in a constant expression")
                .at(span, "the divisor is zero")
                .help("divide by a number that is not zero"),
        )
    }

    /// The truth of an integer.
    fn truth(&mut self, value: Value, op: &str, span: Span) -> Result<bool, Failed> {
        match value {
            Value::Signed(v) => Ok(v != 0),
            Value::Unsigned(v) => Ok(v != 0),
            Value::Float(_) => self.not_for_floats(op, span),
        }
    }

    fn not_for_floats<T>(&mut self, op: &str, span: Span) -> Result<T, Failed> {
        self.fail(
            Diagnostic::error(&codes::CONSTANT, format!("`{op}` of floats"))
                .at(span, "for integers only")
                .help("write integers, or compute it in registers"),
        )
    }

    fn float_operation(&mut self, op: Token, a: f64, b: f64, span: Span) -> Result<Value, Failed> {
        Ok(match op {
            Token::Star => Value::Float(a * b),
            Token::Slash if b == 0.0 => return self.division_by_zero(span),
            Token::Slash => Value::Float(a / b),
            Token::Plus => Value::Float(a + b),
            Token::Minus => Value::Float(a - b),
            Token::Less => Value::bool(a < b),
            Token::Greater => Value::bool(a > b),
            Token::LessEqual => Value::bool(a <= b),
            Token::GreaterEqual => Value::bool(a >= b),
            Token::Equal => Value::bool(a == b),
            Token::NotEqual => Value::bool(a != b),
            Token::LogicalAnd => return self.not_for_floats("&&", span),
            Token::LogicalOr => return self.not_for_floats("||", span),
            Token::Percent => return self.not_for_floats("%", span),
            Token::ShiftLeft => return self.not_for_floats("<<", span),
            Token::ShiftRight => return self.not_for_floats(">>", span),
            Token::And => return self.not_for_floats("&", span),
            Token::Xor => return self.not_for_floats("^", span),
            Token::Or => return self.not_for_floats("|", span),
            _ => unreachable!("only binary operators have a precedence"),
        })
    }

    fn integer_operation(
        &mut self,
        op: Token,
        left: Value,
        right: Value,
        span: Span,
    ) -> Result<Value, Failed> {
        let bits = |value| match value {
            Value::Signed(v) => v as u64,
            Value::Unsigned(v) => v,
            Value::Float(_) => unreachable!("floats are handled apart"),
        };
        let (a, b) = (bits(left), bits(right));
        let signed = |v: Value| matches!(v, Value::Signed(_));
        let both = signed(left) && signed(right);
        // The usual arithmetic conversion; a shift keeps the type of its left side.
        let result = |bits: u64, signed| {
            if signed { Value::Signed(bits as i64) } else { Value::Unsigned(bits) }
        };
        let order = if both { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) };
        Ok(match op {
            Token::Star => result(a.wrapping_mul(b), both),
            Token::Slash | Token::Percent if b == 0 => {
                return self.division_by_zero(span);
            }
            Token::Slash if both => Value::Signed((a as i64).wrapping_div(b as i64)),
            Token::Slash => Value::Unsigned(a / b),
            // Unsigned whatever the operands, as `~`.
            Token::Percent => Value::Unsigned(a % b),
            Token::Plus => result(a.wrapping_add(b), both),
            Token::Minus => result(a.wrapping_sub(b), both),
            // Only the low six bits of the amount count.
            Token::ShiftLeft => result(a.wrapping_shl(b as u32), signed(left)),
            Token::ShiftRight if signed(left) => Value::Signed((a as i64).wrapping_shr(b as u32)),
            Token::ShiftRight => Value::Unsigned(a.wrapping_shr(b as u32)),
            Token::Less => Value::bool(order.is_lt()),
            Token::Greater => Value::bool(order.is_gt()),
            Token::LessEqual => Value::bool(order.is_le()),
            Token::GreaterEqual => Value::bool(order.is_ge()),
            Token::Equal => Value::bool(a == b),
            Token::NotEqual => Value::bool(a != b),
            Token::And => result(a & b, both),
            Token::Xor => result(a ^ b, both),
            Token::Or => result(a | b, both),
            Token::LogicalAnd => Value::bool(a != 0 && b != 0),
            Token::LogicalOr => Value::bool(a != 0 || b != 0),
            _ => unreachable!("only binary operators have a precedence"),
        })
    }
}
