//! Memory of the machine: allocations with bounds. An access that does not lie in one allocation,
//! or that is misaligned, is a fault. Memory is zero until it is written.

use std::hint::black_box;

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// It is not, or not whole, in an allocation.
    #[error("out of bounds")]
    OutOfBounds,
    /// Its address is no multiple of its size.
    #[error("misaligned")]
    Misaligned,
    /// It writes what may only be read.
    #[error("write to constant data")]
    ReadOnly,
}

/// Why memory cannot be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfMemory {
    /// The machine has no more.
    #[error("{wanted} bytes are wanted, but only {free} of {limit} are free")]
    Machine {
        /// Bytes that were asked for.
        wanted: u64,
        /// Bytes that are left.
        free: u64,
        /// Bytes there may be in all.
        limit: u64,
    },
    /// The host has no more.
    #[error("{wanted} bytes are wanted, for which the host has no memory")]
    Host {
        /// Bytes that were asked for.
        wanted: u64,
    },
}

/// A piece of memory.
#[derive(Clone, Debug)]
struct Allocation {
    base: u64,
    bytes: Vec<u8>,
    read_only: bool,
}

/// Allocations by address. Addresses are not used again, so that what was freed stays out of
/// bounds.
#[derive(Clone, Debug)]
pub struct Memory {
    allocations: Vec<Allocation>,
    next: u64,
    limit: u64,
    used: u64,
}

/// Where the first allocation lies.
pub const FIRST_ADDRESS: u64 = 0x1_0000_0000;
/// Allocations begin at multiples of this, with at least as much of nothing between them.
pub const GRANULE: u64 = 1 << 16;

impl Memory {
    /// Memory without allocations that may hold `limit` bytes.
    pub fn new(limit: u64) -> Memory {
        Memory { allocations: Vec::new(), next: FIRST_ADDRESS, limit, used: 0 }
    }

    /// Bytes that are allocated.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Allocates zeroed bytes; the address is a multiple of [`GRANULE`].
    ///
    /// # Errors
    /// There are not so many left.
    pub fn allocate(&mut self, size: u64, read_only: bool) -> Result<u64, OutOfMemory> {
        self.check(size)?;
        let none = OutOfMemory::Host { wanted: size };
        let count = usize::try_from(size).map_err(|_| none)?;
        // Asked for and given back, since what follows may not fail.
        black_box(&mut Vec::<u8>::new()).try_reserve_exact(count).map_err(|_| none)?;
        // Untouched pages cost nothing: the host gives zeroed ones as they are used.
        Ok(self.place(vec![0; count], read_only))
    }

    /// Allocates memory that holds these bytes, without a copy of them.
    ///
    /// # Errors
    /// There are not so many left.
    pub fn adopt(&mut self, bytes: Vec<u8>) -> Result<u64, OutOfMemory> {
        self.check(bytes.len() as u64)?;
        Ok(self.place(bytes, false))
    }

    fn check(&self, wanted: u64) -> Result<(), OutOfMemory> {
        let free = self.limit - self.used;
        match wanted > free {
            true => Err(OutOfMemory::Machine { wanted, free, limit: self.limit }),
            false => Ok(()),
        }
    }

    fn place(&mut self, bytes: Vec<u8>, read_only: bool) -> u64 {
        let (base, size) = (self.next, bytes.len() as u64);
        self.allocations.push(Allocation { base, bytes, read_only });
        self.next = base + size.next_multiple_of(GRANULE) + GRANULE;
        self.used += size;
        base
    }

    /// Frees the allocation that begins at `base` and gives its contents, if there is one.
    pub fn take(&mut self, base: u64) -> Option<Vec<u8>> {
        let index = self.allocations.binary_search_by_key(&base, |a| a.base).ok()?;
        let bytes = self.allocations.remove(index).bytes;
        self.used -= bytes.len() as u64;
        Some(bytes)
    }

    /// Frees the allocation that begins at `base`; tells whether there was one.
    pub fn free(&mut self, base: u64) -> bool {
        self.take(base).is_some()
    }

    /// Address and size of each allocation, in ascending order.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.allocations.iter().map(|a| (a.base, a.bytes.len() as u64))
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        self.allocations.partition_point(|a| a.base <= address).checked_sub(1)
    }

    /// The bounds of the allocation that holds an address: base and size.
    pub fn allocation_of(&self, address: u64) -> Option<(u64, u64)> {
        let a = &self.allocations[self.index_of(address)?];
        let size = a.bytes.len() as u64;
        (address - a.base < size.max(1)).then_some((a.base, size))
    }

    /// The allocation nearest below an address: base and size, for messages.
    pub fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        let a = &self.allocations[self.index_of(address)?];
        Some((a.base, a.bytes.len() as u64))
    }

    /// Whether an address lies in data that may only be read.
    pub fn is_read_only(&self, address: u64) -> bool {
        self.allocation_of(address).is_some()
            && self.index_of(address).is_some_and(|index| self.allocations[index].read_only)
    }

    /// Where an access begins in its allocation, whose number is in `near` then.
    ///
    /// # Errors
    /// It is not in one allocation.
    #[inline]
    pub(crate) fn locate(
        &self,
        address: u64,
        bytes: usize,
        near: &mut usize,
    ) -> Result<usize, AccessError> {
        let inside = |a: &Allocation| {
            let offset = address.wrapping_sub(a.base);
            (offset < a.bytes.len() as u64).then_some(offset as usize)
        };
        let mut at = self.allocations.get(*near).and_then(inside);
        if at.is_none() {
            *near = self.index_of(address).ok_or(AccessError::OutOfBounds)?;
            at = inside(&self.allocations[*near]);
        }
        let offset = at.ok_or(AccessError::OutOfBounds)?;
        match offset + bytes <= self.allocations[*near].bytes.len() {
            true => Ok(offset),
            false => Err(AccessError::OutOfBounds),
        }
    }

    /// The same of one that writes.
    ///
    /// # Errors
    /// It is not in one allocation, or in one that may only be read.
    #[inline]
    pub(crate) fn locate_write(
        &self,
        address: u64,
        bytes: usize,
        near: &mut usize,
    ) -> Result<usize, AccessError> {
        let offset = self.locate(address, bytes, near)?;
        match self.allocations[*near].read_only {
            true => Err(AccessError::ReadOnly),
            false => Ok(offset),
        }
    }

    /// What an allocation holds.
    #[inline]
    pub(crate) fn contents(&self, number: usize) -> &[u8] {
        &self.allocations[number].bytes
    }

    /// The same, to be changed.
    pub(crate) fn contents_mut(&mut self, number: usize) -> &mut [u8] {
        &mut self.allocations[number].bytes
    }

    /// The bytes of an access. `near` remembers the allocation from call to call.
    ///
    /// # Errors
    /// It is not in one allocation.
    #[inline]
    pub fn read(&self, address: u64, bytes: usize, near: &mut usize) -> Result<&[u8], AccessError> {
        let offset = self.locate(address, bytes, near)?;
        Ok(&self.allocations[*near].bytes[offset..offset + bytes])
    }

    /// The bytes of an access, to be changed.
    ///
    /// # Errors
    /// It is not in one allocation, or in one that may only be read.
    #[inline]
    pub fn write(
        &mut self,
        address: u64,
        bytes: usize,
        near: &mut usize,
    ) -> Result<&mut [u8], AccessError> {
        let offset = self.locate_write(address, bytes, near)?;
        Ok(&mut self.allocations[*near].bytes[offset..offset + bytes])
    }

    /// The bytes of a copy by the host, which may write constant data too.
    ///
    /// # Errors
    /// It is not in one allocation.
    pub fn host_slice(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], AccessError> {
        let index = self.index_of(address).ok_or(AccessError::OutOfBounds)?;
        let a = &mut self.allocations[index];
        let offset = address - a.base;
        let end = offset.checked_add(bytes).filter(|end| *end <= a.bytes.len() as u64);
        let end = end.ok_or(AccessError::OutOfBounds)?;
        Ok(&mut a.bytes[offset as usize..end as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_stay_in_their_allocation() {
        let mut memory = Memory::new(1 << 20);
        let a = memory.allocate(100, false).unwrap();
        let b = memory.allocate(8, true).unwrap();
        let mut near = 0;
        memory.write(a + 96, 4, &mut near).unwrap().copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(memory.read(a + 96, 4, &mut near), Ok(&[1, 2, 3, 4][..]));
        assert_eq!(memory.read(a + 97, 4, &mut near), Err(AccessError::OutOfBounds));
        assert_eq!(memory.read(a - 1, 1, &mut near), Err(AccessError::OutOfBounds));
        assert_eq!(memory.read(0, 1, &mut near), Err(AccessError::OutOfBounds));
        assert_eq!(memory.read(u64::MAX, 8, &mut near), Err(AccessError::OutOfBounds));
        assert_eq!(memory.read(b, 8, &mut near), Ok(&[0; 8][..]));
        assert_eq!(memory.write(b, 8, &mut near), Err(AccessError::ReadOnly));
        memory.host_slice(b, 8).unwrap()[0] = 7;
        assert_eq!(memory.read(b, 1, &mut near), Ok(&[7][..]));
        assert!(memory.host_slice(b, 9).is_err());
        assert!(memory.is_read_only(b) && !memory.is_read_only(a));
        assert!(memory.free(a) && !memory.free(a));
        assert_eq!(memory.read(a, 1, &mut near), Err(AccessError::OutOfBounds));
    }

    #[test]
    fn memory_ends() {
        let mut memory = Memory::new(1000);
        memory.allocate(600, false).unwrap();
        let error = memory.allocate(600, false).unwrap_err();
        assert_eq!(error, OutOfMemory::Machine { wanted: 600, free: 400, limit: 1000 });
        assert!(memory.allocate(u64::MAX, false).is_err());
        let absurd = Memory::new(u64::MAX).allocate(1 << 62, false);
        assert_eq!(absurd, Err(OutOfMemory::Host { wanted: 1 << 62 }));
    }

    #[test]
    fn contents_come_and_go_without_a_copy() {
        let mut memory = Memory::new(1000);
        let base = memory.adopt(vec![1, 2, 3]).unwrap();
        memory.host_slice(base, 3).unwrap()[1] = 7;
        assert_eq!((memory.used(), memory.take(base)), (3, Some(vec![1, 7, 3])));
        assert_eq!((memory.used(), memory.take(base)), (0, None));
        assert!(memory.adopt(vec![0; 1001]).is_err());
    }
}
