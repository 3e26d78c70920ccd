//! What is kept of runs on a GPU in `tests/hardware`: forms against the interpreter, and the results that
//! vectors of `tests/conformance` and cases of kernels expect.
//!
//! `NBCC_LEVELS=0,1,2,interp` compiles for the MPU and runs the simulated machine as well;
//! `NBCC_HARDWARE=FOLDER`, with what `tests/hardware/record.py` writes, shows the values that differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_pipeline::OptLevel;
use nbcc_tests::conformance::{self, Family};
use nbcc_tests::forms::{Form, HEADER, RECORDS};
use nbcc_tests::grids::{self, Source};
use nbcc_tests::hardware::{self, Kept, Recorded};
use nbcc_tests::{kernels, root};

/// Steps or cycles of a launch at most.
const LIMIT: u64 = 100_000_000;

/// Stands in place of the digest of a family that the GPU has not run.
const UNRECORDED: &str = " unrecorded";

/// Forms that are read as one file.
const TOGETHER: usize = 64;

fn run(
    forms: &[Form],
    level: Option<OptLevel>,
    kept: &Kept,
    recorded: Option<&Recorded>,
) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for forms in forms.chunks(TOGETHER) {
        let kernels = forms.iter().enumerate().map(|(k, form)| form.kernel(&format!("k{k}")));
        let source = Source::read(&format!("{HEADER}{}", kernels.collect::<String>()))?;
        let binary = level.map(|level| source.compile(level)).transpose()?;
        for (number, form) in forms.iter().enumerate() {
            let launch = form.launch(&format!("k{number}"), form.inputs(RECORDS, 0), RECORDS);
            let result = match &binary {
                Some(binary) => grids::simulate(binary, &launch, LIMIT, false),
                None => source.interpret(&launch, LIMIT),
            };
            match result {
                Err(what) => wrong.push(format!("{}: {what}", form.line)),
                Ok(buffers) => {
                    let Err(what) = kept.check(form, &launch.buffers[0], &buffers[1]) else {
                        continue;
                    };
                    let shown = |r: &Recorded| r.show(form, &launch.buffers[0], &buffers[1]);
                    let shown = recorded.map(shown).unwrap_or_default();
                    wrong.push(format!("{}: {what}{shown}", form.line));
                }
            }
        }
    }
    let count = wrong.len();
    wrong.truncate(40);
    match count {
        0 => Ok(()),
        _ => Err(format!("{count} of {} forms\n{}", forms.len(), wrong.join("\n")).into()),
    }
}

/// The records of a family's kernels are what the GPU wrote, those named aside.
fn vectors(family: &Family, kept: &str) -> Result<(), Failed> {
    let mut words = kept.split(' ').skip(1);
    let wanted = words.next().unwrap_or_default();
    let others: Vec<&str> = words.collect();
    let agree = family.vectors.iter().filter(|vector| !others.contains(&&*vector.kernel));
    let parts: Vec<&[u8]> = agree.map(|vector| family.part(&vector.output)).collect();
    match hardware::digest(&parts.concat()) == wanted {
        true => Ok(()),
        false => Err("the records are not what the GPU wrote".into()),
    }
}

/// Buffers that are compared exactly are what the GPU wrote.
fn cases(folder: &str, kept: &[String]) -> Result<(), Failed> {
    let place = root().join(folder);
    let cases = kernels::cases(&place);
    let mut wrong = Vec::new();
    for line in kept {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, ptx, buffer, digest] = words[..] else { return Err("no line of a case".into()) };
        let case = cases.iter().find(|case| case.ptx.iter().any(|file| file.file == ptx));
        let output =
            case.and_then(|case| case.outputs.iter().find(|output| output.buffer == buffer));
        let output = output.ok_or_else(|| format!("{ptx} has no buffer {buffer}"))?;
        if matches!(output.compare, kernels::Comparison::Exact) {
            let expected = kernels::elements(&place.join(&output.expected))?;
            if hardware::digest(&expected) != digest {
                wrong.push(format!("{ptx} {buffer}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn main() {
    let arguments = Arguments::from_args();
    let levels = std::env::var("NBCC_LEVELS").unwrap_or_else(|_| "interp".into());
    let mut groups: BTreeMap<String, Vec<Form>> = BTreeMap::new();
    for form in hardware::lines("forms.txt").iter().map(|line| Form::read(line)) {
        groups.entry(form.opcode().into()).or_default().push(form);
    }
    let kept = Arc::new(Kept::read());
    let recorded = std::env::var_os("NBCC_HARDWARE").map(|folder| Recorded::read(folder.as_ref()));
    let recorded = Arc::new(recorded);
    let mut trials = Vec::new();
    for (opcode, forms) in groups {
        for level in levels.split(',') {
            let optimisation = match level {
                "interp" => None,
                "0" => Some(OptLevel::O0),
                "1" => Some(OptLevel::O1),
                _ => Some(OptLevel::O2),
            };
            let (kept, recorded, forms) = (kept.clone(), recorded.clone(), forms.clone());
            trials.push(Trial::test(format!("{opcode}::{level}"), move || {
                run(&forms, optimisation, &kept, recorded.as_ref().as_ref())
            }));
        }
    }
    let kept_vectors = hardware::lines("h100_vectors.txt");
    for family in conformance::families() {
        let name = family.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = kept_vectors.iter().find(|line| line.split(' ').next() == Some(&name));
        let line = line.cloned().unwrap_or_default();
        if line.ends_with(UNRECORDED) {
            continue;
        }
        trials.push(Trial::test(format!("vectors::{name}"), move || vectors(&family, &line)));
    }
    let kept_cases = hardware::lines("h100_cases.txt");
    for folder in ["tests/cuda", "examples/mpu", "examples/tom"] {
        let of = |line: &&String| line.split(' ').next() == Some(folder);
        let kept: Vec<String> = kept_cases.iter().filter(of).cloned().collect();
        trials.push(Trial::test(format!("cases::{folder}"), move || cases(folder, &kept)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
