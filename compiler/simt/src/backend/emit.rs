//! Kernels with their registers become a program: text with labels and line table, data objects,
//! tables of kernels and messages.

use std::collections::BTreeSet;

use nbcc_base::{SourceMap, Span};
use nbcc_ir::{FloatFormat, IntType, Module, NumType, RelocationTarget, Space, function_address};
use nbcc_isa_simt::{
    Inst, Kernel, Machine, Object, ObjectSpace, Param, ParamType, PhysReg, Program, Relocation,
};
use nbcc_mach::emit::{CodeBuilder, SourcePlace, source_place};

use super::regalloc::Registers;
use super::select::{MachFunction, Messages, object_numbers};
use crate::passes::objects::Frame;

/// A kernel that is ready to be emitted.
pub struct Ready<'a> {
    /// The function it comes from.
    pub ir: &'a nbcc_ir::Function,
    /// Its instructions.
    pub func: &'a MachFunction,
    /// Its registers.
    pub registers: &'a Registers,
    /// What it takes of memory, beside what is spilled.
    pub frame: Frame,
}

/// Puts a program together.
///
/// # Errors
/// An object whose contents the machine cannot hold, by name.
pub fn emit(
    module: &Module,
    kernels: &[Ready<'_>],
    messages: &Messages,
    machine: &Machine,
    sources: &SourceMap,
) -> Result<Program, String> {
    let place_of = |span| source_line(module, sources, span);
    let mut code: CodeBuilder<'_, Inst<PhysReg>> = CodeBuilder::new(&place_of);
    let mut table = Vec::new();
    let mut names = Names::default();
    for kernel in kernels {
        let entry = code.here();
        let name = names.unique(&kernel.ir.name);
        let placed = code.function(kernel.func, &kernel.registers.allocation.entries);
        code.name_function(name.clone(), entry);
        for (block, index) in placed.targets {
            if index > entry {
                code.name(names.unique(&format!("{name}$B{block}")), index);
            }
        }
        table.push(describe(kernel, entry, code.here() - entry));
    }
    Ok(Program {
        machine: machine.clone(),
        code: code.finish(),
        kernels: table,
        objects: objects(module)?,
        messages: messages.texts().to_vec(),
        sections: vec![],
    })
}

/// The line that `.loc` says where it does, else that of the source itself.
fn source_line(module: &Module, sources: &SourceMap, span: Span) -> Option<SourcePlace> {
    if let Some(place) = module.lines.find(span)
        && let Some(file) = module.lines.files.get(place.file as usize)
    {
        return Some(SourcePlace { file: file.clone(), line: place.line, column: place.column });
    }
    source_place(sources, span)
}

fn describe(kernel: &Ready<'_>, entry: u32, instructions: u32) -> Kernel {
    let source = kernel.ir.kernel.clone().unwrap_or_default();
    let param_bytes = u32::try_from(source.params_size()).unwrap_or(u32::MAX);
    let local = kernel.registers.local_bytes.next_multiple_of(16);
    let params = source.params.into_iter().map(|param| Param {
        name: param.name,
        offset: param.offset,
        size: param.size,
        align: param.align,
        ty: param.ty.map_or_else(|| untyped(param.size), param_type),
    });
    Kernel {
        name: kernel.ir.name.clone(),
        entry,
        instructions,
        registers: kernel.registers.words(),
        shared_bytes: u32::try_from(kernel.frame.shared_bytes).unwrap_or(!15),
        local_bytes: u32::try_from(local).unwrap_or(!15),
        params: params.collect(),
        param_bytes,
        max_block: source.max_threads,
        required_block: source.required_threads,
        min_blocks: source.min_blocks,
    }
}

fn untyped(size: u32) -> ParamType {
    match size {
        1 => ParamType::B8,
        2 => ParamType::B16,
        4 => ParamType::B32,
        8 => ParamType::B64,
        _ => ParamType::Bytes,
    }
}

fn param_type(ty: NumType) -> ParamType {
    match ty {
        NumType::Int(IntType::U8) => ParamType::U8,
        NumType::Int(IntType::S8) => ParamType::S8,
        NumType::Int(IntType::U16) => ParamType::U16,
        NumType::Int(IntType::S16) => ParamType::S16,
        NumType::Int(IntType::U32) => ParamType::U32,
        NumType::Int(IntType::S32) => ParamType::S32,
        NumType::Int(IntType::U64) => ParamType::U64,
        NumType::Int(IntType::S64) => ParamType::S64,
        NumType::Float(FloatFormat::F16) => ParamType::F16,
        NumType::Float(FloatFormat::Bf16) => ParamType::B16,
        NumType::Float(FloatFormat::F32) => ParamType::F32,
        NumType::Float(FloatFormat::F64) => ParamType::F64,
        NumType::Float(FloatFormat::F16x2 | FloatFormat::Bf16x2) => ParamType::B32,
    }
}

fn objects(module: &Module) -> Result<Vec<Object>, String> {
    let numbers = object_numbers(module);
    let mut objects = Vec::new();
    for object in module.objects.values() {
        let space = match object.space {
            Space::Global => ObjectSpace::Global,
            Space::Const => ObjectSpace::Const,
            _ => continue,
        };
        let mut initial = object.bytes.clone();
        let mut relocations = Vec::new();
        for relocation in &object.relocations {
            match relocation.target {
                RelocationTarget::Object(to) | RelocationTarget::Generic(to) => {
                    let home = module.objects[to].space;
                    if !matches!(home, Space::Global | Space::Const) {
                        let name = &module.objects[to].name;
                        return Err(format!(
                            "`{}` holds the address of `{name}`, which is in {home} memory",
                            object.name
                        ));
                    }
                    relocations.push(Relocation {
                        offset: relocation.offset,
                        bytes: relocation.width.into(),
                        shift: relocation.shift.into(),
                        object: numbers[to],
                        addend: relocation.addend,
                    });
                }
                // Functions have numbers, which are known here.
                RelocationTarget::Function(to) => {
                    let address = function_address(to).wrapping_add(relocation.addend as u64);
                    let bytes = (address >> relocation.shift).to_le_bytes();
                    let at = relocation.offset as usize;
                    let end = at + usize::from(relocation.width);
                    initial.resize(initial.len().max(end), 0);
                    initial[at..end].copy_from_slice(&bytes[..usize::from(relocation.width)]);
                }
            }
        }
        let (name, align, size) = (object.name.clone(), object.align, object.size);
        objects.push(Object { name, space, align, size, initial, relocations });
    }
    Ok(objects)
}

/// Names of symbols: letters, digits, `_` and `$`, each once.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    fn unique(&mut self, name: &str) -> String {
        let plain =
            |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' };
        let mut base: String = name.chars().map(plain).collect();
        if !base.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$') {
            base.insert(0, '_');
        }
        let mut name = base.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}${number}");
            number += 1;
        }
        name
    }
}
