//! Cuts a failing kernel down: fewer threads, fewer statements, branches replaced by one of their
//! sides, as long as it still fails.

use super::model::{Kernel, Statement, Trips};
use crate::fuzzing::smaller_lists;

/// Shrinks a kernel for which `fails` holds; calls it `budget` times at most.
pub fn shrink(kernel: Kernel, budget: usize, fails: &mut dyn FnMut(&Kernel) -> bool) -> Kernel {
    let mut best = kernel;
    let mut left = budget;
    loop {
        let before = best.clone();
        for candidate in smaller(&best) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                best = candidate;
                break;
            }
        }
        if best == before {
            return best;
        }
    }
}

/// Kernels that are a step smaller, the largest steps first.
fn smaller(kernel: &Kernel) -> Vec<Kernel> {
    let mut found = Vec::new();
    let sizes = [(1, 1), (1, 32), (1, kernel.block), (kernel.grid, 32)];
    for (grid, block) in sizes {
        // Warp operations need whole warps.
        let whole = kernel.block.is_multiple_of(32) && !block.is_multiple_of(32);
        if (grid, block) != (kernel.grid, kernel.block) && block <= kernel.block && !whole {
            found.push(Kernel { grid, block, ..kernel.clone() });
        }
    }
    found.extend(bodies(&kernel.body).into_iter().map(|body| Kernel { body, ..kernel.clone() }));
    found
}

/// Lists that are a step smaller.
fn bodies(body: &[Statement]) -> Vec<Vec<Statement>> {
    smaller_lists(body, replacements)
}

/// What may stand for a statement.
fn replacements(statement: &Statement) -> Vec<Vec<Statement>> {
    let mut found = Vec::new();
    match statement {
        Statement::Lines(_, None) => {}
        Statement::Lines(lines, Some(_)) => found.push(vec![Statement::Lines(lines.clone(), None)]),
        Statement::If(condition, then, other) => {
            let rebuild = |then: Vec<Statement>, other: Vec<Statement>| {
                vec![Statement::If(condition.clone(), then, other)]
            };
            found.push(other.clone());
            found.extend(bodies(then).into_iter().map(|then| rebuild(then, other.clone())));
            found.extend(bodies(other).into_iter().map(|other| rebuild(then.clone(), other)));
        }
        Statement::Loop(trips, leave, body) => {
            found.push(body.clone());
            if *trips != Trips::Constant(1) {
                found.push(vec![Statement::Loop(Trips::Constant(1), leave.clone(), body.clone())]);
            }
            if leave.is_some() {
                found.push(vec![Statement::Loop(trips.clone(), None, body.clone())]);
            }
            let rebuild = |body| vec![Statement::Loop(trips.clone(), leave.clone(), body)];
            found.extend(bodies(body).into_iter().map(rebuild));
        }
        Statement::Switch(register, ways) => {
            found.extend(ways.iter().cloned());
            for (at, way) in ways.iter().enumerate() {
                for body in bodies(way) {
                    let mut ways = ways.clone();
                    ways[at] = body;
                    found.push(vec![Statement::Switch(register.clone(), ways)]);
                }
            }
        }
    }
    found
}
