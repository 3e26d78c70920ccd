//! The contents of the banks of a vault: pages allocated at their first write.
//!
//! A machine has gigabytes of banks and a program uses a few megabytes of them.
//! Pages that every bank holds alike when a program starts (constants, parameters)
//! are stored once and copied by the first engine that writes to them. A word that
//! was never written reads as zero.
//!
//! Instructions are broadcast, and buffers have the same addresses in every bank. So a page that more
//! than one bank has written to holds the atoms of all banks side by side: what all engines load or
//! store at one address is one piece of the host's memory.

use std::sync::Arc;

use nbcc_isa_ipim::{ATOM_BYTES, LANES};

use crate::alu::{ENGINES, Lanes};
use crate::engines::for_each_engine;
use crate::fault::FaultKind;

/// Atoms of a page.
const PAGE_ATOMS: usize = 64;
/// Words of a page.
const PAGE_WORDS: usize = PAGE_ATOMS * LANES;
/// Bytes of a page.
pub const PAGE_BYTES: u32 = PAGE_ATOMS as u32 * ATOM_BYTES;
/// Bytes of an entry of the table of pages.
const ENTRY_BYTES: u64 = size_of::<Entry>() as u64;

/// Bytes that the host must have beside the pages: looked at whenever [`LOOK_BYTES`] more of a vault
/// are allocated.
const HEADROOM: u64 = 64 << 20;
const LOOK_BYTES: u64 = 256 << 10;

/// 16 bytes.
pub type Atom = [u32; LANES];
/// A page of one bank.
type Page = Box<[Atom; PAGE_ATOMS]>;
/// A page of all banks.
type WidePage = Box<[Lanes; PAGE_ATOMS]>;

/// A page of zeros. It goes through a vector so that it is not built on the stack.
fn zeroed<T: Copy>(zero: T) -> Box<[T; PAGE_ATOMS]> {
    let page = vec![zero; PAGE_ATOMS].into_boxed_slice().try_into();
    page.unwrap_or_else(|_| unreachable!("a page's worth of atoms"))
}

/// The page of a byte address, and the atom in it.
#[inline]
fn split(address: u32) -> (usize, usize) {
    ((address / PAGE_BYTES) as usize, (address % PAGE_BYTES / ATOM_BYTES) as usize)
}

/// The page of a byte address, and the word in it.
fn word_of_page(address: u32) -> (usize, usize) {
    ((address / PAGE_BYTES) as usize, (address % PAGE_BYTES / 4) as usize)
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
        let (number, atom) = split(address);
        if self.table.len() <= number {
            self.table.resize(number + 1, 0);
        }
        if self.table[number] == 0 {
            self.pages.push(zeroed([0; LANES]));
            self.table[number] = self.pages.len() as u32;
        }
        let page = self.table[number] as usize - 1;
        self.pages[page][atom][(address % ATOM_BYTES / 4) as usize] = value;
    }

    fn page(&self, number: usize) -> Option<&[Atom; PAGE_ATOMS]> {
        match self.table.get(number) {
            None | Some(0) => None,
            Some(index) => Some(&self.pages[*index as usize - 1]),
        }
    }
}

/// Where the pages of a number are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// No bank has written to its page.
    Untouched,
    /// One bank has: its number, and the index of the page.
    Own(u32, u32),
    /// Several have: the index of the page of all.
    Wide(u32),
}

/// What banks hold at an address.
enum Row<'a> {
    /// The same.
    Alike(Atom),
    /// One bank something else than the others.
    Own(u32, Atom, Atom),
    /// Of each bank its own.
    Wide(&'a Lanes),
}

/// A page that is written to.
enum Writable<'a> {
    /// Of one bank.
    Own(&'a mut [Atom; PAGE_ATOMS]),
    /// Of all.
    Wide(&'a mut [Lanes; PAGE_ATOMS]),
}

/// The banks of a vault.
#[derive(Clone, Debug)]
pub struct Banks {
    shared: Arc<SharedImage>,
    /// By number of a page.
    table: Vec<Entry>,
    own: Vec<Page>,
    /// Indices in `own` whose pages have become wide.
    free: Vec<u32>,
    wide: Vec<WidePage>,
    bytes: u64,
    /// Bytes allocated at which the host's memory is looked at.
    look: u64,
    limit: u64,
}

impl Banks {
    /// Banks that may allocate `limit` bytes together.
    pub fn new(shared: Arc<SharedImage>, limit: u64) -> Banks {
        Banks {
            shared,
            table: Vec::new(),
            own: Vec::new(),
            free: Vec::new(),
            wide: Vec::new(),
            bytes: 0,
            look: 0,
            limit,
        }
    }

    /// Bytes allocated.
    pub fn allocated_bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    fn entry(&self, number: usize) -> Entry {
        self.table.get(number).copied().unwrap_or(Entry::Untouched)
    }

    /// What a bank holds that nobody has written.
    #[inline]
    fn initial(&self, number: usize, atom: usize) -> Atom {
        self.shared.page(number).map_or([0; LANES], |page| page[atom])
    }

    /// The 16 bytes at a byte address, a multiple of 16 within the bank.
    #[inline]
    pub fn read(&self, bank: usize, address: u32) -> Atom {
        let (number, atom) = split(address);
        match self.entry(number) {
            Entry::Wide(page) => atoms(&self.wide[page as usize][atom])[bank],
            Entry::Own(owner, page) if owner as usize == bank => self.own[page as usize][atom],
            _ => self.initial(number, atom),
        }
    }

    /// Replaces the 16 bytes at a byte address, a multiple of 16 within the bank.
    ///
    /// # Errors
    /// When the pages of the vault exceed their limit.
    #[inline]
    pub fn write(&mut self, bank: usize, address: u32, value: Atom) -> Result<(), Box<FaultKind>> {
        let (number, atom) = split(address);
        match self.entry_to_write(bank, number)? {
            Writable::Own(page) => page[atom] = value,
            Writable::Wide(page) => atoms_mut(&mut page[atom])[bank] = value,
        }
        Ok(())
    }

    #[inline]
    fn row(&self, address: u32) -> Row<'_> {
        let (number, atom) = split(address);
        match self.entry(number) {
            Entry::Wide(page) => Row::Wide(&self.wide[page as usize][atom]),
            Entry::Own(owner, page) => {
                Row::Own(owner, self.own[page as usize][atom], self.initial(number, atom))
            }
            Entry::Untouched => Row::Alike(self.initial(number, atom)),
        }
    }

    /// Hands on what the banks of the engines of `mask` hold at an address, a multiple of 16 within the
    /// bank, in the order of the engines.
    #[inline(always)]
    pub fn read_each(&self, mask: u32, address: u32, mut to: impl FnMut(usize, Atom)) {
        match self.row(address) {
            Row::Wide(row) => for_each_engine(mask, |engine| to(engine, atoms(row)[engine])),
            Row::Alike(atom) => for_each_engine(mask, |engine| to(engine, atom)),
            Row::Own(owner, own, other) => for_each_engine(mask, |engine| {
                to(engine, if engine == owner as usize { own } else { other });
            }),
        }
    }

    /// As [`Banks::read_each`], to a register.
    #[inline(always)]
    pub fn load(&self, mask: u32, address: u32, to: &mut Lanes) {
        match self.row(address) {
            Row::Wide(row) if mask == u32::MAX => *to = *row,
            _ => self.read_each(mask, address, |engine, atom| atoms_mut(to)[engine] = atom),
        }
    }

    /// Replaces what the banks of the engines of `mask` hold at an address, a multiple of 16 within the
    /// bank.
    ///
    /// # Errors
    /// As [`Banks::write`].
    #[inline(always)]
    pub fn store(&mut self, mask: u32, address: u32, from: &Lanes) -> Result<(), Box<FaultKind>> {
        let (number, atom) = split(address);
        if mask.is_power_of_two() {
            let engine = mask.trailing_zeros() as usize;
            return self.write(engine, address, atoms(from)[engine]);
        }
        if mask == 0 {
            return Ok(());
        }
        let page = match self.entry(number) {
            Entry::Wide(page) => page,
            _ => self.widen(number)?,
        };
        let row = &mut self.wide[page as usize][atom];
        if mask == u32::MAX {
            *row = *from;
        } else {
            for_each_engine(mask, |engine| atoms_mut(row)[engine] = atoms(from)[engine]);
        }
        Ok(())
    }

    /// The words from a byte address on, a multiple of 4 within the bank.
    pub fn read_words(&self, bank: usize, mut address: u32, mut words: &mut [u32]) {
        while !words.is_empty() {
            let (number, at) = word_of_page(address);
            let (now, later) = words.split_at_mut(words.len().min(PAGE_WORDS - at));
            match self.entry(number) {
                Entry::Wide(page) => {
                    let rows = self.wide[page as usize][at / LANES..].iter();
                    let mut atoms = rows.map(|row| &atoms(row)[bank]);
                    let head = now.len().min((LANES - at % LANES) % LANES);
                    let (head, rest) = now.split_at_mut(head);
                    if !head.is_empty() {
                        let atom = atoms.next().expect("an atom of the page");
                        head.copy_from_slice(&atom[at % LANES..][..head.len()]);
                    }
                    for (words, atom) in rest.chunks_mut(LANES).zip(atoms) {
                        words.copy_from_slice(&atom[..words.len()]);
                    }
                }
                Entry::Own(owner, page) if owner as usize == bank => {
                    now.copy_from_slice(&self.own[page as usize].as_flattened()[at..][..now.len()]);
                }
                _ => match self.shared.page(number) {
                    Some(page) => now.copy_from_slice(&page.as_flattened()[at..][..now.len()]),
                    None => now.fill(0),
                },
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
    ) -> Result<(), Box<FaultKind>> {
        while !words.is_empty() {
            let (number, at) = word_of_page(address);
            let (now, later) = words.split_at(words.len().min(PAGE_WORDS - at));
            match self.entry_to_write(bank, number)? {
                Writable::Own(page) => {
                    page.as_flattened_mut()[at..][..now.len()].copy_from_slice(now);
                }
                Writable::Wide(page) => {
                    let rows = page[at / LANES..].iter_mut();
                    let mut atoms = rows.map(|row| &mut atoms_mut(row)[bank]);
                    let (head, rest) = now.split_at(now.len().min((LANES - at % LANES) % LANES));
                    if !head.is_empty() {
                        let atom = atoms.next().expect("an atom of the page");
                        atom[at % LANES..][..head.len()].copy_from_slice(head);
                    }
                    for (words, atom) in rest.chunks(LANES).zip(atoms) {
                        atom[..words.len()].copy_from_slice(words);
                    }
                }
            }
            address += 4 * now.len() as u32;
            words = later;
        }
        Ok(())
    }

    /// The page that a bank writes to.
    #[inline]
    fn entry_to_write(
        &mut self,
        bank: usize,
        number: usize,
    ) -> Result<Writable<'_>, Box<FaultKind>> {
        let page = match self.entry(number) {
            Entry::Wide(page) => page,
            Entry::Own(owner, page) if owner as usize == bank => {
                return Ok(Writable::Own(&mut self.own[page as usize]));
            }
            Entry::Own(..) => self.widen(number)?,
            Entry::Untouched => {
                let page = self.allocate(bank, number)?;
                return Ok(Writable::Own(&mut self.own[page as usize]));
            }
        };
        Ok(Writable::Wide(&mut self.wide[page as usize]))
    }

    /// Makes room for a page with its entry in the table.
    fn account(&mut self, page_bytes: usize, number: usize) -> Result<(), Box<FaultKind>> {
        let growth = (number + 1).saturating_sub(self.table.len());
        let bytes = self.bytes + page_bytes as u64 + ENTRY_BYTES * growth as u64;
        if bytes > self.limit {
            return Err(Box::new(FaultKind::MemoryLimit { limit: self.limit }));
        }
        // Pages are small, and there must be room for more than one to say that there is none.
        if bytes > self.look {
            if !nbcc_base::has_room(HEADROOM) {
                return Err(Box::new(FaultKind::HostMemory));
            }
            self.look = bytes + LOOK_BYTES;
        }
        self.bytes = bytes;
        if growth > 0 {
            self.table.resize(number + 1, Entry::Untouched);
        }
        Ok(())
    }

    /// A page of a bank, the first of its number.
    #[cold]
    fn allocate(&mut self, bank: usize, number: usize) -> Result<u32, Box<FaultKind>> {
        let index = match self.free.last().copied() {
            Some(index) => {
                self.account(0, number)?;
                self.free.pop();
                index
            }
            None => {
                self.account(size_of::<[Atom; PAGE_ATOMS]>(), number)?;
                self.own.push(zeroed([0; LANES]));
                self.own.len() as u32 - 1
            }
        };
        let page = &mut self.own[index as usize];
        match self.shared.page(number) {
            Some(shared) => **page = *shared,
            None => page.fill([0; LANES]),
        }
        self.table[number] = Entry::Own(bank as u32, index);
        Ok(index)
    }

    /// A page of all banks, with what they hold.
    #[cold]
    fn widen(&mut self, number: usize) -> Result<u32, Box<FaultKind>> {
        self.account(size_of::<[Lanes; PAGE_ATOMS]>(), number)?;
        let mut page: WidePage = zeroed(Lanes::ZERO);
        if let Some(shared) = self.shared.page(number) {
            for (row, atom) in page.iter_mut().zip(shared) {
                atoms_mut(row).fill(*atom);
            }
        }
        if let Entry::Own(owner, index) = self.table[number] {
            for (row, atom) in page.iter_mut().zip(&*self.own[index as usize]) {
                atoms_mut(row)[owner as usize] = *atom;
            }
            self.free.push(index);
        }
        self.wide.push(page);
        let index = self.wide.len() as u32 - 1;
        self.table[number] = Entry::Wide(index);
        Ok(index)
    }
}

/// The atoms of the engines.
#[inline]
pub fn atoms(lanes: &Lanes) -> &[Atom; ENGINES] {
    lanes.as_chunks().0.first_chunk().expect("lanes of all engines")
}

/// As [`atoms`], to be changed.
#[inline]
pub fn atoms_mut(lanes: &mut Lanes) -> &mut [Atom; ENGINES] {
    lanes.as_chunks_mut().0.first_chunk_mut().expect("lanes of all engines")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_pages_are_copied_by_their_first_writer() {
        let mut shared = SharedImage::default();
        shared.write_word(0x2008, 7);
        let mut banks = Banks::new(Arc::new(shared), 1 << 20);
        assert_eq!(banks.read(0, 0x2000), [0, 0, 7, 0]);
        banks.write_words(0, 0x2000, &[9]).unwrap();
        assert_eq!(banks.read(0, 0x2000), [9, 0, 7, 0]);
        assert_eq!(banks.read(1, 0x2000), [0, 0, 7, 0]);
        assert_eq!(banks.read_word(0, 0x2008), 7);
        assert_eq!(banks.read(1, 0xff_fff0), [0; 4]);
    }

    /// Whatever banks share a page, and however they came to, each has its own contents.
    #[test]
    fn banks_that_share_a_page_hold_their_own() {
        let mut shared = SharedImage::default();
        shared.write_word(0x10, 5);
        let mut banks = Banks::new(Arc::new(shared), 1 << 20);
        let mut lanes = Lanes::ZERO;
        let mut load = |banks: &Banks, mask| {
            banks.load(mask, 0x10, &mut lanes);
            atoms(&lanes).map(|atom| atom[0])
        };
        assert_eq!(load(&banks, u32::MAX), [5; ENGINES]);
        banks.write(7, 0x10, [6; 4]).unwrap();
        let mut expected = [5; ENGINES];
        expected[7] = 6;
        assert_eq!(load(&banks, u32::MAX), expected);
        let mut stored = Lanes::ZERO;
        atoms_mut(&mut stored).iter_mut().zip(100..).for_each(|(atom, word)| atom[0] = word);
        banks.store(1 << 7, 0x10, &stored).unwrap();
        banks.store(0b110, 0x10, &stored).unwrap();
        (expected[1], expected[2], expected[7]) = (101, 102, 107);
        assert_eq!(load(&banks, u32::MAX), expected);
        assert_eq!([0, 1, 7].map(|bank| banks.read_word(bank, 0x10)), [5, 101, 107]);
        // The page of one bank that became one of all is used again.
        let before = banks.allocated_bytes();
        banks.write(3, 0x400, [8; 4]).unwrap();
        assert!(banks.allocated_bytes() - before < u64::from(PAGE_BYTES));
        assert_eq!([2, 3].map(|bank| banks.read_word(bank, 0x400)), [0, 8]);
    }

    #[test]
    fn words_go_on_from_page_to_page() {
        let mut banks = Banks::new(Arc::default(), 1 << 20);
        let words: Vec<u32> = (1..2500).collect();
        banks.write_words(0, 0x0ff8, &words).unwrap();
        let mut read = vec![7; 2502];
        banks.read_words(0, 0x0ff4, &mut read);
        assert_eq!(read, [&[0], words.as_slice(), &[0, 0]].concat());
        assert_eq!(banks.allocated_bytes() / u64::from(PAGE_BYTES), 11);
    }

    #[test]
    fn allocation_is_bounded() {
        let mut banks = Banks::new(Arc::default(), 3 * u64::from(PAGE_BYTES));
        banks.write(0, 0, [1; 4]).unwrap();
        banks.write(0, 0x400, [2; 4]).unwrap();
        let limit = Box::new(FaultKind::MemoryLimit { limit: 0xc00 });
        assert_eq!(banks.write(0, 0x800, [3; 4]).unwrap_err(), limit);
        assert_eq!(banks.write(1, 0, [3; 4]).unwrap_err(), limit);
        assert_eq!(banks.read(0, 0), [1; 4]);
    }
}
