//! What list schedulers of a block share: the graph with its times, what waits, and what issuing an
//! instruction does. Which of those that are ready comes next is theirs to say.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::dependence::{Dependence, DependenceGraph, Edge};
use crate::rows::{OpenRow, Rows};

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
    degrees: Vec<usize>,
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
    fn successors(&self, at: usize) -> impl Iterator<Item = (&Edge, u32)> {
        self.graph.successors[at].iter().zip(self.latencies[at].iter().copied())
    }
}

/// A block of which some instructions have issued.
pub(crate) struct Issued<'a, P> {
    graph: &'a Timed<'a>,
    priority: P,
    /// Edges to each instruction from those that have not issued.
    degrees: Vec<usize>,
    /// The first cycle at which each can issue, as far as is known.
    earliest: Vec<u32>,
    /// What depends on nothing that has not issued, by its cycle.
    waiting: BinaryHeap<Reverse<(u32, usize)>>,
    /// How many wait that are not to come last.
    pub(crate) coming: usize,
    in_flight: InFlight<'a>,
    pub(crate) row: OpenRow<'a>,
    order: Vec<usize>,
    /// The cycle at which the next one issues.
    pub(crate) clock: u32,
}

impl<'a, P: Fn(usize) -> Priority> Issued<'a, P> {
    /// A block of which nothing has.
    pub(crate) fn none(graph: &'a Timed<'a>, priority: P, hazards: &'a Hazards) -> Issued<'a, P> {
        let count = graph.heights.len();
        let mut issued = Issued {
            graph,
            priority,
            degrees: graph.degrees.clone(),
            earliest: vec![0; count],
            waiting: BinaryHeap::new(),
            coming: 0,
            in_flight: InFlight::new(hazards),
            row: OpenRow::new(&hazards.rows),
            order: Vec::with_capacity(count),
            clock: 0,
        };
        for at in (0..count).filter(|&at| graph.degrees[at] == 0) {
            issued.wait(at, 0);
            issued.row.comes(at);
        }
        issued
    }

    /// Whether nothing is left.
    pub(crate) fn is_all(&self) -> bool {
        self.order.len() == self.degrees.len()
    }

    /// The cycle at which the first of those that wait can issue.
    pub(crate) fn next(&self) -> Option<u32> {
        self.waiting.peek().map(|&Reverse((cycle, _))| cycle)
    }

    /// Takes one of those that wait which can issue now.
    pub(crate) fn arrival(&mut self) -> Option<usize> {
        let &Reverse((_, at)) = self.waiting.peek().filter(|first| first.0.0 <= self.clock)?;
        self.waiting.pop();
        self.coming -= usize::from((self.priority)(at) < Priority::Last);
        Some(at)
    }

    fn wait(&mut self, at: usize, cycle: u32) {
        self.coming += usize::from((self.priority)(at) < Priority::Last);
        self.waiting.push(Reverse((cycle, at)));
    }

    /// Issues an instruction now; false, and it waits, where a hazard holds it up.
    pub(crate) fn issue(&mut self, at: usize) -> bool {
        if let Err(free) = self.in_flight.issue(at, self.clock) {
            self.wait(at, free);
            return false;
        }
        self.row.goes(at);
        let later = self.row.issue(at, self.clock);
        self.order.push(at);
        for (edge, latency) in self.graph.successors(at) {
            let cycle = self.clock + latency + held(edge, later);
            self.earliest[edge.to] = self.earliest[edge.to].max(cycle);
            self.degrees[edge.to] -= 1;
            if self.degrees[edge.to] == 0 {
                self.wait(edge.to, self.earliest[edge.to]);
                self.row.comes(edge.to);
            }
        }
        self.clock += 1;
        true
    }

    /// The order, and the cycles that it takes.
    pub(crate) fn order(self) -> (Vec<usize>, u32) {
        (self.order, self.clock.max(self.row.free))
    }
}

/// The instructions in flight that others wait for.
struct InFlight<'a> {
    hazards: &'a Hazards,
    /// When the last of each kind is done.
    until: Vec<u32>,
}

impl InFlight<'_> {
    fn new(hazards: &Hazards) -> InFlight<'_> {
        InFlight { hazards, until: vec![0; hazards.waits_for.len()] }
    }

    fn kind(&self, at: usize) -> Option<(usize, u32)> {
        self.hazards.kinds.get(at).copied().flatten()
    }

    /// Issues an instruction; or the first cycle at which nothing holds it up, if that is to come.
    fn issue(&mut self, at: usize, clock: u32) -> Result<(), u32> {
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

/// Of the cycles that an access is served later, those that pass for what is at the end of an edge: it
/// waits for registers, not for its turn, which it has in any case.
fn held(edge: &Edge, later: u32) -> u32 {
    match edge.kind {
        Dependence::True | Dependence::Anti | Dependence::Output => later,
        Dependence::Memory | Dependence::Order | Dependence::Control => 0,
    }
}
