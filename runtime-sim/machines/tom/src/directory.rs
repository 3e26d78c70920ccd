//! Which private caches hold a line: a bit for each multiprocessor, as in a full directory (Censier and
//! Feautrier, IEEE Transactions on Computers C-27(12), 1978). Lines of allocations are small numbers, so
//! that the bits of neighbouring lines lie together, in pages that are made where a line is first held.

/// Lines of a page.
const PAGE: u64 = 1 << 10;

/// The directory.
#[derive(Debug)]
pub struct Directory {
    /// Words of a line.
    words: usize,
    pages: Vec<Option<Box<[u64]>>>,
}

impl Directory {
    /// Nobody holds anything.
    pub fn new(sms: u32) -> Directory {
        Directory { words: sms.div_ceil(64) as usize, pages: Vec::new() }
    }

    /// Where the words of a line are: its page, and from where on there.
    fn place(&self, line: u64) -> (usize, usize) {
        ((line / PAGE) as usize, (line % PAGE) as usize * self.words)
    }

    /// A multiprocessor holds a line from now on.
    pub fn insert(&mut self, line: u64, sm: u32) {
        let (page, first) = self.place(line);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let size = self.words * PAGE as usize;
        let words = self.pages[page].get_or_insert_with(|| vec![0; size].into());
        words[first + sm as usize / 64] |= 1 << (sm % 64);
    }

    /// A multiprocessor no longer holds a line.
    pub fn remove(&mut self, line: u64, sm: u32) {
        let (page, first) = self.place(line);
        if let Some(Some(words)) = self.pages.get_mut(page) {
            words[first + sm as usize / 64] &= !(1 << (sm % 64));
        }
    }

    /// The multiprocessors that hold a line, in their order.
    pub fn holders(&self, line: u64) -> impl Iterator<Item = u32> + use<'_> {
        let (page, first) = self.place(line);
        let words = self.pages.get(page).and_then(Option::as_deref);
        let words = words.map_or(&[][..], |words| &words[first..first + self.words]);
        words.iter().zip(0..).flat_map(|(&word, number)| {
            let some = |rest: u64| (rest != 0).then_some(rest);
            let rest = std::iter::successors(some(word), move |rest| some(rest & (rest - 1)));
            rest.map(move |rest| 64 * number + rest.trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_holders() {
        let mut directory = Directory::new(68);
        let of = |directory: &Directory, line| directory.holders(line).collect::<Vec<_>>();
        for sm in [67, 0, 63, 64] {
            directory.insert(5 * PAGE + 1, sm);
        }
        directory.insert(5 * PAGE + 2, 1);
        assert_eq!(of(&directory, 5 * PAGE + 1), [0, 63, 64, 67]);
        assert_eq!(of(&directory, 5 * PAGE + 2), [1]);
        directory.remove(5 * PAGE + 1, 63);
        directory.remove(5 * PAGE + 1, 62);
        directory.remove(9 * PAGE, 0);
        assert_eq!(of(&directory, 5 * PAGE + 1), [0, 64, 67]);
        assert!(of(&directory, 5 * PAGE).is_empty() && of(&directory, 40 * PAGE).is_empty());
    }
}
