//! Why a subcore issues nothing in a cycle: the reason of the warp that issues next.

/// A reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stall {
    /// No warp was there.
    #[default]
    Empty,
    /// The front end fetches and decodes.
    Fetch,
    /// A register is computed or moved.
    Dependence,
    /// A register is loaded, or a fence waits for memory.
    Memory,
    /// A table of pending requests is full.
    Requests,
    /// A buffer of the pipeline is full.
    Buffers,
    /// At a barrier, or for lanes of the warp.
    Barrier,
}

impl Stall {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Stall; 7] = [
        Stall::Empty,
        Stall::Fetch,
        Stall::Dependence,
        Stall::Memory,
        Stall::Requests,
        Stall::Buffers,
        Stall::Barrier,
    ];

    /// Its key among the statistics.
    pub fn key(self) -> &'static str {
        match self {
            Stall::Empty => "stall.empty",
            Stall::Fetch => "stall.fetch",
            Stall::Dependence => "stall.dependence",
            Stall::Memory => "stall.memory",
            Stall::Requests => "stall.requests",
            Stall::Buffers => "stall.buffers",
            Stall::Barrier => "stall.barrier",
        }
    }
}
