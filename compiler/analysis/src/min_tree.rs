//! A segment tree of minima: of numbers in a row, those below a limit in a range are found in
//! logarithmic time each.

use std::ops::Range;

/// The tree over a row of numbers.
pub struct MinTree {
    /// A heap-shaped tree: the minimum of a node's two children, the numbers in the second half.
    tree: Vec<u32>,
}

impl MinTree {
    /// A row of these numbers.
    pub fn new(numbers: &[u32]) -> MinTree {
        let leaves = numbers.len().next_power_of_two();
        let mut tree = vec![u32::MAX; 2 * leaves];
        tree[leaves..leaves + numbers.len()].copy_from_slice(numbers);
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node].min(tree[2 * node + 1]);
        }
        MinTree { tree }
    }

    /// The places in a range whose numbers are below a limit, in ascending order.
    pub fn below(&self, range: Range<usize>, limit: u32) -> Vec<usize> {
        let leaves = self.tree.len() / 2;
        let mut found = Vec::new();
        // Nodes with the places below them.
        let mut open = vec![(1, 0, leaves)];
        while let Some((node, first, count)) = open.pop() {
            let apart = range.end <= first || first + count <= range.start;
            if apart || self.tree[node] >= limit {
                continue;
            }
            if count == 1 {
                found.push(first);
                continue;
            }
            let half = count / 2;
            open.extend([(2 * node + 1, first + half, half), (2 * node, first, half)]);
        }
        found
    }

    /// Takes a place out of the row: it is below no limit any more.
    pub fn remove(&mut self, place: usize) {
        let mut node = self.tree.len() / 2 + place;
        self.tree[node] = u32::MAX;
        while node > 1 {
            node /= 2;
            self.tree[node] = self.tree[2 * node].min(self.tree[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_below_a_limit_are_found_until_they_are_removed() {
        for length in [0, 1, 2, 5, 8, 13] {
            let mut numbers: Vec<u32> = (0..length).map(|n| n * 7 % 10).collect();
            let mut row = MinTree::new(&numbers);
            for limit in [0, 3, 5, 10, 11] {
                for start in 0..numbers.len() {
                    for end in start..=numbers.len() {
                        let expected: Vec<usize> =
                            (start..end).filter(|&place| numbers[place] < limit).collect();
                        assert_eq!(row.below(start..end, limit), expected);
                    }
                }
                if let Some(place) = row.below(0..numbers.len(), limit).pop() {
                    row.remove(place);
                    numbers[place] = u32::MAX;
                }
            }
        }
    }
}
