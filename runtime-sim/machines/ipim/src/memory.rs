//! The contents of the banks of a vault: pages allocated at their first write.
//!
//! A machine has gigabytes of banks and a program uses a few megabytes of them.
//! Pages that every bank holds alike when a program starts (constants, parameters)
//! are stored once and copied by the first engine that writes to them. A word that
//! was never written reads as zero.

use std::sync::Arc;

use crate::fault::FaultKind;

/// Words of a page.
const PAGE_WORDS: usize = 1024;
/// Bytes of a page.
pub const PAGE_BYTES: u32 = 4 * PAGE_WORDS as u32;

/// Bytes that the host must have beside the pages: looked at each [`HEADROOM_PAGES`] of a vault.
const HEADROOM: u64 = 64 << 20;
/// Pages between two looks.
const HEADROOM_PAGES: usize = 64;

type Page = Box<[u32; PAGE_WORDS]>;

fn zeroed_page() -> Page {
    // Goes through a vector so that no page is built on the stack.
    vec![0; PAGE_WORDS].into_boxed_slice().try_into().expect("a page's worth of words")
}

/// What every bank holds when the program starts.
#[derive(Clone, Debug, Default)]
pub struct SharedImage {
    /// By page of a bank: 0, or a page's index plus 1.
    table: Vec<u32>,
    pages: Vec<Page>,
}

impl SharedImage {
    /// Writes a word at a byte address, a multiple of 4.
    pub fn write_word(&mut self, address: u32, value: u32) {
        let number = (address / PAGE_BYTES) as usize;
        if self.table.len() <= number {
            self.table.resize(number + 1, 0);
        }
        if self.table[number] == 0 {
            self.pages.push(zeroed_page());
            self.table[number] = self.pages.len() as u32;
        }
        let page = self.table[number] as usize - 1;
        self.pages[page][(address % PAGE_BYTES / 4) as usize] = value;
    }

    fn page(&self, number: usize) -> Option<&[u32; PAGE_WORDS]> {
        match self.table.get(number) {
            None | Some(0) => None,
            Some(index) => Some(&self.pages[*index as usize - 1]),
        }
    }
}

/// The banks of a vault.
#[derive(Clone, Debug)]
pub struct Banks {
    shared: Arc<SharedImage>,
    /// By bank, then by page: 0, or a page's index plus 1.
    tables: Vec<Vec<u32>>,
    pages: Vec<Page>,
    bytes: u64,
    limit: u64,
}

impl Banks {
    /// `count` banks that may allocate `limit` bytes together.
    pub fn new(count: u32, shared: Arc<SharedImage>, limit: u64) -> Banks {
        Banks {
            shared,
            tables: vec![Vec::new(); count as usize],
            pages: Vec::new(),
            bytes: 0,
            limit,
        }
    }

    /// Bytes allocated.
    pub fn allocated_bytes(&self) -> u64 {
        self.bytes
    }

    /// The 16 bytes at a byte address, a multiple of 16 within the bank.
    #[inline]
    pub fn read(&self, bank: usize, address: u32) -> [u32; 4] {
        let word = (address % PAGE_BYTES / 4) as usize;
        match self.page(bank, (address / PAGE_BYTES) as usize) {
            Some(page) => *page[word..].first_chunk().expect("an aligned atom lies in one page"),
            None => [0; 4],
        }
    }

    /// A page of a bank, if anything was ever written to it.
    #[inline]
    fn page(&self, bank: usize, number: usize) -> Option<&[u32; PAGE_WORDS]> {
        match self.tables[bank].get(number) {
            Some(&index) if index != 0 => Some(&self.pages[index as usize - 1]),
            _ => self.shared.page(number),
        }
    }

    /// Replaces the 16 bytes at a byte address, a multiple of 16 within the bank.
    ///
    /// # Errors
    /// When the pages of the vault exceed their limit.
    #[inline]
    pub fn write(&mut self, bank: usize, address: u32, atom: [u32; 4]) -> Result<(), FaultKind> {
        let word = (address % PAGE_BYTES / 4) as usize;
        let page = self.page_mut(bank, (address / PAGE_BYTES) as usize)?;
        page[word..word + 4].copy_from_slice(&atom);
        Ok(())
    }

    /// The words from a byte address on, a multiple of 4 within the bank.
    pub fn read_words(&self, bank: usize, mut address: u32, mut words: &mut [u32]) {
        while !words.is_empty() {
            let at = (address % PAGE_BYTES / 4) as usize;
            let (now, later) = words.split_at_mut(words.len().min(PAGE_WORDS - at));
            match self.page(bank, (address / PAGE_BYTES) as usize) {
                Some(page) => now.copy_from_slice(&page[at..at + now.len()]),
                None => now.fill(0),
            }
            address += 4 * now.len() as u32;
            words = later;
        }
    }

    /// The word at a byte address, a multiple of 4 within the bank.
    pub fn read_word(&self, bank: usize, address: u32) -> u32 {
        self.read(bank, address & !15)[(address % 16 / 4) as usize]
    }

    /// Replaces the words from a byte address on, a multiple of 4 within the bank.
    ///
    /// # Errors
    /// As [`Banks::write`].
    pub fn write_words(
        &mut self,
        bank: usize,
        mut address: u32,
        mut words: &[u32],
    ) -> Result<(), FaultKind> {
        while !words.is_empty() {
            let at = (address % PAGE_BYTES / 4) as usize;
            let (now, later) = words.split_at(words.len().min(PAGE_WORDS - at));
            let page = self.page_mut(bank, (address / PAGE_BYTES) as usize)?;
            page[at..at + now.len()].copy_from_slice(now);
            address += 4 * now.len() as u32;
            words = later;
        }
        Ok(())
    }

    #[inline]
    fn page_mut(&mut self, bank: usize, number: usize) -> Result<&mut Page, FaultKind> {
        let index = match self.tables[bank].get(number) {
            Some(&index) if index != 0 => index,
            _ => self.allocate(bank, number)?,
        };
        Ok(&mut self.pages[index as usize - 1])
    }

    #[cold]
    fn allocate(&mut self, bank: usize, number: usize) -> Result<u32, FaultKind> {
        let table = &mut self.tables[bank];
        let growth = (number + 1).saturating_sub(table.len());
        let bytes = self.bytes + u64::from(PAGE_BYTES) + 4 * growth as u64;
        if bytes > self.limit {
            return Err(FaultKind::MemoryLimit { limit: self.limit });
        }
        // Pages are small, and there must be room for more than one to say that there is none.
        if self.pages.len().is_multiple_of(HEADROOM_PAGES) && !nbcc_base::has_room(HEADROOM) {
            return Err(FaultKind::HostMemory);
        }
        self.bytes = bytes;
        if growth > 0 {
            table.resize(number + 1, 0);
        }
        let page = match self.shared.page(number) {
            Some(page) => Box::new(*page),
            None => zeroed_page(),
        };
        self.pages.push(page);
        let index = self.pages.len() as u32;
        table[number] = index;
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_pages_are_copied_by_their_first_writer() {
        let mut shared = SharedImage::default();
        shared.write_word(0x2008, 7);
        let mut banks = Banks::new(2, Arc::new(shared), 1 << 20);
        assert_eq!(banks.read(0, 0x2000), [0, 0, 7, 0]);
        banks.write_words(0, 0x2000, &[9]).unwrap();
        assert_eq!(banks.read(0, 0x2000), [9, 0, 7, 0]);
        assert_eq!(banks.read(1, 0x2000), [0, 0, 7, 0]);
        assert_eq!(banks.read_word(0, 0x2008), 7);
        assert_eq!(banks.read(1, 0xff_fff0), [0; 4]);
    }

    #[test]
    fn words_go_on_from_page_to_page() {
        let mut banks = Banks::new(1, Arc::default(), 1 << 20);
        let words: Vec<u32> = (1..2500).collect();
        banks.write_words(0, 0x0ff8, &words).unwrap();
        let mut read = vec![7; 2502];
        banks.read_words(0, 0x0ff4, &mut read);
        assert_eq!(read, [&[0], words.as_slice(), &[0, 0]].concat());
        assert_eq!(banks.allocated_bytes() / u64::from(PAGE_BYTES), 4);
    }

    #[test]
    fn allocation_is_bounded() {
        let mut banks = Banks::new(1, Arc::default(), 3 * u64::from(PAGE_BYTES));
        banks.write(0, 0, [1; 4]).unwrap();
        banks.write(0, 0x1000, [2; 4]).unwrap();
        let error = banks.write(0, 0x2000, [3; 4]).unwrap_err();
        assert_eq!(error, FaultKind::MemoryLimit { limit: 0x3000 });
        assert_eq!(banks.read(0, 0), [1; 4]);
    }
}
