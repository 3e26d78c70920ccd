//! Calls of functions that hosts call: arrays and scalars as a host has them.

use std::collections::BTreeMap;

use nbcc_analysis::Lanes;
use nbcc_ir::{Func, MemData, Module, Storage};

use super::memory::elements;
use super::promises::Promises;
use super::run::array_of;
use super::{Array, IntrinsicContext, Memory, Options, Program, Trap, TrapKind, run};

/// The contents of an array parameter.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// Elements along each dimension, the fastest first.
    pub extents: Vec<u32>,
    /// The elements as they lie in memory, little endian.
    pub bytes: &'a [u8],
}

/// What a call leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The bits of the result, if the function has one.
    pub result: Option<u64>,
    /// What the array parameters hold, as they lie in memory, in the order of the interface.
    pub arrays: Vec<Vec<u8>>,
}

/// Calls a function with an interface: the bits of its scalars and the contents of its arrays, in the
/// order of its parameters. Memory objects of its own start as zeros.
///
/// # Errors
/// What ended the call early.
pub fn call(
    module: &Module,
    func: Func,
    scalars: &[u64],
    arrays: &[Given<'_>],
    options: &Options,
) -> Result<Called, Trap> {
    let function = &module.functions[func];
    let entry = &function.blocks[function.entry()].params;
    let scalars = entry.iter().zip(scalars);
    let scalars: Vec<Lanes> =
        scalars.map(|(&value, &bits)| Lanes::splat(function.ty(value), bits)).collect();
    let params = function.interface.iter().flat_map(|interface| &interface.params);
    let given = params.filter_map(|param| Some(&function.mems[param.array.as_ref()?.mem]));
    let mut all = Vec::new();
    for (mem, array) in given.clone().zip(arrays) {
        // To a function with one dimension, it is all elements in a row.
        let row = u32::try_from(elements(&array.extents)).unwrap_or(u32::MAX);
        let extents = if mem.extents.len() == 1 { vec![row] } else { array.extents.clone() };
        all.push((mem, extents, array.bytes));
    }
    let own = function.mems.values().filter(|mem| mem.storage == Storage::Own);
    all.extend(own.filter_map(|mem| Some((mem, mem.fixed_extents()?, &[][..]))));
    let memory = check_size(module, &all, options.array_bytes).and_then(|()| {
        let mut memory = Memory::new();
        for (mem, extents, bytes) in &all {
            memory.insert(&mem.name, array_of(mem, extents, bytes)?);
        }
        Ok(memory)
    });
    let mut memory = memory.map_err(|kind| Trap::at_start(function, kind))?;
    let mut promises = Promises::default();
    let mut answer = |context: &mut IntrinsicContext<'_>| promises.answer(context);
    let program = Program::of_module(module, func);
    let results = run(program, &scalars, &mut memory, &mut answer, options);
    let results = match (results, promises.broken) {
        (Err(trap), Some(broken)) => return Err(Trap { kind: Box::new(broken), ..trap }),
        (results, _) => results?,
    };
    let arrays = given.map(|mem| memory.get(&mem.name).map(Array::to_bytes).unwrap_or_default());
    Ok(Called { result: results.first().map(|lanes| lanes.lane(0)), arrays: arrays.collect() })
}

/// Refuses arrays that take more than `most` bytes together with the data of the module, before there is
/// any of them.
fn check_size(
    module: &Module,
    arrays: &[(&MemData, Vec<u32>, &[u8])],
    most: u64,
) -> Result<(), TrapKind> {
    let size = |mem: &MemData, extents: &[u32]| {
        elements(extents).saturating_mul(u64::from(mem.element.bytes()))
    };
    let mut objects = BTreeMap::new();
    for mem in module.functions.values().flat_map(|func| func.mems.values()) {
        if let (Storage::Object(object), Some(extents)) = (mem.storage, mem.fixed_extents()) {
            objects.insert(object, size(mem, &extents));
        }
    }
    let arrays = arrays.iter().map(|(mem, extents, _)| size(mem, extents));
    let bytes = arrays.chain(objects.into_values()).fold(0, u64::saturating_add);
    if bytes > most { Err(TrapKind::ArraySize { bytes, most }) } else { Ok(()) }
}
