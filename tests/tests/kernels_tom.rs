//! Every case of `tests/cuda` and of `examples/tom`, compiled for TOM and run on the simulated machine
//! at -O0 and -O2 with the table of candidates proven; and the applications of `examples/tom` by the
//! interpreter and for the MPU.
//!
//! `NBCC_LEVELS=0,1,2,interp,mpu,timed` chooses others than the default. `timed` simulates time; so does
//! `POLICY-MAPPING`, as in `always-oracle`: the default has each policy and each mapping, and `forced`, which
//! sends every instance of every candidate to a stack and back.

use std::path::Path;

use libtest_mimic::{Arguments, Trial};
use nbcc_tests::kernels::Case;
use nbcc_tests::{kernels, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

const LEVELS: &str = "0,2,interp,mpu,timed,none-transparent,forced-baseline,forced-transparent,\
    always-baseline,always-transparent,controlled-baseline,controlled-oracle,ideal-baseline,\
    best-transparent";

fn main() {
    let arguments = Arguments::from_args();
    let levels = std::env::var("NBCC_LEVELS").unwrap_or_else(|_| LEVELS.into());
    let mut trials = Vec::new();
    for (folder, is_own) in [("tests/cuda", false), ("examples/tom", true)] {
        let folder = root().join(folder);
        for case in kernels::cases(&folder) {
            for ptx in &case.ptx {
                // The interpreter and the MPU have the corpus in a test of their own.
                let levels =
                    levels.split(',').filter(|l| is_own || !matches!(*l, "interp" | "mpu"));
                trials.extend(levels.map(|level| trial(&folder, &case, &ptx.file, level)));
            }
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
