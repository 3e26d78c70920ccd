//! Memory of the machine as an instruction sees it: all of it, or, where several cores go ahead at once,
//! what it was before them, with a log of what is stored, or, where blocks do, with what they store over
//! it.

use crate::machine::ahead::{Ahead, Change};
use crate::memory::{AccessError, Memory};

/// What was stored and is still to come to memory, in its order.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Address and length of each store.
    places: Vec<(u64, u32)>,
    /// What they store, one after another.
    bytes: Vec<u8>,
}

impl Log {
    /// Whether nothing was stored.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// First and last byte that were stored to, all between them included.
    pub fn range(&self) -> Option<(u64, u64)> {
        let first = self.places.iter().map(|place| place.0).min()?;
        let last = self.places.iter().map(|place| place.0 + u64::from(place.1) - 1).max()?;
        Some((first, last))
    }

    /// Does the stores.
    ///
    /// # Panics
    /// A place that was there when it was logged is not any more.
    pub fn apply(&mut self, memory: &mut Memory, near: &mut usize) {
        let mut from = 0;
        for (address, len) in self.places.drain(..) {
            let len = len as usize;
            let place = memory.write(address, len, near).expect("a place that was looked at");
            place.copy_from_slice(&self.bytes[from..from + len]);
            from += len;
        }
        self.bytes.clear();
    }
}

/// Memory of the machine.
#[derive(Debug)]
pub enum View<'a> {
    /// All of it.
    Whole(&'a mut Memory),
    /// What it was, while others see it too. What is stored is not seen in it.
    Before(&'a Memory, &'a mut Log),
    /// What it was, while others see it too, with what is stored over it.
    Ahead(&'a Memory, &'a mut Ahead),
}

impl View<'_> {
    /// The same for a while.
    #[inline]
    pub fn again(&mut self) -> View<'_> {
        match self {
            View::Whole(memory) => View::Whole(memory),
            View::Before(memory, log) => View::Before(memory, log),
            View::Ahead(memory, ahead) => View::Ahead(memory, ahead),
        }
    }

    /// Which allocations are there.
    #[inline]
    fn memory(&self) -> &Memory {
        match self {
            View::Whole(memory) => memory,
            View::Before(memory, _) | View::Ahead(memory, _) => memory,
        }
    }

    /// All of it, to be changed.
    ///
    /// # Panics
    /// It is not all that there is.
    pub fn whole(&mut self) -> &mut Memory {
        match self {
            View::Whole(memory) => memory,
            View::Before(..) | View::Ahead(..) => panic!("memory that others see too"),
        }
    }

    /// As [`Memory::read`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn read(
        &mut self,
        address: u64,
        bytes: usize,
        near: &mut usize,
    ) -> Result<&[u8], AccessError> {
        match self {
            View::Whole(memory) => memory.read(address, bytes, near),
            View::Before(memory, _) => memory.read(address, bytes, near),
            View::Ahead(memory, ahead) => ahead.read(memory, address, bytes, near),
        }
    }

    /// What is written next depends on what these bytes hold.
    #[inline]
    pub fn see(&mut self, address: u64, bytes: usize, near: &mut usize) {
        if let View::Ahead(memory, ahead) = self {
            // What is wrong with the access is told when it writes.
            let _ = ahead.read(memory, address, bytes, near);
        }
    }

    /// Makes a change later whose result nobody looks at, if that is how this memory is changed.
    ///
    /// # Errors
    /// As of [`View::write`].
    pub fn change(
        &mut self,
        address: u64,
        change: Change,
        near: &mut usize,
    ) -> Result<bool, AccessError> {
        match self {
            View::Whole(_) | View::Before(..) => Ok(false),
            View::Ahead(memory, ahead) => {
                ahead.change(memory, address, change, near).map(|()| true)
            }
        }
    }

    /// As [`Memory::write`], for all of the bytes to be set: of a log they are not what memory holds.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn write(
        &mut self,
        address: u64,
        bytes: usize,
        near: &mut usize,
    ) -> Result<&mut [u8], AccessError> {
        match self {
            View::Whole(memory) => memory.write(address, bytes, near),
            View::Before(memory, log) => {
                memory.read(address, bytes, near)?;
                if memory.is_read_only(address) {
                    return Err(AccessError::ReadOnly);
                }
                let from = log.bytes.len();
                log.places.push((address, bytes as u32));
                log.bytes.resize(from + bytes, 0);
                Ok(&mut log.bytes[from..])
            }
            View::Ahead(memory, ahead) => ahead.write(memory, address, bytes, near),
        }
    }

    /// As [`Memory::nearest`].
    pub fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        self.memory().nearest(address)
    }

    /// As [`Memory::is_read_only`].
    pub fn is_read_only(&self, address: u64) -> bool {
        self.memory().is_read_only(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_comes_later() {
        let mut memory = Memory::new(1 << 20);
        let place = memory.allocate(16, false).unwrap();
        let constant = memory.allocate(16, true).unwrap();
        let (mut log, mut near) = (Log::default(), 0);
        let mut view = View::Before(&memory, &mut log);
        view.write(place, 4, &mut near).unwrap().copy_from_slice(&[1; 4]);
        view.again().write(place + 2, 2, &mut near).unwrap().copy_from_slice(&[2; 2]);
        assert_eq!(view.write(constant, 4, &mut near), Err(AccessError::ReadOnly));
        assert_eq!(view.write(place + 14, 4, &mut near), Err(AccessError::OutOfBounds));
        assert_eq!(view.read(place, 4, &mut near), Ok(&[0; 4][..]));
        assert_eq!(log.range(), Some((place, place + 3)));
        log.apply(&mut memory, &mut near);
        assert_eq!(memory.read(place, 5, &mut near), Ok(&[1, 1, 2, 2, 0][..]));
        assert!(log.is_empty());
    }
}
