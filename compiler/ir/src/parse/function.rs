//! Functions of the text form: their heads, memory objects, blocks and lines.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntityRef;
use nbcc_base::{SourceId, Span};

use super::{Parse, Parser};
use crate::lex::Token;
use crate::{
    Block, Constant, Counter, ExecutionModel, Extent, Function, LoopInfo, Mem, MemData, Op, Scalar,
    Space, Storage, Type, Value, ValueData, ValueDef, codes,
};

/// The function being read.
pub(super) struct Body {
    pub(super) func: Function,
    /// Values that were defined, with their type and origin.
    values: BTreeMap<u32, (Type, ValueDef)>,
    blocks: BTreeSet<u32>,
    pub(super) mems: BTreeMap<String, Mem>,
    pub(super) used_values: BTreeMap<u32, Span>,
    pub(super) used_blocks: BTreeMap<u32, Span>,
}

impl Parser<'_, '_> {
    pub(super) fn function(&mut self) -> Parse<Function> {
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
        if current.is_none() {
            match *self.peek() {
                Token::Word("mem") => return self.mem(body),
                Token::Word("kernel") => return self.kernel(&mut body.func),
                Token::Word("param") => return self.kernel_param(&mut body.func),
                Token::Word("interface") => return self.interface(&mut body.func),
                Token::Word(kind @ ("scalar" | "array")) => {
                    return self.interface_param(body, kind);
                }
                _ => {}
            }
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
        let extents = self.list("]", |p| p.extent())?;
        let space = self.named("space", Space::from_name)?;
        let name = name.into_owned();
        let mut data = MemData::new(name.clone(), element, &[], space);
        data.extents = extents;
        if self.is_word("param") && !self.tokens[self.at].first {
            self.next();
            data.storage = Storage::Param;
        }
        let mem = body.func.mems.push(data);
        if !self.tokens[self.at].first && self.eat("=") {
            self.mem_object(mem)?;
        }
        if body.mems.insert(name.clone(), mem).is_some() {
            let message = format!("memory object %{name} is defined twice");
            return self.fail(&codes::REDEFINED, message, span, "defined again here");
        }
        Ok(())
    }

    /// `4`, `param 0`, `expr "p0 1 add.s32"` or `given`.
    pub(super) fn extent(&mut self) -> Parse<Extent> {
        if self.is_word("param") {
            self.next();
            return self.integer("the number of a parameter").map(Extent::Param);
        }
        if self.is_word("given") {
            self.next();
            return Ok(Extent::Given);
        }
        if !self.is_word("expr") {
            return self.integer("an extent").map(Extent::Fixed);
        }
        self.next();
        let Token::Text(text) = self.peek().clone() else {
            return self.expected("an expression in quotes");
        };
        match text.parse() {
            Ok(expr) => {
                self.next();
                Ok(Extent::Expr(expr))
            }
            Err(_) => self.expected("an expression of extents"),
        }
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
        if self.is_word("cold") && !self.tokens[self.at].first {
            self.next();
            body.func.blocks[block].cold = true;
        }
        if self.is_word("loop") && !self.tokens[self.at].first {
            self.next();
            let name = match self.peek().clone() {
                Token::Word(name) => name.to_string(),
                Token::Text(name) => name.into_owned(),
                _ => return self.expected("the name of the loop"),
            };
            self.next();
            let (mut trips, mut counter) = (None, None);
            while self.eat(",") {
                if self.peek_numbered("v").is_some() {
                    let value = Value::from_u32(self.numbered("v", "a value")?);
                    self.keyword("by")?;
                    counter = Some(Counter { value, step: self.integer("a step")? });
                    continue;
                }
                trips = Some(self.integer("a trip count")?);
                self.keyword("trips")?;
            }
            body.func.blocks[block].loop_info = Some(LoopInfo { name, trips, counter });
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
        let (callee, address) = (self.callees.len(), self.addresses.len());
        let op = self.op(body, &types, span)?;
        let location = self.location()?;
        let inst = body.func.make_inst(op, &[], location);
        for entry in &mut self.callees[callee..] {
            entry.inst = inst;
        }
        for entry in &mut self.addresses[address..] {
            entry.inst = inst;
        }
        for (i, (number, ty, span)) in results.into_iter().enumerate() {
            self.define(body, number, ty, ValueDef::Result(inst, i as u32), span);
            body.func.insts[inst].results.push(Value::from_u32(number));
        }
        body.func.blocks[block].insts.push(inst);
        Ok(())
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
