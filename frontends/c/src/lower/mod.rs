//! From the typed tree to the shared IR: one sequential function, everything that it calls inlined.
//!
//! A scalar whose address is not taken is a value. Everything else lies in memory objects of one
//! dimension, subscripted by scalars: `a[i][j]` of `int a[n][m]` is `%a[i * m + j]`, since C lets a
//! row be left within its array. Structures whose scalars are of one type lie in one object, others
//! in one for each member. A pointer is two values: the number of its object, and the number of the
//! scalar in it. Which object it is, is mostly known; where not, [`pointers`] chooses among those
//! that it may be.

mod access;
mod build;
mod checked;
mod expr;
mod extents;
mod interface;
mod library;
mod objects;
mod place;
mod pointers;
mod promises;
mod ssa;
mod state;
mod stmt;

use nbcc_base::{Diagnostic, Diagnostics, Failed};
use nbcc_ir::{ExecutionModel, Func, Function, Module};

use self::state::Lower;
use crate::codes;
use crate::names::Names;
use crate::sema::tree::Program;
use crate::types::Types;

/// Calls of a program at most, each of which takes blocks and variables of its own. They are counted
/// before anything is inlined: their number may double from function to function.
const MAX_CALLS: u64 = 100_000;

/// Makes the IR of a function of the program, and what it calls. Where it is `checked`, the function
/// ends the run when it reads what nothing was written to, and asks whether `restrict` pointers keep
/// their promises.
pub(crate) fn lower(
    program: &Program,
    entry: usize,
    checked: bool,
    types: &mut Types,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Result<(Module, Func), Failed> {
    let name = names.text(program.functions[entry].name);
    let calls = program.functions[entry].inlined_calls;
    if calls > MAX_CALLS {
        let message = format!("`{name}` makes more than {MAX_CALLS} calls, which are all inlined");
        let error = Diagnostic::error(&codes::LIMIT, message);
        let error = error.at(program.functions[entry].span, "with what it calls");
        return diagnostics.fail(error.help("call fewer functions from each other, in loops"));
    }
    let func = Function::new(name, ExecutionModel::Sequential);
    let mut lower = Lower::new(program, func, checked, types, names, diagnostics);
    lower.entry(entry)?;
    if lower.too_large || !lower.refused.is_empty() {
        return Err(Failed);
    }
    let Lower { mut module, mut func, objects, written, .. } = lower;
    clean(&mut func);
    pointers::resolve(&mut func, &objects, &written.unwrap_or_default().objects);
    clean(&mut func);
    // Limits of subscripts that are never reached: counted by a loop with bounds, masked, narrow.
    nbcc_opt::ranges::run(&mut func);
    clean(&mut func);
    let func = module.functions.push(func);
    Ok((module, func))
}

/// What building leaves behind is removed: parameters that stand for one value, constants that
/// fold, blocks that nothing reaches.
fn clean(func: &mut Function) {
    nbcc_opt::unreachable::run(func);
    for _ in 0..8 {
        let mut changed = nbcc_opt::params::run(func);
        changed |= nbcc_opt::fold::run(func);
        changed |= nbcc_opt::simplify_cfg::run(func);
        changed |= nbcc_opt::dce::run(func);
        if !changed {
            break;
        }
    }
}
