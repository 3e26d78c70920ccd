//! Cuts a failing program down: fewer runs, statements, items and parameters, loops and branches replaced
//! by what is in them, expressions by their operands, as long as it still fails.

use super::model::{Expr, Loop, Program, Statement};
use crate::fuzzing::smaller_lists;

/// Shrinks a program for which `fails` holds; calls it `budget` times at most.
pub fn shrink(program: Program, budget: usize, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program;
    let mut left = budget;
    // Where the last step was: what stands before was tried already and mostly fails again.
    let mut from = 0;
    loop {
        let candidates = smaller(&best);
        let count = candidates.len();
        let from_there =
            candidates.into_iter().enumerate().cycle().skip(from.min(count)).take(count);
        let mut step = None;
        for (at, candidate) in from_there {
            if left == 0 {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                step = Some((at, candidate));
                break;
            }
        }
        let Some((at, candidate)) = step else { return best };
        (best, from) = (candidate, at);
    }
}

/// Programs that are a step smaller, the largest steps first.
fn smaller(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    if program.runs.len() > 1 {
        for run in &program.runs {
            found.push(Program { runs: vec![run.clone()], ..program.clone() });
        }
    }
    found.extend(bodies(&program.body).into_iter().map(|body| Program { body, ..program.clone() }));
    for at in 0..program.items.len() {
        let mut small = program.clone();
        small.items.remove(at);
        found.push(small);
    }
    for at in 0..program.arrays.len() {
        let mut small = program.clone();
        small.arrays.remove(at);
        found.push(small);
    }
    for at in 0..program.scalars.len() {
        let is_extent = |extent: &super::model::Extent| extent.scalar.is_some_and(|by| by >= at);
        if program.arrays.iter().any(|array| array.extents.iter().any(is_extent)) {
            continue;
        }
        let mut small = program.clone();
        small.scalars.remove(at);
        small.runs.iter_mut().for_each(|run| {
            run.remove(at);
        });
        found.push(small);
    }
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
        Statement::Line(line) => {
            found.extend(inside(line).into_iter().map(|line| vec![Statement::Line(line)]));
        }
        Statement::If(condition, then, other) => {
            found.extend([then.clone(), other.clone()]);
            let rebuild = |then: Vec<Statement>, other: Vec<Statement>| {
                vec![Statement::If(condition.clone(), then, other)]
            };
            found.extend(bodies(then).into_iter().map(|then| rebuild(then, other.clone())));
            found.extend(bodies(other).into_iter().map(|other| rebuild(then.clone(), other)));
            for condition in simpler(condition) {
                found.push(vec![Statement::If(condition, then.clone(), other.clone())]);
            }
        }
        Statement::Loop(inner) => {
            let mut alone = inner.body.clone();
            if let Some(declared) = &inner.alone {
                alone.insert(0, Statement::Line(Expr::leaf(declared)));
            }
            found.push(alone);
            let rebuild = |changed: Loop| vec![Statement::Loop(Box::new(changed))];
            for body in bodies(&inner.body) {
                found.push(rebuild(Loop { body, ..(**inner).clone() }));
            }
            for head in inside(&inner.head) {
                found.push(rebuild(Loop { head, ..(**inner).clone() }));
            }
        }
        Statement::Switch(value, ways) => {
            found.extend(ways.iter().map(|(_, way)| way.clone()));
            for (at, (label, way)) in ways.iter().enumerate() {
                let mut fewer = ways.clone();
                fewer.remove(at);
                found.push(vec![Statement::Switch(value.clone(), fewer)]);
                for body in bodies(way) {
                    let mut ways = ways.clone();
                    ways[at] = (label.clone(), body);
                    found.push(vec![Statement::Switch(value.clone(), ways)]);
                }
            }
            for value in simpler(value) {
                found.push(vec![Statement::Switch(value, ways.clone())]);
            }
        }
    }
    found
}

/// The same text with simpler operands.
fn inside(expr: &Expr) -> Vec<Expr> {
    let Expr::Op(text, operands) = expr else { return Vec::new() };
    let mut found = Vec::new();
    for (at, operand) in operands.iter().enumerate() {
        for simple in simpler(operand) {
            let mut operands = operands.clone();
            operands[at] = simple;
            found.push(Expr::Op(text.clone(), operands));
        }
    }
    found
}

/// What may stand for a value.
fn simpler(expr: &Expr) -> Vec<Expr> {
    let Expr::Op(_, operands) = expr else {
        let is_small = |text: &str| text == "1" || text == "0";
        return match expr {
            Expr::Leaf(text) if is_small(text) => Vec::new(),
            _ => vec![Expr::leaf("1")],
        };
    };
    let mut found = operands.clone();
    found.push(Expr::leaf("1"));
    found.extend(inside(expr));
    found
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::fuzz_c::generate::generate;

    #[test]
    fn what_does_not_matter_goes_away() {
        for (seed, sign) in (1..60).flat_map(|seed| [(seed, "continue;"), (seed, " >> ")]) {
            let program = generate(seed);
            if !program.text().contains(sign) {
                continue;
            }
            let small = shrink(program, 4_000, &mut |program| program.text().contains(sign)).text();
            assert!(small.contains(sign) && small.lines().count() <= 16, "seed {seed}\n{small}");
        }
    }
}
