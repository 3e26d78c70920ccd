//! A cache of lines by their numbers: set-associative, the least recently used line of a set leaves.
//! It says what would be there; contents are elsewhere.

/// Lines of a set where nothing else is said.
const WAYS: usize = 4;

/// A cache.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Set after set its lines, the most recently used one first; `u64::MAX` for none.
    lines: Box<[u64]>,
    ways: usize,
    sets: u64,
}

impl Cache {
    /// An empty cache of so many lines, four a set; without a whole set of them it holds nothing.
    pub fn new(lines: u32) -> Cache {
        Cache::with_ways(lines, WAYS as u32)
    }

    /// An empty cache of so many lines, `ways` a set; without a whole set of them it holds nothing.
    pub fn with_ways(lines: u32, ways: u32) -> Cache {
        let (ways, sets) = (ways as usize, lines / ways.max(1));
        Cache { lines: vec![u64::MAX; ways * sets as usize].into(), ways, sets: sets.into() }
    }

    #[inline]
    fn set(&mut self, line: u64) -> Option<&mut [u64]> {
        let set = if self.sets.is_power_of_two() {
            line & (self.sets - 1)
        } else {
            line.checked_rem(self.sets)?
        };
        let at = set as usize * self.ways;
        self.lines.get_mut(at..at + self.ways)
    }

    /// Whether a line is there; it is the most recently used one then.
    #[inline]
    pub fn holds(&mut self, line: u64) -> bool {
        let Some(set) = self.set(line) else { return false };
        let Some(way) = set.iter().position(|&held| held == line) else { return false };
        set[..=way].rotate_right(1);
        true
    }

    /// Whether a line is there, which changes nothing.
    pub fn peek(&self, line: u64) -> bool {
        let Some(set) = line.checked_rem(self.sets) else { return false };
        let at = set as usize * self.ways;
        self.lines[at..at + self.ways].contains(&line)
    }

    /// A line has come; the one that left for it.
    pub fn fill(&mut self, line: u64) -> Option<u64> {
        if self.holds(line) {
            return None;
        }
        let set = self.set(line)?;
        set.rotate_right(1);
        let left = std::mem::replace(&mut set[0], line);
        (left != u64::MAX).then_some(left)
    }

    /// A line is no longer valid.
    pub fn drop_line(&mut self, line: u64) {
        if let Some(set) = self.set(line) {
            set.iter_mut().filter(|held| **held == line).for_each(|held| *held = u64::MAX);
        }
    }

    /// The lines that are there.
    pub fn held(&self) -> impl Iterator<Item = u64> + '_ {
        self.lines.iter().copied().filter(|line| *line != u64::MAX)
    }

    /// No line is valid any more.
    pub fn clear(&mut self) {
        self.lines.fill(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut cache = Cache::new(8);
        (0..4).for_each(|n| assert_eq!(cache.fill(2 * n), None));
        assert!(cache.holds(0) && cache.peek(2) && !cache.peek(8));
        assert_eq!((cache.fill(8), cache.fill(8)), (Some(2), None));
        assert!(cache.holds(0) && !cache.holds(2) && cache.holds(4) && cache.holds(8));
        cache.drop_line(4);
        assert!(!cache.holds(4));
        cache.clear();
        assert!(!cache.holds(0));
        let mut none = Cache::new(0);
        none.fill(1);
        assert!(!none.holds(1));
    }

    /// Of as many lines as a set holds none leaves; the next one makes the first leave.
    #[test]
    fn sets_have_the_ways_that_are_asked_for() {
        for ways in [1, 2, 16] {
            let sets = 8;
            let mut cache = Cache::with_ways(sets * ways, ways);
            (0..u64::from(ways))
                .for_each(|n| assert_eq!(cache.fill(3 + n * u64::from(sets)), None));
            assert!((0..u64::from(ways)).all(|n| cache.holds(3 + n * u64::from(sets))));
            cache.fill(3 + u64::from(ways * sets));
            assert!(!cache.holds(3) && cache.holds(3 + u64::from(ways * sets)));
        }
    }
}
