//! The integer program as satisfiability, through BatSat: clauses as they are, bounds through the
//! encodings of RustSAT. (SAT-MapIt, Tirelli et al., DATE 2023, maps on other arrays this way.)

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use rustsat::encodings::am1::{self, Encode as _};
use rustsat::encodings::card::{BoundUpper as _, Totalizer};
use rustsat::instances::BasicVarManager;
use rustsat::solvers::{Solve, SolverResult};
use rustsat::types::{Clause, Lit, TernaryVal, Var};
use rustsat_batsat::BasicSolver;

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
    if clock.is_over() {
        return Answer::Unknown;
    }
    let mut solver = BasicSolver::default();
    let mut variables = BasicVarManager::from_next_free(Var::new(program.variables));
    // Only memory or time can run out here, and then nothing is known.
    if write(&program, &mut solver, &mut variables, &clock).is_none() {
        return Answer::Unknown;
    }
    let left = Rc::new(Cell::new(steps));
    solver.batsat_mut().cb_mut().set_stop(move || {
        let now = left.get();
        left.set(now.saturating_sub(1));
        now == 0 || (now.is_multiple_of(256) && clock.is_over())
    });
    match solver.solve() {
        Ok(SolverResult::Sat) => {
            let holds =
                |variable| matches!(solver.lit_val(Lit::positive(variable)), Ok(TernaryVal::True));
            Answer::Placed(program.placement(holds))
        }
        Ok(SolverResult::Unsat) => Answer::Impossible,
        _ => Answer::Unknown,
    }
}

fn write(
    program: &Program<'_>,
    solver: &mut BasicSolver,
    variables: &mut BasicVarManager,
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
