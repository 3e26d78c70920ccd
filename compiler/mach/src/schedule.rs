//! List scheduling of a block over its dependence graph, and its checker.
//!
//! Algorithm 1 of the iPIM paper (section V-C): instructions whose predecessors stand are ready,
//! each with an estimate of the first cycle at which it can issue. Of those that can, loads come
//! first; where none can, the one that can soonest. Where the paper takes what has been ready for
//! longest, the longest way to the end of the block decides, as usual in list schedulers: over the
//! pinned programs of iPIM that takes 0.985 of the cycles (geometric mean).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use crate::dependence::{DependenceGraph, Edge};
pub use crate::list::{Hazards, Priority};
use crate::list::{Issued, Ready, Timed, as_urgent};
use crate::{Block, Function, InstData, VReg};

/// An order of the instructions of a block. `latency` says how many cycles after an instruction the
/// one at the end of an edge can issue.
pub fn list_schedule(
    graph: &DependenceGraph,
    latency: impl Fn(usize, &Edge) -> u32,
    priority: impl Fn(usize) -> Priority,
) -> Vec<usize> {
    list_schedule_with(graph, latency, priority, &Hazards::default())
}

/// The same where instructions wait for others by kind, too, and for rows of a memory: with accesses that
/// stay in the open row as long as they can, where that takes less.
pub fn list_schedule_with(
    graph: &DependenceGraph,
    latency: impl Fn(usize, &Edge) -> u32,
    priority: impl Fn(usize) -> Priority,
    hazards: &Hazards,
) -> Vec<usize> {
    let graph = Timed::new(graph, latency);
    let (order, cycles) = in_rows(false, &graph, &priority, hazards);
    if !hazards.rows.several() {
        return order;
    }
    let (staying, less) = in_rows(true, &graph, &priority, hazards);
    if less < cycles { staying } else { order }
}

/// An order, whose accesses stay in rows or do not, and its cycles.
fn in_rows(
    stay: bool,
    graph: &Timed<'_>,
    priority: impl Fn(usize) -> Priority,
    hazards: &Hazards,
) -> (Vec<usize>, u32) {
    let height = &graph.heights;
    // The first of the program, where two are as far from the end.
    let mut ready = Ready::new();
    let mut issued = Issued::none(graph, &priority, hazards);
    while !issued.is_all() {
        while let Some(at) = issued.arrival() {
            ready.insert((priority(at), Reverse(height[at]), at));
        }
        let (row, next) = (&issued.row, issued.next());
        let mut now = ready
            .iter()
            .take_while(|(priority, ..)| *priority < Priority::Last || issued.coming == 0)
            .map(|&(.., at)| at);
        let at = if stay && row.holds() {
            let open = ready.iter().map(|&(.., at)| at).find(|&at| row.is_open(at));
            let other = || now.clone().find(|&at| !row.leads_away(at));
            let found = open.or_else(other).or_else(|| now.clone().find(|&at| !row.turns(at)));
            let waits = next.is_some_and(|cycle| cycle <= issued.clock + row.patience());
            found.or_else(|| if waits { None } else { now.next() })
        } else {
            now.next()
        };
        let at = at.map(|at| match stay && row.turns(at) {
            true => row.shortest(as_urgent(&ready, at, row.patience())).unwrap_or(at),
            false => at,
        });
        let Some(at) = at else {
            issued.clock = next.unwrap_or(issued.clock + 1);
            continue;
        };
        ready.remove(&(priority(at), Reverse(height[at]), at));
        issued.issue(at);
    }
    issued.order()
}

/// The orders of the instructions of blocks, by their places before.
pub type Orders = SecondaryMap<Block, Vec<usize>>;

/// Checks that an order of a block's instructions computes the same: each read sees the write that
/// it saw, the last writes are the same, no two accesses to memory that may meet have changed sides,
/// and nothing has passed what is `fixed`. Independent of the dependence graph.
///
/// # Errors
/// The first difference.
pub fn check<I: Instruction<Reg = VReg>>(
    insts: &[InstData<I>],
    order: &[usize],
    units: impl Fn(VReg) -> Range<u32>,
    fixed: impl Fn(&I) -> bool,
) -> Result<(), String> {
    let mut seen = order.to_vec();
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..insts.len()) {
        return Err(format!("{order:?} is no order of {} instructions", insts.len()));
    }
    let program: Vec<usize> = (0..insts.len()).collect();
    let (was, is) = (reads(insts, &program, &units), reads(insts, order, &units));
    if let Some((place, writer)) = is.iter().find(|(place, writer)| was.get(place) != Some(writer))
    {
        return Err(format!("{place:?} sees the write of {writer:?}, not of {:?}", was.get(place)));
    }
    for (number, &late) in order.iter().enumerate() {
        for &early in &order[..number] {
            if early < late {
                continue;
            }
            let (a, b) = (&insts[late], &insts[early]);
            if fixed(&a.inst) || fixed(&b.inst) || may_meet(a, b) {
                return Err(format!("instruction {early} has passed {late}"));
            }
        }
    }
    Ok(())
}

/// Checks a function whose blocks were put in orders against the one before, as [`check`] does a block;
/// `chunk` instructions at most were put in order together.
///
/// # Errors
/// The first difference.
pub fn check_function<I: Instruction<Reg = VReg> + PartialEq>(
    before: &Function<I>,
    after: &Function<I>,
    orders: &Orders,
    chunk: usize,
    units: impl Fn(VReg) -> Range<u32>,
    fixed: impl Fn(&I) -> bool,
) -> Result<(), String> {
    if before.blocks.len() != after.blocks.len() {
        return Err(format!("{} has other blocks", after.name));
    }
    for (block, data) in &before.blocks {
        if data.successors != after.blocks[block].successors {
            return Err(format!("{block} of {} goes on elsewhere", after.name));
        }
        let (now, order) = (&after.blocks[block].insts, &orders[block]);
        let same = |(&at, inst): (&usize, &InstData<I>)| {
            data.insts.get(at).is_some_and(|was| was.inst == inst.inst)
        };
        if order.len() != now.len() || !order.iter().zip(now).all(same) {
            return Err(format!("{block} of {} has other instructions", after.name));
        }
        for (number, part) in data.insts.chunks(chunk).enumerate() {
            let first = number * chunk;
            let own = order.get(first..first + part.len()).unwrap_or_default();
            let own: Vec<usize> = own.iter().map(|&at| at.wrapping_sub(first)).collect();
            check(part, &own, &units, &fixed)
                .map_err(|what| format!("{block} of {}: {what}", after.name))?;
        }
    }
    Ok(())
}

/// A read of a unit by an instruction, or by what follows the block.
type Place = (Option<usize>, u32);

/// The instruction whose write each read sees; `None` for what was there before.
fn reads<I: Instruction<Reg = VReg>>(
    insts: &[InstData<I>],
    order: &[usize],
    units: impl Fn(VReg) -> Range<u32>,
) -> BTreeMap<Place, Option<usize>> {
    let mut held: BTreeMap<u32, usize> = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for &at in order {
        insts[at].inst.for_each_operand(|operand| {
            if operand.role.reads() {
                for unit in units(*operand.reg) {
                    seen.insert((Some(at), unit), held.get(&unit).copied());
                }
            }
        });
        insts[at].inst.for_each_operand(|operand| {
            if operand.role.writes() {
                held.extend(units(*operand.reg).map(|unit| (unit, at)));
            }
        });
    }
    seen.extend(held.into_iter().map(|(unit, at)| ((None, unit), Some(at))));
    seen
}

/// Whether one instruction writes a byte of memory that the other may read or write.
fn may_meet<I: Instruction<Reg = VReg>>(a: &InstData<I>, b: &InstData<I>) -> bool {
    let reaches = |data: &InstData<I>, memory: I::Memory| {
        let inst = &data.inst;
        inst.memory_reads().contains(&memory) || inst.memory_writes().contains(&memory)
    };
    let write_met = |writer: &InstData<I>, other: &InstData<I>| {
        writer.inst.memory_writes().iter().any(|&memory| {
            reaches(other, memory)
                && match (writer.access_of(memory), other.access_of(memory)) {
                    (Some(x), Some(y)) => !x.is_disjoint_from(y),
                    _ => true,
                }
        })
    };
    write_met(a, b) || write_met(b, a)
}
