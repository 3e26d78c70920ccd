//! Every reference case, compiled for iPIM and run on the simulated machine: on one vault, and in turn on
//! one cube or on eight.
//!
//! `NBCC_LEVELS=0,2` and `NBCC_MACHINES=ipim-vault,ipim-cube,ipim` choose others than the default, and
//! `NBCC_CODE=smallest` how small code is.

use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_host::RunOptions;
use nbcc_pipeline::{OptLevel, PassOptions};
use nbcc_tests::images::{self, For};
use nbcc_tests::reference::{Case, cases, compare};

/// Steps of a program that a test waits for.
const MAX_CYCLES: u64 = 2_000_000_000;

/// Pipelines that the target refuses today, and with which code.
const REFUSED: &[(&str, &str)] = &[];

/// The machines of the case of that number, where none are chosen.
fn machines_of(number: usize) -> Vec<String> {
    ["ipim-vault", if number.is_multiple_of(2) { "ipim-cube" } else { "ipim" }]
        .map(String::from)
        .to_vec()
}

fn run_case(
    case: &Case,
    machine: &str,
    level: OptLevel,
    disabled: Vec<String>,
) -> Result<(), Failed> {
    let code = std::env::var("NBCC_CODE").ok().map(|code| ("code", code));
    // On one cube accesses of banks may pass each other: what is known of them decides.
    let order = (machine == "ipim-cube").then(|| ("memory-order", "off".to_string()));
    let choices = code.into_iter().chain(order);
    let asked = For {
        machine: machine.to_string(),
        choices: choices.map(|(key, value)| (key.to_string(), value)).collect(),
        passes: PassOptions { level, disabled, verify_each: true },
        ..For::default()
    };
    let refused = REFUSED.iter().find(|(name, _)| case.name.starts_with(name));
    let program = match (images::compile(case, &asked), refused) {
        (Ok(program), None) => program,
        (Err(error), None) => return Err(error.into()),
        (Ok(_), Some((name, _))) => return Err(format!("{name} is not refused any more").into()),
        (Err(error), Some((_, code))) => {
            return if error.contains(code) { Ok(()) } else { Err(error.into()) };
        }
    };
    let mut options = RunOptions { timing: false, max_cycles: MAX_CYCLES, ..RunOptions::default() };
    let result = images::run(case, &program, &mut options)?;
    Ok(compare(case, &images::outputs(&program, &result))?)
}

fn chosen(variable: &str) -> Option<Vec<String>> {
    let list = std::env::var(variable).ok()?;
    Some(list.split(',').map(str::to_string).collect())
}

fn main() {
    let arguments = Arguments::from_args();
    let machines = chosen("NBCC_MACHINES");
    let levels = chosen("NBCC_LEVELS").unwrap_or_else(|| vec!["2".to_string()]);
    let mut trials = Vec::new();
    for (number, case) in cases().into_iter().enumerate() {
        for machine in machines.clone().unwrap_or_else(|| machines_of(number)) {
            // What a contest of schedules keeps is compiled as if its author had written it: that it is
            // right is seen on one machine, of each second case.
            let compares = machine == "ipim-vault" && number.is_multiple_of(2);
            let disabled: Vec<String> =
                (!compares).then(|| "compare-schedules".to_string()).into_iter().collect();
            for level in &levels {
                let (case, machine) = (case.clone(), machine.clone());
                let name = format!("{}::{machine}::O{level}", case.name);
                let level = match level.as_str() {
                    "0" => OptLevel::O0,
                    "1" => OptLevel::O1,
                    _ => OptLevel::O2,
                };
                let disabled = disabled.clone();
                trials.push(Trial::test(name, move || run_case(&case, &machine, level, disabled)));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
