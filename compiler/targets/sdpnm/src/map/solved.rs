//! Schedules at an interval of more than 1, each of which a SAT solver places soon or not: where it does,
//! it takes a few hundred conflicts, while a proof that there is no placement takes thousands.

use super::broadcast;
use super::embed::luby;
use super::loosen::loosen;
use super::placement::{Answer, Placement};
use super::problem::Problem;
use super::sat;
use super::schedule::{Preferences, schedule};
use super::search::within;
use super::tries::Memory;

/// Conflicts for one schedule, times the numbers of Luby's sequence, and how many take as long as writing
/// the program down.
const CONFLICTS: u64 = 700;
const WRITE: u64 = 300;
/// Conflicts take longer the more cells values may be in; so many are counted as they are.
const CELLS: u64 = 10_000;
/// Of so many schedules one is as it is.
const PLAIN: u64 = 4;
/// Of so many one gives a cycle more to an edge that annealing missed.
const STRETCHED: u64 = 3;
/// Weights of values differ by less than that.
const WEIGHTS: usize = 5;

/// Tries one more schedule, with what it takes of the steps that are left.
pub fn next(memory: &mut Memory, problem: &Problem<'_>, left: &mut u64) -> Option<Placement> {
    let Problem { dfg, grid, ii, budget, .. } = *problem;
    let number = memory.number;
    memory.number += 1;
    let random = &mut memory.random;
    let mut preferences = Preferences::none(dfg);
    if number > 0 {
        preferences.weight.iter_mut().for_each(|w| *w += random.below(WEIGHTS) as i64);
    }
    if number % STRETCHED == 1 && !memory.missed.is_empty() {
        preferences.extra[memory.missed[random.below(memory.missed.len())]] = 1;
    }
    let trees = broadcast::some_trees(dfg, grid, ii, (number / 2) as usize, random);
    let crowds = broadcast::crowds(dfg, grid, ii, &trees);
    let time = schedule(dfg, grid, ii, &preferences, &crowds, &budget, random);
    let Some(mut time) = time else {
        *left = left.saturating_sub(WRITE);
        return None;
    };
    if !number.is_multiple_of(PLAIN) {
        loosen(dfg, grid, ii, &mut time, random);
    }
    let life = |op: usize| {
        let cycles = dfg.out[op].iter().map(|&e| dfg.slack(e, &time, ii));
        cycles.max().unwrap_or(0)
    };
    let lives = (0..dfg.len()).map(|op| 1 + life(op)).sum::<i64>() as u64;
    let cells = (lives * grid.pes as u64).max(CELLS);
    let most = CONFLICTS * luby(number + 1);
    let (answer, conflicts) = sat::place_soon(
        dfg,
        grid,
        ii,
        &within(&time, 0),
        memory.counts_registers,
        most,
        budget.clock(),
    );
    *left = left.saturating_sub((conflicts + WRITE) * cells / CELLS);
    let Answer::Placed(placed) = answer else { return None };
    let is_right = problem.is_right(&placed);
    memory.counts_registers |= !is_right;
    is_right.then_some(placed)
}
