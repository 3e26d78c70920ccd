//! Modulo schedules: the cycle of each operation, such that dependences hold and no slot has more
//! operations than PEs or memory ports. Lifetimes come first (`lifetimes.rs`); where their best
//! solution asks too much of a slot, operations move to others, each pushing aside what depends on
//! it, as long as that improves (annealed).

use super::banks::{Banks, STALL, Walks};
use super::budget::Budget;
use super::colours::Painted;
use super::dfg::{Dfg, Grid};
use super::lifetimes::Lifetimes;
use super::random::Random;

/// What is asked of a schedule beyond dependences.
#[derive(Clone, Debug)]
pub struct Preferences {
    /// For each edge, cycles from producer to consumer beyond the one that the latency asks for.
    pub extra: Vec<i64>,
    /// For each operation, what a cycle of its value's life costs.
    pub weight: Vec<i64>,
    /// What it costs where accesses wait for a bank a cycle in each iteration; 0 where nobody looks.
    pub wait: i64,
    /// From how many such cycles an iteration on somebody looks.
    pub waits: i64,
    /// Moves for each operation until slots and crowds have no more than they can.
    pub moves: usize,
}

impl Preferences {
    /// None: all values cost the same.
    pub fn none(dfg: &Dfg) -> Preferences {
        Preferences {
            extra: vec![0; dfg.edges.len()],
            weight: vec![LIFE as i64; dfg.len()],
            wait: 0,
            waits: 0,
            moves: MOVES,
        }
    }
}

/// Edges of which only so many may take the same number of cycles.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// The edges.
    pub edges: Vec<usize>,
    /// How many may take one cycle, two and so on; the last one holds of longer edges too.
    pub most: Vec<i64>,
}

impl Crowd {
    fn most(&self, cycles: i64) -> i64 {
        let last = self.most.len() as i64 - 1;
        self.most[(cycles - 1).clamp(0, last) as usize]
    }
}

/// The schedule of the shortest lifetimes that fits the slots, under `preferences`, and as far as it
/// finds out how without too large crowds. `None` where the preferences contradict a recurrence or no
/// fit was found.
pub fn schedule(
    dfg: &Dfg,
    grid: &Grid,
    ii: i64,
    preferences: &Preferences,
    crowds: &[Crowd],
    budget: &Budget,
    random: &mut Random,
) -> Option<Vec<i64>> {
    let least: Vec<i64> = preferences.extra.iter().map(|extra| 1 + extra).collect();
    let lifetimes = Lifetimes { dfg, ii, least: &least, weight: &preferences.weight, budget };
    let (time, _) = lifetimes.solve(random)?;
    let mut fit = Fit::new(dfg, grid, ii, &least, &preferences.weight, crowds, time);
    if !fit.run(preferences.moves, budget, random) {
        return None;
    }
    if let Some(banks) = dfg.banks.as_ref().filter(|_| preferences.wait > 0) {
        fit.spread(banks, (preferences.wait, preferences.waits), random);
    }
    Some(fit.time)
}

/// Cycles in which values have to be handed on at least, on an array without waiting: at an
/// interval of 1 no value waits in a register but for its own producer.
pub fn routes_at_one(dfg: &Dfg, time: &[i64]) -> i64 {
    let life = |op: usize| {
        let others = dfg.out[op].iter().filter(|&&e| dfg.edges[e].to != op);
        others.map(|&e| dfg.slack(e, time, 1) - 1).max().unwrap_or(0)
    };
    (0..dfg.len()).map(life).sum()
}

/// The least of that over all schedules; `None` where it is not known.
pub fn least_routes_at_one(dfg: &Dfg, budget: &Budget) -> Option<i64> {
    let (least, weight) = (vec![1; dfg.edges.len()], vec![1; dfg.len()]);
    let lifetimes = Lifetimes { dfg, ii: 1, least: &least, weight: &weight, budget };
    let (time, is_best) = lifetimes.solve(&mut Random::new(0))?;
    is_best.then(|| routes_at_one(dfg, &time))
}

struct Fit<'a> {
    dfg: &'a Dfg,
    ii: i64,
    least: &'a [i64],
    weight: &'a [i64],
    pes: i64,
    ports: i64,
    time: Vec<i64>,
    /// Where operations have colours, these, and what lacks of either.
    painted: Option<Painted>,
    lacking: [i64; 2],
    /// Operations, and those that take a memory port, of each slot.
    used: Vec<[i64; 2]>,
    crowds: &'a [Crowd],
    /// The crowds that each operation is in, with the edge by which it is.
    crowds_of: Vec<Vec<(usize, usize)>>,
    /// Operations that were met, and where pushed ones stand in their list.
    seen: Seen,
    place_of: Vec<usize>,
}

/// Moves for each operation where nobody says.
const MOVES: usize = 400;

/// Accesses as if of which many places are tried where there are fewer.
const MIN_ACCESSES: usize = 16;

/// What a cycle of a life costs where all values cost the same.
const LIFE: usize = 16;

/// What an operation too many in a slot costs beside that.
const OVERUSE: i64 = 400;

impl<'a> Fit<'a> {
    fn new(
        dfg: &'a Dfg,
        grid: &Grid,
        ii: i64,
        least: &'a [i64],
        weight: &'a [i64],
        crowds: &'a [Crowd],
        time: Vec<i64>,
    ) -> Fit<'a> {
        let mut crowds_of = vec![Vec::new(); dfg.len()];
        for (number, crowd) in crowds.iter().enumerate() {
            for &e in &crowd.edges {
                crowds_of[dfg.edges[e].from].push((number, e));
                crowds_of[dfg.edges[e].to].push((number, e));
            }
        }
        let ports = i64::from(grid.array.memory_ports);
        let mut fit = Fit {
            dfg,
            ii,
            least,
            weight,
            pes: grid.pes as i64,
            ports,
            painted: Painted::new(dfg, grid, ii, &time),
            lacking: [0; 2],
            time,
            used: vec![[0; 2]; ii as usize],
            crowds,
            crowds_of,
            seen: Seen::new(dfg.len()),
            place_of: vec![0; dfg.len()],
        };
        for op in 0..dfg.len() {
            fit.count(op, 1);
        }
        fit
    }

    fn slot(&self, op: usize) -> usize {
        self.time[op].rem_euclid(self.ii) as usize
    }

    fn count(&mut self, op: usize, by: i64) {
        let slot = self.slot(op);
        self.used[slot][0] += by;
        if self.dfg.is_memory[op] {
            self.used[slot][1] += by;
        }
    }

    fn overuse(&mut self) -> i64 {
        if let Some(painted) = &self.painted {
            self.lacking = painted.lacking(self.dfg, &self.time);
        }
        let over = |used: &[i64; 2]| (used[0] - self.pes).max(0) + (used[1] - self.ports).max(0);
        self.used.iter().map(over).sum::<i64>() + self.lacking.iter().sum::<i64>()
    }

    /// Whether it stands on a colour of which too many are asked for.
    fn is_too_much(&self, op: usize) -> bool {
        let lacks = |painted: &Painted| self.lacking[painted.colour(op, self.time[op])] > 0;
        self.painted.as_ref().is_some_and(lacks)
    }

    /// Edges of the same crowd that take as long.
    fn beside(&self, crowd: &Crowd, cycles: i64) -> i64 {
        let as_long = |&&e: &&usize| self.dfg.slack(e, &self.time, self.ii) == cycles;
        crowd.edges.iter().filter(as_long).count() as i64
    }

    /// Edges that are too many in their crowds.
    fn crowding(&self) -> i64 {
        let mut over = 0;
        for crowd in self.crowds {
            let mut cycles: Vec<i64> =
                crowd.edges.iter().map(|&e| self.dfg.slack(e, &self.time, self.ii)).collect();
            cycles.sort_unstable();
            let same = cycles.chunk_by(|a, b| a == b);
            over += same.map(|c| (c.len() as i64 - crowd.most(c[0])).max(0)).sum::<i64>();
        }
        over
    }

    fn is_crowded(&self, op: usize) -> bool {
        self.crowds_of[op].iter().any(|&(crowd, e)| {
            let crowd = &self.crowds[crowd];
            let cycles = self.dfg.slack(e, &self.time, self.ii);
            self.beside(crowd, cycles) > crowd.most(cycles)
        })
    }

    fn life(&self, op: usize) -> i64 {
        let cycles = self.dfg.out[op].iter().map(|&e| self.dfg.slack(e, &self.time, self.ii));
        cycles.max().unwrap_or(0) * self.weight[op]
    }

    /// Whether all slots are within their limits, after moves where they or crowds were not.
    fn run(&mut self, moves: usize, budget: &Budget, random: &mut Random) -> bool {
        let n = self.dfg.len();
        let mut over = self.overuse() + self.crowding();
        let rounds = moves * n.min(500);
        // Hot enough at first to move one operation for a life a few cycles longer; but what only a
        // crowd has to make room for is not worth a longer life elsewhere.
        let hottest = if self.overuse() > 0 { 100 } else { LIFE - 1 };
        for round in 0..rounds {
            if over == 0 {
                return true;
            }
            if round % 1024 == 1023 && budget.is_over() {
                return false;
            }
            let op = random.below(n);
            let slot = self.slot(op);
            let full = self.used[slot][0] > self.pes
                || (self.used[slot][1] > self.ports && self.dfg.is_memory[op])
                || self.is_crowded(op)
                || self.is_too_much(op);
            if !full && !random.chance(32) {
                continue;
            }
            let by = 1 + random.below((2 * self.ii - 1).max(1) as usize) as i64;
            let by = if random.chance(128) { by } else { -by };
            let Some(moved) = self.push(op, by) else { continue };
            let temperature = hottest * (rounds - round) / rounds;
            let threshold = random.below(temperature + 1) as i64;
            let before = self.cost(&moved);
            self.shift(&moved, 1);
            let after = self.cost(&moved);
            let then = self.overuse() + self.crowding();
            if after - before + OVERUSE * (then - over) > threshold {
                self.shift(&moved, -1);
            } else {
                over = then;
            }
        }
        self.overuse() == 0
    }

    /// Moves accesses to slots where they meet fewer others at their banks, as long as that is worth
    /// longer lives, where they wait `waits` cycles an iteration at least.
    fn spread(&mut self, banks: &Banks, (wait, waits): (i64, i64), random: &mut Random) {
        let dfg = self.dfg;
        let is_memory = |op: &usize| dfg.is_memory[*op];
        let accesses: Vec<usize> = (0..self.dfg.len()).filter(is_memory).collect();
        let mut walks = Walks::new(banks);
        let mut stalls_of = |fit: &Fit<'_>, slot: usize| {
            let there = accesses.iter().filter(|&&op| fit.slot(op) == slot);
            let there: Vec<(usize, i64)> =
                there.map(|&op| (fit.dfg.node[op], fit.time[op].div_euclid(fit.ii))).collect();
            walks.stalls(&there)
        };
        let mut stalls: Vec<i64> =
            (0..self.ii as usize).map(|slot| stalls_of(self, slot)).collect();
        if stalls.iter().sum::<i64>() < waits * STALL {
            return;
        }
        let mut depth = self.depth_cost(banks, wait);
        let crowding = self.crowding();
        let rounds = 120 * accesses.len().clamp(MIN_ACCESSES, 200);
        for round in 0..rounds {
            if stalls.iter().all(|&stalls| stalls == 0) {
                return;
            }
            let op = accesses[random.below(accesses.len())];
            if stalls[self.slot(op)] == 0 && !random.chance(64) {
                continue;
            }
            let by = 1 + random.below((2 * self.ii - 1).max(1) as usize) as i64;
            let by = if random.chance(128) { by } else { -by };
            let Some(moved) = self.push(op, by) else { continue };
            let before = self.cost(&moved) + depth;
            let accessing = moved.iter().map(|&(op, _)| op).filter(is_memory);
            let accessing: Vec<usize> = accessing.collect();
            let mut slots: Vec<usize> = accessing.iter().map(|&op| self.slot(op)).collect();
            self.shift(&moved, 1);
            slots.extend(accessing.iter().map(|&op| self.slot(op)));
            slots.sort_unstable();
            slots.dedup();
            let temperature = 60 * (rounds - round) / rounds;
            let threshold = random.below(temperature + 1) as i64;
            let longer = self.depth_cost(banks, wait);
            let after = self.cost(&moved) + longer;
            let is_wrong = self.overuse() > 0 || self.crowding() > crowding;
            if is_wrong || after - before > 16 * wait {
                self.shift(&moved, -1);
                continue;
            }
            let now: Vec<i64> = slots.iter().map(|&slot| stalls_of(self, slot)).collect();
            let more: i64 = slots.iter().zip(&now).map(|(&slot, now)| now - stalls[slot]).sum();
            if after - before + wait * more / STALL > threshold {
                self.shift(&moved, -1);
            } else {
                slots.iter().zip(now).for_each(|(&slot, now)| stalls[slot] = now);
                depth = longer;
            }
        }
    }

    /// What the cycles from the first operation to the last cost, which are waited for once.
    fn depth_cost(&self, banks: &Banks, wait: i64) -> i64 {
        let (first, last) = (self.time.iter().min(), self.time.iter().max());
        wait * (last.unwrap_or(&0) - first.unwrap_or(&0)) / banks.iterations.max(1)
    }

    /// What the lives of values cost that change where these operations move.
    fn cost(&mut self, moved: &[(usize, i64)]) -> i64 {
        self.seen.clear();
        let mut cost = 0;
        for &(op, _) in moved {
            let sources = self.dfg.into[op].iter().map(|&e| self.dfg.edges[e].from);
            for value in sources.chain([op]) {
                if self.seen.insert(value) {
                    cost += self.life(value);
                }
            }
        }
        cost
    }

    fn shift(&mut self, moved: &[(usize, i64)], sign: i64) {
        for &(op, by) in moved {
            self.count(op, -1);
            self.time[op] += sign * by;
            self.count(op, 1);
        }
    }

    /// What must move, and by how much, when `op` does. `None` where that comes back to `op`.
    fn push(&mut self, op: usize, by: i64) -> Option<Vec<(usize, i64)>> {
        let dfg = self.dfg;
        let mut moved: Vec<(usize, i64)> = vec![(op, by)];
        self.seen.clear();
        self.seen.insert(op);
        self.place_of[op] = 0;
        // What is pushed further later stands again at the end, and before by 0.
        let (mut position, mut again) = (0, 0);
        while position < moved.len() {
            let (op, by) = moved[position];
            position += 1;
            if by == 0 {
                continue;
            }
            let (edges, orders) = match by > 0 {
                true => (&dfg.out[op], &dfg.orders_out[op]),
                false => (&dfg.into[op], &dfg.orders_into[op]),
            };
            let edges = edges.iter().map(|&e| (&dfg.edges[e], self.least[e]));
            for (edge, least) in edges.chain(orders.iter().map(|&o| (&dfg.orders[o], 1))) {
                let other = if by > 0 { edge.to } else { edge.from };
                if other == op {
                    continue;
                }
                let cycles = self.time[edge.to] + edge.distance * self.ii - self.time[edge.from];
                let needed = by.abs() - (cycles - least);
                if needed <= 0 {
                    continue;
                }
                if !self.seen.insert(other) {
                    let known = self.place_of[other];
                    if moved[known].1.abs() >= needed {
                        continue;
                    }
                    if known == 0 {
                        return None;
                    }
                    moved[known].1 = 0;
                    again += 1;
                }
                self.place_of[other] = moved.len();
                moved.push((other, needed * by.signum()));
            }
            if moved.len() - again > 200 {
                return None;
            }
        }
        moved.retain(|&(_, by)| by != 0);
        Some(moved)
    }
}

/// Numbers below a bound, of which none takes as long as the first.
struct Seen {
    when: Vec<u32>,
    now: u32,
}

impl Seen {
    fn new(count: usize) -> Seen {
        Seen { when: vec![0; count], now: 0 }
    }

    fn clear(&mut self) {
        self.now = self.now.checked_add(1).unwrap_or_else(|| {
            self.when.fill(0);
            1
        });
    }

    /// Whether it was not there.
    fn insert(&mut self, number: usize) -> bool {
        std::mem::replace(&mut self.when[number], self.now) != self.now
    }
}
