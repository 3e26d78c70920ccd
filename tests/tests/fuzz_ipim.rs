//! Random pipelines and the smallest ones that once failed, by the interpreter and by the compiler
//! and the simulated machine.
//!
//! `NBCC_FUZZ_SEED` is the first seed, `NBCC_FUZZ_CASES` their number, `NBCC_FUZZ_SHRINK` the
//! number of runs that a failure is shrunk in; `NBCC_FUZZ_PRINT` prints the sources. Seeds from a
//! million on use more of the language, from two millions on images that are long and narrow. `NBCC_CODE=smallest` chooses how small code is.

use libtest_mimic::{Failed, Trial};
use nbcc_pipeline::OptLevel;
use nbcc_tests::fuzz::generate::{NARROW, WIDE, generate};
use nbcc_tests::fuzz::run::{Outcome, run};
use nbcc_tests::fuzz::shrink::shrink;
use nbcc_tests::fuzzing::{self, Report, number};

const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

/// Runs seeds one after another; a report of those that failed, shrunk.
fn random(first: u64, count: u64) -> Result<(), Failed> {
    let verbose = std::env::var_os("NBCC_FUZZ_VERBOSE").is_some();
    let (mut same, mut halved, mut skipped, mut costly, mut large) = (0, 0, 0, 0, 0);
    let mut report = Report::default();
    for seed in first..first + count {
        let mut case = generate(seed);
        if std::env::var_os("NBCC_FUZZ_PRINT").is_some() {
            eprintln!("seed {seed}\n{}", case.text());
        }
        let mut result = run(&case.text(), &LEVELS);
        // A case that is too much work is tried smaller.
        if let Ok(Outcome::Costly(_)) = result
            && (0..3).any(|_| {
                case.halve() && {
                    result = run(&case.text(), &LEVELS);
                    !matches!(result, Ok(Outcome::Costly(_)))
                }
            })
        {
            halved += 1;
        }
        let failure = match result {
            Ok(Outcome::Same) => {
                same += 1;
                continue;
            }
            Ok(outcome) => {
                if verbose {
                    eprintln!("seed {seed} not run: {outcome:?}");
                }
                match outcome {
                    Outcome::Costly(_) => costly += 1,
                    Outcome::TooLarge(_) => large += 1,
                    _ => skipped += 1,
                }
                continue;
            }
            Err(failure) => failure,
        };
        report.add(seed, failure, |failure, budget| {
            let budget = if failure.kind == "time" { budget.min(10) } else { budget };
            let small = shrink(case, budget, &mut |case| {
                let again = run(&case.text(), &LEVELS);
                again.is_err_and(|again| again.kind == failure.kind)
            });
            (small.text(), run(&small.text(), &LEVELS).err())
        });
    }
    eprintln!(
        "seeds {first} to {}: {same} same ({halved} made smaller), {skipped} not valid, \
         {costly} too much work, {large} too large",
        first + count - 1
    );
    report.result()?;
    if same * 2 < count {
        return Err(format!("only {same} of {count} pipelines were run").into());
    }
    Ok(())
}

/// A pipeline in a file.
fn replay(text: &str) -> Result<(), Failed> {
    match run(text, &LEVELS) {
        Ok(Outcome::Same) => Ok(()),
        Ok(outcome) => Err(format!("{outcome:?}").into()),
        Err(failure) => Err(format!("{}: {}", failure.kind, failure.text).into()),
    }
}

fn main() {
    let count = number("NBCC_FUZZ_CASES", 25);
    let trials = match std::env::var_os("NBCC_FUZZ_SEED") {
        Some(_) => vec![Trial::test("random", move || random(number("NBCC_FUZZ_SEED", 1), count))],
        None => vec![
            Trial::test("random", move || random(1, count)),
            Trial::test("random_wide", move || random(WIDE, count)),
            Trial::test("random_narrow", move || random(NARROW, count)),
        ],
    };
    fuzzing::run(trials, "halide", replay)
}
