//! Memory as blocks see it that run beside those before them in the order of the grid: what it was
//! before all of them, and over it what they store themselves. What they saw is noted by the byte, so
//! that it can be told afterwards whether blocks before them stored there: if none did, they did what
//! they would have done behind them. That is speculation on threads (Rauchwerger, Padua, "The LRPD Test:
//! Speculative Run-Time Parallelization of Loops", PLDI 1995).

use crate::atomic::{Operation, Type};
use crate::machine::access::atomic_result;
use crate::memory::{AccessError, Memory};

/// Bytes of a page, of which one is copied when it is stored to first.
const PAGE: usize = 1 << 9;

/// Bytes of a page, a bit each.
type Bytes = [u64; PAGE / 64];

/// Bits of words that stand for some bytes of a page.
#[inline]
fn words(at: usize, bytes: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = at + bytes;
    (at / 64..end.div_ceil(64)).map(move |word| {
        let from = at.saturating_sub(word * 64);
        let to = (end - word * 64).min(64);
        (word, (u64::MAX >> (64 - (to - from))) << from)
    })
}

/// The same of bytes of which all are in one word, as those of an access of a lane are.
#[inline]
fn word(at: usize, bytes: usize) -> Option<(usize, u64)> {
    let from = at % 64;
    (from + bytes <= 64).then(|| (at / 64, (u64::MAX >> (64 - bytes)) << from))
}

/// The pages of all allocations, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pages {
    /// The first page of each allocation.
    first: Vec<u32>,
    count: usize,
}

impl Pages {
    fn new(memory: &Memory) -> Pages {
        let (mut first, mut count) = (Vec::new(), 0);
        for (_, size) in memory.allocations() {
            first.push(count as u32);
            count += size.div_ceil(PAGE as u64) as usize;
        }
        Pages { first, count }
    }

    /// The allocation of a page, and where it begins in it.
    fn place(&self, page: u32) -> (usize, usize) {
        let allocation = self.first.partition_point(|first| *first <= page) - 1;
        (allocation, (page - self.first[allocation]) as usize * PAGE)
    }
}

/// Bytes that were stored to since a time.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// For each page its place among those that were stored to, from 1.
    places: Vec<u32>,
    pages: Vec<(u32, Bytes)>,
}

impl Written {
    /// None.
    pub fn new(memory: &Memory) -> Written {
        let mut none = Written::default();
        none.begin(memory);
        none
    }

    /// None of this memory, which may be another one than before.
    pub fn begin(&mut self, memory: &Memory) {
        self.clear();
        // Zeroed pages are the host's until they are used.
        let count = Pages::new(memory).count;
        if count > self.places.len() {
            self.places = vec![0; count];
        }
    }

    /// None any more.
    pub fn clear(&mut self) {
        for (page, _) in self.pages.drain(..) {
            self.places[page as usize] = 0;
        }
    }

    fn add(&mut self, page: u32, bytes: &Bytes) {
        let place = &mut self.places[page as usize];
        if *place == 0 {
            self.pages.push((page, [0; PAGE / 64]));
            *place = self.pages.len() as u32;
        }
        let into = &mut self.pages[*place as usize - 1].1;
        into.iter_mut().zip(bytes).for_each(|(into, bytes)| *into |= bytes);
    }

    fn meets(&self, page: u32, bytes: &Bytes) -> bool {
        let place = self.places[page as usize];
        place != 0 && {
            let written = &self.pages[place as usize - 1].1;
            written.iter().zip(bytes).any(|(written, bytes)| written & bytes != 0)
        }
    }
}

/// What is known of a page that was looked at.
#[derive(Clone, Debug)]
struct Page {
    number: u32,
    /// Where its contents are, from 1, once it was stored to.
    contents: u32,
    /// Bytes that were read as they were before.
    read: Bytes,
    /// Bytes that were stored to.
    written: Bytes,
    /// Bytes that are still to be changed.
    changed: Bytes,
}

/// A change of memory whose result nobody looks at.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// What is done.
    pub op: Operation,
    /// With a number of this type.
    pub ty: Type,
    /// Its bytes.
    pub bytes: usize,
    /// The operand.
    pub operand: u64,
}

/// What blocks saw and stored.
#[derive(Clone, Debug)]
pub struct Ahead {
    pages: Pages,
    /// For each page its place among those that were looked at, from 1.
    places: Vec<u32>,
    looked: Vec<Page>,
    contents: Vec<[u8; PAGE]>,
    /// Changes with their allocation and place in it, in their order.
    changes: Vec<(u32, u64, Change)>,
    /// Whether something was looked at that is still to be changed.
    lost: bool,
}

impl Ahead {
    /// Nothing yet.
    pub fn new(memory: &Memory) -> Ahead {
        let pages = Pages::new(memory);
        Ahead {
            places: vec![0; pages.count],
            pages,
            looked: Vec::new(),
            contents: Vec::new(),
            changes: Vec::new(),
            lost: false,
        }
    }

    /// Nothing of what this memory holds, which may be another one than before.
    pub fn begin(&mut self, memory: &Memory) {
        let pages = Pages::new(memory);
        if pages != self.pages {
            *self = Ahead::new(memory);
        }
        self.clear();
    }

    /// Nothing any more.
    pub fn clear(&mut self) {
        for page in self.looked.drain(..) {
            self.places[page.number as usize] = 0;
        }
        self.contents.clear();
        self.changes.clear();
        self.lost = false;
    }

    /// Whether it cannot be told what was looked at.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// The page of an access in an allocation, and where it begins in it. Accesses of a lane lie in one
    /// page, since they are multiples of their size; of those that do not it is not told.
    #[inline]
    fn page(
        &mut self,
        allocation: usize,
        offset: usize,
        bytes: usize,
    ) -> Result<(usize, usize), AccessError> {
        let at = offset % PAGE;
        if at + bytes > PAGE {
            return Err(AccessError::OutOfBounds);
        }
        let number = self.pages.first[allocation] + (offset / PAGE) as u32;
        let place = &mut self.places[number as usize];
        if *place == 0 {
            const NONE: Bytes = [0; PAGE / 64];
            let page = Page { number, contents: 0, read: NONE, written: NONE, changed: NONE };
            self.looked.push(page);
            *place = self.looked.len() as u32;
        }
        Ok((*place as usize - 1, at))
    }

    /// As [`Memory::read`] of what these blocks see.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn read<'a>(
        &'a mut self,
        memory: &'a Memory,
        address: u64,
        bytes: usize,
        near: &mut usize,
    ) -> Result<&'a [u8], AccessError> {
        let offset = memory.locate(address, bytes, near)?;
        let (place, at) = self.page(*near, offset, bytes)?;
        let page = &mut self.looked[place];
        let mut see = |(word, bits): (usize, u64)| {
            page.read[word] |= bits & !page.written[word];
            self.lost |= page.changed[word] & bits != 0;
        };
        match word(at, bytes) {
            Some(word) => see(word),
            None => words(at, bytes).for_each(see),
        }
        Ok(match page.contents {
            0 => &memory.contents(*near)[offset..offset + bytes],
            contents => &self.contents[contents as usize - 1][at..at + bytes],
        })
    }

    /// As [`Memory::write`], for all of the bytes to be set.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn write(
        &mut self,
        memory: &Memory,
        address: u64,
        bytes: usize,
        near: &mut usize,
    ) -> Result<&mut [u8], AccessError> {
        let offset = memory.locate_write(address, bytes, near)?;
        let (place, at) = self.page(*near, offset, bytes)?;
        let page = &mut self.looked[place];
        if page.contents == 0 {
            let held = &memory.contents(*near)[offset - at..];
            let count = held.len().min(PAGE);
            let mut contents = [0; PAGE];
            contents[..count].copy_from_slice(&held[..count]);
            self.contents.push(contents);
            page.contents = self.contents.len() as u32;
        }
        let mut store = |(word, bits): (usize, u64)| {
            page.written[word] |= bits;
            self.lost |= page.changed[word] & bits != 0;
        };
        match word(at, bytes) {
            Some(word) => store(word),
            None => words(at, bytes).for_each(store),
        }
        Ok(&mut self.contents[page.contents as usize - 1][at..at + bytes])
    }

    /// Changes memory, later unless these blocks have stored all that is changed.
    ///
    /// # Errors
    /// As of [`Memory::write`].
    pub fn change(
        &mut self,
        memory: &Memory,
        address: u64,
        change: Change,
        near: &mut usize,
    ) -> Result<(), AccessError> {
        let offset = memory.locate_write(address, change.bytes, near)?;
        let (place, at) = self.page(*near, offset, change.bytes)?;
        let page = &mut self.looked[place];
        let (mut any, mut all) = (false, true);
        for (word, bits) in words(at, change.bytes) {
            any |= page.written[word] & bits != 0;
            all &= page.written[word] & bits == bits;
        }
        if all {
            let contents = &mut self.contents[page.contents as usize - 1];
            change.apply(&mut contents[at..at + change.bytes]);
            return Ok(());
        }
        self.lost |= any;
        words(at, change.bytes).for_each(|(word, bits)| page.changed[word] |= bits);
        self.changes.push((*near as u32, offset as u64, change));
        Ok(())
    }

    /// Whether nothing was seen that others have stored since.
    pub fn holds(&self, written: &Written) -> bool {
        !self.lost && !self.looked.iter().any(|page| written.meets(page.number, &page.read))
    }

    /// Does the stores and changes, and says so.
    pub fn apply(&self, memory: &mut Memory, written: &mut Written) {
        for page in &self.looked {
            if page.contents != 0 {
                let (allocation, from) = self.pages.place(page.number);
                let into = &mut memory.contents_mut(allocation)[from..];
                store(into, &self.contents[page.contents as usize - 1], &page.written);
                written.add(page.number, &page.written);
            }
            if page.changed.iter().any(|bits| *bits != 0) {
                written.add(page.number, &page.changed);
            }
        }
        for &(allocation, offset, change) in &self.changes {
            let into = &mut memory.contents_mut(allocation as usize)[offset as usize..];
            change.apply(&mut into[..change.bytes]);
        }
    }
}

/// Stores some bytes of a page.
fn store(into: &mut [u8], from: &[u8; PAGE], bytes: &Bytes) {
    for (word, &bits) in bytes.iter().enumerate() {
        let mut left = bits;
        while left != 0 {
            // As many as stand together.
            let low = left.trailing_zeros();
            let run = (left >> low).trailing_ones();
            let at = word * 64 + low as usize;
            let range = at..at + run as usize;
            into[range.clone()].copy_from_slice(&from[range]);
            left &= !(u64::MAX >> (64 - run) << low);
        }
    }
}

impl Change {
    /// Changes what is there in global memory.
    pub fn apply(&self, place: &mut [u8]) {
        let mut old = [0; 8];
        old[..self.bytes].copy_from_slice(place);
        let new = atomic_result(self.op, self.ty, true, u64::from_le_bytes(old), self.operand);
        place.copy_from_slice(&new.to_le_bytes()[..self.bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: Change =
        Change { op: Operation::Add, ty: Type::Unsigned { bits: 32 }, bytes: 4, operand: 5 };

    fn memory() -> (Memory, u64) {
        let mut memory = Memory::new(1 << 20);
        memory.allocate(100, true).unwrap();
        let place = memory.allocate(3000, false).unwrap();
        (memory, place)
    }

    #[test]
    fn what_is_stored_is_seen_and_comes_to_memory_later() {
        let (mut memory, place) = memory();
        let (mut ahead, mut near) = (Ahead::new(&memory), 0);
        let at = place + 2996;
        ahead.write(&memory, at, 4, &mut near).unwrap().copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(ahead.read(&memory, at - 4, 8, &mut near), Ok(&[0, 0, 0, 0, 1, 2, 3, 4][..]));
        assert_eq!(memory.read(at, 4, &mut near), Ok(&[0; 4][..]));
        ahead.change(&memory, at, ADD, &mut near).unwrap();
        ahead.change(&memory, place, ADD, &mut near).unwrap();
        let mut written = Written::new(&memory);
        ahead.apply(&mut memory, &mut written);
        assert_eq!(memory.read(at - 1, 5, &mut near), Ok(&[0, 6, 2, 3, 4][..]));
        assert_eq!(memory.read(place, 4, &mut near), Ok(&[5, 0, 0, 0][..]));
        for bad in [place - 1, place + 2997, place + 1022] {
            assert_eq!(ahead.read(&memory, bad, 4, &mut near), Err(AccessError::OutOfBounds));
        }
        let constant = memory.allocations().next().unwrap().0;
        let refused = ahead.write(&memory, constant, 4, &mut near).map(|_| ());
        assert_eq!(refused, Err(AccessError::ReadOnly));
    }

    #[test]
    fn what_others_stored_is_noticed_by_the_byte() {
        let (mut memory, place) = memory();
        let (mut first, mut near) = (Ahead::new(&memory), 0);
        first.write(&memory, place + 62, 4, &mut near).unwrap().fill(1);
        first.change(&memory, place + 2048, ADD, &mut near).unwrap();
        let mut written = Written::new(&memory);
        first.apply(&mut memory, &mut written);
        let sees = |at: u64, bytes: usize| {
            let mut ahead = Ahead::new(&memory);
            ahead.read(&memory, place + at, bytes, &mut 0).unwrap();
            !ahead.holds(&written)
        };
        assert!(!sees(60, 2) && sees(60, 4) && sees(65, 1) && !sees(66, 4) && !sees(512 + 62, 4));
        assert!(sees(2051, 1) && !sees(2052, 4) && sees(0, 512));
        // Bytes that were stored before they are read are nobody else's.
        let mut own = Ahead::new(&memory);
        own.write(&memory, place + 62, 4, &mut near).unwrap().fill(2);
        own.read(&memory, place + 62, 4, &mut near).unwrap();
        assert!(own.holds(&written));
        written.clear();
        assert!(first.holds(&written));
    }

    #[test]
    fn what_is_to_be_changed_cannot_be_looked_at() {
        let (memory, place) = memory();
        let written = Written::new(&memory);
        for read in [true, false] {
            let (mut ahead, mut near) = (Ahead::new(&memory), 0);
            ahead.change(&memory, place + 8, ADD, &mut near).unwrap();
            ahead.read(&memory, place + 12, 4, &mut near).unwrap();
            assert!(ahead.holds(&written));
            match read {
                true => drop(ahead.read(&memory, place + 8, 1, &mut near)),
                false => drop(ahead.write(&memory, place + 8, 1, &mut near)),
            }
            assert!(ahead.is_lost() && !ahead.holds(&written));
            ahead.clear();
            assert!(ahead.holds(&written));
        }
    }
}
