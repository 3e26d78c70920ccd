//! A cache of lines by their numbers: set-associative, the least recently used line of a set leaves.
//! It says what would be there; contents are elsewhere.

/// Lines of a set.
const WAYS: usize = 4;

/// A cache.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Of each set its lines, the most recently used one first; `u64::MAX` for none.
    sets: Box<[[u64; WAYS]]>,
}

impl Cache {
    /// An empty cache of so many lines; without a whole set of them it holds nothing.
    pub fn new(lines: u32) -> Cache {
        Cache { sets: vec![[u64::MAX; WAYS]; lines as usize / WAYS].into() }
    }

    fn set(&mut self, line: u64) -> Option<&mut [u64; WAYS]> {
        let count = self.sets.len() as u64;
        self.sets.get_mut(line.checked_rem(count)? as usize)
    }

    /// Whether a line is there; it is the most recently used one then.
    pub fn holds(&mut self, line: u64) -> bool {
        let Some(set) = self.set(line) else { return false };
        let Some(way) = set.iter().position(|&held| held == line) else { return false };
        set[..=way].rotate_right(1);
        true
    }

    /// A line has come.
    pub fn fill(&mut self, line: u64) {
        if self.holds(line) {
            return;
        }
        if let Some(set) = self.set(line) {
            set.rotate_right(1);
            set[0] = line;
        }
    }

    /// A line is no longer valid.
    pub fn drop_line(&mut self, line: u64) {
        if let Some(set) = self.set(line) {
            set.iter_mut().filter(|held| **held == line).for_each(|held| *held = u64::MAX);
        }
    }

    /// No line is valid any more.
    pub fn clear(&mut self) {
        self.sets.fill([u64::MAX; WAYS]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut cache = Cache::new(8);
        (0..4).for_each(|n| cache.fill(2 * n));
        assert!(cache.holds(0));
        cache.fill(8);
        assert!(cache.holds(0) && !cache.holds(2) && cache.holds(4) && cache.holds(8));
        cache.drop_line(4);
        assert!(!cache.holds(4));
        cache.clear();
        assert!(!cache.holds(0));
        let mut none = Cache::new(0);
        none.fill(1);
        assert!(!none.holds(1));
    }
}
