//! Why a control core does not issue.

/// Why a control core did not issue in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// Fetch and decode after a taken jump.
    Branch,
    /// It reads a register that an issued instruction writes.
    TrueDependence,
    /// It writes a register that an issued instruction writes.
    OutputDependence,
    /// It writes a register that an issued instruction reads.
    AntiDependence,
    /// A scratchpad is read or written by an issued instruction.
    ScratchpadOrder,
    /// The issued-instruction queue is full.
    QueueFull,
    /// The TSVs carry data.
    Tsv,
    /// Not all instructions before a `sync` have retired, or not all vaults are there.
    Sync,
    /// The program is over, but not all its instructions have retired.
    Drain,
}

impl Stall {
    /// Every cause.
    pub const ALL: [Stall; 9] = [
        Stall::Branch,
        Stall::TrueDependence,
        Stall::OutputDependence,
        Stall::AntiDependence,
        Stall::ScratchpadOrder,
        Stall::QueueFull,
        Stall::Tsv,
        Stall::Sync,
        Stall::Drain,
    ];

    /// The name in statistics and traces.
    pub fn name(self) -> &'static str {
        match self {
            Stall::Branch => "branch",
            Stall::TrueDependence => "true_dependence",
            Stall::OutputDependence => "output_dependence",
            Stall::AntiDependence => "anti_dependence",
            Stall::ScratchpadOrder => "scratchpad_order",
            Stall::QueueFull => "queue_full",
            Stall::Tsv => "tsv",
            Stall::Sync => "sync",
            Stall::Drain => "drain",
        }
    }
}
