//! Operations and terminators of the text form.

use std::str::FromStr;

use nbcc_base::Span;

use super::function::Body;
use super::{Address, Callee, Parse, Parser};
use crate::lex::Token;
use crate::{
    BinaryOp, Block, BlockCall, Constant, ConvertOp, Effect, FloatCond, Func, Inst, IntCond,
    IntrinsicCall, Mem, Object, Op, Scalar, SimtOp, Space, Terminator, Type, UnaryOp, Value, codes,
    f64_to_f16,
};

impl Parser<'_, '_> {
    fn value(&mut self, body: &mut Body) -> Parse<Value> {
        let span = self.span();
        let number = self.numbered("v", "a value")?;
        body.used_values.entry(number).or_insert(span);
        Ok(Value::from_u32(number))
    }

    fn values<const N: usize>(&mut self, body: &mut Body) -> Parse<[Value; N]> {
        let mut values = [Value::from_u32(0); N];
        for (i, value) in values.iter_mut().enumerate() {
            if i > 0 {
                self.expect(",")?;
            }
            *value = self.value(body)?;
        }
        Ok(values)
    }

    fn target(&mut self, body: &mut Body) -> Parse<BlockCall> {
        let span = self.span();
        let number = self.numbered("block", "a block")?;
        body.used_blocks.entry(number).or_insert(span);
        let args = match self.eat("(") {
            true => self.list(")", |p| p.value(body))?,
            false => Vec::new(),
        };
        Ok(BlockCall { block: Block::from_u32(number), args })
    }

    pub(super) fn terminator(&mut self, body: &mut Body) -> Parse<Option<Terminator>> {
        let Token::Word(word) = *self.peek() else { return Ok(None) };
        if !matches!(word, "jump" | "branch" | "switch" | "return" | "trap" | "exit") {
            return Ok(None);
        }
        self.next();
        Ok(Some(match word {
            "jump" => Terminator::Jump(self.target(body)?),
            "branch" => {
                let cond = self.value(body)?;
                self.expect(",")?;
                let then = self.target(body)?;
                self.expect(",")?;
                Terminator::Branch(cond, then, self.target(body)?)
            }
            "switch" => {
                let value = self.value(body)?;
                self.expect(",")?;
                self.expect("[")?;
                let cases = self.list("]", |p| p.target(body))?;
                self.expect(",")?;
                Terminator::Switch(value, cases, self.target(body)?)
            }
            "return" => {
                let mut values = Vec::new();
                if !self.tokens[self.at].first && !self.is_mark("!") {
                    values.push(self.value(body)?);
                    while self.eat(",") {
                        values.push(self.value(body)?);
                    }
                }
                Terminator::Return(values)
            }
            "exit" => Terminator::Exit,
            _ => match self.peek().clone() {
                Token::Text(message) => {
                    self.next();
                    Terminator::Trap(message.into_owned())
                }
                _ => return self.expected("a text in quotes"),
            },
        }))
    }

    /// The type of the only result, for operations whose result type is not that of an operand.
    fn result_type(&mut self, types: &[Type], span: Span) -> Parse<Type> {
        match types {
            [ty] => Ok(*ty),
            _ => {
                let message = "the operation has one result".to_string();
                self.fail(&codes::SYNTAX, message, span, "expected `vN: type =` here")
            }
        }
    }

    pub(super) fn op(&mut self, body: &mut Body, types: &[Type], span: Span) -> Parse<Op> {
        let word_span = self.span();
        let word = self.word("an operation")?;
        if let Some(op) = UnaryOp::from_name(word) {
            return Ok(Op::Unary(op, self.value(body)?));
        }
        if let Some(op) = BinaryOp::from_name(word) {
            let [a, b] = self.values(body)?;
            return Ok(Op::Binary(op, a, b));
        }
        if let Some(op) = ConvertOp::from_name(word) {
            let ty = self.result_type(types, span)?;
            return Ok(Op::Convert(op, self.value(body)?, ty));
        }
        Ok(match word {
            "const" => {
                let ty = self.result_type(types, span)?;
                Op::Const(ty, self.constant(ty.scalar)?)
            }
            "fma" | "muladd" | "select" => {
                let [a, b, c] = self.values(body)?;
                match word {
                    "fma" => Op::Fma(a, b, c),
                    "muladd" => Op::MulAdd(a, b, c),
                    _ => Op::Select(a, b, c),
                }
            }
            "icmp" => {
                let cond = self.named("integer condition", IntCond::from_name)?;
                let [a, b] = self.values(body)?;
                Op::Icmp(cond, a, b)
            }
            "fcmp" => {
                let cond = self.named("float condition", FloatCond::from_name)?;
                let [a, b] = self.values(body)?;
                Op::Fcmp(cond, a, b)
            }
            "splat" => {
                let ty = self.result_type(types, span)?;
                Op::Splat(self.value(body)?, ty.lanes)
            }
            "extract" => {
                let a = self.value(body)?;
                self.expect(",")?;
                Op::Extract(a, self.integer("a lane")?)
            }
            "insert" => {
                let [a, b] = self.values(body)?;
                self.expect(",")?;
                Op::Insert(a, b, self.integer("a lane")?)
            }
            "shuffle" => {
                let [a, b] = self.values(body)?;
                self.expect(",")?;
                self.expect("[")?;
                Op::Shuffle(a, b, self.list("]", |p| p.integer("a lane"))?)
            }
            "load" | "store" => self.access(body, word == "store", types, span)?,
            "call" => self.call(body)?,
            "intrinsic" => self.intrinsic(body, types, span)?,
            "simt" => self.simt(body)?,
            "address" => self.address()?,
            _ => {
                let message = format!("`{word}` is no operation");
                return self.fail(&codes::UNKNOWN_WORD, message, word_span, "unknown word");
            }
        })
    }

    fn constant(&mut self, scalar: Scalar) -> Parse<Constant> {
        if self.eat("[") {
            return Ok(Constant::Lanes(self.list("]", |p| p.literal(scalar))?));
        }
        Ok(Constant::Splat(self.literal(scalar)?))
    }

    /// A literal as bits: an integer between the least signed and the greatest unsigned one of
    /// its width, or a float in decimal or as its bits.
    fn literal(&mut self, scalar: Scalar) -> Parse<u64> {
        let span = self.span();
        let text = match *self.peek() {
            Token::Number(text) => text,
            Token::Word("inf") => "inf",
            _ => return self.expected("a number"),
        };
        self.next();
        match literal_bits(scalar, text) {
            Some(bits) => Ok(bits),
            None => {
                let message = format!("`{text}` is no {scalar}");
                self.fail(&codes::NUMBER, message, span, "does not fit the type")
            }
        }
    }

    fn mem_name(&mut self, body: &Body) -> Parse<Mem> {
        let span = self.span();
        let Token::Percent(name) = self.peek().clone() else { return self.expected("`%name`") };
        self.next();
        match body.mems.get(name.as_ref()) {
            Some(&mem) => Ok(mem),
            None => {
                let message = format!("memory object %{name} is not defined");
                self.fail(&codes::UNDEFINED, message, span, "not defined in this function")
            }
        }
    }

    fn access(&mut self, body: &mut Body, store: bool, types: &[Type], span: Span) -> Parse<Op> {
        if matches!(self.peek(), Token::Percent(_)) {
            let mem = self.mem_name(body)?;
            self.expect("[")?;
            let subscripts = self.list("]", |p| p.value(body))?;
            if !store {
                return Ok(Op::Load(self.result_type(types, span)?, mem, subscripts));
            }
            self.expect(",")?;
            return Ok(Op::Store(mem, subscripts, self.value(body)?));
        }
        let space = self.named("space or memory object", Space::from_name)?;
        self.expect("[")?;
        let address = self.value(body)?;
        let offset = self.addend(span)?;
        self.expect("]")?;
        if !store {
            return Ok(Op::LoadRaw(self.result_type(types, span)?, space, address, offset));
        }
        self.expect(",")?;
        Ok(Op::StoreRaw(space, address, offset, self.value(body)?))
    }

    /// What is added to or subtracted from an address, if anything is.
    pub(super) fn addend(&mut self, span: Span) -> Parse<i64> {
        Ok(if self.eat("+") {
            self.integer("an offset")?
        } else if self.eat("-") {
            let magnitude: u64 = self.integer("an offset")?;
            match i64::try_from(-i128::from(magnitude)) {
                Ok(offset) => offset,
                Err(_) => {
                    let message = format!("offset -{magnitude} is out of range");
                    return self.fail(&codes::NUMBER, message, span, "out of range");
                }
            }
        } else {
            0
        })
    }

    fn call(&mut self, body: &mut Body) -> Parse<Op> {
        let span = self.span();
        let function = self.functions;
        let mut callee = Callee { function, inst: Inst::from_u32(0), name: None, span };
        let number = match self.peek().clone() {
            Token::At(name) => {
                callee.name = Some(name.into_owned());
                self.next();
                0
            }
            _ => self.numbered("fn", "a function")?,
        };
        self.expect("(")?;
        let args = self.list(")", |p| p.value(body))?;
        self.callees.push(callee);
        Ok(Op::Call(Func::from_u32(number), args))
    }

    fn simt(&mut self, body: &mut Body) -> Parse<Op> {
        let span = self.span();
        let Token::Text(text) = self.peek().clone() else {
            return self.expected("a grid operation in quotes");
        };
        self.next();
        let Ok(op) = SimtOp::from_str(&text) else {
            let message = format!("there is no grid operation \"{text}\"");
            return self.fail(&codes::UNKNOWN_WORD, message, span, "unknown operation");
        };
        self.expect("(")?;
        Ok(Op::Simt(op, self.list(")", |p| p.value(body))?))
    }

    /// The address of an object by its name.
    fn address(&mut self) -> Parse<Op> {
        let (span, function) = (self.span(), self.functions);
        let Token::At(name) = self.peek().clone() else { return self.expected("`@name`") };
        self.next();
        let inst = Inst::from_u32(0);
        self.addresses.push(Address { function, inst, name: name.into_owned(), span });
        Ok(Op::Simt(SimtOp::Address(Object::from_u32(0)), Vec::new()))
    }

    fn intrinsic(&mut self, body: &mut Body, types: &[Type], span: Span) -> Parse<Op> {
        let name_span = self.span();
        let Token::Text(text) = self.peek().clone() else {
            return self.expected("the name of an intrinsic in quotes");
        };
        self.next();
        let Some(&name) = self.intrinsics.iter().find(|name| **name == text) else {
            let message = format!("there is no intrinsic \"{text}\"");
            return self.fail(&codes::UNKNOWN_INTRINSIC, message, name_span, "unknown");
        };
        self.expect("(")?;
        let args = self.list(")", |p| p.value(body))?;
        let (mut mems, mut imms) = (Vec::new(), Vec::new());
        if self.is_word("mems") {
            self.next();
            self.expect("(")?;
            mems = self.list(")", |p| p.mem_name(body))?;
        }
        if self.is_word("imms") {
            self.next();
            self.expect("(")?;
            imms = self.list(")", |p| p.integer("an immediate"))?;
        }
        let effect = self.named("effect", Effect::from_name)?;
        let result = match types {
            [] => None,
            _ => Some(self.result_type(types, span)?),
        };
        Ok(Op::Intrinsic(IntrinsicCall { name, effect, args, mems, imms, result }))
    }
}

/// The bits of a literal, `None` where it does not fit the type.
fn literal_bits(scalar: Scalar, text: &str) -> Option<u64> {
    let width = scalar.bits();
    let mask = u64::MAX >> (64 - width);
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return (bits <= mask).then_some(bits);
    }
    match scalar {
        Scalar::F16 => Some(u64::from(f64_to_f16(text.parse().ok()?))),
        Scalar::F32 => Some(u64::from(text.parse::<f32>().ok()?.to_bits())),
        Scalar::F64 => Some(text.parse::<f64>().ok()?.to_bits()),
        _ => {
            let value: i128 = text.parse().ok()?;
            let fits = value >= -(1i128 << (width - 1)) && value <= i128::from(mask);
            fits.then_some(value as u64 & mask)
        }
    }
}
