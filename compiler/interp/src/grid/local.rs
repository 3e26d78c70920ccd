//! Local memory of a thread: zeroed, and held only where it is written, since kernels declare much
//! more of it than their threads use.

const PAGE: u64 = 1 << 12;

/// Bytes from 0 up to a length.
#[derive(Clone, Debug, Default)]
pub struct LocalMemory {
    pages: Vec<Option<Box<[u8; PAGE as usize]>>>,
    len: u64,
    /// Pages that are held.
    held: u64,
}

impl LocalMemory {
    pub fn new(len: u64) -> LocalMemory {
        LocalMemory { pages: vec![None; len.div_ceil(PAGE) as usize], len, held: 0 }
    }

    /// Bytes that are held for it.
    pub fn bytes(&self) -> u64 {
        self.held * PAGE + (self.pages.capacity() * size_of::<usize>()) as u64
    }

    fn place(&self, at: u64, count: u64) -> Option<(usize, std::ops::Range<usize>)> {
        let end = at.checked_add(count).filter(|&end| end <= self.len)?;
        let page = at / PAGE;
        (end <= (page + 1) * PAGE)
            .then(|| (page as usize, (at - page * PAGE) as usize..(end - page * PAGE) as usize))
    }

    /// The bytes of an access that straddles no pages, as aligned ones of a power of two do not.
    pub fn read(&self, at: u64, count: u64) -> Option<&[u8]> {
        const ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];
        let (page, range) = self.place(at, count)?;
        Some(&self.pages[page].as_deref().unwrap_or(&ZEROS)[range])
    }

    /// The same, to be changed.
    pub fn write(&mut self, at: u64, count: u64) -> Option<&mut [u8]> {
        let (page, range) = self.place(at, count)?;
        let held = &mut self.held;
        let page = self.pages[page].get_or_insert_with(|| {
            *held += 1;
            Box::new([0; PAGE as usize])
        });
        Some(&mut page[range])
    }
}
