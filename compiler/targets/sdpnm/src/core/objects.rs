//! Where memory objects lie. Each begins at a multiple of a page, so that one `lui` makes its address.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Function, InterfaceParam, Mem, MemData, Module, Object, Storage};
use nbcc_isa::Signature;
use nbcc_isa::container::Data;
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::core::arrays::{WINDOW, WINDOW_BYTES};
use nbcc_isa_sdpnm::core::memory::{DATA, MAX_FRAME, PAGE, argument_offsets};
use nbcc_isa_sdpnm::core::{Area, Frame, Home, Homed};

use crate::arrays::Arrays;

/// Where an object begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this address.
    At(u32),
    /// At the address that lies there in the frame, with its elements, and then its extents, the
    /// slowest first.
    Argument(u32),
}

/// Where everything lies.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Each memory object of the function.
    pub places: SecondaryMap<Mem, Option<Place>>,
    /// Data with contents.
    pub data: Vec<Data>,
    /// Variables, and the frame.
    pub frame: Frame,
    /// What lies in shared memories.
    pub homes: Vec<Home>,
    /// Where the scalar arguments lie in the frame.
    pub scalars: Vec<u32>,
    /// Where the values of traps lie in the frame.
    pub traps: u32,
    /// Where spilled values may lie in the frame.
    pub slots: std::ops::Range<u32>,
}

/// The parameters of a function.
fn parameters(func: &Function) -> impl Iterator<Item = &InterfaceParam> {
    func.interface.iter().flat_map(|interface| &interface.params)
}

/// The number of the parameter that is an array.
fn parameter(func: &Function, mem: Mem) -> Option<usize> {
    let is_it = |param: &InterfaceParam| param.array.as_ref().is_some_and(|array| array.mem == mem);
    parameters(func).position(is_it)
}

/// Gives every object of a function its place.
///
/// # Errors
/// What there is no room for.
pub fn place(
    module: &Module,
    func: &Function,
    signature: &Signature,
    machine: &Machine,
    arrays: &Arrays,
) -> Result<Objects, String> {
    let mut objects = Objects::default();
    let memory = machine.memory_bytes();
    let mut next = u64::from(DATA);
    let mut take = |bytes: u64| {
        let address = next;
        // What `lui` makes.
        let page = u64::from(PAGE);
        next = next.saturating_add(bytes).saturating_add(page - 1) / page * page;
        match next <= memory {
            true => Ok(address as u32),
            false => Err(format!("variables take more than the {memory} bytes of the memory")),
        }
    };
    // Module objects with contents come first, since the binary has them in one piece.
    let mut shared: BTreeMap<Object, u32> = BTreeMap::new();
    let used = |mem: &MemData| match mem.storage {
        Storage::Object(object) => Some(object),
        _ => None,
    };
    let mut bytes = Vec::new();
    for object in func.mems.values().filter_map(used) {
        let data = &module.objects[object];
        if shared.contains_key(&object) || data.bytes.iter().all(|byte| *byte == 0) {
            continue;
        }
        let address = take(data.size)?;
        shared.insert(object, address);
        let at = (address - DATA) as usize;
        bytes.resize(at, 0);
        bytes.extend_from_slice(&data.bytes);
    }
    if !bytes.is_empty() {
        objects.data.push(Data { name: ".data".into(), address: DATA.into(), bytes });
    }
    let first = take(0)?;
    let (offsets, end) = argument_offsets(signature);
    let argument = |mem| parameter(func, mem).map(|number| Place::Argument(offsets[number]));
    for (mem, data) in &func.mems {
        let size = |count: u64| count * u64::from(data.element.bytes());
        objects.places[mem] = match data.storage {
            Storage::Param => argument(mem),
            Storage::Object(object) => Some(Place::At(match shared.get(&object) {
                Some(&address) => address,
                None => {
                    let address = take(module.objects[object].size)?;
                    shared.insert(object, address);
                    address
                }
            })),
            Storage::Own => {
                let extents = data.fixed_extents();
                let extents = extents.ok_or(format!("`{}` has no fixed extents", data.name))?;
                let count = extents.iter().fold(1_u64, |all, &n| all.saturating_mul(n.into()));
                Some(Place::At(take(size(count.min(1 << 40)))?))
            }
        };
    }
    give_homes(&mut objects, module, func, machine, arrays)?;
    let last = take(0)?;
    objects.frame.zeroed = Area { address: first, bytes: last - first };
    let scalars = parameters(func).zip(&offsets).filter(|(param, _)| param.array.is_none());
    objects.scalars = scalars.map(|(_, &offset)| offset).collect();
    let rank = func.mems.values().map(|mem| mem.extents.len()).max().unwrap_or(0) as u32;
    objects.traps = end;
    let slots = end.saturating_add(rank.saturating_mul(4)).saturating_add(7) & !7;
    if slots > PAGE / 2 {
        return Err("its parameters take too much of the frame".into());
    }
    objects.slots = slots..MAX_FRAME;
    objects.frame.frame = Area { address: take(PAGE.into())?, bytes: PAGE };
    Ok(objects)
}

/// What has a home is reached there, and its first contents come from the memory.
fn give_homes(
    objects: &mut Objects,
    module: &Module,
    func: &Function,
    machine: &Machine,
    arrays: &Arrays,
) -> Result<(), String> {
    let mut ends: BTreeMap<u8, u32> = BTreeMap::new();
    for &(mem, array) in &arrays.homes {
        let data = &func.mems[mem];
        let bytes = match data.storage {
            Storage::Param => {
                let number = parameter(func, mem).unwrap_or(0) as u32;
                objects.homes.push(Home { array, what: Homed::Parameter(number) });
                continue;
            }
            Storage::Object(object) => module.objects[object].size as u32,
            Storage::Own => {
                let extents = data.fixed_extents().unwrap_or_default();
                extents.iter().product::<u32>() * data.element.bytes()
            }
        };
        let Some(Place::At(address)) = objects.places[mem] else { continue };
        let end = ends.entry(array).or_default();
        let at = *end;
        *end = (at + bytes).next_multiple_of(machine.home_alignment());
        if *end > machine.shared_bytes() {
            return Err(format!("`{}` does not fit the memory of its array", data.name));
        }
        let from = Area { address, bytes };
        objects.homes.push(Home { array, what: Homed::Object { from, at } });
        let window = WINDOW + u32::from(array) * WINDOW_BYTES;
        objects.places[mem] = Some(Place::At(window + at));
    }
    let twin = |(&(of, array), &filled): (&(u32, u8), &bool)| Home {
        array,
        what: Homed::Twin { of, filled },
    };
    objects.homes.extend(arrays.twins.iter().map(twin));
    Ok(())
}
