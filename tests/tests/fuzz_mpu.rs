//! Random kernels and the smallest ones that once failed, by the interpreter and by the compiler
//! and the simulated machine.
//!
//! `NBCC_FUZZ_SEED` is the first seed, `NBCC_FUZZ_CASES` their number, `NBCC_FUZZ_SHRINK` the
//! number of runs that a failure is shrunk in; `NBCC_FUZZ_PRINT` prints the sources.

use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_pipeline::OptLevel;
use nbcc_tests::fuzz_kernels::generate::generate;
use nbcc_tests::fuzz_kernels::run::run;
use nbcc_tests::fuzz_kernels::shrink::shrink;
use nbcc_tests::guard::catch_panics;

const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => default,
    }
}

/// Runs seeds one after another; a report of those that failed, shrunk.
fn random(first: u64, count: u64) -> Result<(), Failed> {
    let budget = number("NBCC_FUZZ_SHRINK", 400) as usize;
    let mut report = String::new();
    let mut kinds: Vec<String> = vec![];
    let mut failed = 0;
    for seed in first..first + count {
        let kernel = generate(seed);
        if std::env::var_os("NBCC_FUZZ_PRINT").is_some() {
            println!("{}", kernel.text());
        }
        let Err(failure) = run(&kernel.text(), &LEVELS) else { continue };
        failed += 1;
        let line = failure.text.lines().next().unwrap_or_default();
        eprintln!("seed {seed}: {} {line}", failure.kind);
        if kinds.iter().filter(|kind| **kind == failure.kind).count() >= 3 {
            report += &format!("\nseed {seed}: {} again\n", failure.kind);
            continue;
        }
        kinds.push(failure.kind.clone());
        let small = shrink(kernel, budget, &mut |kernel| {
            run(&kernel.text(), &LEVELS).is_err_and(|again| again.kind == failure.kind)
        });
        let text = small.text();
        let now = run(&text, &LEVELS).err().unwrap_or(failure);
        let part = format!("\nseed {seed}: {}: {}\n{text}", now.kind, now.text);
        eprintln!("{part}");
        report += &part;
    }
    eprintln!("seeds {first} to {}: {failed} of {count} failed", first + count - 1);
    if report.is_empty() { Ok(()) } else { Err(report.into()) }
}

/// A kernel in a file.
fn replay(text: &str) -> Result<(), Failed> {
    run(text, &LEVELS).map_err(|failure| format!("{}: {}", failure.kind, failure.text).into())
}

fn main() {
    let mut arguments = Arguments::from_args();
    // Panics are told apart by thread, and a case has a thread of its own.
    arguments.test_threads = arguments.test_threads.or(Some(1));
    catch_panics();
    let (first, count) = (number("NBCC_FUZZ_SEED", 1), number("NBCC_FUZZ_CASES", 150));
    let mut trials = vec![Trial::test("random", move || random(first, count))];
    for path in nbcc_tests::files_in(&nbcc_tests::root().join("tests/fuzz"), "ptx") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        trials.push(Trial::test(format!("replay::{name}"), move || {
            replay(&std::fs::read_to_string(&path)?)
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
