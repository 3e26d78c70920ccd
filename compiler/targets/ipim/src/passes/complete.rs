//! Complete unrolling: loops over so few tiles that there is room for all of them stand in full, one
//! iteration behind the other (Muchnick, "Advanced Compiler Design and Implementation", section 17.4.2).
//! Addresses in banks are the same for all engines of a vault, and stand in instructions then: no
//! register holds them until a bank has served them, and nothing makes them of each other.
//!
//! Iterations stay blocks of their own, since `unroll` has made bodies as large as registers suffice for.

use std::cmp::Reverse;

use nbcc_ir::Function;
use nbcc_isa_ipim::Machine;
use nbcc_opt::unroll::{Candidate, run_apart};
use nbcc_opt::{cse, dce, fold, params, ranges, simplify_cfg};

use super::frequency::block_runs;
use super::legalize;
use super::unroll::{count, size};
use crate::intrinsics::{LD_PGSM, LD_RF, RD_VSM, REQ, ST_PGSM, ST_RF, WR_VSM, id_range};
use crate::kernel::Kernel;

/// A kernel has to lose one of so many operations that it runs.
const WORTH: u64 = 16;

/// How many times more than there is room for loops may come to before what their iterations have no use
/// for is gone.
const LOOKED_AT: u64 = 3;

/// Kernels, by their numbers, whose loops stand in full, where that is worth it and all kernels take no more
/// than `room` operations: those with most work first. `skip` says which are left alone.
pub fn run(
    kernels: &[Kernel],
    room: u64,
    machine: &Machine,
    skip: impl Fn(usize) -> bool,
) -> Vec<(usize, Function)> {
    let mut room = room.saturating_sub(kernels.iter().map(|k| static_size(&k.func)).sum());
    let mut order: Vec<(u64, usize)> = (0..kernels.len())
        .filter(|&number| !skip(number))
        .map(|number| (work(&kernels[number].func), number))
        .collect();
    order.sort_by_key(|&(work, number)| (Reverse(work), number));
    let mut done = Vec::new();
    for (before, number) in order {
        let func = &kernels[number].func;
        let small = static_size(func);
        if before > small + LOOKED_AT * room {
            continue;
        }
        let Some(unrolled) = in_full(func, machine) else { continue };
        let more = static_size(&unrolled).saturating_sub(small);
        let saved = before.saturating_sub(work(&unrolled));
        if more <= room && saved >= before / WORTH {
            room -= more;
            done.push((number, unrolled));
        }
    }
    done
}

/// A kernel whose loops with accesses to banks stand in full.
fn in_full(func: &Function, machine: &Machine) -> Option<Function> {
    let mut unrolled = func.clone();
    let accesses = |func: &Function, candidate: Candidate<'_>| {
        count(func, candidate.blocks, &[LD_RF, ST_RF, LD_PGSM, ST_PGSM]) > 0
            && count(func, candidate.blocks, &[RD_VSM, WR_VSM, REQ]) == 0
    };
    let starts = run_apart(&mut unrolled, accesses);
    if starts.is_empty() {
        return None;
    }
    for transform in [params::run, fold::run] {
        transform(&mut unrolled);
    }
    ranges::run_where(&mut unrolled, &|call| id_range(machine, call.name), |block| !block.cold);
    fold::run(&mut unrolled);
    simplify_cfg::run_where(&mut unrolled, |block| !starts.contains(&block));
    for transform in [params::run, fold::run, cse::run, dce::run] {
        transform(&mut unrolled);
    }
    legalize::run(&mut unrolled, &legalize::Features::default());
    Some(unrolled)
}

/// Operations of a function.
fn static_size(func: &Function) -> u64 {
    size(func, &func.layout)
}

/// Operations that a function runs.
fn work(func: &Function) -> u64 {
    let runs = block_runs(func);
    let each = func.layout.iter().map(|&block| runs[block].saturating_mul(size(func, &[block])));
    each.fold(0, u64::saturating_add)
}
