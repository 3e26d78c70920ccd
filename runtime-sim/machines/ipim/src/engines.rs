//! Sets of engines, bit by engine, and the addresses that engines have.

use crate::alu::{ENGINES, Words};
use crate::fault::{FaultKind, Unit};

/// The engines of a mask, in ascending order.
#[inline(always)]
pub fn engines(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let engine = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (engine < ENGINES).then_some(engine)
    })
}

/// Calls `f` with the engines of a mask, in ascending order; fastest where it is all.
#[inline(always)]
pub fn for_each_engine(mask: u32, mut f: impl FnMut(usize)) {
    if mask == u32::MAX {
        for engine in 0..ENGINES {
            f(engine);
        }
    } else {
        for engine in engines(mask) {
            f(engine);
        }
    }
}

/// What a memory asks of an address.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The memory.
    pub unit: Unit,
    /// A power of two that addresses are multiples of.
    pub multiple: u32,
    /// Bytes that are accessed.
    pub bytes: u32,
    /// Bytes of the memory.
    pub size: u32,
}

impl Rule {
    #[inline]
    fn allows(self, address: u32) -> bool {
        address & (self.multiple - 1) == 0
            && self.size >= self.bytes
            && address <= self.size - self.bytes
    }

    /// Checks an address, of an engine or of the instruction.
    ///
    /// # Errors
    /// The fault of accessing it.
    #[inline]
    pub fn check(self, address: u32, engine: Option<u32>) -> Result<(), Box<FaultKind>> {
        if self.allows(address) { Ok(()) } else { Err(self.fault(address, engine)) }
    }

    #[cold]
    fn fault(self, address: u32, engine: Option<u32>) -> Box<FaultKind> {
        let Rule { unit, multiple, size, .. } = self;
        Box::new(if address & (multiple - 1) != 0 {
            FaultKind::Misaligned { unit, address, multiple, engine }
        } else {
            FaultKind::OutOfRange { unit, address, size, engine }
        })
    }

    /// Checks the addresses of the engines of `mask`, and tells whether they are the same.
    ///
    /// # Errors
    /// The fault of the first engine that has one.
    #[inline(always)]
    pub fn check_each(self, addresses: &Words, mask: u32) -> Result<bool, Box<FaultKind>> {
        // One look at what all have together, without a branch for each.
        let first = addresses[mask.trailing_zeros() as usize % ENGINES];
        let (mut bits, mut most, mut differ) = (0, 0, 0);
        for_each_engine(mask, |engine| {
            let address = addresses[engine];
            bits |= address;
            most = most.max(address);
            differ |= address ^ first;
        });
        if bits & (self.multiple - 1) != 0 || !self.allows(most) {
            for engine in engines(mask) {
                self.check(addresses[engine], Some(engine as u32))?;
            }
        }
        Ok(differ == 0)
    }
}
