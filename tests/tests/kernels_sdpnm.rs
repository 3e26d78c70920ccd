//! Every case of `examples/sdpnm`, by the command: interpreted, and compiled and run on the simulated
//! machine at -O0 and -O2, divided and all on the core. What comes out is compared byte by byte with what numpy computed.
//!
//! `NBCC_LEVELS=0,1,2,core,interp` chooses others than the default.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_tests::command::{command, run};
use nbcc_tests::root;

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// A line of the manifest, which `examples/sdpnm/workloads.py` writes.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    case: String,
    source: String,
    entry: String,
    params: BTreeMap<String, i64>,
    /// Files by the name of the parameter.
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
    /// What the function returns, if that is compared.
    result: Option<i64>,
}

fn main() {
    let arguments = Arguments::from_args();
    let levels = std::env::var("NBCC_LEVELS").unwrap_or_else(|_| "0,2,core,interp".into());
    let folder = root().join("examples/sdpnm");
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).expect("the manifest");
    let mut trials = Vec::new();
    for line in manifest.lines() {
        let case: Case = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        for level in levels.split(',') {
            let verb = match level {
                "interp" => "interp".to_string(),
                "core" => "run -O2 -X division=core --verify-each".to_string(),
                _ => format!("run -O{level} --verify-each"),
            };
            let (folder, case) = (folder.clone(), case.clone());
            let name = format!("{}::{level}", case.case);
            trials.push(Trial::test(name, move || check(&folder, &case, &verb)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(folder: &Path, case: &Case, verb: &str) -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let mut line =
        format!("nbcc {verb} {} --entry {}", folder.join(&case.source).display(), case.entry);
    for (name, value) in &case.params {
        line += &format!(" --param {name}={value}");
    }
    for (name, file) in &case.inputs {
        line += &format!(" --input {name}={}", folder.join(file).display());
    }
    for name in case.outputs.keys() {
        line += &format!(" --output {name}={name}.npy");
    }
    let outcome = run(command(NBCC, &line, place.path()))?;
    if outcome.code != Some(0) {
        return Err(format!("exit {:?}\n{}", outcome.code, outcome.stderr).into());
    }
    for (name, expected) in &case.outputs {
        let found = std::fs::read(place.path().join(format!("{name}.npy")))?;
        if found != std::fs::read(folder.join(expected))? {
            return Err(format!("`{name}` is not what numpy computed").into());
        }
    }
    if let Some(result) = case.result {
        let said = format!("{} = {result}\n", case.entry);
        if !outcome.stdout.contains(&said) {
            return Err(format!("{:?} does not say `{}`", outcome.stdout, said.trim()).into());
        }
    }
    Ok(())
}
