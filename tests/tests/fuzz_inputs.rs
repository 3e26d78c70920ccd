//! Damaged inputs of every kind: whatever a file holds, the command ends with a result or with a
//! diagnostic, in bounded time and memory, and leaves nothing half-written.
//!
//! `NBCC_FUZZ_SEED` is the first seed, `NBCC_FUZZ_CASES` their number, `NBCC_FUZZ_KIND` the only kind
//! of input, `NBCC_FUZZ_SHRINK` the number of runs that a failure is shrunk in; `NBCC_FUZZ_PRINT`
//! prints each command before it runs, `NBCC_FUZZ_VERBOSE` how often each code was given. The files of
//! a failure stay in a folder that the report names.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use nbcc_tests::fuzz_inputs::corpus::Corpus;
use nbcc_tests::fuzz_inputs::generate::{Case, Kind, generate};
use nbcc_tests::fuzz_inputs::run::{run, write};
use nbcc_tests::fuzz_inputs::shrink::shrink;
use nbcc_tests::fuzzing::{Report, number};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// The kind in `NBCC_FUZZ_KIND`. Panics where there is no such kind.
fn only() -> Option<Kind> {
    let name = std::env::var("NBCC_FUZZ_KIND").ok()?;
    let found = Kind::SHARES.into_iter().find(|(kind, _)| kind.name() == name);
    Some(found.unwrap_or_else(|| panic!("there is no kind `{name}`")).0)
}

fn command_lines(case: &Case) -> String {
    case.commands.iter().map(|words| format!("nbcc {}\n", words.join(" "))).collect()
}

/// Writes a case where it stays, for whoever looks into it.
fn keep(seed: u64, case: &Case) -> Result<String, std::io::Error> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz_inputs/{seed}"));
    write(case, &folder)?;
    std::fs::write(folder.join("commands"), command_lines(case))?;
    Ok(folder.display().to_string())
}

/// Runs seeds one after another; a report of those that failed, shrunk.
fn random(first: u64, count: u64) -> Result<(), Failed> {
    let (corpus, only) = (Corpus::new(NBCC), only());
    let mut report = Report::default();
    let mut verdicts: BTreeMap<Kind, BTreeMap<String, usize>> = BTreeMap::new();
    let mut codes: BTreeMap<(Kind, Option<String>), usize> = BTreeMap::new();
    for seed in first..first + count {
        let case = generate(seed, &corpus, only);
        if std::env::var_os("NBCC_FUZZ_PRINT").is_some() {
            eprint!("seed {seed}: {}", command_lines(&case));
        }
        let counts = verdicts.entry(case.kind).or_default();
        let failure = match run(NBCC, &case) {
            Ok(verdict) => {
                *counts.entry(format!("exit {}", verdict.exit)).or_default() += 1;
                *codes.entry((case.kind, verdict.code)).or_default() += 1;
                continue;
            }
            Err(failure) => failure,
        };
        *counts.entry(failure.kind.clone()).or_default() += 1;
        let folder = keep(seed, &case)?;
        report.add(seed, failure, |failure, budget| {
            let budget = if failure.kind == "time" { budget.min(10) } else { budget };
            let small = shrink(case, budget, &mut |case| {
                run(NBCC, case).is_err_and(|again| again.kind == failure.kind)
            });
            let shown: String =
                String::from_utf8_lossy(&small.files[0].1).chars().take(2000).collect();
            let text = format!("{}in {folder}, of which suffices:\n{shown}", command_lines(&small));
            (text, run(NBCC, &small).err())
        });
    }
    eprintln!("seeds {first} to {}:", first + count - 1);
    for (kind, counts) in verdicts {
        let counts: Vec<String> =
            counts.iter().map(|(verdict, count)| format!("{verdict}: {count}")).collect();
        eprintln!("  {:<10}{}", kind.name(), counts.join(", "));
        if std::env::var_os("NBCC_FUZZ_VERBOSE").is_some() {
            let of_kind = codes.iter().filter(|((of, _), _)| *of == kind);
            for ((_, code), count) in of_kind {
                eprintln!("    {:<6}{count}", code.as_deref().unwrap_or("none"));
            }
        }
    }
    report.result()
}

fn main() {
    let (first, count) = (number("NBCC_FUZZ_SEED", 1), number("NBCC_FUZZ_CASES", 200));
    let trials = vec![Trial::test("random", move || random(first, count))];
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit()
}
