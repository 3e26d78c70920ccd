//! The integer program through `good_lp`, with as few routes as possible: the reference that the
//! search is compared with on small graphs.

use std::ops::Range;
use std::time::Duration;

use good_lp::{
    Expression, ProblemVariables, Solution, SolverModel, Variable, WithTimeLimit, constraint,
    microlp, variable,
};

use microlp::SolveOptions;

use super::budget::{Budget, Work};
use super::dfg::{Dfg, Grid};
use super::placement::Answer;
use super::program::{Literal, Program};

/// Variables that the solver is given at most: it keeps its matrices dense in places.
const MAX_VARIABLES: u32 = 20_000;

/// Nodes of the search of a program that is counted, at most.
const MAX_NODES: u64 = 50;

/// The mapping with the fewest routes in which each operation runs in one cycle of its window. What `work`
/// is left says how large the program may be and how long it is worked at, where no clock counts.
pub fn place(
    dfg: &Dfg,
    grid: &Grid,
    ii: i64,
    windows: &[Range<i64>],
    budget: &Budget,
    work: Option<&Work>,
) -> Answer {
    let Some(program) = Program::new(dfg, grid, ii, windows) else { return Answer::Unknown };
    if program.variables > MAX_VARIABLES {
        return if work.is_some() { Answer::TooMuch } else { Answer::Unknown };
    }
    let clauses: usize = program.clauses.iter().map(|clause| clause.len()).sum();
    let bounds: usize = program.at_most.iter().map(|bound| bound.literals.len()).sum();
    let rows = (program.clauses.len() + program.at_most.len()) as u64;
    let entries = (clauses + bounds) as u64;
    // A first solution takes about a pivot a row.
    if work.is_some_and(|work| rows * entries > work.entries_left()) {
        return Answer::TooMuch;
    }
    let mut problem = ProblemVariables::new();
    let all: Vec<Variable> =
        (0..program.variables).map(|_| problem.add(variable().binary())).collect();
    let term = |literal: &Literal| {
        let x = Expression::from(all[literal.variable as usize]);
        if literal.is_negated { 1.0 - x } else { x }
    };
    let sum = |literals: &[Literal]| literals.iter().map(term).sum::<Expression>();
    let routes: Expression = program.route_variables().map(|v| all[v as usize]).sum();
    let mut model = problem.minimise(routes).using(microlp);
    for clause in &program.clauses {
        model = model.with(constraint!(sum(clause) >= 1.0));
    }
    for bound in &program.at_most {
        model = model.with(constraint!(sum(&bound.literals) <= bound.bound as f64));
    }
    let left = budget.left().unwrap_or(Duration::from_secs(3600));
    if left.is_zero() {
        return Answer::Unknown;
    }
    if let Some(work) = work {
        let mut options = SolveOptions::default();
        options.time_limit = Some(left);
        options.node_limit = Some(MAX_NODES);
        return match model.as_inner().solve_with(options) {
            Ok(outcome) => {
                work.add_entries(outcome.stats().lp_iterations * entries);
                match outcome.into_solution() {
                    Ok(solution) => {
                        let values: Vec<f64> = solution.iter().map(|(_, value)| value).collect();
                        Answer::Placed(program.placement(|v| values[v as usize] > 0.5))
                    }
                    Err(_) => Answer::Unknown,
                }
            }
            Err(microlp::Error::Infeasible) => {
                work.add_entries(rows * entries);
                Answer::Impossible
            }
            Err(_) => Answer::Unknown,
        };
    }
    match model.with_time_limit(left.as_secs_f64()).solve() {
        Ok(solution) => {
            let holds = |v: u32| solution.value(all[v as usize]) > 0.5;
            Answer::Placed(program.placement(holds))
        }
        Err(good_lp::ResolutionError::Infeasible) => Answer::Impossible,
        Err(_) => Answer::Unknown,
    }
}
