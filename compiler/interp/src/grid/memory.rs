//! The memory of a machine as the threads of a grid see it: allocations in one global space, where
//! the data objects lie as well, and windows onto the other spaces at generic addresses.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Module, Object, RelocationTarget, Space, function_address};

use super::fault::FaultKind;
use super::local::LocalMemory;

/// Generic addresses of shared memory begin here.
pub const SHARED_WINDOW: u64 = 0x7f00_0000_0000_0000;
/// Generic addresses of local memory begin here.
pub const LOCAL_WINDOW: u64 = 0x7e00_0000_0000_0000;
/// Generic addresses of parameters begin here.
pub const PARAM_WINDOW: u64 = 0x7d00_0000_0000_0000;
/// Bytes of each window.
pub const WINDOW_BYTES: u64 = 1 << 32;
/// The first address of global memory.
const FIRST: u64 = 1 << 16;
/// Allocations begin at multiples of this, with as much room between them at least.
const STEP: u64 = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Allocation {
    bytes: Vec<u8>,
    read_only: bool,
}

/// Global memory: allocations by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridMemory {
    allocations: BTreeMap<u64, Allocation>,
    objects: SecondaryMap<Object, u64>,
    next: u64,
}

impl GridMemory {
    /// Memory that holds the global and constant objects of a module.
    ///
    /// # Errors
    /// An object that is larger than the host's memory allows, or contents with the address of what
    /// has none.
    pub fn new(module: &Module) -> Result<GridMemory, FaultKind> {
        let objects = SecondaryMap::new();
        let mut memory = GridMemory { allocations: BTreeMap::new(), objects, next: FIRST };
        let placed = |space| matches!(space, Space::Global | Space::Const);
        for (id, object) in &module.objects {
            if !placed(object.space) {
                continue;
            }
            let size = usize::try_from(object.size).ok().filter(|&size| size <= 1 << 34);
            let size = size.filter(|&size| nbcc_base::has_room(size as u64)).ok_or_else(|| {
                FaultKind::Launch(format!("@{} is larger than memory", object.name))
            })?;
            let mut bytes = vec![0; size];
            bytes[..object.bytes.len()].copy_from_slice(&object.bytes);
            let address = memory.place(bytes, object.align.into(), object.space == Space::Const);
            memory.objects[id] = address;
        }
        for (id, object) in &module.objects {
            for relocation in &object.relocations {
                let address = match relocation.target {
                    RelocationTarget::Object(to) | RelocationTarget::Generic(to) => {
                        if !placed(module.objects[to].space) {
                            let message = format!("@{} holds the address of no data", object.name);
                            return Err(FaultKind::Launch(message));
                        }
                        memory.objects[to]
                    }
                    RelocationTarget::Function(to) => function_address(to),
                };
                let value = address.wrapping_add(relocation.addend as u64) >> relocation.shift;
                let at = relocation.offset as usize;
                let width = usize::from(relocation.width);
                let home = memory.objects[id];
                if let Some(allocation) = memory.allocations.get_mut(&home) {
                    let to = &mut allocation.bytes[at..at + width];
                    to.copy_from_slice(&value.to_le_bytes()[..width]);
                }
            }
        }
        Ok(memory)
    }

    fn place(&mut self, bytes: Vec<u8>, align: u64, read_only: bool) -> u64 {
        let address = self.next.next_multiple_of(align.max(STEP));
        self.next = address + (bytes.len() as u64).next_multiple_of(STEP) + STEP;
        self.allocations.insert(address, Allocation { bytes, read_only });
        address
    }

    /// Zeroed memory of that size; its address.
    pub fn allocate(&mut self, bytes: usize) -> u64 {
        self.place(vec![0; bytes], STEP, false)
    }

    /// Memory with these contents; its address.
    pub fn allocate_with(&mut self, bytes: Vec<u8>) -> u64 {
        self.place(bytes, STEP, false)
    }

    /// The address of a global or constant object.
    pub fn object(&self, object: Object) -> u64 {
        self.objects[object]
    }

    /// The contents of the allocation or object at an address; empty where none begins there.
    pub fn bytes(&self, address: u64) -> &[u8] {
        self.allocations.get(&address).map_or(&[], |allocation| &allocation.bytes)
    }

    /// Frees the allocation or object at an address and gives its contents; empty where there is
    /// none.
    pub fn take(&mut self, address: u64) -> Vec<u8> {
        self.allocations.remove(&address).map_or_else(Vec::new, |allocation| allocation.bytes)
    }

    /// The contents of the allocation or object at an address, for change.
    pub fn bytes_mut(&mut self, address: u64) -> &mut [u8] {
        self.allocations.get_mut(&address).map_or(&mut [], |allocation| &mut allocation.bytes)
    }

    /// Whether an address is that of a constant object.
    pub(super) fn is_read_only(&self, address: u64) -> bool {
        let found = self.allocations.range(..=address).next_back();
        found.is_some_and(|(start, allocation)| {
            allocation.read_only && address - start < allocation.bytes.len() as u64
        })
    }

    pub(super) fn slice(&self, address: u64, count: u64) -> Option<&[u8]> {
        let (start, allocation) = self.allocations.range(..=address).next_back()?;
        let from = (address - start) as usize;
        allocation.bytes.get(from..from.checked_add(count as usize)?)
    }

    pub(super) fn slice_mut(
        &mut self,
        address: u64,
        count: u64,
    ) -> Result<Option<&mut [u8]>, FaultKind> {
        let Some((start, allocation)) = self.allocations.range_mut(..=address).next_back() else {
            return Ok(None);
        };
        let from = (address - start) as usize;
        let end = from.saturating_add(count as usize);
        if allocation.read_only && end <= allocation.bytes.len() {
            return Err(FaultKind::ReadOnly { address });
        }
        Ok(allocation.bytes.get_mut(from..end))
    }
}

/// What a thread can reach.
pub(super) struct View<'a> {
    pub global: &'a mut GridMemory,
    pub shared: &'a mut [u8],
    pub local: &'a mut LocalMemory,
    pub params: &'a [u8],
}

/// The space that a generic address points to, and the address there.
pub(super) fn resolve(space: Space, address: u64) -> (Space, u64) {
    if space != Space::Generic {
        return (space, address);
    }
    for (window, space) in
        [(SHARED_WINDOW, Space::Shared), (LOCAL_WINDOW, Space::Local), (PARAM_WINDOW, Space::Param)]
    {
        if (window..window + WINDOW_BYTES).contains(&address) {
            return (space, address - window);
        }
    }
    (Space::Global, address)
}

/// Where the window of a space begins; `None` for the spaces whose addresses are generic ones.
pub(super) fn window(space: Space) -> Option<u64> {
    match space {
        Space::Shared => Some(SHARED_WINDOW),
        Space::Local => Some(LOCAL_WINDOW),
        Space::Param => Some(PARAM_WINDOW),
        Space::Global | Space::Const | Space::Generic => None,
    }
}

/// An address in the memory of a block or thread: they have 32 bits, so a sum with an offset wraps.
fn low(address: u64) -> u64 {
    address & u64::from(u32::MAX)
}

fn part(bytes: &[u8], address: u64, count: u64) -> Option<&[u8]> {
    let from = usize::try_from(address).ok()?;
    bytes.get(from..from.checked_add(count as usize)?)
}

impl View<'_> {
    fn check(space: Space, address: u64, count: u64) -> Result<(), FaultKind> {
        if count.is_power_of_two() && !address.is_multiple_of(count) {
            return Err(FaultKind::Misaligned { space, address, bytes: count });
        }
        Ok(())
    }

    /// The bytes of an aligned access.
    pub fn read(&self, space: Space, address: u64, count: u64) -> Result<&[u8], FaultKind> {
        let (space, address) = resolve(space, address);
        View::check(space, address, count)?;
        let found = match space {
            Space::Global | Space::Const | Space::Generic => self.global.slice(address, count),
            Space::Shared => part(self.shared, low(address), count),
            Space::Local => self.local.read(low(address), count),
            Space::Param => part(self.params, low(address), count),
        };
        found.ok_or(FaultKind::OutOfBounds { space, address, bytes: count })
    }

    /// The bytes of an aligned access that writes.
    pub fn write(
        &mut self,
        space: Space,
        address: u64,
        count: u64,
    ) -> Result<&mut [u8], FaultKind> {
        let (space, address) = resolve(space, address);
        View::check(space, address, count)?;
        let within = |bytes: &[u8]| part(bytes, low(address), count).is_some();
        let from = low(address) as usize;
        let range = from..from.saturating_add(count as usize);
        let found = match space {
            Space::Global | Space::Generic => self.global.slice_mut(address, count)?,
            Space::Shared if within(self.shared) => Some(&mut self.shared[range]),
            Space::Local => self.local.write(low(address), count),
            Space::Param | Space::Const => return Err(FaultKind::ReadOnly { address }),
            Space::Shared => None,
        };
        found.ok_or(FaultKind::OutOfBounds { space, address, bytes: count })
    }

    /// The bytes of a text up to the zero that ends it.
    pub fn bytes_of_text(&self, address: u64) -> Result<Vec<u8>, FaultKind> {
        let mut bytes = Vec::new();
        for at in 0..1 << 16 {
            match self.read(Space::Generic, address.wrapping_add(at), 1)? {
                [0] => break,
                byte => bytes.extend_from_slice(byte),
            }
        }
        Ok(bytes)
    }

    /// A text for a message.
    pub fn text(&self, address: u64) -> Result<String, FaultKind> {
        Ok(String::from_utf8_lossy(&self.bytes_of_text(address)?).into_owned())
    }
}

/// A little-endian number of up to 8 bytes.
pub(super) fn word(bytes: &[u8]) -> u64 {
    let mut out = [0; 8];
    out[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(out)
}
