//! The language: `NAME(PARAMETERS): ARRAY = EXPRESSION`. A parameter `a[n]` is an array of as many
//! elements as the scalar `n` before it says. The function gives the sum of what it stores.

use std::collections::BTreeMap;

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};
use nbcc_ir::{
    ArrayParam, BinaryOp, BlockCall, Builder, Counter, ExecutionModel, Extent, Function, IntCond,
    IntType, Interface, InterfaceParam, LoopInfo, Mem, MemData, Module, NumType, Op, Scalar, Space,
    Storage, Terminator, Type, Value,
};
use nbcc_pipeline::{Frontend, ParseOptions, Program, ProgramKind};

nbcc_base::codes! {
    /// The codes of the language.
    CODES;

    SYNTAX = "E9001", "not a function of the language",
    "A file is one function: `name(n, a[n], b[n]): b = a * n + 1`.",
    by test "a_mistake_has_a_place";
}

/// Parentheses within each other at most.
const DEPTH: u32 = 64;

/// The frontend.
pub struct Tally;

impl Frontend for Tally {
    fn name(&self) -> &'static str {
        "tally"
    }

    fn about(&self) -> &'static str {
        "an expression over arrays, and its sum"
    }

    fn extension(&self) -> &'static str {
        "tally"
    }

    fn kind(&self) -> ProgramKind {
        ProgramKind::Function
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        CODES.to_vec()
    }

    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        _: &ParseOptions<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed> {
        let text = &file.text;
        let mut parser = Parser { id, text, at: 0, scalars: BTreeMap::new(), arrays: vec![] };
        match parser.function() {
            Ok(func) => {
                let mut module = Module::default();
                let func = module.functions.push(func);
                Ok(Program::Function(module, func))
            }
            Err(message) => {
                let start = parser.at.min(text.len());
                let end = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
                let span = Span::new(id, start, end);
                let help = "as in `name(n, a[n], b[n]): b = a * n + 1`";
                let error = Diagnostic::error(&SYNTAX, message).at(span, "here").help(help);
                diagnostics.fail(error)
            }
        }
    }
}

struct Parser<'a> {
    id: SourceId,
    text: &'a str,
    at: usize,
    scalars: BTreeMap<&'a str, Value>,
    arrays: Vec<(&'a str, Mem)>,
}

impl<'a> Parser<'a> {
    fn blanks(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    /// The longest word of such characters that comes next; empty where there is none.
    fn word(&mut self, of: fn(char) -> bool) -> &'a str {
        self.blanks();
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.word(|c| c.is_ascii_alphabetic() || c == '_') {
            "" => Err("a name is missing".into()),
            name => Ok(name),
        }
    }

    fn eat(&mut self, symbol: char) -> bool {
        self.blanks();
        let found = self.text[self.at..].starts_with(symbol);
        self.at += if found { symbol.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, symbol: char) -> Result<(), String> {
        if self.eat(symbol) { Ok(()) } else { Err(format!("`{symbol}` is missing")) }
    }

    fn function(&mut self) -> Result<Function, String> {
        let mut func = Function::new(self.name()?, ExecutionModel::Sequential);
        func.results = vec![Type::I32];
        let ty = NumType::Int(IntType::S32);
        let mut interface = Interface { params: vec![], result: Some(ty) };
        self.expect('(')?;
        while !self.eat(')') {
            let name = self.name()?;
            let array = if self.eat('[') { Some(self.array(&mut func, name)?) } else { None };
            if array.is_none() {
                let value = func.add_param(func.entry(), Type::I32);
                self.scalars.insert(name, value);
            }
            if interface.params.iter().any(|param| param.name == name) {
                return Err(format!("`{name}` is a parameter already"));
            }
            interface.params.push(InterfaceParam {
                name: name.into(),
                ty,
                array,
                members: vec![],
                value: None,
            });
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        self.expect(':')?;
        let start = self.at;
        let target = self.name()?;
        self.expect('=')?;
        let target = self.arrays.iter().position(|(name, _)| *name == target);
        let target = target.ok_or("what is stored to is no array")?;
        let (_, mem) = self.arrays[target];
        for param in &mut interface.params {
            let array = param.array.as_mut().filter(|array| array.mem != mem);
            if let Some(array) = array {
                array.is_const = true;
            }
        }
        func.interface = Some(interface);
        self.body(&mut func, mem, start)?;
        self.blanks();
        if self.at < self.text.len() {
            return Err("this is behind the end of the function".into());
        }
        Ok(func)
    }

    /// `n]` of the array parameter `a[n]`.
    fn array(&mut self, func: &mut Function, name: &'a str) -> Result<ArrayParam, String> {
        let extent = self.name()?;
        let params = &func.blocks[func.entry()].params;
        let value = self.scalars.get(extent);
        let number = value.and_then(|value| params.iter().position(|param| param == value));
        let number = number.ok_or("an extent is a scalar parameter before the array")? as u32;
        self.expect(']')?;
        let mem = func.mems.push(MemData {
            extents: vec![Extent::Param(number)],
            storage: Storage::Param,
            ..MemData::new(name, Scalar::I32, &[], Space::Global)
        });
        self.arrays.push((name, mem));
        Ok(ArrayParam { mem, is_const: false, shape: vec![] })
    }

    /// The loop over the elements of an array.
    fn body(&mut self, func: &mut Function, target: Mem, start: usize) -> Result<(), String> {
        let [header, round, exit] = [(); 3].map(|()| func.add_block());
        let [index, sum] = [(); 2].map(|()| func.add_param(header, Type::I32));
        let counter = Some(Counter { value: index, step: 1 });
        let info = LoopInfo { name: "element".into(), trips: None, counter };
        func.blocks[header].loop_info = Some(info);
        let Extent::Param(extent) = func.mems[target].extents[0] else {
            return Err("an array has the extent of a parameter".into());
        };
        let end = func.blocks[func.entry()].params[extent as usize];
        let mut b = Builder::at(func, func.entry());
        let zero = b.i32(0);
        b.jump(header, vec![zero, zero]);
        b.switch_to(header);
        let goes_on = b.value(Op::Icmp(IntCond::Slt, index, end));
        let to = |block| BlockCall { block, args: vec![] };
        b.terminate(Terminator::Branch(goes_on, to(round), to(exit)));
        b.switch_to(round);
        b.set_span(Some(Span::new(self.id, start, self.text.len())));
        let value = self.sum(&mut b, index, 0)?;
        b.store(target, vec![index], value);
        let next = b.iadd_imm(index, 1);
        let sums = b.iadd(sum, value);
        b.jump(header, vec![next, sums]);
        b.switch_to(exit);
        b.terminate(Terminator::Return(vec![sum]));
        Ok(())
    }

    fn sum(&mut self, b: &mut Builder<'_>, index: Value, depth: u32) -> Result<Value, String> {
        let mut sum = self.product(b, index, depth)?;
        loop {
            let op = match (self.eat('+'), self.eat('-')) {
                (true, _) => BinaryOp::Iadd,
                (_, true) => BinaryOp::Isub,
                _ => return Ok(sum),
            };
            let term = self.product(b, index, depth)?;
            sum = b.binary(op, sum, term);
        }
    }

    fn product(&mut self, b: &mut Builder<'_>, index: Value, depth: u32) -> Result<Value, String> {
        let mut product = self.factor(b, index, depth)?;
        while self.eat('*') {
            let factor = self.factor(b, index, depth)?;
            product = b.imul(product, factor);
        }
        Ok(product)
    }

    fn factor(&mut self, b: &mut Builder<'_>, index: Value, depth: u32) -> Result<Value, String> {
        if self.eat('(') {
            if depth == DEPTH {
                return Err(format!("more than {DEPTH} parentheses within each other"));
            }
            let sum = self.sum(b, index, depth + 1)?;
            return self.expect(')').map(|()| sum);
        }
        let digits = self.word(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            let number = digits.parse().map_err(|_| "a number beyond 32 bits")?;
            return Ok(b.i32(number));
        }
        let name = self.name()?;
        if let Some(&scalar) = self.scalars.get(name) {
            return Ok(scalar);
        }
        match self.arrays.iter().find(|(known, _)| *known == name) {
            Some(&(_, mem)) => Ok(b.load(Type::I32, mem, vec![index])),
            None => Err(format!("`{name}` is no parameter")),
        }
    }
}
