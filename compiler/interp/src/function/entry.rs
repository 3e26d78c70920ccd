//! Calls of functions that hosts call: arrays and scalars as a host has them.

use nbcc_analysis::Lanes;
use nbcc_ir::{Func, Module, Storage};

use super::promises::Promises;
use super::{Array, IntrinsicContext, Memory, Options, Program, Trap, run};

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
    let mut memory = Memory::new();
    for (mem, array) in given.clone().zip(arrays) {
        // To a function with one dimension, it is all elements in a row.
        let all = array.extents.iter().map(|&n| u64::from(n)).product::<u64>();
        let all = [u32::try_from(all).unwrap_or(u32::MAX)];
        let extents = if mem.extents.len() == 1 { &all[..] } else { &array.extents };
        let array = Array::from_bytes(mem.element, extents, array.bytes);
        memory.insert(&mem.name, array);
    }
    for mem in function.mems.values().filter(|mem| mem.storage == Storage::Own) {
        if let Some(extents) = mem.fixed_extents() {
            memory.insert(&mem.name, Array::from_bytes(mem.element, &extents, &[]));
        }
    }
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
