//! Operations among the lanes of a warp, barriers, and what a thread can ask of its place.

use nbcc_isa::named_field;

named_field! {
    /// Which lanes an operation among lanes is for.
    pub enum SyncMode as "mode" {
        /// Those of its mask, which wait for each other.
        Sync = 0 "sync",
        /// Those that execute it together; the mask means nothing.
        Legacy = 1 "legacy",
    }
}

named_field! {
    /// Which lane a shuffle reads.
    pub enum ShflMode as "shuffle" {
        /// A lane below.
        Up = 0 "up",
        /// A lane above.
        Down = 1 "down",
        /// The exclusive or of both lane numbers.
        Bfly = 2 "bfly",
        /// A lane by number.
        Idx = 3 "idx",
    }
}

named_field! {
    /// What lanes vote on.
    pub enum VoteMode as "vote" {
        /// True for all.
        All = 0 "all",
        /// True for one at least.
        Any = 1 "any",
        /// The same for all.
        Uni = 2 "uni",
    }
}

named_field! {
    /// Reductions over the lanes of a warp.
    pub enum ReduxOp as "reduction" {
        /// Sum.
        Add = 0 "add",
        /// Lesser, signed.
        MinS = 1 "min_s",
        /// Lesser, unsigned.
        MinU = 2 "min_u",
        /// Greater, signed.
        MaxS = 3 "max_s",
        /// Greater, unsigned.
        MaxU = 4 "max_u",
        /// Bitwise and.
        And = 5 "and",
        /// Bitwise or.
        Or = 6 "or",
        /// Bitwise exclusive or.
        Xor = 7 "xor",
    }
}

named_field! {
    /// How a barrier combines the predicates of its threads.
    pub enum BarrierReduction as "reduction" {
        /// True for all.
        And = 0 "and",
        /// True for one at least.
        Or = 1 "or",
    }
}

named_field! {
    /// Whether all threads of a warp come to a barrier together.
    pub enum Alignment as "alignment" {
        /// They may come one by one.
        Unaligned = 0 "any",
        /// They do.
        Aligned = 1 "aligned",
    }
}

named_field! {
    /// Special registers of 32 bits, as PTX defines them.
    pub enum Special as "special register" {
        /// Position of the thread in its block, x.
        TidX = 0 "tid_x",
        /// Position of the thread in its block, y.
        TidY = 1 "tid_y",
        /// Position of the thread in its block, z.
        TidZ = 2 "tid_z",
        /// Threads of a block along x.
        NtidX = 3 "ntid_x",
        /// Threads of a block along y.
        NtidY = 4 "ntid_y",
        /// Threads of a block along z.
        NtidZ = 5 "ntid_z",
        /// Position of the block in the grid, x.
        CtaidX = 6 "ctaid_x",
        /// Position of the block in the grid, y.
        CtaidY = 7 "ctaid_y",
        /// Position of the block in the grid, z.
        CtaidZ = 8 "ctaid_z",
        /// Blocks of the grid along x.
        NctaidX = 9 "nctaid_x",
        /// Blocks of the grid along y.
        NctaidY = 10 "nctaid_y",
        /// Blocks of the grid along z.
        NctaidZ = 11 "nctaid_z",
        /// Position of the thread in its warp.
        Laneid = 12 "laneid",
        /// Number of the warp in its block.
        Warpid = 13 "warpid",
        /// Warps that a core may have.
        Nwarpid = 14 "nwarpid",
        /// Number of the core.
        Smid = 15 "smid",
        /// Cores of the machine.
        Nsmid = 16 "nsmid",
        /// The mask of the lane itself.
        LanemaskEq = 17 "lanemask_eq",
        /// The mask of the lane and those below.
        LanemaskLe = 18 "lanemask_le",
        /// The mask of the lanes below.
        LanemaskLt = 19 "lanemask_lt",
        /// The mask of the lane and those above.
        LanemaskGe = 20 "lanemask_ge",
        /// The mask of the lanes above.
        LanemaskGt = 21 "lanemask_gt",
        /// Cycles of the core, the low 32 bits.
        Clock = 22 "clock",
        /// Cycles of the core, the high 32 bits.
        ClockHi = 23 "clock_hi",
        /// Nanoseconds, the low 32 bits.
        GlobaltimerLo = 24 "globaltimer_lo",
        /// Nanoseconds, the high 32 bits.
        GlobaltimerHi = 25 "globaltimer_hi",
        /// Bytes of shared memory of a block, static and dynamic.
        TotalSmemSize = 26 "total_smem_size",
        /// Bytes of dynamic shared memory of a block.
        DynamicSmemSize = 27 "dynamic_smem_size",
        /// Number of the launch, the low 32 bits.
        GrididLo = 28 "gridid_lo",
        /// A register that the machine has not: zero.
        Zero = 29 "zero",
    }
}

named_field! {
    /// Special registers of 64 bits.
    pub enum SpecialWide as "special register" {
        /// Cycles of the core.
        Clock = 0 "clock64",
        /// Nanoseconds.
        Globaltimer = 1 "globaltimer",
        /// Number of the launch.
        Gridid = 2 "gridid",
        /// A register that the machine has not: zero.
        Zero = 3 "zero",
    }
}
