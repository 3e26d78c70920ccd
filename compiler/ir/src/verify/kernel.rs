//! The contract of kernels, of functions that hosts call, and of data objects.

use std::collections::BTreeMap;
use std::fmt;

use nbcc_base::member::Member;

use super::VerifierError;
use crate::{
    DataObject, ExecutionModel, Extent, FloatFormat, Function, MemData, Module, NumType,
    RelocationTarget, Space, Storage, function_address,
};

fn error(of: &str, entity: impl fmt::Display, message: impl Into<String>) -> VerifierError {
    VerifierError { function: of.to_string(), entity: entity.to_string(), message: message.into() }
}

/// Checks what makes a function a kernel.
pub(super) fn check(func: &Function, errors: &mut Vec<VerifierError>) {
    let Some(kernel) = &func.kernel else { return };
    let mut fault = |entity: &str, message: &str| errors.push(error(&func.name, entity, message));
    let params = func.layout.first().map_or(0, |&entry| func.blocks[entry].params.len());
    if func.model != ExecutionModel::Grid || params > 0 || !func.results.is_empty() {
        fault("kernel", "has another model than grid, or parameters or results that are values");
    }
    let mut names = BTreeMap::new();
    let mut end = 0u64;
    for param in &kernel.params {
        if names.insert(&param.name, ()).is_some() {
            fault(&param.name, "is the name of another parameter, too");
        }
        if !param.align.is_power_of_two() || !param.offset.is_multiple_of(param.align) {
            fault(&param.name, "is not aligned");
        }
        if u64::from(param.offset) < end {
            fault(&param.name, "begins before the end of the last parameter");
        }
        end = u64::from(param.offset) + u64::from(param.size);
        let bits = param.ty.map(|ty| ty.ty().scalar.bits());
        if bits.is_some_and(|bits| bits != param.size.saturating_mul(8)) {
            fault(&param.name, "has another size than its type");
        }
    }
    let bounds = [kernel.max_threads, kernel.required_threads].into_iter().flatten();
    if bounds.flatten().any(|n| n == 0) {
        fault("kernel", "is bound to no threads");
    }
    if kernel.grid_blocks == Some(0) {
        fault("kernel", "has launches without blocks");
    }
}

/// Whether memory of a host holds values of that type, one behind the other.
fn has_values_of_its_own(ty: NumType) -> bool {
    use FloatFormat::{F16, F32, F64};
    matches!(ty, NumType::Int(_) | NumType::Float(F16 | F32 | F64))
}

/// Checks what makes a function one that hosts call.
pub(super) fn check_interface(func: &Function, errors: &mut Vec<VerifierError>) {
    let mut fault = |entity: &str, message: &str| errors.push(error(&func.name, entity, message));
    let is_given = |mem: &MemData| mem.storage == Storage::Param;
    let Some(interface) = &func.interface else {
        for mem in func.mems.values().filter(|mem| is_given(mem)) {
            fault(&mem.name, "is given by nobody: the function has no interface");
        }
        return;
    };
    if func.model != ExecutionModel::Sequential || func.kernel.is_some() {
        fault("interface", "belongs to a sequential function that is no kernel");
    }
    let result: Vec<_> = interface.result.iter().map(|result| result.ty()).collect();
    if result != func.results || !interface.result.is_none_or(has_values_of_its_own) {
        fault("interface", "has another result than the function");
    }
    let mut names = BTreeMap::new();
    let entry = func.layout.first().map_or(&[][..], |&entry| &func.blocks[entry].params);
    let mut scalars = entry.iter();
    for param in &interface.params {
        if names.insert(&param.name, ()).is_some() {
            fault(&param.name, "is the name of another parameter, too");
        }
        if !has_values_of_its_own(param.ty) {
            fault(&param.name, "is of a type that hosts do not have");
        }
        let bits = 8 * param.ty.ty().scalar.bytes();
        if param.value.is_some_and(|value| {
            param.array.is_some() || value.checked_shr(bits).is_some_and(|rest| rest > 0)
        }) {
            fault(&param.name, "has a value that is none of its type");
        }
        match &param.array {
            None if scalars.next().map(|&value| func.ty(value)) != Some(param.ty.ty()) => {
                fault(&param.name, "has another type than the parameter of the entry block");
            }
            None => {}
            Some(array) => {
                let width = u64::from(param.ty.ty().scalar.bytes());
                let scalars =
                    param.members.iter().map(Member::scalars).fold(0, u64::saturating_add);
                let is_sound = |member: &Member| member.is_sound(width);
                let counts = array.shape.last().is_some_and(|last| {
                    *last == Extent::constant(i64::try_from(scalars).unwrap_or(i64::MAX))
                });
                let holds = counts && param.members.iter().all(is_sound);
                if !param.members.is_empty() && !holds {
                    fault(&param.name, "does not hold the members that it names");
                }
                let is_it = |mem: &MemData| {
                    mem.name == param.name && is_given(mem) && mem.element == param.ty.ty().scalar
                };
                if !func.mems.get(array.mem).is_some_and(is_it) {
                    fault(&param.name, "is no memory object of that name and type that is given");
                }
                let integer = |&number: &u32| {
                    let param = entry.get(number as usize).map(|&value| func.ty(value));
                    param.is_some_and(|ty| !ty.is_float() && !ty.is_vector())
                };
                let of_integers = |extent: &Extent| match extent {
                    Extent::Param(number) => integer(number),
                    Extent::Expr(expr) => expr.params().all(|number| integer(&number)),
                    Extent::Fixed(_) | Extent::Given => true,
                };
                if !array.shape.iter().all(of_integers) {
                    fault(&param.name, "has an extent that is not made of integers");
                }
            }
        }
    }
    if scalars.next().is_some() {
        fault("interface", "has fewer scalars than the entry block has parameters");
    }
    for mem in func.mems.values().filter(|mem| is_given(mem)) {
        if !names.contains_key(&mem.name) {
            fault(&mem.name, "is given by nobody: the interface does not have it");
        }
    }
}

/// Checks the data objects of a module.
pub(super) fn check_objects(module: &Module, errors: &mut Vec<VerifierError>) {
    let mut names = BTreeMap::new();
    for (id, object) in &module.objects {
        if let Some(first) = names.insert(&object.name, id) {
            errors.push(error(&object.name, id, format!("has the name of {first}")));
        }
        if let Err(message) = check_object(module, object) {
            errors.push(error(&object.name, id, message));
        }
    }
}

fn check_object(module: &Module, object: &DataObject) -> Result<(), &'static str> {
    let ensure = |holds: bool, message: &'static str| if holds { Ok(()) } else { Err(message) };
    let has_contents = matches!(object.space, Space::Global | Space::Const);
    let has_objects = has_contents || matches!(object.space, Space::Shared | Space::Local);
    ensure(has_objects, "is in a space that holds no objects")?;
    ensure(object.align.is_power_of_two(), "has an alignment that is no power of two")?;
    ensure(object.size <= 1 << 40, "is larger than 2^40 bytes")?;
    ensure(!object.dynamic || object.space == Space::Shared, "is dynamic but not shared")?;
    let empty = object.bytes.is_empty() && object.relocations.is_empty();
    ensure(has_contents || empty, "has contents in a space that is not initialised")?;
    ensure(object.bytes.len() as u64 <= object.size, "has more contents than its size")?;
    let mut end = 0;
    for relocation in &object.relocations {
        ensure(matches!(relocation.width, 1 | 2 | 4 | 8), "has a relocation of a wrong width")?;
        ensure(relocation.shift < 64, "has a relocation that is shifted out")?;
        ensure(relocation.offset >= end, "has relocations that overlap or are out of order")?;
        let next = relocation.offset.checked_add(u64::from(relocation.width));
        end = next.ok_or("has a relocation behind its end")?;
        ensure(end <= object.size, "has a relocation behind its end")?;
        let exists = match relocation.target {
            RelocationTarget::Object(to) | RelocationTarget::Generic(to) => {
                module.objects.get(to).is_some()
            }
            RelocationTarget::Function(to) => function_address(to) <= module.functions.len() as u64,
        };
        ensure(exists, "has a relocation to what does not exist")?;
    }
    Ok(())
}
