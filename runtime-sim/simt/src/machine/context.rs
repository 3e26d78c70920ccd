//! What a warp's instructions see besides the warp: the launch, its block, what all may change.

use crate::{LANES, Mask};
use nbcc_isa_simt::{Kernel, Program};

use crate::machine::statistics::Counters;
use crate::machine::view::View;

/// What all blocks of a launch share.
pub struct Context<'a> {
    /// The program.
    pub program: &'a Program,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Where its data objects lie.
    pub objects: &'a [u64],
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Parameters.
    pub params: &'a [u8],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The number of the launch.
    pub number: u64,
}

/// What a launch changes.
pub struct State<'a> {
    /// Memory of the machine.
    pub memory: View<'a>,
    /// What is counted.
    pub counters: &'a mut Counters,
    /// What the program prints.
    pub output: &'a mut Vec<u8>,
    /// The allocation that was used last.
    pub near: usize,
}

/// The block of a warp.
pub struct Place<'a> {
    /// Its position in the grid.
    pub index: [u32; 3],
    /// The core.
    pub core: u32,
    /// What its clock says.
    pub clock: u64,
    /// Its shared memory.
    pub shared: &'a mut [u8],
}

/// The first lane of a mask.
pub fn first(mask: Mask) -> usize {
    mask.trailing_zeros() as usize % LANES
}
