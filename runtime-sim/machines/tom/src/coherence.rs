//! What caches hold that memory does not any more (section 4.4.2).

use crate::sm::Sm;

/// Steps of coherence that are left out: for tests, which show that each is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A warp leaves before what its block wrote is in memory.
    pub keeps_writes: bool,
    /// The private cache of a stack is not emptied before a block begins.
    pub keeps_cache: bool,
    /// Lines that a block wrote are not invalidated for its requester.
    pub keeps_lines: bool,
}

/// Contents of caches that differ from memory.
#[derive(Debug, Default)]
pub struct Copies {}

impl Sm {
    /// A line of the private cache is no longer valid.
    pub fn drop_line(&mut self, line: u64, _copies: Option<&mut Copies>) {
        self.cache.drop_line(line);
    }

    /// No line of the private cache is valid any more.
    pub fn clear_cache(&mut self, _copies: Option<&mut Copies>) {
        self.cache.clear();
    }
}
