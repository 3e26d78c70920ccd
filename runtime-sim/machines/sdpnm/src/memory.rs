//! The memory of data as the core sees it: bytes from its first address on, as many as are used.

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_isa_sdpnm::core::memory::{ALIGNMENT, DATA};

use crate::Fault;

/// Memory with its contents.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    bytes: Vec<u8>,
}

impl Memory {
    /// The memory of a program before its call.
    pub fn new(program: &CoreProgram) -> Result<Memory, Fault> {
        let mut memory = Memory::default();
        let ends = program.data.iter().map(|data| data.address + data.bytes.len() as u64);
        let end = ends.max().unwrap_or(0).max(program.frame.free().unwrap_or(u32::MAX).into());
        memory.reach(program, end)?;
        for data in &program.data {
            let at = (data.address - u64::from(DATA)) as usize;
            memory.bytes[at..at + data.bytes.len()].copy_from_slice(&data.bytes);
        }
        Ok(memory)
    }

    /// Makes the memory end at an address at least.
    fn reach(&mut self, program: &CoreProgram, end: u64) -> Result<(), Fault> {
        let most = program.machine.memory_bytes();
        if end > most {
            return Err(Fault::Full { bytes: most });
        }
        let bytes = end.saturating_sub(DATA.into());
        if bytes > self.bytes.len() as u64 {
            if !nbcc_base::has_room(bytes) {
                return Err(Fault::HostMemory { bytes });
            }
            match self.bytes.is_empty() {
                // Pages that nothing touches cost nothing.
                true => self.bytes = vec![0; bytes as usize],
                false => self.bytes.resize(bytes as usize, 0),
            }
        }
        Ok(())
    }

    /// Puts bytes behind all others; the address of the first.
    pub fn place(&mut self, program: &CoreProgram, bytes: &[u8]) -> Result<u32, Fault> {
        let at = self.bytes.len().next_multiple_of(ALIGNMENT as usize) as u64;
        self.reach(program, u64::from(DATA) + at + bytes.len() as u64)?;
        self.bytes[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        Ok(DATA + at as u32)
    }

    /// The bytes from an address on.
    pub fn get(&self, address: u32, bytes: u32) -> Option<&[u8]> {
        let at = address.wrapping_sub(DATA) as usize;
        self.bytes.get(at..at.checked_add(bytes as usize)?)
    }

    /// Writes as many bytes from an address on as there are.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Option<()> {
        let at = address.wrapping_sub(DATA) as usize;
        self.bytes.get_mut(at..at.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        Some(())
    }

    /// As many bytes from an address on.
    #[inline]
    pub fn load<const N: usize>(&self, address: u32) -> Option<[u8; N]> {
        let at = address.wrapping_sub(DATA) as usize;
        self.bytes.get(at..at + N)?.try_into().ok()
    }

    /// Writes bytes from an address on.
    #[inline]
    pub fn store<const N: usize>(&mut self, address: u32, bytes: [u8; N]) -> Option<()> {
        let at = address.wrapping_sub(DATA) as usize;
        self.bytes.get_mut(at..at + N)?.copy_from_slice(&bytes);
        Some(())
    }

    /// A word.
    pub fn word(&self, address: u32) -> Option<u32> {
        self.load(address).map(u32::from_le_bytes)
    }

    /// Writes a word.
    pub fn set_word(&mut self, address: u32, word: u32) -> Option<()> {
        self.store(address, word.to_le_bytes())
    }
}
