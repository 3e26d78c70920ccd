//! Every case of `tests/cuda`: compiled for the MPU and run on the simulated machine at -O0 and
//! -O2, and run by the interpreter.
//!
//! `NBCC_LEVELS=0,1,2,interp` chooses others than the default.

use libtest_mimic::{Arguments, Trial};
use nbcc_tests::{kernels, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

fn main() {
    let arguments = Arguments::from_args();
    let levels = std::env::var("NBCC_LEVELS").unwrap_or_else(|_| "0,2,interp".into());
    let mut trials = Vec::new();
    let folder = root().join("tests/cuda");
    for case in kernels::cases(&folder) {
        for ptx in &case.ptx {
            for level in levels.split(',') {
                let endless = case.fault.as_ref().is_some_and(|fault| fault.kind == "limit");
                let command = match level {
                    "interp" if endless => "interp --max-steps 1000000".to_string(),
                    _ if endless => format!("run -O{level} --fast --max-cycles 100000"),
                    "interp" => "interp".to_string(),
                    "2" => "run -O2 --fast --verify-each".to_string(),
                    _ => format!("run -O{level} --fast"),
                };
                let name = format!("{}::{level}", ptx.file.trim_end_matches(".ptx"));
                let (folder, case, file) = (folder.clone(), case.clone(), ptx.file.clone());
                trials.push(Trial::test(name, move || {
                    Ok(kernels::check(NBCC, &command, &folder, &case, &file)?)
                }));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
