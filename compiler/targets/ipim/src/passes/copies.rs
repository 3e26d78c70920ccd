//! How often the bodies of loops stand where the instruction memory is too small for as many copies of
//! all as would pay: room goes where a copy saves most cycles for its size, one doubling after the
//! other (the greedy choice for a knapsack whose gains fall: Dantzig, "Discrete-Variable Extremum
//! Problems", 1957).
//!
//! A body that stands once waits in each iteration until what it has in flight leaves the registers;
//! with `n` copies every `n` iterations wait once.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use nbcc_analysis::loops::LoopForest;
use nbcc_ir::{BinaryOp, Block, Cfg, Dominators, Function, Inst, Op, Value};
use nbcc_opt::unroll;
use nbcc_opt::unroll_counted::{self, Counted, Groups};

use super::frequency::{UNKNOWN_TRIPS, block_runs};
use super::unroll::{ACCESSES, BODY, count, most_accesses, size};
use crate::intrinsics::PASSED;
use crate::kernel::{Kernel, KernelCall};

/// Cycles from the issue of an access until its registers are free, about: a bank whose row is open.
const ACCESS: u64 = 64;

/// The same of an operation of an engine.
const OPERATION: u64 = 4;

/// The most operations that a constant of a call is looked for through.
const BUDGET: u32 = 8;

/// How often bodies stand.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// Whether there is less room than would pay.
    pub short: bool,
    /// For the header of each loop, in the kernel of that number.
    times: BTreeMap<(usize, Block), u64>,
}

impl Copies {
    /// How often the body of a loop stands, 1 where nothing was decided.
    pub fn of(&self, kernel: usize, header: Block) -> u64 {
        self.times.get(&(kernel, header)).copied().unwrap_or(1)
    }
}

/// Loops without loops inside and those around them, of which copies pay.
struct Nest {
    kernel: usize,
    /// Headers from the inside out, with trips: those of all calls where they differ.
    levels: Vec<(Block, Vec<u64>)>,
    /// Iterations of the innermost loop in all calls.
    runs: u64,
    /// Operations of its body.
    one: u64,
    /// Cycles that an iteration waits.
    wait: u64,
    /// The most copies that make sense.
    most: u64,
    times: u64,
}

impl Nest {
    /// As many copies as there are, or twice as many.
    fn next(&self) -> Option<u64> {
        (self.times * 2 <= self.most).then_some(self.times * 2)
    }

    /// Cycles that the next copies save, and operations that they take.
    fn gain(&self) -> Option<(u64, u64)> {
        let next = self.next()?;
        let saved = self.wait / self.times - self.wait / next;
        let gain = self.runs.saturating_mul(saved);
        (gain > 0).then_some((gain, (next - self.times) * self.one))
    }
}

/// What a nest has to offer: more cycles for an operation come first.
struct Offer {
    gain: u64,
    size: u64,
    nest: usize,
}

impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> Ordering {
        let [own, theirs] =
            [(self, other), (other, self)].map(|(a, b)| u128::from(a.gain) * u128::from(b.size));
        own.cmp(&theirs).then(other.nest.cmp(&self.nest))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Offer) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

/// Shares `room` operations among the loops of kernels, for groups of `engines` whose accesses to
/// banks are served one after another. `skip` says which kernels are left alone.
pub fn share(
    kernels: &mut [Kernel],
    calls: &[KernelCall],
    room: u64,
    engines: u32,
    skip: impl Fn(usize) -> bool,
) -> Copies {
    let mut nests = Vec::new();
    for (number, kernel) in kernels.iter_mut().enumerate().filter(|&(number, _)| !skip(number)) {
        let calls: Vec<&KernelCall> = calls.iter().filter(|call| call.kernel == number).collect();
        nests.extend(nests_of(number, &mut kernel.func, &calls, engines));
    }
    let offer = |nests: &[Nest], nest: usize| {
        let (gain, size) = nests[nest].gain()?;
        Some(Offer { gain, size, nest })
    };
    let mut offers: BinaryHeap<Offer> =
        (0..nests.len()).filter_map(|nest| offer(&nests, nest)).collect();
    let mut free = room;
    let mut copies = Copies::default();
    while let Some(Offer { size, nest, .. }) = offers.pop() {
        if size > free {
            copies.short = true;
            continue;
        }
        free -= size;
        nests[nest].times *= 2;
        offers.extend(offer(&nests, nest));
    }
    for nest in &nests {
        let mut left = nest.times;
        for (header, trips) in &nest.levels {
            let most = trips.iter().copied().max().unwrap_or(1).max(1);
            copies.times.insert((nest.kernel, *header), left.min(most));
            left /= most;
            if left < 2 {
                break;
            }
        }
    }
    copies
}

/// The nests of a kernel.
fn nests_of(kernel: usize, func: &mut Function, calls: &[&KernelCall], engines: u32) -> Vec<Nest> {
    let mut found: Vec<(Vec<Block>, Vec<u64>)> = Vec::new();
    unroll::run_where(func, |_, candidate| {
        found.push((candidate.blocks.to_vec(), vec![candidate.trips; calls.len().max(1)]));
        1
    });
    unroll_counted::run_where(func, |func, counted| {
        if let Some(trips) = trips(func, counted, calls) {
            found.push((counted.blocks.to_vec(), trips));
        }
        Groups::None
    });
    let runs = block_runs(func);
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    let nest = |(blocks, trips): (Vec<Block>, Vec<u64>)| {
        let one = size(func, &blocks);
        let each = trips.iter().copied().max().unwrap_or(1);
        let info = func.blocks[blocks[0]].loop_info.as_ref();
        let assumed = info.and_then(|info| info.trips).unwrap_or(UNKNOWN_TRIPS);
        let all: u64 = trips.iter().sum();
        let mut levels = vec![(blocks[0], trips)];
        let mut product = each;
        let mut at = forest.headed_by(blocks[0]).and_then(|l| forest.loops[l].parent);
        while let Some(l) = at.filter(|&l| forest.loops[l].inner.len() == 1) {
            let header = forest.loops[l].header;
            let known = func.blocks[header].loop_info.as_ref().and_then(|info| info.trips);
            let Some(trips) = known else { break };
            product = product.saturating_mul(trips);
            levels.push((header, vec![trips]));
            at = forest.loops[l].parent;
        }
        Nest {
            kernel,
            runs: runs[blocks[0]].saturating_mul(all) / assumed,
            one,
            wait: wait(func, &blocks),
            most: (BODY / one.max(1)).min(most_accesses(func, &blocks, engines)).min(product),
            levels,
            times: 1,
        }
    };
    found.into_iter().map(nest).collect()
}

/// How often a loop runs in each call of its kernel, if constants of calls say so.
fn trips(func: &Function, counted: Counted<'_>, calls: &[&KernelCall]) -> Option<Vec<u64>> {
    let trips = |call: &&KernelCall| {
        let ends = [counted.start, counted.bound].map(|v| constant(func, v, call, BUDGET));
        let [Some(start), Some(bound)] = ends else { return None };
        let distance = u64::from(bound.wrapping_sub(start));
        (distance > 0 && distance.is_multiple_of(counted.step)).then_some(distance / counted.step)
    };
    let trips: Vec<u64> = calls.iter().map(trips).collect::<Option<_>>()?;
    (!trips.is_empty()).then_some(trips)
}

/// How a loop is unrolled whose trips calls decide, at most `most` times: in groups that take least time.
pub fn groups(func: &Function, counted: Counted<'_>, calls: &[&KernelCall], most: u64) -> Groups {
    let Some(trips) = trips(func, counted, calls) else { return Groups::None };
    let (one, wait) = (size(func, counted.blocks), wait(func, counted.blocks));
    let cycles = |times: u64, rest: bool| -> u64 {
        let left = |n: u64| if rest { n % times } else { 0 };
        trips.iter().map(|&n| n / times * (times * one + wait) + left(n) * (one + wait)).sum()
    };
    let whole = |&times: &u64| trips.iter().all(|trips| trips.is_multiple_of(times));
    let exact = (2..=most).filter(whole).map(|n| (cycles(n, false), Groups::Exact(n)));
    let rest = (2..=most).filter(|n| n.is_power_of_two());
    let rest = rest.map(|n| (cycles(n, true), Groups::Rest(n)));
    let best = exact.chain(rest).min_by_key(|&(cycles, _)| cycles);
    best.filter(|&(now, _)| now < cycles(1, false)).map_or(Groups::None, |(_, groups)| groups)
}

/// Cycles that an iteration takes longer than its operations take to issue: its longest chain, or what
/// it waits for in the best order.
fn wait(func: &Function, blocks: &[Block]) -> u64 {
    let insts: Vec<Inst> =
        blocks.iter().flat_map(|&block| &func.blocks[block].insts).copied().collect();
    let issue = size(func, blocks);
    // The last accesses of a body are under way when the next one needs their registers, unless that
    // is long.
    let in_flight = match count(func, blocks, &ACCESSES) {
        0 => 0,
        _ => (2 * ACCESS).saturating_sub(issue).min(ACCESS),
    };
    let (chain, idle) = in_best_order(func, &insts);
    chain.saturating_sub(issue).max(idle).max(in_flight)
}

/// The longest chain of operations that depend on each other, and the cycles in which none issues, where
/// the one with the longest chain behind it goes first of those that can.
fn in_best_order(func: &Function, insts: &[Inst]) -> (u64, u64) {
    let takes = |inst: Inst| match &func.insts[inst].op {
        Op::Const(..) => 0,
        Op::Intrinsic(call) if ACCESSES.contains(&call.name) => ACCESS,
        _ => OPERATION,
    };
    let made: BTreeMap<Value, usize> = (0..)
        .zip(insts)
        .flat_map(|(n, &inst)| func.insts[inst].results.iter().map(move |&value| (value, n)))
        .collect();
    let (mut users, mut waits) = (vec![vec![]; insts.len()], vec![0; insts.len()]);
    for (n, &inst) in insts.iter().enumerate() {
        func.insts[inst].op.for_each_arg(|arg| {
            if let Some(&maker) = made.get(&arg) {
                users[maker].push(n);
                waits[n] += 1;
            }
        });
    }
    let mut behind = vec![0u64; insts.len()];
    for n in (0..insts.len()).rev() {
        let longest = users[n].iter().map(|&user: &usize| behind[user]).max().unwrap_or(0);
        behind[n] = longest + takes(insts[n]);
    }
    let mut ready_at = vec![0u64; insts.len()];
    let mut waiting: BinaryHeap<(Reverse<u64>, usize)> =
        (0..insts.len()).filter(|&n| waits[n] == 0).map(|n| (Reverse(0), n)).collect();
    let mut ready: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
    let (mut now, mut idle) = (0, 0);
    loop {
        while let Some(&(_, n)) = waiting.peek().filter(|(Reverse(at), _)| *at <= now) {
            waiting.pop();
            ready.push((behind[n], Reverse(n)));
        }
        let Some((_, Reverse(n))) = ready.pop() else {
            let Some(&(Reverse(at), _)) = waiting.peek() else { break };
            idle += at - now;
            now = at;
            continue;
        };
        let end = now + takes(insts[n]);
        now += u64::from(takes(insts[n]) > 0);
        for &user in &users[n] {
            ready_at[user] = ready_at[user].max(end);
            waits[user] -= 1;
            if waits[user] == 0 {
                waiting.push((Reverse(ready_at[user]), user));
            }
        }
    }
    (behind.into_iter().max().unwrap_or(0), idle)
}

/// What a value is in a call of a kernel: a constant, a parameter, or made of some by a few operations.
fn constant(func: &Function, value: Value, call: &KernelCall, budget: u32) -> Option<u32> {
    let budget = budget.checked_sub(1)?;
    match func.def_op(value)? {
        Op::Const(..) => func.splat_constant(value).map(|bits| bits as u32),
        Op::Intrinsic(passed) if passed.name == PASSED => {
            Some(call.constants.get(passed.imms[0] as usize)?[0])
        }
        &Op::Binary(op, a, b) => {
            let (a, b) = (constant(func, a, call, budget)?, constant(func, b, call, budget)?);
            match op {
                BinaryOp::Iadd => Some(a.wrapping_add(b)),
                BinaryOp::Isub => Some(a.wrapping_sub(b)),
                BinaryOp::Imul => Some(a.wrapping_mul(b)),
                _ => None,
            }
        }
        _ => None,
    }
}
