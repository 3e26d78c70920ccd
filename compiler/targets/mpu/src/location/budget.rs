//! How many registers a kernel may take of each file, so that the blocks it may be launched with fit
//! a core (Table II: 32 KB far and 16 KB near a subcore, shared by its warps). A kernel that states no
//! bound on its blocks is to run with the largest there are.

use nbcc_ir::Kernel;
use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::files::entries_of;
use nbcc_isa_mpu::location::Side;
use nbcc_isa_simt::{Hint, LANES};
use nbcc_simt::backend::banks::{Banks, Store};

use super::banks::{BOTH, FAR, NEAR};

/// Registers that single instructions need; a file has no fewer for a thread.
const MIN_REGISTERS: u32 = 16;

/// The most threads that a block of a kernel may have, where its source says so.
pub fn block_bound(table: &Kernel) -> Option<u32> {
    let product = |sizes: [u32; 3]| sizes.into_iter().fold(1u32, u32::saturating_mul);
    table.required_threads.or(table.max_threads).map(product)
}

/// The warps of a subcore that a block of so many threads may take, of the most there are where no bound is
/// stated.
pub fn block_warps(machine: &Machine, bound: Option<u32>) -> u32 {
    let threads = bound.unwrap_or(machine.core.block_threads);
    threads.div_ceil(LANES as u32).div_ceil(machine.hierarchy.subcores).max(1)
}

/// The same, as many blocks at once as the kernel asks for.
pub fn subcore_warps(machine: &Machine, table: &Kernel) -> u32 {
    let warps = block_warps(machine, block_bound(table));
    let wanted = warps.saturating_mul(table.min_blocks.unwrap_or(1).max(1));
    if wanted <= machine.core.subcore_warps { wanted } else { warps }
        .clamp(1, machine.core.subcore_warps)
}

/// The blocks that a core may hold at once whatever registers they take: by the warps of a subcore, of which
/// a block takes so many, by shared memory, and by their number alone.
pub fn block_limits(machine: &Machine, block_warps: u32, shared_bytes: u64) -> [u32; 3] {
    let shared = u64::from(machine.memory.shared_bytes).checked_div(shared_bytes);
    let shared = shared.map_or(u32::MAX, |blocks| u32::try_from(blocks).unwrap_or(u32::MAX));
    [machine.core.subcore_warps / block_warps, shared, machine.core.core_blocks]
}

/// The blocks that a core gets at once at most, by its limits and by how many of the largest launch come to each
/// core.
fn most_blocks(machine: &Machine, table: &Kernel, block_warps: u32, shared_bytes: u64) -> u32 {
    let each = table.grid_blocks.map(|blocks| blocks.div_ceil(machine.cores().into()));
    let of_launch = each.and_then(|blocks| u32::try_from(blocks).ok()).unwrap_or(u32::MAX);
    let limits = block_limits(machine, block_warps, shared_bytes);
    limits.into_iter().fold(of_launch, u32::min).max(1)
}

/// The banks of a kernel whose blocks take so many bytes of shared memory: far, near, both.
pub fn banks(machine: &Machine, table: &Kernel, shared_bytes: u64) -> Banks {
    let warps = subcore_warps(machine, table);
    let of = |side| (entries_of(machine, side) / warps).max(MIN_REGISTERS);
    let block = block_warps(machine, block_bound(table));
    // As many as are left for each where all warps run that a subcore can get.
    let most = most_blocks(machine, table, block, shared_bytes) * block;
    let spare = |side| entries_of(machine, side) / most.clamp(1, machine.core.subcore_warps);
    let store =
        |banks: &[u8], side| Store { banks: banks.to_vec(), entries: of(side), spare: spare(side) };
    let names = machine.registers.words;
    Banks {
        stores: vec![
            store(&[FAR, BOTH], Side::Far),
            store(&[NEAR, BOTH], Side::Near),
            Store { banks: vec![FAR, NEAR, BOTH], entries: names, spare: names },
        ],
        hints: vec![Hint::Far, Hint::Near, Hint::None],
    }
}
