//! The integer program as satisfiability, through BatSat: clauses as they are, bounds through the
//! encodings of RustSAT. (SAT-MapIt, Tirelli et al., DATE 2023, maps on other arrays this way.)

use std::cell::Cell;
use std::ops::Range;

use batsat::{Callbacks, ClauseKind};
use rustsat::encodings::am1::{self, Encode as _};
use rustsat::encodings::card::{BoundUpper as _, Totalizer};
use rustsat::instances::BasicVarManager;
use rustsat::solvers::{Solve, SolverResult};
use rustsat::types::{Clause, Lit, TernaryVal, Var};
use rustsat_batsat::Solver;

use super::budget::Clock;
use super::dfg::{Dfg, Grid};
use super::placement::Answer;
use super::program::{AtMost, Literal, Program};

/// Searches a mapping in which each operation runs in one cycle of its window. `steps` bounds the
/// decisions of the solver.
pub fn place(
    dfg: &Dfg,
    grid: &Grid,
    ii: i64,
    windows: &[Range<i64>],
    steps: u64,
    clock: Clock,
) -> Answer {
    let Some(program) = Program::new(dfg, grid, ii, windows) else { return Answer::Unknown };
    let limits = Limits::new(steps, u64::MAX, clock);
    solve(&program, limits, Pairs::All).0
}

/// The same for at most so many conflicts, and how many there were. Whether PEs have the registers that a
/// placement takes is left to the caller, unless `counts_registers`: to write that down takes half of the
/// time, and it seldom matters.
pub fn place_soon(
    dfg: &Dfg,
    grid: &Grid,
    ii: i64,
    windows: &[Range<i64>],
    counts_registers: bool,
    conflicts: u64,
    clock: Clock,
) -> (Answer, u64) {
    let program = match counts_registers {
        true => Program::new(dfg, grid, ii, windows),
        false => Program::without_registers(dfg, grid, ii, windows),
    };
    let Some(program) = program else { return (Answer::Unknown, conflicts) };
    solve(&program, Limits::new(u64::MAX, conflicts, clock), Pairs::Few)
}

/// Literals whose pairs are always said one by one.
const MAX_PAIRWISE: usize = 8;

/// How it is said that at most one of many literals is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairs {
    /// By a clause for each pair: most follows from it.
    All,
    /// By some for each literal: sooner written down.
    Few,
}

/// When a solver stops.
#[derive(Default)]
struct Limits {
    decisions: Cell<u64>,
    conflicts: u64,
    most_conflicts: u64,
    clock: Option<Clock>,
}

impl Limits {
    fn new(decisions: u64, most_conflicts: u64, clock: Clock) -> Limits {
        let decisions = Cell::new(decisions);
        Limits { decisions, conflicts: 0, most_conflicts, clock: Some(clock) }
    }
}

impl Callbacks for Limits {
    fn on_new_clause(&mut self, _: &[batsat::Lit], kind: ClauseKind) {
        self.conflicts += u64::from(matches!(kind, ClauseKind::Learnt));
    }

    fn stop(&self) -> bool {
        let now = self.decisions.get();
        self.decisions.set(now.saturating_sub(1));
        let is_over = || self.clock.as_ref().is_some_and(Clock::is_over);
        now == 0 || self.conflicts >= self.most_conflicts || now.is_multiple_of(256) && is_over()
    }
}

/// What the solver says, and after how many conflicts.
fn solve(program: &Program<'_>, limits: Limits, pairs: Pairs) -> (Answer, u64) {
    let Some(clock) = limits.clock.clone().filter(|clock| !clock.is_over()) else {
        return (Answer::Unknown, 0);
    };
    let mut solver = Solver::<Limits>::default();
    let mut variables = BasicVarManager::from_next_free(Var::new(program.variables));
    // Only memory or time can run out here, and then nothing is known.
    if write(program, &mut solver, &mut variables, pairs, &clock).is_none() {
        return (Answer::Unknown, 0);
    }
    *solver.batsat_mut().cb_mut() = limits;
    let result = solver.solve();
    let conflicts = solver.batsat_ref().cb().conflicts;
    let answer = match result {
        Ok(SolverResult::Sat) => {
            let holds =
                |variable| matches!(solver.lit_val(Lit::positive(variable)), Ok(TernaryVal::True));
            Answer::Placed(program.placement(holds))
        }
        Ok(SolverResult::Unsat) => Answer::Impossible,
        _ => Answer::Unknown,
    };
    (answer, conflicts)
}

fn write(
    program: &Program<'_>,
    solver: &mut Solver<Limits>,
    variables: &mut BasicVarManager,
    pairs: Pairs,
    clock: &Clock,
) -> Option<()> {
    solver.reserve(Var::new(program.variables)).ok()?;
    let lit = |l: &Literal| Lit::new(l.variable, l.is_negated);
    for (number, clause) in program.clauses.iter().enumerate() {
        if number % 4096 == 0 && clock.is_over() {
            return None;
        }
        solver.add_clause(clause.iter().map(lit).collect::<Clause>()).ok()?;
    }
    for AtMost { literals, bound } in &program.at_most {
        if clock.is_over() {
            return None;
        }
        let literals = literals.iter().map(lit);
        match bound {
            1 if pairs == Pairs::Few && literals.len() > MAX_PAIRWISE => {
                let mut encoding: am1::Bimander<6> = literals.collect();
                encoding.encode(solver, variables).ok()?;
            }
            1 if literals.len() <= 80 => {
                let mut encoding: am1::Pairwise = literals.collect();
                encoding.encode(solver, variables).ok()?;
            }
            1 => {
                let mut encoding: am1::Commander<4> = literals.collect();
                encoding.encode(solver, variables).ok()?;
            }
            _ => {
                let mut encoding: Totalizer = literals.collect();
                encoding.encode_ub(*bound..=*bound, solver, variables).ok()?;
                for unit in encoding.enforce_ub(*bound).ok()? {
                    solver.add_clause(std::iter::once(unit).collect::<Clause>()).ok()?;
                }
            }
        }
    }
    Some(())
}
