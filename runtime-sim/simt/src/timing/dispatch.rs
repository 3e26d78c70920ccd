//! Which core runs which block: block i goes to core i modulo the number of cores, as on the
//! functional machine; a core starts its blocks in their order.

/// Blocks that are still to be started.
#[derive(Clone, Debug)]
pub struct Dispatch {
    grid: [u32; 3],
    total: u64,
    /// The next block of each core.
    next: Box<[u64]>,
    started: u64,
}

impl Dispatch {
    /// All blocks of a grid.
    pub fn new(grid: [u32; 3], cores: u32) -> Dispatch {
        let total = grid.iter().fold(1_u64, |all, &n| all.saturating_mul(n.into()));
        Dispatch { grid, total, next: (0..u64::from(cores)).collect(), started: 0 }
    }

    /// Blocks of the grid.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Blocks that were given out.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Gives a core its next block: its position in the grid.
    pub fn take(&mut self, core: usize) -> Option<[u32; 3]> {
        let number = self.next[core];
        if number >= self.total {
            return None;
        }
        self.next[core] += self.next.len() as u64;
        self.started += 1;
        let [x, y, _] = self.grid.map(u64::from);
        Some([number % x, number / x % y, number / x / y].map(|at| at as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_goes_to_one_core() {
        let mut dispatch = Dispatch::new([3, 2, 2], 5);
        assert_eq!(dispatch.total(), 12);
        assert_eq!(dispatch.take(1), Some([1, 0, 0]));
        assert_eq!(dispatch.take(1), Some([0, 0, 1]));
        assert_eq!(dispatch.take(1), Some([2, 1, 1]));
        assert_eq!(dispatch.take(1), None);
        assert_eq!(dispatch.take(4), Some([1, 1, 0]));
        assert_eq!(dispatch.started(), 4);
    }
}
