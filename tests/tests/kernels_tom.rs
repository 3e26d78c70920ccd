//! Every case of `tests/cuda` and of `examples/tom`, compiled for TOM and run on the simulated machine
//! with the table of candidates proven; and the applications of `examples/tom` by the interpreter and for
//! the MPU.
//!
//! The applications are run at every level of [`ALL`]. Of the corpus each program is run at -O2, with every
//! instance of every candidate sent to a stack and back (`forced`), under each mapping in turn, and at one
//! more level, the next of the list for each program. `NBCC_LEVELS=all` runs every program at every level;
//! `NBCC_LEVELS=0,2,timed` at these. `timed` simulates time; so does `POLICY-MAPPING`, as in
//! `always-oracle`.

use std::path::Path;

use libtest_mimic::{Arguments, Trial};
use nbcc_tests::kernels::Case;
use nbcc_tests::{kernels, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// Each policy and each mapping.
const ALL: &[&str] = &[
    "0",
    "2",
    "interp",
    "mpu",
    "timed",
    "none-transparent",
    "forced-baseline",
    "forced-transparent",
    "forced-oracle",
    "always-baseline",
    "always-transparent",
    "controlled-baseline",
    "controlled-oracle",
    "ideal-baseline",
    "best-transparent",
];

/// The levels at which a program of the corpus is run by default.
fn turn(number: usize) -> Vec<&'static str> {
    let is_forced = |level: &&&str| level.starts_with("forced");
    let forced: Vec<&str> = ALL.iter().filter(is_forced).copied().collect();
    let rest = |level: &&&str| !is_forced(level) && **level != "2" && !is_elsewhere(level);
    let others: Vec<&str> = ALL.iter().filter(rest).copied().collect();
    // A step more each round, so that no two of both lists always meet.
    let step = number + number / others.len();
    vec!["2", forced[number % forced.len()], others[step % others.len()]]
}

/// The interpreter and the MPU have the corpus in tests of their own.
fn is_elsewhere(level: &str) -> bool {
    matches!(level, "interp" | "mpu")
}

fn main() {
    let arguments = Arguments::from_args();
    let asked = std::env::var("NBCC_LEVELS").ok();
    let mut trials = Vec::new();
    for (folder, is_own) in [("tests/cuda", false), ("examples/tom", true)] {
        let folder = root().join(folder);
        let cases = kernels::cases(&folder);
        let all = cases.iter().flat_map(|case| case.ptx.iter().map(move |ptx| (case, ptx)));
        for (number, (case, ptx)) in all.enumerate() {
            let levels: Vec<&str> = match asked.as_deref() {
                Some("all") => ALL.to_vec(),
                Some(levels) => levels.split(',').collect(),
                None if is_own => ALL.to_vec(),
                None => turn(number),
            };
            let levels = levels.into_iter().filter(|level| is_own || !is_elsewhere(level));
            trials.extend(levels.map(|level| trial(&folder, case, &ptx.file, level)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn trial(folder: &Path, case: &Case, file: &str, level: &str) -> Trial {
    let endless = case.fault.as_ref().is_some_and(|fault| fault.kind == "limit");
    let limit = if endless { " --max-cycles 100000" } else { "" };
    let command = match level {
        "interp" => "interp".to_string(),
        "mpu" => format!("run --target mpu --fast{limit}"),
        "timed" => format!("run --target tom{limit}"),
        _ if level.contains('-') => {
            let (offload, map) = level.split_once('-').unwrap_or_default();
            format!("run --target tom -X offload={offload} -X map={map}{limit}")
        }
        _ => format!("run --target tom -O{level} --fast --verify-each{limit}"),
    };
    let name = format!("{}::{level}", file.trim_end_matches(".ptx"));
    let (folder, case, file) = (folder.to_path_buf(), case.clone(), file.to_string());
    Trial::test(name, move || Ok(kernels::check(NBCC, &command, &folder, &case, &file)?))
}
