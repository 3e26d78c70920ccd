//! Lowers a checked module to the shared IR.
//!
//! - Registers become SSA values ([`ssa`]). One that is read where nothing wrote it holds zero; the
//!   carry flag is a variable like any other.
//! - A guard makes pure instructions a selection between new and old value, goes into memory
//!   operations as an operand, and makes control flow of the rest ([`instruction`]).
//! - Scalars in `.param` space are values; arrays, and what is accessed in parts, lie in local
//!   memory ([`passing`]). Parameters of kernels are read from the space `param`.
//! - Variables are data objects ([`objects`]), `.loc` becomes the module's table of line marks.

mod arith;
mod bits;
mod blocks;
mod call;
mod callgraph;
mod context;
mod cooperative;
mod float;
mod fragment;
mod function;
mod instruction;
mod matrix;
mod memory;
mod objects;
mod passing;
mod plan;
mod product;
mod ssa;
mod types;
mod video;
mod warp;

pub(crate) use blocks::{meaning, targets};

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use nbcc_base::{Diagnostics, Failed, Span};
use nbcc_ir::{Func, LineMark, LinePlace, Module};

use self::plan::Plan;
use crate::check::Forms;
use crate::resolved::{BodyItem, FunctionId, Resolved};

/// Lowers a module whose instructions passed the checks.
pub fn lower(
    module: &Resolved<'_>,
    forms: &Forms,
    diagnostics: &mut Diagnostics,
) -> Result<Module, Failed> {
    let references = callgraph::References::new(module);
    let candidates = callgraph::analyse(module, &references, diagnostics)?;
    let mut functions: SecondaryMap<FunctionId, PackedOption<Func>> = SecondaryMap::new();
    let mut count = 0;
    for (id, function) in &module.functions {
        if function.body.is_some() {
            functions[id] = Some(Func::from_u32(count)).into();
            count += 1;
        }
    }
    let mut ir = Module::default();
    let objects = objects::make(module, &references.variables, &functions, &mut ir, diagnostics);
    diagnostics.check()?;
    let first_own_object = ir.objects.len() as u32;
    let plan = Plan { module, forms, functions, objects, candidates, first_own_object };
    let mut own = Vec::new();
    for (id, function) in &module.functions {
        let Some(body) = &function.body else { continue };
        match function::lower(&plan, id, body, &mut own) {
            Ok(mut lowered) => {
                cooperative::explain_traps(&mut lowered);
                ir.functions.push(lowered);
            }
            Err(diagnostic) => return diagnostics.fail(*diagnostic),
        }
    }
    cooperative::warn(module, forms, diagnostics);
    for object in own {
        ir.objects.push(object);
    }
    lines(module, &mut ir);
    Ok(ir)
}

/// The table from positions in the file to places in the source that it was made from.
fn lines(module: &Resolved<'_>, ir: &mut Module) {
    let mut numbers = BTreeMap::new();
    for (&number, name) in &module.files {
        numbers.insert(number, ir.lines.files.len() as u32);
        ir.lines.files.push(name.clone());
    }
    let mut marks: Vec<LineMark> = Vec::new();
    let mut mark = |span: Span, place: Option<LinePlace>| {
        marks.push(LineMark { source: span.source, start: span.start, place });
    };
    for body in module.functions.values().filter_map(|function| function.body.as_ref()) {
        if body.locs.is_empty() {
            continue;
        }
        // Where the first instruction from each item on stands.
        let mut next = vec![None; body.items.len() + 1];
        for (number, item) in body.items.iter().enumerate().rev() {
            next[number] = match item {
                BodyItem::Instruction(inst) => Some(inst.span),
                BodyItem::Call(call) => Some(call.span),
                BodyItem::Label(_) => next[number + 1],
            };
        }
        for (item, location) in &body.locs {
            let Some(span) = next.get(*item).copied().flatten() else { continue };
            let place = numbers.get(&location.file).map(|&file| LinePlace {
                file,
                line: location.line,
                column: location.column,
                function: location.function.clone(),
            });
            mark(span, place);
        }
        mark(body.end, None);
    }
    // Bodies stand in the file in another order than functions are declared in.
    marks.sort_by_key(|mark| (mark.source.0, mark.start));
    for mark in marks {
        ir.lines.push(mark);
    }
}
