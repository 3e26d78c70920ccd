//! Every case of `tests/cuda` and of `examples/mpu`: compiled for the MPU and run on the simulated
//! machine at -O0 and -O2, each file under one policy of locations or another, and run by the
//! interpreter.
//!
//! `NBCC_LEVELS=0,1,2,interp,timed` chooses others than the default, `NBCC_LOCATIONS=all` every policy
//! for every file; `timed` simulates time, on the machine `NBCC_MACHINE` if that is set.

use std::path::Path;

use libtest_mimic::{Arguments, Trial};
use nbcc_tests::kernels::Case;
use nbcc_tests::{kernels, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

fn main() {
    let arguments = Arguments::from_args();
    let levels = std::env::var("NBCC_LEVELS").unwrap_or_else(|_| "0,2,interp,timed".into());
    let every = std::env::var("NBCC_LOCATIONS").is_ok_and(|wanted| wanted == "all");
    let mut trials = Vec::new();
    for (folder, all) in [("tests/cuda", every), ("examples/mpu", true)] {
        let folder = root().join(folder);
        for case in kernels::cases(&folder) {
            for (number, ptx) in case.ptx.iter().enumerate() {
                for level in levels.split(',') {
                    let first = trials.len() + number;
                    for (k, location) in LOCATIONS.iter().enumerate() {
                        let one = level != "interp" && (all || k == first % LOCATIONS.len());
                        if one || level == "interp" && k == 0 {
                            trials.push(trial(&folder, &case, &ptx.file, level, location));
                        }
                    }
                }
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// What `-X location` takes.
const LOCATIONS: [&str; 5] = ["annotated", "mincut", "hardware", "all-near", "all-far"];

fn trial(folder: &Path, case: &Case, file: &str, level: &str, location: &str) -> Trial {
    let endless = case.fault.as_ref().is_some_and(|fault| fault.kind == "limit");
    let limit = if endless { " --max-cycles 100000" } else { "" };
    let command = match level {
        "interp" if endless => "interp --max-steps 1000000".to_string(),
        "interp" => "interp".to_string(),
        "timed" => {
            let machine = std::env::var("NBCC_MACHINE").unwrap_or_else(|_| "mpu".into());
            format!("run -O2 --machine {machine}{limit} -X location={location}")
        }
        _ => {
            let verify = if level == "2" { " --verify-each" } else { "" };
            format!("run -O{level} --fast{verify}{limit} -X location={location}")
        }
    };
    let how = if level == "interp" { "oracle" } else { location };
    let name = format!("{}::{level}-{how}", file.trim_end_matches(".ptx"));
    let (folder, case, file) = (folder.to_path_buf(), case.clone(), file.to_string());
    Trial::test(name, move || Ok(kernels::check(NBCC, &command, &folder, &case, &file)?))
}
