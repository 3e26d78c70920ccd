//! What SIMT machines share: warps of 32 threads that part and meet again, barriers, operations
//! among lanes, memory with bounds, the arithmetic of PTX bit by bit, and made of them the
//! [functional machine](machine) that runs programs of `isa/simt`. Section III of the MPU paper; the
//! PTX ISA manual for every result. What any machine that says when needs besides is in [`timing`].
//!
//! Arithmetic is native where the host rounds as asked, and otherwise made from native binary64
//! by error-free transformations; results are exact either way.

pub mod approx;
pub mod atomic;
pub mod barrier;
pub mod convert;
pub mod float;
pub mod format;
pub mod integer;
pub mod lanes;
pub mod machine;
pub mod memory;
pub mod operation;
pub mod paths;
pub mod simd;
pub mod sparse;
pub mod timing;
pub mod wide;

pub use machine::{
    Counters, DEFINITIONS, Device, Fault, FaultKind, Launch, LaunchError, LoadError, Module,
    RunOptions,
};
pub use nbcc_isa_simt::LANES;

/// A 32-bit register of a warp.
pub type Words = [u32; LANES];
/// Lanes, bit i for lane i.
pub type Mask = u32;

/// The lanes of a mask, in ascending order.
pub fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}
