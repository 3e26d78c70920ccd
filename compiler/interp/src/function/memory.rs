//! Memory of a run: arrays for memory objects, bytes for raw addresses.

use std::collections::BTreeMap;

use nbcc_analysis::Lanes;
use nbcc_ir::{Function, MemData, Scalar, Space, Type};

use super::TrapKind;

/// The contents of a memory object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of its elements.
    pub element: Scalar,
    /// Elements along each dimension, the fastest first.
    pub extents: Vec<u32>,
    /// The bits of each element, the fastest dimension first.
    pub data: Vec<u64>,
    /// Which elements have a value.
    pub written: Vec<bool>,
}

impl Array {
    /// An array whose elements are all given. Panics where their number is not that of the
    /// extents.
    pub fn new(element: Scalar, extents: &[u32], data: Vec<u64>) -> Array {
        let size: u64 = extents.iter().map(|&e| u64::from(e)).product();
        assert_eq!(data.len() as u64, size, "elements for {extents:?}");
        Array { element, extents: extents.to_vec(), written: vec![true; data.len()], data }
    }

    /// An array of `f32`.
    pub fn f32s(extents: &[u32], data: &[f32]) -> Array {
        let bits = data.iter().map(|x| u64::from(x.to_bits())).collect();
        Array::new(Scalar::F32, extents, bits)
    }

    /// An array of `i32`.
    pub fn i32s(extents: &[u32], data: &[i32]) -> Array {
        let bits = data.iter().map(|&x| u64::from(x as u32)).collect();
        Array::new(Scalar::I32, extents, bits)
    }

    /// Zeros of the declared form that count as never written. Panics on a form too large for the
    /// address space, and where an extent is a parameter.
    pub fn unwritten(mem: &MemData) -> Array {
        let extents = mem.fixed_extents().expect("fixed extents");
        let size: u64 = extents.iter().map(|&e| u64::from(e)).product();
        let size = usize::try_from(size).expect("an array fits the address space");
        Array { element: mem.element, extents, data: vec![0; size], written: vec![false; size] }
    }

    /// An array of elements as they lie in memory, little endian, the rest of the extents zero; `None`
    /// where the system has no memory for it. Panics where there are more than the extents say.
    pub fn from_bytes(element: Scalar, extents: &[u32], bytes: &[u8]) -> Option<Array> {
        let size = usize::try_from(elements(extents)).ok()?;
        let (mut data, mut written) = (Vec::new(), Vec::new());
        data.try_reserve_exact(size).ok()?;
        written.try_reserve_exact(size).ok()?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b));
        data.extend(bytes.chunks(element.bytes() as usize).map(word));
        assert!(data.len() <= size, "elements for {extents:?}");
        data.resize(size, 0);
        written.resize(size, true);
        Some(Array { element, extents: extents.to_vec(), data, written })
    }

    /// The elements as they lie in memory, little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let width = self.element.bytes() as usize;
        self.data.iter().flat_map(|word| word.to_le_bytes().into_iter().take(width)).collect()
    }

    /// The index of the first of `lanes` consecutive elements; none where one is outside.
    pub fn index(&self, subscripts: &[i64], lanes: u8) -> Option<usize> {
        let mut index = 0u64;
        for (dim, (&at, &extent)) in subscripts.iter().zip(&self.extents).enumerate().rev() {
            let last = at.checked_add(if dim == 0 { i64::from(lanes) - 1 } else { 0 })?;
            if at < 0 || last >= i64::from(extent) {
                return None;
            }
            index = index * u64::from(extent) + at as u64;
        }
        Some(index as usize)
    }
}

/// The elements of an array.
pub(super) fn elements(extents: &[u32]) -> u64 {
    extents.iter().fold(1, |all: u64, &extent| all.saturating_mul(extent.into()))
}

/// Everything a run reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Arrays, those with a name first: `names` says which. Those of called functions follow
    /// while they run.
    pub(super) arrays: Vec<Array>,
    names: BTreeMap<String, usize>,
    /// Raw memory of each space, from address 0, little endian.
    pub raw: BTreeMap<Space, Vec<u8>>,
}

impl Memory {
    /// Memory without contents.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Memory with an unwritten array for each memory object of a function.
    pub fn for_function(func: &Function) -> Memory {
        let mut memory = Memory::new();
        for mem in func.mems.values() {
            memory.insert(&mem.name, Array::unwritten(mem));
        }
        memory
    }

    /// Gives the memory object of that name its contents.
    pub fn insert(&mut self, name: &str, array: Array) {
        match self.names.get(name) {
            Some(&index) => self.arrays[index] = array,
            None => {
                self.names.insert(name.to_string(), self.arrays.len());
                self.arrays.push(array);
            }
        }
    }

    /// The contents of the memory object of that name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.names.get(name).map(|&index| &self.arrays[index])
    }

    /// The contents of the memory object of that name, for change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Array> {
        self.names.get(name).map(|&index| &mut self.arrays[index])
    }

    /// The names of all objects.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Reads raw memory.
    pub fn load_raw(&self, ty: Type, space: Space, address: i128) -> Result<Lanes, TrapKind> {
        let size = ty.scalar.bytes() as usize;
        let bytes = u32::from(ty.lanes) * size as u32;
        let fault = || TrapKind::OutOfSpace { space, address, bytes };
        let start = usize::try_from(address).map_err(|_| fault())?;
        let end = start.checked_add(bytes as usize).ok_or_else(fault)?;
        let raw = self.raw.get(&space).and_then(|raw| raw.get(start..end)).ok_or_else(fault)?;
        Ok(Lanes::from_fn(ty, |lane| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(&raw[lane * size..][..size]);
            u64::from_le_bytes(word)
        }))
    }

    /// Writes raw memory.
    pub fn store_raw(
        &mut self,
        space: Space,
        address: i128,
        value: &Lanes,
    ) -> Result<(), TrapKind> {
        let size = value.ty().scalar.bytes() as usize;
        let bytes = u32::from(value.ty().lanes) * size as u32;
        let fault = || TrapKind::OutOfSpace { space, address, bytes };
        let start = usize::try_from(address).map_err(|_| fault())?;
        let end = start.checked_add(bytes as usize).ok_or_else(fault)?;
        let raw = self.raw.get_mut(&space).and_then(|raw| raw.get_mut(start..end));
        for (to, &word) in raw.ok_or_else(fault)?.chunks_mut(size).zip(value.bits()) {
            to.copy_from_slice(&word.to_le_bytes()[..size]);
        }
        Ok(())
    }
}
