//! The language: `NAME(PARAMETERS): ARRAY = EXPRESSION`. A parameter `a[n]` is an array of as many
//! elements as the scalar `n` before it says; operators apply from left to right. The function gives
//! the sum of what it stores.

use std::collections::BTreeMap;

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};
use nbcc_ir::{
    ArrayParam, BinaryOp, BlockCall, Builder, ExecutionModel, Extent, Function, IntCond, IntType,
    Interface, InterfaceParam, Mem, MemData, Module, NumType, Op, Scalar, Space, Storage,
    Terminator, Type, Value,
};
use nbcc_pipeline::{Frontend, ParseOptions, Program, ProgramKind};

nbcc_base::codes! {
    /// The codes of the language.
    CODES;

    SYNTAX = "E9001", "not a function of the language",
    "A file is one function: `name(n, a[n], b[n]): b = a * n + 1`.",
    by test "a_mistake_has_a_place";
}

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
        let mut parser = Parser { text: &file.text, token: 0..0, names: BTreeMap::new() };
        match parser.function(id) {
            Ok(func) => {
                let mut module = Module::default();
                let func = module.functions.push(func);
                Ok(Program::Function(module, func))
            }
            Err(message) => {
                let span = Span::new(id, parser.token.start, parser.token.end);
                let help = "as in `name(n, a[n], b[n]): b = a * n + 1`";
                let error = Diagnostic::error(&SYNTAX, message).at(span, "here").help(help);
                diagnostics.fail(error)
            }
        }
    }
}

/// What a parameter is.
#[derive(Clone, Copy)]
enum Named {
    Scalar(Value),
    Array(Mem),
}

struct Parser<'a> {
    text: &'a str,
    /// Where the last token lies.
    token: std::ops::Range<usize>,
    names: BTreeMap<&'a str, Named>,
}

impl<'a> Parser<'a> {
    /// The next word, number or symbol; empty at the end.
    fn next(&mut self) -> &'a str {
        let rest = self.text[self.token.end..].trim_start();
        let start = self.text.len() - rest.len();
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        self.token = start..start + word.max(first);
        &self.text[self.token.clone()]
    }

    fn expect(&mut self, symbol: &str) -> Result<(), String> {
        if self.next() == symbol { Ok(()) } else { Err(format!("`{symbol}` is missing")) }
    }

    fn name(&mut self) -> Result<&'a str, String> {
        let name = self.next();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_name { Ok(name) } else { Err("a name is missing".into()) }
    }

    fn function(&mut self, id: SourceId) -> Result<Function, String> {
        let ty = NumType::Int(IntType::S32);
        let mut func = Function::new(self.name()?, ExecutionModel::Sequential);
        func.results = vec![Type::I32];
        let mut params = Vec::new();
        self.expect("(")?;
        loop {
            let name = self.name()?;
            let mut behind = self.next();
            let (named, array) = if behind == "[" {
                let mem = self.array(&mut func, name)?;
                behind = self.next();
                (Named::Array(mem), Some(ArrayParam { mem, is_const: true, shape: vec![] }))
            } else {
                (Named::Scalar(func.add_param(func.entry(), Type::I32)), None)
            };
            if self.names.insert(name, named).is_some() {
                return Err(format!("`{name}` is a parameter already"));
            }
            params.push(InterfaceParam {
                name: name.into(),
                ty,
                array,
                members: vec![],
                value: None,
            });
            match behind {
                "," => {}
                ")" => break,
                _ => return Err("`,` or `)` is missing".into()),
            }
        }
        self.expect(":")?;
        let start = self.token.end;
        let target = self.next();
        let Some(&Named::Array(target)) = self.names.get(target) else {
            return Err("what is stored to is no array".into());
        };
        for array in params.iter_mut().filter_map(|param| param.array.as_mut()) {
            array.is_const = array.mem != target;
        }
        func.interface = Some(Interface { params, result: Some(ty) });
        self.expect("=")?;
        self.body(&mut func, target, Span::new(id, start, self.text.len()))?;
        Ok(func)
    }

    /// `n]` of the array parameter `a[n]`.
    fn array(&mut self, func: &mut Function, name: &str) -> Result<Mem, String> {
        let extent = self.next();
        let extent = self.names.get(extent);
        let params = &func.blocks[func.entry()].params;
        let number = params
            .iter()
            .position(|&param| matches!(extent, Some(&Named::Scalar(value)) if value == param));
        let number = number.ok_or("an extent is a scalar parameter before the array")?;
        self.expect("]")?;
        Ok(func.mems.push(MemData {
            extents: vec![Extent::Param(number as u32)],
            storage: Storage::Param,
            ..MemData::new(name, Scalar::I32, &[], Space::Global)
        }))
    }

    /// The loop over the elements of an array.
    fn body(&mut self, func: &mut Function, target: Mem, span: Span) -> Result<(), String> {
        let [header, round, exit] = [(); 3].map(|()| func.add_block());
        let [index, sum] = [(); 2].map(|()| func.add_param(header, Type::I32));
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
        b.set_span(Some(span));
        let value = self.expression(&mut b, index)?;
        b.store(target, vec![index], value);
        let next = b.iadd_imm(index, 1);
        let sums = b.iadd(sum, value);
        b.jump(header, vec![next, sums]);
        b.switch_to(exit);
        b.terminate(Terminator::Return(vec![sum]));
        Ok(())
    }

    fn expression(&mut self, b: &mut Builder<'_>, index: Value) -> Result<Value, String> {
        let mut value = self.operand(b, index)?;
        loop {
            let op = match self.next() {
                "+" => BinaryOp::Iadd,
                "-" => BinaryOp::Isub,
                "*" => BinaryOp::Imul,
                "" => return Ok(value),
                other => return Err(format!("`{other}` is no operator")),
            };
            let operand = self.operand(b, index)?;
            value = b.binary(op, value, operand);
        }
    }

    fn operand(&mut self, b: &mut Builder<'_>, index: Value) -> Result<Value, String> {
        let word = self.next();
        match (word.parse(), self.names.get(word)) {
            (Ok(number), _) => Ok(b.i32(number)),
            (_, Some(&Named::Scalar(value))) => Ok(value),
            (_, Some(&Named::Array(mem))) => Ok(b.load(Type::I32, mem, vec![index])),
            (Err(_), None) => Err(format!("`{word}` is no number and no parameter")),
        }
    }
}
