//! Zeroed memory that takes the host's only where it is written: local memory, of which threads
//! may have much and use little. A page is allocated when it is written first.

const PAGE: usize = 1 << 12;

/// Bytes from 0 up to a length.
#[derive(Clone, Debug, Default)]
pub struct Sparse {
    pages: Vec<Option<Box<[u8; PAGE]>>>,
    len: u64,
}

impl Sparse {
    /// Zeroed bytes.
    pub fn new(len: u64) -> Sparse {
        let pages = len.div_ceil(PAGE as u64) as usize;
        Sparse { pages: vec![None; pages], len }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn place(&self, at: u64, bytes: usize) -> Option<(usize, usize)> {
        let end = at.checked_add(bytes as u64)?;
        let (page, offset) = ((at / PAGE as u64) as usize, (at % PAGE as u64) as usize);
        (end <= self.len && offset + bytes <= PAGE).then_some((page, offset))
    }

    /// The bytes of an access that is a multiple of its size, which is a power of two and at most
    /// a page. None where it is not, or not whole, within the length.
    pub fn read(&self, at: u64, bytes: usize) -> Option<&[u8]> {
        const ZEROS: [u8; PAGE] = [0; PAGE];
        let (page, offset) = self.place(at, bytes)?;
        let page = self.pages[page].as_deref().unwrap_or(&ZEROS);
        Some(&page[offset..offset + bytes])
    }

    /// The same, to be changed.
    pub fn write(&mut self, at: u64, bytes: usize) -> Option<&mut [u8]> {
        let (page, offset) = self.place(at, bytes)?;
        let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
        Some(&mut page[offset..offset + bytes])
    }

    /// Bytes of the host's memory that hold contents.
    pub fn held(&self) -> u64 {
        self.pages.iter().flatten().count() as u64 * PAGE as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_is_held() {
        let mut memory = Sparse::new(1 << 24);
        assert_eq!(memory.read(1 << 20, 16), Some(&[0; 16][..]));
        assert_eq!(memory.held(), 0);
        memory.write((1 << 20) + 8, 4).unwrap().copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(memory.read((1 << 20) + 8, 8), Some(&[1, 2, 3, 4, 0, 0, 0, 0][..]));
        assert_eq!(memory.held(), PAGE as u64);
        assert_eq!(memory.read((1 << 24) - 4, 4), Some(&[0; 4][..]));
        assert!(memory.read(1 << 24, 1).is_none() && memory.write(u64::MAX, 1).is_none());
    }

    #[test]
    fn the_last_page_ends_with_the_length() {
        let mut memory = Sparse::new(10);
        assert!(memory.write(8, 2).is_some() && memory.write(8, 4).is_none());
        assert!(memory.read(10, 1).is_none());
        assert!(Sparse::new(0).read(0, 1).is_none() && Sparse::new(0).is_empty());
    }
}
