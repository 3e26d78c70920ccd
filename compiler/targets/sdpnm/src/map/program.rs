//! Placement and routing as an integer program over binary variables, exact for the times that it is
//! given (docs/mapping.md states it; Chin and Anderson, "An architecture-agnostic integer linear
//! programming approach to CGRA mapping", DAC 2018, is the like for other arrays). Each operation has
//! a set of cycles: with one cycle each the program places a schedule, with all cycles that any
//! mapping could use it decides whether an interval is possible. `sat.rs` and `ilp.rs` solve it.

use std::ops::Range;

use super::colours::{self, Colours};
use super::dfg::{Dep, Dfg, Grid};
use super::placement::{Carrier, Hop, Placement};

/// Variables beyond which a program is not written down.
const MAX_VARIABLES: u64 = 600_000;

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The variable.
    pub variable: u32,
    /// Whether it is the negation.
    pub is_negated: bool,
}

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal { is_negated: !self.is_negated, ..self }
    }
}

/// Of these literals at most that many are true.
#[derive(Clone, Debug)]
pub struct AtMost {
    /// The literals.
    pub literals: Vec<Literal>,
    /// How many of them.
    pub bound: usize,
}

/// Cycles in which something of one operation may be: `begin + i` has the variables
/// `first + i x PEs ..`.
#[derive(Clone, Copy, Debug)]
struct Layers {
    begin: i64,
    count: i64,
    first: u32,
}

/// The program.
pub struct Program<'a> {
    dfg: &'a Dfg,
    grid: &'a Grid,
    ii: i64,
    /// How many variables there are.
    pub variables: u32,
    /// Of each of these, one literal is true.
    pub clauses: Vec<Vec<Literal>>,
    /// Bounds on how many are true.
    pub at_most: Vec<AtMost>,
    /// The operation runs there and then.
    runs: Vec<Layers>,
    /// A route of its value runs there and then.
    routes: Vec<Layers>,
    /// Its value is read from a register there and then.
    waits: Vec<Layers>,
}

impl<'a> Program<'a> {
    /// The program for operations that run in one cycle of their windows each; `None` where it is
    /// too large.
    pub fn new(
        dfg: &'a Dfg,
        grid: &'a Grid,
        ii: i64,
        windows: &[Range<i64>],
    ) -> Option<Program<'a>> {
        let mut program = Program::without_registers(dfg, grid, ii, windows)?;
        program.registers();
        Some(program)
    }

    /// The same for PEs with as many registers as values.
    pub fn without_registers(
        dfg: &'a Dfg,
        grid: &'a Grid,
        ii: i64,
        windows: &[Range<i64>],
    ) -> Option<Program<'a>> {
        let pes = grid.pes as u64;
        let mut next = 0u64;
        let mut layers = |begin: i64, end: i64| {
            let count = (end - begin).max(0);
            let first = next;
            next += count as u64 * pes;
            Layers { begin, count, first: first.min(u64::from(u32::MAX)) as u32 }
        };
        let runs: Vec<Layers> = windows.iter().map(|w| layers(w.start, w.end)).collect();
        let last = |op: usize| {
            let read = dfg.out[op].iter().map(|&e| {
                let e = &dfg.edges[e];
                windows[e.to].end - 1 + e.distance * ii
            });
            read.max().unwrap_or(windows[op].start)
        };
        let routes: Vec<Layers> =
            (0..dfg.len()).map(|op| layers(windows[op].start + 1, last(op))).collect();
        // At an interval of 1 a PE does one thing, so that a value waits for its producer only.
        let may_wait = |op: usize| {
            grid.array.registers > 0
                && (ii > 1 || dfg.out[op].iter().any(|&e| dfg.edges[e].to == op))
        };
        let waits: Vec<Layers> = (0..dfg.len())
            .map(|op| {
                let end = if may_wait(op) { last(op) + 1 } else { windows[op].start };
                layers(windows[op].start + 2, end)
            })
            .collect();
        if next > MAX_VARIABLES {
            return None;
        }
        let mut program = Program {
            dfg,
            grid,
            ii,
            variables: next as u32,
            clauses: Vec::new(),
            at_most: Vec::new(),
            runs,
            routes,
            waits,
        };
        program.operations();
        program.values();
        program.times_in_order();
        program.colours();
        program.cells();
        program.memory();
        Some(program)
    }

    /// The variables of routes: what a solver keeps few.
    pub fn route_variables(&self) -> impl Iterator<Item = u32> {
        let pes = self.grid.pes as u32;
        self.routes.iter().flat_map(move |r| r.first..r.first + r.count as u32 * pes)
    }

    fn fresh(&mut self) -> Literal {
        self.variables += 1;
        Literal { variable: self.variables - 1, is_negated: false }
    }

    fn lit(&self, layers: Layers, pe: usize, time: i64) -> Option<Literal> {
        let layer = time - layers.begin;
        (0..layers.count).contains(&layer).then(|| {
            let variable = layers.first + layer as u32 * self.grid.pes as u32 + pe as u32;
            Literal { variable, is_negated: false }
        })
    }

    fn clause(&mut self, literals: Vec<Literal>) {
        self.clauses.push(literals);
    }

    fn at_most(&mut self, literals: Vec<Literal>, bound: usize) {
        if literals.len() > bound {
            self.at_most.push(AtMost { literals, bound });
        }
    }

    fn times(layers: Layers) -> Range<i64> {
        layers.begin..layers.begin + layers.count
    }

    /// Each operation runs once.
    fn operations(&mut self) {
        for op in 0..self.dfg.len() {
            let runs = self.runs[op];
            let all: Vec<Literal> = Self::times(runs)
                .flat_map(|t| (0..self.grid.pes).map(move |pe| (t, pe)))
                .filter_map(|(t, pe)| self.lit(runs, pe, t))
                .collect();
            self.clause(all.clone());
            self.at_most(all, 1);
        }
    }

    /// Where cycles are not given: an operation runs behind what it reads or must come after. Readers and
    /// their sources say so, but of all PEs together it is said shortly.
    fn times_in_order(&mut self) {
        if self.runs.iter().all(|runs| runs.count == 1) {
            return;
        }
        let mut then: Vec<Vec<Literal>> = Vec::with_capacity(self.dfg.len());
        for op in 0..self.dfg.len() {
            let all: Vec<Literal> =
                Self::times(self.runs[op]).map(|time| self.runs_then(op, time)).collect();
            self.clause(all.clone());
            self.at_most(all.clone(), 1);
            then.push(all);
        }
        for e in self.dfg.edges.iter().chain(&self.dfg.orders).filter(|e| e.from != e.to) {
            let ago = e.distance * self.ii;
            for (from, &a) in Self::times(self.runs[e.from]).zip(&then[e.from]) {
                for (to, &b) in Self::times(self.runs[e.to]).zip(&then[e.to]) {
                    if to + ago <= from {
                        self.clauses.push(vec![!a, !b]);
                    }
                }
            }
        }
    }

    /// Whether an operation runs in that cycle, wherever.
    fn runs_then(&mut self, op: usize, time: i64) -> Literal {
        let then = self.fresh();
        for pe in 0..self.grid.pes {
            let run = self.lit(self.runs[op], pe, time).expect("a layer");
            self.clause(vec![!run, then]);
        }
        then
    }

    /// Where values change colours with each cycle: operations and routes stand on the right ones.
    fn colours(&mut self) {
        let Some(colours) = Colours::of(self.dfg, self.grid, self.ii) else { return };
        let exchanged: Vec<Literal> = (0..colours.parts()).map(|_| self.fresh()).collect();
        for op in 0..self.dfg.len() {
            let is_exchanged = exchanged[colours.part(op)];
            for layers in [self.runs[op], self.routes[op]] {
                for time in Self::times(layers) {
                    for pe in 0..self.grid.pes {
                        let is_right = colours.colour(op, time) == colours::of_pe(self.grid, pe);
                        let there = self.lit(layers, pe, time).expect("a layer");
                        let way = if is_right { !is_exchanged } else { is_exchanged };
                        self.clause(vec![!there, way]);
                    }
                }
            }
        }
    }

    /// What makes the value of `op` readable on `pe` at `time`.
    fn readable(&self, op: usize, pe: usize, time: i64) -> Vec<Literal> {
        let mut lits = Vec::with_capacity(16);
        for &q in &self.grid.near[pe] {
            lits.extend(self.lit(self.runs[op], q, time - 1));
            lits.extend(self.lit(self.routes[op], q, time - 1));
        }
        lits.extend(self.lit(self.waits[op], pe, time));
        lits
    }

    /// Readers, routes and registers get their values.
    fn values(&mut self) {
        for op in 0..self.dfg.len() {
            for pe in 0..self.grid.pes {
                for time in Self::times(self.routes[op]) {
                    let route = self.lit(self.routes[op], pe, time).expect("a layer");
                    let mut clause = self.readable(op, pe, time);
                    clause.push(!route);
                    self.clause(clause);
                }
                for time in Self::times(self.waits[op]) {
                    let wait = self.lit(self.waits[op], pe, time).expect("a layer");
                    let mut clause = vec![!wait];
                    clause.extend(self.lit(self.runs[op], pe, time - 2));
                    clause.extend(self.lit(self.routes[op], pe, time - 2));
                    clause.extend(self.lit(self.waits[op], pe, time - 1));
                    self.clause(clause);
                }
            }
        }
        for number in 0..self.dfg.edges.len() {
            let e = self.dfg.edges[number];
            let (from, to) = (self.runs[e.from], self.runs[e.to]);
            for time in Self::times(to) {
                let when = time + e.distance * self.ii;
                for pe in 0..self.grid.pes {
                    let reader = self.lit(to, pe, time).expect("a layer");
                    let mut clause = self.readable(e.from, pe, when);
                    clause.push(!reader);
                    self.clause(clause);
                }
            }
            // Where both times are given and no route fits between them, the reader is near the
            // producer: said from this side too, it prunes the search.
            if from.count == 1 && to.count == 1 && to.begin + e.distance * self.ii == from.begin + 1
            {
                for pe in 0..self.grid.pes {
                    let mut clause: Vec<Literal> = self.grid.near[pe]
                        .iter()
                        .filter_map(|&q| self.lit(to, q, to.begin))
                        .collect();
                    clause.push(!self.lit(from, pe, from.begin).expect("a layer"));
                    self.clause(clause);
                }
            }
            if from.count > 1 || to.count > 1 {
                self.handed_on(e.from, Some(e));
            }
        }
        if self.runs.iter().any(|runs| runs.count > 1) {
            (0..self.dfg.len()).for_each(|op| self.handed_on(op, None));
        }
    }

    /// Where cycles are not given: whoever holds a value of `op` has a reader in the next cycle, or
    /// keeps it: an operation for the edge `of`, a route for any.
    fn handed_on(&mut self, op: usize, of: Option<Dep>) {
        let holders = if of.is_some() { self.runs[op] } else { self.routes[op] };
        let edges: Vec<Dep> = match of {
            Some(edge) => vec![edge],
            None => self.dfg.out[op].iter().map(|&e| self.dfg.edges[e]).collect(),
        };
        for time in Self::times(holders) {
            for pe in 0..self.grid.pes {
                let mut clause = vec![!self.lit(holders, pe, time).expect("a layer")];
                for &q in &self.grid.near[pe] {
                    clause.extend(self.lit(self.routes[op], q, time + 1));
                    for e in &edges {
                        let when = time + 1 - e.distance * self.ii;
                        clause.extend(self.lit(self.runs[e.to], q, when));
                    }
                }
                clause.extend(self.lit(self.waits[op], pe, time + 2));
                self.clause(clause);
            }
        }
    }

    /// One operation or route a PE and slot.
    fn cells(&mut self) {
        for pe in 0..self.grid.pes {
            let mut slots: Vec<Vec<Literal>> = vec![Vec::new(); self.ii as usize];
            for layers in self.runs.iter().chain(&self.routes) {
                for time in Self::times(*layers) {
                    slots[time.rem_euclid(self.ii) as usize].extend(self.lit(*layers, pe, time));
                }
            }
            for lits in slots {
                self.at_most(lits, 1);
            }
        }
    }

    /// Loads and stores of a slot, where times are not given.
    fn memory(&mut self) {
        let memory: Vec<usize> = (0..self.dfg.len()).filter(|&op| self.dfg.is_memory[op]).collect();
        if memory.len() <= self.grid.array.memory_ports as usize {
            return;
        }
        let mut slots: Vec<Vec<Literal>> = vec![Vec::new(); self.ii as usize];
        for op in memory {
            for time in Self::times(self.runs[op]) {
                let then = self.runs_then(op, time);
                slots[time.rem_euclid(self.ii) as usize].push(then);
            }
        }
        for lits in slots {
            self.at_most(lits, self.grid.array.memory_ports as usize);
        }
    }

    /// Registers of a PE: a value that is read at T was held from the cycle before on.
    fn registers(&mut self) {
        let registers = self.grid.array.registers as usize;
        let layers: i64 = self.waits.iter().map(|w| w.count + i64::from(w.count > 0)).sum();
        // Not more values at a time than registers, whatever the mapping.
        if layers as usize <= registers {
            return;
        }
        for pe in 0..self.grid.pes {
            let mut slots: Vec<Vec<Literal>> = vec![Vec::new(); self.ii as usize];
            for op in 0..self.dfg.len() {
                let waits = self.waits[op];
                if waits.count == 0 {
                    continue;
                }
                for time in waits.begin - 1..waits.begin + waits.count {
                    let held = self.fresh();
                    let at = [self.lit(waits, pe, time), self.lit(waits, pe, time + 1)];
                    for wait in at.into_iter().flatten() {
                        self.clause(vec![!wait, held]);
                    }
                    slots[time.rem_euclid(self.ii) as usize].push(held);
                }
            }
            for lits in slots {
                self.at_most(lits, registers);
            }
        }
    }

    /// The mapping that a solution says, given which variables are true in it.
    pub fn placement(&self, holds: impl Fn(u32) -> bool) -> Placement {
        let spots = |layers: Layers| {
            let holds = &holds;
            Self::times(layers)
                .flat_map(|time| (0..self.grid.pes).map(move |pe| (pe, time)))
                .filter(move |&(pe, time)| {
                    self.lit(layers, pe, time).is_some_and(|lit| holds(lit.variable))
                })
        };
        let (mut pe, mut time, mut carriers) = (Vec::new(), Vec::new(), Vec::new());
        for op in 0..self.dfg.len() {
            let (p, t) = spots(self.runs[op]).next().expect("an operation runs somewhere");
            pe.push(p);
            time.push(t);
        }
        for op in 0..self.dfg.len() {
            // A route that reads nothing before the operation ran cannot be in a model.
            carriers.extend(spots(self.routes[op]).map(|(pe, time)| Carrier {
                value: op,
                pe,
                time,
                from: Hop::Producer,
            }));
        }
        Placement::connect(self.dfg, self.grid, self.ii, time, pe, carriers)
    }
}
