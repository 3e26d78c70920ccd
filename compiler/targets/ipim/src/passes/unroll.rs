//! How often loops of kernels are unrolled: so often that the queue of instructions fills with
//! independent work, as long as the instruction memory has room. Addresses in banks are the same for
//! all engines of a vault: where all loops around an access are gone, they stand in instructions.

use nbcc_ir::{Block, Function, Inst, Op};
use nbcc_opt::unroll::run_where;
use nbcc_opt::unroll_counted;

use super::copies;
use super::frequency::block_runs;
use crate::intrinsics::{LD_PGSM, LD_RF, RD_VSM, REQ, ST_PGSM, ST_RF, WR_VSM};
use crate::kernel::{Kernel, KernelCall};

/// The most operations of a loop's body once it is unrolled, before what its copies have in common is
/// computed once.
pub const BODY: u64 = 960;

/// The most accesses to banks of such a body: with more, registers are too few for all at once.
const BANK_ACCESSES: u64 = 64;

/// The same where nothing but banks limits the body: each turn from stores to loads that is saved is one
/// between rows.
const MOST_BANK_ACCESSES: u64 = 128;

/// What takes long.
pub const ACCESSES: [&str; 6] = [LD_RF, ST_RF, LD_PGSM, ST_PGSM, RD_VSM, REQ];

/// What became of the loops.
#[derive(Clone, Copy, Debug)]
pub struct Unrolled {
    /// Whether any was unrolled.
    pub any: bool,
    /// Whether there was no room from the start for loops with more than half of the work, which are
    /// worth four copies at least.
    pub starved: bool,
}

/// Unrolls the loops of kernels into one of `share` parts of what is left of `room` operations, for groups
/// of `engines` whose accesses to banks are served one after another: as [`copies`] shares it out where it
/// is short, then those that run most first. `calls` has the constants of merged kernels; `skip` says
/// which kernels are left alone.
pub fn run(
    kernels: &mut [Kernel],
    calls: &[KernelCall],
    (room, share): (u64, u64),
    engines: u32,
    skip: impl Fn(usize) -> bool,
) -> Unrolled {
    let mut free = room.saturating_sub(kernels.iter().map(|k| size_of(&k.func)).sum()) / share;
    let full = free == 0;
    let mut order: Vec<(u64, usize)> = Vec::new();
    for (number, kernel) in kernels.iter().enumerate().filter(|&(number, _)| !skip(number)) {
        let runs = block_runs(&kernel.func);
        let blocks = kernel.func.layout.iter();
        let work = |&block: &Block| runs[block].saturating_mul(operations(&kernel.func, block));
        order.push((blocks.map(work).fold(0, u64::saturating_add), number));
    }
    order.sort_by_key(|&(work, number)| (std::cmp::Reverse(work), number));
    let all: u64 = order.iter().map(|&(work, _)| work).fold(0, u64::saturating_add);
    let (mut any, mut denied) = (false, 0u64);
    let copies = copies::share(kernels, calls, free, engines, &skip);
    for &(_, number) in &order {
        let func = &mut kernels[number].func;
        let calls: Vec<&KernelCall> = calls.iter().filter(|call| call.kernel == number).collect();
        any |= run_where(func, |func, candidate| {
            let times = match copies.short {
                true => factor(candidate.trips, copies.of(number, candidate.blocks[0])),
                false => 1,
            };
            let more = times + candidate.trips % times - 1;
            free = free.saturating_sub(more * size(func, candidate.blocks));
            times
        });
        any |= unroll_counted::run_where(func, |func, counted| {
            let most = copies.of(number, counted.blocks[0]);
            let groups = copies::groups(func, counted, &calls, most);
            free = free.saturating_sub(groups.copies() * size(func, counted.blocks));
            groups
        });
    }
    for (_, number) in order {
        let func = &mut kernels[number].func;
        let runs = block_runs(func);
        any |= run_where(func, |func, candidate| {
            let one = size(func, candidate.blocks);
            let accesses = most_accesses(func, candidate.blocks, engines);
            let most = |room: u64| (room / one.max(1)).min(accesses);
            let times = factor(candidate.trips, most(BODY.min(free + one)));
            if times == 1 && factor(candidate.trips, most(BODY)) >= 4 {
                let work = runs[candidate.blocks[0]].saturating_mul(one);
                denied = denied.saturating_add(work);
            }
            let copies = times + candidate.trips % times - 1;
            free = free.saturating_sub(copies * one);
            times
        });
    }
    Unrolled { any, starved: full && denied > all / 2 }
}

/// How often a body stands, at most `most` times: what divides the trips, if there is something near.
fn factor(trips: u64, most: u64) -> u64 {
    let times = most.clamp(1, trips);
    let divides = |times: &u64| trips.is_multiple_of(*times);
    let near = (times / 2 + 1..=times).rev().find(divides);
    near.unwrap_or(match times {
        // What is left over stands before the loop, too.
        0..4 => 1,
        _ => times / 2,
    })
}

/// Operations of blocks.
pub fn size(func: &Function, blocks: &[Block]) -> u64 {
    blocks.iter().map(|&block| operations(func, block)).sum()
}

/// How many copies of a body registers suffice for, by its accesses to banks.
pub fn most_accesses(func: &Function, blocks: &[Block], engines: u32) -> u64 {
    let most = match banks_limit(func, blocks, engines) {
        true => MOST_BANK_ACCESSES,
        false => BANK_ACCESSES,
    };
    most / count(func, blocks, &[LD_RF, ST_RF]).max(1)
}

/// Whether banks take longer for a body than the control core, of which copies share half of the
/// operations (addresses, counters), and nothing else outside of engines takes part in it.
pub fn banks_limit(func: &Function, blocks: &[Block], engines: u32) -> bool {
    let accesses = count(func, blocks, &[LD_RF, ST_RF, LD_PGSM, ST_PGSM]);
    2 * accesses * u64::from(engines) > size(func, blocks)
        && count(func, blocks, &[RD_VSM, WR_VSM, REQ]) == 0
}

/// How many instructions of a body have one of these names.
pub fn count(func: &Function, blocks: &[Block], names: &[&str]) -> u64 {
    let insts = blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let named = |&&inst: &&Inst| match &func.insts[inst].op {
        Op::Intrinsic(call) => names.contains(&call.name),
        _ => false,
    };
    insts.filter(named).count() as u64
}

fn size_of(func: &Function) -> u64 {
    func.layout.iter().map(|&block| operations(func, block)).sum()
}

/// Operations of a block that are likely to be instructions.
fn operations(func: &Function, block: Block) -> u64 {
    let insts = func.blocks[block].insts.iter();
    let counts = |&&inst: &&_| !matches!(func.insts[inst].op, Op::Const(..));
    insts.filter(counts).count() as u64 + 1
}
