//! List scheduling of a block over its dependence graph, and its checker.
//!
//! Algorithm 1 of the iPIM paper (section V-C): instructions whose predecessors stand are ready,
//! each with an estimate of the first cycle at which it can issue. Of those that can, loads come
//! first; where none can, the one that can soonest. Where the paper takes what has been ready for
//! longest, the longest way to the end of the block decides, as usual in list schedulers: over the
//! pinned programs of iPIM that takes 0.985 of the cycles (geometric mean).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Range;

use nbcc_isa::Instruction;

use crate::dependence::{Dependence, DependenceGraph, Edge};
use crate::rows::{OpenRow, Rows};
use crate::{InstData, VReg};

/// When an instruction is to come, among those that are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Before all others.
    First,
    /// When the longest way to the end says so.
    Usual,
    /// When nothing else is ready or will be by waiting.
    Last,
}

/// What instructions wait for though they do not depend on it: a unit that serves one kind of them only
/// when all of another kind are done.
#[derive(Clone, Debug, Default)]
pub struct Hazards {
    /// The kind of each instruction that takes part, and the cycles from its issue until it is done.
    pub kinds: Vec<Option<(usize, u32)>>,
    /// For each kind, those that it waits for.
    pub waits_for: Vec<Vec<usize>>,
    /// The memory whose rows are opened one at a time.
    pub rows: Rows,
}

/// The instructions in flight that others wait for.
pub(crate) struct InFlight<'a> {
    hazards: &'a Hazards,
    /// When the last of each kind is done.
    until: Vec<u32>,
}

impl InFlight<'_> {
    pub(crate) fn new(hazards: &Hazards) -> InFlight<'_> {
        InFlight { hazards, until: vec![0; hazards.waits_for.len()] }
    }

    fn kind(&self, at: usize) -> Option<(usize, u32)> {
        self.hazards.kinds.get(at).copied().flatten()
    }

    /// Issues an instruction; or the first cycle at which nothing holds it up, if that is to come.
    pub(crate) fn issue(&mut self, at: usize, clock: u32) -> Result<(), u32> {
        let Some((kind, cycles)) = self.kind(at) else { return Ok(()) };
        let waits_for = self.hazards.waits_for[kind].iter();
        let free = waits_for.map(|&other| self.until[other]).max().unwrap_or(0);
        if free > clock {
            return Err(free);
        }
        self.until[kind] = self.until[kind].max(clock + cycles);
        Ok(())
    }
}

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
    let count = height.len();
    let mut degrees = graph.degrees.clone();
    let mut earliest = vec![0u32; count];
    let mut waiting = BinaryHeap::new();
    // The first of the program, where two are as far from the end.
    let mut ready = Ready::new();
    // How many wait that are not to come last.
    let mut coming =
        (0..count).filter(|&at| degrees[at] == 0 && priority(at) < Priority::Last).count();
    let mut row = OpenRow::new(&hazards.rows);
    for at in (0..count).filter(|&at| degrees[at] == 0) {
        waiting.push(Reverse((0, at)));
        row.comes(at);
    }
    let mut in_flight = InFlight::new(hazards);
    let mut order = Vec::with_capacity(count);
    let mut clock = 0;
    while order.len() < count {
        while let Some(&Reverse((cycle, at))) = waiting.peek()
            && cycle <= clock
        {
            waiting.pop();
            coming -= usize::from(priority(at) < Priority::Last);
            ready.insert((priority(at), Reverse(height[at]), at));
        }
        let next = waiting.peek().map(|&Reverse((cycle, _))| cycle);
        let mut now = ready
            .iter()
            .take_while(|(priority, ..)| *priority < Priority::Last || coming == 0)
            .map(|&(.., at)| at);
        let at = if stay && row.holds() {
            let open = ready.iter().map(|&(.., at)| at).find(|&at| row.is_open(at));
            let other = || now.clone().find(|&at| !row.leads_away(at));
            let found = open.or_else(other).or_else(|| now.clone().find(|&at| !row.turns(at)));
            let waits = next.is_some_and(|cycle| cycle <= clock + row.patience());
            found.or_else(|| if waits { None } else { now.next() })
        } else {
            now.next()
        };
        let at = at.map(|at| match stay && row.turns(at) {
            true => row.shortest(as_urgent(&ready, at, row.patience())).unwrap_or(at),
            false => at,
        });
        let Some(at) = at else {
            clock = next.unwrap_or(clock + 1);
            continue;
        };
        ready.remove(&(priority(at), Reverse(height[at]), at));
        if let Err(free) = in_flight.issue(at, clock) {
            coming += usize::from(priority(at) < Priority::Last);
            waiting.push(Reverse((free, at)));
            continue;
        }
        row.goes(at);
        let later = row.issue(at, clock);
        order.push(at);
        for (edge, latency) in graph.successors(at) {
            let cycle = clock + latency + held(edge, later);
            earliest[edge.to] = earliest[edge.to].max(cycle);
            degrees[edge.to] -= 1;
            if degrees[edge.to] == 0 {
                coming += usize::from(priority(edge.to) < Priority::Last);
                waiting.push(Reverse((earliest[edge.to], edge.to)));
                row.comes(edge.to);
            }
        }
        clock += 1;
    }
    (order, clock.max(row.free))
}

/// By priority, the longest way to the end, the program: what is ready.
pub(crate) type Ready = BTreeSet<(Priority, Reverse<u32>, usize)>;

/// What is ready, has the priority of an instruction, and is no further from being urgent than so many cycles.
pub(crate) fn as_urgent(ready: &Ready, at: usize, cycles: u32) -> impl Iterator<Item = usize> {
    let found = ready.iter().find(|&&(.., other)| other == at).copied();
    let near = move |&&(priority, Reverse(height), _): &&(Priority, Reverse<u32>, usize)| {
        found.is_some_and(|(of, Reverse(most), _)| priority == of && height + cycles >= most)
    };
    ready.iter().filter(near).map(|&(.., at)| at)
}

/// A dependence graph with what all orders of it need: the times of its edges, and what follows from them.
pub(crate) struct Timed<'a> {
    graph: &'a DependenceGraph,
    /// Of each edge, in the order of the graph's.
    latencies: Vec<Vec<u32>>,
    /// How many edges lead to each instruction.
    pub(crate) degrees: Vec<usize>,
    /// How long the instructions behind each take at least.
    pub(crate) heights: Vec<u32>,
}

impl<'a> Timed<'a> {
    pub(crate) fn new(
        graph: &'a DependenceGraph,
        latency: impl Fn(usize, &Edge) -> u32,
    ) -> Timed<'a> {
        let edges = graph.successors.iter().enumerate();
        let latencies: Vec<Vec<u32>> =
            edges.map(|(from, edges)| edges.iter().map(|e| latency(from, e)).collect()).collect();
        let mut heights = vec![0u32; latencies.len()];
        for from in (0..heights.len()).rev() {
            let edges = graph.successors[from].iter().zip(&latencies[from]);
            heights[from] = edges.map(|(e, latency)| heights[e.to] + latency).max().unwrap_or(0);
        }
        Timed { graph, latencies, degrees: graph.in_degrees(), heights }
    }

    /// The edges from an instruction, each with its time.
    pub(crate) fn successors(&self, at: usize) -> impl Iterator<Item = (&Edge, u32)> {
        self.graph.successors[at].iter().zip(self.latencies[at].iter().copied())
    }
}

/// Of the cycles that an access is served later, those that pass for what is at the end of an edge: it
/// waits for registers, not for its turn, which it has in any case.
pub(crate) fn held(edge: &Edge, later: u32) -> u32 {
    match edge.kind {
        Dependence::True | Dependence::Anti | Dependence::Output => later,
        Dependence::Memory | Dependence::Order | Dependence::Control => 0,
    }
}

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
