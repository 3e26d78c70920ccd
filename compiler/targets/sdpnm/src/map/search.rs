//! The mapper that is used: diverse modulo schedules, each placed by annealing, and by the
//! SAT solver where annealing stalls, with more effort a round. What no placement reached is given more
//! time in the next schedule.

use std::ops::Range;

use super::anneal::{Board, Cooling};
use super::broadcast;
use super::budget::Cancel;
use super::colours::{self, Colours};
use super::dfg::Dfg;
use super::placement::Answer;
use super::problem::Problem;
use super::random::Random;
use super::sat;
use super::schedule::{Preferences, least_routes_at_one, routes_at_one, schedule};
use super::tries::Tries;
use super::windows;

/// Rounds where nobody asked for patience, and decisions of the SAT solver in the first of them.
const ROUNDS: u32 = 16;
const FIRST_STEPS: u64 = 4_000;
/// Cycles that operations may be away from a schedule that SAT cannot place, either way, and decisions
/// there for each one for the schedule itself.
const AWAY: i64 = 1;
const NEAR_STEPS: u64 = 2;
/// Moves of annealing in the first round, for each operation.
const FIRST_MOVES: usize = 1_200;
/// Moves of a round at most where a number of rounds is asked for.
const MOST_MOVES: usize = 1_000_000;
/// Temperatures of annealing, in units of its cost.
const COOLING: Cooling = Cooling { from: 32.0, to: 3.0 };
/// What a cycle of waiting for banks costs in the first rounds, beside lives of weight 16 a cycle; from
/// how many such cycles an iteration on.
const WAITS: [(i64, i64); 3] = [(1000, 0), (320, 0), (320, 1)];
/// Steps in which schedules at an interval of 1 are embedded in the first round.
const TRY_STEPS: u64 = 15_000;
/// Conflicts in which others are placed by the SAT solver, after the first round.
const TRY_CONFLICTS: u64 = 2_000;
/// Placed cells (operations times cycles times PEs) for which the exhausting search comes first.
const EXHAUSTED_FIRST: u64 = 3_000;
/// Those up to which it is the last resort where rounds are counted: the formula alone of one with a few
/// times more takes seconds.
const MAX_EXHAUSTED: u64 = 20_000;
/// Operations beyond which the steps of rounds that are counted lead the SAT solver nowhere.
const MAX_SOLVED_OPERATIONS: usize = 64;
/// Misses that one more round is worth where there would be only one.
const MAX_MISSES: i64 = 3;

/// Searches a mapping at an interval.
pub fn place(problem: &Problem<'_>) -> Answer {
    let Problem { dfg, grid, ii, is_counted, .. } = *problem;
    let windows = windows::all(dfg, grid, ii);
    let cells = windows.as_ref().map_or(u64::MAX, |windows| {
        let cycles: i64 = windows.iter().map(|window| window.end - window.start).sum();
        (cycles as u64).saturating_mul(grid.pes as u64)
    });
    if let Some(windows) = windows.filter(|_| cells <= EXHAUSTED_FIRST) {
        match sat::place(dfg, grid, ii, &windows, FIRST_STEPS * 8, problem.budget.clock()) {
            Answer::Impossible => return Answer::Impossible,
            Answer::Placed(placed) if problem.is_right(&placed) => return Answer::Placed(placed),
            Answer::Placed(_) | Answer::Unknown | Answer::TooMuch => {}
        }
    }
    let free = (grid.pes as i64) * ii - dfg.len() as i64;
    let least = broadcast::least_routes(dfg, grid, ii);
    if least.is_none_or(|least| least as i64 > free) || broadcast::reads_too_many(dfg, grid, ii) {
        return Answer::Impossible;
    }
    if colours::alternate(grid, ii) && Colours::new(dfg).is_none() {
        return Answer::Impossible;
    }
    if ii == 1 && least_routes_at_one(dfg, &problem.budget).is_some_and(|least| least > free) {
        return Answer::Impossible;
    }
    // What is counted depends on annealing alone.
    let mut tries = (!is_counted).then(|| Tries::new(problem));
    let mut preferences = Preferences::none(dfg);
    let rounds = problem.rounds.unwrap_or(ROUNDS);
    let mut missing = i64::MAX;
    for round in 0..rounds.max(2) {
        let is_enough = round >= rounds && missing > MAX_MISSES;
        let is_much = is_counted && round > 0 && problem.work.is_much();
        if is_enough || is_much || problem.budget.is_over() {
            break;
        }
        let steps = match ii {
            1 => TRY_STEPS << (round / 2).min(6),
            _ if round == 0 => 0,
            _ => TRY_CONFLICTS * u64::from(1 + round / 2),
        };
        if let Some(placed) =
            tries.as_mut().filter(|_| steps > 0).and_then(|tries| tries.search(steps))
        {
            if problem.is_right(&placed) {
                return Answer::Placed(placed);
            }
            // How far the other one was when it was stopped is another thing each time.
            tries = None;
        }
        let mut random = Random::new(u64::from(round) << 32 | ii as u64);
        // Lives are longer for it: not where a mapping is hard to find.
        (preferences.wait, preferences.waits) =
            WAITS.get(round as usize).copied().unwrap_or((0, 0));
        // Where there are several cycles, what is read much is also reached from its registers and by
        // readers that come later: without trees where rounds are counted.
        let grown = ii == 1 || !is_counted;
        let trees = match grown {
            true => broadcast::some_trees(dfg, grid, ii, round as usize, &mut random),
            false => vec![],
        };
        let crowds = if grown { broadcast::crowds(dfg, grid, ii, &trees) } else { vec![] };
        let time = schedule(dfg, grid, ii, &preferences, &crowds, &problem.budget, &mut random);
        let Some(time) = time else {
            preferences = Preferences::none(dfg);
            continue;
        };
        if ii == 1 && routes_at_one(dfg, &time) > free {
            preferences = Preferences::none(dfg);
            continue;
        }
        let seating = broadcast::seat(dfg, grid, ii, &trees, &time);
        let board = Board::new(dfg, grid, ii, &time, Some(&seating), &mut random);
        let Some(board) = board else { continue };
        let is_pair = is_counted && round > 0 && dfg.len() > MAX_SOLVED_OPERATIONS;
        let twin = is_pair.then(|| {
            let mut random = Random::new(!u64::from(round) << 32 | ii as u64);
            let board = Board::new(dfg, grid, ii, &time, Some(&seating), &mut random);
            board.map(|board| (board, random))
        });
        let (answer, board) = attempt(problem, round, &time, board, twin.flatten(), &mut random);
        if let Answer::Placed(_) = answer {
            return answer;
        }
        let is_impossible = matches!(answer, Answer::Impossible);
        // How far annealing was when it was stopped is another thing each time.
        let is_stopped = is_impossible && !is_counted;
        let missed = match is_stopped {
            true => (0..dfg.edges.len()).collect(),
            false => board.missed_edges(),
        };
        if let Some(tries) = tries.as_mut().filter(|_| !is_stopped) {
            tries.note(&missed);
        }
        missing = if is_stopped { missing } else { missing.min(board.missing()) };
        if is_counted && missing > hopeless(dfg.len()) {
            break;
        }
        preferences = next_preferences(dfg, &missed, is_impossible, &mut random);
    }
    match problem.rounds {
        Some(1..ROUNDS) if cells > MAX_EXHAUSTED => Answer::Unknown,
        _ => match exhaust(problem) {
            Answer::Placed(placed) if !problem.is_right(&placed) => Answer::Unknown,
            answer => answer,
        },
    }
}

/// Places one schedule: by annealing, and after the first round by SAT at the same time, or from another
/// beginning as well. Where both succeed, the first annealing counts, so that it does not matter which is
/// faster. `Impossible` is said of the schedule.
fn attempt<'a>(
    problem: &Problem<'_>,
    round: u32,
    time: &[i64],
    mut board: Board<'a>,
    twin: Option<(Board<'a>, Random)>,
    random: &mut Random,
) -> (Answer, Board<'a>) {
    let Problem { dfg, grid, ii, is_counted, .. } = *problem;
    let doublings = if round == 0 { 0 } else { 1 + (round / 2).min(6) };
    let moves = (FIRST_MOVES * dfg.len()) << doublings;
    let moves = if problem.rounds.is_some() { moves.min(MOST_MOVES) } else { moves };
    let looks = if is_counted { problem.work.looks_a_round() } else { u64::MAX };
    let steps = FIRST_STEPS << (round / 2).min(8);
    let (whole, cancel, in_vain) = (problem.budget.clock(), Cancel::default(), Cancel::default());
    let clock = whole.clone().or(&cancel);
    let while_possible = whole.or(&in_vain);
    let mut anneal = || {
        let is_done = board.run((moves, looks), COOLING, &while_possible, random);
        if is_counted {
            problem.work.add(board.looks());
        }
        let placed = is_done.then(|| board.placement());
        placed.filter(|placed| problem.is_right(placed))
    };
    if round == 0 {
        let answer = anneal().map_or(Answer::Unknown, Answer::Placed);
        return (answer, board);
    }
    let answer = std::thread::scope(|scope| {
        let other = scope.spawn(|| match twin {
            None => {
                let answer = sat::place(dfg, grid, ii, &within(time, 0), steps, clock.clone());
                // Where rounds are counted a schedule near it is not worth its time.
                if is_counted || !matches!(answer, Answer::Impossible) {
                    return answer;
                }
                in_vain.cancel();
                match sat::place(dfg, grid, ii, &within(time, AWAY), steps * NEAR_STEPS, clock) {
                    Answer::Placed(placed) => Answer::Placed(placed),
                    _ => answer,
                }
            }
            Some((mut board, mut random)) => {
                match board.run((moves, looks), COOLING, &clock, &mut random) {
                    true => Answer::Placed(board.placement()),
                    false => Answer::Unknown,
                }
            }
        });
        if let Some(placed) = anneal() {
            cancel.cancel();
            return Answer::Placed(placed);
        }
        other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let is_wrong = matches!(&answer, Answer::Placed(placed) if !problem.is_right(placed));
    (if is_wrong { Answer::Unknown } else { answer }, board)
}

/// The cycles of a schedule, and so many before and after each.
pub fn within(time: &[i64], away: i64) -> Vec<Range<i64>> {
    time.iter().map(|&t| t - away..t + away + 1).collect()
}

/// Misses that a round leaves of so many operations, beyond which no other was seen to place all; where a
/// round takes little more are tried.
fn hopeless(operations: usize) -> i64 {
    (2600 / operations.max(1) as i64).clamp(12, 24)
}

/// Searches all schedules at once, where they can be counted, those too that keep no orders.
pub fn exhaust(problem: &Problem<'_>) -> Answer {
    let Problem { dfg, grid, ii, .. } = *problem;
    match windows::all(dfg, grid, ii) {
        Some(windows) if !problem.budget.is_over() => {
            sat::place(dfg, grid, ii, &windows, FIRST_STEPS * 4, problem.budget.clock())
        }
        _ => Answer::Unknown,
    }
}

/// Other weights for the next schedule; a cycle more for edges that were missed, where this schedule
/// cannot be placed or by the way.
fn next_preferences(
    dfg: &Dfg,
    missed: &[usize],
    must_change: bool,
    random: &mut Random,
) -> Preferences {
    let mut preferences = Preferences::none(dfg);
    for weight in &mut preferences.weight {
        *weight += random.below(5) as i64;
    }
    let stretched = if must_change { 2 } else { usize::from(random.chance(128)) };
    for _ in 0..stretched.min(missed.len()) {
        preferences.extra[missed[random.below(missed.len())]] = 1;
    }
    preferences
}
