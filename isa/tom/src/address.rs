//! Which stack holds which address.

/// The bits of an address that choose its stack under a mapping that takes them as they are
/// (section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StackBits {
    /// The lowest of them.
    pub low: u32,
    /// How many, so that there are `2^count` stacks.
    pub count: u32,
}

impl StackBits {
    /// The stack of an address.
    pub fn stack(self, address: u64) -> u32 {
        (address >> self.low) as u32 & ((1 << self.count) - 1)
    }

    /// The lowest and the highest bit.
    pub fn pair(self) -> [u32; 2] {
        [self.low, self.low + self.count - 1]
    }
}
