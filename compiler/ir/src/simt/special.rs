//! The special registers of a thread: where it is in its grid, its warp and its machine, and what
//! the clock says.

use std::fmt;

use crate::Type;

/// A special register of PTX. What the machine has none of reads as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpecialReg {
    /// Position of the thread in its block, along dimension 0, 1 or 2.
    Tid(u8),
    /// Threads of a block along a dimension.
    Ntid(u8),
    /// Position of the block in the grid.
    Ctaid(u8),
    /// Blocks of the grid along a dimension.
    Nctaid(u8),
    /// Position of the thread in its warp.
    Laneid,
    /// Number of the warp in its block.
    Warpid,
    /// Warps that a block may have.
    Nwarpid,
    /// Number of the core.
    Smid,
    /// Cores of the machine.
    Nsmid,
    /// Number of the launch; 64 bits.
    Gridid,
    /// The mask of the lane itself.
    LanemaskEq,
    /// The mask of the lane and those below.
    LanemaskLe,
    /// The mask of the lanes below.
    LanemaskLt,
    /// The mask of the lane and those above.
    LanemaskGe,
    /// The mask of the lanes above.
    LanemaskGt,
    /// Cycles, the low 32 bits.
    Clock,
    /// Cycles, the high 32 bits.
    ClockHi,
    /// Cycles, 64 bits.
    Clock64,
    /// Nanoseconds, 64 bits.
    Globaltimer,
    /// Nanoseconds, the low 32 bits.
    GlobaltimerLo,
    /// Nanoseconds, the high 32 bits.
    GlobaltimerHi,
    /// A performance counter, 0 to 7, 32 bits.
    Pm(u8),
    /// A performance counter, 0 to 7, 64 bits.
    Pm64(u8),
    /// A register of the driver, 0 to 31.
    Envreg(u8),
    /// Bytes of shared memory of a block, static and dynamic.
    TotalSmemSize,
    /// Bytes of dynamic shared memory of a block.
    DynamicSmemSize,
}

const DIMENSIONS: [char; 3] = ['x', 'y', 'z'];

const PLAIN: &[(SpecialReg, &str)] = &[
    (SpecialReg::Laneid, "laneid"),
    (SpecialReg::Warpid, "warpid"),
    (SpecialReg::Nwarpid, "nwarpid"),
    (SpecialReg::Smid, "smid"),
    (SpecialReg::Nsmid, "nsmid"),
    (SpecialReg::Gridid, "gridid"),
    (SpecialReg::LanemaskEq, "lanemask_eq"),
    (SpecialReg::LanemaskLe, "lanemask_le"),
    (SpecialReg::LanemaskLt, "lanemask_lt"),
    (SpecialReg::LanemaskGe, "lanemask_ge"),
    (SpecialReg::LanemaskGt, "lanemask_gt"),
    (SpecialReg::Clock, "clock"),
    (SpecialReg::ClockHi, "clock_hi"),
    (SpecialReg::Clock64, "clock64"),
    (SpecialReg::Globaltimer, "globaltimer"),
    (SpecialReg::GlobaltimerLo, "globaltimer_lo"),
    (SpecialReg::GlobaltimerHi, "globaltimer_hi"),
    (SpecialReg::TotalSmemSize, "total_smem_size"),
    (SpecialReg::DynamicSmemSize, "dynamic_smem_size"),
];

impl SpecialReg {
    /// Its type in the IR.
    pub fn ty(self) -> Type {
        use SpecialReg::*;
        if matches!(self, Gridid | Clock64 | Globaltimer | Pm64(_)) { Type::I64 } else { Type::I32 }
    }

    /// Whether each read may give another value.
    pub fn is_volatile(self) -> bool {
        use SpecialReg::*;
        matches!(
            self,
            Clock
                | ClockHi
                | Clock64
                | Globaltimer
                | GlobaltimerLo
                | GlobaltimerHi
                | Pm(_)
                | Pm64(_)
        )
    }

    /// Whether all threads of a block read the same.
    pub fn is_uniform(self) -> bool {
        use SpecialReg::*;
        matches!(
            self,
            Ntid(_)
                | Ctaid(_)
                | Nctaid(_)
                | Nwarpid
                | Smid
                | Nsmid
                | Gridid
                | Envreg(_)
                | TotalSmemSize
                | DynamicSmemSize
        )
    }

    /// Every special register.
    pub fn all() -> impl Iterator<Item = SpecialReg> {
        use SpecialReg::*;
        let dims = (0..3).flat_map(|d| [Tid(d), Ntid(d), Ctaid(d), Nctaid(d)]);
        let counters = (0..8).flat_map(|n| [Pm(n), Pm64(n)]);
        let plain = PLAIN.iter().map(|&(reg, _)| reg);
        dims.chain(plain).chain(counters).chain((0..32).map(Envreg))
    }

    /// The register of that word, which is PTX's without the `%`, the dimension behind `_`
    /// (`tid_x`).
    pub fn from_name(name: &str) -> Option<SpecialReg> {
        if let Some((reg, _)) = PLAIN.iter().find(|(_, word)| *word == name) {
            return Some(*reg);
        }
        SpecialReg::all().find(|reg| reg.to_string() == name)
    }
}

impl fmt::Display for SpecialReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dim = |d: u8| DIMENSIONS.get(usize::from(d)).copied().unwrap_or('?');
        match *self {
            SpecialReg::Tid(d) => write!(f, "tid_{}", dim(d)),
            SpecialReg::Ntid(d) => write!(f, "ntid_{}", dim(d)),
            SpecialReg::Ctaid(d) => write!(f, "ctaid_{}", dim(d)),
            SpecialReg::Nctaid(d) => write!(f, "nctaid_{}", dim(d)),
            SpecialReg::Pm(n) => write!(f, "pm{n}"),
            SpecialReg::Pm64(n) => write!(f, "pm{n}_64"),
            SpecialReg::Envreg(n) => write!(f, "envreg{n}"),
            plain => {
                let word = PLAIN.iter().find(|(reg, _)| *reg == plain);
                f.write_str(word.map_or("?", |(_, word)| word))
            }
        }
    }
}
