//! Many schedules, each of which is placed or soon given up. At an interval of 1 they are embedded (`strands.rs`,
//! `embed.rs`), and the next one gives time to what found no PE in the ones before; at others a SAT solver places
//! them (`solved.rs`).

use std::sync::atomic::{AtomicU64, Ordering};

use super::broadcast;
use super::embed::{Embedding, embed, luby};
use super::placement::Placement;
use super::problem::Problem;
use super::random::Random;
use super::schedule::{Preferences, routes_at_one, schedule};
use super::solved;
use super::strands::{Sharing, Strands};

/// Steps for one schedule, times the numbers of Luby's sequence, and what a schedule itself takes.
const STEPS: u64 = 300;
const SCHEDULE: u64 = 20;
/// Moves of a schedule for each operation: another one is found sooner than one that is far off.
const MOVES: usize = 20;
/// Weights of values differ by less than that.
const WEIGHTS: usize = 6;

/// Registers of a PE of which there are too few now and then.
const FEW_REGISTERS: u32 = 4;

/// Those who try.
pub struct Tries<'a> {
    problem: &'a Problem<'a>,
    pair: [Memory; 2],
}

/// What one of them remembers of the schedules that it tried.
pub struct Memory {
    /// What it draws from.
    pub random: Random,
    /// How many there were.
    pub number: u64,
    /// The edges whose consumers missed their values in the last annealing.
    pub missed: Vec<usize>,
    /// Whether a PE had too few registers for one of them.
    pub counts_registers: bool,
    /// How often what has to do with each edge found no PE.
    blame: Vec<u32>,
    /// The edges that are given a cycle more in the next schedule.
    stretched: Vec<usize>,
}

impl<'a> Tries<'a> {
    /// None was tried.
    pub fn new(problem: &'a Problem<'a>) -> Tries<'a> {
        let Problem { dfg, grid, .. } = *problem;
        let memory = |seed| Memory {
            random: Random::new(seed),
            number: 0,
            missed: Vec::new(),
            counts_registers: grid.array.registers < FEW_REGISTERS,
            blame: vec![0; dfg.edges.len()],
            stretched: Vec::new(),
        };
        Tries { problem, pair: [memory(0), memory(1)] }
    }

    /// Notes the edges that were missed elsewhere.
    pub fn note(&mut self, missed: &[usize]) {
        self.pair.iter_mut().for_each(|memory| memory.missed = missed.to_vec());
    }

    /// Tries schedules until one is placed, or two threads took so many steps each. What is found does not
    /// depend on which of them is faster: it is the first by its number.
    pub fn search(&mut self, steps: u64) -> Option<Placement> {
        let problem = self.problem;
        let found = [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)];
        let try_on = |memory: &mut Memory, me: usize| {
            let (mine, other) = (&found[me], &found[1 - me]);
            let mut left = steps;
            while left > 0 && !problem.budget.is_over() {
                let is_late = other.load(Ordering::Relaxed).saturating_add(1 - me as u64);
                if memory.number >= is_late {
                    return None;
                }
                let placed = match problem.ii {
                    1 => memory.next(problem, &mut left),
                    _ => solved::next(memory, problem, &mut left),
                };
                if placed.is_some() {
                    mine.store(memory.number - 1, Ordering::Relaxed);
                    return placed;
                }
            }
            None
        };
        let [first, second] = &mut self.pair;
        let [a, b] = std::thread::scope(|scope| {
            let second = scope.spawn(|| try_on(second, 1));
            let first = try_on(first, 0);
            [first, second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
        });
        let [mine, other] = found.map(AtomicU64::into_inner);
        if mine <= other { a.or(b) } else { b.or(a) }
    }
}

impl Memory {
    /// Tries to embed one more schedule at an interval of 1, with what it takes of the steps that are left.
    fn next(&mut self, problem: &Problem<'_>, left: &mut u64) -> Option<Placement> {
        let Problem { dfg, grid, budget, .. } = *problem;
        let random = &mut self.random;
        let mut preferences = Preferences { moves: MOVES, ..Preferences::none(dfg) };
        if self.number > 0 {
            preferences.weight.iter_mut().for_each(|w| *w += random.below(WEIGHTS) as i64);
        }
        self.stretched.iter().for_each(|&e| preferences.extra[e] = 1);
        let crowds = broadcast::neighbours(dfg, grid, random);
        let time = schedule(dfg, grid, 1, &preferences, &crowds, &budget, random);
        let number = self.number;
        self.number += 1;
        *left = left.saturating_sub(SCHEDULE);
        let free = grid.pes as i64 - dfg.len() as i64;
        let routes = time.as_ref().map_or(i64::MAX, |time| routes_at_one(dfg, time));
        let Some(time) = time.filter(|_| routes <= free) else {
            self.blame.fill(0);
            self.stretched.clear();
            return None;
        };
        let spare = if number % 3 == 2 { free - routes } else { 0 };
        let sharing = if number % 2 == 1 { Sharing::Open } else { Sharing::Fixed };
        let strands = Strands::new(dfg, grid, time, spare, sharing, random);
        let mut weights = vec![0; strands.net.neighbours.len()];
        let given = (STEPS * luby(number + 1)).min(*left);
        let mut unused = given;
        let clock = budget.clock();
        let answer = embed(&strands.net, &grid.near, &mut unused, &mut weights, &clock, random);
        *left -= given - unused;
        if let Embedding::Found(pes) = &answer {
            return Some(strands.placement(dfg, grid, pes));
        }
        for (e, blame) in self.blame.iter_mut().enumerate() {
            *blame = (*blame - *blame / 4).saturating_add(strands.blame(dfg, e, &weights));
        }
        let sum: u64 = self.blame.iter().map(|&blame| u64::from(blame)).sum();
        let many = random.below(3) + usize::from(answer == Embedding::Impossible);
        let blamed = (0..many).filter(|_| sum > 0).map(|_| {
            let mut at = random.word() % sum;
            let is_it = |&blame: &u32| {
                let is_it = at < u64::from(blame);
                at = at.saturating_sub(u64::from(blame));
                is_it
            };
            self.blame.iter().position(is_it)
        });
        self.stretched = blamed.flatten().collect();
        None
    }
}
