//! How many registers a kernel may take of each file, so that the blocks it may be launched with fit
//! a core (Table II: 32 KB far and 16 KB near a subcore, shared by its warps). A kernel that states no
//! bound on its blocks is to run with the largest there are.

use nbcc_ir::Kernel;
use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::files::entries_of;
use nbcc_isa_mpu::location::Side;
use nbcc_isa_simt::{Hint, LANES};
use nbcc_simt::backend::banks::{Banks, Store};

use super::block_bound;

/// Registers that single instructions need; a file has no fewer for a thread.
const LEAST: u32 = 16;

/// The warps of a subcore that a block may take, as many blocks at once as the kernel asks for.
pub fn subcore_warps(machine: &Machine, table: &Kernel) -> u32 {
    let threads = block_bound(table).unwrap_or(machine.core.block_threads);
    let warps = threads.div_ceil(LANES as u32).div_ceil(machine.hierarchy.subcores);
    let wanted = warps.saturating_mul(table.min_blocks.unwrap_or(1).max(1));
    if wanted <= machine.core.subcore_warps { wanted } else { warps }
        .clamp(1, machine.core.subcore_warps)
}

/// The banks of a kernel: far, near, both.
pub fn banks(machine: &Machine, table: &Kernel) -> Banks {
    let warps = subcore_warps(machine, table);
    let of = |side| (entries_of(machine, side) / warps).max(LEAST);
    // As many as are left for each where all warps of a subcore run.
    let spare = |side| entries_of(machine, side) / machine.core.subcore_warps;
    let store =
        |banks: &[u8], side| Store { banks: banks.to_vec(), entries: of(side), spare: spare(side) };
    let names = machine.registers.words;
    Banks {
        stores: vec![
            store(&[0, 2], Side::Far),
            store(&[1, 2], Side::Near),
            Store { banks: vec![0, 1, 2], entries: names, spare: names },
        ],
        hints: vec![Hint::Far, Hint::Near, Hint::None],
    }
}
