//! The greatest of a row of numbers, under additions to ranges of them: a segment tree.

/// A row of numbers, each at its place.
pub struct Tree {
    size: usize,
    /// The greatest number below each node, without what was added to nodes above.
    greatest: Vec<i128>,
    /// What was added to all numbers below each node.
    added: Vec<i128>,
}

impl Tree {
    /// A row of that many, all of them `number`.
    pub fn new(count: usize, number: i128) -> Tree {
        let size = count.next_power_of_two();
        Tree { size, greatest: vec![number; 2 * size], added: vec![0; 2 * size] }
    }

    /// Adds to the numbers from `first` to `last`; to none if `first` is behind `last`.
    pub fn add(&mut self, first: usize, last: usize, number: i128) {
        if first <= last {
            self.add_below(1, 0, self.size, first, last + 1, number);
        }
    }

    fn add_below(
        &mut self,
        node: usize,
        from: usize,
        to: usize,
        first: usize,
        end: usize,
        number: i128,
    ) {
        if first <= from && to <= end {
            self.greatest[node] += number;
            self.added[node] += number;
            return;
        }
        let middle = from.midpoint(to);
        if first < middle {
            self.add_below(2 * node, from, middle, first, end, number);
        }
        if middle < end {
            self.add_below(2 * node + 1, middle, to, first, end, number);
        }
        self.greatest[node] =
            self.greatest[2 * node].max(self.greatest[2 * node + 1]) + self.added[node];
    }

    /// The greatest number from `first` to `last` and the first place that has it.
    pub fn greatest(&self, first: usize, last: usize) -> Option<(i128, usize)> {
        (first <= last).then(|| self.greatest_below(1, 0, self.size, first, last + 1)).flatten()
    }

    fn greatest_below(
        &self,
        node: usize,
        from: usize,
        to: usize,
        first: usize,
        end: usize,
    ) -> Option<(i128, usize)> {
        if end <= from || to <= first {
            return None;
        }
        if to - from == 1 {
            return Some((self.greatest[node], from));
        }
        let middle = from.midpoint(to);
        if first <= from && to <= end {
            // Down the side that has the greatest, the left one first.
            let is_left = self.greatest[2 * node] >= self.greatest[2 * node + 1];
            let (child, from, to) =
                if is_left { (2 * node, from, middle) } else { (2 * node + 1, middle, to) };
            let below = self.greatest_below(child, from, to, first, end);
            return below.map(|(number, place)| (number + self.added[node], place));
        }
        let left = self.greatest_below(2 * node, from, middle, first, end);
        let right = self.greatest_below(2 * node + 1, middle, to, first, end);
        let best = match (left, right) {
            (Some(left), Some(right)) => Some(if right.0 > left.0 { right } else { left }),
            (one, other) => one.or(other),
        };
        best.map(|(number, place)| (number + self.added[node], place))
    }
}
