//! Random kernels and the smallest ones that once failed, by the interpreter and by the compiler and
//! the simulated machine, in time and not: on MPU each under one policy of locations on one of its
//! machines, on TOM with whatever may run beside memory a candidate, and sent there.
//!
//! `NBCC_FUZZ_SEED` is the first seed, `NBCC_FUZZ_CASES` their number, `NBCC_FUZZ_SHRINK` the
//! number of runs that a failure is shrunk in; `NBCC_FUZZ_TARGET` leaves out all machines but one;
//! `NBCC_FUZZ_PRINT` prints the sources.

use libtest_mimic::{Failed, Trial};
use nbcc_pipeline::OptLevel;
use nbcc_tests::fuzz_kernels::generate::generate;
use nbcc_tests::fuzz_kernels::run::run;
use nbcc_tests::fuzz_kernels::shrink::shrink;
use nbcc_tests::fuzzing::{self, Report, number};

const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

/// Runs seeds one after another; a report of those that failed, shrunk.
fn random(first: u64, count: u64) -> Result<(), Failed> {
    let mut report = Report::default();
    let mut failed = 0;
    for seed in first..first + count {
        let kernel = generate(seed);
        if std::env::var_os("NBCC_FUZZ_PRINT").is_some() {
            println!("{}", kernel.text());
        }
        let Err(failure) = run(&kernel.text(), &LEVELS) else { continue };
        failed += 1;
        report.add(seed, failure, |failure, budget| {
            let small = shrink(kernel, budget, &mut |kernel| {
                run(&kernel.text(), &LEVELS).is_err_and(|again| again.kind == failure.kind)
            });
            (small.text(), run(&small.text(), &LEVELS).err())
        });
    }
    eprintln!("seeds {first} to {}: {failed} of {count} failed", first + count - 1);
    report.result()
}

/// A kernel in a file.
fn replay(text: &str) -> Result<(), Failed> {
    run(text, &LEVELS).map_err(|failure| format!("{}: {}", failure.kind, failure.text).into())
}

fn main() {
    let (first, count) = (number("NBCC_FUZZ_SEED", 1), number("NBCC_FUZZ_CASES", 100));
    let trials = vec![Trial::test("random", move || random(first, count))];
    fuzzing::run(trials, "ptx", replay)
}
