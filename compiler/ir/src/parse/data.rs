//! Data objects, kernels and interfaces of the text form.

use std::collections::BTreeMap;

use nbcc_base::Span;
use nbcc_base::member::Member;

use super::function::Body;
use super::{Parse, Parser};
use crate::lex::Token;
use crate::{
    ArrayParam, DataObject, Func, Function, Interface, InterfaceParam, Kernel, KernelParam, Mem,
    Module, NumType, Object, Op, Relocation, RelocationTarget, SimtOp, Space, Storage, codes,
};

/// A relocation whose target is to be found when all objects and functions are known.
pub(super) struct Pending {
    object: Object,
    index: usize,
    function: bool,
    name: String,
    span: Span,
}

/// A memory object that is a data object, to be found when all of these are known.
pub(super) struct MemObject {
    function: u32,
    mem: Mem,
    name: String,
    span: Span,
}

impl Parser<'_, '_> {
    fn at_name(&mut self) -> Parse<(String, Span)> {
        let span = self.span();
        let Token::At(name) = self.peek().clone() else { return self.expected("`@name`") };
        self.next();
        Ok((name.into_owned(), span))
    }

    pub(super) fn keyword(&mut self, word: &str) -> Parse<()> {
        if !self.is_word(word) {
            return self.expected(&format!("`{word}`"));
        }
        self.next();
        Ok(())
    }

    /// `object @table: global size 16 align 4 data "00ff" generic(@other + 4, 0, 8, 8)`.
    pub(super) fn object(
        &mut self,
        module: &mut Module,
        names: &mut BTreeMap<String, Object>,
    ) -> Parse<()> {
        self.keyword("object")?;
        let (name, span) = self.at_name()?;
        self.expect(":")?;
        let space = self.named("space", Space::from_name)?;
        let dynamic = self.is_word("dynamic");
        if dynamic {
            self.next();
        }
        self.keyword("size")?;
        let size = self.integer("a size")?;
        self.keyword("align")?;
        let align = self.integer("an alignment")?;
        let mut bytes = Vec::new();
        if self.is_word("data") {
            self.next();
            bytes = self.hex()?;
        }
        let id = Object::from_u32(module.objects.len() as u32);
        let mut relocations = Vec::new();
        while let Token::Word(word @ ("address" | "generic" | "function")) = *self.peek() {
            self.next();
            self.expect("(")?;
            let (name, span) = self.at_name()?;
            let addend = self.addend(span)?;
            self.expect(",")?;
            let shift = self.integer("a shift")?;
            self.expect(",")?;
            let width = self.integer("a width")?;
            self.expect(",")?;
            let offset = self.integer("an offset")?;
            self.expect(")")?;
            let target = match word {
                "address" => RelocationTarget::Object(id),
                "generic" => RelocationTarget::Generic(id),
                _ => RelocationTarget::Function(Func::from_u32(0)),
            };
            let (index, function) = (relocations.len(), word == "function");
            self.relocations.push(Pending { object: id, index, function, name, span });
            relocations.push(Relocation { offset, width, shift, target, addend });
        }
        if names.insert(name.clone(), id).is_some() {
            let message = format!("object @{name} is defined twice");
            self.report(&codes::REDEFINED, message, span, "defined again here");
        }
        module.objects.push(DataObject { name, space, align, size, dynamic, bytes, relocations });
        Ok(())
    }

    fn hex(&mut self) -> Parse<Vec<u8>> {
        let span = self.span();
        let Token::Text(text) = self.peek().clone() else {
            return self.expected("hexadecimal digits in quotes");
        };
        self.next();
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let byte = |pair: &[u8]| match *pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        match text.as_bytes().chunks(2).map(byte).collect() {
            Some(bytes) => Ok(bytes),
            None => {
                let message = "the data is not made of pairs of hexadecimal digits".to_string();
                self.fail(&codes::NUMBER, message, span, "no such digits")
            }
        }
    }

    /// `kernel max(256, 1, 1) blocks(2)`.
    pub(super) fn kernel(&mut self, func: &mut Function) -> Parse<()> {
        self.keyword("kernel")?;
        let mut kernel = Kernel::default();
        while let Token::Word(word @ ("max" | "required" | "blocks" | "grid")) = *self.peek() {
            self.next();
            self.expect("(")?;
            let span = self.span();
            if word == "grid" {
                kernel.grid_blocks = Some(self.integer("a number")?);
                self.expect(")")?;
                continue;
            }
            let numbers: Vec<u32> = self.list(")", |p| p.integer("a number"))?;
            match (word, numbers.as_slice()) {
                ("max", &[x, y, z]) => kernel.max_threads = Some([x, y, z]),
                ("required", &[x, y, z]) => kernel.required_threads = Some([x, y, z]),
                ("blocks", &[blocks]) => kernel.min_blocks = Some(blocks),
                _ => {
                    let message = format!("`{word}` has another number of operands");
                    return self.fail(&codes::SYNTAX, message, span, "not as many");
                }
            }
        }
        func.kernel = Some(kernel);
        Ok(())
    }

    /// `param %n: u32 size 4 align 4 at 0`.
    pub(super) fn kernel_param(&mut self, func: &mut Function) -> Parse<()> {
        if func.kernel.is_none() {
            return self.expected("`kernel` before its parameters");
        }
        self.keyword("param")?;
        let Token::Percent(name) = self.peek().clone() else { return self.expected("`%name`") };
        self.next();
        self.expect(":")?;
        let ty = self.named("type of a parameter", |word| match word {
            "bytes" => Some(None),
            word => NumType::from_name(word).map(Some),
        })?;
        self.keyword("size")?;
        let size = self.integer("a size")?;
        self.keyword("align")?;
        let align = self.integer("an alignment")?;
        self.keyword("at")?;
        let offset = self.integer("an offset")?;
        if let Some(kernel) = &mut func.kernel {
            kernel.params.push(KernelParam { name: name.into_owned(), offset, size, align, ty });
        }
        Ok(())
    }

    /// `interface s32`.
    pub(super) fn interface(&mut self, func: &mut Function) -> Parse<()> {
        self.keyword("interface")?;
        let result = match self.tokens[self.at].first {
            true => None,
            false => Some(self.named("type of a result", NumType::from_name)?),
        };
        func.interface = Some(Interface { params: vec![], result });
        Ok(())
    }

    /// `scalar %n: s32`, `scalar %n: s32 = 16`, `array %a: s16 const`.
    pub(super) fn interface_param(&mut self, body: &mut Body, kind: &str) -> Parse<()> {
        if body.func.interface.is_none() {
            return self.expected("`interface` before its parameters");
        }
        self.next();
        let span = self.span();
        let Token::Percent(name) = self.peek().clone() else { return self.expected("`%name`") };
        self.next();
        self.expect(":")?;
        let ty = self.named("type of a parameter", NumType::from_name)?;
        let mut array = None;
        if kind == "array" {
            let Some(&mem) = body.mems.get(&*name) else {
                let message = format!("memory object %{name} is not defined");
                return self.fail(&codes::UNDEFINED, message, span, "no `mem` before it");
            };
            let is_const = self.is_word("const") && !self.tokens[self.at].first;
            if is_const {
                self.next();
            }
            let has_shape = !self.tokens[self.at].first && self.eat("[");
            let shape = if has_shape { self.list("]", |p| p.extent())? } else { vec![] };
            array = Some(ArrayParam { mem, is_const, shape });
        }
        let mut members = Vec::new();
        while array.is_some() && self.is_word("member") && !self.tokens[self.at].first {
            self.next();
            members.push(self.member()?);
        }
        let is_known = array.is_none() && !self.tokens[self.at].first && self.eat("=");
        let value = if is_known { Some(self.integer("the bits of a value")?) } else { None };
        if let Some(interface) = &mut body.func.interface {
            interface.params.push(InterfaceParam {
                name: name.into_owned(),
                ty,
                array,
                members,
                value,
            });
        }
        Ok(())
    }

    /// `"a 8 4 re"`.
    fn member(&mut self) -> Parse<Member> {
        let Token::Text(text) = self.peek().clone() else {
            return self.expected("a member in quotes");
        };
        match text.parse() {
            Ok(member) => {
                self.next();
                Ok(member)
            }
            Err(_) => self.expected("a member of a structure"),
        }
    }

    /// `@table`, behind the `=` of a memory object.
    pub(super) fn mem_object(&mut self, mem: Mem) -> Parse<()> {
        let (name, span) = self.at_name()?;
        self.mem_objects.push(MemObject { function: self.functions, mem, name, span });
        Ok(())
    }

    /// Finds the objects and functions that relocations and addresses name.
    pub(super) fn resolve_objects(
        &mut self,
        module: &mut Module,
        functions: &BTreeMap<String, Func>,
        objects: &BTreeMap<String, Object>,
    ) {
        for pending in std::mem::take(&mut self.relocations) {
            let Pending { object, index, function, name, span } = pending;
            let Some(data) = module.objects.get_mut(object) else { continue };
            let Some(relocation) = data.relocations.get_mut(index) else { continue };
            let found = match (function, functions.get(&name), objects.get(&name)) {
                (true, Some(&func), _) => Some(RelocationTarget::Function(func)),
                (false, _, Some(&object)) => Some(match relocation.target {
                    RelocationTarget::Generic(_) => RelocationTarget::Generic(object),
                    _ => RelocationTarget::Object(object),
                }),
                _ => None,
            };
            match found {
                Some(target) => relocation.target = target,
                None => {
                    let message = format!("@{name} is not defined");
                    self.report(&codes::UNDEFINED, message, span, "not in this file");
                }
            }
        }
        for pending in std::mem::take(&mut self.mem_objects) {
            let func = &mut module.functions[Func::from_u32(pending.function)];
            match objects.get(&pending.name) {
                Some(&found) => func.mems[pending.mem].storage = Storage::Object(found),
                None => {
                    let message = format!("object @{} is not defined", pending.name);
                    self.report(&codes::UNDEFINED, message, pending.span, "not in this file");
                }
            }
        }
        for address in std::mem::take(&mut self.addresses) {
            let func = &mut module.functions[Func::from_u32(address.function)];
            let Some(data) = func.insts.get_mut(address.inst) else { continue };
            let Op::Simt(SimtOp::Address(object), _) = &mut data.op else { continue };
            match objects.get(&address.name) {
                Some(&found) => *object = found,
                None => {
                    let message = format!("object @{} is not defined", address.name);
                    self.report(&codes::UNDEFINED, message, address.span, "not in this file");
                }
            }
        }
    }
}
