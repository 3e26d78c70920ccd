//! The mapper that is used: diverse modulo schedules, each placed by annealing, then by the SAT
//! solver where annealing stalls, with more effort a round. What no placement reached is given more
//! time in the next schedule.

use super::anneal::{Board, Heat};
use super::dfg::Dfg;
use super::mappers::Problem;
use super::placement::Answer;
use super::random::Random;
use super::sat;
use super::schedule::{Wishes, routes_at_one, schedule};
use super::windows;

/// Rounds where nobody asked for patience, and decisions of the SAT solver in the first of them.
const ROUNDS: u32 = 16;
const FIRST_STEPS: u64 = 4_000;
/// Moves of annealing in the first round, for each operation.
const FIRST_MOVES: usize = 1_200;
/// Temperatures of annealing, in units of its cost.
const HEAT: Heat = Heat { from: 32.0, to: 3.0 };
/// Placed cells (operations times cycles times PEs) for which the exhausting search comes first.
const SMALL: u64 = 3_000;

/// Searches a mapping at an interval.
pub fn place(problem: &Problem<'_>) -> Answer {
    let Problem { dfg, grid, ii, .. } = *problem;
    if let Some(windows) = windows::all(dfg, grid, ii) {
        let cells: i64 = windows.iter().map(|w| w.end - w.start).sum();
        if cells as u64 * grid.pes as u64 <= SMALL {
            match sat::place(dfg, grid, ii, &windows, FIRST_STEPS * 8, &problem.budget) {
                Answer::Unknown => {}
                answer => return answer,
            }
        }
    }
    let free = (grid.pes as i64) * ii - dfg.len() as i64;
    let mut wishes = Wishes::none(dfg);
    for round in 0..problem.rounds.unwrap_or(ROUNDS) {
        if problem.budget.is_over() {
            break;
        }
        let mut random = Random::new(u64::from(round) << 32 | ii as u64);
        let Some(time) = schedule(dfg, grid, ii, &wishes, &mut random) else {
            wishes = Wishes::none(dfg);
            continue;
        };
        if ii == 1 && routes_at_one(dfg, &time) > free {
            if round == 0 {
                // No schedule needs fewer routes than the first, which has no wishes.
                return Answer::Impossible;
            }
            wishes = Wishes::none(dfg);
            continue;
        }
        let Some(mut board) = Board::new(dfg, grid, ii, &time, &mut random) else { continue };
        let moves = (FIRST_MOVES << (round / 2).min(6)) * dfg.len();
        if board.run(moves, HEAT, &problem.budget, &mut random) {
            let placed = board.placement();
            if problem.is_right(&placed) {
                return Answer::Placed(placed);
            }
        }
        let mut is_impossible = false;
        if round % 2 == 1 {
            match by_sat(problem, &time, FIRST_STEPS << (round / 2).min(8)) {
                Answer::Placed(placed) => return Answer::Placed(placed),
                Answer::Impossible => is_impossible = true,
                Answer::Unknown => {}
            }
        }
        wishes = next_wishes(dfg, &board.missed_edges(), is_impossible, &mut random);
    }
    exhaust(problem)
}

/// Places one schedule exactly.
fn by_sat(problem: &Problem<'_>, time: &[i64], steps: u64) -> Answer {
    let windows: Vec<_> = time.iter().map(|&t| t..t + 1).collect();
    sat::place(problem.dfg, problem.grid, problem.ii, &windows, steps, &problem.budget)
}

/// Searches all schedules at once, where they can be counted.
pub fn exhaust(problem: &Problem<'_>) -> Answer {
    let Problem { dfg, grid, ii, .. } = *problem;
    match windows::all(dfg, grid, ii) {
        Some(windows) if !problem.budget.is_over() => {
            sat::place(dfg, grid, ii, &windows, FIRST_STEPS * 4, &problem.budget)
        }
        _ => Answer::Unknown,
    }
}

/// Other weights for the next schedule; a cycle more for edges that were missed, where this schedule
/// cannot be placed or by the way.
fn next_wishes(dfg: &Dfg, missed: &[usize], must_change: bool, random: &mut Random) -> Wishes {
    let mut wishes = Wishes::none(dfg);
    for weight in &mut wishes.weight {
        *weight += random.below(5) as i64;
    }
    let stretched = if must_change { 2 } else { usize::from(random.chance(128)) };
    for _ in 0..stretched.min(missed.len()) {
        wishes.extra[missed[random.below(missed.len())]] = 1;
    }
    wishes
}
