//! Why a warp scheduler issues nothing in a cycle: the reason of the warp that issues next.

/// A reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stall {
    /// No warp was there.
    #[default]
    Empty,
    /// The front end fetches and decodes.
    Fetch,
    /// A register is computed.
    Dependence,
    /// A register is loaded, or a fence waits for memory.
    Memory,
    /// The load-store unit takes no more.
    Requests,
    /// A unit is busy.
    Units,
    /// At a barrier, or for lanes of the warp.
    Barrier,
    /// The offload controller decides, or a block runs in a stack.
    Offload,
}

impl Stall {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Stall; 8] = [
        Stall::Empty,
        Stall::Fetch,
        Stall::Dependence,
        Stall::Memory,
        Stall::Requests,
        Stall::Units,
        Stall::Barrier,
        Stall::Offload,
    ];

    /// Its key among the statistics.
    pub fn key(self) -> &'static str {
        match self {
            Stall::Empty => "stall.empty",
            Stall::Fetch => "stall.fetch",
            Stall::Dependence => "stall.dependence",
            Stall::Memory => "stall.memory",
            Stall::Requests => "stall.requests",
            Stall::Units => "stall.units",
            Stall::Barrier => "stall.barrier",
            Stall::Offload => "stall.offload",
        }
    }
}
