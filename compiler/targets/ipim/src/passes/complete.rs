//! Complete unrolling: loops over so few tiles that there is room for all of them stand in full, one
//! iteration behind the other (Muchnick, "Advanced Compiler Design and Implementation", section 17.4.2).
//! Addresses in banks are the same for all engines of a vault, and stand in instructions then: no
//! register holds them until a bank has served them, and nothing makes them of each other.
//!
//! Where registers suffice for two iterations side by side, all become one block, so that as many loads as
//! there are registers for are under way whatever iterations they belong to. Others stay blocks of their
//! own, whose size `unroll` has chosen.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use nbcc_analysis::liveness::Liveness;
use nbcc_ir::{Block, Cfg, Function, Value};
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
    let joined = with_iterations(func, machine, Iterations::Joined)?;
    // The schedule before allocation leaves an eighth of the registers for reloads.
    match 2 * most_vectors(&joined) <= machine.registers.data as usize * 7 / 8 {
        true => Some(joined),
        false => with_iterations(func, machine, Iterations::Apart),
    }
}

/// How iterations stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Iterations {
    /// Each in blocks of its own.
    Apart,
    /// In one block.
    Joined,
}

fn with_iterations(func: &Function, machine: &Machine, iterations: Iterations) -> Option<Function> {
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
    let joins = |block| iterations == Iterations::Joined || !starts.contains(&block);
    simplify_cfg::run_where(&mut unrolled, joins);
    for transform in [params::run, fold::run, cse::run, dce::run] {
        transform(&mut unrolled);
    }
    legalize::run(&mut unrolled, &legalize::Features::default());
    Some(unrolled)
}

/// Vectors and floats that are live at once, the most of any place.
fn most_vectors(func: &Function) -> usize {
    let liveness = Liveness::new(func, &Cfg::new(func));
    let counts = |value: &Value| func.ty(*value).lanes > 1 || func.ty(*value).is_float();
    let most_of = |&block: &Block| {
        let mut live: BTreeSet<Value> =
            liveness.live_out(block).iter().copied().filter(counts).collect();
        let mut most = live.len();
        for &inst in func.blocks[block].insts.iter().rev() {
            if let Some(result) = func.result(inst) {
                live.remove(&result);
            }
            live.extend(func.insts[inst].op.args().into_iter().filter(counts));
            most = most.max(live.len());
        }
        most
    };
    func.layout.iter().map(most_of).max().unwrap_or(0)
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
