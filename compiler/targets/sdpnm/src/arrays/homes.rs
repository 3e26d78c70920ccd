//! The arrays in whose shared memories the objects of loops live.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_ir::{Func, Function, Mem, MemData, Module, Op, Scalar, Space, Storage};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::ArrayKind;
use nbcc_isa_sdpnm::core::arrays::MAX_HOMES;
use nbcc_opt::promote;

use super::Arrays;
use super::facts::shape::Shape;
use super::facts::sources::{Site, Wishes};
use super::iteration::build::Built;
use super::iteration::registers;
use super::placing::split::is_same_object;

/// The first array with filter operations.
pub(super) fn filtering(machine: &Machine) -> Option<u8> {
    let array = machine.arrays.kinds.iter().position(|&kind| kind == ArrayKind::Fpea);
    array.map(|array| array as u8)
}

/// The array for a loop: of the kind that is asked for, or one that has its objects already.
pub(super) fn array_for(
    func: &Function,
    shape: &Shape,
    wishes: Wishes,
    arrays: &Arrays,
    machine: &Machine,
) -> Result<u8, String> {
    let kinds = &machine.arrays.kinds;
    let insts = shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let mems = insts.filter_map(|&inst| match &func.insts[inst].op {
        Op::Load(_, mem, _) | Op::Store(mem, ..) => Some(*mem),
        _ => None,
    });
    let home = |mem: Mem| arrays.homes.iter().find(|home| home.0 == mem).map(|home| home.1);
    let touched = |arrays: &Arrays| mems.clone().any(|mem| arrays.windows.contains(&mem));
    let mut homes = mems.clone().filter_map(home);
    match wishes.site {
        Some(Site::Array(kind)) => {
            let known = homes.find(|&array| kinds[usize::from(array)] == kind);
            let first = kinds.iter().position(|&other| other == kind).map(|array| array as u8);
            known.or(first).ok_or_else(|| format!("the machine has no {}", kind.name()))
        }
        _ => {
            // What comes through windows comes fastest to where the banks are.
            let beside = kinds.iter().position(|&kind| kind == ArrayKind::Spea);
            let beside = beside.filter(|_| touched(arrays)).map(|array| array as u8);
            let known = homes.next().or(beside).or(filtering(machine));
            known.ok_or_else(|| "the machine has no array for filters".into())
        }
    }
}

/// The objects of a loop, which all fit a shared memory as far as that is known.
pub(super) fn homes(
    module: &Module,
    func: Func,
    built: &Built,
    arrays: &Arrays,
    (array, machine): (u8, &Machine),
) -> Result<Vec<Mem>, String> {
    let function = &module.functions[func];
    let mut wanted: Vec<Mem> = built.accesses.iter().map(|access| access.mem).collect();
    wanted.sort();
    wanted.dedup();
    for &mem in &wanted {
        if has_other_names(function, mem) {
            return Err(format!("`{}` has several names", function.mems[mem].name));
        }
    }
    let other = |&&(mem, other): &&(Mem, u8)| other != array && wanted.contains(&mem);
    if let Some(&(mem, other)) = arrays.homes.iter().find(other) {
        return Err(format!(
            "another loop needs `{}` in the shared memory of {}",
            function.mems[mem].name,
            machine.array_name(other.into())
        ));
    }
    if arrays.twins.keys().any(|&(_, other)| other == array) {
        return Err(format!(
            "the shared memory of {} has copies for a loop that several arrays share",
            machine.array_name(array.into())
        ));
    }
    let bytes = |mem: Mem| bytes_of(module, function, mem);
    let is_new = |mem: &&Mem| !arrays.homes.iter().any(|home| home.0 == **mem);
    let known = arrays.homes.iter().map(|home| home.0);
    let fixed = known.chain(wanted.iter().filter(is_new).copied()).filter_map(bytes);
    let alignment = u64::from(machine.home_alignment());
    let is_first = !built.spilled.is_empty() && !arrays.spills.contains_key(&array);
    let spills = is_first.then_some(4 * registers::MAX_SPILLED as u64);
    let all = fixed.chain(spills).map(|bytes| bytes.next_multiple_of(alignment)).sum::<u64>();
    if all > u64::from(machine.shared_bytes()) {
        let message = "its arrays are larger than the shared memory of an array";
        return Err(message.into());
    }
    let taken = arrays.homes.len() + arrays.twins.len();
    let new = wanted.iter().filter(is_new).count() + usize::from(is_first);
    if new + taken > MAX_HOMES {
        return Err("too many arrays are used by other loops".into());
    }
    Ok(wanted)
}

/// The object with the words that the core leaves for an array's loops.
pub(super) fn spills(func: &mut Function, arrays: &mut Arrays, array: u8) -> Mem {
    *arrays.spills.entry(array).or_insert_with(|| {
        let name = format!("spills.{array}");
        func.mems.push(MemData::new(
            name,
            Scalar::I32,
            &[registers::MAX_SPILLED as u32],
            Space::Local,
        ))
    })
}

/// Whether a function has several names for an object.
pub fn has_other_names(func: &Function, mem: Mem) -> bool {
    func.mems.keys().any(|other| other != mem && is_same_object(func, mem, other))
}

/// The bytes of an object, where they are known.
pub fn bytes_of(module: &Module, func: &Function, mem: Mem) -> Option<u64> {
    let data = &func.mems[mem];
    match data.storage {
        Storage::Object(object) => Some(module.objects[object].size),
        _ => {
            let extents = data.fixed_extents()?;
            let count = extents.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
            Some(count.saturating_mul(data.element.bytes().into()))
        }
    }
}

/// Gives the homes of a loop twins in the arrays that share it, as far as there is room in the table of
/// homes; whether there is.
pub(super) fn twins(
    arrays: &mut Arrays,
    homes: &BTreeMap<Mem, u32>,
    shared: &[u8],
    is_filled: impl Fn(Mem) -> bool,
) -> bool {
    // Twins are where homes are, which are those of one array then.
    let is_apart = |&(_, array): &(Mem, u8)| shared[1..].contains(&array);
    let of = |&(home, _): &(u32, u8)| arrays.homes[home as usize].1;
    if arrays.homes.iter().any(is_apart) || arrays.twins.keys().any(|key| of(key) != shared[0]) {
        return false;
    }
    let mut all = arrays.twins.clone();
    for (&mem, &home) in homes {
        let is_filled = is_filled(mem);
        for &array in &shared[1..] {
            *all.entry((home, array)).or_default() |= is_filled;
        }
    }
    let fits = arrays.homes.len() + all.len() <= MAX_HOMES;
    if fits {
        arrays.twins = all;
    }
    fits
}

/// The objects of which nobody knows the contents behind a function that is called once.
pub fn forgotten(module: &Module, func: Func) -> BTreeSet<Mem> {
    let locals = module.functions[func].mems.iter();
    let locals = locals.filter(|(_, data)| data.storage == Storage::Own).map(|(mem, _)| mem);
    promote::own_objects(module, func).into_keys().chain(locals).collect()
}
