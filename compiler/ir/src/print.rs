//! The text form of functions and modules. What [`crate::parse_module`] reads is what is written
//! here, character for character; docs/ir.md describes it.

use std::fmt::{self, Write};

use nbcc_base::text::{is_plain_symbol, quoted, symbol};
use nbcc_base::{SourceMap, Span};

use crate::{
    Block, BlockCall, Constant, Counter, DataObject, Extent, Function, Inst, InstData, Interface,
    InterfaceParam, Kernel, KernelParam, Mem, Module, Op, Relocation, RelocationTarget, Scalar,
    SimtOp, Storage, Terminator, Type, Value, f16_to_f64,
};

/// A side table: what to show behind a value where it is defined.
pub type Annotation<'a> = &'a dyn Fn(Value) -> Option<String>;

/// How source locations are shown.
#[derive(Clone, Copy, Default)]
pub enum Locations<'a> {
    /// Not at all.
    #[default]
    None,
    /// As `!source:start..end`, which is read back.
    Bytes,
    /// As a comment `; file:line:column`.
    Lines(&'a SourceMap),
}

/// What is shown beside the function itself.
#[derive(Clone, Copy, Default)]
pub struct PrintOptions<'a> {
    /// Where the names of called functions come from; without it a callee is its number.
    pub module: Option<&'a Module>,
    /// Side tables, each shown as `@text` behind the type of a value.
    pub annotations: &'a [Annotation<'a>],
    /// Source locations.
    pub locations: Locations<'a>,
}

/// The text form of a function, from `define` to a lone `}`, with a line break at the end. Prints
/// functions that the verifier rejects, too.
pub fn print_function(func: &Function, options: &PrintOptions<'_>) -> String {
    let mut out = String::new();
    let mut printer = Printer { out: &mut out, func, options };
    printer.function().expect("writing to a string succeeds");
    out
}

/// The text form of a module: its data objects, then its functions, with an empty line between
/// them.
pub fn print_module(module: &Module, options: &PrintOptions<'_>) -> String {
    let options = PrintOptions { module: Some(module), ..*options };
    let objects: String =
        module.objects.values().map(|object| object_line(module, object)).collect();
    let functions = module.functions.values().map(|func| print_function(func, &options));
    let parts = (!objects.is_empty()).then_some(objects).into_iter().chain(functions);
    parts.collect::<Vec<_>>().join("\n")
}

/// `object @table: global size 16 align 4 data "00ff" generic(@other + 4, 0, 8, 8)`: of a
/// relocation the addend, shift, width and offset.
fn object_line(module: &Module, object: &DataObject) -> String {
    let mut out = format!("object @{}: {}", symbol(&object.name), object.space);
    if object.dynamic {
        out.push_str(" dynamic");
    }
    let _ = write!(out, " size {} align {}", object.size, object.align);
    if !object.bytes.is_empty() {
        let digits: String = object.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = write!(out, " data \"{digits}\"");
    }
    for reloc in &object.relocations {
        let (word, name) = match reloc.target {
            RelocationTarget::Object(to) => ("address", module.objects.get(to).map(|o| &o.name)),
            RelocationTarget::Generic(to) => ("generic", module.objects.get(to).map(|o| &o.name)),
            RelocationTarget::Function(to) => {
                ("function", module.functions.get(to).map(|f| &f.name))
            }
        };
        let name = name.map_or_else(|| "?".to_string(), |name| symbol(name));
        let Relocation { offset, width, shift, addend, .. } = *reloc;
        let _ = write!(out, " {word}(@{name}{}, {shift}, {width}, {offset})", displacement(addend));
    }
    out.push('\n');
    out
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_function(self, &PrintOptions::default()))
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_module(self, &PrintOptions::default()))
    }
}

/// Whether a byte may stand in a name that is read without quotes.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

/// The bits of one lane as a literal of its type: integers signed, floats as the shortest decimal
/// that reads back as the same bits, a NaN as its bits.
pub fn literal(scalar: Scalar, bits: u64) -> String {
    let width = scalar.bits();
    let float = match scalar {
        Scalar::F16 => f16_to_f64(bits as u16),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F64 => f64::from_bits(bits),
        Scalar::I1 => return (bits & 1).to_string(),
        _ => return (((bits << (64 - width)) as i64) >> (64 - width)).to_string(),
    };
    if float.is_nan() {
        let digits = width as usize / 4;
        return format!("0x{bits:0digits$x}");
    }
    match scalar {
        Scalar::F64 => format!("{float:?}"),
        _ => format!("{:?}", float as f32),
    }
}

fn extent_text(extent: &Extent) -> String {
    match extent {
        Extent::Fixed(count) => count.to_string(),
        Extent::Param(number) => format!("param {number}"),
        Extent::Expr(expr) => format!("expr \"{expr}\""),
        Extent::Given => "given".to_string(),
    }
}

struct Printer<'a> {
    out: &'a mut String,
    func: &'a Function,
    options: &'a PrintOptions<'a>,
}

impl Printer<'_> {
    fn function(&mut self) -> fmt::Result {
        let func = self.func;
        write!(self.out, "define {} @{}(", func.model.name(), symbol(&func.name))?;
        let entry = func.layout.first().copied();
        if let Some(entry) = entry {
            self.definitions(&func.blocks[entry].params)?;
        }
        write!(self.out, ")")?;
        match func.results.as_slice() {
            [] => {}
            [one] => write!(self.out, " -> {one}")?,
            many => {
                let many: Vec<_> = many.iter().map(Type::to_string).collect();
                write!(self.out, " -> ({})", many.join(", "))?;
            }
        }
        writeln!(self.out, " {{")?;
        if let Some(kernel) = &func.kernel {
            self.kernel(kernel)?;
        }
        for mem in func.mems.values() {
            let extents = mem.extents.iter().map(extent_text);
            let (name, extents) = (symbol(&mem.name), extents.collect::<Vec<_>>().join(", "));
            write!(self.out, "  mem %{name}: {}[{extents}] {}", mem.element, mem.space)?;
            match mem.storage {
                Storage::Own => {}
                Storage::Param => write!(self.out, " param")?,
                Storage::Object(object) => {
                    let named = self.options.module.and_then(|module| module.objects.get(object));
                    match named {
                        Some(object) => write!(self.out, " = @{}", symbol(&object.name))?,
                        None => write!(self.out, " = @{object}")?,
                    }
                }
            }
            writeln!(self.out)?;
        }
        if let Some(interface) = &func.interface {
            self.interface(interface)?;
        }
        for &block in &func.layout {
            self.block(block, Some(block) != entry)?;
        }
        writeln!(self.out, "}}")
    }

    fn kernel(&mut self, kernel: &Kernel) -> fmt::Result {
        write!(self.out, "  kernel")?;
        let bounds = [("max", kernel.max_threads), ("required", kernel.required_threads)];
        for (word, bound) in bounds {
            if let Some([x, y, z]) = bound {
                write!(self.out, " {word}({x}, {y}, {z})")?;
            }
        }
        if let Some(blocks) = kernel.min_blocks {
            write!(self.out, " blocks({blocks})")?;
        }
        if let Some(blocks) = kernel.grid_blocks {
            write!(self.out, " grid({blocks})")?;
        }
        writeln!(self.out)?;
        for KernelParam { name, offset, size, align, ty } in &kernel.params {
            let ty = ty.map_or("bytes", crate::NumType::name);
            let name = symbol(name);
            writeln!(self.out, "  param %{name}: {ty} size {size} align {align} at {offset}")?;
        }
        Ok(())
    }

    fn interface(&mut self, interface: &Interface) -> fmt::Result {
        write!(self.out, "  interface")?;
        if let Some(result) = interface.result {
            write!(self.out, " {}", result.name())?;
        }
        writeln!(self.out)?;
        for InterfaceParam { name, ty, array, members, value } in &interface.params {
            let kind = if array.is_some() { "array" } else { "scalar" };
            write!(self.out, "  {kind} %{}: {}", symbol(name), ty.name())?;
            let is_const = array.as_ref().is_some_and(|array| array.is_const);
            write!(self.out, "{}", if is_const { " const" } else { "" })?;
            let shape: Vec<String> =
                array.iter().flat_map(|array| &array.shape).map(extent_text).collect();
            if !shape.is_empty() {
                write!(self.out, " [{}]", shape.join(", "))?;
            }
            for member in members {
                write!(self.out, " member \"{member}\"")?;
            }
            if let Some(bits) = value {
                write!(self.out, " = {bits}")?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn block(&mut self, block: Block, with_params: bool) -> fmt::Result {
        let data = &self.func.blocks[block];
        write!(self.out, "{block}")?;
        if with_params && !data.params.is_empty() {
            write!(self.out, "(")?;
            self.definitions(&data.params)?;
            write!(self.out, ")")?;
        }
        write!(self.out, ":")?;
        if data.cold {
            write!(self.out, " cold")?;
        }
        if let Some(info) = &data.loop_info {
            write!(self.out, " loop {}", quoted_unless_word(&info.name))?;
            if let Some(trips) = info.trips {
                write!(self.out, ", {trips} trips")?;
            }
            if let Some(Counter { value, step }) = info.counter {
                write!(self.out, ", {value} by {step}")?;
            }
        }
        writeln!(self.out)?;
        for &inst in &data.insts {
            self.inst(inst)?;
        }
        match &data.terminator {
            Some(terminator) => {
                write!(self.out, "  ")?;
                self.terminator(terminator)?;
                self.location(data.span)
            }
            None => writeln!(self.out, "  ; no terminator"),
        }
    }

    fn definitions(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &value) in values.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(self.out, "{comma}{value}: {}", self.func.ty(value))?;
            for annotation in self.options.annotations {
                if let Some(text) = annotation(value) {
                    write!(self.out, " @{}", symbol(&text))?;
                }
            }
        }
        Ok(())
    }

    fn location(&mut self, span: Option<Span>) -> fmt::Result {
        match (self.options.locations, span) {
            (Locations::Bytes, Some(span)) => {
                write!(self.out, " !{}:{}..{}", span.source.0, span.start, span.end)?;
            }
            (Locations::Lines(sources), Some(span)) => {
                let at = sources.start_of(span);
                let name = &sources.get(span.source).name;
                write!(self.out, " ; {name}:{}:{}", at.line, at.column)?;
            }
            _ => {}
        }
        writeln!(self.out)
    }

    fn inst(&mut self, inst: Inst) -> fmt::Result {
        let InstData { op, results, span } = &self.func.insts[inst];
        write!(self.out, "  ")?;
        if !results.is_empty() {
            self.definitions(results)?;
            write!(self.out, " = ")?;
        }
        self.op(op)?;
        self.location(*span)
    }

    fn op(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Const(ty, Constant::Splat(bits)) => {
                write!(self.out, "const {}", literal(ty.scalar, *bits))
            }
            Op::Const(ty, Constant::Lanes(lanes)) => {
                let lanes: Vec<_> = lanes.iter().map(|&bits| literal(ty.scalar, bits)).collect();
                write!(self.out, "const [{}]", lanes.join(", "))
            }
            Op::Unary(op, a) => write!(self.out, "{} {a}", op.name()),
            Op::Binary(op, a, b) => write!(self.out, "{} {a}, {b}", op.name()),
            Op::Fma(a, b, c) => write!(self.out, "fma {a}, {b}, {c}"),
            Op::MulAdd(a, b, c) => write!(self.out, "muladd {a}, {b}, {c}"),
            Op::Icmp(cond, a, b) => write!(self.out, "icmp {} {a}, {b}", cond.name()),
            Op::Fcmp(cond, a, b) => write!(self.out, "fcmp {} {a}, {b}", cond.name()),
            Op::Select(a, b, c) => write!(self.out, "select {a}, {b}, {c}"),
            Op::Convert(op, a, _) => write!(self.out, "{} {a}", op.name()),
            Op::Splat(a, _) => write!(self.out, "splat {a}"),
            Op::Extract(a, lane) => write!(self.out, "extract {a}, {lane}"),
            Op::Insert(a, b, lane) => write!(self.out, "insert {a}, {b}, {lane}"),
            Op::Shuffle(a, b, lanes) => {
                let lanes: Vec<_> = lanes.iter().map(u8::to_string).collect();
                write!(self.out, "shuffle {a}, {b}, [{}]", lanes.join(", "))
            }
            Op::Load(_, mem, subscripts) => {
                let mem = self.mem(*mem);
                write!(self.out, "load {mem}[{}]", list(subscripts))
            }
            Op::Store(mem, subscripts, value) => {
                let mem = self.mem(*mem);
                write!(self.out, "store {mem}[{}], {value}", list(subscripts))
            }
            Op::LoadRaw(_, space, address, offset) => {
                write!(self.out, "load {space} [{address}{}]", displacement(*offset))
            }
            Op::StoreRaw(space, address, offset, value) => {
                write!(self.out, "store {space} [{address}{}], {value}", displacement(*offset))
            }
            Op::Call(callee, args) => {
                let name = match self.options.module.and_then(|m| m.functions.get(*callee)) {
                    Some(function) => format!("@{}", symbol(&function.name)),
                    None => callee.to_string(),
                };
                write!(self.out, "call {name}({})", list(args))
            }
            Op::Intrinsic(call) => {
                write!(self.out, "intrinsic {}({})", quoted(call.name), list(&call.args))?;
                if !call.mems.is_empty() {
                    let mems: Vec<_> = call.mems.iter().map(|&mem| self.mem(mem)).collect();
                    write!(self.out, " mems({})", mems.join(", "))?;
                }
                if !call.imms.is_empty() {
                    let imms: Vec<_> = call.imms.iter().map(i64::to_string).collect();
                    write!(self.out, " imms({})", imms.join(", "))?;
                }
                write!(self.out, " {}", call.effect.name())
            }
            Op::Simt(SimtOp::Address(object), args) if args.is_empty() => {
                match self.options.module.and_then(|m| m.objects.get(*object)) {
                    Some(data) => write!(self.out, "address @{}", symbol(&data.name)),
                    None => write!(self.out, "simt \"address.{object}\"()"),
                }
            }
            Op::Simt(op, args) => write!(self.out, "simt \"{op}\"({})", list(args)),
        }
    }

    fn mem(&self, mem: Mem) -> String {
        match self.func.mems.get(mem) {
            Some(data) => format!("%{}", symbol(&data.name)),
            None => mem.to_string(),
        }
    }

    fn terminator(&mut self, terminator: &Terminator) -> fmt::Result {
        match terminator {
            Terminator::Jump(to) => write!(self.out, "jump {}", target(to)),
            Terminator::Branch(cond, then, other) => {
                write!(self.out, "branch {cond}, {}, {}", target(then), target(other))
            }
            Terminator::Switch(value, cases, default) => {
                let cases: Vec<_> = cases.iter().map(target).collect();
                write!(self.out, "switch {value}, [{}], {}", cases.join(", "), target(default))
            }
            Terminator::Return(values) if values.is_empty() => write!(self.out, "return"),
            Terminator::Return(values) => write!(self.out, "return {}", list(values)),
            Terminator::Trap(message) => write!(self.out, "trap {}", quoted(message)),
            Terminator::Exit => write!(self.out, "exit"),
        }
    }
}

/// A name without a sigil: plain only where it starts like a word.
fn quoted_unless_word(name: &str) -> String {
    let word = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if word && is_plain_symbol(name) { name.to_string() } else { quoted(name) }
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

fn target(to: &BlockCall) -> String {
    if to.args.is_empty() {
        to.block.to_string()
    } else {
        format!("{}({})", to.block, list(&to.args))
    }
}

fn displacement(offset: i64) -> String {
    match offset {
        0 => String::new(),
        1.. => format!(" + {offset}"),
        _ => format!(" - {}", offset.unsigned_abs()),
    }
}
