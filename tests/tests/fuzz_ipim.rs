//! Random pipelines and the smallest ones that once failed, by the interpreter and by the compiler
//! and the simulated machine.
//!
//! `NBCC_FUZZ_SEED` is the first seed, `NBCC_FUZZ_CASES` their number, `NBCC_FUZZ_SHRINK` the
//! number of runs that a failure is shrunk in; `NBCC_FUZZ_PRINT` prints the sources. Seeds from a
//! million on use more of the language. `NBCC_CODE=smallest` chooses how small code is.

use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_pipeline::OptLevel;
use nbcc_tests::fuzz::generate::{WIDE, generate};
use nbcc_tests::fuzz::run::{Outcome, run};
use nbcc_tests::fuzz::shrink::shrink;
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
    let verbose = std::env::var_os("NBCC_FUZZ_VERBOSE").is_some();
    let (mut same, mut halved, mut skipped, mut costly, mut large) = (0, 0, 0, 0, 0);
    let mut report = String::new();
    let mut kinds: Vec<String> = vec![];
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
        let line = failure.text.lines().next().unwrap_or_default();
        eprintln!("seed {seed}: {} {line}", failure.kind);
        if kinds.iter().filter(|kind| **kind == failure.kind).count() >= 3 {
            report += &format!("\nseed {seed}: {} again\n", failure.kind);
            continue;
        }
        kinds.push(failure.kind.clone());
        let budget = if failure.kind == "time" { budget.min(10) } else { budget };
        let small = shrink(case, budget, &mut |case| {
            let again = run(&case.text(), &LEVELS);
            again.is_err_and(|again| again.kind == failure.kind)
        });
        let text = small.text();
        let now = run(&text, &LEVELS).err().unwrap_or(failure);
        let part = format!("\nseed {seed}: {}: {}\n{text}", now.kind, now.text);
        eprintln!("{part}");
        report += &part;
    }
    eprintln!(
        "seeds {first} to {}: {same} same ({halved} made smaller), {skipped} not valid, \
         {costly} too much work, {large} too large",
        first + count - 1
    );
    if same * 2 < count && report.is_empty() {
        return Err(format!("only {same} of {count} pipelines were run").into());
    }
    if report.is_empty() { Ok(()) } else { Err(report.into()) }
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
    let mut arguments = Arguments::from_args();
    // Panics are told apart by thread, and a case has a thread of its own.
    arguments.test_threads = arguments.test_threads.or(Some(1));
    catch_panics();
    let count = number("NBCC_FUZZ_CASES", 75);
    let mut trials = match std::env::var_os("NBCC_FUZZ_SEED") {
        Some(_) => vec![Trial::test("random", move || random(number("NBCC_FUZZ_SEED", 1), count))],
        None => vec![
            Trial::test("random", move || random(1, count)),
            Trial::test("random_wide", move || random(WIDE, count)),
        ],
    };
    for path in nbcc_tests::files_in(&nbcc_tests::root().join("tests/fuzz"), "halide") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        trials.push(Trial::test(format!("replay::{name}"), move || {
            replay(&std::fs::read_to_string(&path)?)
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
