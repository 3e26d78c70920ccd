//! Random C functions and the smallest ones that once failed, by the interpreter and by the compiler
//! and the simulated machine: divided among core and arrays, with scalars known and not, and all on
//! the core, at several levels. Where there is a C compiler, it is asked as well.
//!
//! `NBCC_FUZZ_SEED` is the first seed, `NBCC_FUZZ_CASES` their number, `NBCC_FUZZ_SHRINK` the
//! number of runs that a failure is shrunk in; `NBCC_FUZZ_PRINT` prints the sources.

use libtest_mimic::{Failed, Trial};
use nbcc_tests::fuzz_c::generate::generate;
use nbcc_tests::fuzz_c::model::Program;
use nbcc_tests::fuzz_c::outside::{self, Case};
use nbcc_tests::fuzz_c::run::{WAYS, run};
use nbcc_tests::fuzz_c::shrink::shrink;
use nbcc_tests::fuzzing::{self, Report, number};
use nbcc_tests::guard::Failure;

/// How many programs another compiler is asked about at a time.
const TOGETHER: u64 = 128;

/// How a program fails by itself: here, or asked of another compiler.
fn fails(program: &Program, seed: u64, asks: bool) -> Option<Failure> {
    let runs = match run(&program.text(), seed) {
        Ok(runs) => runs,
        Err(failure) => return Some(failure),
    };
    if !asks {
        return None;
    }
    let wrong = outside::compare(&[Case { seed, program: program.clone(), runs }]).ok()?;
    wrong.into_iter().next().map(|(_, failure)| failure)
}

/// Runs seeds one after another; a report of those that failed, shrunk.
fn random(first: u64, count: u64) -> Result<(), Failed> {
    let mut report = Report::default();
    let (mut failed, mut ended, mut asked, mut divided) = (0, 0, 0, 0);
    let is_there = outside::is_there();
    let mut add = |seed: u64, program: Program, failure: Failure, asks: bool| {
        failed += 1;
        report.add(seed, failure, |failure, budget| {
            let small = shrink(program, budget, &mut |program| {
                fails(program, seed, asks).is_some_and(|again| again.kind == failure.kind)
            });
            (small.text(), fails(&small, seed, asks))
        });
    };
    let mut next = first;
    while next < first + count {
        let end = (next + TOGETHER).min(first + count);
        let mut cases = Vec::new();
        for seed in next..end {
            let program = generate(seed);
            if std::env::var_os("NBCC_FUZZ_PRINT").is_some() {
                println!("{}", program.text());
            }
            match run(&program.text(), seed) {
                Ok(runs) => cases.push(Case { seed, program, runs }),
                Err(failure) => add(seed, program, failure, false),
            }
        }
        ended += cases.iter().filter(|case| case.runs.iter().any(|ran| ran.left.is_none())).count();
        divided += cases.iter().filter(|case| case.runs.iter().any(|ran| ran.on_array)).count();
        if is_there {
            let wrong = outside::compare(&cases)?;
            asked += cases.iter().filter(|case| case.program.is_defined).count();
            for (at, failure) in wrong {
                add(cases[at].seed, cases[at].program.clone(), failure, true);
            }
        }
        next = end;
    }
    eprintln!(
        "seeds {first} to {}: {failed} of {count} failed; {divided} came to arrays, {ended} have a \
         run that ends early, {asked} were asked of another compiler",
        first + count - 1
    );
    report.result()
}

/// A program in a file, built in every way.
fn replay(text: &str) -> Result<(), Failed> {
    for number in 0..WAYS {
        run(text, number).map_err(|failure| format!("{}: {}", failure.kind, failure.text))?;
    }
    Ok(())
}

fn main() {
    let (first, count) = (number("NBCC_FUZZ_SEED", 1), number("NBCC_FUZZ_CASES", 24));
    let trials = vec![Trial::test("random", move || random(first, count))];
    fuzzing::run(trials, "c", replay)
}
