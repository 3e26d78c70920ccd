//! Reading the text form: a recursive-descent parser, one token of lookahead. Values and blocks
//! keep the numbers they are written with, so that what is printed again is the same text;
//! numbers in between that the text does not use belong to nothing. After a fault reading goes
//! on with the next line.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntityRef;
use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed, SourceId, Span};

use crate::lex::{Spanned, Token, lex};
use crate::{
    BinaryOp, Block, BlockCall, Constant, ConvertOp, Effect, ExecutionModel, FloatCond, Func,
    Function, Inst, IntCond, IntrinsicCall, LoopInfo, Mem, MemData, Module, Op, Scalar, Space,
    Terminator, Type, UnaryOp, Value, ValueData, ValueDef, codes, f64_to_f16,
};

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
        failed: false,
    };
    let mut module = Module::default();
    let mut names = BTreeMap::new();
    while parser.peek() != &Token::End {
        let start = parser.span();
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
    failed: bool,
}

/// The function being read.
struct Body {
    func: Function,
    /// Values that were defined, with their type and origin.
    values: BTreeMap<u32, (Type, ValueDef)>,
    blocks: BTreeSet<u32>,
    mems: BTreeMap<String, Mem>,
    used_values: BTreeMap<u32, Span>,
    used_blocks: BTreeMap<u32, Span>,
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

    /// After a fault in the head of a function: on to the next `define`.
    fn skip_function(&mut self) {
        self.skip_line();
        while !self.is_word("define") && self.peek() != &Token::End {
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
        self.named("type", |word| {
            let (scalar, lanes) = match word.split_once('x') {
                Some((scalar, lanes)) => (scalar, lanes.parse().ok().filter(|&n| n > 1)?),
                None => (word, 1),
            };
            let ty = Type { scalar: Scalar::from_name(scalar)?, lanes };
            (ty.to_string() == word).then_some(ty)
        })
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

    fn function(&mut self) -> Parse<Function> {
        if !self.is_word("define") {
            return self.expected("`define`");
        }
        self.next();
        let model = self.named("execution model", ExecutionModel::from_name)?;
        let Token::At(name) = self.peek().clone() else { return self.expected("`@name`") };
        self.next();
        let mut body = Body {
            func: Function::new(name, model),
            values: BTreeMap::new(),
            blocks: BTreeSet::new(),
            mems: BTreeMap::new(),
            used_values: BTreeMap::new(),
            used_blocks: BTreeMap::new(),
        };
        body.func.blocks.clear();
        body.func.layout.clear();
        self.expect("(")?;
        let params = self.list(")", |p| p.definition())?;
        if self.eat("->") {
            body.func.results =
                if self.eat("(") { self.list(")", |p| p.ty())? } else { vec![self.ty()?] };
        }
        self.expect("{")?;
        let already_failed = std::mem::replace(&mut self.failed, false);
        self.lines(&mut body, params);
        if !self.failed {
            self.finish(&mut body);
        }
        self.failed |= already_failed;
        Ok(body.func)
    }

    /// Everything up to the closing brace. Faults are reported, and the rest of their line is
    /// left out.
    fn lines(&mut self, body: &mut Body, params: Vec<(u32, Type, Span)>) {
        let mut params = Some(params);
        let mut current = None;
        loop {
            if self.eat("}") {
                break;
            }
            if self.peek() == &Token::End || self.is_word("define") {
                let _: Parse<()> = self.expected("`}`");
                break;
            }
            if !self.tokens[self.at].first {
                let _: Parse<()> = self.expected("the end of the line");
                self.skip_line();
                continue;
            }
            let start = self.at;
            if self.line(body, &mut params, &mut current).is_err() {
                // What was missing may be the end of the line before: then this one is read.
                let next_line = self.at > start && self.tokens[self.at].first;
                if !next_line {
                    self.skip_line();
                }
            }
        }
        if body.func.layout.is_empty() && !self.failed {
            let _: Parse<()> = self.expected("a block before `}`");
        }
    }

    fn line(
        &mut self,
        body: &mut Body,
        params: &mut Option<Vec<(u32, Type, Span)>>,
        current: &mut Option<Block>,
    ) -> Parse<()> {
        if self.is_word("mem") && current.is_none() {
            return self.mem(body);
        }
        if self.peek_numbered("block").is_some() {
            let block = self.block_head(body, params.take())?;
            *current = Some(block);
            return Ok(());
        }
        let Some(block) = *current else { return self.expected("a block") };
        if body.func.blocks[block].terminator.is_some() {
            return self.expected("a block behind the terminator");
        }
        self.inst(body, block)
    }

    fn mem(&mut self, body: &mut Body) -> Parse<()> {
        self.next();
        let span = self.span();
        let Token::Percent(name) = self.peek().clone() else { return self.expected("`%name`") };
        self.next();
        self.expect(":")?;
        let element = self.named("type of an element", Scalar::from_name)?;
        self.expect("[")?;
        let extents = self.list("]", |p| p.integer("an extent"))?;
        let space = self.named("space", Space::from_name)?;
        let name = name.into_owned();
        let mem = body.func.mems.push(MemData { name: name.clone(), element, extents, space });
        if body.mems.insert(name.clone(), mem).is_some() {
            let message = format!("memory object %{name} is defined twice");
            return self.fail(&codes::REDEFINED, message, span, "defined again here");
        }
        Ok(())
    }

    fn block_head(
        &mut self,
        body: &mut Body,
        entry_params: Option<Vec<(u32, Type, Span)>>,
    ) -> Parse<Block> {
        let span = self.span();
        let number = self.numbered("block", "a block")?;
        let block = Block::from_u32(number);
        if !body.blocks.insert(number) {
            let message = format!("{block} is defined twice");
            self.report(&codes::REDEFINED, message, span, "defined again here");
            // What follows is no fault of its own.
            body.func.blocks[block].terminator = None;
        } else {
            body.reach_block(block);
            body.func.layout.push(block);
        }
        let params = match entry_params {
            Some(params) => params,
            None if self.eat("(") => self.list(")", |p| p.definition())?,
            None => Vec::new(),
        };
        for (value, ty, span) in params {
            let count = body.func.blocks[block].params.len() as u32;
            self.define(body, value, ty, ValueDef::Param(block, count), span);
            body.func.blocks[block].params.push(Value::from_u32(value));
        }
        self.expect(":")?;
        if self.is_word("loop") && !self.tokens[self.at].first {
            self.next();
            let name = match self.peek().clone() {
                Token::Word(name) => name.to_string(),
                Token::Text(name) => name.into_owned(),
                _ => return self.expected("the name of the loop"),
            };
            self.next();
            let mut trips = None;
            if self.eat(",") {
                trips = Some(self.integer("a trip count")?);
                if !self.is_word("trips") {
                    return self.expected("`trips`");
                }
                self.next();
            }
            body.func.blocks[block].loop_info = Some(LoopInfo { name, trips });
        }
        Ok(block)
    }

    fn define(&mut self, body: &mut Body, number: u32, ty: Type, def: ValueDef, span: Span) {
        if body.values.insert(number, (ty, def)).is_some() {
            let message = format!("v{number} is defined twice");
            self.report(&codes::REDEFINED, message, span, "defined again here");
        }
    }

    fn location(&mut self) -> Parse<Option<Span>> {
        if self.tokens[self.at].first || !self.eat("!") {
            return Ok(None);
        }
        let source = SourceId(self.integer("a source file")?);
        self.expect(":")?;
        let start = self.integer("a position")?;
        self.expect("..")?;
        let end = self.integer("a position")?;
        Ok(Some(Span { source, start, end }))
    }

    fn inst(&mut self, body: &mut Body, block: Block) -> Parse<()> {
        let span = self.span();
        if let Some(terminator) = self.terminator(body)? {
            let location = self.location()?;
            let data = &mut body.func.blocks[block];
            (data.terminator, data.span) = (Some(terminator), location);
            return Ok(());
        }
        let mut results = Vec::new();
        if self.peek_numbered("v").is_some() {
            results.push(self.definition()?);
            while self.eat(",") {
                results.push(self.definition()?);
            }
            self.expect("=")?;
        }
        let types: Vec<Type> = results.iter().map(|&(_, ty, _)| ty).collect();
        let callee = self.callees.len();
        let op = self.op(body, &types, span)?;
        let location = self.location()?;
        let inst = body.func.make_inst(op, &[], location);
        for entry in &mut self.callees[callee..] {
            entry.inst = inst;
        }
        for (i, (number, ty, span)) in results.into_iter().enumerate() {
            self.define(body, number, ty, ValueDef::Result(inst, i as u32), span);
            body.func.insts[inst].results.push(Value::from_u32(number));
        }
        body.func.blocks[block].insts.push(inst);
        Ok(())
    }

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

    fn terminator(&mut self, body: &mut Body) -> Parse<Option<Terminator>> {
        let Token::Word(word) = *self.peek() else { return Ok(None) };
        if !matches!(word, "jump" | "branch" | "switch" | "return" | "trap") {
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

    fn op(&mut self, body: &mut Body, types: &[Type], span: Span) -> Parse<Op> {
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
        let offset = if self.eat("+") {
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
        };
        self.expect("]")?;
        if !store {
            return Ok(Op::LoadRaw(self.result_type(types, span)?, space, address, offset));
        }
        self.expect(",")?;
        Ok(Op::StoreRaw(space, address, offset, self.value(body)?))
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

    /// Checks that what is used is defined, and fills the tables of the function.
    fn finish(&mut self, body: &mut Body) {
        for (&number, &span) in &body.used_values {
            if !body.values.contains_key(&number) {
                let message = format!("v{number} is not defined");
                self.report(&codes::UNDEFINED, message, span, "not defined in this function");
            }
        }
        for (&number, &span) in &body.used_blocks {
            if !body.blocks.contains(&number) {
                let message = format!("block{number} is not defined");
                self.report(&codes::UNDEFINED, message, span, "not defined in this function");
            }
        }
        // Numbers that the text leaves out are results of an instruction that stands nowhere.
        let count = body.values.last_key_value().map_or(0, |(&last, _)| last + 1);
        let mut nowhere = None;
        for number in 0..count {
            let (ty, def) = body.values.get(&number).copied().unwrap_or_else(|| {
                let inst = *nowhere.get_or_insert_with(|| {
                    let op = Op::Const(Type::I32, Constant::Splat(0));
                    body.func.make_inst(op, &[], None)
                });
                (Type::I32, ValueDef::Result(inst, 0))
            });
            body.func.values.push(ValueData { ty, def });
        }
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

impl Body {
    /// Makes the table of blocks long enough for one.
    fn reach_block(&mut self, block: Block) {
        while self.func.blocks.len() <= block.index() {
            self.func.add_block();
            self.func.layout.pop();
        }
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
